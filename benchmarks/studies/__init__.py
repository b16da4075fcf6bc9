"""Scripts behind single choices of the method; ``python -m benchmarks.studies.recipes``."""
