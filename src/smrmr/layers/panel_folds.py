"""Chooses panels on training rows only and predicts the rows left out, fold by fold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from ..conditional.marginal import marginal_tests
from ..conditional.statistics import Statistic
from ..data.covariates import no_covariates
from ..data.study import Study, with_terms
from ..data.target import Target, as_outputs
from ..features.groups import find_groups
from ..features.rank_table import RankTable
from ..runs.blocks import open_pool, run_blocks
from ..runs.checkpoints import without_checkpoints
from ..runs.work import Work
from ..types import Indices, Mask, Matrix, Vector
from .panel_ranking import associated_alone, rank_panel
from .prediction import Rows, predict_rows
from .scoring import RowScores, Scoring

N_FOLDS = 5
N_REPEATS = 2
NO_FEATURE = -1  # where a panel is smaller than the largest


@dataclass(frozen=True, eq=False)
class PanelTask:
    """What is done in every fold.

    Attributes
    ----------
    study, ranks
        The data, rows in an order of their own, and the ranks of all rows, of which only the order
        of rows within a column is used.
    fdr, statistics
        How features are tested alone, and at which level.
    sizes
        Sizes of panels, in increasing order.
    requested
        Whether the size was requested, so that features enter whatever they add.
    scoring
        How predictions are scored.
    """

    study: Study
    ranks: RankTable
    fdr: float
    statistics: tuple[Statistic, ...]
    sizes: tuple[int, ...]
    requested: bool
    scoring: Scoring


@dataclass(frozen=True, eq=False)
class FoldResults:
    """Scores and panels of all folds.

    Attributes
    ----------
    folds
        The fold of every row in each repeat, (repeats, n).
    gains, weights
        Row scores of every size, of all associated features and of none, (repeats, sizes + 2, n),
        and their weights, (repeats, n).
    panels, n_associated
        Features of every fold's panel, best first, and how many features were associated; a row
        for each fold of each repeat.
    """

    folds: Indices
    gains: NDArray[np.float64]
    weights: NDArray[np.float64]
    panels: Indices
    n_associated: Vector

    def row_scores(self, task: PanelTask) -> list[RowScores]:
        """The scores of rows in each repeat."""
        codes = task.study.row_groups.codes
        units = np.arange(self.folds.shape[1]) if codes is None else codes
        return [
            RowScores(gains, weights, units, task.scoring.by_pairs)
            for gains, weights in zip(self.gains, self.weights, strict=True)
        ]


def deal_folds(study: Study) -> Indices:
    """The fold of every row in each repeat, (repeats, n), for rows in an order of their own.

    Rows of nearly the same target go to different folds, so that all folds have rows of all kinds;
    equal targets are shuffled first, since rows near each other may have features in common. Groups
    of rows stay together.
    """
    codes, rng = study.row_groups.codes, np.random.default_rng(0)  # the same for all data
    n = study.target.n_rows
    units = np.arange(n) if codes is None else _by_appearance(codes)
    n_units = int(units.max()) + 1
    n_folds = min(N_FOLDS, n_units)
    alike = _strata(study) if codes is None else np.zeros(n_units, np.intp)
    folds = np.empty((N_REPEATS, n), np.intp)
    for dealt in folds:
        order = np.lexsort((rng.random(n_units), alike))
        cards = np.argsort(rng.random((-(-n_units // n_folds), n_folds)), axis=1).ravel()
        dealt[:] = cards[np.argsort(order)][units]
    return folds


def _strata(study: Study) -> Indices:
    """Equal numbers for equal targets, which neighbours are; of several outputs of the first."""
    values = study.target.values.reshape(study.target.n_rows, -1)[:, 0]
    return np.cumsum(np.diff(values, prepend=values[0]) != 0)


def _by_appearance(codes: Indices) -> Indices:
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse])


def run_folds(task: PanelTask, folds: Indices, work: Work) -> FoldResults:
    """Run every fold of every repeat."""
    tests = [dealt == fold for dealt in folds for fold in range(int(folds.max()) + 1)]
    gains = np.zeros((len(folds), len(task.sizes) + 2, folds.shape[1]))
    weights = np.zeros(folds.shape)
    panels = np.full((len(tests), task.sizes[-1]), NO_FEATURE)
    n_associated = np.zeros(len(tests))
    in_fold = Work(1, work.max_memory)
    work.report("panel", 0, len(tests))
    with open_pool(work.n_jobs) as pool:
        tasks = [delayed(_run_fold)(task, test, in_fold) for test in tests]
        for i, found in enumerate(run_blocks(pool, tasks)):
            repeat, test = i // (len(tests) // len(folds)), tests[i]
            gains[repeat][:, test], weights[repeat][test] = found[:2]
            panels[i], n_associated[i] = found[2], found[3][0]
            work.report("panel", i + 1, len(tests))
    return FoldResults(folds, gains, weights, panels, n_associated)


@without_checkpoints()
def _run_fold(task: PanelTask, test: Mask, work: Work) -> list[NDArray[Any]]:
    """Row scores of the test rows and their weights, the panel, and how many are associated."""
    study, scoring = task.study, task.scoring
    train, left_out = np.flatnonzero(~test), np.flatnonzero(test)
    associated, panel = choose_on(with_terms(study.take(train)), task, work)
    given = no_covariates(len(test)) if study.covariates is None else study.covariates
    rows = Rows.of(train, left_out, given.design, study.row_groups.codes)
    target = scoring.columns(study, train)

    def predict(features: Indices) -> Matrix:
        return predict_rows(task.ranks, features, target, rows, scoring.given)

    used = [min(size, len(panel)) for size in (*task.sizes, 0)]
    by_size = {size: predict(panel[:size]) for size in dict.fromkeys(used)}
    predicted = [by_size[size] for size in used]
    predicted.insert(-1, predict(associated))
    gains, weights = scoring.score(study, rows, np.stack(predicted))
    padded = np.full(task.sizes[-1], NO_FEATURE)
    padded[: len(panel)] = panel
    return [gains, weights, padded, np.array([len(associated)])]


def choose_on(part: Study, task: PanelTask, work: Work) -> tuple[Indices, Indices]:
    """Features associated alone and the largest panel, from training rows and no others."""
    part = replace(part, target=_that_varies(part.derived_target))
    if not part.target.values.size:
        return np.empty(0, np.intp), np.empty(0, np.intp)
    ranks = RankTable.of(part.columns, work)
    groups = find_groups(ranks, True, work=work, left_out=part.always_kept, only=part.of_interest)
    copies = groups.of_interest
    if not len(copies.modelled):
        return np.empty(0, np.intp), np.empty(0, np.intp)
    alone = marginal_tests(part, ranks, copies, task.statistics, work)
    associated = associated_alone(alone, copies, task.fdr)
    size = task.sizes[-1] if task.requested else None
    return associated, rank_panel(part, associated, work, size)[0][: task.sizes[-1]]


def _that_varies(target: Target) -> Target:
    """The target without outputs that are constant in these rows; without values if all are."""
    varies = np.ptp(target.values, axis=0) > 0
    if target.several and varies.any():
        return as_outputs(target.values[:, varies].T)
    return target if varies.any() else replace(target, values=np.empty(0))
