r"""Three statistics of dependence that go by ranks alone, so that their nulls depend on n alone.

- **pc**: projection covariance;
- **dcor**: distance covariance of normal scores;
- **hsic**: the Hilbert-Schmidt independence criterion of normal scores, with a Gaussian kernel as
  wide as their median distance.

The last two are :math:`\langle HKH, HLH \rangle`, with one matrix K for all columns of n rows, its
rows and columns in the order of their ranks.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ...measures.compiled import compiled
from ...measures.distance_loops import distance_products, distance_sums
from ...types import Matrix, Vector

Array = NDArray[Any]

STATISTICS = ("pc", "hsic", "dcor")
PC, HSIC, DCOR = range(3)
MOST_POINTS = 1000  # scores that stand for all, where there are more
LEAST_EIGENVALUE = 1e-10  # of a kernel, relative to its largest, that counts


@cache
def by_rank(statistic: str, n: int) -> tuple[int, Matrix]:
    """What `covariance_of_values` needs to know: which statistic, and what it makes of ranks.

    A row per rank: nothing for pc, the factor of the centred kernel for hsic; for dcor the score
    and the sum of its distances from all others.
    """
    if statistic == "pc":
        return PC, np.empty((0, 1))
    scores = scores_by_rank(n)
    if statistic == "hsic":
        return HSIC, _factor(scores)
    sums = np.empty(n)
    distance_sums(scores, np.arange(n), sums)
    return DCOR, np.stack([scores, sums], axis=1)


@compiled
def covariance_of_values(x: Array, y: Array, statistic: int, table: Array) -> Any:
    """Dependence of two columns of distinct values, up to a factor that depends on n alone."""
    n = len(x)
    order = np.argsort(x)
    rank = np.empty(n, np.int64)
    rank[np.argsort(y)] = np.arange(n)
    rank = rank[order]
    if statistic == PC:
        return projection_covariance(rank)
    if statistic == DCOR:
        return _distance_covariance(rank, table)
    total = 0.0
    for value in (table.T @ table[rank]).ravel():
        total += value * value
    return total


@compiled
def projection_covariance(ranks: Array) -> Any:
    r"""Projection covariance, up to a factor, of 0, 1, ..., n - 1 with the given ranks.

    With :math:`c_r` the points below and to the left of point r, r sees :math:`n - 1 -
    2(\mathrm{rank}_x + \mathrm{rank}_y - 2 c_r)` more concordant than discordant points; the sum
    over r of squares of that, centred, is the covariance (docs/method.md).
    """
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
def _distance_covariance(rank: Array, table: Array) -> Any:
    n = len(rank)
    ranks = np.arange(n).reshape(1, n)
    x, y = np.empty((1, n)), np.empty((1, n))
    x[0], y[0] = table[:, 0], table[rank, 0]
    products = np.empty((1, 1))
    distance_products(x, ranks, y, rank.reshape(1, n), False, products)
    sums = table[:, 1]
    return products[0, 0] - 2 / n * np.sum(sums * sums[rank]) + (sums.sum() / n) ** 2


@cache
def weights(statistic: str, n: int) -> Vector:
    """Eigenvalues of the centred kernel, as shares of their sum, largest first."""
    scores = scores_by_rank(min(n, MOST_POINTS))
    if statistic == "hsic":
        factor = _factor(scores)
        values = np.linalg.eigvalsh(factor.T @ factor)
    else:
        values = np.linalg.eigvalsh(_centred(-np.abs(np.subtract.outer(scores, scores))))
    values = np.maximum(values[::-1], 0.0)
    return np.asarray(values / values.sum())


def mean_covariance(statistic: str, n: int) -> float:
    """Mean of the statistic over all orders of one of the columns."""
    _, table = by_rank(statistic, n)
    trace = np.sum(table**2) if statistic == "hsic" else table[:, 1].mean()
    return float(trace**2 / (n - 1))


@cache
def scores_by_rank(n: int) -> Vector:
    """Normal scores of n distinct values, smallest first."""
    return np.asarray(ndtri((np.arange(n) + 0.5) / n))


def _factor(scores: Vector) -> Matrix:
    """A centred Gaussian kernel as the product of this matrix with itself, transposed."""
    points = scores[np.unique(np.linspace(0, len(scores) - 1, MOST_POINTS).astype(np.intp))]
    distances = np.abs(np.subtract.outer(points, points))
    width = np.median(distances[np.triu_indices(len(points), 1)])
    values, vectors = np.linalg.eigh(np.exp(-0.5 * (distances / width) ** 2))
    kept = values > LEAST_EIGENVALUE * values[-1]
    kernel = np.exp(-0.5 * (np.subtract.outer(scores, points) / width) ** 2)
    factor = kernel @ (vectors[:, kept] / np.sqrt(values[kept]))
    return np.ascontiguousarray(factor - factor.mean(axis=0))


def _centred(kernel: Matrix) -> Matrix:
    kernel = kernel - kernel.mean(axis=0)
    return np.asarray(kernel - kernel.mean(axis=1, keepdims=True))
