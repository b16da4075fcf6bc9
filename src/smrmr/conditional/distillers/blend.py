"""Offers Blend: several fits of the target as one, weighted by their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...types import Indices, Mask, Matrix, Vector
from .kernel import Kernel
from .lasso import lasso_fit
from .problem import Distilled, FitProblem

SHARPNESS = 2  # power of the errors that fits are weighted by
LINK_RIDGE = 0.05


@dataclass(frozen=True)
class Blend:
    r"""LASSO and kernel ridge regression together, ``"blend"`` for short: the default.

    With :math:`\hat e_i` the residual of fit i as seen from rows left out and :math:`w_i \propto
    \overline{\hat e_i^2}^{\,-2}`, the blend is :math:`\sum_i w_i \hat e_i`; for classes its
    prediction goes through a logistic regression. The LASSO takes part with the residual of its own
    rows.

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
            Residual of the target, and as seen from rows left out.
        """
        lasso = problem.lasso(out)  # of which both make use
        sparse = lasso_fit(problem, *lasso)
        kernel = Kernel(self.proposals).fit_after(problem, out, *lasso)
        trust = sparse.error**SHARPNESS
        trust = trust / (trust + kernel.error**SHARPNESS)
        held_out = together = (1 - trust) * sparse.held_out + trust * kernel.held_out
        if problem.target.is_class is not None:
            prediction = problem.target.values - held_out
            basis = problem.regressors.covariate_basis
            together = logistic_residual(problem.target.is_class, prediction, basis)
        residual = (1 - trust) * sparse.residual + trust * together
        return Distilled(
            residual=residual - residual.mean(),
            held_out=held_out,
            used=np.union1d(sparse.used, kernel.used),
            depends_on=kernel.depends_on,  # which sees the paths of the LASSO too
            uses_absolute_values=sparse.uses_absolute_values,
            explained=sparse.explained | kernel.explained,
        )


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
