"""Holds the columns that fits of the target are made of, and what linear fits need of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...types import Indices, Matrix, Vector

ROWS_AT_ONCE = 4096  # that are worked on together
MOST_LEVERAGES = 10_000  # rows whose leverages are worked out one by one
JITTER = 1e-10  # of the trace of inner products, so that their Cholesky factor exists


@dataclass(frozen=True, eq=False)
class Regressors:
    r"""Columns that fits of the target are made of, shared by all its parts: Z, then \|Z\|.

    They are free of what covariates span, the orthonormal rows `covariate_basis`, and so is the
    target: that is a fit in which covariates take part without a penalty. Of many rows columns are
    held in single precision, and worked on in double precision, some rows at a time.
    """

    columns: Matrix
    covariate_basis: Matrix

    @property
    def features(self) -> Matrix:
        r"""Columns Z, without \|Z\|."""
        return self.columns[: len(self.columns) // 2]

    @cached_property
    def gram(self) -> Matrix:
        """Inner products of all columns, over n."""
        total = np.zeros((len(self.columns), len(self.columns)))
        for rows in self._blocks():
            block = self.columns[:, rows].astype(np.float64, copy=False)
            total += block @ block.T
        return total / self.n_rows

    def products(self, y: Vector) -> Vector:
        """Inner products of all columns with y, over n."""
        total = np.zeros(len(self.columns))
        for rows in self._blocks():
            total += self.columns[:, rows].astype(np.float64, copy=False) @ y[rows]
        return total / self.n_rows

    def residual(self, y: Vector, coefficients: Vector) -> Vector:
        """What a linear fit leaves of y."""
        support, left = np.flatnonzero(coefficients), y.copy()
        for rows in self._blocks():
            block = self.columns[support, rows].astype(np.float64, copy=False)
            left[rows] -= coefficients[support] @ block
        return left

    def leverage(self, support: Indices) -> Vector:
        """Weight of every row in its own fit to some columns, covariates and a constant.

        Of many rows all have the same, the mean.
        """
        if self.n_rows > MOST_LEVERAGES:
            return np.asarray(self._covariate_leverage + len(support) / self.n_rows)
        product = self.n_rows * self.gram[np.ix_(support, support)]
        product += JITTER * np.trace(product) * np.eye(len(support))
        to_orthonormal = np.linalg.inv(np.linalg.cholesky(product)).T
        return np.asarray(
            self._covariate_leverage
            + np.sum((self.columns[support].T @ to_orthonormal) ** 2, axis=1)
        )

    def _blocks(self) -> Iterator[slice]:
        for start in range(0, self.n_rows, ROWS_AT_ONCE):
            yield slice(start, start + ROWS_AT_ONCE)

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.columns.shape[1])

    @property
    def freedom(self) -> int:
        """Number of samples less what covariates take up."""
        return self.n_rows - len(self.covariate_basis)

    @cached_property
    def _covariate_leverage(self) -> Vector:
        """Weight of every row in its own fit to covariates and a constant."""
        return np.asarray(np.sum(self.covariate_basis**2, axis=0) + 1 / self.n_rows)
