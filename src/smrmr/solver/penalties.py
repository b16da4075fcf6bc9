r"""Defines the penalties: none, LASSO, SCAD, MCP, as functions of lambda and theta >= 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..types import Vector


class Penalty(Protocol):
    r"""A separable penalty :math:`\sum_k p(\lambda, \theta_k)` on :math:`\theta \ge 0`."""

    def value(self, lam: float, theta: Vector) -> Vector:
        """Penalty of every coefficient."""

    def slope(self, lam: float, theta: Vector) -> Vector:
        """Derivative in theta, from the right at 0: the weights of the next LLA step."""


@dataclass(frozen=True)
class NoPenalty:
    """No penalty, alias ``"none"`` or None: non-negative least squares."""

    def value(self, lam: float, theta: Vector) -> Vector:
        """Zero."""
        return np.zeros_like(theta)

    def slope(self, lam: float, theta: Vector) -> Vector:
        """Zero."""
        return np.zeros_like(theta)


@dataclass(frozen=True)
class Lasso:
    r"""LASSO, :math:`p(\lambda, x) = \lambda x`, alias ``"l1"`` (paper, section 2.3)."""

    def value(self, lam: float, theta: Vector) -> Vector:
        """Return lambda times theta."""
        return lam * theta

    def slope(self, lam: float, theta: Vector) -> Vector:
        """Return lambda everywhere."""
        return np.full_like(theta, lam)


@dataclass(frozen=True)
class SCAD:
    r"""Smoothly clipped absolute deviation (Fan and Li 2001), alias ``"scad"``.

    The slope is :math:`\lambda` up to :math:`x = \lambda`, then
    :math:`(a\lambda - x)^+ / (a - 1)`: large coefficients are not shrunk. Paper: section 2.3, where
    the second piece of the derivative is printed without its indicator.
    """

    a: float = 3.7

    def __post_init__(self) -> None:
        if not self.a > 2:
            raise ValueError(f"SCAD(a={self.a!r}) is not a penalty: a must be larger than 2.")

    def value(self, lam: float, theta: Vector) -> Vector:
        """Return the integral of the slope."""
        bent = np.clip(theta, lam, self.a * lam)
        curve = (2 * self.a * lam * bent - bent**2 - lam**2) / (2 * (self.a - 1))
        return np.where(theta <= lam, lam * theta, curve)

    def slope(self, lam: float, theta: Vector) -> Vector:
        """Return lambda, then a straight line down to 0 at a lambda."""
        return np.minimum(lam, np.maximum(self.a * lam - theta, 0.0) / (self.a - 1))


@dataclass(frozen=True)
class MCP:
    r"""Minimax concave penalty (Zhang 2010), alias ``"mcp"``.

    The slope is :math:`(\lambda - x/b)^+`: large coefficients are not shrunk. Paper: section 2.3.
    """

    b: float = 3.5

    def __post_init__(self) -> None:
        if not self.b > 0:
            raise ValueError(f"MCP(b={self.b!r}) is not a penalty: b must be positive.")

    def value(self, lam: float, theta: Vector) -> Vector:
        """Return the integral of the slope."""
        bent = np.minimum(theta, self.b * lam)
        return lam * bent - bent**2 / (2 * self.b)

    def slope(self, lam: float, theta: Vector) -> Vector:
        """Return lambda minus theta / b, not below 0."""
        return np.maximum(lam - theta / self.b, 0.0)


PENALTIES: dict[str, Penalty] = {
    "none": NoPenalty(),
    "l1": Lasso(),
    "scad": SCAD(),
    "mcp": MCP(),
}


def as_penalty(penalty: str | Penalty | None) -> Penalty:
    """Return the penalty an alias stands for; a penalty stands for itself, None for none."""
    if penalty is None:
        return PENALTIES["none"]
    if isinstance(penalty, str):
        if penalty in PENALTIES:
            return PENALTIES[penalty]
    elif hasattr(penalty, "slope") and not isinstance(penalty, type):
        return penalty
    raise ValueError(
        f"penalty={penalty!r} is not known. Use one of {', '.join(map(repr, PENALTIES))}, or an "
        "instance such as MCP(b=3.0)."
    )
