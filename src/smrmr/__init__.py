"""Measures how features relate to a target and to each other, and picks those that matter."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .association.associations import Associations, associate, redundancy, relevance
from .association.dependence import (
    distance_correlation_squared,
    distance_covariance_squared,
    hsic_u,
    hsic_v,
    projection_correlation_squared,
    projection_covariance_squared,
)
from .control.decision import (
    Decision,
    Derandomised,
    decide,
    derandomise,
    false_discovery_bounds,
    knockoff_threshold,
    q_values,
)
from .data import ColumnSource, Dataset, open_columns, read_data
from .measures import HSIC, DistanceCorrelation, Pearson, ProjectionCorrelation
from .simulate import Simulation, simulate
from .solver.lla import Solution, SolutionPath, solution_path, solve
from .solver.penalties import MCP, SCAD, Lasso, NoPenalty

if TYPE_CHECKING:
    from .control.knockoffs import (
        Diagnosis,
        Knockoffs,
        diagnose_knockoffs,
        gaussian_knockoffs,
        given_knockoffs,
    )
    from .estimators.hsic_lasso import HSICLasso
    from .estimators.rankings import MRMR, SIS
    from .estimators.smrmr import SmRMR
    from .pipeline import select
    from .recipe import Recipe
    from .selection import Selection

__version__ = "0.1.0"

__all__ = [
    "HSIC",
    "MCP",
    "MRMR",
    "SCAD",
    "SIS",
    "Associations",
    "ColumnSource",
    "Dataset",
    "Decision",
    "Derandomised",
    "Diagnosis",
    "DistanceCorrelation",
    "HSICLasso",
    "Knockoffs",
    "Lasso",
    "NoPenalty",
    "Pearson",
    "ProjectionCorrelation",
    "Recipe",
    "Selection",
    "Simulation",
    "SmRMR",
    "Solution",
    "SolutionPath",
    "associate",
    "decide",
    "derandomise",
    "diagnose_knockoffs",
    "distance_correlation_squared",
    "distance_covariance_squared",
    "false_discovery_bounds",
    "gaussian_knockoffs",
    "given_knockoffs",
    "hsic_u",
    "hsic_v",
    "knockoff_threshold",
    "open_columns",
    "projection_correlation_squared",
    "projection_covariance_squared",
    "q_values",
    "read_data",
    "redundancy",
    "relevance",
    "select",
    "simulate",
    "solution_path",
    "solve",
]

_LATER = {  # modules that load scikit-learn or much of scipy: imported when first asked for
    "estimators.rankings": ("MRMR", "SIS"),
    "estimators.hsic_lasso": ("HSICLasso",),
    "estimators.smrmr": ("SmRMR",),
    "pipeline": ("select",),
    "recipe": ("Recipe",),
    "selection": ("Selection",),
    "control.knockoffs": (
        "Diagnosis",
        "Knockoffs",
        "diagnose_knockoffs",
        "gaussian_knockoffs",
        "given_knockoffs",
    ),
}


def __getattr__(name: str) -> Any:
    """Import what takes long to load when it is first asked for."""
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(f".{module}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
