"""Lays out a study for the tests: scores of its features, in an order that is the data's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...association.associator import Associator
from ...data.columns import Columns
from ...data.study import Study
from ...data.target import Target, take_rows
from ...groups.groups import Groups
from ...measures import as_measure
from ...runs.work import Work
from ...types import Data, Indices, Mask, Matrix, Vector
from .distil import MOST_IN_FIT
from .ranked import View, rank_columns, views_of
from .residuals import Comparison, Neighbours, compare, residual
from .scores import Part, parts_of, row_order, standardised, tie_breakers
from .statistics import WEIGHTS, WITHIN, combine_groups, over_parts, p_values

MOST_TESTED = 20_000  # features; of more, those most associated with the target


@dataclass(frozen=True, eq=False)
class Layout:
    """Features and target, ready to be tested.

    Attributes
    ----------
    Z
        Normal scores, freed of covariates, one row per column of the model: a feature is one, a
        category of more than two levels one per level.
    given
        Orthonormal rows that span what covariates may do.
    covariates
        Their columns, one row each.
    features
        Positions in X of the features tested: of every group the one most associated with the
        target, the strongest first, then the second of every group, and so on.
    whose
        The feature, numbered from 0 by `features`, that each row of `Z` belongs to.
    owners
        For each partition of the features, from fine to coarse, the hypothesis that each row of `Z`
        belongs to. A hypothesis that two partitions share has one number.
    parts
        The target.
    views
        Ways to fit the target: the first columns, as many as may take part, and the target, with
        normal scores in place of those with long tails; where there are many of these also as
        they are.
    marginal
        p-value of each feature alone, before any other is adjusted for.
    tied
        Rows of `Z` in which fewer than half of the values differ.
    relevance
        Squared projection correlation of each row of `Z` with the target.
    target
        How the target was read.
    tiny
        Breaks ties of features and of the target.
    statistic
        Which statistic of `dependence` the tests use.
    kinds
        Weights of the kinds of statistics, see `statistics.p_values`.
    """

    Z: Matrix
    given: Matrix
    covariates: Matrix
    features: Indices
    whose: Indices
    owners: tuple[Indices, ...]
    parts: tuple[Part, ...]
    views: tuple[View, ...]
    marginal: Vector
    tied: Mask
    relevance: Vector
    target: str
    tiny: tuple[Vector, Vector]
    statistic: str
    kinds: Matrix

    @cached_property
    def light(self) -> Matrix:
        """Scores in single precision, to be compared."""
        return self.Z.astype(np.float32, copy=False)

    @cached_property
    def light_bows(self) -> Matrix:
        """Standardised absolute scores in single precision."""
        return standardised(np.abs(self.light))

    @cached_property
    def new_rows(self) -> tuple[Indices, ...]:
        """For each partition the rows of `Z` whose hypothesis no finer partition has."""
        known = [-1, *(int(owners.max()) for owners in self.owners)]
        return tuple(
            np.flatnonzero(owners > max(known[: i + 1])) for i, owners in enumerate(self.owners)
        )

    def left_of(self, row: int, straight: Indices, bent: Indices) -> Vector:
        """What is left of a row of `Z` once covariates and these neighbours have spoken."""
        return residual(self.Z, row, straight, bent, self.given)

    def p_values(self, found: Comparison, bent: Data, rows: Indices) -> Matrix:
        """p-values of what was found of some rows of `Z`."""
        return p_values(found, self.n_rows, bent, self.tied[rows], self.kinds)

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.Z.shape[1])


def lay_out(study: Study, groups: Groups, statistic: str, work: Work) -> Layout:
    """Score the features, order rows by the target and features by how much they tell alone.

    Neither order depends on where rows and columns stand in the data, so nothing that follows does.
    """
    features = _most_associated(study, groups, work)
    ranked = rank_columns(study.columns, features, work)
    order = row_order(ranked.sums_of_squares(), study.target)
    ranked.reorder(order)
    given, design = _given(study, order)
    Z, whose, tied = ranked.scores(given), ranked.whose, ranked.tied
    target = take_rows(study.target, order)
    parts = parts_of(target, given)
    tiny = tie_breakers(len(order))
    kinds = WITHIN if study.rows.asked == "within" else WEIGHTS
    alone = p_values(_alone(Z, parts, tiny, given, statistic), len(order), False, tied, kinds)
    per_feature = over_parts(combine_groups(alone, whose))
    # columns that tell the same alone are told apart by a sum that only they have
    content = ranked.marks()
    first = np.searchsorted(whose, np.arange(len(features)))
    group = groups.hypotheses[-1][features]
    by_association = _in_turn(np.lexsort((content[first], per_feature)), group)
    place = np.argsort(by_association)
    rows = np.argsort(place[whose], kind="stable")
    Z = Z[rows]
    whose, features = place[whose[rows]], features[by_association]
    owners = tuple(numbers[features[whose]] for numbers in groups.hypotheses)
    n_fitted = min(len(Z), MOST_IN_FIT + most_of_one(owners[-1]))
    views = views_of(study.columns, features, ranked, rows[:n_fitted], order, target, given)
    engine = Associator(Columns.bare(Z.T), as_measure("pc"), work.quietly())
    asked = target if not len(given) else _left_of(parts)
    return Layout(
        Z=Z,
        given=given,
        covariates=design,
        features=features,
        whose=whose,
        owners=owners,
        parts=parts,
        views=views,
        marginal=per_feature[by_association],
        tied=tied[rows],
        relevance=engine.with_target(asked),
        target=target.kind,
        tiny=tiny,
        statistic=statistic,
        kinds=kinds,
    )


def _most_associated(study: Study, groups: Groups, work: Work) -> Indices:
    """The features, or as many as are tested: whole groups, those of the most associated first."""
    features = groups.copies.modelled
    if len(features) <= MOST_TESTED:
        return features
    exact = as_measure("pc(anchors=all)")  # anchors would go by where rows stand
    engine = Associator(study.columns.take(columns=features), exact, work)
    order = np.argsort(-engine.with_target(study.target), kind="stable")
    group = groups.hypotheses[-1][features]
    return np.asarray(features[np.isin(group, _first_groups(group[order], MOST_TESTED))])


def _first_groups(groups: Indices, most: int) -> Indices:
    """Groups in the order in which they appear, until `most` members are reached."""
    names, first, size = np.unique(groups, return_index=True, return_counts=True)
    order = np.argsort(first)
    return np.asarray(names[order[np.cumsum(size[order]) - size[order] < most]])


def _in_turn(order: Indices, groups: Indices) -> Indices:
    """The first of every group, as ordered, then the second of every group, and so on."""
    by_group = np.argsort(groups[order], kind="stable")
    sorted_groups = groups[order][by_group]
    turn = np.empty(len(order), np.intp)
    turn[by_group] = np.arange(len(order)) - np.searchsorted(sorted_groups, sorted_groups)
    return np.asarray(order[np.argsort(turn, kind="stable")])


def most_of_one(owners: Indices) -> int:
    """Number of columns of the hypothesis that has most of them."""
    return int(np.bincount(owners).max())


def _given(study: Study, rows: Indices) -> tuple[Matrix, Matrix]:
    """What covariates span, and their columns, as rows of samples in this order."""
    if study.covariates is None:
        return np.empty((0, len(rows))), np.empty((0, len(rows)))
    covariates = study.covariates.take(rows)
    return covariates.basis, np.ascontiguousarray(covariates.design.T)


def _left_of(parts: tuple[Part, ...]) -> Target:
    """What covariates leave of the target."""
    if len(parts) == 1:
        return Target("continuous", parts[0].y)
    return Target("multi-output", np.stack([part.y for part in parts], axis=1))


def _alone(
    Z: Matrix, parts: tuple[Part, ...], tiny: tuple[Vector, Vector], given: Matrix, statistic: str
) -> Comparison:
    """Every column alone compared with every part of the target."""
    none = np.full((len(Z), 1), -1)
    E = np.stack([part.y for part in parts])
    return compare(Z, np.arange(len(Z)), Neighbours(none, none), E, tiny, given, statistic)
