r"""What is left of features and target once the others have spoken, and how that goes together.

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

from ...measures.compiled import compiled, compiled_reordering
from ...types import Indices, Matrix, Vector
from .dependence import by_rank, covariance_of_values, scores_by_rank

Array = NDArray[Any]

MOST_NEIGHBOURS = 10
MOST_BENT = 2
KNOTS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
LEAST_NORM = 1e-6  # of a column, relative, below which it adds nothing to its predecessors
MOST_OF_ROWS = 4  # a regression takes at most n / 4 columns


@dataclass(frozen=True, eq=False)
class Neighbours:
    """For each column those it is regressed on: straight and bent, strongest first, -1 for none."""

    straight: Indices
    bent: Indices


def find_neighbours(Z: Matrix, bows: Matrix, owners: Indices, columns: Indices) -> Neighbours:
    """Neighbours of some columns among all columns of other owners; `bows` stands for |Z|."""
    p, n = Z.shape
    mine, own = Z[columns], owners[columns]
    straight = _strongest(mine @ Z.T, own, owners, np.sqrt(2 * np.log(p) * n), MOST_NEIGHBOURS)
    bent = _strongest(mine @ bows.T, own, owners, np.sqrt(2 * np.log(2 * p) * n), MOST_BENT)
    return Neighbours(straight, bent)


@compiled
def _strongest(values: Array, mine: Array, owners: Array, bound: float, most: int) -> Any:
    """Positions of the largest absolute values beyond the bound in every row, largest first."""
    found = np.full((len(values), most), -1, np.int64)
    for k in range(len(values)):
        size = np.zeros(most)
        for j in range(values.shape[1]):
            value = abs(values[k, j])
            if value <= bound or value <= size[most - 1] or owners[j] == mine[k]:
                continue
            place = most - 1
            while place > 0 and size[place - 1] < value:
                size[place], found[k, place] = size[place - 1], found[k, place - 1]
                place -= 1
            size[place], found[k, place] = value, j
    return found


@dataclass(frozen=True, eq=False)
class Comparison:
    """How residuals of columns and of the target's parts go together; (columns, parts) each.

    `covariance` is the `statistic` of `dependence`; `correlation`, `bowed` and `spread` are
    correlations of r with e, of |r| with normal scores of e and of r with |e|: one side of each is
    close to normal, without which small p-values would be too small. `product` and `product_bowed`
    are the means of r e and of |r| e, centred, over their own standard errors. Per column: `rank`
    of the regression, and the share of the column's variance that is `left`.
    """

    covariance: Matrix
    correlation: Matrix
    bowed: Matrix
    spread: Matrix
    product: Matrix
    product_bowed: Matrix
    rank: Indices
    left: Vector
    statistic: str


def compare(
    Z: Matrix,
    columns: Indices,
    neighbours: Neighbours,
    E: Matrix,
    tiny: tuple[Vector, Vector],
    given: Matrix,
    statistic: str = "pc",
) -> Comparison:
    """Compare residuals of columns with those of the target's parts, the rows of `E`.

    Both are freed of the orthonormal rows `given`, what covariates span, and of the neighbours.
    """
    found = np.zeros((6, len(columns), len(E)))
    rank, left = np.zeros(len(columns), np.int64), np.zeros(len(columns))
    near, which = (neighbours.straight, neighbours.bent), by_rank(statistic, Z.shape[1])
    scores = scores_by_rank(Z.shape[1])
    _compare(Z, columns, *near, E, given, *tiny, *which, scores, found, rank, left)
    covariance, correlation, bowed, spread, product, product_bowed = found
    return Comparison(
        covariance, correlation, bowed, spread, product, product_bowed, rank, left, statistic
    )


def residual(Z: Matrix, column: int, straight: Indices, bent: Indices, given: Matrix) -> Vector:
    """What is left of one column once covariates and its neighbours have spoken."""
    basis = _room_for(given)
    r: Vector = Z[column].copy()
    _free(r, basis, _span(Z, straight, bent, basis, len(given)))
    return r


@compiled
def _compare(
    Z: Array,
    columns: Array,
    straight: Array,
    bent: Array,
    E: Array,
    given: Array,
    tiny_x: Array,
    tiny_y: Array,
    statistic: int,
    table: Array,
    scores: Array,
    found: Array,
    rank: Array,
    left: Array,
) -> None:
    basis = _room_for(given)
    scored = np.empty(Z.shape[1])
    for i in range(len(columns)):
        r = Z[columns[i]].copy()
        before = np.sum(r * r)
        rank[i] = _span(Z, straight[i], bent[i], basis, len(given))
        _free(r, basis, rank[i])
        left[i] = np.sum(r * r) / before if before > 0 else 0.0
        if left[i] < LEAST_NORM:
            left[i] = 0.0
            continue
        bow = np.abs(r)
        bow -= bow.mean()
        for q in range(len(E)):
            e = E[q].copy()
            _free(e, basis, rank[i])
            size = np.abs(e)
            size -= size.mean()
            found[0, i, q] = covariance_of_values(r + tiny_x, e + tiny_y, statistic, table)
            found[1, i, q] = _correlation(r, e)
            scored[np.argsort(e + tiny_y)] = scores
            found[2, i, q] = _correlation(bow, scored)
            found[3, i, q] = _correlation(r, size)
            found[4, i, q] = _over_its_error(r * e)
            found[5, i, q] = _over_its_error(bow * e)


@compiled
def _room_for(given: Array) -> Any:
    """An orthonormal basis that begins with `given` and has room for neighbours."""
    size, n = given.shape
    basis = np.empty((size + (n - size) // MOST_OF_ROWS + 1, n))
    basis[:size] = given
    return basis


@compiled
def _span(Z: Array, straight: Array, bent: Array, basis: Array, size: int) -> Any:
    """Add the neighbours to the first rows of an orthonormal basis; return its size."""
    most = len(basis) - 1
    for j in straight:
        if j >= 0:
            size = _extend(basis, size, most, Z[j].copy())
    for j in bent:
        if j >= 0:
            size = _extend(basis, size, most, Z[j].copy())
            for knot in KNOTS:
                size = _extend(basis, size, most, np.maximum(Z[j] - knot, 0.0))
    return size


@compiled_reordering
def _extend(basis: Array, size: int, most: int, column: Array) -> Any:
    if size >= most:
        return size
    column -= column.mean()
    before = np.sqrt(np.sum(column * column))
    _free(column, basis, size)
    _free(column, basis, size)  # twice is enough
    after = np.sqrt(np.sum(column * column))
    if after <= LEAST_NORM * before:
        return size
    basis[size] = column / after
    return size + 1


@compiled_reordering
def _free(column: Array, basis: Array, size: int) -> None:
    """Take away from a column what lies in the basis."""
    for a in range(size):
        inner = 0.0
        for i in range(len(column)):
            inner += basis[a, i] * column[i]
        for i in range(len(column)):
            column[i] -= inner * basis[a, i]


@compiled_reordering
def _over_its_error(values: Array) -> Any:
    mean = values.mean()
    variance = np.sum((values - mean) ** 2) / (len(values) - 1)
    return mean / np.sqrt(variance / len(values)) if variance > 0 else 0.0


@compiled_reordering
def _correlation(a: Array, b: Array) -> Any:
    both, first, second = 0.0, 0.0, 0.0
    for i in range(len(a)):
        both += a[i] * b[i]
        first += a[i] * a[i]
        second += b[i] * b[i]
    return both / np.sqrt(first * second) if first * second > 0 else 0.0
