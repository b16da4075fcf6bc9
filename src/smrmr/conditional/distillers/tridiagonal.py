r"""Solves symmetric systems for many ridges after one reduction to a tridiagonal matrix.

With :math:`K = Q T Q'` and T tridiagonal, what ridge regressions ask of :math:`(K + \rho)^{-1}`
takes few operations for every :math:`\rho`, and no eigenvectors, which cost the most.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dorgqr, dormqr, dsytrd

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

    def judged(self, rows: Matrix, ridges: Vector) -> tuple[Vector, Vector]:
        r"""Trace of K (K + ridge)^-1, and the sum over rows r of r (K + 2 ridge) (K + ridge)^-2 r'.

        The latter is what ridge regressions explain of a target with inner products r.
        """
        columns, room = np.zeros((len(self.diagonal), len(rows))), BLOCK * len(self.diagonal)
        columns[: rows.shape[1]] = rows.T
        columns[1:] = dormqr("L", "T", self.reflectors, self.scales, columns[1:], room)[0]
        freedom, explained = np.empty((2, len(ridges)))
        _judge(self.diagonal, self._before, ridges, columns, freedom, explained)
        return freedom, explained

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
        columns = np.concatenate([Q.T, (Y @ Q).T], axis=1)
        _invert(
            self.diagonal, self._before, ridges, columns, np.empty(size + len(Y)), diagonals, solved
        )
        return diagonals, solved

    @cached_property
    def _before(self) -> Vector:
        """What is left of the diagonal of T."""
        return np.concatenate([[0.0], self.beside])


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


@compiled
def _judge(
    diagonal: Array, before: Array, ridges: Array, columns: Array, freedom: Array, explained: Array
) -> None:
    """Fill in what `Tridiagonal.judged` returns.

    With T + ridge = L D L' the inner product of a column with its solution is the sum of squares of
    D^-1/2 L^-1 times the column, that with the inverse squared its derivative by the ridge, less
    the sign; and the trace of the inverse is the derivative of the sum of log D.
    """
    size = len(diagonal)
    for r in range(len(ridges)):
        freedom[r], explained[r] = size, 0.0
        for c in range(columns.shape[1]):
            pivot, value, trace = 1.0, 0.0, 0.0
            pivot_slope, value_slope = 0.0, 0.0  # derivatives by the ridge
            for j in range(size):
                factor = before[j] / pivot
                factor_slope = -factor * pivot_slope / pivot
                pivot = diagonal[j] + ridges[r] - factor * before[j]
                pivot_slope = 1.0 - factor_slope * before[j]
                value_slope = -factor_slope * value - factor * value_slope
                value = columns[j, c] - factor * value
                share = value / pivot
                explained[r] += share * value
                explained[r] -= ridges[r] * share * (2 * value_slope - share * pivot_slope)
                trace += pivot_slope / pivot
            if c == 0:
                freedom[r] = size - ridges[r] * trace
