"""Prepares a study for the tests: scores of its features, in an order that is the data's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..association.associator import Associator
from ..data.columns import Columns
from ..data.study import Study
from ..data.target import Target, take_rows
from ..features.groups import Groups
from ..measures import as_measure
from ..runs.work import Work
from ..types import Data, Indices, Mask, Matrix, Vector
from .model_columns import FitData, fit_data_of, rank_columns
from .p_values import WEIGHTS, WITHIN_WEIGHTS, combine_groups, over_parts, p_values
from .residuals import Comparison, Neighbours, compare, residual
from .scores import Part, draw_tie_breakers, parts_of, row_order, standardised
from .target_fits import MOST_IN_FIT

MOST_TESTED = 20_000  # features; of more, those most associated with the target


@dataclass(frozen=True, eq=False)
class Inputs:
    """Features and target, ready to be tested.

    Attributes
    ----------
    Z
        Normal scores, freed of covariates, one row per column of the model: a feature is one, a
        category of more than two levels one per level.
    covariate_basis
        Orthonormal rows that span what covariates may do.
    covariates
        Their columns, one row each.
    features
        Positions in X of the features tested: of every group the one most associated with the
        target, the strongest first, then the second of every group, and so on.
    feature_of
        The feature, numbered from 0 by `features`, that each row of `Z` belongs to.
    hypotheses
        For each partition of the features, from fine to coarse, the hypothesis that each row of `Z`
        belongs to. A hypothesis that two partitions share has one number.
    parts
        The target.
    fit_data
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
    tie_breakers
        Breaks ties of features and of the target.
    statistic
        Which statistic of `rank_statistics` the tests use.
    statistic_weights
        Weights of the statistics, see `p_values.p_values`.
    """

    Z: Matrix
    covariate_basis: Matrix
    covariates: Matrix
    features: Indices
    feature_of: Indices
    hypotheses: tuple[Indices, ...]
    parts: tuple[Part, ...]
    fit_data: tuple[FitData, ...]
    marginal: Vector
    tied: Mask
    relevance: Vector
    target: str
    tie_breakers: tuple[Vector, Vector]
    statistic: str
    statistic_weights: Matrix

    @cached_property
    def scores32(self) -> Matrix:
        """`Z` in single precision, to be compared."""
        return self.Z.astype(np.float32, copy=False)

    @cached_property
    def abs_scores32(self) -> Matrix:
        """Absolute values of `Z`, standardised, in single precision."""
        return standardised(np.abs(self.scores32))

    @cached_property
    def new_rows(self) -> tuple[Indices, ...]:
        """For each partition the rows of `Z` whose hypothesis no finer partition has."""
        known = [-1, *(int(hypothesis_of.max()) for hypothesis_of in self.hypotheses)]
        return tuple(
            np.flatnonzero(hypothesis_of > max(known[: i + 1]))
            for i, hypothesis_of in enumerate(self.hypotheses)
        )

    def residual_of(self, row: int, straight: Indices, bent: Indices) -> Vector:
        """Residual of a row of `Z` given covariates and these neighbours."""
        return residual(self.Z, row, straight, bent, self.covariate_basis)

    def compare(self, rows: Indices, neighbours: Neighbours, E: Matrix) -> Comparison:
        """Residuals of some rows of `Z` compared with those of the target, the rows of `E`."""
        basis = self.covariate_basis
        return compare(self.Z, rows, neighbours, E, self.tie_breakers, basis, self.statistic)

    def p_values(self, found: Comparison, bent: Data, rows: Indices) -> Matrix:
        """p-values of what was found of some rows of `Z`."""
        return p_values(found, self.n_rows, bent, self.tied[rows], self.statistic_weights)

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.Z.shape[1])


def prepare_inputs(study: Study, groups: Groups, statistic: str, work: Work) -> Inputs:
    """Score the features, order rows by the target and features by how much they tell alone.

    Neither order depends on where rows and columns stand in the data, so nothing that follows does.
    """
    features = _most_associated(study, groups, work)
    ranked = rank_columns(study.columns, features, work)
    order = row_order(ranked.sums_of_squares(), study.target)
    ranked.reorder(order)
    covariate_basis, design = _covariates_of(study, order)
    Z, feature_of, tied = ranked.scores(covariate_basis), ranked.feature_of, ranked.tied
    target = take_rows(study.target, order)
    parts = parts_of(target, covariate_basis)
    tie_breakers = draw_tie_breakers(len(order))
    statistic_weights = WITHIN_WEIGHTS if study.row_groups.comparison == "within" else WEIGHTS
    alone = p_values(
        _alone(Z, parts, tie_breakers, covariate_basis, statistic),
        len(order),
        False,
        tied,
        statistic_weights,
    )
    per_feature = over_parts(combine_groups(alone, feature_of))
    # columns that tell the same alone are told apart by a sum that only they have
    content = ranked.checksums()
    first = np.searchsorted(feature_of, np.arange(len(features)))
    group = groups.hypotheses[-1][features]
    by_association = _in_turn(np.lexsort((content[first], per_feature)), group)
    place = np.argsort(by_association)
    rows = np.argsort(place[feature_of], kind="stable")
    Z = Z[rows]
    feature_of, features = place[feature_of[rows]], features[by_association]
    hypotheses = tuple(numbers[features[feature_of]] for numbers in groups.hypotheses)
    n_fitted = min(len(Z), MOST_IN_FIT + size_of_largest(hypotheses[-1]))
    fit_data = fit_data_of(
        study.columns, features, ranked, rows[:n_fitted], order, target, covariate_basis
    )
    engine = Associator(Columns.bare(Z.T), as_measure("pc"), work.quietly())
    asked = target if not len(covariate_basis) else _left_of(parts)
    return Inputs(
        Z=Z,
        covariate_basis=covariate_basis,
        covariates=design,
        features=features,
        feature_of=feature_of,
        hypotheses=hypotheses,
        parts=parts,
        fit_data=fit_data,
        marginal=per_feature[by_association],
        tied=tied[rows],
        relevance=engine.with_target(asked),
        target=target.kind,
        tie_breakers=tie_breakers,
        statistic=statistic,
        statistic_weights=statistic_weights,
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


def size_of_largest(hypothesis_of: Indices) -> int:
    """Number of columns of the hypothesis that has most of them."""
    return int(np.bincount(hypothesis_of).max())


def _covariates_of(study: Study, rows: Indices) -> tuple[Matrix, Matrix]:
    """What covariates span, and their columns, as rows of samples in this order."""
    if study.adjustment is None:
        return np.empty((0, len(rows))), np.empty((0, len(rows)))
    covariates = study.adjustment.take(rows)
    return covariates.basis, np.ascontiguousarray(covariates.design.T)


def _left_of(parts: tuple[Part, ...]) -> Target:
    """What covariates leave of the target."""
    if len(parts) == 1:
        return Target("continuous", parts[0].y)
    return Target("multi-output", np.stack([part.y for part in parts], axis=1))


def _alone(
    Z: Matrix,
    parts: tuple[Part, ...],
    tie_breakers: tuple[Vector, Vector],
    covariate_basis: Matrix,
    statistic: str,
) -> Comparison:
    """Every column alone compared with every part of the target."""
    none = np.full((len(Z), 1), -1)
    E = np.stack([part.y for part in parts])
    return compare(
        Z, np.arange(len(Z)), Neighbours(none, none), E, tie_breakers, covariate_basis, statistic
    )
