"""A Gaussian copula of a pilot table, from which rows of a larger study are drawn.

Correlations that chance does not reach are kept, all others are shrunk towards none as Ledoit and
Wolf (2004) do, so that those which are there by chance are not taken for real ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..data.covariates import normal_places
from ..data.study import Study
from ..types import Indices, Matrix, Vector

MOST_NEIGHBOURS = 8  # that a column is drawn given
MAX_BLOCK_VALUES = 2**22  # bounds the memory of one block of correlations
NOTHING_LEFT = 1e-10  # share of variance up to which a column is told by its neighbours


@dataclass(frozen=True, eq=False)
class Copula:
    """Normal scores of a table, what covariates predict of them, and how columns correlate.

    Attributes
    ----------
    values
        Values of the table in increasing order down every column, (n, p).
    fitted
        What covariates predict of the normal scores, (n, p).
    rest
        What they leave, (n, p).
    shrinkage
        Share of the variance that comes from correlations above chance alone.
    neighbours
        For each column that has some: its number, earlier columns, their weights, and the standard
        deviation of what these leave of it.
    """

    values: NDArray[np.generic]
    fitted: Matrix
    rest: Matrix
    shrinkage: float
    neighbours: tuple[tuple[int, Indices, Vector, float], ...]

    @classmethod
    def of(cls, study: Study) -> Copula:
        """The copula of the features of a study, given all that is adjusted for."""
        values, basis = study.columns.values, study.adjustment.basis
        scores = normal_places(values.astype(np.float64))
        scores -= scores.mean(axis=0)
        fitted = basis.T @ (basis @ scores)
        rest = scores - fitted
        known = np.sort(values, axis=0)
        return cls(known, fitted, rest, shrinkage_of(rest), tuple(_neighbours(rest)))

    def draw(self, rows: Indices, rng: Generator) -> NDArray[np.generic]:
        """New rows, whose covariates are those of these rows; every value as often as before.

        Parameters
        ----------
        rows
            Rows of the table.
        rng
            Draws the scores.

        Returns
        -------
        ndarray
            The values, (rows, p).
        """
        n, m = len(self.rest), len(rows)
        noise = rng.standard_normal((self.rest.shape[1], m))
        for column, earlier, weights, left in self.neighbours:
            noise[column] = left * noise[column] + weights @ noise[earlier]
        mixed = rng.standard_normal((m, n)) @ self.rest / np.sqrt(n)
        scores = self.fitted[rows] + np.sqrt(1 - self.shrinkage) * mixed
        scores += np.sqrt(self.shrinkage) * self.rest.std(axis=0) * noise.T
        order = np.argsort(scores, axis=0)
        drawn = np.empty((m, self.rest.shape[1]), self.values.dtype)
        places = (2 * np.arange(m) + 1) * n // (2 * m)
        np.put_along_axis(drawn, order, self.values[places], axis=0)
        return drawn


def shrinkage_of(rest: Matrix) -> float:
    r"""Shrinkage of correlations towards none that is best on average (Ledoit and Wolf 2004).

    With rows :math:`x_i` of standardised columns and their correlations :math:`S`,
    :math:`\min(1, \sum_i \|x_i x_i' - S\|^2 / n^2 / \|S - I\|^2)`; no p by p matrix is made.

    >>> rng = np.random.default_rng(0)
    >>> noise, one = rng.standard_normal((50, 200)), rng.standard_normal((50, 1))
    >>> shrinkage_of(noise) > 0.9, shrinkage_of(one + 0.1 * noise) < 0.1
    (True, True)
    """
    columns = _standardised(rest)
    columns = columns[:, columns.any(axis=0)]
    n, p = columns.shape
    between = columns @ columns.T
    size = np.sum(between**2) / n**2  # of S
    apart = np.sum(np.diag(between) ** 2) / n - size
    return float(np.clip(apart / n / max(size - p, 1e-300), 0.0, 1.0))


def _neighbours(rest: Matrix) -> Iterator[tuple[int, Indices, Vector, float]]:
    r"""Least squares of each column on the earlier ones that it correlates with above chance.

    Of p columns of noise two correlate by :math:`\sqrt{4 \log p / n}` at most. Drawn one given
    others, columns keep these correlations, and copies stay copies.
    """
    columns = _standardised(rest)
    n, p = columns.shape
    chance = np.sqrt(4 * np.log(max(p, 2)) / n)
    width = max(1, MAX_BLOCK_VALUES // p)
    for start in range(0, p, width):
        block = columns[:, start : start + width].T @ columns / n
        for column, all_correlations in enumerate(block, start):
            correlations = np.abs(all_correlations[:column])
            earlier = np.flatnonzero(correlations > chance)
            earlier = earlier[np.argsort(-correlations[earlier], kind="stable")[:MOST_NEIGHBOURS]]
            if len(earlier):
                given, mine = columns[:, earlier], columns[:, column]
                weights = np.linalg.lstsq(given, mine, rcond=1e-9)[0]
                left = float(np.mean((mine - given @ weights) ** 2))
                yield column, earlier, np.asarray(weights), left**0.5 * (left > NOTHING_LEFT)


def _standardised(columns: Matrix) -> Matrix:
    """Columns of mean 0 and variance 1; 0 where they do not vary."""
    centred = columns - columns.mean(axis=0)
    spread = centred.std(axis=0)
    return np.where(spread > NOTHING_LEFT, centred / np.maximum(spread, NOTHING_LEFT), 0.0)
