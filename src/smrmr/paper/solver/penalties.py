r"""Defines the penalties: none, LASSO, SCAD, MCP, as functions of lambda and theta >= 0."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from ...settings import check_count, check_number, read_strategy
from ...types import Vector


class Penalty(Protocol):
    r"""A separable penalty :math:`\sum_k p(\lambda, \theta_k)` on :math:`\theta \ge 0`.

    `lla_steps` is the number of convex problems that are solved for it: one for a convex penalty.
    """

    @property
    def lla_steps(self) -> int:
        """Convex problems solved, at most."""

    def value(self, lam: float, theta: Vector) -> Vector:
        """Penalty of every coefficient.

        Parameters
        ----------
        lam
            Its weight, lambda, at least 0.
        theta
            Coefficients, at least 0.

        Returns
        -------
        ndarray
            One number for each coefficient.
        """

    def slope(self, lam: float, theta: Vector) -> Vector:
        """Derivative in theta, from the right at 0: the weights of the next LLA step.

        Parameters
        ----------
        lam
            Its weight, lambda, at least 0.
        theta
            Coefficients, at least 0.

        Returns
        -------
        ndarray
            One number for each coefficient.
        """


@dataclass(frozen=True)
class NoPenalty(Penalty):
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
class L1(Penalty):
    r"""LASSO, :math:`p(\lambda, x) = \lambda x`, ``"l1"`` for short (Tibshirani 1996).

    All coefficients are shrunk alike, large ones too. Paper: section 2.3.

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr.paper import L1
    >>> L1().slope(0.1, np.array([0.0, 0.2, 1.0])).tolist()
    [0.1, 0.1, 0.1]
    """

    alias: ClassVar[str] = "l1"
    lla_steps: ClassVar[int] = 1

    def value(self, lam: float, theta: Vector) -> Vector:
        """Return lambda times theta."""
        return lam * theta

    def slope(self, lam: float, theta: Vector) -> Vector:
        """Return lambda everywhere."""
        return np.full_like(theta, lam)


@dataclass(frozen=True)
class SCAD(Penalty):
    r"""Smoothly clipped absolute deviation (Fan and Li 2001), ``"scad"`` for short.

    .. math:: \partial_x p(\lambda, x) = \lambda \; (x \le \lambda), \quad
              \frac{(a\lambda - x)^+}{a - 1} \; (x > \lambda)

    Large coefficients are not shrunk. Paper: section 2.3, where the second piece of the derivative
    is printed without its indicator.

    Parameters
    ----------
    a
        The slope is 0 from ``a * lam`` on; above 2. As `a` grows this becomes `L1`.
    lla_steps
        Most convex problems solved by local linear approximation (m of the paper's Algorithm 1).

    Raises
    ------
    ValueError
        If `a` is not a number above 2, or `lla_steps` not a whole number of 1 or more.

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr.paper import SCAD
    >>> SCAD(a=3.0).slope(0.1, np.array([0.0, 0.1, 0.2, 0.3, 1.0])).round(12).tolist()
    [0.1, 0.1, 0.05, 0.0, 0.0]
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
class MCP(Penalty):
    r"""Minimax concave penalty (Zhang 2010), ``"mcp"`` for short.

    .. math:: \partial_x p(\lambda, x) = (\lambda - x/b)^+

    Large coefficients are not shrunk. Paper: section 2.3.

    Parameters
    ----------
    b
        The slope is 0 from ``b * lam`` on; above 0. As `b` grows this becomes `L1`.
    lla_steps
        Most convex problems solved by local linear approximation (m of the paper's Algorithm 1).

    Raises
    ------
    ValueError
        If `b` is not a number above 0, or `lla_steps` not a whole number of 1 or more.

    Examples
    --------
    Of two coefficients the small one is shrunk, the large one is not:

    >>> import numpy as np
    >>> from smrmr.association import Associations
    >>> from smrmr.paper import MCP, solve
    >>> apart = Associations(np.array([0.9, 0.2]), np.eye(2), "continuous")
    >>> solve(apart, penalty=MCP(b=3.0), lam=0.1).theta.round(12).tolist()
    [0.9, 0.133333333333]
    >>> solve(apart, penalty="l1", lam=0.1).theta.round(12).tolist()
    [0.8, 0.1]
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


PENALTIES: dict[str, type[Penalty]] = {"none": NoPenalty, "l1": L1, "scad": SCAD, "mcp": MCP}


def as_penalty(penalty: str | Penalty | None) -> Penalty:
    """The penalty that a name stands for; a penalty stands for itself, None for none."""
    found: Penalty = read_strategy("penalty", penalty, PENALTIES, "lla_steps")
    return found
