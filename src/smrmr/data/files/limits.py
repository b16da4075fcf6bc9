"""Bounds what is read whole or unpacked: small archives may hold more than a disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MAX_BYTES_WHOLE = 500_000_000  # of features as float64; larger ones are read in blocks
TIMES_MEMORY = 8  # bytes that a file may take up, per byte of `max_memory`
_most: ContextVar[int] = ContextVar("most", default=TIMES_MEMORY * 10**9)


@contextmanager
def reading_within(max_memory: int) -> Iterator[None]:
    """Let files take up eight times this many bytes, within the block."""
    token = _most.set(TIMES_MEMORY * max_memory)
    try:
        yield
    finally:
        _most.reset(token)


def fits_whole(n: int, p: int) -> bool:
    """Whether features are few enough to be read whole where they could be read in blocks."""
    return 8 * n * p <= MAX_BYTES_WHOLE


def most_bytes() -> int:
    """How many bytes a file may take up once it is unpacked and read.

    >>> with reading_within(1000):
    ...     most_bytes()
    8000
    """
    return _most.get()
