"""Compiled loops that follow the path of a LASSO or MCP: block coordinate descent, accelerated."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...runs.compiled import compiled, compiled_inside, compiled_reordering

Array = NDArray[Any]

PATIENCE = 8  # lambdas without a better criterion, after which the path ends
TOLERANCE = 1e-7  # of coefficients, on the scale of y
MOST_SWEEPS = 5000
MOST_ROUNDS = 50  # of descent at one lambda, after which no more columns join
HISTORY = 6  # sweeps from which the limit of the following ones is extrapolated
CONCAVITY = 3.0  # of MCP: a coefficient beyond 3 lambda is not shrunk
ROUNDING = 1e-6  # bounds what single precision of a column changes its inner product by
CLOSE = 1e-6  # of lambda: a bound on a gradient that is as close to it as that decides nothing


class SquaredLoss(NamedTuple):
    """Columns and target as paths see them: by inner products, or else themselves.

    `gain` are the inner products of the target with the columns, over n, (q, size), and `gram` has
    those among columns: `place_in_gram` says where each column stands there, -1 elsewhere. Either
    it has all of them in their order, and the others are empty; or it has those that are known, and
    `columns` are (size, n), `rounded` the same in single precision, and `target` is (q, n).
    """

    gain: Array
    gram: Array
    place_in_gram: Array
    columns: Array
    rounded: Array
    target: Array

    @classmethod
    def by_gram(cls, gain: Array, gram: Array) -> SquaredLoss:
        """With inner products of all columns."""
        rows, columns = np.empty((len(gain), 0)), np.empty((0, 0))
        return cls(gain, gram, np.arange(len(gram)), columns, columns.astype(np.float32), rows)

    @classmethod
    def by_columns(cls, gain: Array, columns: Array, target: Array) -> SquaredLoss:
        """With none of them."""
        rounded = columns.astype(np.float32, copy=False)
        return cls(gain, np.empty((0, 0)), np.full(len(columns), -1), columns, rounded, target)


class Reference(NamedTuple):
    """What is known of another path at its first steps, by which gradients are bounded.

    `residuals` are what it leaves of the target, (steps, q, n); `bounds` are upper bounds of their
    inner products with every column, (steps, size).
    """

    residuals: Array
    bounds: Array


class Room(NamedTuple):
    """What changes on the way.

    `working` are the columns that came into question so far, `b` their coefficients, and `place`
    says where each column stands among them, -1 elsewhere; a column that `is_working`, or is left
    out, never joins. `residual` is what they leave of the target and `gradient` its inner products
    with columns, as far as they were asked for. The rest is room for descent.
    """

    is_working: Array
    working: Array
    place: Array
    b: Array
    residual: Array
    gradient: Array
    own: Array
    held: Array
    system: Array


@compiled
def follow_path(
    loss: SquaredLoss,
    lams: Array,
    coefficients: Array,
    criterion: Array,
    reference: Reference,
    done: int,
    concave: bool,
    starts: Array,
    start_columns: Array,
    known: Reference,
    room: Room,
    count: int,
    n: int,
) -> Any:
    """Fill in coefficients, criterion and what a reference holds from step `done` on.

    The first `count` of the working columns are there from the beginning. Each step starts from
    that of `starts`, or else from the one before. Returns the number of working columns, and the
    largest violation of the conditions of a minimum.

    The conditions are checked for all columns before a step is accepted. By a Gram matrix that is
    cheap. Without it they are checked as far as a known path leaves a doubt: the inner product of a
    column of length 1 with a residual differs from that with another one by no more than the length
    of what is between them. Columns that were close to lambda at the step before come first (the
    sequential strong rule of Tibshirani et al. 2012, which may err), and the others when these are
    settled.
    """
    gain, gram, _, columns, _, target = loss
    is_working, working, place, b, residual, gradient, own, held, system = room
    (q, size), rows, by_gram = gain.shape, target.shape[1], len(columns) == 0
    for a in range(count):
        place[working[a]] = a
        for c in range(q):
            b[c, a] = coefficients[done - 1, c, a] if done > 0 else 0.0
    among = np.empty((0, 0))  # inner products of working columns,
    n_among = len(among)  # so many of them
    total, least, since, worst = float(q), np.inf, 0, 0.0
    for step in range(len(lams)):
        if step >= done:
            lam, bound = lams[step], reference.bounds[step]
            if step < len(starts):
                count = _start(starts[step], start_columns, is_working, working, place, b, count)
            for _ in range(MOST_ROUNDS):
                among = _extended(among, n_among, loss, working, count)
                n_among = count
                for c in range(q):
                    for a in range(count):
                        own[c, a] = gain[c, working[a]]
                    for i in range(count):
                        if b[c, i] != 0.0:
                            for a in range(count):
                                own[c, a] -= b[c, i] * among[i, a]
                violation, sweeps = np.inf, 0
                while violation >= TOLERANCE and sweeps < MOST_SWEEPS:
                    if sweeps > 0:
                        _extrapolate(held, system, b, own, count, lam, concave)
                    violation = _descend(among, b, own, count, lam, concave, held)
                    sweeps += HISTORY
                before = count
                if by_gram:
                    _subtract(gain, gram, working, b, count, gradient)
                else:
                    _subtract(target, columns, working, b, count, residual)
                    for c in range(q):
                        for a in range(count):
                            gradient[c, working[a]] = own[c, a]
                near, least_near, floor = bound, -np.inf, -np.inf  # by a Gram matrix all at once
                if not by_gram:
                    last = step - 1 if step > 0 else 0
                    near, least_near = reference.bounds[last], 2 * lam - lams[last]
                    away = _distance(residual, known.residuals, step) + ROUNDING
                    floor = (1 - CLOSE) * lam
                    for j in range(size):
                        bound[j] = known.bounds[step, j] + away if away < np.inf else np.inf
                for check in range(2):
                    is_near = check == 0
                    count = _admit(loss, bound, floor, near, least_near, is_near, lam, room, count)
                    if count > before:
                        break
                if count > len(working):
                    for j in range(size):
                        bound[j] = np.inf
                    count = len(working)
                    return count, worst
                if count == before:
                    break
            if count != before:  # rounds ran out
                worst = np.inf
            if violation > worst:
                worst = violation
            for j in range(size):
                if by_gram or place[j] >= 0 or bound[j] > (1 - CLOSE) * lam:
                    bound[j] = np.sqrt(_squares(gradient, j))
            n_active, freedom, error = 0, 0.0, total  # columns of y have variance 1
            for c in range(q):
                for i in range(rows):
                    reference.residuals[step, c, i] = residual[c, i]
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
            error = error / q if error > q * 1e-12 else 1e-12
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


@compiled_inside
def _squares(values: Array, j: int) -> Any:
    """Squared length of a column."""
    squares = 0.0
    for c in range(len(values)):
        squares += values[c, j] * values[c, j]
    return squares


@compiled_inside
def _distance(residual: Array, known: Array, step: int) -> Any:
    """How far a residual is from a known one at most; infinite where none is known."""
    if step >= len(known):
        return np.inf
    squares, rows = 0.0, residual.shape[1]
    for c in range(len(residual)):
        for i in range(rows):
            squares += (residual[c, i] - known[step, c, i]) ** 2
    return (1 + CLOSE) * np.sqrt(squares / rows)


@compiled_inside
def _admit(
    loss: SquaredLoss,
    bound: Array,
    floor: float,
    near: Array,
    least_near: float,
    is_near: bool,
    lam: float,
    room: Room,
    count: int,
) -> int:
    """Let columns join that violate the conditions of a minimum, if no bound excludes them.

    Of them those alone that are near lambda, or not. Returns how many columns are working then, or
    one more than there is room for. Where there are columns, their gradient is worked out first:
    from rounded ones, which take half the time to read, and again where that decides nothing.
    """
    is_working, working, place, gradient = room.is_working, room.working, room.place, room.gradient
    columns, rounded, residual = loss.columns, loss.rounded, room.residual  # once: each is counted
    most, unclear = (lam * (1 + 1e-9)) ** 2, (lam - ROUNDING) ** 2
    for j in range(len(place)):
        if place[j] < 0 and bound[j] >= floor and (near[j] >= least_near) == is_near:
            if len(columns) > 0:
                for c in range(len(gradient)):
                    gradient[c, j] = _inner(rounded, j, residual, c)
                if lam < ROUNDING or _squares(gradient, j) > unclear:
                    for c in range(len(gradient)):
                        gradient[c, j] = _inner(columns, j, residual, c)
            if not is_working[j] and _squares(gradient, j) > most:
                if count == len(working):
                    return count + 1
                is_working[j], working[count], place[j] = True, j, count
                count += 1
    return count


@compiled_inside
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


@compiled_inside
def _descend(
    among: Array, b: Array, gradient: Array, count: int, lam: float, concave: bool, held: Array
) -> Any:
    """Block coordinate descent among working columns; changes `b` and their `gradient`.

    Sweeps until little changes, at most so many times as `held` keeps; then it is accelerated after
    Anderson (Bertrand and Massias 2021). Returns the largest change of a coefficient in the last
    sweep, which is what the conditions of a minimum are violated by.
    """
    q = len(b)
    largest = 0.0
    for n_held in range(HISTORY):
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
            return largest
        for c in range(q):
            for a in range(count):
                held[0, n_held, c, a] = b[c, a]
                held[1, n_held, c, a] = gradient[c, a]
    return largest


@compiled_inside
def _extrapolate(
    held: Array, system: Array, b: Array, gradient: Array, count: int, lam: float, concave: bool
) -> None:
    """Replace b by a combination of former ones that nearly stays put, if that is no worse.

    Of MCP each coefficient stays 0, shrunk or not shrunk, so that its minimum is the one nearby.

    `held` are former coefficients and gradients, of which the last place is room for new ones. The
    gradient is linear in b, so that it is the same combination of former gradients. The smooth part
    of the objective is -b'(c + g) / 2 with the gradient g = c - Gb, so that its difference is that
    of -(new - old)'(g_new + g_old) / 2.
    """
    q, m, most = len(b), HISTORY - 1, CONCAVITY * lam
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
    for i in range(m):  # the solution, over its sum, comes into the last column
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
        new_norm, old_norm = np.sqrt(new_squares), np.sqrt(old_squares)
        difference += lam * (new_norm - old_norm)
        if concave:
            if (new_norm > most) != (old_norm > most) or (new_norm > 0.0) != (old_norm > 0.0):
                return
            if new_norm > most:
                difference -= lam * (new_norm - old_norm)
            else:
                difference -= (new_squares - old_squares) / (2 * CONCAVITY)
    if difference < 0.0:
        for c in range(q):
            for a in range(count):
                b[c, a], gradient[c, a] = new[c, a], new_gradient[c, a]


@compiled_inside
def _subtract(
    values: Array, table: Array, working: Array, b: Array, count: int, found: Array
) -> None:
    """Values less the rows of a table that belong to working columns, times their coefficients.

    Of inner products with the target, by the Gram matrix, that is the gradient; of the target
    itself, by the columns, it is the residual.
    """
    q, size = found.shape
    for c in range(q):
        for j in range(size):
            found[c, j] = values[c, j]
    for a in range(count):
        row = table[working[a]]
        for c in range(q):
            if b[c, a] != 0.0:
                for j in range(size):
                    found[c, j] -= b[c, a] * row[j]


@compiled_reordering
def _inner(one: Array, k: int, other: Array, m: int) -> Any:
    """Inner product of two rows of matrices, over their length."""
    total = 0.0
    for i in range(one.shape[1]):
        total += np.float64(one[k, i]) * other[m, i]
    return total / one.shape[1]


@compiled_inside
def _extended(among: Array, known: int, loss: SquaredLoss, working: Array, size: int) -> Any:
    """Inner products of the working columns, of which those of the first are known."""
    gram, place, columns = loss.gram, loss.place_in_gram, loss.columns
    found = among
    if size > len(among):
        room = size if size > 2 * len(among) else 2 * len(among)
        found = np.empty((room, room))
        for i in range(known):
            for j in range(known):
                found[i, j] = among[i, j]
    for i in range(known, size):
        for j in range(i + 1):
            k, m = working[i], working[j]
            if place[k] >= 0 and place[m] >= 0:
                value = gram[place[k], place[m]]
            else:
                value = _inner(columns, k, columns, m)
            found[i, j] = found[j, i] = value
    return found
