"""Minimises a non-negative quadratic by coordinate descent with exact steps on its support."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runs.compiled import compiled, compiled_inside, compiled_reordering

Array = NDArray[Any]

SWEEPS = 5  # of coordinate descent before each exact step


@compiled
def violation(theta: Array, gradient: Array) -> Any:
    """Return the KKT residual: gradient on the support, its negative part elsewhere."""
    worst = 0.0
    for k in range(len(theta)):
        size = abs(gradient[k]) if theta[k] > 0.0 else -gradient[k]
        if size > worst:
            worst = size
    return worst


@compiled
def minimise(
    gram: Array, gain: Array, theta: Array, gradient: Array, tol: float, max_rounds: int
) -> Any:
    r"""Minimise :math:`\tfrac12 \theta' G \theta - g'\theta` over :math:`\theta \ge 0`, in place.

    Each round picks a working set (the support and the coordinates that most want to enter), sweeps
    it a few times by coordinate descent, then solves exactly for the coordinates that are positive
    and goes there, or as far as the first of them that would turn negative. Both steps only ever
    decrease the objective, and the exact one ends the search as soon as the support is right.

    Fills `gradient`; returns the KKT residual and the number of rounds.
    """
    _fill_gradient(gram, gain, theta, gradient)
    residual = violation(theta, gradient)
    rounds = 0
    while residual > tol and rounds < max_rounds:
        rounds += 1
        chosen = _working_set(theta, gradient)
        size = len(chosen)
        small = np.empty((size, size))
        x, slope = np.empty(size), np.empty(size)
        for a in range(size):
            x[a], slope[a] = theta[chosen[a]], gradient[chosen[a]]
            row = gram[chosen[a]]
            for b in range(size):
                small[a, b] = row[chosen[b]]
        for _ in range(SWEEPS):
            _sweep(small, x, slope)
        _exact_step(small, x, slope)
        for a in range(size):
            change = x[a] - theta[chosen[a]]
            if change != 0.0:
                _add(gradient, gram[chosen[a]], change)
                theta[chosen[a]] = x[a]
        before = residual
        residual = violation(theta, gradient)
        if residual <= tol or (rounds % 8 == 0 and residual > 0.5 * before):
            # rounding gathers in a gradient that is only ever updated
            _fill_gradient(gram, gain, theta, gradient)
            residual = violation(theta, gradient)
    return residual, rounds


@compiled_inside
def _fill_gradient(gram: Array, gain: Array, theta: Array, gradient: Array) -> None:
    for k in range(len(gain)):
        gradient[k] = -gain[k]
    for k in range(len(gain)):
        if theta[k] > 0.0:
            _add(gradient, gram[k], theta[k])


@compiled_inside
def _add(target: Array, row: Array, factor: float) -> None:
    for j in range(len(target)):
        target[j] += factor * row[j]


@compiled
def _working_set(theta: Array, gradient: Array) -> Array:
    """The support, and as many others again (20 at least) of the most negative gradient."""
    chosen = np.empty(len(theta), np.int64)
    n_support = 0
    for k in range(len(theta)):
        if theta[k] > 0.0:
            chosen[n_support] = k
            n_support += 1
    size, most = n_support, n_support if n_support > 20 else 20
    for k in range(len(theta)):
        if theta[k] == 0.0 and gradient[k] < 0.0:
            chosen[size] = k
            size += 1
    if size - n_support > most:
        _bring_forward(chosen[n_support:size], gradient, most)
        size = n_support + most
    return chosen[:size]


@compiled_inside
def _bring_forward(entering: Array, gradient: Array, most: int) -> None:
    """Put so many coordinates of the most negative gradient first, in the order of theirs."""
    for place in range(most):
        best = place
        for i in range(place + 1, len(entering)):
            if gradient[entering[i]] < gradient[entering[best]]:
                best = i
        entering[place], entering[best] = entering[best], entering[place]


@compiled_inside
def _sweep(gram: Array, x: Array, slope: Array) -> None:
    """One round of coordinate descent; `slope` is the gradient and is kept up to date."""
    for k in range(len(x)):
        if gram[k, k] <= 0.0:  # a constant column has no direction
            continue
        new = x[k] - slope[k] / gram[k, k]
        new = new if new > 0.0 else 0.0
        if new != x[k]:
            _add(slope, gram[k], new - x[k])
            x[k] = new


@compiled
def _exact_step(gram: Array, x: Array, slope: Array) -> None:
    """Go to the minimum over the positive coordinates, or to the first that reaches 0."""
    support = np.empty(len(x), np.int64)
    size = 0
    for k in range(len(x)):
        if x[k] > 0.0:
            support[size] = k
            size += 1
    factor = np.empty((size, size))
    step = np.empty(size)
    for a in range(size):
        step[a] = -slope[support[a]]
        for b in range(a + 1):
            factor[a, b] = gram[support[a], support[b]]
    if size == 0 or not _solve(factor, step):
        return
    share = 1.0
    for a in range(size):
        if x[support[a]] + step[a] < 0.0:
            until = -x[support[a]] / step[a]
            share = until if until < share else share
    for a in range(size):
        k = support[a]
        left = x[k] + share * step[a]
        # the coordinate that stops the step is zero, not what rounding leaves of it
        stops = step[a] < 0.0 and x[k] <= -share * step[a] * (1.0 + 1e-12)
        x[k] = 0.0 if stops else left


@compiled_reordering
def _solve(lower: Array, right: Array) -> bool:
    """Solve ``A z = right`` in place from the lower triangle of A; False if it is near singular."""
    n = len(right)
    for i in range(n):  # Cholesky, A = L L', in place and row by row
        for j in range(i + 1):
            entry = lower[i, j]
            for k in range(j):
                entry -= lower[i, k] * lower[j, k]
            if j < i:
                lower[i, j] = entry / lower[j, j]
            elif entry <= 1e-11:
                return False
            else:
                lower[i, i] = math.sqrt(entry)
    for i in range(n):
        entry = right[i]
        for k in range(i):
            entry -= lower[i, k] * right[k]
        right[i] = entry / lower[i, i]
    for i in range(n - 1, -1, -1):
        right[i] /= lower[i, i]
        for k in range(i):
            right[k] -= lower[i, k] * right[i]
    return True
