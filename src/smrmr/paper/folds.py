"""Holds out rows: fold by fold, associations of the rows left in and of those held out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from ..association import Associations
from ..association.associator import Associator
from ..data.columns import MIN_ROWS, Columns
from ..data.target import take_rows
from ..measures.protocol import Measure
from ..runs.work import Work
from ..types import Indices
from .pairs import Pairs, associate_pairs
from .solver import Penalty

BIAS_FEATURES = 20  # features, with their knockoffs, from which the bias of redundancy is read


@dataclass(frozen=True, eq=False)
class TuningProblem:
    """What lambda is chosen for: pairs, how they are measured, their associations, the penalty."""

    pairs: Pairs
    measure: Measure
    cross_terms: bool
    associations: Associations
    penalty: Penalty


def deal_folds(pairs: Pairs, n_folds: int, rng: Generator) -> Indices:
    """Fold of every row: each class, and each part of the rows, dealt out evenly.

    Rows of one group stay together: then groups are dealt out.
    """
    stratum = pairs.part.astype(np.intp)
    target, codes = pairs.study.target, pairs.study.row_groups.codes
    if codes is not None:
        numbers = np.unique(codes, return_inverse=True)[1]
        return np.asarray(rng.permutation(numbers.max() + 1)[numbers] % n_folds)
    if target.nominal:
        stratum = stratum + 2 * target.values.astype(np.intp)
    fold = np.empty(len(stratum), dtype=np.intp)
    dealt = 0
    for value in np.unique(stratum):
        rows = rng.permutation(np.flatnonzero(stratum == value))
        fold[rows] = (dealt + np.arange(len(rows))) % n_folds
        dealt += len(rows)
    return fold


def hold_out(
    problem: TuningProblem, folds: int, debiased: bool, rng: Generator, work: Work
) -> list[tuple[Associations, Associations, int]]:
    """For every fold the associations of the other rows and of its own, and how many it has.

    All are in the units of all rows.
    """
    pairs, columns = problem.pairs, problem.pairs.study.columns
    measure, values, target = problem.measure.in_fixed_units(columns.values, pairs.study.target)
    study = replace(pairs.study, columns=replace(columns, data=values), target=target)
    pairs = replace(pairs, study=study)
    n_folds = max(2, min(folds, columns.n_rows // MIN_ROWS))
    fold = deal_folds(pairs, n_folds, rng)
    found = []
    for k in range(n_folds):
        rows = np.flatnonzero(fold == k)
        train, test = pairs.take(np.flatnonzero(fold != k)), pairs.take(rows)
        left, held_out = (
            associate_pairs(some, measure, problem.cross_terms, work) for some in (train, test)
        )
        if debiased:
            held_out = _debiased(held_out, test, measure, rng, work.quietly())
        found.append((left, held_out, len(rows)))
        work.report("tuning", k + 1, n_folds)
    return found


def _debiased(
    found: Associations, test: Pairs, measure: Measure, rng: Generator, work: Work
) -> Associations:
    """Take from every association the mean of those between columns whose rows are shuffled."""
    columns, k = test.study.columns, test.n_features
    shuffled = rng.permutation(columns.n_rows)
    target = take_rows(test.study.target, shuffled)
    relevance = Associator(columns, measure, work).with_target(target)
    some = rng.permutation(k)[:BIAS_FEATURES]
    some = np.concatenate([some, some + k])
    values = columns.values[:, some]
    both = Columns.bare(np.hstack([values, values[shuffled]]))
    between = Associator(both, measure, work).with_each_other()[: len(some), len(some) :]
    bias, common = min(float(relevance.mean()), 0.9), min(float(between.mean()), 0.9)
    redundancy = (found.redundancy - common) / (1 - common)
    constant = np.diag(found.redundancy) == 0
    redundancy[constant] = redundancy[:, constant] = 0.0
    if not found.redundancy[:k, k:].any():  # cross terms are left out
        redundancy[:k, k:] = redundancy[k:, :k] = 0.0
    return Associations((found.relevance - bias) / (1 - bias), redundancy, found.target)
