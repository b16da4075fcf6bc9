"""Associations of features with the target and with each other, and of two variables."""

from .associations import Associations, associate, redundancy, relevance
from .dependence import (
    distance_correlation_squared,
    distance_covariance_squared,
    hsic_u,
    hsic_v,
    projection_correlation_squared,
    projection_covariance_squared,
)

__all__ = [
    "Associations",
    "associate",
    "distance_correlation_squared",
    "distance_covariance_squared",
    "hsic_u",
    "hsic_v",
    "projection_correlation_squared",
    "projection_covariance_squared",
    "redundancy",
    "relevance",
]
