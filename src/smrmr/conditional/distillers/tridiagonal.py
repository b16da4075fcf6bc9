r"""Solves symmetric systems for many ridges after one reduction to a tridiagonal matrix.

With :math:`K = Q T Q'` and T tridiagonal, what ridge regressions ask of :math:`(K + \rho)^{-1}`
takes few operations for every :math:`\rho`, and no eigenvectors, which cost the most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dorgqr, dormqr, dptsv, dsterf, dsytrd

from ...runs.compiled import compiled
from ...types import Matrix, Vector

Array = NDArray[Any]
BLOCK = 32  # columns that LAPACK works on together


@dataclass(frozen=True, eq=False)
class Tridiagonal:
    """A symmetric matrix K = Q T Q', T tridiagonal.

    Attributes
    ----------
    diagonal, beside
        What is on the diagonal of T and beside it.
    reflectors, scales
        Q as LAPACK holds it, without its first row and column, which are those of the identity.
    """

    diagonal: Vector
    beside: Vector
    reflectors: Matrix
    scales: Vector

    @classmethod
    def of(cls, K: Matrix) -> Tridiagonal:
        """That of a symmetric matrix; a single number has a row and a column of 0 added."""
        if len(K) == 1:
            K = np.pad(K, (0, 1))
        held, diagonal, beside, scales, _ = dsytrd(K, lower=1, lwork=BLOCK * len(K))
        return cls(diagonal, beside, np.asfortranarray(held[1:, :-1]), scales)

    def freedom(self, ridges: Vector) -> Vector:
        """Trace of K (K + ridge)^-1 for each ridge, K being positive semidefinite."""
        values = np.maximum(dsterf(self.diagonal, self.beside)[0], 0.0)[:, None]
        return np.asarray(np.sum(values / (values + ridges), axis=0))

    def explained(self, rows: Matrix, ridges: Vector) -> Vector:
        """Sum over rows r of r (K + 2 ridge) (K + ridge)^-2 r' for each ridge."""
        columns, room = np.zeros((len(self.diagonal), len(rows))), BLOCK * len(self.diagonal)
        columns[: rows.shape[1]] = rows.T
        columns[1:] = dormqr("L", "T", self.reflectors, self.scales, columns[1:], room)[0]
        found = np.empty(len(ridges))
        for i, ridge in enumerate(ridges):
            _, _, solved, _ = dptsv(self.diagonal + ridge, self.beside, columns)
            found[i] = np.sum(columns * solved) + ridge * np.sum(solved**2)
        return found

    def inverted(self, Y: Matrix, ridges: Vector) -> tuple[Matrix, NDArray[np.float64]]:
        """Diagonal of (K + ridge)^-1, and the rows of Y times it, for each ridge.

        Returns
        -------
        tuple of ndarray
            (ridges, size) and (ridges, rows, size).
        """
        size = len(self.diagonal)
        Q = np.zeros((size, size))
        Q[0, 0] = 1.0
        Q[1:, 1:] = dorgqr(self.reflectors, self.scales, lwork=BLOCK * size)[0]
        diagonals = np.zeros((len(ridges), size))
        solved = np.zeros((len(ridges), *Y.shape))
        before = np.concatenate([[0.0], self.beside])
        columns = np.concatenate([Q.T, (Y @ Q).T], axis=1)
        _invert(self.diagonal, before, ridges, columns, np.empty(size + len(Y)), diagonals, solved)
        return diagonals, solved


@compiled
def _invert(
    diagonal: Array,
    before: Array,
    ridges: Array,
    columns: Array,
    room: Array,
    diagonals: Array,
    solved: Array,
) -> None:
    """Add (T + ridge)^-1 between each of the first columns and itself, and the last ones.

    With T + ridge = L D L', row by row of the inverse of L times the columns; `before` is what is
    left of the diagonal.
    """
    size = diagonals.shape[1]
    for r in range(len(ridges)):
        pivot = 1.0
        for i in range(len(room)):
            room[i] = 0.0
        for j in range(len(diagonal)):
            factor = before[j] / pivot
            pivot = diagonal[j] + ridges[r] - factor * before[j]
            share = 1.0 / pivot
            for i in range(len(room)):
                room[i] = columns[j, i] - factor * room[i]
            for i in range(size):
                diagonals[r, i] += share * room[i] * room[i]
            for c in range(size, len(room)):
                weight = share * room[c]
                for i in range(size):
                    solved[r, c - size, i] += weight * room[i]
