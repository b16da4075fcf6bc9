"""Measures how features relate to a target and to each other, and picks those that matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .association import Associations, associate, redundancy, relevance
from .dependence import (
    distance_correlation_squared,
    distance_covariance_squared,
    hsic_u,
    hsic_v,
    projection_correlation_squared,
    projection_covariance_squared,
)
from .measures import HSIC, DistanceCorrelation, Pearson, ProjectionCorrelation
from .penalties import MCP, SCAD, Lasso, NoPenalty
from .simulate import Simulation, simulate
from .solvers import Solution, SolutionPath, solution_path, solve

if TYPE_CHECKING:
    from .comparators import MRMR, SIS, HSICLasso

__version__ = "0.1.0"

__all__ = [
    "HSIC",
    "MCP",
    "MRMR",
    "SCAD",
    "SIS",
    "Associations",
    "DistanceCorrelation",
    "HSICLasso",
    "Lasso",
    "NoPenalty",
    "Pearson",
    "ProjectionCorrelation",
    "Simulation",
    "Solution",
    "SolutionPath",
    "associate",
    "distance_correlation_squared",
    "distance_covariance_squared",
    "hsic_u",
    "hsic_v",
    "projection_correlation_squared",
    "projection_covariance_squared",
    "redundancy",
    "relevance",
    "simulate",
    "solution_path",
    "solve",
]


def __getattr__(name: str) -> Any:
    """Import the selectors when they are first asked for: scikit-learn takes long to load."""
    if name in ("MRMR", "SIS", "HSICLasso"):
        from . import comparators

        return getattr(comparators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
