"""Offers Lasso: a sparse linear fit of the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...types import Indices, Vector
from .problem import Distilled, FitProblem, mean_square

MIN_ONE_LESS_LEVERAGE = 0.05  # so that no row left out has a residual beyond 20 times its own


@dataclass(frozen=True)
class Lasso:
    r"""LASSO on Z, or on Z and \|Z\|, whichever has the smaller estimated error; ``"lasso"``.

    Lambda is that of least generalised cross-validation. The residual is that of the penalised fit
    itself; a refit without penalty takes more of the noise along.

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
            Residual of the target, and as seen from rows left out.
        """
        return lasso_fit(problem, *problem.lasso(out))


def lasso_fit(problem: FitProblem, with_abs: bool, coefficients: Vector) -> Distilled:
    """The fit of these coefficients, see `FitProblem.lasso`."""
    support = np.flatnonzero(coefficients)
    residual = problem.regressors.residual(problem.target.values, coefficients)
    leverage = problem.regressors.leverage(support)
    held_out = residual / np.maximum(1 - leverage, MIN_ONE_LESS_LEVERAGE)
    entered = [problem.entered(absolute, concave=False) for absolute in (False, True)]
    return Distilled(
        residual=residual,
        held_out=held_out,
        used=np.unique(support % problem.n_features),
        depends_on=np.union1d(*entered),
        uses_absolute_values=with_abs,
        explained={"LASSO": 1 - mean_square(held_out)},
    )
