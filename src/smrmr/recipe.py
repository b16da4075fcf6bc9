"""Defines Recipe: every choice of the method, checked when it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from .association.associations import parse_bytes
from .control.decision import check_level
from .control.knockoffs.covariance import ESTIMATES
from .control.knockoffs.models import DECORRELATIONS
from .measures import as_measure
from .measures.protocol import Measure
from .solver.penalties import as_penalty

CHOICES: dict[str, tuple[Any, ...]] = {
    "screening": ("auto", "none", "split"),
    "screen_steps": ("both", "relevance"),
    "s": tuple(DECORRELATIONS),
    "copula": ("auto", True, False),
    "on_empty": ("none", "relax"),
    "recycle": (True, False),
    "cross_terms": (True, False),
}


@dataclass(frozen=True)
class Recipe:
    """What to do, step by step; `smrmr.SmRMR` says what each field means.

    Examples
    --------
    >>> from smrmr import Recipe
    >>> Recipe(fdr=0.2, penalty="scad").lam
    'cv'
    """

    fdr: float = 0.3
    measure: str | Measure = "pc"
    penalty: Any = "mcp"
    lam: str | float = "cv"
    cv: int = 5
    lla_steps: int = 2
    target: str = "auto"
    screening: str = "auto"
    screen_share: float = 0.4
    screen_lam: float = 0.01
    screen_steps: str = "both"
    n_keep: int | None = None
    recycle: bool = True
    cross_terms: bool = True
    knockoffs: Any = "gaussian"
    covariance: Any = "auto"
    s: str = "equi"
    copula: bool | str = "auto"
    n_draws: int = 1
    on_empty: str = "none"
    memory: str | int = "1GB"
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_level(self.fdr)
        as_measure(self.measure)
        parse_bytes(self.memory)
        for name, choices in CHOICES.items():
            _check_choice(name, getattr(self, name), choices)
        if isinstance(self.covariance, str):
            _check_choice("covariance", self.covariance, ("auto", *ESTIMATES))
        if isinstance(self.knockoffs, str):
            _check_choice("knockoffs", self.knockoffs, ("gaussian",))
        self._check_penalty()
        self._check_numbers()

    @property
    def measured_by(self) -> Measure:
        """The measure itself."""
        return as_measure(self.measure)

    @property
    def draws_from_sigma(self) -> bool:
        """Whether knockoffs are drawn here, not given."""
        return isinstance(self.knockoffs, str)

    @property
    def knockoff_function(self) -> Callable[..., Any] | None:
        """The user's function that makes knockoffs, if that is what was given."""
        return self.knockoffs if callable(self.knockoffs) else None

    @property
    def uses_copula(self) -> bool:
        """Whether every column is drawn as normal scores."""
        return isinstance(self.covariance, str) if self.copula == "auto" else bool(self.copula)

    def _check_penalty(self) -> None:
        if isinstance(self.lam, str):
            _check_choice("lam", self.lam, ("cv", "cv-debiased", "bayes"))
        elif not (isinstance(self.lam, Real) and np.isfinite(self.lam) and self.lam >= 0):
            raise ValueError(
                f"lam={self.lam!r} is not a lambda. Use 'cv', 'cv-debiased', 'bayes' or a number "
                "of at least 0."
            )
        if isinstance(self.penalty, list | tuple):
            if self.lam != "bayes" or not self.penalty:
                raise ValueError(
                    f"penalty={self.penalty!r} is a list, from which only lam='bayes' can choose. "
                    "Give one penalty."
                )
            for penalty in self.penalty:
                as_penalty(penalty)
        else:
            as_penalty(self.penalty)

    def _check_numbers(self) -> None:
        for name, least in {"cv": 2, "lla_steps": 1, "n_draws": 1}.items():
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < least:
                raise ValueError(f"{name}={value!r} must be a whole number of {least} or more.")
        if self.n_keep is not None and (not isinstance(self.n_keep, Integral) or self.n_keep < 1):
            raise ValueError(f"n_keep={self.n_keep!r} must be a positive whole number, or None.")
        check_level(self.screen_share, "screen_share")
        if not (isinstance(self.screen_lam, Real) and 0 <= self.screen_lam < np.inf):
            raise ValueError(f"screen_lam={self.screen_lam!r} must be a number of at least 0.")
        if self.n_draws > 1 and self.on_empty == "relax":
            raise ValueError(
                "on_empty='relax' chooses its level after looking, which e-values over several "
                "draws do not allow. Use on_empty='none', or n_draws=1."
            )


def _check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    plain = bool(value) if isinstance(value, np.bool_) else value
    if not any(
        plain is choice or (isinstance(choice, str) and plain == choice) for choice in choices
    ):
        raise ValueError(f"{name}={value!r} is not known. Use {', '.join(map(repr, choices))}.")
