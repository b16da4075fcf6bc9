"""Finds what many features share: principal components beyond what noise has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from scipy.linalg import eigh, solve_triangular

from ..runs.stored_rows import (
    RowMatrix,
    column_blocks,
    products_of_columns,
    products_of_rows,
    row_blocks,
)
from ..types import Indices, Matrix, Vector

BEYOND_NOISE = 1.5  # times the largest eigenvalue of independent features, which neighbours exceed
ROWS_PER_COMPONENT = 6  # at least
NEGLIGIBLE = 0.05  # share of a component up to which a feature may be part of it at first
MAX_SAMPLE = 2000  # features from which components are found where rows are many as well


@dataclass(frozen=True, eq=False)
class CommonPart:
    """What features outside a hypothesis share.

    `vectors` are orthonormal rows, (m, n); `lengths` the norm of each of the p features without
    them, relative to the whole.
    """

    vectors: Matrix
    lengths: Vector


@dataclass(frozen=True, eq=False)
class CommonPartByNeed:
    """The same, worked out whenever it is read: vectors of many hypotheses would fill memory."""

    components: Components
    features: Indices
    Z: RowMatrix

    @property
    def vectors(self) -> Matrix:
        """Orthonormal rows, (m, n)."""
        return self.components.without(self.features, self.Z[self.features]).vectors

    @cached_property
    def lengths(self) -> Vector:
        """Norm of each feature without them, relative to the whole."""
        return self.components.lengths_without(self.features)


@dataclass(frozen=True, eq=False)
class Components:
    r"""Leading principal components of standardised features.

    With p features and n rows those whose eigenvalue of :math:`Z'Z / n` is beyond 1.5 times
    :math:`(1 + \sqrt{p / n})^2`, the edge of what independent features have (Marchenko and Pastur
    1967), one for every six rows at most. Where there are more than 2,000 features and rows, so
    many features, evenly spread, stand for all.

    Attributes
    ----------
    vectors
        Orthonormal rows, (m, n).
    values
        Their eigenvalues, (m,).
    loadings
        Inner products of features with them, (p, m).
    sample
        The features that they are made of.
    n_free
        Number of rows less what covariates take up.
    """

    vectors: Matrix
    values: Vector
    loadings: Matrix
    sample: Indices
    n_free: int

    @classmethod
    def of(cls, Z: RowMatrix, n_free: int) -> Components:
        """Those of the rows of Z, each a feature of mean 0 and variance 1."""
        p, n = Z.shape
        size = p if min(p, n) <= MAX_SAMPLE else MAX_SAMPLE
        sample = np.linspace(0, p - 1, size).astype(np.intp)
        by_sample = n <= size
        small = (products_of_columns if by_sample else products_of_rows)(Z, sample)
        bounds = n * _edge(size, n_free), np.inf
        values, vectors = eigh(small, subset_by_value=bounds, check_finite=False)
        most = max(1, n_free // ROWS_PER_COMPONENT)
        values, vectors = values[::-1][:most], vectors[:, ::-1][:, :most]
        rows = np.empty((vectors.shape[1], n))
        if by_sample:
            rows[:] = vectors.T
        elif len(rows):
            weights = (vectors / np.sqrt(values)).T
            for some in column_blocks((size, n)):
                rows[:, some] = weights @ Z[sample, some].astype(np.float64, copy=False)
        loadings = np.zeros((p, len(rows)))
        if len(rows):
            for block in row_blocks(Z.shape):
                loadings[block] = Z[block] @ rows.T
        return cls(rows, values / n, loadings, sample, n_free)

    @cached_property
    def of_all(self) -> CommonPart:
        """The components of all features."""
        shares = np.sum(self.loadings**2, axis=1) / self.vectors.shape[1]
        return CommonPart(self.vectors, np.sqrt(np.maximum(1 - shares, 0.0)))

    def part_without(self, features: Indices, Z: RowMatrix, by_need: bool) -> AnyCommonPart:
        """The same as `without`, of rows of Z; worked out now or by need."""
        if by_need:
            return CommonPartByNeed(self, features, Z)
        return self.without(features, Z[features])

    def consist_of(self, features: Indices) -> bool:
        """Whether features are more than a twentieth of any component."""
        if not len(self.values):
            return False
        own = self.loadings[features[np.isin(features, self.sample)]]
        shares = np.sum(own**2, axis=0) / (self.values * self.vectors.shape[1])
        return bool(shares.max(initial=0.0) > NEGLIGIBLE)

    def without(self, features: Indices, columns: Matrix) -> CommonPart:
        """The components of all but some features, whose columns these are.

        From the best ones in the span of all components, by a step of power iteration with the
        other features alone.
        """
        if not len(self.values):
            return self.of_all
        inside, n = np.isin(features, self.sample), self.vectors.shape[1]
        own, columns = self.loadings[features[inside]], columns[inside]
        turned, _ = self._turned_without(own)
        weights, own_weights = turned.T * self.values, (own @ turned).T / n
        others = np.empty((len(weights), n))
        for some in column_blocks(others.shape):
            others[:, some] = weights @ self.vectors[:, some] - own_weights @ columns[:, some]
        _make_orthonormal(others)
        return CommonPart(others, self.lengths_without(features))

    def lengths_without(self, features: Indices) -> Vector:
        """Norm of each feature without the components of all but some features."""
        lengths, n = self.of_all.lengths, self.vectors.shape[1]
        _, gone = self._turned_without(self.loadings[features[np.isin(features, self.sample)]])
        if gone.shape[1]:
            lengths = np.sqrt(lengths**2 + np.sum((self.loadings @ gone) ** 2, axis=1) / n)
        return lengths

    def _turned_without(self, own: Matrix) -> tuple[Matrix, Matrix]:
        """Directions among components that count without features of these loadings, and others."""
        n = self.vectors.shape[1]
        values, turned = np.linalg.eigh(np.diag(self.values) - own.T @ own / n)
        is_left = values > _edge(len(self.sample) - len(own), self.n_free)
        return turned[:, is_left], turned[:, ~is_left]


def _make_orthonormal(rows: Matrix) -> None:
    """Put orthonormal rows that span the same in place of rows that are far from alike.

    By their inner products, so that nothing else is as large; twice, for what rounding leaves.
    """
    for _ in range(2):
        rows /= np.sqrt(np.einsum("ki,ki->k", rows, rows))[:, None]
        factor = np.linalg.cholesky(rows @ rows.T)
        to_orthonormal = solve_triangular(factor, np.eye(len(rows)), lower=True)
        for some in column_blocks(rows.shape):
            rows[:, some] = to_orthonormal @ rows[:, some]


def _edge(p: int, n: int) -> float:
    """Eigenvalue from which on a component counts."""
    return float(BEYOND_NOISE * (1 + np.sqrt(p / n)) ** 2)


AnyCommonPart: TypeAlias = CommonPart | CommonPartByNeed
