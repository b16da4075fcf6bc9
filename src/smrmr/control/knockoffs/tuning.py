"""Chooses lambda on held-out rows."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from ...association import Associations
from ...association.associator import Associator
from ...data.columns import MIN_ROWS, Columns
from ...data.target import take_rows
from ...measures.protocol import Measure
from ...runs.work import Work
from ...settings import check_choice, check_count, check_lambda, read_strategy
from ...solver import NoPenalty, Penalty, as_penalty, lambda_max, loss, solution_path, solve
from ...types import Indices, Vector
from .pairs import Pairs, associate_pairs

logger = logging.getLogger(__name__)

N_LAMS = 50
FLOOR = 1e-3  # smallest lambda of the path over the largest
BIAS_FEATURES = 20  # features, with their knockoffs, from which the bias of redundancy is read


@dataclass(frozen=True, eq=False)
class Problem:
    """What lambda is chosen for: pairs, how they are measured, their associations, the penalty."""

    pairs: Pairs
    measure: Measure
    cross_terms: bool
    associations: Associations
    penalty: Penalty


@dataclass(frozen=True, eq=False)
class Tuning:
    """The lambda chosen, and how each candidate did on held-out rows.

    `lams` and `losses` are empty if lambda was given.
    """

    lam: float
    penalty: Penalty
    lams: Vector
    losses: Vector

    @classmethod
    def given(cls, lam: float, penalty: Penalty) -> Tuning:
        """A lambda that was not chosen."""
        return cls(lam, penalty, np.empty(0), np.empty(0))

    @property
    def at_floor(self) -> bool:
        """Whether the smallest candidate won, so that a smaller one might do better still."""
        return bool(self.lams.size > 1 and self.lam <= self.lams.min())


@dataclass(frozen=True)
class Fixed:
    """A lambda that is given."""

    lam: float
    alias: ClassVar[str] = "fixed"

    def __post_init__(self) -> None:
        check_lambda("lam", self.lam)

    def choose(self, problem: Problem, rng: Generator, work: Work) -> Tuning:
        """Take the lambda that is given."""
        return Tuning.given(float(self.lam), problem.penalty)


@dataclass(frozen=True)
class CrossValidation:
    """Smallest held-out loss of all 2 k coefficients on a path of 50 lambdas; ``"cv"`` for short.

    Paper: section 5.1.2, step 3. The loss is that of `smrmr.solve` without penalty; scoring the
    features without their knockoffs would tell them apart and break the swap law.

    Parameters
    ----------
    folds
        Parts of the rows, each held out once.
    debiased
        Reduce held-out associations by what independent variables of that many rows have. Without
        it that bias alone makes smaller penalties look better, and the smallest mostly wins.
    """

    folds: int = 5
    debiased: bool = False
    alias: ClassVar[str] = "cv"

    def __post_init__(self) -> None:
        check_count("folds", self.folds, least=2)
        check_choice("debiased", self.debiased, (True, False))

    def choose(self, problem: Problem, rng: Generator, work: Work) -> Tuning:
        """Follow the path on the training rows of every fold, and score it on the others."""
        penalty = problem.penalty
        if isinstance(penalty, NoPenalty):
            return Tuning.given(0.0, penalty)
        held_out = _hold_out(problem, self.folds, self.debiased, rng, work)
        lams: Vector = np.asarray(
            lambda_max(problem.associations) * np.geomspace(1.0, FLOOR, N_LAMS)
        )
        losses = np.zeros(N_LAMS)
        for one in held_out:
            path = solution_path(one.train, penalty=penalty, lams=lams)
            losses += one.n_rows * np.array([loss(one.test, theta) for theta in path.thetas])
        losses /= sum(one.n_rows for one in held_out)
        chosen = Tuning(float(lams[np.argmin(losses)]), penalty, lams, losses)
        logger.info("lambda %.3g%s", chosen.lam, " (the smallest tried)" if chosen.at_floor else "")
        return chosen


@dataclass(frozen=True)
class Bayes:
    """Bayesian search of the same loss (needs ``smrmr[bayes]``); ``"bayes"`` for short.

    Parameters
    ----------
    penalties
        Penalties to choose from; the method's own unless given.
    folds
        Parts of the rows, each held out once.
    trials
        Candidates tried.
    """

    penalties: Any = ()
    folds: int = 5
    trials: int = 30
    alias: ClassVar[str] = "bayes"

    def __post_init__(self) -> None:
        object.__setattr__(self, "penalties", tuple(map(as_penalty, self.penalties)))
        check_count("folds", self.folds, least=2)
        check_count("trials", self.trials)

    def choose(self, problem: Problem, rng: Generator, work: Work) -> Tuning:
        """Search lambda, and the penalty if several are given, by the tree Parzen estimator."""
        try:
            import optuna
        except ImportError as error:
            raise ImportError(
                "lam='bayes' needs Optuna. Install it: pip install smrmr[bayes]"
            ) from error
        penalties = self.penalties or (problem.penalty,)
        if penalties == (NoPenalty(),):
            return Tuning.given(0.0, penalties[0])
        held_out = _hold_out(problem, self.folds, False, rng, work)
        largest = lambda_max(problem.associations)

        def held_out_loss(trial: Any) -> float:
            lam = largest * trial.suggest_float("share", FLOOR, 1.0, log=True)
            which = trial.suggest_categorical("penalty", list(range(len(penalties))))
            total = 0.0
            for one in held_out:
                solution = solve(one.train, penalty=penalties[which], lam=lam)
                total += one.n_rows * loss(one.test, solution.theta)
            return total / sum(one.n_rows for one in held_out)

        verbosity = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        try:
            sampler = optuna.samplers.TPESampler(seed=int(rng.integers(2**31)))
            study = optuna.create_study(sampler=sampler)
            study.optimize(held_out_loss, n_trials=self.trials)
        finally:
            optuna.logging.set_verbosity(verbosity)
        lams = np.array([largest * trial.params["share"] for trial in study.trials])
        order = np.argsort(-lams, kind="stable")
        losses = np.array([trial.value for trial in study.trials])
        best = study.best_params
        penalty = penalties[best["penalty"]]
        return Tuning(float(largest * best["share"]), penalty, lams[order], losses[order])


TUNINGS: dict[str, type[Any]] = {"cv": CrossValidation, "bayes": Bayes, "fixed": Fixed}


def as_tuning(lam: Any) -> Any:
    """The way to choose lambda that a name stands for; a number is the lambda itself."""
    try:  # the command line gives numbers as text
        return Fixed(float(lam))
    except (TypeError, ValueError):
        return read_strategy("lam", lam, TUNINGS, "choose")


def deal_folds(pairs: Pairs, n_folds: int, rng: Generator) -> Indices:
    """Fold of every row: each class, and each part of the rows, dealt out evenly.

    Rows of one group stay together: then groups are dealt out.
    """
    stratum = pairs.part.astype(np.intp)
    target, codes = pairs.study.target, pairs.study.rows.codes
    if codes is not None:
        numbers = np.unique(codes, return_inverse=True)[1]
        return np.asarray(rng.permutation(numbers.max() + 1)[numbers] % n_folds)
    if target.kind == "classes":
        stratum = stratum + 2 * target.values.astype(np.intp)
    fold = np.empty(len(stratum), dtype=np.intp)
    dealt = 0
    for value in np.unique(stratum):
        rows = rng.permutation(np.flatnonzero(stratum == value))
        fold[rows] = (dealt + np.arange(len(rows))) % n_folds
        dealt += len(rows)
    return fold


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Associations of the training rows and of the rows held out, and the number of the latter."""

    train: Associations
    test: Associations
    n_rows: int


def _hold_out(
    problem: Problem, folds: int, debiased: bool, rng: Generator, work: Work
) -> list[_HeldOut]:
    """Associations of every fold, in the units of all rows."""
    pairs, study = problem.pairs, problem.pairs.study
    measure, values, target = problem.measure.in_fixed_units(study.columns.values, study.target)
    fixed = replace(study, columns=replace(study.columns, data=values), target=target)
    pairs = replace(pairs, study=fixed)
    associated: Callable[[Pairs], Associations] = partial(
        associate_pairs, measure=measure, cross_terms=problem.cross_terms, work=work
    )
    n_folds = max(2, min(folds, study.columns.n_rows // MIN_ROWS))
    fold = deal_folds(pairs, n_folds, rng)
    found = []
    for k in range(n_folds):
        train, test = (pairs.take(np.flatnonzero(rows)) for rows in (fold != k, fold == k))
        held_out = associated(test)
        if debiased:
            held_out = _debiased(held_out, test, measure, problem.cross_terms, rng, work)
        found.append(_HeldOut(associated(train), held_out, test.study.columns.n_rows))
        work.report("tuning", k + 1, n_folds)
    return found


def _debiased(
    found: Associations,
    test: Pairs,
    measure: Measure,
    cross_terms: bool,
    rng: Generator,
    work: Work,
) -> Associations:
    """Take from every association the mean of those between columns whose rows are shuffled."""
    columns, k, work = test.study.columns, test.n_features, work.quietly()
    shuffled = rng.permutation(columns.n_rows)
    relevance = Associator(columns, measure, work).with_target(
        take_rows(test.study.target, shuffled)
    )
    some = rng.permutation(k)[:BIAS_FEATURES]
    some = np.concatenate([some, some + k])
    values = columns.values[:, some]
    both = Columns.bare(np.hstack([values, values[shuffled]]))
    between = Associator(both, measure, work).with_each_other()[: len(some), len(some) :]
    bias, common = min(float(relevance.mean()), 0.9), min(float(between.mean()), 0.9)
    redundancy = (found.redundancy - common) / (1 - common)
    constant = np.diag(found.redundancy) == 0
    redundancy[constant] = redundancy[:, constant] = 0.0
    if not cross_terms:
        redundancy[:k, k:] = redundancy[k:, :k] = 0.0
    return Associations((found.relevance - bias) / (1 - bias), redundancy, found.target)
