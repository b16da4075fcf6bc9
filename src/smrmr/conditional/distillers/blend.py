"""Offers Blend: several fits of the target as one, weighted by their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...types import Indices, Mask, Matrix, Vector
from .kernel import Kernel
from .lasso import Lasso, SumOfColumns, lasso_features, lasso_residuals
from .problem import Distilled, FitProblem

SHARPNESS = 2  # power of the errors that fits are weighted by
LINK_RIDGE = 0.05


@dataclass(frozen=True)
class Blend:
    r"""LASSO and kernel ridge regression together, ``"blend"`` for short.

    With :math:`\hat e_i` the residual of fit i as seen from rows left out and :math:`w_i \propto
    \overline{\hat e_i^2}^{\,-2}`, the blend is :math:`\sum_i w_i \hat e_i`; for classes its
    prediction goes through a logistic regression. The LASSO takes part with the residual of its own
    rows. Features of both fits were chosen by all rows, which makes both errors too small and
    leaves their ratio, which weighs them, nearly as it is. The blend is judged by the LASSO alone,
    features and lambda chosen anew without the rows that judge.

    Parameters
    ----------
    proposals
        What proposes features for the kernel fit, see `Kernel`.

    Raises
    ------
    ValueError
        If there is no such proposal.

    Examples
    --------
    >>> from smrmr.conditional import Blend
    >>> Blend(proposals="mcp").alias
    'blend'
    """

    proposals: str = "lasso+mcp"
    alias: ClassVar[str] = "blend"

    def __post_init__(self) -> None:
        Kernel(self.proposals)  # which checks them

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
        of_lasso, held_out = lasso_residuals(problem, path)
        kernel = Kernel(self.proposals).fit_after(problem, out, path)
        trust = np.mean(held_out**2) ** SHARPNESS
        trust = trust / (trust + np.mean(kernel.residuals**2) ** SHARPNESS)
        together = (1 - trust) * held_out + trust * kernel.residuals
        if problem.target.is_class is not None:
            predictions = problem.target.values - together
            basis = problem.regressors.covariate_basis
            together = np.stack(
                [
                    logistic_residual(inside, prediction, basis)
                    for inside, prediction in zip(problem.target.is_class, predictions, strict=True)
                ]
            )
            if len(together) > 1:  # chances of all classes add up to 1
                spread = problem.target.is_class.std(axis=1, keepdims=True)
                together = together - np.mean(together * spread, axis=0) / spread
        residuals = (1 - trust) * of_lasso + trust * together
        return SumOfColumns(
            residuals=residuals - residuals.mean(axis=1, keepdims=True),
            used=np.union1d(lasso_features(problem, path), kernel.used),
            depends_on=kernel.depends_on,  # which sees the paths of the LASSO too
            to_refit=kernel.used,
            shape=problem.shape(path),
            regressors=problem.regressors,
            coefficients=(1 - trust**2) * path.chosen,
        )

    def held_out(self, problem: FitProblem) -> Matrix:
        """Residuals of rows left out, as seen from fits to the others: those of the LASSO.

        Parameters
        ----------
        problem
            Features and target.

        Returns
        -------
        ndarray
            Residuals of the rows `FitProblem.judged`, (q, rows).
        """
        return Lasso().held_out(problem)


def logistic_residual(is_class: Mask, prediction: Vector, covariate_basis: Matrix) -> Vector:
    """Residual of a class under a logistic regression on one prediction and covariates.

    In units of the standardised class; covariates are orthonormal rows.
    """
    covariates = np.sqrt(len(is_class)) * covariate_basis
    inputs = np.concatenate([np.ones((1, len(is_class))), prediction[None], covariates])
    weights = np.zeros(len(inputs))
    weights[1] = 1.0
    ridge = np.diag([1e-6, *[LINK_RIDGE] * (len(inputs) - 1)])
    for _ in range(30):
        chance = _logistic(weights @ inputs)
        slope = inputs @ (is_class - chance) - ridge @ weights
        step = np.linalg.solve((inputs * (chance * (1 - chance))) @ inputs.T + ridge, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-8:
            break
    return np.asarray((is_class - _logistic(weights @ inputs)) / np.std(is_class))


def _logistic(values: Vector) -> Vector:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -30, 30))))
