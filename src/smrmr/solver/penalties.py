r"""Defines the penalties: none, LASSO, SCAD, MCP, as functions of lambda and theta >= 0."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from ..settings import check_count, check_number, one_of, read_strategy
from ..types import Vector


class Penalty(Protocol):
    r"""A separable penalty :math:`\sum_k p(\lambda, \theta_k)` on :math:`\theta \ge 0`.

    `lla_steps` is the number of convex problems that are solved for it: one for a convex penalty.
    """

    @property
    def lla_steps(self) -> int:
        """Convex problems solved, at most."""

    def value(self, lam: float, theta: Vector) -> Vector:
        """Penalty of every coefficient."""

    def slope(self, lam: float, theta: Vector) -> Vector:
        """Derivative in theta, from the right at 0: the weights of the next LLA step."""


@dataclass(frozen=True)
class NoPenalty:
    """No penalty, ``"none"`` for short: non-negative least squares."""

    alias: ClassVar[str] = "none"
    lla_steps: ClassVar[int] = 1

    def value(self, lam: float, theta: Vector) -> Vector:
        """Zero."""
        return np.zeros_like(theta)

    def slope(self, lam: float, theta: Vector) -> Vector:
        """Zero."""
        return np.zeros_like(theta)


@dataclass(frozen=True)
class L1:
    r"""LASSO, :math:`p(\lambda, x) = \lambda x`, ``"l1"`` for short (paper, section 2.3)."""

    alias: ClassVar[str] = "l1"
    lla_steps: ClassVar[int] = 1

    def value(self, lam: float, theta: Vector) -> Vector:
        """Return lambda times theta."""
        return lam * theta

    def slope(self, lam: float, theta: Vector) -> Vector:
        """Return lambda everywhere."""
        return np.full_like(theta, lam)


@dataclass(frozen=True)
class SCAD:
    r"""Smoothly clipped absolute deviation (Fan and Li 2001), ``"scad"`` for short.

    The slope is :math:`\lambda` up to :math:`x = \lambda`, then
    :math:`(a\lambda - x)^+ / (a - 1)`: large coefficients are not shrunk. Paper: section 2.3, where
    the second piece of the derivative is printed without its indicator.
    """

    a: float = 3.7
    lla_steps: int = 2
    alias: ClassVar[str] = "scad"

    def __post_init__(self) -> None:
        check_number("a", self.a, above=2)
        check_count("lla_steps", self.lla_steps)

    def value(self, lam: float, theta: Vector) -> Vector:
        """Return the integral of the slope."""
        clipped = np.clip(theta, lam, self.a * lam)
        curve = (2 * self.a * lam * clipped - clipped**2 - lam**2) / (2 * (self.a - 1))
        return np.where(theta <= lam, lam * theta, curve)

    def slope(self, lam: float, theta: Vector) -> Vector:
        """Return lambda, then a straight line down to 0 at a lambda."""
        return np.minimum(lam, np.maximum(self.a * lam - theta, 0.0) / (self.a - 1))


@dataclass(frozen=True)
class MCP:
    r"""Minimax concave penalty (Zhang 2010), ``"mcp"`` for short.

    The slope is :math:`(\lambda - x/b)^+`: large coefficients are not shrunk. Paper: section 2.3.
    """

    b: float = 3.5
    lla_steps: int = 2
    alias: ClassVar[str] = "mcp"

    def __post_init__(self) -> None:
        check_number("b", self.b, above=0)
        check_count("lla_steps", self.lla_steps)

    def value(self, lam: float, theta: Vector) -> Vector:
        """Return the integral of the slope."""
        clipped = np.minimum(theta, self.b * lam)
        return lam * clipped - clipped**2 / (2 * self.b)

    def slope(self, lam: float, theta: Vector) -> Vector:
        """Return lambda minus theta / b, not below 0."""
        return np.maximum(lam - theta / self.b, 0.0)


PENALTIES: dict[str, type[Any]] = {one.alias: one for one in (NoPenalty, L1, SCAD, MCP)}


def as_penalty(penalty: Any) -> Penalty:
    """The penalty that a name stands for; a penalty stands for itself, None for none."""
    found: Penalty = read_strategy("penalty", penalty, PENALTIES)
    if hasattr(found, "slope") and hasattr(found, "lla_steps") and not isinstance(found, type):
        return found
    raise ValueError(
        f"penalty={penalty!r} is not known. Use {one_of(PENALTIES)}, or an instance such as "
        "MCP(b=3.0)."
    )
