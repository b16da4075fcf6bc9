"""Disjoint sets that are united step by step (union-find); the first member of each is its root."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runs.compiled import compiled
from ..types import Indices


@compiled
def root_of(parents: NDArray[Any], k: int) -> Any:
    """The root of the set that k is in; the way to it is shortened for the next to ask."""
    while parents[k] != k:
        parents[k] = parents[parents[k]]
        k = parents[k]
    return k


def all_roots(parents: NDArray[Any]) -> NDArray[Any]:
    """The root of every element."""
    while True:
        roots = parents[parents]
        if np.array_equal(roots, parents):
            return np.asarray(roots)
        parents = roots


def larger_sets(roots: NDArray[Any]) -> tuple[Indices, ...]:
    """Members of every set of two or more, in order."""
    shared = np.flatnonzero(np.bincount(roots)[roots] > 1)
    order = shared[np.argsort(roots[shared], kind="stable")]
    sets = np.split(order, np.flatnonzero(np.diff(roots[order])) + 1)
    return tuple(sets) if len(order) else ()
