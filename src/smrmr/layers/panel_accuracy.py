"""Measures how well a panel predicts rows that took no part in choosing it, and its size.

In each of five folds, dealt twice, features are tested alone and ranked on the training rows only,
and predict the rows left out. Folds are dealt by what rows hold, so that neither a seed nor the
order of rows or columns changes the result.

- *Size*: the smallest whose score is not below the best by more than a quarter of the standard
  error of their difference over the same rows. A whole one gives smaller panels that predict
  worse.
- *Score*: the size for a fold is chosen on the rows outside of it, so that the choice does not make
  the score too good.
- *Groups of rows* that are compared within are left out whole; features, and numbers to predict,
  are then deviations from the mean of their group.
- *Covariates* are part of every prediction, fitted on training rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from ..conditional.marginal import row_content
from ..conditional.scores import row_order
from ..conditional.statistics import Statistic
from ..data.study import Study
from ..features.copies import Copies
from ..features.rank_table import RankTable
from ..runs.work import Work
from ..types import Indices, Vector
from .panel_folds import NO_FEATURE, FoldResults, PanelTask, deal_folds, run_folds
from .scoring import RowScores, errors_of, pooled, scoring_of

SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20)
AS_GOOD = 0.25  # standard errors of the difference up to which a smaller panel is as good


@dataclass(frozen=True, eq=False)
class Accuracy:
    """How well a panel predicts rows left out; everything was chosen without them.

    Attributes
    ----------
    measure
        ``"accuracy"`` for classes, ``"R2"`` for numbers, ``"concordance"`` for survival.
    score, error
        Score of the panel and its standard error over rows, or over groups of rows that are
        compared within. The size was chosen without the rows scored, unless it was requested.
    chance
        Score without any feature: the share of the largest class, 0, or 0.5; or what covariates
        alone reach, if that is more.
    all_associated, all_error
        Score of all features associated alone, and its standard error.
    sizes, scores, errors
        Score of every size tried, with standard errors; the best of them is too good.
    size
        Number of features in the panel.
    mean_size, mean_associated
        Means over folds of the number of features in the panel and of features associated alone.
    stability
        For each feature of the panel the share of folds whose panel of that size has it.
    n_folds, n_repeats
        Folds, and how often they were dealt.
    """

    measure: str
    score: float
    error: float
    chance: float
    all_associated: float
    all_error: float
    sizes: Indices
    scores: Vector
    errors: Vector
    size: int
    mean_size: float
    mean_associated: float
    stability: Vector
    n_folds: int
    n_repeats: int


def panel_accuracy(
    study: Study,
    ranks: RankTable,
    copies: Copies,
    ranking: Indices,
    fdr: float,
    size: int | None,
    statistics: tuple[Statistic, ...],
    work: Work,
) -> Accuracy:
    """How well the first features of a ranking predict, and how many of them it takes.

    Parameters
    ----------
    study, ranks, copies
        The data, their ranks and copies.
    ranking
        Features of the panel of all rows, best first; at least one.
    fdr
        Level at which features are associated alone.
    size
        Size of the panel; by the rule if None.
    statistics
        How features are tested alone.
    work
        Threads and memory; folds run side by side.
    """
    study = study.take(row_order(row_content(ranks, copies.modelled), study.target))
    task = PanelTask(
        study,
        RankTable.of(study.columns, work),
        fdr,
        statistics,
        _sizes(len(ranking)) if size is None else (len(ranking),),
        size is not None,
        scoring_of(study),
    )
    return _account(task, run_folds(task, deal_folds(study), work), ranking)


def _sizes(most: int) -> tuple[int, ...]:
    """Sizes to try where there are so many features."""
    return (*takewhile(lambda size: size < most, SIZES), most)


def choose_size(by_size: RowScores) -> int:
    """Position of the smallest size that is as good as the best, but for chance."""
    scores = by_size.scores
    best = int(np.argmax(scores))
    as_good = scores >= scores[best] - AS_GOOD * by_size.errors_against(best)
    return int(np.argmax(as_good))


def _account(task: PanelTask, found: FoldResults, ranking: Indices) -> Accuracy:
    repeats, sizes = found.row_scores(task), np.array(task.sizes)
    scores, errors = pooled(repeats).scores, errors_of(repeats)
    size = int(sizes[choose_size(pooled(repeats).of(len(sizes)))])
    nested, chosen = _nested(repeats, found.folds, len(sizes))
    chance = task.scoring.chance(task.study)
    if task.study.covariates is not None and task.scoring.given:
        chance = max(chance, float(scores[-1]))
    panels = found.panels
    return Accuracy(
        measure=task.scoring.measure,
        score=float(pooled(nested).scores[0]),
        error=float(errors_of(nested)[0]),
        chance=chance,
        all_associated=float(scores[-2]),
        all_error=float(errors[-2]),
        sizes=sizes,
        scores=scores[:-2],
        errors=errors[:-2],
        size=size,
        mean_size=float(np.mean(np.sum(panels != NO_FEATURE, axis=1).clip(max=sizes[chosen]))),
        mean_associated=float(np.mean(found.n_associated)),
        stability=np.array([np.mean((panels[:, :size] == k).any(axis=1)) for k in ranking[:size]]),
        n_folds=int(found.folds.max()) + 1,
        n_repeats=len(found.folds),
    )


def _nested(
    repeats: list[RowScores], folds: Indices, n_sizes: int
) -> tuple[list[RowScores], Indices]:
    """Scores with the size for each fold chosen on the rows outside of it, and these sizes."""
    by_size, nested, chosen = pooled(repeats).of(n_sizes), [], []
    for one, dealt in zip(repeats, folds, strict=True):
        gains = np.zeros((1, len(dealt)))
        for fold in range(int(dealt.max()) + 1):
            inside = dealt == fold
            chosen.append(choose_size(by_size.take(np.flatnonzero(~inside))))
            gains[0, inside] = one.gains[chosen[-1], inside]
        nested.append(replace(one, gains=gains))
    return nested, np.array(chosen)
