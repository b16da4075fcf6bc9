r"""Draws more rows like those of a pilot table: a Gaussian copula that p >> n does not upset.

Normal scores of the columns have common factors and, beside these, few neighbours. Factors are
principal components beyond what noise has (`Components`). What they leave of a column is regressed
on those of the columns before it that correlate with it by more than :math:`\sqrt{2 \log p / n}`,
so that correlations by chance are not taken for real ones, nor real ones shrunk as those of chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..conditional.components import Components
from ..conditional.residuals import penalty
from ..conditional.strongest import strongest
from ..data.covariates import normal_places
from ..types import Indices, Matrix, Vector

MAX_NEIGHBOURS = 10  # of a column
ROWS_PER_NEIGHBOUR = 6  # at least
BLOCK = 500  # columns whose neighbours are looked for together
REACH = 20_000  # columns before them among which they are
MIN_VARIANCE = 0.02  # of a column beside factors and neighbours
MAX_CORRELATION = 0.995  # between neighbours
COPY = 1 - 1e-9  # correlation of columns that are copies, and stay so
NEGLIGIBLE = 1e-12  # standard deviation of a column without variation


@dataclass(frozen=True, eq=False)
class Copula:
    """The dependence of p columns, and what covariates predict of each row of the pilot.

    Attributes
    ----------
    fitted
        What covariates predict of the normal scores, (n, p).
    scale
        Standard deviation of the scores that covariates leave, (p,).
    loadings
        Of the factors on these, standardised, (p, m).
    neighbours
        For each column those before it that it is regressed on, -1 for none, (p, k).
    slopes
        On these, (p, k).
    spread
        Standard deviation of the rest, (p,).
    """

    fitted: Matrix
    scale: Vector
    loadings: Matrix
    neighbours: Indices
    slopes: Matrix
    spread: Vector

    @classmethod
    def of(cls, values: NDArray[np.generic], covariates: Matrix) -> Copula:
        """That of the columns of a table, (n, p), given orthonormal rows of covariates."""
        scores = normal_places(values.astype(np.float64))
        fitted = covariates.T @ (covariates @ scores)
        scale = np.std(scores - fitted, axis=0)
        rest = ((scores - fitted) / np.maximum(scale, NEGLIGIBLE)).T
        p, n = rest.shape
        n_free = n - 1 - len(covariates)
        reliable = np.maximum(_reliability(scores), MIN_VARIANCE)[:, None]
        least = penalty(p, n_free)
        components = Components.of(rest, n_free)
        loadings = components.loadings / np.sqrt(n)
        loadings[np.abs(loadings) <= least] = 0.0
        beside = rest - np.sqrt(n) * loadings @ components.vectors
        size = np.sqrt(np.mean(beside**2, axis=1))
        beside /= np.maximum(size, NEGLIGIBLE)[:, None]
        loadings /= reliable
        loadings /= np.maximum(_norms(loadings) / np.sqrt(1 - MIN_VARIANCE), 1)[:, None]
        alone = np.sqrt(1 - _norms(loadings) ** 2)
        most = min(MAX_NEIGHBOURS, max(1, n_free // ROWS_PER_NEIGHBOUR))
        neighbours = _neighbours_before(beside, least, most)
        slopes, spread = _regressions(beside, neighbours, size / (reliable[:, 0] * alone))
        slopes *= alone[:, None] / np.where(neighbours >= 0, alone[neighbours], 1.0)
        return cls(fitted, scale, loadings, neighbours, slopes, alone * spread)

    def draw(self, rows: Indices, rng: Generator) -> Matrix:
        """Scores of new rows, whose covariates are those of these rows of the pilot."""
        factors = rng.standard_normal((len(rows), self.loadings.shape[1]))
        beside = self.spread[:, None] * rng.standard_normal((len(self.spread), len(rows)))
        for k in np.flatnonzero(self.neighbours[:, 0] >= 0):
            near = self.neighbours[k] >= 0
            beside[k] += self.slopes[k, near] @ beside[self.neighbours[k, near]]
        return np.asarray(self.fitted[rows] + self.scale * (factors @ self.loadings.T + beside.T))


def _reliability(scores: Matrix) -> Vector:
    """Correlation of scores with those that they would be without ties, which attenuate them."""
    whole = normal_places(np.arange(len(scores), dtype=np.float64))
    return np.asarray(np.std(scores, axis=0) / np.std(whole))


def _norms(rows: Matrix) -> Vector:
    return np.asarray(np.sqrt(np.sum(rows**2, axis=1)))


def _neighbours_before(columns: Matrix, least: float, most: int) -> Indices:
    """For each row of a matrix the rows before it that correlate with it most, -1 for none."""
    p, n = columns.shape
    found = np.full((p, most), -1, np.intp)
    place = np.arange(p)
    for start in range(0, p, BLOCK):
        stop, first = min(start + BLOCK, p), max(0, start - REACH)
        correlations = columns[start:stop] @ columns[first:stop].T / n
        correlations[place[first:stop] >= place[start:stop, None]] = 0.0
        outside = np.full(stop - start, -1)  # no row is of another's group
        some = strongest(correlations, outside, place[first:stop], least, most)
        found[start:stop] = np.where(some >= 0, some + first, -1)
    return found


def _regressions(columns: Matrix, neighbours: Indices, gain: Vector) -> tuple[Matrix, Vector]:
    """Slopes of standardised rows on their neighbours, and the standard deviation of the rest.

    Correlations gain by a factor for each of two rows what ties have taken from them.
    """
    p, n = columns.shape
    slopes, spread = np.zeros(neighbours.shape), np.ones(p)
    for k in np.flatnonzero(neighbours[:, 0] >= 0):
        near = neighbours[k][neighbours[k] >= 0]
        nearest = columns[near[0]] @ columns[k] / n
        if abs(nearest) > COPY:
            slopes[k, 0], spread[k] = np.sign(nearest), 0.0
            continue
        both = np.append(near, k)
        between = columns[both] @ columns[both].T / n * np.outer(gain[both], gain[both])
        between = np.clip(between, -MAX_CORRELATION, MAX_CORRELATION)
        np.fill_diagonal(between, 1.0)
        values, vectors = np.linalg.eigh(between)
        least = max(MIN_VARIANCE, (1 - 1 / np.mean(gain[both] ** 2)) / 2)  # of what ties took, half
        between = (vectors * np.maximum(values, least)) @ vectors.T
        slope = np.linalg.solve(between[:-1, :-1], between[:-1, -1])
        slopes[k, : len(near)] = slope
        spread[k] = np.sqrt(max(between[-1, -1] - between[-1, :-1] @ slope, MIN_VARIANCE))
    return slopes, spread
