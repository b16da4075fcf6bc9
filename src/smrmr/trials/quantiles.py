"""Values between those of a pilot table, with the same distribution."""

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..types import Matrix


def values_by_rank(values: NDArray[Any], scores: NDArray[Any]) -> NDArray[Any]:
    """As many values as there are scores, in their order down every column, see `quantiles`."""
    ranks = np.argsort(np.argsort(scores, axis=0), axis=0)
    return quantiles(values, (ranks + 0.5) / len(scores))


def values_between(few: Matrix, many: Matrix, rng: Generator) -> Matrix:
    """Values for those of `few` that come more than once in `many`, in any order among these."""
    order = np.lexsort((rng.random(many.shape), many), axis=0)
    return values_by_rank(few, np.argsort(order, axis=0))


def quantiles(values: NDArray[Any], places: Matrix) -> NDArray[Any]:
    """Quantiles of each column at places in (0, 1), linear between values that come once.

    A value that comes more often, such as a count or a class, has neighbours of its own kind only,
    and whole numbers stay whole.

    >>> values = np.array([[0.0, 10.0], [0.0, 20.0], [1.0, 30.0], [1.0, 50.0]])
    >>> quantiles(values, np.array([[0.1, 0.25], [0.49, 0.5], [0.51, 0.75]])).T.tolist()
    [[0.0, 0.0, 1.0], [15.0, 25.0, 40.0]]
    """
    known, n = np.sort(values, axis=0), len(values)
    again = np.zeros((n + 1, *known.shape[1:]), np.bool_)
    again[1:-1] = known[1:] == known[:-1]
    single = ~(again[1:] | again[:-1])
    at = np.clip(places * n - 0.5, 0, n - 1)
    low = np.minimum(at.astype(np.intp), n - 2)
    first, second = (np.take_along_axis(known, low + i, axis=0) for i in (0, 1))
    between = [np.take_along_axis(single, low + i, axis=0) for i in (0, 1)]
    share = at - low
    share = np.where(between[0] & between[1], share, np.rint(share))
    found = first + share * (second.astype(np.float64) - first)
    whole = (known == np.rint(known)).all(axis=0)
    return np.asarray(np.where(whole, np.rint(found), found), dtype=values.dtype)
