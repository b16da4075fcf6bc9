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
from ...problems import Problem, setting
from ...settings import read_strategies
from ...types import Indices, Matrix, Vector
from .blend import Blend
from .estimator import FromEstimator
from .kernel import Kernel
from .lasso import Lasso
from .logistic import Logistic
from .problem import NONE, Distilled, FitProblem, Shape
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
    "Logistic",
    "Ridge",
    "Shape",
    "as_distillers",
]


LEAST_ERRORS = 1.0  # standard errors by which a fit must predict better than the mean
LEAST_GAIN = 0.03  # of the error, by which another distiller than the first must be better


class Distiller(Protocol):
    """Fits the target to features so that any of them can be left out.

    Law: ``fit(problem, out)`` is the same whatever the columns `out` hold. One that cannot fit
    every kind of target has a method ``applies(problem)`` as well.
    """

    alias: ClassVar[str]

    def fit(self, problem: FitProblem, out: Indices) -> Distilled:
        """The fit that never sees the columns `out`."""

    def held_out(self, problem: FitProblem) -> Matrix:
        """Residuals of the rows `FitProblem.judged`, as seen from fits to others, (q, rows)."""


DISTILLERS: dict[str, Callable[..., Distiller]] = {
    one.alias: one for one in (Ridge, Blend, Lasso, Logistic, Kernel, FromEstimator)
}


def as_distillers(distillers: Any) -> tuple[Distiller, ...]:
    """The distillers that names stand for; objects stand for themselves."""
    return read_strategies("distillers", distillers, DISTILLERS, "fit")


@dataclass(frozen=True, eq=False)
class Distillation:
    """The target, fitted by one of several distillers to one of several forms of the features."""

    problems: tuple[FitProblem, ...]
    distillers: Sequence[Distiller]

    @classmethod
    def of(cls, problems: tuple[FitProblem, ...], distillers: Sequence[Distiller]) -> Distillation:
        """By those of the distillers that can fit the target."""
        able = [one for one in distillers if getattr(one, "applies", _always)(problems[0])]
        if not able:
            raise Problem(
                f"{setting('distillers', '+'.join(one.alias for one in distillers))} cannot fit "
                "this target.",
                cure=f"Add one that can, as in {setting('distillers', 'logistic+blend')}.",
                argument="distillers",
            )
        return cls(problems, able)

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

    def forget_others(self) -> None:
        """Drop what was worked out for fits that are not taken: no later fit needs it."""
        chosen, form = self.chosen
        for i, problem in enumerate(self.problems):
            if i != form:
                problem.cache.clear()
        for i, distiller in enumerate(self.distillers):
            if i != chosen and isinstance(distiller, Ridge):
                distiller.forget(self.problems[form])

    @property
    def explained(self) -> dict[str, tuple[Vector, Vector]]:
        """Share of each column of the target explained on rows left out, by distiller.

        And its standard error, over rows; both are (q,).
        """
        found = {}
        for distiller, each in zip(self.distillers, self.held_out, strict=True):
            shares = [
                _share(problem.target.values[:, problem.judged], e)
                for problem, e in zip(self.problems, each, strict=True)
            ]
            best = max(shares, key=lambda share: float(share[0].mean()))
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

        By more than a standard error of the difference. If not, the target itself is compared with
        the features: a fit to noise takes away from it what features could be tested by.
        """
        distiller, form = self.chosen
        problem = self.problems[form]
        nothing = np.mean(problem.target.values[:, problem.judged] ** 2, axis=0)
        gain = nothing - np.mean(self.held_out[distiller][form] ** 2, axis=0)
        return bool(gain.mean() > LEAST_ERRORS * gain.std() / np.sqrt(len(gain)))


def _share(Y: Matrix, residuals: Matrix) -> tuple[Vector, Vector]:
    """Share of the squares of Y, row by row, that residuals do not have; its standard error."""
    total = np.mean(Y**2, axis=1)
    share = 1 - np.mean(residuals**2, axis=1) / total
    apart = residuals**2 - (1 - share[:, None]) * Y**2  # to first order what a ratio varies by
    return share, apart.std(axis=1) / np.sqrt(Y.shape[1]) / total


def _always(problem: FitProblem) -> bool:
    return True


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
