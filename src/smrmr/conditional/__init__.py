"""Conditional tests: what a feature tells of the target beyond all others."""

from .controller import ConditionalTests
from .evidence import ConditionalEvidence, Fit

__all__ = ["ConditionalEvidence", "ConditionalTests", "Fit"]
