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
    b, gradient = np.zeros(size), gain.copy()
    working, is_working = np.empty(size, np.int64), np.zeros(size, np.bool_)
    n_working = 0
    least, since = np.inf, 0
    if done:
        b[:] = coefficients[done - 1]
    for j in range(size):
        if b[j] != 0.0:
            working[n_working], is_working[j] = j, True
            n_working += 1
            gradient -= b[j] * gram[j]
    for step in range(len(lams)):
        if step >= done:
            n_working = _descend(
                gram, gain, b, gradient, working, is_working, n_working, lams[step], concave, out
            )
            coefficients[step] = b
            n_active, error = 0, 1.0  # y has variance 1
            for a in range(n_working):
                j = working[a]
                n_active += b[j] != 0.0
                error -= b[j] * (gain[j] + gradient[j])
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
def _descend(
    gram: Array,
    gain: Array,
    b: Array,
    gradient: Array,
    working: Array,
    is_working: Array,
    n_working: int,
    lam: float,
    concave: bool,
    out: Array,
) -> Any:
    """Coordinate descent among working columns, which grow by those that violate optimality."""
    for _ in range(50):
        for _ in range(500):
            largest_step = 0.0
            for a in range(n_working):
                j = working[a]
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
                    for q in range(n_working):
                        gradient[working[q]] -= step * gram[j, working[q]]
                    largest_step = max(largest_step, abs(step))
            if largest_step < TOLERANCE:
                break
        gradient[:] = gain
        for a in range(n_working):
            j = working[a]
            if b[j] != 0.0:
                gradient -= b[j] * gram[j]
        grown = False
        for j in range(len(gain)):
            if not is_working[j] and not out[j] and abs(gradient[j]) > lam * (1 + 1e-9):
                working[n_working], is_working[j] = j, True
                n_working += 1
                grown = True
        if not grown:
            break
    return n_working
