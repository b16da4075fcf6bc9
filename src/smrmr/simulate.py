"""Draws the ten designs 1.a-3.c of the paper with their true support."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.random import Generator

from .types import Indices, Matrix, Vector

TENS = tuple(range(0, 100, 10))


@dataclass(frozen=True)
class Simulation:
    """A draw from a design: features, target, indices of the true features, type of the target."""

    X: Matrix
    y: Vector
    support: Indices
    target: str


@dataclass(frozen=True)
class Design:
    """How y comes from the true features; neighbouring features correlate by `correlation`."""

    support: tuple[int, ...]
    correlation: float
    respond: Callable[[Matrix, Generator], Vector]
    target: str = "continuous"


def _linear(*slopes: float) -> Callable[[Matrix, Generator], Vector]:
    return lambda x, rng: x @ np.array(slopes) + rng.standard_normal(len(x))


def _smooth_and_steep(x: Matrix, rng: Generator) -> Vector:
    signal = 5 * x[:, 0] + 2 * np.sin(np.pi * x[:, 1] / 2) + 2 * np.maximum(x[:, 2], 0)
    return np.asarray(signal + 2 * np.exp(5 * x[:, 3]) + rng.standard_normal(len(x)))


def _poles_and_steps(x: Matrix, rng: Generator) -> Vector:
    signal = 3 * x[:, 0] + 3 * x[:, 1] ** 3 + 3 / x[:, 2] + 5 * (x[:, 3] > 0)
    return np.asarray(signal + rng.standard_normal(len(x)))


def _poisson(x: Matrix, rng: Generator) -> Vector:
    return np.asarray(rng.poisson(np.exp(x.sum(axis=1))), dtype=np.float64)


def _exceeds_one(x: Matrix, rng: Generator) -> Vector:
    return np.asarray(np.exp(x.sum(axis=1)) > 1, dtype=np.float64)


DESIGNS: dict[str, Design] = {
    "1.a": Design((0, 5), 0.0, _linear(4, 8)),
    "1.b": Design((0, 10, 20, 30), 0.0, _linear(1, 2, 4, 8)),
    "1.c": Design((0, 10, 20, 30), 0.5, _linear(1, 2, 4, 8)),
    "1.d": Design(TENS, 0.5, _linear(*[1] * 10)),
    "2.a": Design((0, 10, 20, 30), 0.5, _smooth_and_steep),
    "2.b": Design((0, 10, 20, 30), 0.5, _poles_and_steps),
    "2.c": Design(TENS, 0.5, _poisson),
    "3.a": Design((0, 5), 0.0, _exceeds_one, "classes"),
    "3.b": Design(TENS, 0.0, _exceeds_one, "classes"),
    "3.c": Design(TENS, 0.5, _exceeds_one, "classes"),
}


def simulate(
    design: str, n: int, p: int, *, random_state: int | Generator | None = None
) -> Simulation:
    r"""Draw `n` samples of `p` features and a target from a design of the paper.

    Features are :math:`N(0, \Sigma)` with :math:`\sigma_{kl} = c^{|k-l|}`; noise is
    :math:`N(0, 1)`, none in 3.a to 3.c. Paper: section 5.2, with a Poisson rate of exp(sum) in 2.c,
    where the printed rate could be negative.

    Parameters
    ----------
    design
        ``"1.a"`` to ``"1.d"`` are linear, ``"2.a"`` to ``"2.c"`` non-linear, ``"3.a"`` to ``"3.c"``
        have classes.
    n, p
        Numbers of samples and features; `p` must reach the last true feature (index 5, 30 or 90).
    random_state
        Seed or generator. The same seed gives the same draw.

    Examples
    --------
    >>> data = simulate("3.a", n=8, p=6, random_state=1)
    >>> data.X.shape, data.support.tolist(), data.target
    ((8, 6), [0, 5], 'classes')
    """
    if design not in DESIGNS:
        raise ValueError(f"design={design!r} is not known. Use one of {', '.join(DESIGNS)}.")
    chosen = DESIGNS[design]
    if not (isinstance(n, Integral) and isinstance(p, Integral)):
        raise ValueError(f"n={n!r} and p={p!r} must be whole numbers.")
    if n < 1 or p <= chosen.support[-1]:
        raise ValueError(
            f"{n} samples of {p} features were asked for. Design {design} needs at least 1 sample "
            f"and {chosen.support[-1] + 1} features: its last true one is {chosen.support[-1]}."
        )
    rng = np.random.default_rng(random_state)
    X = _autoregressive(n, p, chosen.correlation, rng)
    support = np.array(chosen.support, dtype=np.intp)
    return Simulation(X, chosen.respond(X[:, support], rng), support, chosen.target)


def _autoregressive(n: int, p: int, correlation: float, rng: Generator) -> Matrix:
    """Gaussian columns with correlation ``correlation ** |k - l|``, one from the last."""
    X = rng.standard_normal((n, p))
    if correlation:
        fresh = np.sqrt(1 - correlation**2)
        for k in range(1, p):
            X[:, k] = correlation * X[:, k - 1] + fresh * X[:, k]
    return X
