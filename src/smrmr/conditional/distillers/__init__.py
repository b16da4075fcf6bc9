"""Distillers: fits of the target to all features but some, whose residuals are tested.

A distiller is a frozen dataclass with a short name and two methods: `fit`, which never sees the
columns to be left out, and `held_out`, by which it is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from ...data.targets.protocol import TargetColumns
from ...settings import read_strategies
from ...types import Indices, Matrix, Vector
from .blend import Blend
from .estimator import FromEstimator
from .kernel import Kernel
from .lasso import Lasso
from .problem import NONE, Distilled, FitProblem, mean_squares
from .ridge import Ridge

__all__ = [
    "DISTILLERS",
    "Blend",
    "Distillation",
    "Distilled",
    "Distiller",
    "FitProblem",
    "FromEstimator",
    "Kernel",
    "Lasso",
    "Ridge",
    "as_distillers",
]


LEAST_GAIN = 0.03  # of the error, by which another distiller than the first must be better


class Distiller(Protocol):
    """Fits the target to features so that any of them can be left out.

    Law: ``fit(problem, out)`` is the same whatever the columns `out` hold.
    """

    alias: ClassVar[str]

    def fit(self, problem: FitProblem, out: Indices) -> Distilled:
        """The fit that never sees the columns `out`."""

    def held_out(self, problem: FitProblem) -> Matrix:
        """Residuals of the rows `FitProblem.judged`, as seen from fits to others, (q, rows)."""


DISTILLERS: dict[str, Callable[..., Distiller]] = {
    one.alias: one for one in (Ridge, Blend, Lasso, Kernel, FromEstimator)
}


def as_distillers(distillers: Any) -> tuple[Distiller, ...]:
    """The distillers that names stand for; objects stand for themselves."""
    return read_strategies("distillers", distillers, DISTILLERS, "fit")


@dataclass(frozen=True, eq=False)
class Distillation:
    """The target, fitted by one of several distillers to one of several forms of the features."""

    problems: tuple[FitProblem, ...]
    distillers: Sequence[Distiller]

    @property
    def target(self) -> TargetColumns:
        """What is fitted."""
        return self.problems[0].target

    @cached_property
    def held_out(self) -> tuple[tuple[Matrix, ...], ...]:
        """Residuals of rows left out, by distiller and form."""
        return tuple(
            tuple(distiller.held_out(problem) for problem in self.problems)
            for distiller in self.distillers
        )

    @cached_property
    def chosen(self) -> tuple[int, int]:
        """Number of the distiller, and of the form, that is taken for all features alike.

        Of forms it is the one of least error. The first distiller is taken unless another one has a
        smaller error, by more than a standard error of the difference, and than no fit at all.
        """
        if len(self.problems) == len(self.distillers) == 1:
            return 0, 0
        forms = [int(np.argmin([np.mean(e**2) for e in each])) for each in self.held_out]
        squares = [
            np.mean(each[form] ** 2, axis=0)
            for each, form in zip(self.held_out, forms, strict=True)
        ]
        best = 0
        for i, form in enumerate(forms):
            problem = self.problems[form]
            nothing = np.mean(problem.target.values[:, problem.judged] ** 2, axis=0)
            if i and _is_less(squares[i], squares[best]) and _is_less(squares[i], nothing):
                best = i
        return best, forms[best]

    @property
    def explained(self) -> dict[str, Vector]:
        """Share of each column of the target, (q,), explained on rows left out, by distiller."""
        found = {}
        for distiller, each in zip(self.distillers, self.held_out, strict=True):
            shares = [
                1 - mean_squares(e) / mean_squares(problem.target.values[:, problem.judged])
                for problem, e in zip(self.problems, each, strict=True)
            ]
            best = max(shares, key=lambda share: float(share.mean()))
            found[str(getattr(distiller, "name", distiller.alias))] = best
        return found

    @cached_property
    def full_fit(self) -> Distilled:
        """The fit that leaves out nothing."""
        return self._fit(NONE)

    @property
    def to_refit(self) -> Indices:
        """Columns without which the target is fitted again whatever their first p-value."""
        fit = self.full_fit
        return fit.used if fit.to_refit is None else fit.to_refit

    def without(self, columns: Indices) -> Distilled:
        """The fit that never saw some columns; that of all if it does not depend on them."""
        return self._fit(columns) if _matter(self.full_fit, columns) else self.full_fit

    def _fit(self, out: Indices) -> Distilled:
        distiller, form = self.chosen
        problem = self.problems[form]
        if not self.explains:
            return Distilled(problem.target.values, NONE, depends_on=NONE)
        return self.distillers[distiller].fit(problem, out)

    @cached_property
    def explains(self) -> bool:
        """Whether rows left out are predicted better than by the mean of the target.

        If not, the target itself is compared with the features: a fit to noise takes away from it
        what features could be tested by.
        """
        distiller, form = self.chosen
        problem = self.problems[form]
        nothing = np.mean(problem.target.values[:, problem.judged] ** 2)
        return bool(np.mean(self.held_out[distiller][form] ** 2) < nothing)


def _is_less(one: Vector, other: Vector) -> bool:
    """Whether the mean of one is less, by a standard error of the difference and by 3%."""
    apart = other - one
    least = max(apart.std() / np.sqrt(len(apart)), LEAST_GAIN * float(other.mean()))
    return bool(apart.mean() > least)


def _matter(fit: Distilled, columns: Indices) -> bool:
    """Whether a fit may be another one without some columns."""
    if fit.depends_on is None:
        return len(columns) > 0
    return not set(columns.tolist()).isdisjoint(fit.depends_on.tolist())
