"""Distillers: fits of the target to all features but some, whose residual is tested.

A distiller is a frozen dataclass with a short name and one method, `fit`, which never sees the
columns to be left out. Of several distillers the one of least error wins, fit by fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

from ...data.targets.protocol import TargetColumn
from ...settings import read_strategies
from ...types import Indices
from .blend import Blend
from .estimator import FromEstimator
from .kernel import Kernel
from .lasso import Lasso
from .problem import NONE, Distilled, FitProblem

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
    "as_distillers",
]


class Distiller(Protocol):
    """Fits the target to features so that any of them can be left out.

    Law: ``fit(problem, out)`` is the same whatever the columns `out` hold.
    """

    alias: ClassVar[str]

    def fit(self, problem: FitProblem, out: Indices) -> Distilled:
        """The fit that never sees the columns `out`."""


DISTILLERS: dict[str, Callable[..., Distiller]] = {
    one.alias: one for one in (Blend, Lasso, Kernel, FromEstimator)
}


def as_distillers(distillers: Any) -> tuple[Distiller, ...]:
    """The distillers that names stand for; objects stand for themselves."""
    return read_strategies("distillers", distillers, DISTILLERS, "fit")


@dataclass(frozen=True, eq=False)
class Distillation:
    """One column of the target, fitted by every distiller to every form of the features."""

    problems: tuple[FitProblem, ...]
    distillers: Sequence[Distiller]

    @property
    def target(self) -> TargetColumn:
        """What is fitted."""
        return self.problems[0].target

    @cached_property
    def full_fits(self) -> tuple[Distilled, ...]:
        """The fits that leave out nothing."""
        return tuple(
            distiller.fit(problem, NONE)
            for problem in self.problems
            for distiller in self.distillers
        )

    @cached_property
    def full_fit(self) -> Distilled:
        """The one of least error of those that leave out nothing."""
        return min(self.full_fits, key=lambda fit: fit.error)

    @property
    def used(self) -> Indices:
        """Columns that took part in the fit of least error."""
        return self.full_fit.used

    def without(self, columns: Indices) -> Distilled:
        """The fit of least error of those that never saw some columns.

        A fit that does not depend on them is that of all columns.
        """
        columns = columns[columns < self.problems[0].n_features]
        pairs = [(p, d) for p in self.problems for d in self.distillers]
        return min(
            (
                distiller.fit(problem, columns) if _matter(full, columns) else full
                for (problem, distiller), full in zip(pairs, self.full_fits, strict=True)
            ),
            key=lambda fit: fit.error,
        )


def _matter(fit: Distilled, columns: Indices) -> bool:
    """Whether a fit may be another one without some columns."""
    if fit.depends_on is None:
        return len(columns) > 0
    return not set(columns.tolist()).isdisjoint(fit.depends_on.tolist())
