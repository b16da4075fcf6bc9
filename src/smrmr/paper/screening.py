"""Splits the rows and keeps the features that may enter the selection."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.random import Generator

from ..association import Associations
from ..association.associator import Associator
from ..data.columns import MIN_ROWS
from ..data.study import Study
from ..data.target import Target
from ..measures.protocol import Measure
from ..problems import Problem, setting
from ..runs.work import Work
from ..settings import check_choice, check_lambda, check_level, read_strategy
from ..types import Indices, Vector
from .solver import Penalty, solve

Parts = tuple[Indices, Indices]  # of the rows: those that screen, those that select
SHORTLIST = 4  # features kept by relevance for each one kept in the end


@dataclass(frozen=True, eq=False)
class Screening:
    """Which rows screen and which select, and which features got how far.

    `relevance` is that of every feature on the screening rows (on all rows if nothing is screened);
    `shortlisted` features passed the step by relevance, `kept` ones both. The rows in `recycled`
    come back, as their own knockoffs, when the problem is solved.
    """

    rows_screen: Indices
    rows_select: Indices
    recycled: Indices
    relevance: Vector
    shortlisted: Indices
    kept: Indices


class Screener(Protocol):
    """Decides which rows screen, and which features are kept by looking at these alone."""

    def split(self, study: Study, rng: Generator) -> Parts:
        """Rows that screen, and rows that select."""

    def screen(
        self, study: Study, parts: Parts, measure: Measure, penalty: Penalty, work: Work
    ) -> Screening:
        """Which features are kept, and the relevance of all."""


@dataclass(frozen=True)
class KeepAll:
    """Keep every feature and use all rows to select; ``"none"`` for short."""

    alias: ClassVar[str] = "none"

    def split(self, study: Study, rng: Generator) -> Parts:
        """No row screens."""
        return np.arange(0), np.arange(study.columns.n_rows)

    def screen(
        self, study: Study, parts: Parts, measure: Measure, penalty: Penalty, work: Work
    ) -> Screening:
        """Measure relevance and keep everything."""
        relevance = Associator(study.columns, measure, work).with_target(study.target)
        everything, no_rows = np.arange(study.columns.n_columns), np.arange(0)
        return Screening(*parts, no_rows, relevance, everything, everything)


@dataclass(frozen=True)
class Split:
    """Screen on some rows and select on the others, unless 2 p < n; ``"split"`` for short.

    Paper: section 5.1.1. The screen keeps first the features of largest relevance, four times as
    many as in the end, then the ``(n_1 - 1) // 2`` of largest coefficient in the penalised problem,
    with n_1 the selecting rows; ties and zeros are broken by relevance. The selecting rows must not
    influence what is kept, or the FDR is not controlled.

    Parameters
    ----------
    share
        Share of the rows that screen.
    lam
        Lambda of the penalised problem.
    recycle
        Use the screening rows again when solving, each as its own knockoff.

    Raises
    ------
    ValueError
        If `share` is not between 0 and 1, or another setting is not possible. With data: if fewer
        than 4 rows or no feature would be left to screen or to select; the message says which.

    Examples
    --------
    >>> from smrmr.paper import KnockoffFilter, Split
    >>> KnockoffFilter(screening=Split(share=0.3)) == KnockoffFilter(screening="split(share=0.3)")
    True
    """

    share: float = 0.4
    lam: float = 0.01
    recycle: bool = True
    alias: ClassVar[str] = "split"

    def __post_init__(self) -> None:
        check_level(self.share, "share")
        check_lambda("lam", self.lam)
        check_choice("recycle", self.recycle, (True, False))

    def split(self, study: Study, rng: Generator) -> Parts:
        """Draw the rows that screen; none, if all features can be kept.

        Parameters
        ----------
        study
            Checked data.
        rng
            Draws the rows; of classes and of groups of rows each has its share.

        Returns
        -------
        tuple of ndarray
            Rows that screen, and rows that select.
        """
        if 2 * study.columns.n_columns < study.columns.n_rows:
            return KeepAll().split(study, rng)
        return split_rows(study.target, self.share, rng, study.row_groups.codes)

    def screen(
        self, study: Study, parts: Parts, measure: Measure, penalty: Penalty, work: Work
    ) -> Screening:
        """Keep features by looking at a share of the rows alone.

        Parameters
        ----------
        study
            Checked data.
        parts
            What `split` returned.
        measure, penalty
            Those of the method.
        work
            Threads, memory and progress.

        Returns
        -------
        Screening
            The rows, the features kept, and the relevance of all.

        Raises
        ------
        ValueError
            If too few rows are left, or the target is the same on all rows that screen.
        """
        rows_screen, rows_select = parts
        if not len(rows_screen):
            return KeepAll().screen(study, parts, measure, penalty, work)
        n_screen, n_select = len(rows_screen), len(rows_select)
        if min(n_screen, n_select) < MIN_ROWS:
            n, needed = n_screen + n_select, np.ceil(MIN_ROWS / min(self.share, 1 - self.share))
            raise Problem(
                f"{n} rows (n_samples={n}) are too few to split: {n_screen} would screen and "
                f"{n_select} select. At least {needed:.0f} rows are needed with "
                f"{setting('share', self.share)}, or {setting('screening', 'none')}."
            )
        part = study.take(rows_screen)
        if (part.target.values == part.target.values[:1]).all():
            raise Problem(
                f"the target has a single value on the {n_screen} rows drawn to screen, so nothing "
                " can be screened. More rows of its rare values are needed, or "
                f"{setting('screening', 'none')}."
            )
        relevance = Associator(part.columns, measure, work).with_target(part.target)
        n_keep = (n_select - 1) // 2
        shortlisted = np.sort(np.argsort(-relevance, kind="stable")[: SHORTLIST * n_keep])
        chosen = part.columns.take(columns=shortlisted)
        redundancy = Associator(chosen, measure, work.quietly()).with_each_other()
        problem = Associations(relevance[shortlisted], redundancy, study.target.kind)
        theta = solve(problem, penalty=penalty, lam=self.lam).theta
        kept = np.sort(shortlisted[np.lexsort((-problem.relevance, -theta))[:n_keep]])
        recycled = rows_screen if self.recycle else rows_screen[:0]
        return Screening(rows_screen, rows_select, recycled, relevance, shortlisted, kept)


SCREENS: dict[str, type[Split] | type[KeepAll]] = {"split": Split, "none": KeepAll}


def as_screening(screening: str | Screener) -> Screener:
    """The screening that a name stands for; a screening stands for itself."""
    found: Screener = read_strategy("screening", screening, SCREENS, "screen")
    return found


def split_rows(
    target: Target, share: float, rng: Generator, groups: Indices | None = None
) -> tuple[Indices, Indices]:
    """Draw ``floor(share n)`` rows to screen, of every class its share, and the rest to select.

    Rows of one group stay together: then so many groups are drawn.
    """
    n = target.n_rows
    if groups is not None:
        order = rng.permutation(np.unique(groups))
        screened = np.isin(groups, order[: int(np.floor(share * len(order) + 1e-9))])
        return np.flatnonzero(screened), np.flatnonzero(~screened)
    n_screen = int(np.floor(share * n + 1e-9))
    if not target.nominal:
        order = rng.permutation(n)
        return np.sort(order[:n_screen]), np.sort(order[n_screen:])
    labels = target.values.astype(np.intp)
    exact = share * np.bincount(labels)
    counts = np.floor(exact + 1e-9).astype(np.intp)
    largest = np.argsort(-(exact - counts), kind="stable")
    counts[largest[: n_screen - counts.sum()]] += 1
    chosen = [
        rng.permutation(np.flatnonzero(labels == label))[:count]
        for label, count in enumerate(counts)
    ]
    rows = np.sort(np.concatenate(chosen))
    return rows, np.setdiff1d(np.arange(n), rows)
