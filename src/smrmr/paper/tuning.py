"""Chooses lambda: on held-out rows, or as the smallest of its path."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
from numpy.random import Generator

from ..measures import ProjectionCorrelation
from ..runs.work import Work
from ..settings import check_choice, check_count, check_lambda, read_strategy
from ..types import Vector
from .folds import TuningProblem, hold_out
from .solver import NoPenalty, lambda_max, loss, solution_path

logger = logging.getLogger(__name__)

N_LAMS = 50
FLOOR = 1e-3  # smallest lambda of the path over the largest


@dataclass(frozen=True, eq=False)
class Tuning:
    """The lambda chosen, and how each candidate did on held-out rows.

    `lams` and `losses` are empty if no rows were held out.
    """

    lam: float
    lams: Vector = field(default_factory=lambda: np.empty(0))
    losses: Vector = field(default_factory=lambda: np.empty(0))

    @property
    def at_floor(self) -> bool:
        """Whether the smallest candidate won, so that a smaller one might do better still."""
        return bool(self.lams.size > 1 and self.lam <= self.lams.min())


class Tuner(Protocol):
    """Chooses lambda."""

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
        return Tuning(float(self.lam))


@dataclass(frozen=True)
class Smallest:
    """The smallest lambda of the path, 0.001 of the largest relevance; ``"smallest"`` for short.

    No rows are held out, so that associations are computed once instead of once per fold.
    """

    alias: ClassVar[str] = "smallest"

    def choose(self, problem: TuningProblem, rng: Generator, work: Work) -> Tuning:
        """Take the end of the path, which features and knockoffs share in alike."""
        penalised = not isinstance(problem.penalty, NoPenalty)
        return Tuning(FLOOR * lambda_max(problem.associations) if penalised else 0.0)


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
            return Tuning(0.0)
        held_out = hold_out(problem, self.folds, self.debiased, rng, work)
        lams: Vector = lambda_max(problem.associations) * np.geomspace(1.0, FLOOR, N_LAMS)
        losses = np.zeros(N_LAMS)
        for train, test, n_rows in held_out:
            path = solution_path(train, penalty=penalty, lams=lams)
            losses += n_rows * np.array([loss(test, theta) for theta in path.thetas])
        losses /= problem.pairs.study.columns.n_rows
        chosen = Tuning(float(lams[np.argmin(losses)]), lams, losses)
        logger.info("lambda %.3g%s", chosen.lam, " (the smallest tried)" if chosen.at_floor else "")
        return chosen


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
