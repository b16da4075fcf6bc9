"""Follows the non-negative LASSO path exactly, reading only the columns it needs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..types import Vector


@dataclass(frozen=True, eq=False)
class Entries:
    """The features of the path in their order of entry, with their coefficients at its end."""

    order: list[int]
    theta: Vector
    lams: Vector


def first_to_enter(
    relevance: Vector, redundancy_with: Callable[[int], Vector], n_features: int
) -> Entries:
    r"""Follow the path until `n_features` are active and the next one is about to enter.

    The minimiser over :math:`\theta \ge 0` of
    :math:`\tfrac12 \theta' D \theta - d'\theta + \lambda 1'\theta` is piecewise linear in
    :math:`\lambda`: on the active set it moves along :math:`D_{AA}^{-1} 1` until a feature reaches
    the largest correlation (it enters) or a coefficient reaches 0 (it leaves). This is least angle
    regression with the LASSO and sign constraints of Efron et al. (2004). `redundancy_with(k)` is
    asked for entering features only.
    """
    p = len(relevance)
    correlation = relevance.astype(np.float64).copy()
    theta = np.zeros(p)
    lam = float(correlation.max(initial=0.0))
    active = [int(correlation.argmax())] if lam > 0 else []
    columns: dict[int, Vector] = {k: redundancy_with(k) for k in active}
    lams = [lam]
    for _ in range(8 * n_features):
        if not active:
            break
        gram = np.array([[columns[k][m] for m in active] for k in active])
        direction = np.linalg.lstsq(gram, np.ones(len(active)), rcond=None)[0]
        fall = sum((w * columns[k] for k, w in zip(active, direction, strict=True)), np.zeros(p))
        step, entering = _next_entry(lam, correlation, fall, active)
        leaving = _next_exit(theta[active], direction, step)
        if leaving is not None:
            step = float(-theta[active[leaving]] / direction[leaving])
        theta[active] += step * direction
        correlation -= step * fall
        lam -= step
        lams.append(lam)
        if leaving is not None:
            theta[active[leaving]] = 0.0
            del active[leaving]
        elif entering is None or len(active) == n_features:
            break
        else:
            active.append(entering)
            if entering not in columns:
                columns[entering] = redundancy_with(entering)
    return Entries(active, np.maximum(theta, 0.0), np.array(lams))


def _next_entry(
    lam: float, correlation: Vector, fall: Vector, active: list[int]
) -> tuple[float, int | None]:
    """How far lambda can fall before another feature catches up with it, and which one."""
    gap = 1.0 - fall
    steps = np.full(len(fall), np.inf)
    np.divide(lam - correlation, gap, out=steps, where=gap > 1e-10)
    steps[active] = np.inf
    steps[steps < -1e-12] = np.inf
    best = int(steps.argmin())
    return (max(float(steps[best]), 0.0), best) if steps[best] < lam else (lam, None)


def _next_exit(theta: Vector, direction: Vector, step: float) -> int | None:
    """Position of the active feature whose coefficient reaches 0 within the step, if any."""
    falling = (direction < 0) & (theta > 0)
    steps = np.full(len(theta), np.inf)
    np.divide(-theta, direction, out=steps, where=falling)
    first = int(steps.argmin())
    return first if steps[first] < step else None
