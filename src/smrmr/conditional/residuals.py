r"""Residuals of features given the other features, and of the target given the same ones.

What many features share is taken out of all of them and of the target: principal components beyond
what noise has (`Components`). Then a feature is regressed on those that correlate with it most, by
the square-root LASSO (Belloni, Chernozhukov and Wang 2011) with the penalty
:math:`\lambda = \sqrt{2 \log p / n}`,

.. math:: \min_b \; \|f_k - \sum_j b_j f_j\| / \sqrt n + \lambda \|b\|_1,

so that its residual correlates with each of them by at most lambda and keeps what it may:
partialling out every neighbour in full would cost power whether or not it matters for the target.
Two kinds of neighbours take part in full, and the target is adjusted for them too: those that the
residual of the target still correlates with by more than lambda, ten at most, for errors of the two
fits multiply; and those whose absolute value correlates with the feature, two at most, as linear
splines of five knots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..runs.compiled import compiled_reordering
from ..runs.stored_rows import RowMatrix, column_blocks, inner_products
from ..types import Indices, Mask, Matrix, Vector
from .components import AnyCommonPart
from .statistics import Interactions, ResidualPairs
from .strongest import strongest

Array = NDArray[Any]
Part = TypeVar("Part")
Basis: TypeAlias = Matrix | Callable[[], Matrix]

MAX_LINEAR, MAX_SPLINE = 40, 2  # neighbours of a column
MAX_IN_FULL = 10  # of the linear ones, that are partialled out in full:
IN_FULL = 1.0  # those that correlate with the residual of the target by more than this times lambda
LEAST_OF_PENALTY = 0.5  # times lambda, the correlation from which a column may be a neighbour
TOLERANCE, MAX_SWEEPS = 1e-7, 1000  # of coefficients of the LASSO, and its sweeps over neighbours
MIN_RESIDUAL = 1e-4  # share of variance from which on the penalty shrinks no more
KNOTS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
MIN_NORM = 1e-6  # relative norm below which a column adds nothing to its predecessors
ROWS_PER_REGRESSOR = 4  # at least, in a regression
MANY_TARGETS = 16  # columns of the target from which on fewer columns are compared together
MAX_BLOCK_VALUES = 2**16  # of columns compared together, so that they stay near the processor
MANY_ROWS = MAX_BLOCK_VALUES // 2  # from which on each is alone, and its neighbours are multiplied


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


def penalty(p: int, n: int) -> float:
    """Lambda of the LASSO of a feature on others: correlations that chance alone gives p of."""
    return float(np.sqrt(2 * np.log(max(p, 2)) / n))


def find_neighbours(
    Z: RowMatrix,
    abs_Z: RowMatrix,
    hypothesis_of: Indices,
    columns: Indices,
    commons: Sequence[AnyCommonPart],
    products: Indices,
) -> Neighbours:
    """Neighbours of some columns among all columns of other hypotheses.

    Linear ones are those that correlate most once the common part, one for each of the columns, is
    taken out of all columns. `abs_Z` holds absolute values of Z, standardised. The first columns
    are `products` of two columns; those of a column's own hypothesis are not its neighbours.
    """
    p, n = Z.shape
    mine, own = Z[columns], hypothesis_of[columns]
    by_chance = np.sqrt(2 * np.log(2 * p) * n)
    curved, with_common = inner_products(mine, abs_Z), list[tuple[slice, AnyCommonPart]]()
    for some, common in _runs(commons):  # from here on `mine` is what is not common
        vectors = common.vectors
        if len(vectors):
            with_common.append((some, common))
            _make_free_of(vectors, mine[some])
            lengths = np.maximum(common.lengths[columns[some]], MIN_NORM).astype(Z.dtype)
            mine[some] /= lengths[:, None]
    correlations = inner_products(mine, Z)
    for some, common in with_common:
        correlations[some] /= np.maximum(common.lengths, MIN_NORM).astype(Z.dtype)
    inside = (hypothesis_of[products] == own[:, None, None]).any(axis=2)
    correlations[:, : len(products)][inside] = curved[:, : len(products)][inside] = 0.0
    least = LEAST_OF_PENALTY * penalty(p, n) * n
    return Neighbours(
        strongest(correlations, own, hypothesis_of, least, MAX_LINEAR),
        strongest(curved, own, hypothesis_of, by_chance, MAX_SPLINE),
    )


def _runs(parts: Sequence[Part]) -> Iterator[tuple[slice, Part]]:
    """Successive columns that have the same part, and that part."""
    start = 0
    for _, same in groupby(parts, key=id):
        size = len(list(same))
        yield slice(start, start + size), parts[start]
        start += size


@dataclass(frozen=True, eq=False)
class FeatureResiduals:
    """Residuals of some columns, and of the target adjusted for the neighbours of each.

    `values` and `fitted`, what neighbours and components predict, are (k, n), `target` (q, k, n);
    `rank` is the number of dimensions that both are free of: those of covariates, components and
    splines. `variance` is the share of a column's variance that its residual has.
    """

    values: Matrix
    fitted: Matrix
    target: NDArray[np.float64]
    rank: Indices
    variance: Vector

    def pairs(
        self, tie_breakers: tuple[Vector, Vector], interactions: Interactions | None = None
    ) -> Iterator[ResidualPairs]:
        """Those with a residual, beside each column of the target in turn."""
        own = self.with_residual
        values, targets, fitted = self.values[own], self.target[:, own], self.fitted[own]
        order = np.argsort(values + tie_breakers[0])
        together = None if interactions is None else interactions.take(own)
        for q in range(len(targets)):
            yield ResidualPairs(
                values, targets, self.rank[own], order, tie_breakers[1], q, fitted, together
            )

    @property
    def with_residual(self) -> Indices:
        """Columns that neighbours and covariates do not explain completely."""
        return np.flatnonzero(self.variance)


def residuals_of(
    Z: RowMatrix, columns: Indices, neighbours: Neighbours, E: Array, bases: Sequence[Basis]
) -> Iterator[tuple[slice, FeatureResiduals]]:
    """Residuals of columns and of `E`, those of the target, a few columns at a time.

    `E` is (q, n), or (q, columns, n) where each column has its own. Both are free of the
    orthonormal rows of `bases`, one for each column: covariates, and components of the others; they
    may be functions that make these rows, which are called for a few columns at a time.
    """
    width = max(1, MAX_BLOCK_VALUES // Z.shape[1] // max(1, len(E) // MANY_TARGETS))
    for start in range(0, len(columns), width):
        some = slice(start, start + width)
        near, own = neighbours.take(some), Z[columns[some]].astype(np.float64)
        parts = [
            _adjusted(Z, own[part], near.take(part), E if E.ndim == 2 else E[:, some][:, part], one)
            for part, one in _runs(bases[some])
        ]
        of_columns, of_target, ranks = zip(*parts, strict=True)
        values, target = np.concatenate(of_columns), np.concatenate(of_target, axis=1)
        before = _squares(own)
        variance = _squares(values) / np.where(before > 0, before, np.inf)
        variance[variance < MIN_NORM] = 0.0
        yield some, FeatureResiduals(values, own - values, target, np.concatenate(ranks), variance)


def _adjusted(
    Z: RowMatrix, own: Matrix, near: Neighbours, E: Array, basis: Basis
) -> tuple[Matrix, Array, Indices]:
    """Residuals of columns that have one basis, those of E beside them, and their ranks."""
    basis = basis() if callable(basis) else basis
    target = _free_of(basis, E)
    if E.ndim == 2:
        target = np.repeat(target[:, None], len(own), axis=1)
    lam = penalty(*Z.shape)
    pool = _Pool.of(Z, near.linear, basis)
    values = pool.lasso_residuals(_free_of(basis, own), lam)
    in_full = np.where(pool.correlate_with(target, IN_FULL * lam), near.linear, -1)
    rank = _adjust_in_full(Z, in_full, near.spline, basis, values, target)
    return values, target, rank


def _squares(values: Matrix) -> Vector:
    return np.asarray(np.einsum("ki,ki->k", values, values))


def _free_of(basis: Matrix, values: Array) -> Array:
    """What lies outside orthonormal rows."""
    return np.asarray(values - (values @ basis.T) @ basis) if len(basis) else values.copy()


def _make_free_of(basis: Matrix, values: Matrix) -> None:
    """Take from rows what lies in orthonormal rows, in their precision and in place."""
    if not len(basis):
        return
    inner = np.zeros((len(values), len(basis)), values.dtype)
    blocks = column_blocks((max(len(values), len(basis)), values.shape[1]))
    for some in blocks:
        inner += values[:, some] @ basis[:, some].T.astype(values.dtype, copy=False)
    for some in blocks:
        values[:, some] -= inner @ basis[:, some].astype(values.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class _Pool:
    """All neighbours of some columns, free of the basis and standardised, a row each.

    `places` are the rows that each column is regressed on, -1 for none.
    """

    others: Matrix
    places: Indices

    @classmethod
    def of(cls, Z: RowMatrix, linear: Indices, basis: Matrix) -> _Pool:
        names, places = np.unique(linear, return_inverse=True)
        places = places.reshape(linear.shape) - np.count_nonzero(names < 0)
        others = Z[names[names >= 0]]
        if len(basis) or others.dtype != np.float64:  # else they are standardised
            others = others.astype(np.float64)
            _make_free_of(basis, others)
            _standardise(others)
        return cls(others, places)

    def lasso_residuals(self, columns: Matrix, lam: float) -> Matrix:
        """Residuals of columns, free of the basis, given their neighbours."""
        if not len(self.others):
            return columns
        residuals, lengths = columns, _standardise(columns)
        most = self.places.shape[1]
        rooms = np.empty((most, most)), np.empty(most, np.bool_), np.empty(most), np.empty(most)
        products = self._products if columns.shape[1] > MANY_ROWS else np.empty((0, 0))
        _take_neighbours_away(residuals, self.others, products, self.places, lam, *rooms)
        residuals *= lengths[:, None]
        return residuals

    @property
    def _products(self) -> Matrix:
        """Inner products of the neighbours with each other, over the number of rows."""
        return np.asarray(self.others @ self.others.T / self.others.shape[1])

    def correlate_with(self, target: Array, least: float) -> Mask:
        """Whether each neighbour still correlates with the target by more than `least`."""
        found = np.zeros(self.places.shape, np.bool_)
        _find_correlated(self.others, self.places, target, least, found)
        return found


def _standardise(values: Matrix) -> Vector:
    """Give rows of mean 0 a variance of 1, 0 where there is none; their standard deviations."""
    lengths = np.sqrt(_squares(values) / values.shape[1])
    values /= np.where(lengths > MIN_NORM, lengths, np.inf)[:, None]
    return np.asarray(lengths)


@compiled_reordering
def _find_correlated(
    others: Array, places: Array, target: Array, least: float, found: Array
) -> None:
    """Say which of `others` correlate with a row of the target; `places` are as below."""
    q, size, n = target.shape
    for c in range(q):
        for k in range(size):
            squares = 0.0
            for i in range(n):
                squares += target[c, k, i] * target[c, k, i]
            bound = least * np.sqrt(n * squares)
            for a in range(places.shape[1]):
                if places[k, a] >= 0 and not found[k, a]:
                    inner = 0.0
                    for i in range(n):
                        inner += others[places[k, a], i] * target[c, k, i]
                    found[k, a] = abs(inner) > bound


@compiled_reordering
def _take_neighbours_away(
    R: Array,
    others: Array,
    products: Array,
    places: Array,
    lam: float,
    gram: Array,
    is_known: Array,
    b: Array,
    gradient: Array,
) -> None:
    """Put the residual of a square-root LASSO on some of `others` into every row of R.

    All have mean 0 and variance 1; `places` are those that each row is regressed on, -1 for none.
    The penalty is lambda times the norm of the residual as it is (Sun and Zhang 2012). `products`
    are inner products of all of the others, or empty; then those are worked out that are needed.
    """
    n = R.shape[1]
    for k in range(len(R)):
        count = 0
        while count < places.shape[1] and places[k, count] >= 0:
            j = places[k, count]
            inner = 0.0
            for i in range(n):
                inner += R[k, i] * others[j, i]
            b[count], gradient[count], is_known[count] = 0.0, inner / n, False
            count += 1
        variance = 1.0  # of the residual
        for _ in range(MAX_SWEEPS):
            left = variance if variance > MIN_RESIDUAL else MIN_RESIDUAL
            most, largest = lam * np.sqrt(left), 0.0
            for a in range(count):
                z = gradient[a] + b[a]
                new = z - most if z > most else (z + most if z < -most else 0.0)
                step = new - b[a]
                if step == 0.0:
                    continue
                if not is_known[a]:
                    is_known[a] = True
                    for c in range(count):
                        if len(products) > 0:
                            gram[a, c] = products[places[k, a], places[k, c]]
                        else:
                            inner = 0.0
                            for i in range(n):
                                inner += others[places[k, a], i] * others[places[k, c], i]
                            gram[a, c] = inner / n
                variance += step * (step - 2 * gradient[a])
                b[a] = new
                for c in range(count):
                    gradient[c] -= step * gram[a, c]
                if abs(step) > largest:
                    largest = abs(step)
            if largest < TOLERANCE:
                break
        for a in range(count):
            if b[a] != 0.0:
                for i in range(n):
                    R[k, i] -= b[a] * others[places[k, a], i]


def _adjust_in_full(
    Z: RowMatrix, linear: Indices, spline: Indices, basis: Matrix, R: Matrix, target: Array
) -> Indices:
    """Adjust rows of R, and those in their place in `target`, for some columns of Z in full.

    Returns the number of dimensions that each is free of, those of the basis included.
    """
    size, n = basis.shape
    rank = np.full(len(R), size, np.intp)
    which = np.flatnonzero((linear >= 0).any(axis=1) | (spline >= 0).any(axis=1))
    if not len(which):
        return rank
    most = MAX_IN_FULL + (1 + len(KNOTS)) * spline.shape[1]
    room = np.empty((size + min(most, (n - size) // ROWS_PER_REGRESSOR), n))
    room[:size] = basis
    for k in which:
        straight, bent = linear[k, linear[k] >= 0], spline[k, spline[k] >= 0]
        regressors = Z[np.concatenate([straight, bent])]
        for column in regressors[: len(straight)]:
            if rank[k] < size + MAX_IN_FULL:
                rank[k] = _extend(room, rank[k], column, -np.inf)
        for column in regressors[len(straight) :]:
            for knot in (-np.inf, *KNOTS):
                rank[k] = _extend(room, rank[k], column, knot)
        added = room[size : rank[k]]
        R[k] = _free_of(added, R[k])
        target[:, k] = _free_of(added, target[:, k])
    return rank


def _extend(basis: Matrix, size: int, column: Vector, knot: float) -> int:
    """Add a column, no less than the knot, to an orthonormal basis; return the basis's size."""
    if size == len(basis):
        return size
    new = np.maximum(column, knot, dtype=np.float64)
    new -= new.mean()
    left = new
    for _ in range(2):  # twice is enough
        left = _free_of(basis[:size], left)
    norm = np.sqrt(left @ left)
    if norm <= MIN_NORM * np.sqrt(new @ new):
        return size
    basis[size] = left / norm
    return size + 1
