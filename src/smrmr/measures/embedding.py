r"""Multiplies centred kernel matrices, as low-rank factors or row by row.

A kernel measure embeds a column as its centred kernel matrix :math:`H K H`. Where
:math:`H K H = Z' Z` with few rows in Z, inner products are
:math:`\langle K_k, K_l \rangle = \| Z_k Z_l' \|_F^2`; otherwise the matrices are written a slab at
a time and multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..data.columns import Block
from ..types import Indices, Kernel, Mask, Matrix, Vector
from . import kernel_loops as loops

SLAB_ENTRIES = 8192  # of every kernel matrix, written at a time
FACTOR_ROWS = 128  # of all columns of a part, multiplied at a time
SMALL = 1e-6  # squared products of rows below this are rounded to float32: an error of about 1e-13
NEGLIGIBLE = 1e-10  # squared products of rows below this are left out


@dataclass(frozen=True, eq=False)
class KernelPoints:
    """Columns as points (k, d, n) whose kernel matrices can be written.

    A user's `kernel` takes the place of the `kinds`; the `widths` then only scale its values.
    """

    values: NDArray[np.float64]
    kinds: NDArray[np.int8]
    widths: Vector
    kernel: Kernel | None = None

    @classmethod
    def of(
        cls, values: NDArray[np.float64], kind: int, widths: Vector | None = None
    ) -> KernelPoints:
        """Points that all have the same kind of kernel."""
        kinds = np.full(len(values), kind, np.int8)
        return cls(values, kinds, np.ones(len(values)) if widths is None else widths)

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.values.shape[2])

    def take(self, columns: Mask) -> KernelPoints:
        """Return the points of the chosen columns."""
        chosen = self.values[columns], self.kinds[columns], self.widths[columns]
        return KernelPoints(*chosen, self.kernel)

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


@dataclass(frozen=True, eq=False)
class DensePart:
    """Columns whose kernel matrices are written out when needed."""

    columns: Indices
    points: KernelPoints
    means: Matrix
    energies: Vector

    @classmethod
    def of(cls, columns: Indices, points: KernelPoints) -> DensePart:
        """Measure the kernel matrices once: row means and norms."""
        means, energies = points.moments()
        return cls(columns, points, means, energies)


@dataclass(frozen=True, eq=False)
class LowRankFactor:
    """Rows Z (m, n) of one column, largest first, with ``H K H = sqrt(energy) Z' Z``.

    `sizes` are the squared norms of the rows. A constant column has no rows.
    """

    rows: Matrix
    sizes: Vector
    energy: float

    @classmethod
    def of(cls, rows: Matrix, compress: bool = False) -> LowRankFactor:
        """Normalise centred rows.

        To compress is to rotate them to orthogonal ones and to drop the negligible, which pays
        when many products follow.
        """
        gram = rows @ rows.T
        energy = float((gram**2).sum())
        if energy == 0.0:
            return cls(rows[:0], np.zeros(0), energy)
        if not compress:
            largest = np.argsort(-np.diag(gram), kind="stable")
            sizes = np.diag(gram)[largest] / np.sqrt(energy)
            return cls(rows[largest] / energy**0.25, sizes, energy)
        sizes, vectors = np.linalg.eigh(gram / np.sqrt(energy))
        kept = np.flatnonzero(sizes > NEGLIGIBLE)[::-1]
        rows = (vectors[:, kept] / energy**0.25).T @ rows
        return cls(rows, np.minimum(sizes[kept], 1.0), energy)


@dataclass(frozen=True, eq=False)
class LowRankPart:
    """Columns whose centred kernel matrices have factors of few rows.

    All rows of all factors are in one array (m, n), largest first, so that a row has more than a
    negligible product with the first rows of another part at most. `sizes` are their squared norms
    and `owners` the positions of their columns in the part.

    Of compressed factors `rounded` has all rows in float32 and `rows` only those of which some
    products are not small. Of others both are the same array.
    """

    columns: Indices
    points: KernelPoints | None
    rows: NDArray[np.floating]
    rounded: NDArray[np.floating]
    sizes: Vector
    owners: Indices
    energies: Vector

    @classmethod
    def of(
        cls,
        columns: Indices,
        points: KernelPoints | None,
        factors: Sequence[LowRankFactor],
        compressed: bool = False,
    ) -> LowRankPart:
        """Sort the rows of the factors of all columns into one array."""
        energies = np.array([factor.energy for factor in factors])
        ranks = [len(factor.sizes) for factor in factors]
        sizes = np.concatenate([factor.sizes for factor in factors])
        order = np.argsort(-sizes, kind="stable")
        sizes, owners = sizes[order], np.repeat(np.arange(len(factors)), ranks)[order]
        exact = len(sizes)
        if compressed:  # whole blocks of rows
            exact = -(-int((sizes > SMALL).sum()) // FACTOR_ROWS) * FACTOR_ROWS
        rows = _sorted_rows(factors, owners[:exact], np.float64)
        rounded = _sorted_rows(factors, owners, np.float32) if compressed else rows
        return cls(columns, points, rows, rounded, sizes, owners, energies)


KernelPart: TypeAlias = DensePart | LowRankPart


def kernel_parts(
    columns: Indices, points: KernelPoints, factors: list[LowRankFactor | None], compressed: bool
) -> list[KernelPart]:
    """One part of the columns that have a factor, and one of the others."""
    low = np.array([factor is not None for factor in factors])
    parts: list[KernelPart] = []
    if low.any():
        found = [factor for factor in factors if factor is not None]
        parts.append(LowRankPart.of(columns[low], points.take(low), found, compressed))
    if not low.all():
        parts.append(DensePart.of(columns[~low], points.take(~low)))
    return parts


def class_parts(block: Block, limit: int, compress: bool = False) -> list[KernelPart]:
    """Nominal columns under the delta kernel: a factor with one row per class, up to `limit`."""
    codes = np.asarray(block.values, dtype=np.float64)
    factors = [
        LowRankFactor.of(centred(one_hot(column)), compress) if column.max() < limit else None
        for column in codes
    ]
    points = KernelPoints.of(codes[:, None, :], loops.DELTA)
    return kernel_parts(block.columns, points, factors, compress)


def one_hot(codes: Vector) -> Matrix:
    """One row per class, 1 where the sample belongs to it."""
    return np.asarray(codes == np.arange(codes.max() + 1)[:, None], dtype=np.float64)


def slabs(n: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose upper triangles have about `SLAB_ENTRIES` entries together."""
    start = 0
    while start < n:
        stop = min(n, start + max(1, SLAB_ENTRIES // (n - start)))
        yield start, stop
        start = stop


def inner(a: KernelPart, b: KernelPart) -> Matrix:
    """Inner products of the embeddings of two parts."""
    if isinstance(a, LowRankPart) and isinstance(b, LowRankPart):
        return _inner_low_rank(a, b)
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


def _sorted_rows(
    factors: Sequence[LowRankFactor], owners: Indices, dtype: type[np.floating]
) -> NDArray[np.floating]:
    """Rows of the factors in the order of their owners."""
    rows = np.empty((len(owners), factors[0].rows.shape[1]), dtype)
    for k, factor in enumerate(factors):
        places = np.flatnonzero(owners == k)
        rows[places] = factor.rows[: len(places)]
    return rows


def _written(part: KernelPart) -> tuple[KernelPoints, Matrix]:
    assert part.points is not None, "a measure without points has factors only"
    if isinstance(part, DensePart):
        return part.points, part.means
    return part.points, np.zeros((len(part.columns), part.points.n_rows))


def _inner_low_rank(a: LowRankPart, b: LowRankPart) -> Matrix:
    """Sums of the squared products of the rows of every two columns.

    The product of the sizes of two rows bounds their squared product. Of a part with itself every
    two rows are multiplied once, and a column with itself has its energy.
    """
    assert a.rounded.dtype == b.rounded.dtype, "compressed and other factors do not meet"
    small, negligible = (SMALL, NEGLIGIBLE) if a.rounded.dtype == np.float32 else (0.0, 0.0)
    total = np.zeros((len(a.columns), len(b.columns)))
    for start in range(0, len(a.sizes), FACTOR_ROWS):
        block = slice(start, start + FACTOR_ROWS)
        bounds = a.sizes[start] * b.sizes
        first, last = start if a is b else 0, int((bounds > negligible).sum())
        middle = max(first, int((bounds > small).sum()))
        for rows_a, rows_b, others in (
            (a.rows, b.rows, slice(first, middle)),
            (a.rounded, b.rounded, slice(middle, last)),
        ):
            products = rows_a[block] @ rows_b[others].T
            owned = a.sizes[block], a.owners[block], b.sizes[others], b.owners[others]
            skip = start + 1 - others.start if a is b else -FACTOR_ROWS
            loops.add_squares(products, *owned, negligible, skip, total)
    if a is b:
        total += total.T
        np.fill_diagonal(total, 1.0)
    return np.asarray(total * np.sqrt(a.energies)[:, None] * np.sqrt(b.energies))
