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

from ...types import Indices, Mask, Matrix, Vector
from .path_loops import HISTORY, follow_path

Array = NDArray[Any]

N_LAMBDAS = 30
LAMBDAS = np.geomspace(0.999, 0.02, N_LAMBDAS)  # as shares of the largest


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
    shared = gram, gain, lams, coefficients, criterion, done, convex is not None
    b, own = np.zeros((2, q, room))
    held, system = np.empty((2, HISTORY + 1, q, room)), np.empty((HISTORY - 1, HISTORY))
    rooms = np.full(size, -1), np.empty((q, size)), b, own, held, system
    count, violation = follow_path(*shared, *starts, is_working, working, len(columns), *rooms, n)
    kept = coefficients[:, :, :count].copy()
    return Path(size, lams, criterion, working[:count].copy(), kept, violation)
