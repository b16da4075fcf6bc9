"""Turns features into the columns of the model, a few at a time: ranks, scores, data for fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.columns import Columns
from ..data.scaling import unit_scale
from ..data.target import Target
from ..features.rank_table import RankTable
from ..runs.blocks import map_on_threads
from ..runs.stored_rows import (
    IN_MEMORY,
    Room,
    RowMatrix,
    RowsView,
    StoredRows,
    row_blocks,
    take_columns,
)
from ..runs.work import Work
from ..types import Indices, Mask, Matrix, Vector
from .distillers import FitProblem
from .distillers.regressors import Regressors, absolute_values
from .scores import adjusted_for, doubled_ranks, normal_scores, standardised, target_columns
from .statistics.rank_covariances import MOST_COUNTED

NEAR_NORMAL = 0.95  # correlation with its normal scores from which a column is taken as it is
FEW_SKEWED = 0.05  # share of columns below that, up to which normal scores do for them
MAX_BLOCK_VALUES = 2**22  # bounds the memory of one block of columns,
MIN_BLOCK, MAX_BLOCK = 8, 1024  # which has no fewer and no more columns than these


@dataclass(frozen=True, eq=False)
class ModelColumns:
    """Columns of the model, one row each: a feature is one, a category one per level.

    `ranks` are twice the average ranks, whole numbers; `feature_of` is the feature of each row;
    `normality` is the correlation of a column with its normal scores; `tied` are columns in which
    fewer than half of the values differ.
    """

    ranks: RowMatrix
    feature_of: Indices
    normality: Vector
    tied: Mask

    def sums_of_squares(self) -> Indices:
        """Sum over all columns of the squared ranks of every sample."""
        total = np.zeros(self.ranks.shape[1], np.int64)
        for some in row_blocks(self.ranks.shape, MAX_BLOCK):
            block = self.ranks[some].astype(np.int64)
            total += np.einsum("ki,ki->i", block, block)
        return total

    def checksums(self, order: Indices) -> Indices:
        """A number per column by which different columns differ, for samples in this order."""
        weights = np.empty(len(order), np.int64)
        weights[order] = np.arange(len(order)) ** 2  # sums may overflow, and do so alike
        blocks = row_blocks(self.ranks.shape, MAX_BLOCK)
        return np.concatenate([self.ranks[some].astype(np.int64) @ weights for some in blocks])

    def scores(self, order: Indices, covariate_basis: Matrix) -> Matrix:
        """Normal scores of the samples in this order, adjusted for covariates.

        In the precision that so many rows are held in.
        """
        Z = np.empty(self.ranks.shape, precision(len(order)))
        self.put_scores(Z, 0, np.arange(len(Z)), order, covariate_basis)
        return Z

    def put_scores(
        self,
        Z: RowMatrix,
        first: int,
        which: Indices,
        order: Indices,
        covariate_basis: Matrix,
        n_jobs: int | None = 1,
    ) -> None:
        """Put the scores of some columns into rows of Z, from the first one on."""

        def put(some: slice) -> None:
            ranks = take_columns(self.ranks[which[some]], order)
            scores = adjusted_for(normal_scores(ranks), covariate_basis)
            Z[first + some.start : first + some.start + len(scores)] = scores

        map_on_threads(put, _blocks(len(which), len(order)), n_jobs)


def rank_columns(
    table: RankTable, features: Indices, work: Work, room: Room = IN_MEMORY
) -> ModelColumns:
    """Ranks of the columns of the model that features have; those of a few are kept."""
    key, few = "model columns", len(features) * table.columns.n_rows <= MAX_BLOCK_VALUES
    known, kept = table.cache.get(key, (None, None))
    made: ModelColumns = kept
    if kept is None or not np.array_equal(known, features):
        made = _rank_columns(table, features, work, room)
        if few and table.kept is not None and room.folder is None:
            table.cache[key] = features, made
    work.report("scores", len(features), len(features))
    return made


def _rank_columns(table: RankTable, features: Indices, work: Work, room: Room) -> ModelColumns:
    found = list[tuple[Indices, Vector, Mask]]()
    blocks, kept = _ranked(table, features, work, found), table.kept
    if isinstance(kept, StoredRows) and not table.columns.nominal[features].any():
        for _ in blocks:
            pass
        ranks: RowMatrix = RowsView(kept, kept.dtype, features)
    else:
        ranks = room.gather(blocks)
    return ModelColumns(ranks, *(np.concatenate(part) for part in zip(*found, strict=True)))


def _ranked(
    table: RankTable, features: Indices, work: Work, found: list[tuple[Indices, Vector, Mask]]
) -> Iterable[NDArray[np.int32]]:
    """Ranks, some columns at a time; what else is known of each joins `found`."""
    for some in _blocks(len(features), table.columns.n_rows):
        values, feature_of = _values(table.columns, features[some])
        if len(values) == len(features[some]):
            ranks = table.ranks(features[some], values)
        else:  # levels of categories are columns of their own
            ranks = doubled_ranks(values).astype(np.int32)
        normality = np.mean(standardised(values) * normal_scores(ranks), axis=1)
        found.append((some.start + feature_of, normality, _are_tied(ranks)))
        work.report("scores", min(some.stop, len(features)), len(features))
        yield ranks


def fit_problems(
    columns: Columns,
    features: Indices,
    ranked: ModelColumns,
    rows: Indices,
    order: Indices,
    target: Target,
    covariate_basis: Matrix,
    scores: RowMatrix,
    products: Matrix,
    room: Room,
    n_jobs: int | None = 1,
) -> tuple[FitProblem, ...]:
    """The problems of fitting the target to the columns `rows` of the model.

    They come after `products` of features. `scores` are normal scores of all columns, of which
    these are the first. The columns begin those of `features`. The first problem takes normal
    scores in place of columns with long tails; where there are many of these the second takes all
    as they are.
    """
    forms = [target_columns(target, covariate_basis)]
    if np.mean(ranked.normality < NEAR_NORMAL) > FEW_SKEWED:
        forms.append(target_columns(target, covariate_basis, scored=False))
    before, n = len(products), len(order)
    size = before + len(rows)
    regressors = [room.rows((2 * size, n), precision(n)) for _ in forms]
    for held in regressors:
        held[:before] = products
        held[size : size + before] = 0.0
    # columns of a feature, a category has several, follow one another
    feature_of = np.cumsum(np.diff(ranked.feature_of[rows], prepend=-1) != 0) - 1

    def put(some: slice) -> None:
        start, stop = np.searchsorted(feature_of, (some.start, some.stop)).tolist()
        mine = rows[start:stop]
        stop = start + len(mine)
        values, _ = _values(columns, features[some])
        plain = standardised(take_columns(values[: len(mine)], order))
        near_normal = ranked.normality[mine, None] >= NEAR_NORMAL
        in_order = take_columns(ranked.ranks[mine], order)
        mild = np.where(near_normal, plain, normal_scores(in_order))
        for held, chosen in zip(regressors, (mild, plain), strict=False):
            held[before + start : before + stop] = adjusted_for(chosen, covariate_basis)
            absolute = adjusted_for(absolute_values(chosen), covariate_basis)
            held[size + before + start : size + before + stop] = absolute

    map_on_threads(put, _blocks(int(feature_of[-1]) + 1, n), n_jobs)
    return tuple(
        FitProblem(Regressors(held, covariate_basis), form, scores, before, n_jobs=n_jobs)
        for held, form in zip(regressors, forms, strict=True)
    )


def precision(n: int) -> type[np.floating]:
    """Precision in which columns of n rows are held: of many rows, half of the usual."""
    return np.float32 if n > MOST_COUNTED else np.float64


def _blocks(n_columns: int, n: int) -> Iterator[slice]:
    width = max(MIN_BLOCK, min(MAX_BLOCK, MAX_BLOCK_VALUES // n))
    for start in range(0, n_columns, width):
        yield slice(start, start + width)


def _values(columns: Columns, which: Indices) -> tuple[Matrix, Indices]:
    """Scaled values of the columns of the model that features have, and the feature of each."""
    values = np.ascontiguousarray(columns.read(which).T)
    spread = np.where(columns.nominal[which], values.max(axis=1), 0).astype(np.intp)
    n_columns = np.where(spread > 1, spread + 1, 1)  # a category of many levels has one each
    feature_of = np.repeat(np.arange(len(which)), n_columns)
    if len(feature_of) > len(which):
        level = np.concatenate([np.arange(size) for size in n_columns])
        many = n_columns[feature_of] > 1
        values = np.where(many[:, None], values[feature_of] == level[:, None], values[feature_of])
    return unit_scale(values), feature_of


def _are_tied(ranks: NDArray[np.int32]) -> Mask:
    n_values = 1 + np.count_nonzero(np.diff(np.sort(ranks, axis=1), axis=1), axis=1)
    return np.asarray(2 * n_values < ranks.shape[1])
