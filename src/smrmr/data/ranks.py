"""Ranks values; SciPy does too, but its statistics take most of a second to load."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Matrix, Vector

VALUES_AT_ONCE = 2**20  # which stay near the processor


def average_ranks(values: NDArray[Any], axis: int = -1) -> Matrix:
    """Ranks from 1 along an axis; ties share the average of theirs. Nothing may be missing.

    >>> average_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    values = np.ascontiguousarray(np.moveaxis(np.asarray(values), axis, -1))
    ranks = np.empty(values.shape)
    n = values.shape[-1]
    rows, out = values.reshape(-1, n or 1), ranks.reshape(-1, n or 1)
    width = max(1, VALUES_AT_ONCE // max(n, 1))
    for start in range(0, len(rows), width):
        _rank_rows(rows[start : start + width], out[start : start + width].reshape(-1))
    return np.moveaxis(ranks, -1, axis)


def _rank_rows(values: NDArray[Any], out: Vector) -> None:
    """Write the ranks along every row, one row after the other."""
    n_rows, n = values.shape
    order = np.argsort(values, axis=1)  # ties in any order
    order += n * np.arange(n_rows)[:, None]
    order = order.ravel()
    ordered = values.ravel().take(order)
    starts = np.ones(values.size, dtype=bool)  # of runs of equal values
    np.not_equal(ordered[1:], ordered[:-1], out=starts[1:])
    starts[::n] = True
    if starts.all():
        out[order] = np.tile(np.arange(1.0, n + 1), n_rows)
        return
    first = np.flatnonzero(starts)
    length = np.diff(first, append=values.size)
    out[order] = np.repeat(first % n + (length + 1) / 2, length)
