"""Chooses lambda on held-out rows."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from ...association.associations import Associations
from ...data.columns import MIN_ROWS, Columns
from ...data.target import Target, take_rows
from ...measures import HSIC
from ...measures.kernel_loops import median_distance
from ...measures.scaling import unit_scale
from ...recipe import Recipe
from ...solver.lla import lambda_max, loss, solution_path, solve
from ...solver.penalties import NoPenalty, as_penalty
from ...types import Indices, Progress, Vector
from .screening import engine_of

logger = logging.getLogger(__name__)

N_LAMS = 50
FLOOR = 1e-3  # smallest lambda of the path over the largest
TRIALS = 30  # of the Bayesian search
FEW = 20  # features, with their knockoffs, from which the bias of redundancy is read


@dataclass(frozen=True)
class Paired:
    """Features beside their knockoffs: (n, 2 k) columns, the target, and which part a row is of."""

    columns: Columns
    target: Target
    part: Indices

    @property
    def n_kept(self) -> int:
        """Number of features; as many knockoffs follow."""
        return self.columns.n_columns // 2

    def take(self, rows: Indices) -> Paired:
        """Return the same columns in fewer rows."""
        return Paired(self.columns.take(rows), take_rows(self.target, rows), self.part[rows])


@dataclass(frozen=True)
class Tuning:
    """The lambda chosen, and how each candidate did on held-out rows.

    `lams` and `losses` are empty if lambda was given. `at_floor`: the smallest candidate won.
    """

    lam: float
    penalty: Any
    lams: Vector
    losses: Vector

    @property
    def at_floor(self) -> bool:
        """Whether the smallest candidate won, so that a smaller one might do better still."""
        return bool(self.lams.size > 1 and self.lam <= self.lams.min())


@dataclass(frozen=True)
class Fold:
    """Associations of the training rows and of the held-out rows, and how many the latter are."""

    train: Associations
    test: Associations
    weight: int


def associate_pairs(paired: Paired, recipe: Recipe) -> Associations:
    """Associations of features and knockoffs; without `cross_terms` as eq. (4.1) prints them."""
    engine = engine_of(paired.columns, recipe)
    relevance, redundancy = engine.with_target(paired.target), engine.with_each_other()
    if not recipe.cross_terms:
        k = paired.n_kept
        redundancy[:k, k:] = redundancy[k:, :k] = 0.0
    return Associations(relevance, redundancy, paired.target.kind)


def choose_lam(
    paired: Paired,
    problem: Associations,
    recipe: Recipe,
    rng: Generator,
    progress: Progress | None = None,
) -> Tuning:
    """Smallest held-out loss of all 2 k coefficients along a path of 50 lambdas.

    Paper: section 5.1.2, step 3. The loss is that of `smrmr.solve` without penalty; scoring the
    features without their knockoffs would tell them apart and break the swap law. With
    ``"cv-debiased"``, held-out associations are reduced by what independent variables of that many
    rows have: plain, that bias alone makes smaller penalties look better.
    """
    nothing = np.empty(0)
    if not isinstance(recipe.lam, str):
        return Tuning(float(recipe.lam), recipe.penalty, nothing, nothing)
    if not isinstance(recipe.penalty, list | tuple) and isinstance(
        as_penalty(recipe.penalty), NoPenalty
    ):
        return Tuning(0.0, recipe.penalty, nothing, nothing)
    folds = _folds(paired, recipe, rng, progress)
    if recipe.lam == "bayes":
        return _bayesian(problem, folds, recipe, rng)
    lams: Vector = np.asarray(lambda_max(problem) * np.geomspace(1.0, FLOOR, N_LAMS))
    losses = np.zeros(N_LAMS)
    for fold in folds:
        path = solution_path(
            fold.train, penalty=recipe.penalty, lams=lams, lla_steps=recipe.lla_steps
        )
        losses += fold.weight * np.array([loss(fold.test, theta) for theta in path.thetas])
    losses /= sum(fold.weight for fold in folds)
    chosen = Tuning(float(lams[np.argmin(losses)]), recipe.penalty, lams, losses)
    logger.info("lambda %.3g%s", chosen.lam, " (the smallest tried)" if chosen.at_floor else "")
    return chosen


def deal_folds(paired: Paired, n_folds: int, rng: Generator) -> Indices:
    """Fold of every row: each class, and each part of the rows, dealt out evenly."""
    stratum = paired.part.astype(np.intp)
    if paired.target.kind == "classes":
        stratum = stratum + 2 * paired.target.values.astype(np.intp)
    fold = np.empty(len(stratum), dtype=np.intp)
    dealt = 0
    for value in np.unique(stratum):
        rows = rng.permutation(np.flatnonzero(stratum == value))
        fold[rows] = (dealt + np.arange(len(rows))) % n_folds
        dealt += len(rows)
    return fold


def _folds(paired: Paired, recipe: Recipe, rng: Generator, progress: Progress | None) -> list[Fold]:
    paired, recipe = _fix_widths(paired, recipe)
    n_folds = max(2, min(recipe.cv, paired.columns.n_rows // MIN_ROWS))
    fold = deal_folds(paired, n_folds, rng)
    found = []
    for k in range(n_folds):
        train = paired.take(np.flatnonzero(fold != k))
        test = paired.take(np.flatnonzero(fold == k))
        held_out = associate_pairs(test, recipe)
        if recipe.lam == "cv-debiased":
            held_out = _debiased(held_out, test, recipe, rng)
        found.append(Fold(associate_pairs(train, recipe), held_out, test.columns.n_rows))
        if progress is not None:
            progress("tuning", k + 1, n_folds)
    return found


def _debiased(found: Associations, test: Paired, recipe: Recipe, rng: Generator) -> Associations:
    """Take from every association the mean of those between columns whose rows are shuffled."""
    shuffled = rng.permutation(test.columns.n_rows)
    response = take_rows(test.target, shuffled)
    relevance = engine_of(test.columns, recipe).with_target(response)
    some = rng.permutation(test.n_kept)[:FEW]
    some = np.concatenate([some, some + test.n_kept])
    values = test.columns.values[:, some]
    both = Columns.bare(np.hstack([values, values[shuffled]]))
    between = engine_of(both, recipe).with_each_other()[: len(some), len(some) :]
    bias, common = min(float(relevance.mean()), 0.9), min(float(between.mean()), 0.9)
    redundancy = (found.redundancy - common) / (1 - common)
    constant = np.diag(found.redundancy) == 0
    redundancy[constant] = redundancy[:, constant] = 0.0
    if not recipe.cross_terms:
        redundancy[: test.n_kept, test.n_kept :] = redundancy[test.n_kept :, : test.n_kept] = 0.0
    return Associations((found.relevance - bias) / (1 - bias), redundancy, found.target)


def _fix_widths(paired: Paired, recipe: Recipe) -> tuple[Paired, Recipe]:
    """Divide by the kernel widths of all rows, so that folds do not choose their own."""
    measure = recipe.measured_by
    if not (
        isinstance(measure, HSIC) and isinstance(measure.kernel, str) and measure.width is None
    ):
        return paired, recipe
    values = paired.columns.values.astype(np.float64)
    widths = np.array([median_distance(np.sort(column)) for column in values.T])
    values /= np.where(widths > 0, widths, 1.0)
    target = paired.target
    if target.kind != "classes":
        points = unit_scale(target.vectors)[0].T.reshape(target.values.shape)
        target = replace(target, values=points / _width(points))
    columns = replace(paired.columns, data=values)
    fixed = replace(recipe, measure=replace(measure, width=1.0))
    return replace(paired, columns=columns, target=target), fixed


def _width(values: NDArray[Any]) -> float:
    if values.ndim == 1:
        width = float(median_distance(np.sort(values)))
    else:
        distances = pdist(values)
        width = float(np.median(distances)) or float(distances[distances > 0].mean())
    return width or 1.0


def _bayesian(problem: Associations, folds: list[Fold], recipe: Recipe, rng: Generator) -> Tuning:
    """Search lambda, and the penalty if several are given, by the tree Parzen estimator."""
    try:
        import optuna
    except ImportError as error:
        raise ImportError(
            "lam='bayes' needs Optuna. Install it: pip install smrmr[bayes]"
        ) from error
    penalties = recipe.penalty if isinstance(recipe.penalty, list | tuple) else [recipe.penalty]
    largest = lambda_max(problem)

    def held_out(trial: Any) -> float:
        lam = largest * trial.suggest_float("share", FLOOR, 1.0, log=True)
        which = trial.suggest_categorical("penalty", list(range(len(penalties))))
        total = 0.0
        for fold in folds:
            solution = solve(
                fold.train, penalty=penalties[which], lam=lam, lla_steps=recipe.lla_steps
            )
            total += fold.weight * loss(fold.test, solution.theta)
        return total / sum(fold.weight for fold in folds)

    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        sampler = optuna.samplers.TPESampler(seed=int(rng.integers(2**31)))
        study = optuna.create_study(sampler=sampler)
        study.optimize(held_out, n_trials=TRIALS)
    finally:
        optuna.logging.set_verbosity(verbosity)
    lams = np.array([largest * trial.params["share"] for trial in study.trials])
    order = np.argsort(-lams, kind="stable")
    losses = np.array([trial.value for trial in study.trials])
    best = study.best_params
    penalty = penalties[best["penalty"]]
    return Tuning(float(largest * best["share"]), penalty, lams[order], losses[order])
