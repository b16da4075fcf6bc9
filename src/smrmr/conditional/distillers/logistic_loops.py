"""Compiled loops of a penalised logistic regression: weighted coordinate descent."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runs.compiled import compiled_reordering

Array = NDArray[Any]

TOLERANCE = 1e-6  # of steps, on the scale of log odds
MOST_ROUNDS, MOST_SWEEPS = 100, 1000
LEAST_WEIGHT = 1e-5  # of a row


@compiled_reordering
def find_gradient(X: Array, y: Array, scores: Array, gradient: Array) -> None:
    """Inner products of columns with y less its fitted probabilities, over n."""
    n = len(y)
    left = y.copy()
    for i in range(n):
        left[i] -= 1 / (1 + np.exp(-scores[i]))
    for j in range(len(X)):
        inner = 0.0
        for i in range(n):
            inner += X[j, i] * left[i]
        gradient[j] = inner / n


@compiled_reordering
def minimise(inputs: Array, n_free: int, y: Array, lam: float, b: Array, scores: Array) -> None:
    """Fit the rows of `inputs`, penalised but for the first ones, by rounds of least squares.

    Changes coefficients and log odds in place, from which it starts.
    """
    size, n = inputs.shape
    weights, left, squares, before = np.empty(n), np.empty(n), np.empty(size), np.empty(size)
    for _ in range(MOST_ROUNDS):
        for i in range(n):
            chance = 1 / (1 + np.exp(-scores[i]))
            weights[i] = max(chance * (1 - chance), LEAST_WEIGHT)
            left[i] = y[i] - chance  # times the weight, what is left of the working response
        for a in range(size):
            total = 0.0
            for i in range(n):
                total += weights[i] * inputs[a, i] * inputs[a, i]
            squares[a], before[a] = total / n, b[a]
        furthest = 0.0
        for _ in range(MOST_SWEEPS):
            largest = 0.0
            for a in range(size):
                if squares[a] <= 0.0:
                    continue
                inner = 0.0
                for i in range(n):
                    inner += inputs[a, i] * left[i]
                z = inner / n + squares[a] * b[a]
                if a >= n_free:
                    z = max(z - lam, 0.0) + min(z + lam, 0.0)
                step = z / squares[a] - b[a]
                if step == 0.0:
                    continue
                b[a] = z / squares[a]
                for i in range(n):
                    left[i] -= step * weights[i] * inputs[a, i]
                largest = max(largest, abs(step) * np.sqrt(squares[a]))
            furthest = max(furthest, largest)
            if largest < TOLERANCE:
                break
        for a in range(size):
            if b[a] != before[a]:
                for i in range(n):
                    scores[i] += (b[a] - before[a]) * inputs[a, i]
        if furthest < 10 * TOLERANCE:
            break
