"""Holds the columns that fits of the target are made of, and what linear fits need of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf

from ...runs.stored_rows import RowMatrix, span
from ...types import Indices, Matrix, Vector
from ..scores import standardised
from .path_loops import SquaredLoss

ROWS_AT_ONCE = 4096  # that are worked on together
MOST_LEVERAGES = 10_000  # rows whose leverages are worked out one by one
MOST_IN_GRAM = 4096  # columns whose inner products are all worked out,
GRAM_PER_ROW = 4  # if there are no more of them than this for each row
MOST_ALIKE = 0.97  # correlation of Z with |Z| from which on |Z| adds nothing, as with many zeros
JITTER = 1e-10  # of the trace of inner products, so that their Cholesky factor exists


@dataclass(frozen=True, eq=False)
class Regressors:
    r"""Columns that fits of the target are made of: Z, then \|Z\|.

    They are free of what covariates span, the orthonormal rows `covariate_basis`, and so is the
    target: that is a fit in which covariates take part without a penalty. Of many rows columns are
    held in single precision, and worked on in double precision, some rows at a time.
    """

    columns: RowMatrix
    covariate_basis: Matrix

    @property
    def features(self) -> RowMatrix:
        r"""Columns Z, without \|Z\|."""
        return span(self.columns, 0, len(self.columns) // 2)

    @cached_property
    def gram(self) -> Matrix:
        """Inner products of all columns, over n."""
        total = np.zeros((len(self.columns), len(self.columns)))
        for rows in self._blocks():
            block = self.columns[:, rows].astype(np.float64, copy=False)
            total += block @ block.T
        return total / self.n_rows

    def loss(self, Y: Matrix, size: int) -> SquaredLoss:
        """The squared loss of many fits of the rows of Y, (q, n), to the first `size` columns."""
        gain = np.ascontiguousarray(self.products(Y)[:, :size])
        if self._by_gram:
            return SquaredLoss.by_gram(gain, self.gram)
        columns = np.ascontiguousarray(self.columns[:size])
        return SquaredLoss.by_columns(gain, columns, np.ascontiguousarray(Y))

    def products(self, Y: Matrix) -> Matrix:
        """Inner products of the rows of Y, (q, n), with all columns, over n."""
        total = np.zeros((len(Y), len(self.columns)))
        for rows in self._blocks():
            total += Y[:, rows] @ self.columns[:, rows].astype(np.float64, copy=False).T
        return total / self.n_rows

    def combined(self, coefficients: Matrix) -> Matrix:
        """Sums of columns, weighted by the coefficients of each row, (q, columns)."""
        support = np.flatnonzero(coefficients.any(axis=0))
        weights, found = coefficients[:, support], np.empty((len(coefficients), self.n_rows))
        for rows in self._blocks():
            found[:, rows] = weights @ self.columns[support, rows].astype(np.float64, copy=False)
        return found

    def leverage(self, support: Indices, freedom: float) -> Vector:
        """Weight of every row in its own fit to some columns, covariates and a constant.

        The columns take up `freedom` degrees of freedom. Of many rows all have the same, the mean.
        """
        if self.n_rows > MOST_LEVERAGES or not len(support):
            return np.asarray(self._covariate_leverage + freedom / self.n_rows)
        held = self.columns[support]
        if self._by_gram:
            product = self.n_rows * self.gram[np.ix_(support, support)]
        else:
            product = held @ held.T
        product += JITTER * np.trace(product) * np.eye(len(support))
        factor = dpotrf(product, lower=1)[0]
        orthonormal = dtrsm(1.0, factor, held.T, side=1, lower=1, trans_a=1, overwrite_b=1)
        weight = np.einsum("ik,ik->i", orthonormal, orthonormal)
        return np.asarray(self._covariate_leverage + freedom / len(support) * weight)

    @property
    def _by_gram(self) -> bool:
        """Whether all inner products are worked out."""
        return len(self.columns) <= min(GRAM_PER_ROW * self.n_rows, MOST_IN_GRAM)

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


def absolute_values(Z: Matrix) -> Matrix:
    r"""Standardised \|Z\| of standardised rows; 0 where it nearly copies Z or its mirror image."""
    found = standardised(np.abs(Z))
    alike = np.abs(np.einsum("ki,ki->k", Z, found)) > MOST_ALIKE * Z.shape[1]
    found[alike] = 0.0
    return found
