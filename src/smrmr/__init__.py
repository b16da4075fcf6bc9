"""Finds the features that matter and says how many of those may be false."""

from .association import Associations, associate, redundancy, relevance
from .comparators import MRMR, SIS, HSICLasso
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
