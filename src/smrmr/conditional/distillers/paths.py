r"""LASSO and MCP fits of all columns of the target down a path of lambdas, from inner products.

With Z standardised, :math:`G = Z'Z / n` and :math:`C = Z'Y / n`, both minimise :math:`\tfrac12
\mathrm{tr}\, B'GB - \mathrm{tr}\, C'B + \sum_j \mathrm{pen}_\lambda(\|B_j\|)`, where row
:math:`B_j` holds the coefficients of column j in the fits of all columns of the target: a feature
takes part in all of them or in none (multi-task LASSO). No row is ever held out: lambda is chosen
by a criterion of the fit itself, so a fit without some columns costs a path, not ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runs.compiled import compiled
from ...types import Indices, Mask, Matrix, Vector

Array = NDArray[Any]

N_LAMBDAS = 30
LAMBDAS = np.geomspace(0.999, 0.02, N_LAMBDAS)  # as shares of the largest
PATIENCE = 8  # lambdas without a better criterion, after which the path ends
TOLERANCE = 1e-7  # of coefficients, on the scale of y
MOST_SWEEPS = 5000
HISTORY = 6  # sweeps from which the limit of the following ones is extrapolated
CONCAVITY = 3.0  # of MCP: a coefficient beyond 3 lambda is not shrunk


@dataclass(frozen=True, eq=False)
class Path:
    """Coefficients at every lambda, and the criterion, least at the lambda that is chosen.

    Attributes
    ----------
    lams, criterion
        One for each step.
    columns
        Those that came into question, of `size`.
    coefficients
        Their coefficients, (steps, columns of the target, columns).
    violation
        The largest violation of the conditions of a minimum at any lambda, on the scale of y.
    """

    size: int
    lams: Vector
    criterion: Vector
    columns: Indices
    coefficients: NDArray[np.float64]
    violation: float

    @property
    def chosen(self) -> Matrix:
        """Coefficients of all columns at the lambda of least criterion, (q, size)."""
        found = np.zeros((self.coefficients.shape[1], self.size))
        found[:, self.columns] = self._best
        return found

    @property
    def _best(self) -> Matrix:
        """Coefficients of `columns` at that lambda; 0 if too many take part at the first one."""
        step = self.criterion.argmin()
        return np.asarray(self.coefficients[step] * np.isfinite(self.criterion[step]))

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the chosen fit, per column of the target.

        Of a single one the number of columns that take part; of several, shrinkage of the columns
        as a whole takes some away (Yuan and Lin 2006, for orthogonal columns).
        """
        norms, lam = np.linalg.norm(self._best, axis=0), self.lams[self.criterion.argmin()]
        norms, q = norms[norms > 0], self.coefficients.shape[1]
        return float(np.sum(1 + (q - 1) * norms / (norms + lam)) / q)

    @property
    def least(self) -> float:
        """The least criterion."""
        return float(self.criterion.min())

    @cached_property
    def first_step(self) -> Indices:
        """For each column the first step at which it takes part, that after the last if never."""
        found = np.full(self.size, N_LAMBDAS)
        active = (self.coefficients != 0).any(axis=1)
        found[self.columns] = np.where(active.any(axis=0), active.argmax(axis=0), N_LAMBDAS)
        return found

    @property
    def entered(self) -> Indices:
        """Columns that take part at any lambda."""
        return np.flatnonzero(self.first_step < N_LAMBDAS)


def fit_path(
    gram: Matrix,
    gain: Matrix,
    n: int,
    out: Mask,
    known: Path | None = None,
    convex: Path | None = None,
) -> Path:
    """Follow the path without the columns `out`; `gram` may have more columns than `gain`.

    `gain` is (q, columns). The LASSO is judged by generalised cross-validation, which estimates its
    error on new rows without bias as p and n grow together. With `convex`, the path of the LASSO,
    it is MCP that is followed, starting from the LASSO at every lambda; it is judged by the
    extended BIC with gamma 1/2, because it is there to choose few features. A `known` path of fewer
    left-out columns is taken over as far as these columns had not entered it, which changes nothing
    but the time.
    """
    q, size = gain.shape
    sizes = np.where(out, 0.0, np.sqrt(np.einsum("qj,qj->j", gain, gain)))
    lams = float(sizes.max(initial=0.0)) * LAMBDAS
    criterion, done = np.full(N_LAMBDAS, np.inf), 0
    columns, before = np.empty(0, np.intp), np.empty((0, q, 0))
    if lams[0] == 0:
        criterion[0] = 0.0
        return Path(size, lams, criterion, columns, np.zeros((N_LAMBDAS, q, 0)), 0.0)
    if known is not None and np.array_equal(lams, known.lams):
        done = int(known.first_step[out].min(initial=N_LAMBDAS))
        if done == N_LAMBDAS:
            return known
        taken = np.flatnonzero(known.first_step[known.columns] < done)
        columns, before = known.columns[taken], known.coefficients[:done, :, taken]
        criterion[:done] = known.criterion[:done]
    room = min(size, 4 * n + 64)
    working, coefficients = np.empty(room, np.intp), np.zeros((N_LAMBDAS, q, room))
    working[: len(columns)] = columns
    coefficients[:done, :, : len(columns)] = before
    is_working = out.copy()
    is_working[columns] = True
    starts = (np.empty((0, q, 0)), np.empty(0, np.intp))
    if convex is not None:
        starts = convex.coefficients[np.isfinite(convex.criterion)], convex.columns
    concave, gradient, b = convex is not None, np.empty((q, size)), np.zeros((q, room))
    shared = gram, gain, lams, coefficients, criterion, done, concave, starts[0], starts[1]
    held = is_working, working, len(columns), gradient, b, np.zeros_like(b)
    count, violation = _fit_path(*shared, *held, n)
    kept = coefficients[:, :, :count].copy()
    return Path(size, lams, criterion, working[:count].copy(), kept, violation)


@compiled
def _fit_path(
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
    gradient: Array,
    b: Array,
    own: Array,
    n: int,
) -> Any:
    """Fill in coefficients and criterion from step `done` on.

    The first `count` of `working` are the columns that came into question so far; columns that are
    working, or left out, never join. Returns their number, and the largest violation.
    """
    q, size = gain.shape
    place = np.full(size, -1)
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
                violation = _descend(among, b, own, count, lam, concave)
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
    among: Array, b: Array, gradient: Array, count: int, lam: float, concave: bool
) -> float:
    """Block coordinate descent among working columns; changes `b` and their `gradient`.

    Returns the largest change of a coefficient in the last sweep, which is what the conditions of a
    minimum are violated by. The LASSO is accelerated after Anderson (Bertrand and Massias 2021).
    """
    q = len(b)
    largest, n_held = 0.0, 0
    held, held_gradient = np.empty((2, HISTORY, q, 1 if concave else count))
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
                    held[n_held, c, a] = b[c, a]
                    held_gradient[n_held, c, a] = gradient[c, a]
            n_held += 1
            if n_held == HISTORY:
                _extrapolate(held, held_gradient, b, gradient, count, lam)
                n_held = 0
    return largest


@compiled
def _extrapolate(
    held: Array, held_gradient: Array, b: Array, gradient: Array, count: int, lam: float
) -> None:
    """Replace b by a combination of former ones that nearly stays put, if that is no worse.

    The gradient is linear in b, so that it is the same combination of former gradients.
    """
    q, m = len(b), HISTORY - 1
    system = np.empty((m, m + 1))
    for i in range(m):
        for k in range(i + 1):
            inner = 0.0
            for c in range(q):
                for a in range(count):
                    inner += (held[i + 1, c, a] - held[i, c, a]) * (
                        held[k + 1, c, a] - held[k, c, a]
                    )
            system[i, k] = system[k, i] = inner
        system[i, m] = 1.0
    trace = 0.0
    for i in range(m):
        trace += system[i, i]
    for i in range(m):
        system[i, i] += 1e-10 * trace
    weights = _solve(system)
    new, new_gradient = np.zeros((2, q, count))
    for i in range(m):
        for c in range(q):
            for a in range(count):
                new[c, a] += weights[i] * held[i + 1, c, a]
                new_gradient[c, a] += weights[i] * held_gradient[i + 1, c, a]
    if _objective(new, new_gradient, b, gradient, count, lam) < 0.0:
        for c in range(q):
            for a in range(count):
                b[c, a], gradient[c, a] = new[c, a], new_gradient[c, a]


@compiled
def _solve(system: Array) -> Any:
    """Solution of a small positive definite system, whose last column is its right-hand side.

    It is divided by its sum.
    """
    m = len(system)
    for i in range(m):
        for k in range(i + 1, m):
            factor = system[k, i] / system[i, i]
            for j in range(i, m + 1):
                system[k, j] -= factor * system[i, j]
    found, total = np.empty(m), 0.0
    for i in range(m - 1, -1, -1):
        value = system[i, m]
        for j in range(i + 1, m):
            value -= system[i, j] * found[j]
        found[i] = value / system[i, i]
        total += found[i]
    return found / total


@compiled
def _objective(
    new: Array, new_gradient: Array, old: Array, old_gradient: Array, count: int, lam: float
) -> float:
    """Objective at new coefficients less that at old ones.

    Since b'Gb / 2 - c'b = -b'(c + g) / 2 with the gradient g = c - Gb, the difference of its smooth
    part is that of -(new - old)'(g_new + g_old) / 2.
    """
    q = len(new)
    found = 0.0
    for a in range(count):
        new_squares, old_squares = 0.0, 0.0
        for c in range(q):
            step = new[c, a] - old[c, a]
            found -= 0.5 * step * (new_gradient[c, a] + old_gradient[c, a])
            new_squares += new[c, a] * new[c, a]
            old_squares += old[c, a] * old[c, a]
        found += lam * (np.sqrt(new_squares) - np.sqrt(old_squares))
    return found


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
