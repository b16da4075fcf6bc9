"""Decides which values are tied, and ranks values; SciPy ranks too, but loads most of a second."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Indices, Mask, Matrix, Vector

VALUES_AT_ONCE = 2**20  # which stay near the processor
TIED = 1e-10  # of the spread of a column, up to which neighbouring values are tied,
LAST_DIGITS = 1e-12  # and of their own size: a factor of 1 +- 1e-13 parts no ties
ROUNDING = 1e-18, 1e-13  # of a wider range: one between these may be made by rounding


def average_ranks(values: NDArray[Any], axis: int = -1) -> Matrix:
    """Ranks from 1 along an axis; ties share the average of theirs. Nothing may be missing.

    Which values are tied `begins_run` decides, with a tolerance.

    >>> average_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    >>> average_ranks(np.array([0.1 + 0.2, 0.3, 1.0])).tolist()
    [1.5, 1.5, 3.0]
    """
    values = np.ascontiguousarray(np.moveaxis(np.asarray(values), axis, -1))
    ranks = np.empty(values.shape)
    n = values.shape[-1]
    rows, out = values.reshape(-1, n or 1), ranks.reshape(-1, n or 1)
    for some in _chunks(*rows.shape):
        _rank_rows(rows[some], out[some].reshape(-1))
    return np.moveaxis(ranks, -1, axis)


def settled(values: NDArray[Any], axis: int = -1) -> NDArray[Any]:
    """The values, tied ones made equal along an axis: each is the middle one of those it ties with.

    What follows may then compare values as they are. Without near ties nothing is copied.

    >>> settled(np.array([5e-17, 1.0, -5e-17, 0.0])).tolist()
    [0.0, 1.0, 0.0, 0.0]
    """
    values = np.asarray(values)
    if values.dtype.kind != "f" or not values.size:
        return values
    moved = np.moveaxis(values, axis, -1)
    given = np.ascontiguousarray(moved).reshape(-1, moved.shape[-1])
    rows = given
    for some in _chunks(*given.shape):
        ordered = np.sort(given[some], axis=1)
        near = ~begins_run(ordered)[:, 1:] & (ordered[:, 1:] != ordered[:, :-1])
        if near.any():
            rows = given.copy() if rows is given else rows
            which = some.start + np.flatnonzero(near.any(axis=1))
            rows[which] = _settled_rows(given[which])
    return values if rows is given else np.moveaxis(rows.reshape(moved.shape), -1, axis)


def begins_run(ordered: NDArray[Any]) -> Mask:
    r"""Which values of ascending rows, (k, n), are the first of those that they tie with.

    Means, sums and logarithms that are equal in exact arithmetic differ in their last digits, and
    otherwise on every processor, which must not decide a rank. So neighbours :math:`a \le b` of a
    row tie where

    .. math:: b - a \le \max(10^{-10} s, 10^{-12} \max(|a|, |b|)),

    and so do all that are linked by such steps. The spread s is the range of the middle half of the
    row, so that no far value ties all others. Where that is 0, or so small beside the middle nine
    tenths (1e-18 to 1e-13 of their range) that rounding may have made it, s is the range of these.
    Where that is 0 too, s is how far other values lie from the one that nine tenths are equal to,
    in the median of those above it or of those below (of an even number the nearer one), whichever
    is larger. Whole numbers of an integer type tie where they are equal.
    """
    first = np.ones(ordered.shape, np.bool_)
    if ordered.dtype.kind != "f":
        np.not_equal(ordered[:, 1:], ordered[:, :-1], out=first[:, 1:])
        return first
    if not ordered.size:
        return first
    absolute = TIED * _spread(ordered)
    relative = LAST_DIGITS * np.maximum(np.abs(ordered[:, 0]), np.abs(ordered[:, -1]))
    with np.errstate(over="ignore"):  # a difference beyond all numbers is one
        steps = np.diff(ordered, axis=1)
    np.greater(steps, np.maximum(absolute, relative)[:, None], out=first[:, 1:])
    # in rows of values of many sizes each is compared with its own
    mixed = np.flatnonzero(relative > absolute)
    mixed = mixed[~first[mixed].all(axis=1)]
    mixed = mixed[(~first[mixed, 1:] & (steps[mixed] > absolute[mixed, None])).any(axis=1)]
    sizes = LAST_DIGITS * np.abs(ordered[mixed])
    sizes = np.maximum(sizes[:, 1:], sizes[:, :-1])
    first[mixed, 1:] = steps[mixed] > np.maximum(absolute[mixed, None], sizes)
    return first


def _spread(ordered: NDArray[Any]) -> Vector:
    """Spread of ascending rows, as `begins_run` defines it."""
    n = ordered.shape[1]
    ends = [end for cut in (n // 4, n // 20) for end in (cut, n - 1 - cut)]
    halves = ordered[:, ends].T / 2  # whose differences do not overflow
    half, most = halves[1::2] - halves[::2]
    low, high = ROUNDING
    by_rounding = (half >= low * most) & (half <= high * most)
    found = np.where(by_rounding | (half == 0), most, half)
    equal = np.flatnonzero(found == 0)
    found[equal] = _half_distance_of_others(ordered[equal])
    return np.asarray(2 * np.minimum(found, np.finfo(found.dtype).max / 2))


def _half_distance_of_others(ordered: NDArray[Any]) -> Vector:
    """Half the distance of other values from the commonest one, which nine tenths are equal to."""
    n, rows = ordered.shape[1], np.arange(len(ordered))
    common = ordered[:, n // 2]
    below, upto = (ordered < common[:, None]).sum(axis=1), (ordered <= common[:, None]).sum(axis=1)
    lower, upper = ordered[rows, below // 2], ordered[rows, (upto + n - 1) // 2]
    return np.asarray(np.maximum(upper / 2 - common / 2, common / 2 - lower / 2))


def _chunks(n_rows: int, n: int) -> Iterator[slice]:
    width = max(1, VALUES_AT_ONCE // max(n, 1))
    for start in range(0, n_rows, width):
        yield slice(start, start + width)


def _rank_rows(values: NDArray[Any], out: Vector) -> None:
    """Write the ranks along every row, one row after the other."""
    n_rows, n = values.shape
    order, _, first, length = _runs(values)
    if len(first) == len(order):
        out[order] = np.tile(np.arange(1.0, n + 1), n_rows)
    else:
        out[order] = np.repeat(first % n + (length + 1) / 2, length)


def _settled_rows(values: NDArray[Any]) -> NDArray[Any]:
    order, ordered, first, length = _runs(values)
    out = np.empty(values.size, values.dtype)
    out[order] = np.repeat(ordered[first + (length - 1) // 2], length)
    return out.reshape(values.shape)


def _runs(values: NDArray[Any]) -> tuple[Indices, NDArray[Any], Indices, Indices]:
    """The order of all rows and their values in it, and where runs of ties start and how long."""
    n_rows, n = values.shape
    order = np.argsort(values, axis=1)  # ties in any order
    order += n * np.arange(n_rows)[:, None]
    order = order.ravel()
    ordered = values.ravel().take(order)
    first = np.flatnonzero(begins_run(ordered.reshape(n_rows, n)))
    return order, ordered, first, np.diff(first, append=values.size)
