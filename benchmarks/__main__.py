"""Runs `python -m benchmarks`: experiments that can be stopped and taken up again."""

from .experiments.commands import benchmark

benchmark(prog_name="python -m benchmarks")
