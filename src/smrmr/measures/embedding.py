r"""Multiplies centred kernel matrices, as low-rank factors or row by row.

A kernel measure embeds a column as its centred kernel matrix :math:`H K H`. Where
:math:`H K H = Z' Z` with few rows in Z, inner products are
:math:`\langle K_k, K_l \rangle = \| Z_k Z_l' \|_F^2`; otherwise the matrices are written a slab at
a time and multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..data.columns import Block
from ..types import Indices, Kernel, Mask, Matrix, Vector
from . import kernel_loops as loops

SLAB_ENTRIES = 4096  # of every kernel matrix, written at a time
FACTOR_ROWS = 128  # of all columns of a part, multiplied at a time
NEGLIGIBLE = 1e-10  # squared products of rows of a kernel below this are left out


@dataclass(frozen=True, eq=False)
class KernelPoints:
    """Columns as points (k, d, n) whose kernel matrices can be written.

    A user's `kernel` takes the place of the `kind`; the `widths` then only scale its values.
    """

    values: NDArray[np.float64]
    kind: int
    widths: Vector
    kernel: Kernel | None = None

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.values.shape[2])

    def take(self, columns: Mask) -> KernelPoints:
        """Return the points of the chosen columns."""
        return replace(self, values=self.values[columns], widths=self.widths[columns])

    def entries(self, start: int, stop: int) -> NDArray[np.float64]:
        """Rows `start` to `stop` of the kernel matrices, from column `start` on."""
        if self.kernel is not None:
            written = [checked_kernel(self.kernel, x.T, start, stop) for x in self.values]
            return np.stack(written)[:, :, start:] / self.widths[:, None, None]
        out = np.empty((len(self.values), stop - start, self.n_rows - start))
        loops.kernel_rows(self.values, self.kind, self.widths, start, out)
        return out

    def rows(self, start: int, stop: int, means: Matrix) -> Matrix:
        """Rows `start` to `stop`, centred by the given row means, each pair of samples once.

        A pair of a sample within these rows and one beyond stands for two entries of the matrix.
        """
        out = self.entries(start, stop)
        out += means.mean(axis=1)[:, None, None] - means[:, start:stop, None]
        out -= means[:, None, start:]
        out[:, :, stop - start :] *= np.sqrt(2.0)
        return out.reshape(len(out), -1)

    def moments(self) -> tuple[Matrix, Vector]:
        """Row means and squared norm of every centred kernel matrix; norm 0 for constants."""
        n = self.n_rows
        means, squares = np.zeros((len(self.values), n)), np.zeros(len(self.values))
        for start, stop in slabs(n):
            rows = self.entries(start, stop)
            beyond = rows[:, :, stop - start :]  # which stand for two entries
            means[:, start:stop] += rows.sum(axis=2)
            means[:, stop:] += beyond.sum(axis=1)
            squares += sum(np.einsum("kij,kij->k", some, some) for some in (rows, beyond))
        means /= n
        offsets = 2 * n * (means**2).sum(axis=1) - n**2 * means.mean(axis=1) ** 2
        energies = squares - offsets
        lost = energies <= 1e-4 * squares  # too much cancelled: sum the centred entries instead
        if lost.any():
            points, energies[lost] = self.take(lost), 0.0
            for start, stop in slabs(n):
                energies[lost] += (points.rows(start, stop, means[lost]) ** 2).sum(axis=1)
        energies[(self.values == self.values[:, :, :1]).all(axis=(1, 2))] = 0.0
        return means, energies


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
class LowRankPart:
    """Columns whose centred kernel matrices have factors of few rows.

    All rows of all factors are in one array (m, n), largest first, so that a row has more than a
    negligible product with the first rows of another part at most. `sizes` are their squared norms
    and `owners` the positions of their columns in the part.
    """

    columns: Indices
    points: KernelPoints | None
    rows: Matrix
    sizes: Vector
    owners: Indices
    energies: Vector

    @classmethod
    def of(
        cls,
        columns: Indices,
        points: KernelPoints | None,
        factors: Sequence[Matrix],
        compress: bool = False,
    ) -> LowRankPart:
        """Normalise the centred rows of the factors of all columns, and sort them into one array.

        To compress is to rotate those of a column to orthogonal ones and to drop the negligible,
        which pays when many products follow.
        """
        energies, scaled = np.zeros(len(factors)), []
        for k, rows in enumerate(factors):
            gram = rows @ rows.T
            energies[k] = (gram**2).sum()
            if compress and energies[k] > 0:
                sizes, vectors = np.linalg.eigh(gram / np.sqrt(energies[k]))
                rows = vectors[:, sizes > NEGLIGIBLE].T @ rows
            scaled.append(rows / (energies[k] ** 0.25 or np.inf))
        owners = np.repeat(np.arange(len(factors)), [len(rows) for rows in scaled])
        sizes = np.concatenate([np.minimum((rows**2).sum(axis=1), 1.0) for rows in scaled])
        order = np.argsort(-sizes, kind="stable")
        rows = np.concatenate(scaled)[order]
        return cls(columns, points, rows, sizes[order], owners[order], energies)


KernelPart: TypeAlias = DensePart | LowRankPart


def kernel_parts(
    columns: Indices, points: KernelPoints, factors: list[Matrix | None], compress: bool
) -> list[KernelPart]:
    """One part of the columns that have a factor, and one of the others."""
    low = np.array([factor is not None for factor in factors])
    parts: list[KernelPart] = []
    if low.any():
        found = [factor for factor in factors if factor is not None]
        parts.append(LowRankPart.of(columns[low], points.take(low), found, compress))
    if not low.all():
        parts.append(DensePart.of(columns[~low], points.take(~low)))
    return parts


def class_parts(block: Block, limit: int, compress: bool = False) -> list[KernelPart]:
    """Nominal columns under the delta kernel: a factor with one row per class, up to `limit`."""
    codes = np.asarray(block.values, dtype=np.float64)
    factors = [centred(one_hot(column)) if column.max() < limit else None for column in codes]
    points = KernelPoints(codes[:, None, :], loops.DELTA, np.ones(len(codes)))
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


def inner(a: KernelPart, b: KernelPart, least: float = 0.0) -> Matrix:
    """Inner products of the embeddings of two parts, less squared products up to `least`.

    Where not both have factors, both matrices are written. Centring one of the two is enough: what
    the other's missing row means add is orthogonal to it.
    """
    if isinstance(a, LowRankPart) and isinstance(b, LowRankPart):
        return _inner_low_rank(a, b, least)
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


def _written(part: KernelPart) -> tuple[KernelPoints, Matrix]:
    assert part.points is not None, "a measure without points has factors only"
    if isinstance(part, DensePart):
        return part.points, part.means
    return part.points, np.zeros((len(part.columns), part.points.n_rows))


def _inner_low_rank(a: LowRankPart, b: LowRankPart, least: float) -> Matrix:
    """Sums of the squared products of the rows of every two columns.

    The product of the sizes of two rows bounds their squared product. Of a part with itself every
    two rows are multiplied once, and a column with itself has its energy.
    """
    total = np.zeros((len(a.columns), len(b.columns)))
    for start in range(0, len(a.sizes), FACTOR_ROWS):
        first, last = start if a is b else 0, int((a.sizes[start] * b.sizes > least).sum())
        block, others = slice(start, start + FACTOR_ROWS), slice(first, last)
        products = a.rows[block] @ b.rows[others].T
        owned = a.sizes[block], a.owners[block], b.sizes[others], b.owners[others]
        loops.add_squares(products, *owned, least, 1 if a is b else -FACTOR_ROWS, total)
    if a is b:
        total += total.T
        np.fill_diagonal(total, 1.0)
    return np.asarray(total * np.sqrt(a.energies)[:, None] * np.sqrt(b.energies))
