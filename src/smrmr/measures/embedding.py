r"""Multiplies centred kernel matrices, as low-rank factors or row by row.

A kernel measure embeds a column as its centred kernel matrix :math:`H K H`. Where
:math:`H K H = Z' Z` with few rows in Z, inner products are
:math:`\langle K_k, K_l \rangle = \| Z_k Z_l' \|_F^2`; otherwise the matrices are written a slab at
a time and multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..types import Indices, Kernel, Matrix, Vector
from . import kernel_loops as loops

SLAB = 8192  # entries of every kernel matrix written at a time
LEAD = 0.01  # rows of a factor with more of the norm than this are multiplied in float64
NEGLIGIBLE = 1e-10  # products of rows bounded by this are left out


@dataclass(frozen=True)
class Points:
    """Columns as points (k, d, n) whose kernel matrices can be written."""

    values: NDArray[np.float64]
    kinds: NDArray[np.int8]
    scales: Vector
    kernel: Kernel | None = None

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.values.shape[2])

    def rows(self, start: int, stop: int, means: Matrix) -> Matrix:
        """Rows `start` to `stop` of the kernel matrices, packed, minus the given row means."""
        n = self.n_rows
        out = np.empty((len(self.values), (stop - start) * (2 * n - start - stop + 1) // 2))
        if self.kernel is None:
            loops.kernel_rows(self.values, self.kinds, self.scales, means, start, stop, out)
            return out
        upper = np.triu(np.ones((stop - start, n - start), dtype=bool))
        weights = np.sqrt(np.where(np.eye(stop - start, n - start), 1.0, 2.0))
        for k in range(len(out)):
            entries = self._kernel_rows(k, start, stop)[:, start:] + means[k].mean()
            entries -= means[k, start:stop, None] + means[k, start:]
            out[k] = (entries * weights)[upper]
        return out

    def matrix(self, k: int) -> Matrix:
        """Whole kernel matrix of column k, not centred."""
        n = self.n_rows
        if self.kernel is not None:
            return self._kernel_rows(k, 0, n)
        out = np.empty((n, n))
        loops.kernel_matrix(self.values[k], self.kinds[k], self.scales[k], out)
        return out

    def moments(self) -> tuple[Matrix, Vector]:
        """Row means and squared norm of every centred kernel matrix."""
        n = self.n_rows
        means, energies = np.empty((len(self.values), n)), np.zeros(len(self.values))
        if self.kernel is None:
            loops.kernel_moments(self.values, self.kinds, self.scales, means, energies)
            return means, energies
        for k in range(len(means)):
            squares = 0.0
            for start, stop in slabs(n):
                entries = self._kernel_rows(k, start, stop)
                means[k, start:stop] = entries.mean(axis=1)
                squares += (entries**2).sum()
            grand = means[k].mean()
            energies[k] = max(squares - 2 * n * (means[k] ** 2).sum() + (n * grand) ** 2, 0.0)
        return means, energies

    def _kernel_rows(self, k: int, start: int, stop: int) -> Matrix:
        assert self.kernel is not None
        points = self.values[k].T
        entries = np.asarray(self.kernel(points[start:stop], points), dtype=np.float64)
        if entries.shape != (stop - start, len(points)):
            raise ValueError(
                f"the kernel returned an array of shape {entries.shape} for {stop - start} and "
                f"{len(points)} points. It must return one row for each point of its first "
                "argument and one column for each point of its second."
            )
        return entries


@dataclass(frozen=True)
class Dense:
    """Columns whose kernel matrices are written out when needed."""

    columns: Indices
    points: Points
    means: Matrix
    energies: Vector

    @classmethod
    def of(cls, columns: Indices, points: Points) -> Dense:
        """Measure the kernel matrices once: row means and norms."""
        means, energies = points.moments()
        return cls(columns, points, means, energies)


@dataclass(frozen=True)
class Factor:
    """Rows Z (m, n) of one column with ``H K H = sqrt(energy) Z' Z``; none if it is constant."""

    rows: Matrix
    energy: float
    compressed: bool

    @classmethod
    def of(cls, rows: Matrix, compress: bool = False) -> Factor:
        """Normalise centred rows.

        To compress is to rotate them to orthogonal, decreasing ones and to drop the negligible,
        which pays when many products follow.
        """
        gram = rows @ rows.T
        energy = float((gram**2).sum())
        if energy == 0.0:
            return cls(rows[:0], energy, compress)
        rows = rows / energy**0.25
        if compress and len(rows) > 1:
            values, vectors = np.linalg.eigh(gram / np.sqrt(energy))
            rows = (vectors[:, values > NEGLIGIBLE].T @ rows)[::-1]
        return cls(rows, energy, compress)


@dataclass(frozen=True)
class Factors:
    """Columns whose centred kernel matrices have factors of few rows.

    `rows` is (m, k, n): row a of the factor of every column, divided by the root of the matrix's
    norm and padded with zeros. Once compressed, rows are orthogonal and decreasing; then the first
    few, in `lead`, carry nearly all of the norm in float64, and float32 is enough for the others.
    """

    columns: Indices
    points: Points | None
    rows: NDArray[np.floating]
    lead: NDArray[np.floating]
    energies: Vector
    bounds: Vector = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", _bounds(self.rows))

    @classmethod
    def of(cls, columns: Indices, points: Points | None, factors: Sequence[Factor]) -> Factors:
        """Pack the factors of the columns."""
        compressed = all(factor.compressed for factor in factors)
        n_rows = max(len(factor.rows) for factor in factors)
        rows = _packed(factors, n_rows, np.float32 if compressed else np.float64)
        n_lead = int((_bounds(rows) > LEAD).sum())
        lead = _packed(factors, n_lead, np.float64) if compressed else rows
        return cls(columns, points, rows, lead, np.array([factor.energy for factor in factors]))


KernelPart: TypeAlias = Dense | Factors


def slabs(n: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose upper triangles have about `SLAB` entries together."""
    start = 0
    while start < n:
        stop = min(n, start + max(1, SLAB // (n - start)))
        yield start, stop
        start = stop


def inner(a: KernelPart, b: KernelPart) -> Matrix:
    """Inner products of the embeddings of two parts."""
    if isinstance(a, Factors) and isinstance(b, Factors):
        return _inner_factors(a, b)
    return inner_dense(a, b)


def inner_dense(a: KernelPart, b: KernelPart) -> Matrix:
    """Inner products by writing both matrices.

    Centring one of the two is enough: what the other's missing row means add is orthogonal to it.
    """
    total = np.zeros((len(a.columns), len(b.columns)))
    (points_a, means_a), (points_b, means_b) = _written(a), _written(b)
    for start, stop in slabs(points_a.n_rows):
        rows_a = points_a.rows(start, stop, means_a)
        rows_b = rows_a if a is b else points_b.rows(start, stop, means_b)
        total += rows_a @ rows_b.T
    return total


def centred(rows: Matrix) -> Matrix:
    """Rows minus their means, twice: the second pass removes what rounding left."""
    rows = rows - rows.mean(axis=1, keepdims=True)
    return np.asarray(rows - rows.mean(axis=1, keepdims=True))


def _packed(
    factors: Sequence[Factor], n_rows: int, dtype: type[np.floating]
) -> NDArray[np.floating]:
    rows = np.zeros((n_rows, len(factors), factors[0].rows.shape[1]), dtype)
    for k, factor in enumerate(factors):
        rows[: len(factor.rows), k] = factor.rows[:n_rows]
    return rows


def _bounds(rows: NDArray[np.floating]) -> Vector:
    """Largest squared norm in every row: the product of two bounds bounds a squared product."""
    return np.asarray(np.einsum("akn,akn->ak", rows, rows).max(axis=1, initial=0.0))


def _written(part: KernelPart) -> tuple[Points, Matrix]:
    assert part.points is not None, "a measure without points has factors only"
    if isinstance(part, Dense):
        return part.points, part.means
    return part.points, np.zeros((len(part.columns), part.points.n_rows))


def _inner_factors(a: Factors, b: Factors) -> Matrix:
    total = _squared_products(a.lead, b.lead)
    for i, bound in enumerate(a.bounds):
        first = len(b.lead) if i < len(a.lead) else 0
        last = int((bound * b.bounds > NEGLIGIBLE).sum())
        if a is not b:
            total += _squared_products(a.rows[i : i + 1], b.rows[first:last])
            continue
        if i >= len(a.lead) and i < last:  # the same rows: each product once, then mirrored
            total += _squared_products(a.rows[i : i + 1], a.rows[i : i + 1])
        half = _squared_products(a.rows[i : i + 1], b.rows[max(first, i + 1) : last])
        total += half + half.T
    return np.asarray(total * np.sqrt(a.energies)[:, None] * np.sqrt(b.energies))


def _squared_products(a: NDArray[np.floating], b: NDArray[np.floating]) -> Matrix:
    """Sum over all rows of both of their squared inner products, for every pair of columns."""
    n = a.shape[2]
    products = a.reshape(-1, n) @ b.reshape(-1, n).T
    products *= products
    shape = a.shape[0], a.shape[1], b.shape[0], b.shape[1]
    return np.asarray(products.reshape(shape).sum(axis=(0, 2), dtype=np.float64))
