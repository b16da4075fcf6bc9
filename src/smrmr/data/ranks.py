"""Ranks values; SciPy does too, but its statistics take most of a second to load."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Matrix


def average_ranks(values: NDArray[Any], axis: int = -1) -> Matrix:
    """Ranks from 1 along an axis; ties share the average of theirs. Nothing may be missing.

    >>> average_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    values = np.moveaxis(np.asarray(values), axis, -1)
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    starts = np.ones(values.shape, dtype=bool)  # of runs of equal values
    np.not_equal(ordered[..., 1:], ordered[..., :-1], out=starts[..., 1:])
    first = np.flatnonzero(starts)
    length = np.diff(first, append=starts.size)
    average = first % max(values.shape[-1], 1) + (length + 1) / 2
    ranks = np.empty(values.shape)
    shared = np.repeat(average, length).reshape(values.shape)
    np.put_along_axis(ranks, order, shared, axis=-1)
    return np.moveaxis(ranks, -1, axis)
