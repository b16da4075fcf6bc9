"""Scripts that time the library against rivals and itself; ``python -m benchmarks.speed.fit``."""
