"""Measures the seconds and the peak memory of a piece of work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import CDLL
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")


@dataclass
class Measured:
    """Seconds, and megabytes above what was held before; None where the system does not tell."""

    seconds: float = 0.0
    megabytes: float | None = None


@contextmanager
def measured() -> Iterator[Measured]:
    """Measure what happens inside; the result is filled in at its end."""
    result = Measured()
    before = _start()
    start = perf_counter()
    try:
        yield result
    finally:
        result.seconds = perf_counter() - start
        if before is not None:
            result.megabytes = max(0.0, _megabytes("VmHWM") - before)


def _start() -> float | None:
    """Give freed memory back, and set the high-water mark to what is held now (Linux only)."""
    try:
        CDLL(None).malloc_trim(0)  # else work that reuses freed memory would seem to take none
        RESET.write_text("5")
        return _megabytes("VmRSS")
    except (OSError, AttributeError, TypeError):  # TypeError: Windows has no CDLL(None)
        return None


def _megabytes(field: str) -> float:
    for line in STATUS.read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1000
    raise OSError(f"no {field} in {STATUS}")
