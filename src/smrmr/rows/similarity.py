r"""Compares how alike rows are in the features with how alike they are in the target.

A correlation of a feature x with a target e, both of mean 0 and variance 1, that have nothing to do
with each other has variance :math:`\sum_{ij} \Gamma_{ij} K_{ij} / n^2`, where :math:`\Gamma` and
:math:`K` are the covariances between rows: n times as large as :math:`1/n` where the rows of either
are independent. With row order, or places, both covariances are taken to depend on the distance of
two rows alone, so that they are means over pairs of similar distance (Bartlett 1935, Moran 1950).
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincc

from ..data.ranks import average_ranks
from ..types import Indices, Matrix

NEVER = -1  # bin of a row and itself


def distance_bins(places: Matrix) -> Indices:
    """For every two rows the number of their bin, by their distance: about n pairs each, (n, n).

    Pairs of equal distance share a bin, so that rows in order have one bin per lag.
    """
    n = len(places)
    if places.shape[1] == 1 and (np.diff(places[:, 0]) == 1).all():
        return _bins_of_lags(n)
    above = np.triu_indices(n, 1)
    distances = np.linalg.norm(places[above[0]] - places[above[1]], axis=1)
    ranks = average_ranks(distances)
    numbers = np.full((n, n), NEVER)
    numbers[above] = np.unique((ranks - 1) // n, return_inverse=True)[1]
    return np.asarray(np.maximum(numbers, numbers.T))


def _bins_of_lags(n: int) -> Indices:
    """The bins of rows one step apart from each other: n - d pairs are d steps apart."""
    pairs = np.arange(n - 1, 0, -1)
    ranks = np.cumsum(pairs) - (pairs - 1) / 2
    numbers = np.unique((ranks - 1) // n, return_inverse=True)[1]
    steps = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return np.asarray(np.concatenate([[NEVER], numbers])[steps])


def row_similarity(values: Matrix, basis: Matrix) -> Matrix:
    """Mean product of rows over columns, beyond what adjusting makes of independent rows, (n, n).

    `values` are (k, n) with mean 0 and variance 1, residuals given the orthonormal rows of `basis`,
    (c, n), which are orthogonal to a constant. Residuals of independent rows are correlated by
    :math:`I - 11'/n - Q'Q`. The diagonal is 0.
    """
    k, n = values.shape
    by_adjusting = -(1 / n + basis.T @ basis) * n / (n - 1 - len(basis))
    found = np.asarray(values.T @ values / k - by_adjusting)
    np.fill_diagonal(found, 0.0)
    return found


def smoothed(similarity: Matrix, bins: Indices) -> Matrix:
    """Every entry off the diagonal as the mean of its bin."""
    pairs = bins.ravel() + 1
    means = np.bincount(pairs, similarity.ravel()) / np.bincount(pairs)
    means[0] = 0.0
    return np.asarray(means[pairs].reshape(similarity.shape))


def permutation_moments(A: Matrix, B: Matrix) -> tuple[float, float]:
    """Mean and standard deviation of the sum of A times B, over all permutations of rows of B.

    Both are symmetric with a diagonal of 0, and a permutation moves columns with rows (Mantel
    1967).
    """
    n = len(A)
    sums, squares, shared = (
        np.array([of(M) for M in (A, B)])
        for of in (np.sum, lambda M: np.sum(M * M), lambda M: np.sum(M.sum(axis=0) ** 2))
    )
    pairs = n * (n - 1)
    mean = float(np.prod(sums)) / pairs
    square = (
        2 * np.prod(squares)
        + 4 * np.prod(shared - squares) / (n - 2)
        + np.prod(sums**2 + 2 * squares - 4 * shared) / ((n - 2) * (n - 3))
    ) / pairs
    return mean, float(np.sqrt(max(square - mean**2, 0.0)))


def chance_of_product(A: Matrix, B: Matrix) -> float:
    r"""Chance that the sum of A times B is as large if rows of B are in random order.

    By a gamma distribution (Pearson's type III) with the mean and variance of all permutations. The
    skewness is that of a quadratic form of A in normal values, :math:`8 tr A^3 / (2 tr A^2)^{3/2}`,
    smaller by the root of how many independent columns B is the mean of, which the variance tells.
    """
    mean, sd = permutation_moments(A, B)
    if sd == 0:
        return 1.0
    z = (float(np.sum(A * B)) - mean) / sd
    centred = A - A.mean(axis=0) - A.mean(axis=1, keepdims=True) + A.mean()
    squares = float(np.sum(centred * centred))
    cubes = float(np.sum((centred @ centred.T) * centred))  # A is symmetric: half the work
    skewness = max(8 * cubes * sd / (2 * squares) ** 2, 1e-3)  # as good as normal
    shape = 4 / skewness**2
    return float(gammaincc(shape, max(shape + z * np.sqrt(shape), 0.0)))
