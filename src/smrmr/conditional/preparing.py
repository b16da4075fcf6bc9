"""Prepares a study for the tests: scores of its features, in an order that is the data's own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..data.ranks import settled
from ..data.study import Study
from ..data.target import take_rows
from ..features.groups import Groups
from ..features.marginal import MarginalTests
from ..features.rank_table import RankTable
from ..runs.stored_rows import IN_MEMORY, Room, RowMatrix, row_blocks, span
from ..runs.work import Work
from ..types import Indices, Matrix
from .components import Components
from .distillers.problem import most_in_fit
from .inputs import Inputs
from .marginal import Rows, valid_statistics
from .model_columns import fit_problems, precision, rank_columns
from .products import MAX_PRODUCTS, find_products, product_columns, scaled_scores
from .row_neighbours import RowNeighbours
from .scores import adjusted_for, draw_tie_breakers, standardised
from .statistics import Statistic, needs_partners

TIMES_SCORES = 11  # the scores, a fit in memory holds at most, blocks that it works on included
MAX_TESTED = 20_000  # features; of more, those most associated with the target


def bytes_of_scores(n_rows: int, n_features: int) -> int:
    """How much memory a fit to so many features takes, about, if all of it is there."""
    values = n_rows * min(n_features, MAX_TESTED)
    return TIMES_SCORES * values * np.dtype(precision(n_rows)).itemsize


def prepare_inputs(
    study: Study,
    ranks: RankTable,
    groups: Groups,
    alone: MarginalTests,
    statistics: tuple[Statistic, ...],
    work: Work,
    room: Room = IN_MEMORY,
) -> Inputs:
    """Normal scores, with rows ordered by the target and features by their marginal p-values.

    Neither order depends on where rows and columns stand in the data, so nothing that follows does.
    What has a row per feature lies in `room`.
    """
    features = _most_associated(alone, groups)
    ranked = rank_columns(ranks, features, work, room)
    by_content = Rows.of(study, ranked.sums_of_squares())
    order, covariate_basis = by_content.order, by_content.covariate_basis
    feature_of, tied = ranked.feature_of, ranked.tied
    # columns whose p-values tie are ordered by a checksum of their content
    content = ranked.checksums(order)
    first = np.searchsorted(feature_of, np.arange(len(features)))
    group = groups.partitions[-1][features]
    log_p = settled(np.log(np.maximum(alone.p[features], np.finfo(float).tiny)))
    by_association = _in_turn(np.lexsort((content[first], log_p)), group)
    place = np.argsort(by_association)
    rows = np.argsort(place[feature_of], kind="stable")
    feature_of, features = place[feature_of[rows]], features[by_association]
    hypotheses = tuple(numbers[features[feature_of]] for numbers in groups.hypotheses)
    largest_group = int(np.bincount(group[by_association][feature_of]).max())
    n_fitted = min(len(rows), most_in_fit(len(order)) + largest_group)
    target = take_rows(study.target, order)
    most = 2 * MAX_PRODUCTS  # rows for products come first
    every = room.rows((most + len(rows), len(order)), precision(len(order)))
    ranked.put_scores(every, most, rows, order, covariate_basis, work.n_jobs)
    Z = span(every, most)
    covariate_columns, covariate_of = _covariate_columns(study, order)
    products, scaled = np.empty((0, 2), np.intp), None
    is_asked = study.partners is None or len(study.partners) > 0
    if is_asked and any(map(needs_partners, statistics)):
        if room.folder is not None:
            scaled = room.gather(_scaled(Z, covariate_columns))
        products = find_products(Z, by_content.columns.values, scaled, work.n_jobs)
    held = adjusted_for(product_columns(Z, products), covariate_basis)
    products = np.tile(products, (2, 1))
    n_products = len(products)
    every[most - n_products : most] = held
    Z = span(every, most - n_products)
    feature_of = np.concatenate([feature_of[products[:, 0]], feature_of])
    none = np.full(n_products, -1)
    hypotheses = tuple(np.concatenate([none, numbers]) for numbers in hypotheses)
    tied = np.concatenate([none > 0, tied[rows]])
    return Inputs(
        Z=Z,
        covariate_basis=covariate_basis,
        covariates=np.ascontiguousarray(study.adjustment.take(order).design.T),
        components=Components.of(Z, len(order) - len(covariate_basis)),
        products=products + n_products,
        features=features,
        feature_of=feature_of,
        hypotheses=hypotheses,
        target=by_content.columns,
        problems=fit_problems(
            study.columns,
            features,
            ranked,
            rows[:n_fitted],
            order,
            target,
            covariate_basis,
            Z,
            Z[:n_products],
            room,
            work.n_jobs,
        ),
        tied=tied,
        tie_breakers=draw_tie_breakers(len(order)),
        statistics=valid_statistics(study, by_content.columns, statistics),
        partners=n_products
        + _partners(study, groups, features[feature_of[n_products:]], covariate_of),
        covariate_columns=covariate_columns,
        covariate_of=covariate_of,
        row_neighbours=_row_neighbours(study, by_content),
        room=room,
        scaled=scaled,
    )


def _scaled(Z: RowMatrix, covariate_columns: Matrix) -> Iterator[NDArray[np.floating]]:
    """Scores of features, then of covariates, as partners, some rows at a time."""
    for block in row_blocks(Z.shape):
        yield scaled_scores(Z[block])
    yield scaled_scores(covariate_columns)


def _covariate_columns(study: Study, order: Indices) -> tuple[Matrix, Indices]:
    """Numbers and levels of covariates, one row each, and the covariate of each."""
    if study.covariates is None:
        return np.empty((0, len(order))), np.empty(0, np.intp)
    columns, owners = study.covariates.take(order).one_by_one
    return standardised(columns.T), owners


def _partners(study: Study, groups: Groups, features: Indices, covariate_of: Indices) -> Indices:
    """What features may act together with, by number; `features` are those of the rows of Z.

    Of features that are nearly the same the first one stands for all: they count once.
    """
    n_columns = study.columns.n_columns
    positions = np.concatenate([features, n_columns + covariate_of])
    if study.partners is None:
        alike = groups.nearly_same[features]
        first = features[np.unique(alike, return_index=True)[1]]
        return np.flatnonzero(np.isin(positions, first) | (positions >= n_columns))
    leaders = np.arange(n_columns + int(covariate_of.max(initial=-1)) + 1)
    leaders[:n_columns] = groups.copies.leaders
    return np.flatnonzero(np.isin(positions, leaders[study.partners]))


def _row_neighbours(study: Study, rows: Rows) -> RowNeighbours | None:
    if study.covariates is None or study.covariates.only_levels:
        return None
    coordinates = study.covariates.take(rows.order).coordinates
    return RowNeighbours.of(coordinates, rows.covariate_basis)


def _most_associated(alone: MarginalTests, groups: Groups) -> Indices:
    """The features, or as many as are tested: whole groups, those of the most associated first.

    Features of interest come before all others.
    """
    features = groups.copies.modelled
    if len(features) <= MAX_TESTED:
        return features
    order = np.lexsort((-alone.relevance[features], groups.of_interest.constant[features]))
    group = groups.partitions[-1][features]
    return np.asarray(features[np.isin(group, _first_groups(group[order], MAX_TESTED))])


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
