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

from ...measures.compiled import compiled
from ...types import Mask, Matrix, Vector

Array = NDArray[Any]

N_LAMBDAS = 30
FLOOR = 0.02  # of the largest lambda
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


def follow(
    gram: Matrix, gain: Vector, n: int, concave: bool, out: Mask, known: Path | None = None
) -> Path:
    """Follow the path without the columns `out`.

    LASSO (not `concave`) is judged by generalised cross-validation, which estimates its error on
    new rows without bias as p and n grow together; MCP by the extended BIC with gamma 1/2, because
    it is there to choose few features. A `known` path of fewer left-out columns is taken over as
    far as these columns had not entered it, which changes nothing but the time.
    """
    largest = float(np.abs(np.where(out, 0.0, gain)).max(initial=0.0))
    lams = largest * np.geomspace(0.999, FLOOR, N_LAMBDAS)
    done = 0
    coefficients, criterion = np.zeros((N_LAMBDAS, len(gain))), np.full(N_LAMBDAS, np.inf)
    if known is not None and np.array_equal(lams, known.lams):
        entered = (known.coefficients[:, out] != 0).any(axis=1)
        if not entered.any():
            return known
        done = int(np.argmax(entered))
        coefficients[:done], criterion[:done] = known.coefficients[:done], known.criterion[:done]
    if largest > 0:
        _follow(gram, gain, lams, coefficients, criterion, done, concave, out, n)
    else:
        criterion[0] = 0.0
    return Path(lams, coefficients, criterion)


@compiled
def _follow(
    gram: Array,
    gain: Array,
    lams: Array,
    coefficients: Array,
    criterion: Array,
    done: int,
    concave: bool,
    out: Array,
    n: int,
) -> None:
    size = len(gain)
    gradient = gain.copy()
    is_working = out.copy()  # whoever is left out is never asked to join
    working = np.empty(0, np.int64)
    b, among = np.empty(0), np.empty((0, 0))  # coefficients and inner products of working columns
    if done:
        working = np.flatnonzero(coefficients[done - 1])
        is_working[working] = True
        b = coefficients[done - 1][working]
        among = _extended(among, gram, working)
        _find_gradient(gram, gain, working, b, gradient)
    least, since = np.inf, 0
    for step in range(len(lams)):
        if step >= done:
            for _ in range(50):
                own = gradient[working]
                _descend(among, b, own, lams[step], concave)
                _find_gradient(gram, gain, working, b, gradient)
                joining = np.flatnonzero(~is_working & (np.abs(gradient) > lams[step] * (1 + 1e-9)))
                if not len(joining):
                    break
                is_working[joining] = True
                working = np.concatenate((working, joining))
                b = np.concatenate((b, np.zeros(len(joining))))
                among = _extended(among, gram, working)
            coefficients[step][working] = b
            n_active = np.count_nonzero(b)
            error = 1.0  # y has variance 1
            for a in range(len(working)):
                error -= b[a] * (gain[working[a]] + gradient[working[a]])
            if 2 * n_active > n:
                break
            error = max(error, 1e-12)
            if concave:
                criterion[step] = n * np.log(error) + n_active * (np.log(n) + np.log(size))
            else:
                criterion[step] = error / (1 - (n_active + 1) / n) ** 2
        if criterion[step] < least:
            least, since = criterion[step], 0
        else:
            since += 1
        if since >= PATIENCE:
            break


@compiled
def _descend(among: Array, b: Array, gradient: Array, lam: float, concave: bool) -> None:
    """Coordinate descent among working columns; changes `b` and their `gradient`."""
    for _ in range(500):
        largest_step = 0.0
        for j in range(len(b)):
            z = gradient[j] + b[j]
            size = abs(z)
            if size <= lam:
                new = 0.0
            elif not concave:
                new = np.sign(z) * (size - lam)
            elif size <= CONCAVITY * lam:
                new = np.sign(z) * (size - lam) * CONCAVITY / (CONCAVITY - 1)
            else:
                new = z
            step = new - b[j]
            if step != 0.0:
                b[j] = new
                for q in range(len(b)):
                    gradient[q] -= step * among[j, q]
                largest_step = max(largest_step, abs(step))
        if largest_step < TOLERANCE:
            break


@compiled
def _find_gradient(gram: Array, gain: Array, working: Array, b: Array, gradient: Array) -> None:
    """Inner products of all columns with what the working columns leave of the target."""
    gradient[:] = gain
    for a in range(len(b)):
        if b[a] != 0.0:
            row = gram[working[a]]
            for q in range(len(gradient)):
                gradient[q] -= b[a] * row[q]


@compiled
def _extended(among: Array, gram: Array, working: Array) -> Any:
    """Inner products of the working columns, of which those of the first are known."""
    known, size = len(among), len(working)
    found = np.empty((size, size))
    found[:known, :known] = among
    for i in range(known, size):
        for j in range(i + 1):
            found[i, j] = found[j, i] = gram[working[i], working[j]]
    return found
