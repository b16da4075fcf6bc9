"""Features and target, ready to be tested, and how some columns compare with the target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..data.targets.protocol import TargetColumns
from ..runs.stored_rows import IN_MEMORY, Room, RowMatrix, RowsView, row_blocks, span
from ..types import Indices, Mask, Matrix, Vector
from .combine import all_gcm_p_values, p_values, with_partners
from .components import AnyCommonPart, CommonPartByNeed, Components
from .distillers import FitProblem
from .distillers.problem import NONE, Shape
from .partner_products import all_products, some_products
from .products import scaled_scores
from .residuals import Basis, Neighbours, residuals_of
from .row_neighbours import RowNeighbours
from .scores import standardised
from .statistics import Interactions, PartnerProducts, Statistic, needs_partners, partner_scores
from .statistics.interaction import N_KEPT, N_LISTED
from .statistics.rank_covariances import ranks_of, scores_by_rank

# How columns with these residuals act together with partners; the same for unequal spread.
Interact: TypeAlias = Callable[[Matrix], tuple[Interactions, Interactions | None]]

MIN_LEFT = 0.01  # share of a sample's variance below which covariates explain all of it
# What workers make from `Z` sooner than it is sent.
REMADE = {"scores32", "abs_scores32", "_kept_partner_scores32", "_kept_scores"}
MAX_KEPT_VALUES = 2**26  # of partners, whose scores are kept,
MAX_KEPT_AGAIN = 2**22  # and of those that are looked at again, in double precision,
MAX_SCORED = 2**20  # so many at a time


@dataclass(frozen=True, eq=False)
class Comparison:
    """What tests of k columns found.

    `p` are p-values against all columns of the target, (k,); `p_by_target` and `correlation` are
    (k, q); `gcm` are p-values of the generalised covariance measure where it was asked for, else 0.
    `interactions` is how the columns act together with partners, if that was asked, `robust` the
    same for residuals of unequal spread, and `p_of_others` are p-values without either.
    `freedom` are degrees of freedom of the correlations, 0 where there is no residual.
    `residual_variance` and `residuals` have a row per column.
    """

    p: Vector
    gcm: Vector
    p_by_target: Matrix
    correlation: Matrix
    freedom: Vector
    residual_variance: Vector
    residuals: Matrix
    interactions: Interactions | None
    robust: Interactions | None
    p_of_others: Vector

    def take(self, which: slice) -> Comparison:
        """Those of some columns."""

        def some(value: Any) -> Any:
            if value is None or isinstance(value, Interactions):
                return value and value.take(which)
            return value[which]

        return Comparison(*map(some, vars(self).values()))


@dataclass(frozen=True, eq=False)
class Inputs:
    """Features and target, ready to be tested.

    Attributes
    ----------
    Z
        Normal scores, adjusted for covariates, one row per column of the model: a feature is one, a
        category of more than two levels one per level.
    covariate_basis
        Orthonormal rows that span what covariates may do.
    covariates
        Their columns, one row each.
    components
        What many rows of `Z` share.
    products
        The rows of `Z` that each of its first rows is a product of, (products, 2), see
        `product_columns`: these leave with either feature.
    features
        Positions in X of the features tested: of every group the one most associated with the
        target, the strongest first, then the second of every group, and so on.
    feature_of
        The feature, numbered from 0 by `features`, that each row of `Z` belongs to, a product to
        its first one.
    hypotheses
        For each partition of the features, from fine to coarse, the hypothesis that each row of `Z`
        belongs to, -1 if it is only adjusted for. A hypothesis that two partitions share has one
        number.
    target
        The columns of the target.
    problems
        The problems of fitting the target, one for each form of it and of the features.
    tied
        Rows of `Z` in which fewer than half of the values differ.
    tie_breakers
        Breaks ties of features and of the target.
    statistics
        What the tests compare residuals by.
    partners
        What features may act together with: rows of `Z` by number, then `covariate_columns`.
    covariate_columns, covariate_of
        Numbers and levels of covariates, standardised, one row each, and the covariate of each.
    row_neighbours
        Rows of nearly the same covariates; none without covariates.
    room
        Where `Z` is, and what else is as large.
    scaled
        Scores of features, then of covariates, as partners, scaled, where these lie in a file.
    """

    Z: RowMatrix
    covariate_basis: Matrix
    covariates: Matrix
    components: Components
    products: Indices
    features: Indices
    feature_of: Indices
    hypotheses: tuple[Indices, ...]
    target: TargetColumns
    problems: tuple[FitProblem, ...]
    tied: Mask
    tie_breakers: tuple[Vector, Vector]
    statistics: tuple[Statistic, ...]
    partners: Indices
    covariate_columns: Matrix
    covariate_of: Indices
    row_neighbours: RowNeighbours | None = None
    room: Room = IN_MEMORY
    scaled: RowMatrix = None

    def __getstate__(self) -> dict[str, Any]:
        """Without scores that workers make again."""
        return {
            name: value
            for name, value in vars(self).items()
            if name not in REMADE or not isinstance(value, np.ndarray | dict)
        }

    @cached_property
    def scores32(self) -> RowMatrix:
        """`Z` in single precision, to be compared."""
        if isinstance(self.Z, np.ndarray):
            return self.Z.astype(np.float32, copy=False)
        return RowsView(self.Z, np.dtype(np.float32))

    @cached_property
    def abs_scores32(self) -> RowMatrix:
        """Absolute values of `Z`, standardised, in single precision."""
        if isinstance(self.Z, np.ndarray):
            return standardised(np.abs(self.scores32))
        blocks = row_blocks(self.Z.shape)
        return self.room.gather(standardised(np.abs(self.scores32[some])) for some in blocks)

    def prepare_for_workers(self) -> None:
        """Work out now what every worker would work out for itself from the files."""
        if self.room.folder is not None:
            _ = self.abs_scores32, self.row_sizes

    @cached_property
    def row_scale(self) -> Vector:
        """Standard deviation that adjusting for covariates leaves each sample, by its leverage."""
        leverage = np.sum(self.covariate_basis**2, axis=0)
        return np.asarray(np.sqrt(np.maximum(1 - leverage, MIN_LEFT)))

    @cached_property
    def row_sizes(self) -> Vector:
        """Sum of the absolute scores of every sample."""
        total, Z = np.zeros(self.n_rows), span(self.Z, len(self.products))
        for block in row_blocks(Z.shape):
            for row in np.abs(Z[block]):
                total += row
        return total

    @cached_property
    def new_rows(self) -> tuple[Indices, ...]:
        """For each partition the rows of `Z` whose hypothesis no finer partition has."""
        known = [-1, *(int(hypothesis_of.max()) for hypothesis_of in self.hypotheses)]
        return tuple(
            np.flatnonzero(hypothesis_of > max(known[: i + 1]))
            for i, hypothesis_of in enumerate(self.hypotheses)
        )

    def with_products(self, rows: Indices) -> Indices:
        """Rows of `Z` and all products that they are in."""
        found = {i for row in rows.tolist() for i in self._products_of.get(row, ())}
        return np.concatenate([np.array(sorted(found), np.intp), rows]) if found else rows

    @cached_property
    def _products_of(self) -> dict[int, list[int]]:
        """For each row the products that it is in."""
        found = dict[int, list[int]]()
        for i, pair in enumerate(self.products.tolist()):
            for row in pair:
                found.setdefault(row, []).append(i)
        return found

    def behind(self, rows: Indices) -> Indices:
        """Rows of `Z`, those of both features in the place of products."""
        n_products = len(self.products)
        of_products = self.products[rows[rows < n_products]].ravel()
        return np.unique(np.concatenate([of_products, rows[rows >= n_products]]))

    @property
    def n_offered(self) -> int:
        """Number of features that sparse fits may choose from."""
        allowed = self.behind(np.flatnonzero(self.problems[0].allowed(NONE)))
        return len(np.unique(self.feature_of[allowed]))

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.Z.shape[1])

    def compare(
        self,
        rows: Indices,
        neighbours: Neighbours,
        commons: Sequence[AnyCommonPart],
        E: NDArray[np.float64],
        shapes: Sequence[Shape],
        gcm_up_to: float = 0.0,
        interact: Interact | None = None,
    ) -> Comparison:
        """Tests of some rows of `Z`, adjusted for neighbours, against residuals `E` of the target.

        `commons` is what features outside the hypothesis of each share. `E` is (q, n), or
        (q, rows, n); `shapes` is what the fits say that they come from, one for each row or for
        all. Rows without ties whose p-value is at most `gcm_up_to` have one of the generalised
        covariance measure too. `interact` says of residuals of the rows how they act together with
        partners, and what allows for unequal spread.
        """
        k, q = len(rows), len(E)
        p, of_others, gcm = np.ones(k), np.ones(k), np.zeros(k)
        by_target, correlation = np.ones((k, q)), np.zeros((k, q))
        freedom, variance, values = np.zeros(k), np.zeros(k), np.empty((k, self.n_rows))
        of = {id(one): self._basis_with(one) for one in commons}
        bases = [of[id(one)] for one in commons]
        parts = []
        for some, found in residuals_of(self.Z, rows, neighbours, E, bases):
            variance[some], values[some] = found.variance, found.values
            parts.append((some, replace(found, values=values[some])))  # held once
        together: Interactions | None = None
        robust: Interactions | None = None
        if interact is not None:
            together, robust = interact(values)
        for some, found in parts:
            own = some.start + found.with_residual
            if len(own):
                mine = None if together is None else together.take(some)
                pairs = list(found.pairs(self.tie_breakers, mine))
                tied = self.tied[rows[own]]
                own_shapes = _of_rows(shapes, own)
                tests = p_values(pairs, self.statistics, own_shapes, tied, variance[own])
                of_others[own], by_target[own] = tests
                p[own] = with_partners(tests[0], pairs[0], self.statistics, own_shapes)
                correlation[own] = np.stack([one.correlation for one in pairs], axis=1)
                freedom[own] = pairs[0].freedom
                small = (p[own] <= gcm_up_to) & ~tied
                if small.any():
                    safe = None if robust is None else robust.take(own[small])
                    some_pairs = [replace(one.take(small), interactions=safe) for one in pairs]
                    some_shapes = _of_rows(shapes, own[small])
                    gcm[own[small]] = all_gcm_p_values(some_pairs, self.statistics, some_shapes)
        return Comparison(
            p, gcm, by_target, correlation, freedom, variance, values, together, robust, of_others
        )

    def _basis_with(self, common: AnyCommonPart) -> Basis:
        """What columns are freed of: covariates, and what features share."""
        if isinstance(common, CommonPartByNeed):
            return lambda: self._beside_covariates(common.vectors)
        return self._beside_covariates(common.vectors)

    def _beside_covariates(self, vectors: Matrix) -> Matrix:
        """Orthonormal rows below those of covariates; without covariates they are not copied."""
        if not len(self.covariate_basis):
            return vectors
        return np.concatenate([self.covariate_basis, vectors])

    @cached_property
    def partition_of(self) -> Indices:
        """The finest partition that has each hypothesis."""
        found = np.zeros(max(int(numbers.max()) for numbers in self.hypotheses) + 1, np.intp)
        for i in range(len(self.hypotheses) - 1, -1, -1):
            numbers = self.hypotheses[i]
            found[numbers[numbers >= 0]] = i
        return found

    @property
    def interacting(self) -> bool:
        """Whether it is asked how features act together."""
        return any(map(needs_partners, self.statistics)) and len(self.partners) > 0

    def products_with(
        self, E: Matrix, which: Indices | None = None, scored: bool = False
    ) -> PartnerProducts:
        """Products of residuals of the target, (q, n), with all partners, or with some of them.

        All are in single precision, which is enough to tell the best of them.
        """
        if self.target.is_class is None and not scored:
            order = np.argsort(E + self.tie_breakers[1], axis=1)
            E = scores_by_rank(self.n_rows)[ranks_of(order)]
        if which is None:
            return all_products(E, self.partner_scores32, self.partners, self.room)
        return some_products(E, self._scores_of, which)

    def positions(self, numbers: Indices, n_features: int) -> Indices:
        """Positions in X of features by rows of `Z`; covariates follow after the last feature."""
        every = [self.features[self.feature_of], n_features + self.covariate_of]
        return np.asarray(np.concatenate(every)[numbers])

    @property
    def n_covariates(self) -> int:
        """Number of covariates that may be partners."""
        return int(self.covariate_of.max(initial=-1)) + 1

    @cached_property
    def place_among_partners(self) -> Indices:
        """Where rows of `Z`, then columns of covariates, stand among partners; -1 for others."""
        found = np.full(len(self.Z) + len(self.covariate_of), -1)
        found[self.partners] = np.arange(len(self.partners))
        return found

    @cached_property
    def _with_covariates(self) -> tuple[Indices, ...]:
        """For each partition the hypotheses of rows of `Z`, and none for covariates."""
        none = np.full(len(self.covariate_of), -1)
        return tuple(np.concatenate([numbers, none]) for numbers in self.hypotheses)

    @cached_property
    def _n_partners_inside(self) -> tuple[Indices, ...]:
        """For each partition the number of partners in each hypothesis."""
        size = len(self.partition_of) + 1
        return tuple(
            np.bincount(numbers[self.partners] + 1, minlength=size)[1:]
            for numbers in self._with_covariates
        )

    def partner_values(self, which: Indices) -> Matrix:
        """Values of partners by number."""
        found = np.empty((len(which), self.n_rows), self.Z.dtype)
        of_features = which < len(self.Z)
        found[of_features] = self.Z[which[of_features]]
        found[~of_features] = self.covariate_columns[which[~of_features] - len(self.Z)]
        return found

    def _scores_of(self, which: Indices) -> Matrix:
        """Scores of partners by number, in double precision; those of a few are kept."""
        kept = self._kept_scores
        new = np.array([k for k in which.tolist() if k not in kept], dtype=np.intp)
        own = dict(zip(new.tolist(), self._new_scores(new), strict=True))
        found = [own[k] if k in own else kept[k] for k in which.tolist()]
        if (len(kept) + len(own)) * self.n_rows <= MAX_KEPT_AGAIN:
            kept.update(own)
        return np.stack(found) if found else np.empty((0, self.n_rows))

    def _new_scores(self, which: Indices) -> Matrix:
        found = np.empty((len(which), self.n_rows))
        width = max(1, MAX_SCORED // self.n_rows)  # since scoring takes several times as much
        for some in (slice(k, k + width) for k in range(0, len(which), width)):
            found[some] = partner_scores(self.partner_values(which[some]), np.float64)
        return found

    @cached_property
    def _kept_scores(self) -> dict[int, Vector]:
        return {}

    @property
    def keeps_partner_scores(self) -> bool:
        """Whether scores of partners are few enough to be kept."""
        return len(self.partners) * self.n_rows <= MAX_KEPT_VALUES

    @property
    def partner_scores32(self) -> RowMatrix:
        """What partners are multiplied by, in single precision."""
        if self.scaled is not None:
            places = self.partners - len(self.products)
            return RowsView(self.scaled, np.dtype(np.float32), places)
        if self.keeps_partner_scores:
            return self._kept_partner_scores32
        return scaled_scores(self.partner_values(self.partners))

    @cached_property
    def _kept_partner_scores32(self) -> NDArray[np.floating]:
        return scaled_scores(self.partner_values(self.partners))

    @cached_property
    def n_feature_partners(self) -> int:
        """Number of partners that are features; covariates come after them."""
        return int(np.count_nonzero(self.partners < len(self.Z)))

    def interactions(
        self,
        residuals: Matrix,
        rows: Indices,
        products: PartnerProducts,
        partition: int,
        is_wide: Mask | None = None,
    ) -> tuple[Interactions, Interactions | None]:
        """How rows, as members of hypotheses of a partition, act together with partners.

        Also the same for residuals of unequal spread, which rows with ties have, and those that are
        wide. At first, where it is not known which are wide, only the best partners are found.
        """
        mine = self.hypotheses[partition][rows]
        n_outside = len(self.partners) - self._n_partners_inside[partition][mine]
        hypothesis_of = self._with_covariates[partition][products.partners]
        most = N_KEPT if is_wide is None else N_LISTED
        found = products.compare(residuals, mine, hypothesis_of, n_outside, most)
        if is_wide is None:
            best = found.partners[:, 0]
            exactly = self.products_with(products.targets, np.unique(best[best >= 0]), scored=True)
            exact = exactly.each_with_its_own(residuals, best, n_outside)
            return replace(exact, partners=found.partners), None
        robust = products.robust(residuals, found)
        unequal = (self.tied[rows] | is_wide)[:, None]
        p = np.where(unequal, robust.p_of_partners, found.p_of_partners)
        return replace(found, p_of_partners=p), robust


def _of_rows(shapes: Sequence[Shape], rows: Indices) -> Sequence[Shape]:
    """Shapes of fits behind some rows, where each has its own."""
    return shapes if len(shapes) == 1 else [shapes[k] for k in rows.tolist()]
