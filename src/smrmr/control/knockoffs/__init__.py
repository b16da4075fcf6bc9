"""Draws knockoffs of features and says whether they can be trusted."""

from __future__ import annotations

from .diagnose import Diagnosis, diagnose_knockoffs
from .gaussian import Knockoffs, gaussian_knockoffs
from .given import given_knockoffs

__all__ = [
    "Diagnosis",
    "Knockoffs",
    "diagnose_knockoffs",
    "gaussian_knockoffs",
    "given_knockoffs",
]
