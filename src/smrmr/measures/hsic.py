"""Embeds a column by a centred kernel (gaussian, laplacian, delta, the user's), see `HSIC`."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..data.columns import Block
from ..data.ranks import settled
from ..data.scaling import unit_scale
from ..data.target import Target
from ..settings import check_number
from ..types import Kernel, Matrix
from . import kernel_loops as loops
from .embedding import (
    NEGLIGIBLE,
    DensePart,
    KernelPoints,
    checked_kernel,
    class_parts,
    inner,
    kernel_parts,
)
from .protocol import Measure, Part, Use

KINDS = {"gaussian": loops.GAUSSIAN, "laplacian": loops.LAPLACIAN}
FACTORED_LEVELS = 16  # columns with no more always have a factor
RESIDUAL = 1e-9  # share of the trace that a low-rank factor may miss


@dataclass(frozen=True)
class HSIC(Measure):
    r"""Normalised Hilbert-Schmidt independence criterion, ``"hsic"`` for short.

    .. math:: \mathrm{nr\text{-}HSIC}(x, y) = \frac{\langle HKH, HLH \rangle}{\|HKH\| \|HLH\|}

    Paper: section 2.4.2, eq. (2.10), label ``nr-HSIC-vstat``; the grand mean is added in the
    centring (the paper prints the sign wrong).

    Parameters
    ----------
    kernel
        ``"gaussian"`` is :math:`\exp(-d^2 / 2\sigma^2)`, ``"laplacian"`` :math:`\exp(-d/\sigma)`.
        Or a function of two arrays of points, (a, d) and (b, d), that returns their (a, b) kernel
        matrix; it is called on a few rows at a time, so an entry may depend on its two points only.
        Classes always use the delta kernel, 1 within a class and 0 between classes.
    width
        The width :math:`\sigma`. By default the median distance of the pairs of samples or, should
        that be 0, the mean of the nonzero distances.

    Raises
    ------
    ValueError
        If `kernel` is neither a known name nor a function, or `width` is not a positive number.
        A function of your own has its width inside: leave out `width`.

    Notes
    -----
    A gaussian kernel matrix of a well-spread column has numerical rank near 16 whatever n, so pairs
    are multiplied through factors of that many rows. Columns with outliers, heavy tails or many
    zeros have higher ranks: past the rank where factors stop paying, matrices are written out.

    Examples
    --------
    With a linear kernel HSIC is the squared correlation:

    >>> import numpy as np
    >>> from smrmr import relevance, simulate
    >>> from smrmr.measures import HSIC
    >>> data = simulate("1.a", n=50, p=6, random_state=0)
    >>> linear = HSIC(kernel=lambda a, b: a @ b.T)
    >>> found = relevance(data.X, data.y, measure=linear)
    >>> bool(np.allclose(found, relevance(data.X, data.y, measure="pearson")))
    True
    """

    alias: ClassVar[str] = "hsic"
    pair_tile: ClassVar[int] = 96
    target_tile: ClassVar[int] = 96

    kernel: str | Kernel = "gaussian"
    width: float | None = None

    def __post_init__(self) -> None:
        named = isinstance(self.kernel, str) and self.kernel in KINDS
        if not (named or (callable(self.kernel) and not isinstance(self.kernel, type))):
            raise ValueError(
                f"kernel={self.kernel!r} is not known. Use 'gaussian', 'laplacian' or a function "
                "of two arrays of points that returns their kernel matrix."
            )
        if self.width is None:
            return
        if not named:
            raise ValueError(
                "width is for the built-in kernels. Leave it out and fix it inside your kernel."
            )
        check_number("width", self.width, above=0)

    def prepare(self, block: Block, use: Use) -> list[Part]:
        """Factor the columns that have a low rank, measure the others."""
        limit, compress = rank_limit(block.n_rows, use), use.at_once > 1
        if block.nominal:
            return [*class_parts(block, max(limit, FACTORED_LEVELS), compress)]
        return self._numeric_parts(block, limit, compress)

    def prepare_target(self, target: Target) -> Part:
        """Embed the target; one column meets all others, so a high rank still pays."""
        if target.several:
            return DensePart.of(np.zeros(1, np.intp), self._points(target.vectors))
        limit = min(target.n_rows // 2, 500)
        if target.nominal:
            return class_parts(target.block(), limit)[0]
        return self._numeric_parts(target.block(), limit, compress=False)[0]

    def inner(self, a: Any, b: Any) -> Matrix:
        """Inner products of centred kernel matrices."""
        return inner(a, b, NEGLIGIBLE)

    def bytes_per_column(self, n_rows: int, use: Use) -> int:
        """The column, and a factor of the largest rank while it is found and packed."""
        rank = max(rank_limit(n_rows, use), FACTORED_LEVELS)
        return 16 * n_rows * (1 + rank)

    def in_fixed_units(self, values: Matrix, target: Target) -> tuple[Measure, Matrix, Target]:
        """Columns and target divided by the kernel widths of all rows, and a kernel of width 1."""
        if not isinstance(self.kernel, str) or self.width is not None:
            return self, values, target
        values = settled(values, axis=0).astype(np.float64)
        values /= [median_distance(column[None]) or 1.0 for column in values.T]
        if not target.nominal:
            points = unit_scale(target.vectors)[0]
            scaled = points.T.reshape(target.values.shape) / (median_distance(points) or 1.0)
            target = replace(target, values=scaled)
        return replace(self, width=1.0), values, target

    def matrix(self, variable: Target) -> Matrix:
        """Kernel matrix of one variable, not centred.

        Parameters
        ----------
        variable
            A variable as it was read: numbers, classes, or vectors.

        Returns
        -------
        ndarray
            Of shape (n, n); of classes that of the delta kernel.
        """
        if variable.nominal:
            points = KernelPoints(variable.vectors, loops.DELTA, np.ones(1))
        else:
            points = self._points(variable.vectors)
        entries = points.entries(0, points.n_rows)[0]
        return np.asarray(entries if points.kernel is None else entries * points.widths[0])

    def _points(self, values: NDArray[np.float64]) -> KernelPoints:
        """Columns as points (k, d, n) with the width of each."""
        if not isinstance(self.kernel, str):
            heights = [np.abs(checked_kernel(self.kernel, x.T, 0, 1)).max() for x in values]
            widths = np.array([height if height > 0 else 1.0 for height in heights])
            return KernelPoints(values, loops.GAUSSIAN, widths, self.kernel)
        kind = KINDS[self.kernel]
        if self.width is not None:
            return KernelPoints(values, kind, np.full(len(values), float(self.width)))
        values = unit_scale(values)
        widths = np.array([median_distance(column) for column in values])
        return KernelPoints(values, kind, np.where(widths > 0, widths, 1.0))

    def _numeric_parts(self, block: Block, limit: int, compress: bool) -> list[Part]:
        values = np.asarray(settled(block.values), dtype=np.float64)
        points = self._points(values[:, None, :])
        if points.kernel is not None:
            return [DensePart.of(block.columns, points)]
        gaps = np.diff(np.sort(points.values[:, 0], axis=1), axis=1)
        levels = 1 + (gaps > 0).sum(axis=1)
        # the laplacian is of full rank, the gaussian of rank 8 at least where levels are many
        smooth = self.kernel == "gaussian" and limit >= 8
        promising = (levels <= FACTORED_LEVELS) | smooth | (levels <= limit)
        factors = [
            _factor(points, k, int(levels[k]), limit) if promising[k] else None
            for k in range(len(levels))
        ]
        return [*kernel_parts(block.columns, points, factors, compress)]


def _factor(points: KernelPoints, k: int, n_levels: int, limit: int) -> Matrix | None:
    """Centred factor of column k, or None where its rank passes the limit."""
    levels = points.values[k, 0]
    codes: Any = slice(None)
    counts: NDArray[Any] = np.ones(n_levels)
    if n_levels < len(levels):
        levels, codes, counts = np.unique(levels, return_inverse=True, return_counts=True)
    residual = RESIDUAL
    if n_levels <= FACTORED_LEVELS:  # a small matrix whatever n, factored to the end
        limit, residual = n_levels, 1e-13
    rows = np.empty((limit, n_levels))
    kernel = points.kind, points.widths[k]
    rank = loops.cholesky_rows(levels, counts.astype(np.float64), *kernel, residual, rows)
    if rank < 0:
        return None
    rows = rows[:rank, codes]
    return np.asarray(rows - rows.mean(axis=1, keepdims=True))


def rank_limit(n: int, use: Use) -> int:
    """Rank up to which a factor costs less than writing the matrix out.

    A factor and the matrix differ by about 1e-9, so the limit depends on n and on the kind of use
    alone: neither on how many columns there are nor on how many of them fit the memory.

    For all pairs, the limit was measured: above it, columns that all have the same rank would be
    faster as matrices, but one matrix among factors makes all its partners be written out too. For
    one partner after the other, it comes from costs in multiply-adds: a factor of rank m takes
    about ``1e6 + n m (60 + 6 m)`` to find and ``0.4 n m^2`` for each partner; a matrix has
    ``n^2 / 2`` entries, each worth 41 for every partner.
    """
    if use.at_once > 1:
        return int(8 + np.sqrt(2.5 * n)) if n >= 150 else 0
    spare = n / 2 * 41 * use.partners - 1e6 / n
    quadratic, linear = 6 + 0.4 * use.partners, 60.0
    root = (-linear + np.sqrt(linear**2 + 4 * quadratic * max(spare, 0.0))) / (2 * quadratic)
    return min(int(root), n)


def median_distance(points: Matrix) -> float:
    """Median distance between two columns of `points` (d, n); if 0, the mean of the others."""
    if len(points) == 1:
        return float(loops.median_distance(np.sort(points[0])))
    first, second = np.triu_indices(points.shape[1], 1)
    distances = np.hypot.reduce(points[:, first] - points[:, second])
    median = float(np.median(distances))
    return median if median > 0 or not distances.any() else float(distances[distances > 0].mean())
