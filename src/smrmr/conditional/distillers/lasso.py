"""Offers Lasso: a sparse linear fit of the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...runs.stored_rows import span, take_columns
from ...types import Indices, Matrix
from .path_loops import SquaredLoss
from .paths import Path, fit_path
from .problem import NONE, Distilled, FitProblem
from .regressors import Regressors

MIN_SPREAD = 1e-6  # of a column among some rows, below which it is constant there
MIN_ONE_LESS_LEVERAGE = 0.05  # so that no row left out has a residual beyond 20 times its own


@dataclass(frozen=True, eq=False, kw_only=True)
class SumOfColumns(Distilled):
    """A fit of which a part is a weighted sum of columns, which can be taken out again.

    `coefficients` are their weights, (q, columns).
    """

    regressors: Regressors
    coefficients: Matrix

    def without(self, sets: Sequence[Indices]) -> NDArray[np.float64]:
        """Residuals with what some columns contributed to the sum, all else being equal."""
        n_features, size = len(self.regressors.features), self.coefficients.shape[1]
        found = super().without(sets)
        for i, columns in enumerate(sets):
            columns = columns[columns < n_features]
            taken = np.concatenate([columns + start for start in range(0, size, n_features)])
            if self.coefficients[:, taken].any():
                own = np.zeros_like(self.coefficients)
                own[:, taken] = self.coefficients[:, taken]
                found[:, i] += self.regressors.combined(own)
        return found


@dataclass(frozen=True)
class Lasso:
    r"""LASSO on Z, or on Z and \|Z\|, whichever has the smaller estimated error; ``"lasso"``.

    All columns of the target are fitted by the same features. Lambda is that of least generalised
    cross-validation. The residual is that of the penalised fit itself; a refit without penalty
    takes more of the noise along.

    Examples
    --------
    >>> from smrmr.conditional import Lasso
    >>> Lasso().alias
    'lasso'
    """

    alias: ClassVar[str] = "lasso"

    def fit(self, problem: FitProblem, out: Indices) -> Distilled:
        """The fit that never sees the columns `out`.

        Parameters
        ----------
        problem
            Features and target.
        out
            Columns to leave out.

        Returns
        -------
        Distilled
            Residuals of the target.
        """
        path = problem.lasso(out)
        residuals, _ = lasso_residuals(problem, path)
        return SumOfColumns(
            residuals=residuals,
            used=lasso_features(problem, path),
            depends_on=np.union1d(*map(problem.entered, problem.lassos)),
            to_refit=NONE,
            shape=problem.shape(path),
            regressors=problem.regressors,
            coefficients=path.chosen,
        )

    def held_out(self, problem: FitProblem) -> Matrix:
        """Residuals of rows left out, as seen from fits to the others.

        Features and lambda are chosen anew.

        Parameters
        ----------
        problem
            Features and target.

        Returns
        -------
        ndarray
            Residuals of the rows `FitProblem.judged`, (q, rows).
        """
        size = problem.lasso(NONE).size
        return problem.predict_folds(
            lambda known, new: _predicted_residuals(problem, size, known, new)
        )


def _predicted_residuals(problem: FitProblem, size: int, known: Indices, new: Indices) -> Matrix:
    """Residuals of new rows under a LASSO of known ones on the first `size` columns."""
    regressors, Y = problem.regressors, problem.target.values
    centre, scale = Y[:, known].mean(axis=1), Y[:, known].std(axis=1)
    targets = (Y[:, known] - centre[:, None]) / np.where(scale > 0, scale, 1.0)[:, None]
    inside = take_columns(span(regressors.columns, 0, size), known).astype(np.float64, copy=False)
    mean = inside.mean(axis=1, keepdims=True)
    inside -= mean
    spread = np.sqrt(np.einsum("ki,ki->k", inside, inside) / len(known))[:, None]
    spread = np.where(spread > MIN_SPREAD, spread, np.inf)
    inside /= spread
    loss = SquaredLoss.by_columns(targets @ inside.T / len(known), inside, targets)
    freedom = len(known) - len(regressors.covariate_basis)
    out = np.tile(~problem.allowed(NONE), size // problem.n_features)
    coefficients = fit_path(loss, freedom, out).chosen
    used = np.flatnonzero(coefficients.any(axis=0))
    outside = (take_columns(regressors.columns[used], new) - mean[used]) / spread[used]
    predicted = coefficients[:, used] @ outside
    return np.asarray(Y[:, new] - centre[:, None] - scale[:, None] * predicted)


def lasso_residuals(problem: FitProblem, path: Path) -> tuple[Matrix, Matrix]:
    """Residuals of a LASSO, and the same as seen from each row left out.

    Leverages are those of least squares on the columns that take part, made smaller by as much as
    shrinkage of several columns of the target takes from its degrees of freedom.
    """
    support = np.flatnonzero(path.chosen.any(axis=0))
    residuals = problem.target.values - problem.regressors.combined(path.chosen)
    leverage = problem.regressors.leverage(support, path.freedom)
    return residuals, residuals / np.maximum(1 - leverage, MIN_ONE_LESS_LEVERAGE)


def lasso_features(problem: FitProblem, path: Path) -> Indices:
    """Features that take part in a LASSO."""
    return np.unique(np.flatnonzero(path.chosen.any(axis=0)) % problem.n_features)
