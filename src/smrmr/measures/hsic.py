"""Embeds a column by a centred kernel (gaussian, laplacian, delta, the user's), see `HSIC`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..types import Block, Kernel, Matrix, Part, Target, Vector
from . import kernel_loops as loops
from .embedding import Dense, Factor, Factors, Points, centred, inner
from .scaling import unit_scale

KINDS = {"gaussian": loops.GAUSSIAN, "laplacian": loops.LAPLACIAN}
RESIDUAL = 1e-9  # share of the trace that a low-rank factor may miss


@dataclass(frozen=True)
class HSIC:
    r"""Normalised Hilbert-Schmidt independence criterion, alias ``"hsic"``.

    .. math:: \mathrm{nr\text{-}HSIC}(x, y) = \frac{\langle HKH, HLH \rangle}{\|HKH\| \|HLH\|}

    Paper: section 2.4.2, eq. (nr-HSIC-vstat); the grand mean is added in the centring (the paper
    prints the sign wrong).

    Parameters
    ----------
    kernel
        ``"gaussian"`` is :math:`\exp(-d^2 / 2\sigma^2)`, ``"laplacian"`` :math:`\exp(-d/\sigma)`.
        Or a function of two arrays of points, (a, d) and (b, d), that returns their (a, b) kernel
        matrix. Classes always use the delta kernel, 1 within a class and 0 between classes.
    width
        The width :math:`\sigma`. By default the median distance of the pairs of samples or, should
        that be 0, the mean of the nonzero distances.

    Notes
    -----
    A gaussian kernel matrix of a well-spread column has numerical rank near 16 whatever n, so pairs
    are multiplied through factors of that many rows. Columns with outliers, heavy tails or many
    zeros have higher ranks: past the rank where factors stop paying, matrices are written out.
    """

    kernel: str | Kernel = "gaussian"
    width: float | None = None

    def __post_init__(self) -> None:
        if not callable(self.kernel) and self.kernel not in KINDS:
            raise ValueError(
                f"kernel={self.kernel!r} is not known. Use 'gaussian', 'laplacian' or a function "
                "of two arrays of points that returns their kernel matrix."
            )
        if self.width is not None and not (np.isfinite(self.width) and self.width > 0):
            raise ValueError(
                f"width={self.width!r} cannot be a kernel width. Give a positive number, or None "
                "for the median distance."
            )
        if callable(self.kernel) and self.width is not None:
            raise ValueError(
                "width is for the built-in kernels. Leave it out and fix it inside your kernel."
            )

    def prepare(self, block: Block, partners: int) -> list[Part]:
        """Factor the columns that have a low rank, measure the others."""
        parts: list[Part] = []
        limit = rank_limit(block.n_rows, partners)
        if block.nominal.any():
            parts += delta_parts(block.take(block.nominal), limit)
            block = block.take(~block.nominal)
        if len(block.values):
            parts += self._numeric_parts(block, limit, partners)
        return parts

    def prepare_target(self, target: Target, partners: int) -> Part:
        """Embed the target; one column meets all others, so a high rank still pays."""
        if target.kind == "multi-output":
            points = self._points(np.ascontiguousarray(target.values.T)[None])
            return Dense.of(np.zeros(1, np.intp), points)
        nominal = np.array([target.kind == "classes"])
        block = Block(target.values[None, :], nominal, np.zeros(1, np.intp))
        limit = min(target.n_rows // 2, 500)
        if nominal[0]:
            return delta_parts(block, limit)[0]
        return self._numeric_parts(block, limit, 1)[0]

    def inner(self, a: Any, b: Any) -> Matrix:
        """Inner products of centred kernel matrices."""
        return inner(a, b)

    def bytes_per_column(self, n_rows: int) -> int:
        """A factor of the largest rank in float32, its leading rows in float64, the column."""
        return n_rows * (4 * rank_limit(n_rows, 10**6) + 8 * 10)

    def tile(self, target: Target | None) -> int:
        """Wide enough for matrix products to run at full speed."""
        return 128

    def matrix(self, variable: Target) -> Matrix:
        """Kernel matrix of one variable, not centred."""
        if variable.kind == "classes":
            return _delta_points(variable.values[None, :]).matrix(0)
        rows = variable.values[:, None] if variable.values.ndim == 1 else variable.values
        return self._points(np.ascontiguousarray(rows.T)[None]).matrix(0)

    def _points(self, values: Matrix) -> Points:
        """Columns as points (k, d, n) with the width of each."""
        kinds = np.full(len(values), KINDS.get(str(self.kernel), 0), np.int8)
        if callable(self.kernel):
            return Points(values, kinds, np.ones(len(values)), self.kernel)
        if self.width is not None:
            return Points(values, kinds, np.full(len(values), 1 / self.width))
        values = unit_scale(values)
        widths = np.array([median_distance(column) for column in values])
        scales = np.divide(1.0, widths, out=np.ones(len(widths)), where=widths > 0)
        return Points(values, kinds, scales)

    def _numeric_parts(self, block: Block, limit: int, partners: int) -> list[Part]:
        points = self._points(np.asarray(block.values, dtype=np.float64)[:, None, :])
        if callable(self.kernel):
            return [Dense.of(block.columns, points)]
        compress = partners > 1
        found = [self._factor(points, k, limit, compress) for k in range(len(block.values))]
        low = np.array([factor is not None for factor in found])
        parts: list[Part] = []
        if low.any():
            factors = [factor for factor in found if factor is not None]
            parts.append(Factors.of(block.columns[low], _take(points, low), factors))
        if not low.all():
            parts.append(Dense.of(block.columns[~low], _take(points, ~low)))
        return parts

    def _factor(self, points: Points, k: int, limit: int, compress: bool) -> Factor | None:
        """Factor of column k, or None where its rank passes the limit."""
        levels, codes, counts = np.unique(
            points.values[k, 0], return_inverse=True, return_counts=True
        )
        if self.kernel == "laplacian" and len(levels) > limit:  # its rank is the number of levels
            return None
        rows = np.empty((limit, len(levels)))
        kind, scale = points.kinds[k], points.scales[k]
        rank = loops.cholesky_rows(levels, counts.astype(float), kind, scale, RESIDUAL, rows)
        if rank < 0:
            return None
        rows = rows[:rank] - (rows[:rank] @ counts / len(codes))[:, None]
        return Factor.of(rows[:, codes], compress)


def rank_limit(n: int, partners: int) -> int:
    """Rank up to which a factor costs less than writing the matrix out.

    Costs in multiply-adds a column: writing one kernel entry is worth about 40; a factor of rank m
    takes ``n m (60 + 6 m)`` to find and about ``0.4 n m^2`` for each partner, a matrix ``n^2 / 2``
    for each. For many partners the limit is near sqrt(n).
    """
    quadratic, linear, constant = 6 + 0.4 * partners, 60.0, n * (20 + partners / 2)
    root = (-linear + np.sqrt(linear**2 + 4 * quadratic * constant)) / (2 * quadratic)
    return max(1, min(int(root), n))


def delta_parts(block: Block, limit: int) -> list[Part]:
    """Nominal columns under the delta kernel: one factor row a class."""
    codes = np.asarray(block.values, dtype=np.float64)
    points = _delta_points(codes)
    few = codes.max(axis=1) < limit
    parts: list[Part] = []
    if few.any():
        factors = [Factor.of(centred(one_hot(column))) for column in codes[few]]
        parts.append(Factors.of(block.columns[few], _take(points, few), factors))
    if not few.all():
        parts.append(Dense.of(block.columns[~few], _take(points, ~few)))
    return parts


def _delta_points(codes: Matrix) -> Points:
    return Points(codes[:, None, :], np.full(len(codes), loops.DELTA, np.int8), np.ones(len(codes)))


def one_hot(codes: Vector) -> Matrix:
    """One row a class, 1 where the sample belongs to it."""
    return np.asarray(codes == np.arange(codes.max() + 1)[:, None], dtype=np.float64)


def median_distance(points: Matrix) -> float:
    """Median distance between two columns of `points` (d, n); if 0, the mean of the others."""
    if len(points) == 1:
        return float(loops.median_distance(np.sort(points[0])))
    i, j = np.triu_indices(points.shape[1], 1)
    squares = np.zeros(len(i))
    for coordinate in points:
        squares += (coordinate[i] - coordinate[j]) ** 2
    distances = np.sqrt(squares)
    median = float(np.median(distances))
    return median if median > 0 or not distances.any() else float(distances[distances > 0].mean())


def _take(points: Points, rows: Any) -> Points:
    return Points(points.values[rows], points.kinds[rows], points.scales[rows], points.kernel)
