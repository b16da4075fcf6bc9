"""Minimises a non-negative quadratic by coordinate descent with exact steps on its support."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from ...runs.compiled import compiled
from ...types import Indices, Matrix, Vector

Array = NDArray[Any]

SWEEPS = 5  # of coordinate descent before each exact step
AT_ONCE = 16  # rows of a matrix that are added together
LEAST_PIVOT = 1e-11  # of a Cholesky factor, squared: below it a system is near singular


def minimise(
    gram: Matrix, gain: Vector, theta: Vector, gradient: Vector, tol: float, max_rounds: int
) -> tuple[float, int]:
    r"""Minimise :math:`\tfrac12 \theta' G \theta - g'\theta` over :math:`\theta \ge 0`, in place.

    Each round picks a working set (the support and the coordinates that most want to enter), sweeps
    it a few times by coordinate descent, then solves exactly for the coordinates that are positive
    and goes there, or as far as the first of them that would turn negative. Both steps only ever
    decrease the objective, and the exact one ends the search as soon as the support is right.

    Fills `gradient`; returns the KKT residual and the number of rounds.
    """
    with np.errstate(all="ignore"):  # what is not finite is left to the caller
        _fill_gradient(gram, gain, theta, gradient)
        residual = violation(theta, gradient)
        rounds = 0
        while residual > tol and rounds < max_rounds:
            rounds += 1
            chosen = _working_set(theta, gradient)
            small, x, slope = gram[np.ix_(chosen, chosen)], theta[chosen], gradient[chosen]
            for _ in range(SWEEPS):
                _sweep(small, x, slope)
            _exact_step(small, x, slope)
            change = x - theta[chosen]
            _add_rows(gradient, gram, chosen[change != 0], change[change != 0])
            theta[chosen] = x
            before = residual
            residual = violation(theta, gradient)
            if residual <= tol or (rounds % 8 == 0 and residual > 0.5 * before):
                # rounding gathers in a gradient that is only ever updated
                _fill_gradient(gram, gain, theta, gradient)
                residual = violation(theta, gradient)
    return residual, rounds


def violation(theta: Vector, gradient: Vector) -> float:
    """Return the KKT residual: gradient on the support, its negative part elsewhere."""
    return float(np.max(np.where(theta > 0, np.abs(gradient), -gradient), initial=0.0))


def _fill_gradient(gram: Matrix, gain: Vector, theta: Vector, gradient: Vector) -> None:
    support = np.flatnonzero(theta > 0)
    gradient[:] = -gain
    _add_rows(gradient, gram, support, theta[support])


def _add_rows(target: Vector, gram: Matrix, rows: Indices, factors: Vector) -> None:
    """Add some rows, times their factors, a few at a time that stay near the processor."""
    for start in range(0, len(rows), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        target += factors[some] @ gram.take(rows[some], axis=0)


def _working_set(theta: Vector, gradient: Vector) -> Indices:
    """The support, and as many others again (20 at least) of the most negative gradient."""
    support = np.flatnonzero(theta > 0)
    entering = np.flatnonzero((theta == 0) & (gradient < 0))
    most = max(20, len(support))
    if len(entering) > most:
        entering = entering[np.argsort(gradient[entering], kind="stable")[:most]]
    return np.concatenate([support, entering])


@compiled
def _sweep(gram: Array, x: Array, slope: Array) -> None:
    """One round of coordinate descent; `slope` is the gradient and is kept up to date."""
    for k in range(len(x)):
        if gram[k, k] > 0.0:  # a constant column has no direction
            new = x[k] - slope[k] / gram[k, k]
            new = new if new > 0.0 else 0.0
            change = new - x[k]
            if change != 0.0:
                x[k] = new
                for j in range(len(x)):
                    slope[j] += change * gram[k, j]


def _exact_step(gram: Matrix, x: Vector, slope: Vector) -> None:
    """Go to the minimum over the positive coordinates, or to the first that reaches 0."""
    support = np.flatnonzero(x > 0)
    if not len(support):
        return
    among = gram[np.ix_(support, support)]
    factor, failed = dpotrf(among.T, clean=0, overwrite_a=1)  # .T, for LAPACK reads columns
    if failed or np.diag(factor).min() ** 2 <= LEAST_PIVOT:
        return
    step = -dpotrs(factor, slope[support])[0]
    before = x[support]
    until = np.divide(-before, step, out=np.ones_like(step), where=before + step < 0)
    share = min(1.0, float(until.min()))
    # the coordinate that stops the step is zero, not what rounding leaves of it
    stops = (step < 0) & (before <= -share * step * (1.0 + 1e-12))
    x[support] = np.where(stops, 0.0, before + share * step)
