r"""Three statistics of dependence that use ranks alone, so that their nulls depend on n alone.

- **pc**: projection covariance, of more than 10,000 rows on a grid of 128 by 128 quantiles: the
  statistic of Blum, Kiefer and Rosenblatt (1961), which has the same limit;
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

from ...measures.distance_loops import distance_products, distance_sums
from ...runs.compiled import ONE, compiled, popcount
from ...types import Indices, Matrix, Vector

Array = NDArray[Any]

STATISTICS = ("pc", "hsic", "dcor")
PC, HSIC, DCOR = range(3)
MOST_POINTS = 1000  # scores that stand for all, where there are more
MOST_COUNTED = 10_000  # rows around each of which projection covariance counts; of more, a grid
GRID = 128  # points of it per side
AT_ONCE = 32  # rows that are compared one by one before they join the bit set
WORD, WITHIN = np.uint64(6), np.uint64(63)  # of 2 ** 6 bits
LEAST_EIGENVALUE = 1e-10  # of a kernel, relative to its largest, that counts


@cache
def rank_table(statistic: str, n: int) -> tuple[int, Matrix]:
    """What `covariance_of_ranks` needs to know: which statistic, and what it makes of ranks.

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


def ranks_of(order: Indices) -> Indices:
    """Rank of every sample, from 0, where rows of `order` hold samples from small to large."""
    ranks = np.empty_like(order)
    ranks[np.arange(len(order))[:, None], order] = np.arange(order.shape[1])
    return ranks


def in_order(values: Indices, order: Indices) -> Indices:
    """Every row in an order of its own."""
    return np.asarray(values[np.arange(len(order))[:, None], order])


def covariance_of_ranks(ranks: Indices, statistic: int, table: Matrix) -> Vector:
    """Dependence of 0, 1, ..., n - 1 with every row of ranks."""
    if statistic == PC:
        if ranks.shape[1] <= MOST_COUNTED:
            return projection_covariances(ranks)
        found = np.empty(len(ranks))
        grid_covariances(ranks, np.empty((GRID + 1, GRID + 1), np.int64), found)
        return found
    one = _distance_covariance if statistic == DCOR else _kernel_covariance
    return np.array([one(row, table) for row in ranks])


@cache
def largest_projection_covariance(n: int) -> float:
    """That of a column of n distinct values with itself."""
    return float(covariance_of_ranks(np.arange(n)[None], *rank_table("pc", n))[0])


def projection_covariances(ranks: Indices) -> Vector:
    r"""Projection covariance, up to a factor, of 0, ..., n - 1 with rows of ranks.

    With :math:`c_r` the points below and to the left of point r, r sees :math:`n - 1 -
    2(\mathrm{rank}_x + \mathrm{rank}_y - 2 c_r)` more concordant than discordant points; the sum
    over r of squares of that, centred, is the covariance (docs/formulas.md).
    """
    words, before = np.empty((2, ranks.shape[1] // 64 + 1), np.uint64)
    found = np.empty(len(ranks))
    _count_around(ranks, words, before, np.empty(AT_ONCE, np.int32), found)
    return found


@compiled
def _count_around(ranks: Array, words: Array, before: Array, own: Array, found: Array) -> None:
    """Fill in what `projection_covariances` returns.

    Ranks that were met are bits of `words`, and `before` counts those of the words before each; of
    the last few points, whose ranks are `own`, all are compared.
    """
    n = ranks.shape[1]
    of_sides = n * (1 - 1 / n) ** 2 - 2 * (n * n - 1) / (3 * n)
    for k in range(len(ranks)):
        for w in range(len(words)):
            words[w] = before[w] = 0
        total = 0.0
        for first in range(0, n, len(own)):
            size = min(len(own), n - first)
            for j in range(size):
                own[j] = ranks[k, first + j]
            for j in range(size):
                rank, near = own[j], np.int32(0)
                for i in range(j):
                    near += np.int32(own[i] < rank)
                word, bit = np.uint64(rank) >> WORD, ONE << (np.uint64(rank) & WITHIN)
                far = before[word] + popcount(words[word] & (bit - ONE))
                below = np.int64(near) + np.int64(far)
                centred = n * (4 * below + 1) - (2 * (first + j) + 1) * (2 * np.int64(rank) + 1)
                total += (centred / n) ** 2
            for j in range(size):
                rank = np.uint64(own[j])
                words[rank >> WORD] |= ONE << (rank & WITHIN)
            so_far = np.uint64(0)
            for w in range(len(words)):
                before[w] = so_far
                so_far += popcount(words[w])
        found[k] = total + of_sides


@compiled
def grid_covariances(ranks: Array, counts: Array, found: Array) -> None:
    r"""Fill in about what `projection_covariances` does, counting around points of a grid.

    The points have the ranks :math:`n a / (m + 1)` in one column and :math:`n b / (m + 1)` in the
    other, instead of being the samples, so that the cost is linear in n. `counts` has room for the
    samples in each of the :math:`(m + 1)^2` cells.
    """
    n, size = ranks.shape[1], len(counts)
    for k in range(len(ranks)):
        for a in range(size):
            for b in range(size):
                counts[a, b] = 0
        for i in range(n):
            counts[i * size // n, ranks[k, i] * size // n] += 1
        for a in range(size):
            for b in range(1, size):
                counts[a, b] += counts[a, b - 1]
        total = 0.0
        for a in range(size - 1):
            for b in range(size - 1):
                counts[a + 1, b] += counts[a, b]
                below = ((a + 1) * n + size - 1) // size, ((b + 1) * n + size - 1) // size
                total += (counts[a, b] - below[0] / n * below[1]) ** 2
        found[k] = 16 * n * total / (size - 1) ** 2


def _distance_covariance(rank: Indices, table: Matrix) -> float:
    n = len(rank)
    scores, sums = np.ascontiguousarray(table.T)
    products = np.empty((1, 1))
    ranks = np.arange(n).reshape(1, n)
    distance_products(scores[None], ranks, scores[rank][None], rank[None], False, products)
    return float(products[0, 0] - 2 / n * np.sum(sums * sums[rank]) + (sums.sum() / n) ** 2)


def _kernel_covariance(rank: Indices, table: Matrix) -> float:
    return float(np.sum((table.T @ table[rank]) ** 2))


@cache
def kernel_eigenvalues(statistic: str, n: int) -> Vector:
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
    _, table = rank_table(statistic, n)
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
