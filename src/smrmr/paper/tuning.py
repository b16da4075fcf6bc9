"""Chooses lambda: on held-out rows, or as the smallest of its path."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.random import Generator

from ..measures import ProjectionCorrelation
from ..runs.work import Work
from ..settings import check_choice, check_count, check_lambda, read_strategy
from ..types import Vector
from .folds import TuningProblem, hold_out
from .solver import NoPenalty, Penalty, as_penalty, lambda_max, loss, solution_path, solve

logger = logging.getLogger(__name__)

N_LAMS = 50
FLOOR = 1e-3  # smallest lambda of the path over the largest


@dataclass(frozen=True, eq=False)
class Tuning:
    """The lambda chosen, and how each candidate did on held-out rows.

    `lams` and `losses` are empty if no rows were held out.
    """

    lam: float
    penalty: Penalty
    lams: Vector
    losses: Vector

    @classmethod
    def given(cls, lam: float, penalty: Penalty) -> Tuning:
        """A lambda that was not chosen on held-out rows."""
        return cls(lam, penalty, np.empty(0), np.empty(0))

    @property
    def at_floor(self) -> bool:
        """Whether the smallest candidate won, so that a smaller one might do better still."""
        return bool(self.lams.size > 1 and self.lam <= self.lams.min())


class Tuner(Protocol):
    """Chooses lambda, and the penalty where several are possible."""

    def choose(self, problem: TuningProblem, rng: Generator, work: Work) -> Tuning:
        """The lambda chosen, and how each candidate did."""


@dataclass(frozen=True)
class Fixed:
    """A lambda that is given."""

    lam: float
    alias: ClassVar[str] = "fixed"

    def __post_init__(self) -> None:
        check_lambda("lam", self.lam)

    def choose(self, problem: TuningProblem, rng: Generator, work: Work) -> Tuning:
        """Take the lambda that is given."""
        return Tuning.given(float(self.lam), problem.penalty)


@dataclass(frozen=True)
class Smallest:
    """The smallest lambda of the path, 0.001 of the largest relevance; ``"smallest"`` for short.

    No rows are held out, so that associations are computed once instead of once per fold.
    """

    alias: ClassVar[str] = "smallest"

    def choose(self, problem: TuningProblem, rng: Generator, work: Work) -> Tuning:
        """Take the end of the path, which features and knockoffs share in alike."""
        penalised = not isinstance(problem.penalty, NoPenalty)
        lam = FLOOR * lambda_max(problem.associations) if penalised else 0.0
        return Tuning.given(lam, problem.penalty)


@dataclass(frozen=True)
class CrossValidation:
    """Smallest held-out loss of all 2 k coefficients on a path of 50 lambdas; ``"cv"`` for short.

    Paper: section 5.1.2, step 3. The loss is that of `solve` without penalty; scoring the
    features without their knockoffs would distinguish them and break the swap law.

    Parameters
    ----------
    folds
        Parts of the rows, each held out once.
    debiased
        Reduce held-out associations by what independent variables of that many rows have. Without
        it that bias alone makes smaller penalties look better, and the smallest mostly wins.

    Raises
    ------
    ValueError
        If `folds` is not a whole number of 2 or more, or `debiased` neither True nor False.

    Examples
    --------
    >>> from smrmr.paper import CrossValidation, KnockoffFilter
    >>> way = KnockoffFilter(lam=CrossValidation(folds=3))
    >>> way == KnockoffFilter(lam="cv(folds=3)")
    True
    """

    folds: int = 5
    debiased: bool = False
    alias: ClassVar[str] = "cv"

    def __post_init__(self) -> None:
        check_count("folds", self.folds, least=2)
        check_choice("debiased", self.debiased, (True, False))

    def choose(self, problem: TuningProblem, rng: Generator, work: Work) -> Tuning:
        """Follow the path on the training rows of every fold, and score it on the others.

        Parameters
        ----------
        problem
            Features beside their knockoffs, how they are measured, and the penalty.
        rng
            Deals rows into folds.
        work
            Threads, memory and progress.

        Returns
        -------
        Tuning
            The lambda chosen, and the loss of every candidate.
        """
        penalty = problem.penalty
        if isinstance(penalty, NoPenalty):
            return Tuning.given(0.0, penalty)
        held_out = hold_out(problem, self.folds, self.debiased, rng, work)
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
    """Bayesian search of the loss of `CrossValidation`; ``"bayes"`` for short.

    Lambdas are proposed by the tree Parzen estimator of Optuna (needs ``smrmr[bayes]``); penalties
    can be chosen in the same search, measures cannot, since the most biased one would win.

    Parameters
    ----------
    penalties
        One or more penalties to choose from; the method's own unless given.
    folds
        Parts of the rows, each held out once.
    trials
        Candidates tried.

    Raises
    ------
    ValueError
        If a penalty is not known, or a number is not a whole one of at least 2 folds and 1 trial.

    Examples
    --------
    >>> from smrmr.paper import Bayes
    >>> [type(penalty).__name__ for penalty in Bayes(penalties=("mcp", "scad")).penalties]
    ['MCP', 'SCAD']
    """

    penalties: Any = ()
    folds: int = 5
    trials: int = 30
    alias: ClassVar[str] = "bayes"

    def __post_init__(self) -> None:
        several = np.iterable(self.penalties) and not isinstance(self.penalties, str)
        penalties = self.penalties if several else (self.penalties,)
        object.__setattr__(self, "penalties", tuple(map(as_penalty, penalties)))
        check_count("folds", self.folds, least=2)
        check_count("trials", self.trials)

    def choose(self, problem: TuningProblem, rng: Generator, work: Work) -> Tuning:
        """Search lambda, and the penalty if several are given, by the tree Parzen estimator.

        Parameters
        ----------
        problem
            Features beside their knockoffs, how they are measured, and the penalty.
        rng
            Deals rows into folds.
        work
            Threads, memory and progress.

        Returns
        -------
        Tuning
            The lambda and the penalty chosen, and the loss of every candidate.

        Raises
        ------
        ImportError
            If Optuna is not installed: ``pip install smrmr[bayes]``.
        """
        try:
            import optuna
        except ImportError as error:
            raise ImportError(
                "lam='bayes' needs Optuna. Install it: pip install smrmr[bayes]"
            ) from error
        penalties = self.penalties or (problem.penalty,)
        if penalties == (NoPenalty(),):
            return Tuning.given(0.0, penalties[0])
        held_out = hold_out(problem, self.folds, False, rng, work)
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


@dataclass(frozen=True)
class Auto:
    """`Smallest` for projection correlation, else `CrossValidation`; ``"auto"`` for short.

    With projection correlation, cross-validation ends at the smallest lambda or near it, and nearly
    always selects the same features; with other measures often not (benchmarks/studies/tuning.py).
    """

    alias: ClassVar[str] = "auto"

    def choose(self, problem: TuningProblem, rng: Generator, work: Work) -> Tuning:
        """Hold out rows only where that changes the answer."""
        by_counting = isinstance(problem.measure, ProjectionCorrelation)
        way: Tuner = Smallest() if by_counting else CrossValidation()
        return way.choose(problem, rng, work)


TUNINGS: dict[str, Callable[..., Tuner]] = {
    "auto": Auto,
    "smallest": Smallest,
    "cv": CrossValidation,
    "bayes": Bayes,
    "fixed": Fixed,
}


def as_tuning(lam: float | str | Tuner) -> Tuner:
    """The way to choose lambda that a name stands for; a number is the lambda itself."""
    if isinstance(lam, str | int | float | np.number):
        try:  # the command line gives numbers as text
            return Fixed(float(lam))
        except ValueError:
            pass
    found: Tuner = read_strategy("lam", lam, TUNINGS, "choose")
    return found
