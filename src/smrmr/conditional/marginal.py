"""Tests every feature alone against the target, a block of features at a time."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

import numpy as np

from ..data.study import Study
from ..data.target import take_rows
from ..data.targets.protocol import TargetColumns
from ..features.copies import Copies
from ..features.marginal import MarginalTests
from ..features.rank_table import RankTable
from ..problems import Problem, setting
from ..runs.blocks import map_on_threads, one_blas_thread
from ..runs.work import Work
from ..types import Indices, Matrix, Vector
from .combine import combine_groups, of_mean, p_values
from .distillers.problem import Shape
from .model_columns import ModelColumns, rank_columns
from .residuals import Neighbours, residuals_of
from .scores import draw_tie_breakers, row_order, target_columns
from .statistics import Linear, Statistic, needs_partners
from .statistics.rank_covariances import largest_projection_covariance

MAX_BLOCK_VALUES = 2**22  # bounds the memory of features that are tested together,
MAX_BLOCK = 512  # which are no more than these, so that threads share them out


@dataclass(frozen=True, eq=False)
class Rows:
    """The samples of a study in an order that is the data's own, and the target in that order.

    Attributes
    ----------
    order
        Positions in the data.
    covariate_basis
        Orthonormal rows that span what covariates may do.
    columns
        Columns of the target, adjusted for covariates.
    """

    order: Indices
    covariate_basis: Matrix
    columns: TargetColumns

    @classmethod
    def of(cls, study: Study, content: Indices, adjust: bool = True) -> Rows:
        """Those of a study; `content` is a whole number per sample that breaks ties."""
        order = row_order(content, study.target)
        basis = study.adjustment.take(order).basis if adjust else np.empty((0, len(order)))
        return cls(order, basis, target_columns(take_rows(study.target, order), basis))


def marginal_tests(
    study: Study, ranks: RankTable, copies: Copies, statistics: tuple[Statistic, ...], work: Work
) -> MarginalTests:
    """What is known of every feature alone, adjusted for covariates and groups of rows."""
    features = copies.modelled
    with work.stage("alone", steps=True), one_blas_thread():
        rows = Rows.of(study, row_content(ranks, features, work.n_jobs))
        statistics = valid_statistics(study, rows.columns, _of_single(statistics))
        found = _alone(ranks, features, rows, statistics, work)
    nominal = study.columns.nominal
    return MarginalTests(
        p=copies.spread(features, found.p, 1.0),
        relevance=copies.spread(features, found.relevance, 0.0),
        targets=rows.columns.names,
        p_by_target=copies.spread(features, found.p_by_target, 1.0),
        effects=copies.spread(
            features, np.where(nominal[features], np.abs(found.effects), found.effects), 0.0
        ),
        freedom=len(rows.order) - 2 - len(rows.covariate_basis),
        categories=np.flatnonzero(nominal),
    )


def unadjusted_relevance(study: Study, ranks: RankTable, features: Indices, work: Work) -> Vector:
    """Squared projection correlation of features with the target, adjusted for nothing.

    Of several columns of the target the largest; ties are broken.
    """
    rows = Rows.of(study, row_content(ranks, features, work.n_jobs), adjust=False)
    return _alone(ranks, features, rows, (), work).relevance


def valid_statistics(
    study: Study, columns: TargetColumns, statistics: tuple[Statistic, ...]
) -> tuple[Statistic, ...]:
    """The statistics that keep their null for these rows and this target."""
    if study.row_groups.comparison == "within":
        return _for_groups_of_rows(statistics)
    if columns.is_class is not None and len(columns.names) > 1:
        return _for_several_classes(statistics)
    return statistics


@dataclass(frozen=True, eq=False)
class _Alone:
    """p-values and relevance of k features, (k,), and p-values and effects by column, (q, k)."""

    p: Vector
    relevance: Vector
    p_by_target: Matrix
    effects: Matrix


def row_content(ranks: RankTable, features: Indices, n_jobs: int | None = 1) -> Indices:
    """A whole number for every sample that depends on what it holds in these features."""
    quietly, content = Work(n_jobs=1), np.zeros(ranks.columns.n_rows, np.int64)
    one_at_a_time = Lock()

    def add(some: slice) -> None:
        sums = rank_columns(ranks, features[some], quietly).sums_of_squares()
        with one_at_a_time:  # whole numbers, in any order
            np.add(content, sums, out=content)

    map_on_threads(add, _blocks(ranks, features), n_jobs)
    return content


def _blocks(ranks: RankTable, features: Indices) -> list[slice]:
    width = max(1, min(MAX_BLOCK, MAX_BLOCK_VALUES // ranks.columns.n_rows))
    return [slice(start, start + width) for start in range(0, len(features), width)]


def _alone(
    ranks: RankTable, features: Indices, rows: Rows, statistics: tuple[Statistic, ...], work: Work
) -> _Alone:
    """Tests of features alone, block by block; without statistics the relevance only."""
    quietly, tie_breakers = work.quietly(), draw_tie_breakers(len(rows.order))

    blocks = _blocks(ranks, features)

    def test(some: slice) -> _Alone:
        ranked = rank_columns(ranks, features[some], quietly)
        return _test_block(ranked, rows, tie_breakers, statistics)

    def told(done: int) -> None:
        work.report("alone", min(blocks[done - 1].stop, len(features)), len(features))

    found = map_on_threads(test, blocks, work.n_jobs, told=told)
    parts = zip(*(vars(block).values() for block in found), strict=True)
    return _Alone(*(np.concatenate(part, axis=-1) for part in parts))


def _test_block(
    ranked: ModelColumns,
    rows: Rows,
    tie_breakers: tuple[Vector, Vector],
    statistics: tuple[Statistic, ...],
) -> _Alone:
    Z, basis = ranked.scores(rows.order, rows.covariate_basis), rows.covariate_basis
    E, k, q = rows.columns.values, len(Z), len(rows.columns.names)
    p, relevance = np.ones(k), np.zeros(k)
    by_target, effects = np.ones((k, q)), np.zeros((k, q))
    for some, block in residuals_of(Z, np.arange(k), Neighbours.none(k), E, [basis] * k):
        own = some.start + block.with_residual
        if not len(own):
            continue
        pairs, variance = list(block.pairs(tie_breakers)), block.variance[block.with_residual]
        if statistics:
            tests = p_values(pairs, statistics, [Shape()], ranked.tied[own], variance)
            p[own], by_target[own] = tests
            effects[own] = np.stack([one.correlation for one in pairs], axis=1)
        relevance[own] = np.max([one.projection_covariance for one in pairs], axis=0)
    relevance /= largest_projection_covariance(Z.shape[1])
    return _by_feature(_Alone(p, relevance, by_target.T, effects.T), ranked.feature_of)


def _by_feature(found: _Alone, feature_of: Indices) -> _Alone:
    """What was found of the columns of the model, for features: a category has one per level."""
    first = np.searchsorted(feature_of, np.arange(int(feature_of[-1]) + 1))
    best = np.lexsort((found.p, feature_of))[first]
    return _Alone(
        combine_groups(found.p, feature_of),
        np.maximum.reduceat(found.relevance, first),
        found.p_by_target[:, best],
        found.effects[:, best],
    )


def _of_single(statistics: tuple[Statistic, ...]) -> tuple[Statistic, ...]:
    """The statistics that look at a feature alone, or the correlation if there is none."""
    return tuple(one for one in statistics if not needs_partners(one)) or (Linear(),)


def _for_groups_of_rows(statistics: tuple[Statistic, ...]) -> tuple[Statistic, ...]:
    """The statistics that keep their null within groups of rows, where residuals add up to 0."""
    valid = of_mean(statistics)
    if not valid:
        raise Problem(
            "no statistic keeps its null where rows are compared within groups.",
            cure=f"Take {setting('statistics', 'linear')}, alone or beside others.",
            argument="statistics",
        )
    return valid


def _for_several_classes(statistics: tuple[Statistic, ...]) -> tuple[Statistic, ...]:
    """The statistics that keep their null for rare classes, if there are any.

    The order of the residuals of a rare class is that of its fitted chances in nearly all rows, so
    that ranks of it would tell how a feature depends on others, not on the class.
    """
    valid = tuple(one for one in statistics if one.only_mean or one.all_columns)
    return statistics if all(one.all_columns for one in valid) else valid
