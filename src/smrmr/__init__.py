"""Measures how features relate to a target and to each other, and picks those that matter."""

from __future__ import annotations

from importlib import import_module
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
from .sources import ColumnSource, open_columns
from .thresholds import (
    Decision,
    Derandomised,
    decide,
    derandomise,
    false_discovery_bounds,
    knockoff_threshold,
    q_values,
)

if TYPE_CHECKING:
    from .comparators import MRMR, SIS
    from .estimator import SmRMR
    from .files import Dataset, read_data, settle_missing
    from .hsic_lasso import HSICLasso
    from .knockoffs import (
        Diagnosis,
        Knockoffs,
        diagnose_knockoffs,
        gaussian_knockoffs,
        given_knockoffs,
    )
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
    "settle_missing",
    "simulate",
    "solution_path",
    "solve",
]

_LATER = {  # modules that load scikit-learn or much of scipy: imported when first asked for
    "comparators": ("MRMR", "SIS"),
    "hsic_lasso": ("HSICLasso",),
    "estimator": ("SmRMR",),
    "files": ("Dataset", "read_data", "settle_missing"),
    "pipeline": ("select",),
    "recipe": ("Recipe",),
    "selection": ("Selection",),
    "knockoffs": (
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
