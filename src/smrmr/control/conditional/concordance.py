r"""Squared projection correlation of two columns of distinct values, in n log n steps.

With :math:`c_r` the points below and to the left of point r and ranks counted from 0, r sees
:math:`n - 1 - 2(\mathrm{rank}_x + \mathrm{rank}_y - 2 c_r)` more concordant than discordant points.
The sum over r of squares of that, centred, is the projection covariance (docs/method.md): the same
number as `smrmr.relevance` gives, here for pairs that are met once.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...measures.compiled import compiled

Array = NDArray[Any]


@compiled
def covariance_of_ranks(ranks: Array) -> Any:
    """Projection covariance, up to a factor, of 0, 1, ..., n - 1 with the given ranks."""
    n = len(ranks)
    tree = np.zeros(n + 1, np.int64)  # Fenwick's: how many points so far have this rank or less
    total = 0.0
    for i in range(n):
        rank = ranks[i]
        below = 0
        j = rank
        while j > 0:
            below += tree[j]
            j -= j & -j
        j = rank + 1
        while j <= n:
            tree[j] += 1
            j += j & -j
        lean_x, lean_y = n - 1 - 2 * i, n - 1 - 2 * rank
        centred = n - 1 - 2 * (i + rank - 2 * below) - lean_x * lean_y / n
        total += centred**2 - (lean_x / n) ** 2 - (lean_y / n) ** 2 + (1 - 1 / n) ** 2
    return total


@compiled
def covariance_of_values(x: Array, y: Array) -> Any:
    """Projection covariance, up to a factor, of two columns of distinct values."""
    n = len(x)
    rank = np.empty(n, np.int64)
    rank[np.argsort(y)] = np.arange(n)
    return covariance_of_ranks(rank[np.argsort(x)])


@cache
def largest_covariance(n: int) -> float:
    """Projection covariance of a column with itself, in the units of this module."""
    return float(covariance_of_ranks(np.arange(n)))
