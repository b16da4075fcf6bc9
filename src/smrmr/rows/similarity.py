r"""Compares how alike rows are in the features with how alike they are in the target.

A correlation of a feature x with a target e, both of mean 0 and variance 1, that have nothing to do
with each other has variance :math:`\sum_{ij} \Gamma_{ij} K_{ij} / n^2`, where :math:`\Gamma` and
:math:`K` are the covariances between rows: n times as large as :math:`1/n` where the rows of either
are independent. With row order, or places, both covariances are taken to depend on the distance of
two rows alone, so that they are means over pairs of similar distance (Bartlett 1935, Moran 1950).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import gammaincc

from ..data.ranks import average_ranks
from ..types import Indices, Matrix, Vector

NEVER = -1  # bin of a row and itself


class Sums(NamedTuple):
    """Of a symmetric matrix of n rows, with a diagonal of 0: what random orders of rows leave.

    The sum of all entries, the sum of their squares, and that of the squared sums of rows.
    """

    n: int
    total: float
    squares: float
    shared: float

    @classmethod
    def of(cls, A: Matrix) -> Sums:
        """Those of a matrix."""
        sums = A.sum(axis=0)
        return cls(len(A), float(sums.sum()), float(np.sum(A * A)), float(sums @ sums))


@dataclass(frozen=True, eq=False)
class RowSimilarity:
    """Mean product of rows over columns, beyond what adjusting makes of independent rows.

    The matrix is :math:`W' D W` but for a diagonal of 0: `parts` are W, (parts, n), and `weights`
    are on the diagonal of D.
    """

    parts: Matrix
    weights: Vector

    @classmethod
    def of(cls, values: Matrix, basis: Matrix) -> RowSimilarity:
        """That of columns, (k, n), with mean 0 and variance 1: residuals given a basis.

        The rows of the basis, (c, n), are orthonormal and orthogonal to a constant. Residuals of
        independent rows are correlated by :math:`I - 11'/n - Q'Q`.
        """
        (k, n), c = values.shape, len(basis)
        by_adjusting = n / (n - 1 - c)
        weights = np.repeat([1 / k, by_adjusting / n, by_adjusting], [k, 1, c])
        return cls(np.concatenate([values, np.ones((1, n)), basis]), weights)

    @property
    def n(self) -> int:
        """Number of rows that are compared."""
        return int(self.parts.shape[1])

    @cached_property
    def matrix(self) -> Matrix:
        """All of it, (n, n)."""
        found = np.asarray((self.parts.T * self.weights) @ self.parts)
        np.fill_diagonal(found, 0.0)
        return found

    @cached_property
    def sums(self) -> Sums:
        """What random orders of rows leave of it, without the matrix."""
        diagonal = self.weights @ self.parts**2
        among = (self.parts @ self.parts.T) * self.weights
        of_rows = (self.weights * self.parts.sum(axis=1)) @ self.parts - diagonal
        squares = float(np.sum(among * among.T) - diagonal @ diagonal)
        return Sums(self.n, float(of_rows.sum()), squares, float(of_rows @ of_rows))

    @cached_property
    def by_lag(self) -> Vector:
        """Sums over all pairs of rows that are 0, 1, ..., n - 1 apart in order."""
        transformed = np.fft.rfft(self.parts, 2 * self.n)
        powers = self.weights @ (transformed.real**2 + transformed.imag**2)
        return np.asarray(np.fft.irfft(powers, 2 * self.n)[: self.n])


@dataclass(frozen=True, eq=False)
class ByDistance:
    """Means of a similarity over pairs of rows of like distance, in the place of every entry.

    `matrix` holds them, and `nearest` is that of nearest rows.
    """

    matrix: Matrix
    nearest: float

    @classmethod
    def of(cls, similarity: RowSimilarity, places: Matrix) -> ByDistance:
        """Those of rows at these places."""
        bins = distance_bins(places)
        matrix = smoothed(similarity.matrix, bins)
        return cls(matrix, float(matrix[bins == 0].mean()))

    @cached_property
    def sums(self) -> Sums:
        """What random orders of rows leave of it."""
        return Sums.of(self.matrix)

    def times(self, other: RowSimilarity) -> float:
        """Sum of the products of its entries with those of another one."""
        return float(np.sum(self.matrix * other.matrix))

    @cached_property
    def cubes(self) -> float:
        """Trace of the third power, each row and column less its mean."""
        A = self.matrix
        centred = A - A.mean(axis=0) - A.mean(axis=1, keepdims=True) + A.mean()
        return float(np.sum((centred @ centred.T) * centred))  # A is symmetric: half the work


@dataclass(frozen=True, eq=False)
class ByLag:
    """The same along the order of rows: `means` are those of rows 0, 1, ..., n - 1 apart.

    The first is 0, as is the diagonal.
    """

    means: Vector

    @classmethod
    def of(cls, similarity: RowSimilarity) -> ByLag:
        """Those of rows in order."""
        bins, pairs = lag_bins(similarity.n), np.arange(similarity.n - 1, 0, -1)
        means = np.bincount(bins, similarity.by_lag[1:]) / np.bincount(bins, pairs)
        return cls(np.concatenate([[0.0], means[bins]]))

    @property
    def nearest(self) -> float:
        """Mean over nearest rows."""
        return float(self.means[1])

    @cached_property
    def sums(self) -> Sums:
        """What random orders of rows leave of it."""
        total, squares = (2 * self._pairs @ values for values in (self.means, self.means**2))
        return Sums(len(self.means), float(total), float(squares), float(self._rows @ self._rows))

    def times(self, other: RowSimilarity) -> float:
        """Sum of the products of its entries with those of another one."""
        return float(2 * self.means @ other.by_lag)

    @cached_property
    def cubes(self) -> float:
        r"""Trace of the third power, each row and column less its mean.

        Along a diagonal of :math:`T^2`, d above the main one, entries go up by
        :math:`t_i t_{i+d} - t_{n-i} t_{n-i-d}` from row i - 1 to row i, which adds up to two
        correlations of the t and multiples of them.
        """
        t, n, places = self.means, len(self.means), np.arange(len(self.means))
        diagonals = self._pairs * self._times(t)
        diagonals += _lagged(t, self._pairs * t) - _lagged(places * t, t)
        cubes, (_, total, _, shared) = 2 * t @ diagonals, self.sums
        thrice = 3 * (self._rows @ self._times(self._rows) - total * shared / n) / n
        return float(cubes - thrice - (total / n) ** 3)

    @cached_property
    def _pairs(self) -> Vector:
        """Number of pairs of rows of each lag."""
        return np.arange(len(self.means), 0.0, -1)

    @cached_property
    def _rows(self) -> Vector:
        """Sums of rows of the matrix."""
        upto = np.cumsum(self.means)
        return np.asarray(upto + upto[::-1])

    def _times(self, vector: Vector) -> Vector:
        """The matrix times a vector."""
        both_ways = np.concatenate([self.means[:0:-1], self.means])
        return np.convolve(both_ways, vector, "valid")


Smoothed: TypeAlias = ByDistance | ByLag


def _lagged(one: Vector, other: Vector) -> Vector:
    """Sums of products of `one` with `other` as much as 0, 1, ... places later."""
    return np.correlate(other, one, "full")[len(one) - 1 :]


def smooth(similarity: RowSimilarity, places: Matrix) -> Smoothed:
    """A similarity of rows at these places, as means over pairs of rows of like distance."""
    return ByLag.of(similarity) if in_order(places) else ByDistance.of(similarity, places)


def in_order(places: Matrix) -> bool:
    """Whether every row is one step after the row before it."""
    return places.shape[1] == 1 and bool((np.diff(places[:, 0]) == 1).all())


def lag_bins(n: int) -> Indices:
    """The bin of rows 1, 2, ... steps apart, by `distance_bins`: n - d pairs are d steps apart."""
    pairs = np.arange(n - 1, 0, -1)
    ranks = np.cumsum(pairs) - (pairs - 1) / 2
    return np.asarray(np.unique((ranks - 1) // n, return_inverse=True)[1])


def distance_bins(places: Matrix) -> Indices:
    """For every two rows the number of their bin, by their distance: about n pairs each, (n, n).

    Pairs of equal distance share a bin, so that rows in order have one bin per lag.
    """
    n = len(places)
    above = np.triu_indices(n, 1)
    distances = np.linalg.norm(places[above[0]] - places[above[1]], axis=1)
    ranks = average_ranks(distances)
    numbers = np.full((n, n), NEVER)
    numbers[above] = np.unique((ranks - 1) // n, return_inverse=True)[1]
    return np.asarray(np.maximum(numbers, numbers.T))


def smoothed(similarity: Matrix, bins: Indices) -> Matrix:
    """Every entry off the diagonal as the mean of its bin."""
    pairs = bins.ravel() + 1
    means = np.bincount(pairs, similarity.ravel()) / np.bincount(pairs)
    means[0] = 0.0
    return np.asarray(means[pairs].reshape(similarity.shape))


def permutation_moments(A: Sums, B: Sums) -> tuple[float, float]:
    """Mean and standard deviation of the sum of A times B, over all permutations of rows of B.

    A permutation moves columns with rows (Mantel 1967).
    """
    n, (sums, squares, shared) = A.n, np.array([A[1:], B[1:]]).T
    pairs = n * (n - 1)
    mean = float(np.prod(sums)) / pairs
    square = (
        2 * np.prod(squares)
        + 4 * np.prod(shared - squares) / (n - 2)
        + np.prod(sums**2 + 2 * squares - 4 * shared) / ((n - 2) * (n - 3))
    ) / pairs
    return mean, float(np.sqrt(max(square - mean**2, 0.0)))


def chance_of_product(A: Smoothed, B: RowSimilarity) -> float:
    r"""Chance that the sum of A times B is as large if rows of B are in random order.

    By a gamma distribution (Pearson's type III) with the mean and variance of all permutations. The
    skewness is that of a quadratic form of A in normal values, :math:`8 tr A^3 / (2 tr A^2)^{3/2}`,
    smaller by the root of how many independent columns B is the mean of, which the variance tells.
    """
    n, total, squares, shared = A.sums
    mean, sd = permutation_moments(A.sums, B.sums)
    if sd == 0:
        return 1.0
    z = (A.times(B) - mean) / sd
    centred = squares - 2 * shared / n + (total / n) ** 2
    skewness = max(8 * A.cubes * sd / (2 * centred) ** 2, 1e-3)  # as good as normal
    shape = 4 / skewness**2
    return float(gammaincc(shape, max(shape + z * np.sqrt(shape), 0.0)))
