r"""LASSO and MCP fits down a path of lambdas, from inner products alone.

With Z standardised, :math:`G = Z'Z / n` and :math:`c = Z'y / n`, both minimise
:math:`\tfrac12 b'Gb - c'b + \sum_j \mathrm{pen}_\lambda(b_j)`. No row is ever held out: lambda is
chosen by a criterion of the fit itself, so a fit without some columns costs a path, not ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runs.compiled import compiled
from ...types import Mask, Matrix, Vector

Array = NDArray[Any]

N_LAMBDAS = 30
LAMBDAS = np.geomspace(0.999, 0.02, N_LAMBDAS)  # as shares of the largest
PATIENCE = 8  # lambdas without a better criterion, after which the path ends
TOLERANCE = 1e-5  # of coefficients, on the scale of y
CONCAVITY = 3.0  # of MCP: a coefficient beyond 3 lambda is not shrunk


@dataclass(frozen=True, eq=False)
class Path:
    """Coefficients at every lambda, and the criterion, least at the lambda that is chosen."""

    lams: Vector
    coefficients: Matrix
    criterion: Vector

    @property
    def chosen(self) -> Vector:
        """Coefficients at the lambda of least criterion."""
        return np.asarray(self.coefficients[self.criterion.argmin()])

    @property
    def least(self) -> float:
        """The least criterion."""
        return float(self.criterion.min())


def fit_path(
    gram: Matrix, gain: Vector, n: int, concave: bool, out: Mask, known: Path | None = None
) -> Path:
    """Follow the path without the columns `out`; `gram` may have more columns than `gain`.

    LASSO (not `concave`) is judged by generalised cross-validation, which estimates its error on
    new rows without bias as p and n grow together; MCP by the extended BIC with gamma 1/2, because
    it is there to choose few features. A `known` path of fewer left-out columns is taken over as
    far as these columns had not entered it, which changes nothing but the time.
    """
    largest = float(np.abs(np.where(out, 0.0, gain)).max(initial=0.0))
    lams = largest * LAMBDAS
    done = 0
    coefficients, criterion = np.zeros((N_LAMBDAS, len(gain))), np.full(N_LAMBDAS, np.inf)
    if known is not None and np.array_equal(lams, known.lams):
        entered = (known.coefficients[:, out] != 0).any(axis=1)
        if not entered.any():
            return known
        done = int(np.argmax(entered))
        coefficients[:done], criterion[:done] = known.coefficients[:done], known.criterion[:done]
    if largest > 0:
        last = coefficients[done - 1]  # all 0 where nothing is known
        support = np.flatnonzero(last)
        working, (b, gradient, own) = np.empty(len(gain), np.intp), np.empty((3, len(gain)))
        working[: len(support)], b[: len(support)] = support, last[support]
        room = out | (last != 0), working, b, len(support), gradient, own
        _fit_path(gram, gain, lams, coefficients, criterion, done, concave, *room, n)
    else:
        criterion[0] = 0.0
    return Path(lams, coefficients, criterion)


@compiled
def _fit_path(
    gram: Array,
    gain: Array,
    lams: Array,
    coefficients: Array,
    criterion: Array,
    done: int,
    concave: bool,
    is_working: Array,
    working: Array,
    b: Array,
    count: int,
    gradient: Array,
    own: Array,
    n: int,
) -> None:
    """Fill in coefficients and criterion from lambda `done` on.

    The first `count` of `working` are the columns of the support so far, those of `b` their
    coefficients; both have room for all columns, of which those that are working never join.
    """
    size = len(gain)
    among = _extended(np.empty((0, 0)), gram, working, count)  # inner products of working columns
    _find_gradient(gram, gain, working, b, count, gradient)
    least, since = np.inf, 0
    for step in range(len(lams)):
        if step >= done:
            for _ in range(50):
                for a in range(count):
                    own[a] = gradient[working[a]]
                _descend(among, b, own, count, lams[step], concave)
                _find_gradient(gram, gain, working, b, count, gradient)
                before = count
                for j in range(size):
                    if not is_working[j] and abs(gradient[j]) > lams[step] * (1 + 1e-9):
                        is_working[j], working[count], b[count] = True, j, 0.0
                        count += 1
                if count == before:
                    break
                among = _extended(among, gram, working, count)
            n_active = 0
            error = 1.0  # y has variance 1
            for a in range(count):
                coefficients[step, working[a]] = b[a]
                n_active += b[a] != 0.0
                error -= b[a] * (gain[working[a]] + gradient[working[a]])
            if 2 * n_active > n:
                break
            if error < 1e-12:
                error = 1e-12
            if concave:
                criterion[step] = n * np.log(error) + n_active * (np.log(n) + np.log(size))
            else:
                left = 1 - (n_active + 1) / n
                criterion[step] = error / (left * left)
        since += 1
        if criterion[step] < least:
            least, since = criterion[step], 0
        if since >= PATIENCE:
            break


@compiled
def _descend(
    among: Array, b: Array, gradient: Array, count: int, lam: float, concave: bool
) -> None:
    """Coordinate descent among working columns; changes `b` and their `gradient`."""
    for _ in range(500):
        largest_step = 0.0
        for j in range(count):
            z = gradient[j] + b[j]
            size = abs(z)
            if size <= lam:
                new = 0.0
            elif not concave:
                new = z - lam if z > 0.0 else z + lam
            elif size <= CONCAVITY * lam:
                new = (z - lam if z > 0.0 else z + lam) * CONCAVITY / (CONCAVITY - 1)
            else:
                new = z
            step = new - b[j]
            if step != 0.0:
                b[j] = new
                for q in range(count):
                    gradient[q] -= step * among[j, q]
                if abs(step) > largest_step:
                    largest_step = abs(step)
        if largest_step < TOLERANCE:
            break


@compiled
def _find_gradient(
    gram: Array, gain: Array, working: Array, b: Array, count: int, gradient: Array
) -> None:
    """Inner products of all columns with what the working columns leave of the target."""
    size = len(gain)
    for q in range(size):
        gradient[q] = gain[q]
    for a in range(count):
        if b[a] != 0.0:
            row = gram[working[a]]
            for q in range(size):
                gradient[q] -= b[a] * row[q]


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
