"""Finds the features that matter and says how many of those may be false."""

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
from .simulate import Simulation, simulate

__version__ = "0.1.0"

__all__ = [
    "HSIC",
    "Associations",
    "DistanceCorrelation",
    "Pearson",
    "ProjectionCorrelation",
    "Simulation",
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
]
