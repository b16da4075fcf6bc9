r"""Residuals of features and target given the other features, and how they go together.

A feature is regressed on its neighbours, by least squares without shrinkage: at most ten features
that correlate with it beyond :math:`\sqrt{2 \log p / n}`, and two whose absolute value does, bent
at five knots. The target's residual is freed of the same neighbours, so their plain correlation is
a partial one with an exact number of degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runs.compiled import compiled, compiled_reordering
from ..types import Indices, Matrix, Vector
from .rank_statistics import covariance_of_ranks, in_order, rank_table, ranks_of, scores_by_rank

Array = NDArray[Any]

MOST_NEIGHBOURS = 10
MOST_BENT = 2
KNOTS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
LEAST_NORM = 1e-6  # of a column, relative, below which it adds nothing to its predecessors
MOST_OF_ROWS = 4  # a regression takes at most n / 4 columns
VALUES_AT_ONCE = 2**16  # of columns that are compared together


@dataclass(frozen=True, eq=False)
class Neighbours:
    """For each column those it is regressed on: straight and bent, strongest first, -1 for none."""

    straight: Indices
    bent: Indices


def find_neighbours(
    Z: Matrix, abs_Z: Matrix, hypothesis_of: Indices, columns: Indices
) -> Neighbours:
    """Neighbours of some columns among all columns of other hypotheses.

    `abs_Z` holds absolute values of Z, standardised.
    """
    p, n = Z.shape
    mine, own = Z[columns], hypothesis_of[columns]
    straight = _strongest(
        mine @ Z.T, own, hypothesis_of, np.sqrt(2 * np.log(p) * n), MOST_NEIGHBOURS
    )
    bent = _strongest(mine @ abs_Z.T, own, hypothesis_of, np.sqrt(2 * np.log(2 * p) * n), MOST_BENT)
    return Neighbours(straight, bent)


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
class Comparison:
    """How residuals of columns and of the target's parts go together; (columns, parts) each.

    `dependence` is the `statistic` of `rank_statistics`. `correlation`, `correlation_abs_r` and
    `correlation_abs_e` are correlations of r with e, of |r| with normal scores of e and of r with
    |e|: one side of each is close to normal, without which small p-values would be too small.
    `t_product` and `t_product_abs_r` are the means of r e and of |r| e, centred, over their own
    standard errors. Per column: `rank` of the regression, and the share of the column's variance
    that is `left`.
    """

    dependence: Matrix
    correlation: Matrix
    correlation_abs_r: Matrix
    correlation_abs_e: Matrix
    t_product: Matrix
    t_product_abs_r: Matrix
    rank: Indices
    left: Vector
    statistic: str


def compare(
    Z: Matrix,
    columns: Indices,
    neighbours: Neighbours,
    E: Matrix,
    tie_breakers: tuple[Vector, Vector],
    covariate_basis: Matrix,
    statistic: str = "pc",
) -> Comparison:
    """Compare residuals of columns with those of the target's parts, the rows of `E`.

    Both are freed of what covariates span, the orthonormal rows `covariate_basis`, and of the
    neighbours.
    """
    n = Z.shape[1]
    found = np.zeros((6, len(columns), len(E)))
    rank, left = np.zeros(len(columns), np.intp), np.zeros(len(columns))
    width = max(1, VALUES_AT_ONCE // n)
    for start in range(0, len(columns), width):
        some = slice(start, start + width)
        R = Z[columns[some]].astype(np.float64)
        freed = np.repeat(E[:, None], len(R), axis=1)
        before = _inner(R, R)
        near = Neighbours(neighbours.straight[some], neighbours.bent[some])
        _free(Z, near, covariate_basis, R, freed, rank[some])
        left[some] = _inner(R, R) / np.where(before > 0, before, np.inf)
        left[some][left[some] < LEAST_NORM] = 0.0
        own = np.flatnonzero(left[some])
        found[:, start + own] = _relate(R[own], freed[:, own], tie_breakers, statistic)
    dependence, of_r_e, of_abs_r, of_abs_e, t, t_abs_r = found
    return Comparison(dependence, of_r_e, of_abs_r, of_abs_e, t, t_abs_r, rank, left, statistic)


def residual(
    Z: Matrix, column: int, straight: Indices, bent: Indices, covariate_basis: Matrix
) -> Vector:
    """Residual of one column given covariates and its neighbours."""
    R, near = Z[[column]].astype(np.float64), Neighbours(straight[None], bent[None])
    _free(Z, near, covariate_basis, R, np.empty((0, *R.shape)), np.empty(1, np.intp))
    return np.asarray(R[0])


def _relate(R: Matrix, freed: Array, tie_breakers: tuple[Vector, Vector], statistic: str) -> Array:
    """What `Comparison` holds of residuals of columns, (6, columns, parts)."""
    n = R.shape[1]
    which, scores = rank_table(statistic, n), scores_by_rank(n)
    found = np.empty((len(freed), 6, len(R)))
    order = np.argsort(R + tie_breakers[0])
    for q, E in enumerate(freed):
        ranks = ranks_of(np.argsort(E + tie_breakers[1]))
        found[q, 0] = covariance_of_ranks(in_order(ranks, order), *which)
        _correlate(R, E, scores[ranks], found[q])
    return found.transpose(1, 2, 0)


@compiled_reordering
def _correlate(R: Array, E: Array, scored: Array, found: Array) -> None:
    """Fill in all but the first of what `Comparison` holds; rows of `scored` are scores of E."""
    n = R.shape[1]
    for k in range(len(R)):
        mean_abs_r, mean_abs_e, product = 0.0, 0.0, 0.0  # and the mean of r e
        for i in range(n):
            mean_abs_r += abs(R[k, i]) / n
            mean_abs_e += abs(E[k, i]) / n
            product += R[k, i] * E[k, i] / n
        rr, ee, bb, ss, cc, bc, rs, be = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(n):
            r, e, c = R[k, i], E[k, i], scored[k, i]
            b, s = abs(r) - mean_abs_r, abs(e) - mean_abs_e
            rr += r * r
            ee += e * e
            bb += b * b
            ss += s * s
            cc += c * c
            bc += b * c
            rs += r * s
            be += b * e
        squares, squares_abs_r = 0.0, 0.0
        for i in range(n):
            apart = R[k, i] * E[k, i] - product
            squares += apart * apart
            apart = (abs(R[k, i]) - mean_abs_r) * E[k, i] - be / n
            squares_abs_r += apart * apart
        found[1, k] = n * product / np.sqrt(rr * ee) if rr * ee > 0 else 0.0
        found[2, k] = bc / np.sqrt(bb * cc) if bb * cc > 0 else 0.0
        found[3, k] = rs / np.sqrt(rr * ss) if rr * ss > 0 else 0.0
        found[4, k] = product / np.sqrt(squares / (n - 1) / n) if squares > 0 else 0.0
        found[5, k] = be / n / np.sqrt(squares_abs_r / (n - 1) / n) if squares_abs_r > 0 else 0.0


def _inner(a: Matrix, b: Matrix) -> Vector:
    return np.asarray(np.einsum("ki,ki->k", a, b))


def _free(
    Z: Matrix, near: Neighbours, covariate_basis: Matrix, R: Matrix, freed: Array, rank: Indices
) -> None:
    """Free every row of R, and those in its place in `freed`, of its neighbours in Z.

    Fills in `rank`, the number of dimensions that they and `covariate_basis` have.
    """
    size, n = covariate_basis.shape
    most = near.straight.shape[1] + (1 + len(KNOTS)) * near.bent.shape[1]
    basis = np.empty((size + min(most, (n - size) // MOST_OF_ROWS) + 1, n))
    basis[:size] = covariate_basis
    _free_all(Z, near.straight, near.bent, basis, size, R, freed, rank)


@compiled
def _free_all(
    Z: Array,
    straight: Array,
    bent: Array,
    basis: Array,
    n_covariates: int,
    R: Array,
    freed: Array,
    rank: Array,
) -> None:
    for i in range(len(R)):
        size = n_covariates
        for a in range(straight.shape[1]):
            if straight[i, a] >= 0:
                size = _extend(basis, size, Z[straight[i, a]], -np.inf)
        for a in range(bent.shape[1]):
            if bent[i, a] >= 0:
                size = _extend(basis, size, Z[bent[i, a]], -np.inf)
                for knot in KNOTS:
                    size = _extend(basis, size, Z[bent[i, a]], knot)
        _take_away(basis, size, R[i])
        for q in range(len(freed)):
            _take_away(basis, size, freed[q, i])
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
    if np.sqrt(after) <= LEAST_NORM * np.sqrt(before):
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
