"""Compiled loops that follow the path of a LASSO or MCP: block coordinate descent, accelerated."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runs.compiled import compiled

Array = NDArray[Any]

PATIENCE = 8  # lambdas without a better criterion, after which the path ends
TOLERANCE = 1e-7  # of coefficients, on the scale of y
MOST_SWEEPS = 5000
HISTORY = 6  # sweeps from which the limit of the following ones is extrapolated
CONCAVITY = 3.0  # of MCP: a coefficient beyond 3 lambda is not shrunk


@compiled
def follow_path(
    gram: Array,
    gain: Array,
    lams: Array,
    coefficients: Array,
    criterion: Array,
    done: int,
    concave: bool,
    starts: Array,
    start_columns: Array,
    is_working: Array,
    working: Array,
    count: int,
    place: Array,
    gradient: Array,
    b: Array,
    own: Array,
    held: Array,
    system: Array,
    n: int,
) -> Any:
    """Fill in coefficients and criterion from step `done` on.

    The first `count` of `working` are the columns that came into question so far; columns that are
    working, or left out, never join. Returns their number, and the largest violation.
    """
    q, size = gain.shape
    for a in range(count):
        place[working[a]] = a
        for c in range(q):
            b[c, a] = coefficients[done - 1, c, a] if done > 0 else 0.0
    among = _extended(np.empty((0, 0)), gram, working, count)  # inner products of working columns
    _find_gradient(gram, gain, working, b, count, gradient)
    total, least, since, worst = float(q), np.inf, 0, 0.0
    for step in range(len(lams)):
        if step >= done:
            lam = lams[step]
            if step < len(starts):
                before = count
                count = _start(starts[step], start_columns, is_working, working, place, b, count)
                if count > before:
                    among = _extended(among, gram, working, count)
                _find_gradient(gram, gain, working, b, count, gradient)
            most = (lam * (1 + 1e-9)) ** 2
            for _ in range(50):
                for c in range(q):
                    for a in range(count):
                        own[c, a] = gradient[c, working[a]]
                violation = _descend(among, b, own, count, lam, concave, held, system)
                _find_gradient(gram, gain, working, b, count, gradient)
                before = count
                for j in range(size):
                    if not is_working[j] and _squares(gradient, j) > most:
                        if count == len(working):
                            return count, worst
                        is_working[j], working[count], place[j] = True, j, count
                        count += 1
                if count == before:
                    break
                among = _extended(among, gram, working, count)
            worst = max(worst, violation)
            n_active, freedom, error = 0, 0.0, total  # columns of y have variance 1
            for a in range(count):
                norm = np.sqrt(_squares(b, a))
                if norm > 0.0:
                    n_active += 1
                    freedom += (1 + (q - 1) * norm / (norm + lam)) / q
                for c in range(q):
                    coefficients[step, c, a] = b[c, a]
                    error -= b[c, a] * (gain[c, working[a]] + gradient[c, working[a]])
            if 2 * n_active > n:
                break  # which columns are in this step still says what the end depends on
            error = max(error / q, 1e-12)
            if concave:
                cost = q * np.log(n) + np.log(size)
                criterion[step] = n * q * np.log(error) + n_active * cost
            else:
                criterion[step] = error / (1 - (freedom + 1) / n) ** 2
        since += 1
        if criterion[step] < least:
            least, since = criterion[step], 0
        if since >= PATIENCE:
            break
    return count, worst


@compiled
def _squares(values: Array, j: int) -> Any:
    """Squared length of a column."""
    squares = 0.0
    for c in range(len(values)):
        squares += values[c, j] * values[c, j]
    return squares


@compiled
def _start(
    start: Array,
    columns: Array,
    is_working: Array,
    working: Array,
    place: Array,
    b: Array,
    count: int,
) -> int:
    """Set coefficients to those of another fit, whose columns join; return how many there are."""
    for c in range(len(b)):
        for a in range(count):
            b[c, a] = 0.0
    for i in range(len(columns)):
        j = columns[i]
        if _squares(start, i) > 0.0:
            if place[j] < 0:
                if count == len(working):
                    continue
                is_working[j], working[count], place[j] = True, j, count
                count += 1
            for c in range(len(b)):
                b[c, place[j]] = start[c, i]
    return count


@compiled
def _descend(
    among: Array,
    b: Array,
    gradient: Array,
    count: int,
    lam: float,
    concave: bool,
    held: Array,
    system: Array,
) -> Any:
    """Block coordinate descent among working columns; changes `b` and their `gradient`.

    Returns the largest change of a coefficient in the last sweep, which is what the conditions of a
    minimum are violated by. The LASSO is accelerated after Anderson (Bertrand and Massias 2021).
    """
    q = len(b)
    largest, n_held = 0.0, 0
    for _ in range(MOST_SWEEPS):
        largest = 0.0
        for j in range(count):
            squares = 0.0
            for c in range(q):
                z = gradient[c, j] + b[c, j]
                squares += z * z
            norm = np.sqrt(squares)
            shrink = 0.0
            if norm > lam:
                shrink = 1 - lam / norm
                if concave:
                    shrink = 1.0 if norm > CONCAVITY * lam else shrink * CONCAVITY / (CONCAVITY - 1)
            for c in range(q):
                step = shrink * (gradient[c, j] + b[c, j]) - b[c, j]
                if step != 0.0:
                    b[c, j] = b[c, j] + step if shrink > 0.0 else 0.0
                    for a in range(count):
                        gradient[c, a] -= step * among[j, a]
                    if abs(step) > largest:
                        largest = abs(step)
        if largest < TOLERANCE:
            break
        if not concave:
            for c in range(q):
                for a in range(count):
                    held[0, n_held, c, a] = b[c, a]
                    held[1, n_held, c, a] = gradient[c, a]
            n_held += 1
            if n_held == HISTORY:
                _extrapolate(held, system, b, gradient, count, lam)
                n_held = 0
    return largest


@compiled
def _extrapolate(
    held: Array, system: Array, b: Array, gradient: Array, count: int, lam: float
) -> None:
    """Replace b by a combination of former ones that nearly stays put, if that is no worse.

    `held` are former coefficients and gradients, of which the last place is room for new ones. The
    gradient is linear in b, so that it is the same combination of former gradients. The smooth part
    of the objective is -b'(c + g) / 2 with the gradient g = c - Gb, so that its difference is that
    of -(new - old)'(g_new + g_old) / 2.
    """
    q, m = len(b), HISTORY - 1
    trace = 0.0
    for i in range(m):
        for k in range(i + 1):
            inner = 0.0
            for c in range(q):
                for a in range(count):
                    step = held[0, i + 1, c, a] - held[0, i, c, a]
                    inner += step * (held[0, k + 1, c, a] - held[0, k, c, a])
            system[i, k] = system[k, i] = inner
        system[i, m] = 1.0
        trace += system[i, i]
    for i in range(m):
        system[i, i] += 1e-10 * trace
    _solve(system, m)
    new, new_gradient = held[0, HISTORY], held[1, HISTORY]
    difference = 0.0
    for a in range(count):
        new_squares, old_squares = 0.0, 0.0
        for c in range(q):
            new[c, a] = new_gradient[c, a] = 0.0
            for i in range(m):
                new[c, a] += system[i, m] * held[0, i + 1, c, a]
                new_gradient[c, a] += system[i, m] * held[1, i + 1, c, a]
            step = new[c, a] - b[c, a]
            difference -= 0.5 * step * (new_gradient[c, a] + gradient[c, a])
            new_squares += new[c, a] * new[c, a]
            old_squares += b[c, a] * b[c, a]
        difference += lam * (np.sqrt(new_squares) - np.sqrt(old_squares))
    if difference < 0.0:
        for c in range(q):
            for a in range(count):
                b[c, a], gradient[c, a] = new[c, a], new_gradient[c, a]


@compiled
def _solve(system: Array, m: int) -> None:
    """Put the solution of a small positive definite system, over its sum, into its last column."""
    for i in range(m):
        for k in range(i + 1, m):
            factor = system[k, i] / system[i, i]
            for j in range(i, m + 1):
                system[k, j] -= factor * system[i, j]
    total = 0.0
    for i in range(m - 1, -1, -1):
        for j in range(i + 1, m):
            system[i, m] -= system[i, j] * system[j, m]
        system[i, m] /= system[i, i]
        total += system[i, m]
    for i in range(m):
        system[i, m] /= total


@compiled
def _find_gradient(
    gram: Array, gain: Array, working: Array, b: Array, count: int, gradient: Array
) -> None:
    """Inner products of all columns with what the working columns leave of the target."""
    q, size = gain.shape
    for c in range(q):
        for j in range(size):
            gradient[c, j] = gain[c, j]
    for a in range(count):
        row = gram[working[a]]
        for c in range(q):
            if b[c, a] != 0.0:
                for j in range(size):
                    gradient[c, j] -= b[c, a] * row[j]


@compiled
def _extended(among: Array, gram: Array, working: Array, size: int) -> Any:
    """Inner products of the working columns, of which those of the first are known."""
    known = len(among)
    found = np.empty((size, size))
    for i in range(known):
        for j in range(known):
            found[i, j] = among[i, j]
    for i in range(known, size):
        for j in range(i + 1):
            found[i, j] = found[j, i] = gram[working[i], working[j]]
    return found
