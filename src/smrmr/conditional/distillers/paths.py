r"""LASSO and MCP fits of all columns of the target down a path of lambdas.

With Z standardised, :math:`G = Z'Z / n` and :math:`C = Z'Y / n`, both minimise :math:`\tfrac12
\mathrm{tr}\, B'GB - \mathrm{tr}\, C'B + \sum_j \mathrm{pen}_\lambda(\|B_j\|)`, where row
:math:`B_j` holds the coefficients of column j in the fits of all columns of the target: a feature
takes part in all of them or in none (multi-task LASSO). No row is ever held out: lambda is chosen
by a criterion of the fit itself, so a fit without some columns costs a path, not ten. G is worked
out if it is small; else only what the columns that come into question need of it, so that the
memory of a path is that of its columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...types import Indices, Mask, Matrix, Vector
from .path_loops import HISTORY, Reference, Room, SquaredLoss, follow_path

Array = NDArray[Any]

MOST_CLOSE = 500  # columns beyond those of a path whose inner products are kept
N_LAMBDAS = 30
LAMBDAS = np.geomspace(0.999, 0.02, N_LAMBDAS)  # as shares of the largest


@dataclass(frozen=True, eq=False)
class Path:
    """Coefficients at every lambda, and the criterion, least at the lambda that is chosen.

    Attributes
    ----------
    out
        Columns that were left out.
    lams, criterion
        One for each step.
    columns
        Those that came into question.
    coefficients
        Their coefficients, (steps, columns of the target, columns).
    reference
        Residuals and bounds of their inner products with every column, for each step; 0 where the
        path had ended. A column that is left out would take part where its bound exceeds lambda.
    violation
        The largest violation of the conditions of a minimum at any lambda, on the scale of y.
    products
        Inner products that are remembered for paths without some columns.
    """

    out: Mask
    lams: Vector
    criterion: Vector
    columns: Indices
    coefficients: NDArray[np.float64]
    reference: Reference
    violation: float
    products: dict[str, tuple[Matrix, Indices]] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        """Without inner products, which workers make sooner than they are sent."""
        return vars(self) | {"products": {}}

    @property
    def size(self) -> int:
        """Number of columns, those left out among them."""
        return len(self.out)

    @cached_property
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
        """For each column the first step at which it takes part, that after the last if never.

        For columns left out it is the first one at which they would.
        """
        active = np.zeros((N_LAMBDAS, self.size), np.bool_)
        active[:, self.columns] = (self.coefficients != 0).any(axis=1)
        active[:, self.out] = self.reference.bounds[:, self.out] > self.lams[:, None] * (1 + 1e-9)
        return np.where(active.any(axis=0), active.argmax(axis=0), N_LAMBDAS)

    @property
    def entered(self) -> Indices:
        """Columns that take part at any lambda, or would if they were not left out."""
        return np.flatnonzero(self.first_step < N_LAMBDAS)

    @cached_property
    def known(self) -> Reference:
        """The reference at the steps before the end."""
        residuals, bounds = self.reference
        n_steps = np.count_nonzero(bounds.any(axis=1))
        return Reference(residuals[:n_steps], bounds[:n_steps])

    def with_gram(self, loss: SquaredLoss) -> SquaredLoss:
        """The loss with inner products of columns that came close to taking part at any lambda.

        Paths without some columns let mostly these in.
        """
        if not len(loss.columns):
            return loss
        if "close" not in self.products:
            self.products["close"] = self._products_of_close(loss.columns)
        gram, place = self.products["close"]
        return loss._replace(gram=gram, place_in_gram=place)

    def _products_of_close(self, columns: Array) -> tuple[Matrix, Indices]:
        """Inner products of these columns, and where each of all columns stands among them."""
        n_steps = len(self.known.bounds)
        close = np.max(self.known.bounds / self.lams[:n_steps, None], axis=0, initial=0.0)
        close[self.columns] = np.inf
        close[self.out] = 0.0
        some = np.argsort(-close, kind="stable")[: len(self.columns) + MOST_CLOSE]
        held = columns[some].astype(np.float64, copy=False)
        place = np.full(self.size, -1)
        place[some] = np.arange(len(some))
        return held @ held.T / held.shape[1], place


def fit_path(
    loss: SquaredLoss, n: int, out: Mask, known: Path | None = None, convex: Path | None = None
) -> Path:
    """Follow the path without the columns `out`.

    The LASSO is judged by generalised cross-validation, which estimates its error on new rows
    without bias as p and n grow together. With `convex`, the path of the LASSO, it is MCP that is
    followed, starting from the LASSO at every lambda; it is judged by the extended BIC with gamma
    1/2, because it is there to choose few features. A `known` path with other columns left out is
    taken over as far as these columns had not entered it, which changes nothing but the time.
    """
    q, size = loss.gain.shape
    sizes = np.where(out, 0.0, np.sqrt(np.einsum("qj,qj->j", loss.gain, loss.gain)))
    lams = float(sizes.max(initial=0.0)) * LAMBDAS
    criterion, done = np.full(N_LAMBDAS, np.inf), 0
    columns, before = np.empty(0, np.intp), np.empty((0, q, 0))
    reference = Reference(np.zeros((N_LAMBDAS, *loss.target.shape)), np.zeros((N_LAMBDAS, size)))
    if lams[0] == 0:
        criterion[0] = 0.0
        none = np.zeros((N_LAMBDAS, q, 0))
        return Path(out, lams, criterion, columns, none, reference, 0.0)
    if known is not None and np.array_equal(lams, known.lams):
        done = int(known.first_step[out != known.out].min(initial=N_LAMBDAS))
        if done == N_LAMBDAS:
            return known
        taken = np.flatnonzero(known.first_step[known.columns] < done)
        columns, before = known.columns[taken], known.coefficients[:done, :, taken]
        criterion[:done] = known.criterion[:done]
        for mine, theirs in zip(reference, known.reference, strict=True):
            mine[:done] = theirs[:done]
    n_most = min(size, 4 * n + 64)
    working, coefficients = np.empty(n_most, np.intp), np.zeros((N_LAMBDAS, q, n_most))
    working[: len(columns)] = columns
    coefficients[:done, :, : len(columns)] = before
    is_working = out.copy()
    is_working[columns] = True
    starts = np.empty((0, q, 0)), columns
    if convex is not None:
        starts = convex.coefficients[np.isfinite(convex.criterion)], convex.columns
    near = known or convex
    loss = loss if near is None else near.with_gram(loss)
    b, own = np.zeros((2, q, n_most))
    room = Room(
        is_working=is_working,
        working=working,
        place=np.full(size, -1),
        b=b,
        residual=np.empty(loss.target.shape),
        gradient=np.empty((q, size)),
        own=own,
        held=np.empty((2, HISTORY + 1, q, n_most)),
        system=np.empty((HISTORY - 1, HISTORY)),
    )
    count, violation = follow_path(
        loss,
        lams,
        coefficients,
        criterion,
        reference,
        done,
        convex is not None,
        *starts,
        Reference(reference[0][:0], reference[1][:0]) if known is None else known.known,
        room,
        len(columns),
        n,
    )
    return Path(
        out=out,
        lams=lams,
        criterion=criterion,
        columns=working[:count].copy(),
        coefficients=coefficients[:, :, :count].copy(),
        reference=reference,
        violation=violation,
    )
