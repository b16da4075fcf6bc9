r"""Statistics: ways in which residuals of a feature and of the target can depend on each other.

A statistic is a frozen dataclass with a short name, weights and one method, `p_values`. Those of
several are combined by Cauchy's rule, which needs no independence; weights keep the rarer kinds of
effect from costing the usual ones power.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from ...settings import read_strategies
from ...types import Vector
from .correlation import Absolute, Linear, Spread, gcm_p_values
from .dependence import DistanceCorrelation, KernelIndependence, ProjectionCorrelation
from .interaction import Interaction, PartnerProducts, partner_scores
from .joint import Joint, JointAbsolute, joint_gcm_p_values
from .pairs import Interactions, ResidualPairs
from .permutation import Permutation

__all__ = [
    "DEFAULT_STATISTICS",
    "STATISTICS",
    "Absolute",
    "DistanceCorrelation",
    "Interaction",
    "Interactions",
    "Joint",
    "JointAbsolute",
    "KernelIndependence",
    "Linear",
    "PartnerProducts",
    "Permutation",
    "ProjectionCorrelation",
    "ResidualPairs",
    "Spread",
    "Statistic",
    "as_statistics",
    "gcm_p_values",
    "joint_gcm_p_values",
    "needs_partners",
    "partner_scores",
]


DEFAULT_STATISTICS = "pc+linear+spread+absolute+joint+joint_absolute+interaction"


class Statistic(Protocol):
    """One way in which residuals can depend on each other, with its null law.

    Law: p-values of permuted rows are uniform.
    """

    alias: ClassVar[str]
    only_mean: ClassVar[bool]
    """Whether it needs no more than the mean of r given the others to be right.

    Only such statistics keep their null for columns of few values, whose variance depends on their
    mean, and for rows compared within groups, whose residuals add up to 0.
    """

    all_columns: ClassVar[bool]
    """Whether it looks at all columns of the target together.

    Such statistics are left out where there is a single column.
    """

    @property
    def weight(self) -> float:
        """Weight in the combination of p-values."""

    @property
    def weight_with_abs(self) -> float:
        """The same where absolute values of features helped the fit of the target."""

    def p_values(self, pairs: ResidualPairs) -> Vector:
        """One p-value for each pair of residuals."""


STATISTICS: dict[str, Callable[..., Statistic]] = {
    one.alias: one
    for one in (
        ProjectionCorrelation,
        KernelIndependence,
        DistanceCorrelation,
        Linear,
        Spread,
        Absolute,
        Joint,
        JointAbsolute,
        Interaction,
        Permutation,
    )
}


def needs_partners(statistic: Statistic) -> bool:
    """Whether a statistic asks how features act together with others."""
    return bool(getattr(statistic, "needs_partners", False))


def as_statistics(statistics: Any) -> tuple[Statistic, ...]:
    """The statistics that names stand for; objects stand for themselves."""
    return read_strategies("statistics", statistics, STATISTICS, "p_values")
