"""Chooses lambda: on held-out rows, or as the smallest of its path."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol

import numpy as np
from numpy.random import Generator

from ..association import Associations
from ..association.associator import Associator
from ..data.columns import MIN_ROWS, Columns
from ..data.target import take_rows
from ..measures import ProjectionCorrelation
from ..measures.protocol import Measure
from ..runs.work import Work
from ..settings import check_choice, check_count, check_lambda, read_strategy
from ..types import Indices, Vector
from .pairs import Pairs, associate_pairs
from .solver import NoPenalty, Penalty, lambda_max, loss, solution_path

logger = logging.getLogger(__name__)

N_LAMS = 50
FLOOR = 1e-3  # smallest lambda of the path over the largest
BIAS_FEATURES = 20  # features, with their knockoffs, from which the bias of redundancy is read


@dataclass(frozen=True, eq=False)
class TuningProblem:
    """What lambda is chosen for: pairs, how they are measured, their associations, the penalty."""

    pairs: Pairs
    measure: Measure
    cross_terms: bool
    associations: Associations
    penalty: Penalty


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
