"""Ranks values; SciPy does too, but its statistics take most of a second to load."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Matrix, Vector

VALUES_AT_ONCE = 2**20  # which stay near the processor
TIED = 1e-10  # of a column's spread, up to which neighbouring values are equal
ROUNDING = 1e-13  # of the whole range, below which the middle of a column is rounding alone


def average_ranks(values: NDArray[Any], axis: int = -1) -> Matrix:
    """Ranks from 1 along an axis; ties share the average of theirs. Nothing may be missing.

    Floating-point values are tied if they differ by less than 1e-10 of the spread of their column,
    the range of its middle nine tenths: means and sums that are equal in exact arithmetic differ in
    their last bits, and otherwise on every processor, which must not decide a rank.

    >>> average_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    >>> average_ranks(np.array([0.1 + 0.2, 0.3, 1.0])).tolist()
    [1.5, 1.5, 3.0]
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
    ordered = values.ravel().take(order).reshape(n_rows, n)
    first_of_run = np.ones(values.shape, dtype=bool)
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):  # a difference beyond all numbers is one
            np.greater(np.diff(ordered, axis=1), _tolerance(ordered), out=first_of_run[:, 1:])
    else:
        np.not_equal(ordered[:, 1:], ordered[:, :-1], out=first_of_run[:, 1:])
    starts = first_of_run.ravel()
    if starts.all():
        out[order] = np.tile(np.arange(1.0, n + 1), n_rows)
        return
    first = np.flatnonzero(starts)
    length = np.diff(first, append=values.size)
    out[order] = np.repeat(first % n + (length + 1) / 2, length)


def _tolerance(ordered: NDArray[Any]) -> NDArray[Any]:
    """Difference up to which values of ascending rows are equal, one for each row."""
    n = ordered.shape[1]
    # halves, whose differences do not overflow
    first, low, high, last = ordered[:, [0, n // 20, n - 1 - n // 20, n - 1]].T / 2
    middle, whole = high - low, last - first
    return np.asarray(2 * TIED * np.where(middle > ROUNDING * whole, middle, whole)[:, None])
