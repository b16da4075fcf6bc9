"""Measures the seconds and the peak memory of a piece of work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import CDLL
from pathlib import Path
from time import process_time

STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")


@contextmanager
def measured() -> Iterator[dict[str, float]]:
    """Measure what happens inside; the result is filled in at its end.

    ``seconds`` of the processor, which other work on the machine does not change, and where the
    system tells (Linux) ``megabytes`` above what was held before.
    """
    cost: dict[str, float] = {}
    before = _start()
    start = process_time()
    try:
        yield cost
    finally:
        cost["seconds"] = process_time() - start
        if before is not None:
            cost["megabytes"] = max(0.0, _megabytes("VmHWM") - before)


def _start() -> float | None:
    """Give freed memory back, and set the high-water mark to what is held now."""
    try:
        CDLL(None).malloc_trim(0)  # else work that reuses freed memory would seem to take none
        RESET.write_text("5")
        return _megabytes("VmRSS")
    except (OSError, AttributeError, TypeError, StopIteration):  # Windows has no CDLL(None)
        return None


def _megabytes(field: str) -> float:
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(field))
