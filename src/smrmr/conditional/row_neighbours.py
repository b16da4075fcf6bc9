"""Asks whether two residuals go together because both depend on covariates.

Rows with nearly the same covariates are compared crosswise: the residual of the target in one with
that of the feature in the other. Such products are 0 in the mean, however much the feature does,
unless both residuals still depend on the covariates, in whatever form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..types import Matrix, Vector

N_NEAR = 4  # rows of nearly the same covariates, of which the nearest counts most


@dataclass(frozen=True, eq=False)
class RowNeighbours:
    """Weights of pairs of rows by their covariates, and their moments.

    Attributes
    ----------
    weights
        Symmetric sparse matrix of weights, 0 on its diagonal, (n, n).
    basis
        Orthonormal rows that residuals have no part in: a constant, and what was adjusted for.
    trace, squares
        Of the weights between residuals: the sum of eigenvalues, and of their squares.
    """

    weights: Any
    basis: Matrix
    trace: float
    squares: float

    @classmethod
    def of(cls, coordinates: Matrix, covariate_basis: Matrix) -> RowNeighbours:
        """Those of rows with some coordinates, (n, c)."""
        from scipy.sparse import csr_array  # both take long to load
        from scipy.spatial import cKDTree

        n = len(coordinates)
        most = min(N_NEAR, n - 1)
        near = cKDTree(coordinates).query(coordinates, most + 1)[1]
        # of many rows at the same place, the row itself need not come first
        itself = near == np.arange(n)[:, None]
        itself[~itself.any(axis=1), -1] = True
        near = near[~itself].reshape(n, most)
        values = np.tile(1 / np.arange(1, most + 1), n)
        one_way = csr_array((values, (np.repeat(np.arange(n), most), near.ravel())), shape=(n, n))
        weights = (one_way + one_way.T) / 2
        basis = np.vstack([np.full(n, 1 / np.sqrt(n)), covariate_basis])
        moved = basis @ weights
        inside = moved @ basis.T
        squares = (weights**2).sum() - 2 * np.sum(moved**2) + np.sum(inside**2)
        return cls(weights, basis, -float(np.trace(inside)), float(squares))

    def excess(self, target: Matrix, residual: Vector) -> float:
        """How far residuals of the target and of a feature go together across rows, in sds.

        `target` is (q, n). Positive where they do so as they go together within rows, 0 in the mean
        if not both depend on covariates. Of several columns of the target that of the largest
        correlation counts.
        """
        E, (r,) = self._unit(target), self._unit(residual[None])
        within = E @ r
        best = int(np.argmax(np.abs(within)))
        c, d = within[best], len(r) - len(self.basis)
        across = E[best] @ (self.weights @ r) - c * self.trace / d
        spread = (self.squares - self.trace**2 / d) * (1 + c**2 - 2 * c**2 / d)
        variance = spread / ((d - 1) * (d + 2))
        return float(np.sign(c) * across / np.sqrt(variance)) if variance > 0 else 0.0

    def _unit(self, values: Matrix) -> Matrix:
        left = values - (values @ self.basis.T) @ self.basis
        length = np.linalg.norm(left, axis=1, keepdims=True)
        return np.asarray(left / np.where(length > 0, length, 1.0))
