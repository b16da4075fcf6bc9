"""Conditional tests: what a feature tells of the target beyond all others."""

from .controller import ConditionalTests
from .evidence import Fit, TestEvidence

__all__ = ["ConditionalTests", "Fit", "TestEvidence"]
