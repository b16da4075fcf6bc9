r"""Residuals of features given the other features, and of the target given the same ones.

A feature is regressed on its neighbours, by least squares without shrinkage: at most ten features
that correlate with it beyond :math:`\sqrt{2 \log p / n}`, and two whose absolute value does, as
linear splines of five knots. The residual of the target is adjusted for the same neighbours, so
that their correlation is a partial one with an exact number of degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runs.compiled import compiled, compiled_reordering
from ..types import Indices, Matrix, Vector
from .statistics import ResidualPairs

Array = NDArray[Any]

MAX_LINEAR, MAX_SPLINE = 10, 2  # neighbours of a column
KNOTS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
MIN_NORM = 1e-6  # relative norm below which a column adds nothing to its predecessors
ROWS_PER_REGRESSOR = 4  # at least, in a regression
MANY_TARGETS = 16  # columns of the target from which on fewer columns are compared together
MAX_BLOCK_VALUES = 2**16  # of columns compared together, so that they stay near the processor


@dataclass(frozen=True, eq=False)
class Neighbours:
    """For each column those it is regressed on: linearly, and by splines; -1 for none.

    The strongest come first.
    """

    linear: Indices
    spline: Indices

    def take(self, which: Any) -> Neighbours:
        """Those of some of the columns."""
        return Neighbours(self.linear[which], self.spline[which])

    @classmethod
    def none(cls, n_columns: int) -> Neighbours:
        """No neighbours."""
        return cls(np.full((n_columns, 1), -1), np.full((n_columns, 1), -1))


def find_neighbours(
    Z: Matrix, abs_Z: Matrix, hypothesis_of: Indices, columns: Indices
) -> Neighbours:
    """Neighbours of some columns among all columns of other hypotheses.

    `abs_Z` holds absolute values of Z, standardised.
    """
    p, n = Z.shape
    mine, own = Z[columns], hypothesis_of[columns]
    by_chance = np.sqrt(2 * np.log(p) * n), np.sqrt(2 * np.log(2 * p) * n)
    return Neighbours(
        _strongest(mine @ Z.T, own, hypothesis_of, by_chance[0], MAX_LINEAR),
        _strongest(mine @ abs_Z.T, own, hypothesis_of, by_chance[1], MAX_SPLINE),
    )


def _strongest(
    values: Array, mine: Array, hypothesis_of: Array, bound: float, most: int
) -> Indices:
    """Positions of the largest absolute values beyond the bound in every row, largest first."""
    found = np.full((len(values), most), -1, np.intp)
    _find_strongest(values, mine, hypothesis_of, bound, np.empty(most), found)
    return found


@compiled
def _find_strongest(
    values: Array, mine: Array, hypothesis_of: Array, bound: float, size: Array, found: Array
) -> None:
    most = len(size)
    for k in range(len(values)):
        for place in range(most):
            size[place] = 0.0
        for j in range(values.shape[1]):
            value = abs(values[k, j])
            if value <= bound or value <= size[most - 1] or hypothesis_of[j] == mine[k]:
                continue
            place = most - 1
            while place > 0 and size[place - 1] < value:
                size[place], found[k, place] = size[place - 1], found[k, place - 1]
                place -= 1
            size[place], found[k, place] = value, j


@dataclass(frozen=True, eq=False)
class FeatureResiduals:
    """Residuals of some columns, and of the target adjusted for the neighbours of each.

    `values` and `fitted`, what neighbours predict, are (k, n), `target` (q, k, n); `rank` is the
    number of dimensions that covariates and neighbours take up, `variance` the share of a column's
    variance that its residual has.
    """

    values: Matrix
    fitted: Matrix
    target: NDArray[np.float64]
    rank: Indices
    variance: Vector

    def pairs(self, tie_breakers: tuple[Vector, Vector]) -> Iterator[ResidualPairs]:
        """Those with a residual, beside each column of the target in turn."""
        own = self.with_residual
        values, targets = self.values[own], self.target[:, own]
        order = np.argsort(values + tie_breakers[0])
        for q in range(len(targets)):
            yield ResidualPairs(
                values, targets, self.rank[own], order, tie_breakers[1], q, self.fitted[own]
            )

    @property
    def with_residual(self) -> Indices:
        """Columns that neighbours and covariates do not explain completely."""
        return np.flatnonzero(self.variance)


def residuals_of(
    Z: Matrix, columns: Indices, neighbours: Neighbours, E: Array, covariate_basis: Matrix
) -> Iterator[tuple[slice, FeatureResiduals]]:
    """Residuals of columns and of `E`, those of the target, a few columns at a time.

    `E` is (q, n), or (q, columns, n) where each column has its own. Both are adjusted for what
    covariates span, the orthonormal rows `covariate_basis`, and for the neighbours.
    """
    width = max(1, MAX_BLOCK_VALUES // Z.shape[1] // max(1, len(E) // MANY_TARGETS))
    for start in range(0, len(columns), width):
        some = slice(start, start + width)
        values = Z[columns[some]].astype(np.float64)
        fitted = values.copy()
        target = np.repeat(E[:, None], len(values), axis=1) if E.ndim == 2 else E[:, some].copy()
        before, rank = _squares(values), np.zeros(len(values), np.intp)
        _adjust(Z, neighbours.take(some), covariate_basis, values, target, rank)
        variance = _squares(values) / np.where(before > 0, before, np.inf)
        variance[variance < MIN_NORM] = 0.0
        fitted -= values
        yield some, FeatureResiduals(values, fitted, target, rank, variance)


def _squares(values: Matrix) -> Vector:
    return np.asarray(np.einsum("ki,ki->k", values, values))


def _adjust(
    Z: Matrix, near: Neighbours, covariate_basis: Matrix, R: Matrix, target: Array, rank: Indices
) -> None:
    """Adjust every row of R, and those in its place in `target`, for its neighbours in Z.

    Fills in `rank`, the number of dimensions that they and `covariate_basis` have.
    """
    size, n = covariate_basis.shape
    most = near.linear.shape[1] + (1 + len(KNOTS)) * near.spline.shape[1]
    basis = np.empty((size + min(most, (n - size) // ROWS_PER_REGRESSOR) + 1, n))
    basis[:size] = covariate_basis
    _adjust_all(Z, near.linear, near.spline, basis, size, R, target, rank)


@compiled
def _adjust_all(
    Z: Array,
    linear: Array,
    spline: Array,
    basis: Array,
    n_covariates: int,
    R: Array,
    target: Array,
    rank: Array,
) -> None:
    for i in range(len(R)):
        size = n_covariates
        for a in range(linear.shape[1]):
            if linear[i, a] >= 0:
                size = _extend(basis, size, Z[linear[i, a]], -np.inf)
        for a in range(spline.shape[1]):
            if spline[i, a] >= 0:
                size = _extend(basis, size, Z[spline[i, a]], -np.inf)
                for knot in KNOTS:
                    size = _extend(basis, size, Z[spline[i, a]], knot)
        _take_away(basis, size, R[i])
        for q in range(len(target)):
            _take_away(basis, size, target[q, i])
        rank[i] = size


@compiled_reordering
def _extend(basis: Array, size: int, column: Array, knot: float) -> Any:
    """Add a column, no less than the knot, to an orthonormal basis; return the basis's size."""
    if size >= len(basis) - 1:
        return size
    new = basis[size]
    n = len(column)
    mean = 0.0
    for i in range(n):
        new[i] = column[i] if column[i] > knot else knot
        mean += new[i]
    mean /= n
    before = 0.0
    for i in range(n):
        new[i] -= mean
        before += new[i] * new[i]
    _take_away(basis, size, new)
    _take_away(basis, size, new)  # twice is enough
    after = 0.0
    for i in range(n):
        after += new[i] * new[i]
    if np.sqrt(after) <= MIN_NORM * np.sqrt(before):
        return size
    for i in range(n):
        new[i] /= np.sqrt(after)
    return size + 1


@compiled_reordering
def _take_away(basis: Array, size: int, column: Array) -> None:
    """Take away from a column what lies in the basis."""
    for a in range(size):
        inner = 0.0
        for i in range(len(column)):
            inner += basis[a, i] * column[i]
        for i in range(len(column)):
            column[i] -= inner * basis[a, i]
