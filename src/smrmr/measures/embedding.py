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

from ..data.columns import Block
from ..types import Indices, Kernel, Mask, Matrix, Vector
from . import kernel_loops as loops

SLAB = 8192  # entries of every kernel matrix written at a time
LEAD = 0.01  # rows of a factor with more of the norm than this are multiplied in float64
PRODUCTS = 10**6  # inner products of rows held at a time
NEGLIGIBLE = 1e-10  # products of rows bounded by this are left out


@dataclass(frozen=True)
class Points:
    """Columns as points (k, d, n) whose kernel matrices can be written.

    A user's `kernel` takes the place of the `kinds`; the `widths` then only scale its values.
    """

    values: NDArray[np.float64]
    kinds: NDArray[np.int8]
    widths: Vector
    kernel: Kernel | None = None

    @classmethod
    def of(cls, values: NDArray[np.float64], kind: int, widths: Vector | None = None) -> Points:
        """Points that all have the same kind of kernel."""
        kinds = np.full(len(values), kind, np.int8)
        return cls(values, kinds, np.ones(len(values)) if widths is None else widths)

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.values.shape[2])

    def take(self, columns: Mask) -> Points:
        """Return the points of the chosen columns."""
        chosen = self.values[columns], self.kinds[columns], self.widths[columns]
        return Points(*chosen, self.kernel)

    def rows(self, start: int, stop: int, means: Matrix) -> Matrix:
        """Rows `start` to `stop` of the kernel matrices, packed, minus the given row means."""
        n = self.n_rows
        out = np.empty((len(self.values), (stop - start) * (2 * n - start - stop + 1) // 2))
        if self.kernel is None:
            loops.kernel_rows(self.values, self.kinds, self.widths, means, start, stop, out)
            return out
        upper = np.triu(np.ones((stop - start, n - start), dtype=bool))
        weights = np.sqrt(np.where(np.eye(stop - start, n - start), 1.0, 2.0))
        for k in range(len(out)):
            entries = self._kernel_rows(k, start, stop)[:, start:] / self.widths[k]
            entries += means[k].mean() - means[k, start:stop, None] - means[k, start:]
            out[k] = (entries * weights)[upper]
        return out

    def matrix(self, k: int) -> Matrix:
        """Whole kernel matrix of column k, not centred."""
        n = self.n_rows
        if self.kernel is not None:
            return self._kernel_rows(k, 0, n)
        out = np.empty((n, n))
        loops.kernel_matrix(self.values[k], self.kinds[k], self.widths[k], out)
        return out

    def moments(self) -> tuple[Matrix, Vector]:
        """Row means and squared norm of every centred kernel matrix; norm 0 for constants."""
        n = self.n_rows
        means, energies = np.empty((len(self.values), n)), np.zeros(len(self.values))
        if self.kernel is None:
            loops.kernel_moments(self.values, self.kinds, self.widths, means, energies)
        else:
            for k in range(len(means)):
                for start, stop in slabs(n):
                    entries = self._kernel_rows(k, start, stop) / self.widths[k]
                    means[k, start:stop] = entries.mean(axis=1)
            for start, stop in slabs(n):
                energies += (self.rows(start, stop, means) ** 2).sum(axis=1)
        energies[(self.values == self.values[:, :, :1]).all(axis=(1, 2))] = 0.0
        return means, energies

    def _kernel_rows(self, k: int, start: int, stop: int) -> Matrix:
        assert self.kernel is not None
        return checked_kernel(self.kernel, self.values[k].T, start, stop)


def checked_kernel(kernel: Kernel, points: Matrix, start: int, stop: int) -> Matrix:
    """Rows `start` to `stop` of a user's kernel matrix, or an error that says what is wrong."""
    entries = np.asarray(kernel(points[start:stop], points))
    if entries.shape != (stop - start, len(points)):
        raise ValueError(
            f"the kernel returned an array of shape {entries.shape} for {stop - start} and "
            f"{len(points)} points. It must return one row for each point of its first argument "
            "and one column for each point of its second."
        )
    if entries.dtype.kind not in "biuf" or not np.isfinite(entries).all():
        raise ValueError("the kernel returned values that are not finite real numbers.")
    square = entries[:, start:stop]
    if not np.allclose(square, square.T, rtol=1e-8, atol=1e-12 * np.abs(square).max(initial=0)):
        raise ValueError("the kernel is not symmetric: k(a, b) must equal k(b, a).")
    return entries.astype(np.float64)


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
    """Rows Z (m, n) of one column, largest first, with ``H K H = sqrt(energy) Z' Z``.

    A constant column has no rows.
    """

    rows: Matrix
    energy: float
    compressed: bool

    @classmethod
    def of(cls, rows: Matrix, compress: bool = False) -> Factor:
        """Normalise centred rows.

        To compress is to rotate them to orthogonal ones and to drop the negligible, which pays
        when many products follow.
        """
        gram = rows @ rows.T
        energy = float((gram**2).sum())
        if energy == 0.0:
            return cls(rows[:0], energy, compress)
        if compress and len(rows) > 1:
            values, vectors = np.linalg.eigh(gram / np.sqrt(energy))
            rows = (vectors[:, values > NEGLIGIBLE].T @ rows)[::-1]
        else:
            rows = rows[np.argsort(-np.diag(gram), kind="stable")]
        return cls(rows / energy**0.25, energy, compress)


@dataclass(frozen=True)
class Factors:
    """Columns whose centred kernel matrices have factors of few rows.

    `rows` is (m, k, n): row a of the factor of every column, padded with zeros. Where all factors
    are compressed, the first few rows, in `lead`, carry nearly all of the norm in float64, and
    float32 is enough for `rows`.
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

    @classmethod
    def by_rank(
        cls, columns: Indices, points: Points | None, factors: Sequence[Factor]
    ) -> list[Factors]:
        """Pack factors of like rank together: one of high rank would pad all others."""
        ranks = np.array([len(factor.rows) for factor in factors])
        size = np.ceil(np.log2(np.maximum(ranks, 24) / 24))
        parts = []
        for group in np.unique(size):
            chosen = size == group
            own = [factor for factor, its in zip(factors, chosen, strict=True) if its]
            parts.append(
                cls.of(columns[chosen], None if points is None else points.take(chosen), own)
            )
        return parts


def class_parts(block: Block, limit: int) -> list[Dense | Factors]:
    """Nominal columns under the delta kernel: a factor with one row a class, up to `limit`."""
    codes = np.asarray(block.values, dtype=np.float64)
    points = Points.of(codes[:, None, :], loops.DELTA)
    few = codes.max(axis=1) < limit
    parts: list[Dense | Factors] = []
    if few.any():
        factors = [Factor.of(centred(one_hot(column))) for column in codes[few]]
        parts += Factors.by_rank(block.columns[few], points.take(few), factors)
    if not few.all():
        parts.append(Dense.of(block.columns[~few], points.take(~few)))
    return parts


def one_hot(codes: Vector) -> Matrix:
    """One row a class, 1 where the sample belongs to it."""
    return np.asarray(codes == np.arange(codes.max() + 1)[:, None], dtype=np.float64)


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
        if last <= min(first, i if a is b else first):
            continue
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
    total = np.zeros((a.shape[1], b.shape[1]))
    n = a.shape[2]
    height = max(1, PRODUCTS // max(1, a.shape[1] * b.shape[0] * b.shape[1]))
    for first in range(0, len(a), height):
        some = a[first : first + height]
        products = some.reshape(-1, n) @ b.reshape(-1, n).T
        products *= products
        shape = some.shape[0], some.shape[1], b.shape[0], b.shape[1]
        total += products.reshape(shape).sum(axis=2).sum(axis=0, dtype=np.float64)
    return total
