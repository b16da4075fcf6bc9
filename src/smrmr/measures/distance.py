"""Embeds a column by its centred distances, see `DistanceCorrelation`."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..data.columns import Block
from ..data.ranks import settled
from ..data.scaling import unit_scale
from ..data.target import Target
from ..types import Indices, Matrix, Vector
from . import distance_loops as loops
from .embedding import DensePart, KernelPoints, LowRankPart, centred, class_parts, inner
from .kernel_loops import DISTANCE
from .protocol import ONCE, Measure, Part, Use

STEP_LEVELS = 16  # columns with no more have factors, of one row fewer than levels


@dataclass(frozen=True, eq=False)
class Sorted(DensePart):
    """Columns with many levels, ready for sums over sorted samples."""

    order: NDArray[np.int32]
    position: NDArray[np.int32]

    @property
    def x(self) -> Matrix:
        """The columns as rows."""
        return self.points.values[:, 0, :]


@dataclass(frozen=True)
class DistanceCorrelation(Measure):
    r"""Squared distance correlation (Szekely, Rizzo and Bakirov 2007), ``"dcor"`` for short.

    .. math:: \mathrm{dCor}^2(x, y) = \frac{\langle HAH, HBH \rangle}{\|HAH\| \|HBH\|},
              \quad A_{ij} = |x_i - x_j|

    This is HSIC with the distance kernel (paper, section 2.4). Classes are at distance 1 from each
    other. Exact in O(n log n) per pair, or by matrix products for small n.

    Examples
    --------
    It detects the curve that `Pearson` misses:

    >>> import numpy as np
    >>> from smrmr import relevance
    >>> from smrmr.measures import DistanceCorrelation
    >>> x = np.linspace(-1, 1, 21)
    >>> relevance(np.stack([x, x**2], 1), x, measure=DistanceCorrelation()).round(2).tolist()
    [1.0, 0.24]
    """

    alias: ClassVar[str] = "dcor"

    def prepare(self, block: Block, use: Use) -> list[Part]:
        """Factor the columns with few levels and classes, sort the others."""
        return [*class_parts(block, block.n_rows)] if block.nominal else _numeric_parts(block)

    def prepare_target(self, target: Target) -> Part:
        """Embed the target; distances of a multi-output one are Euclidean."""
        if target.several:
            points = _points(unit_scale(target.vectors))
            return DensePart.of(np.zeros(1, np.intp), points)
        return self.prepare(target.block(), ONCE)[0]

    def inner(self, a: Any, b: Any) -> Matrix:
        """Inner products of centred distance matrices."""
        if isinstance(a, Sorted) and isinstance(b, LowRankPart):
            return self.inner(b, a).T
        if isinstance(a, LowRankPart) and isinstance(b, Sorted):
            out = np.zeros((len(a.columns), len(b.columns)))
            loops.factor_products(a.rows, a.owners, b.x, b.order, out)
            return np.asarray(out * np.sqrt(a.energies)[:, None])
        if isinstance(a, Sorted) and isinstance(b, Sorted):
            return _inner_sorted(a, b)
        return inner(a, b)

    def bytes_per_column(self, n_rows: int, use: Use) -> int:
        """The column, its row means, order and positions; or a factor of few rows."""
        return n_rows * (8 + 8 + 4 + 4 + 8 * STEP_LEVELS)


def _numeric_parts(block: Block) -> list[Part]:
    x = unit_scale(settled(block.values))
    order = np.argsort(x, axis=1).astype(np.int32)
    steps = np.diff(np.take_along_axis(x, order.astype(np.intp), axis=1), axis=1)
    few = (steps > 0).sum(axis=1) < STEP_LEVELS
    parts: list[Part] = []
    if few.any():
        points = _points(x[few][:, None, :])
        factors = [centred(_steps(column)) for column in x[few]]
        parts.append(LowRankPart.of(block.columns[few], points, factors))
    if not few.all():
        parts.append(_sorted(block.columns[~few], x[~few], order[~few]))
    return parts


def _points(values: NDArray[np.float64]) -> KernelPoints:
    """Points (k, d, n) whose kernel is minus their distance."""
    return KernelPoints(values, DISTANCE, np.ones(len(values)))


def _steps(x: Vector) -> Matrix:
    """Rows Z with ``H Z' Z H = - H |x - x'| H``: one step function for each gap between levels."""
    levels = np.unique(x)
    heights = np.sqrt(2 * np.diff(levels))
    return np.asarray(heights[:, None] * (x >= levels[1:, None]))


def _sorted(columns: Indices, x: Matrix, order: NDArray[np.int32]) -> Sorted:
    x = x - np.median(x, axis=1, keepdims=True)  # keeps the sums of products small
    n = x.shape[1]
    position = np.empty_like(order)
    np.put_along_axis(position, order, np.arange(n, dtype=np.int32)[None, :], axis=1)
    means = np.empty_like(x)
    for k, column in enumerate(x):
        loops.distance_sums(column, order[k], means[k])
    means /= -n  # of the kernel -|x - x'|
    # sum of squared distances without the n^2 terms: 2 n sum x^2 - 2 (sum x)^2
    squares = 2 * n * (x**2).sum(axis=1) - 2 * x.sum(axis=1) ** 2
    grand = means.mean(axis=1)
    energies = squares - 2 * n * np.einsum("ki,ki->k", means, means) + n**2 * grand * grand
    return Sorted(columns, _points(x[:, None, :]), means, energies, order, position)


def _inner_sorted(a: Sorted, b: Sorted) -> Matrix:
    n = a.x.shape[1]
    out = np.zeros((len(a.columns), len(b.columns)))
    loops.distance_products(a.x, a.order, b.x, b.position, a is b, out)
    grand = a.means.mean(axis=1)[:, None] * b.means.mean(axis=1)
    return np.asarray(out - 2 * n * (a.means @ b.means.T) + n**2 * grand)
