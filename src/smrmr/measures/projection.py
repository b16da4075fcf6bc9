r"""Counts concordance around every anchor: the squared projection correlation without n^3.

For scalars the angle at anchor r is :math:`\arccos(s_i s_l) = \frac{\pi}{2}(1 - s_i s_l)` with
:math:`s_i = \mathrm{sign}(x_i - x_r)`, so the centred slice of the arccos tensor at r is

.. math:: \mathcal{K}_{\cdot\cdot r} = \tfrac{\pi}{2} \big( H e_r e_r' H - H Q_r H \big),

with :math:`Q_r = s s'` for numbers and, for classes as one-hot vectors,
:math:`Q_r = \tfrac23 \sum_a 1_a 1_a' - \tfrac13 1_c 1_c'`, c the class of r. Hence

.. math:: \mathrm{Pcov}^2(x, y) = \frac{\pi^2}{4 n^5} \Big[ n(n-1)^2 - u_x - u_y + \sum_r
          n^2 \langle H Q^x_r H, Q^y_r \rangle \Big], \quad u_x = \sum_r n^2 e_r' H Q^x_r H e_r .

The bracket is what `inner` returns, the sum over r comes from `projection_loops`.
Paper: section 2.4.1, eq. (pc_etim_2); ties have the angle pi/2.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..data.columns import Block, class_size
from ..data.scaling import unit_scale
from ..data.target import Target
from ..types import Indices, Matrix, Vector
from . import contingency_loops as coded_loops
from . import projection_loops as loops
from .protocol import ONCE, Measure, Part, Use

TABLE_LEVELS = 16  # up to here a contingency table beats sorting
BIT_SET_ROWS = 1024  # up to here bit sets beat the sweep,
BIT_SET_PARTNERS = 64  # once they are used this often: sooner, compiling them takes longer


@dataclass(eq=False)
class Ranked:
    """Columns with many levels, as ranks; `planes` are the bit sets of the samples below each."""

    columns: Indices
    order: NDArray[np.int32]
    below: NDArray[np.int32]
    through: NDArray[np.int32]
    tied: bool
    planes: NDArray[np.uint64] | None
    u: Vector = field(init=False)
    energies: Vector = field(init=False)

    def __post_init__(self) -> None:
        n = self.order.shape[1]
        signs = self.signs.astype(np.float64)
        untied = n - (self.through - self.below).astype(np.float64)
        cross = ((n * untied - signs**2) ** 2).sum(axis=1)
        self.u = (signs**2).sum(axis=1)
        self.energies = _bracket(cross, self.u, self.u, n)

    @property
    def key(self) -> tuple[int, int]:
        """Order of the kinds of parts."""
        return 2, self.tied

    @property
    def signs(self) -> NDArray[np.int32]:
        """Sum over i of sign(x_i - x_r), for every column and anchor r."""
        return np.int32(self.order.shape[1]) - self.below - self.through

    def on_slice(self, slice_: Matrix, anchor: int) -> Vector:
        """Inner product of every column's own slice, over pi/2, with a centred `slice_`."""
        return _on_slice(self.below, slice_, anchor)


@dataclass(eq=False)
class Coded:
    """Columns with few levels, ordered, or with classes, nominal."""

    columns: Indices
    codes: NDArray[np.integer[Any]]
    counts: NDArray[np.int64]
    nominal: bool
    u: Vector = field(init=False)
    energies: Vector = field(init=False)

    def __post_init__(self) -> None:
        n = self.codes.shape[1]
        counts = self.counts.astype(np.float64)
        if self.nominal:
            others = (counts**2).sum(axis=1, keepdims=True) - counts**2
            self.u = (counts * (2 * others + (n - counts) ** 2)).sum(axis=1) / 3
        else:
            before = np.cumsum(counts, axis=1) - counts
            self.u = (counts * (n - 2 * before - counts) ** 2).sum(axis=1)
        cross = coded_loops.self_coded(self.counts, self.nominal)
        energies = _bracket(cross, self.u, self.u, n)
        self.energies = np.where(counts.max(axis=1) == n, 0.0, energies)

    @property
    def key(self) -> tuple[int, int]:
        """Order of the kinds of parts; nominal blocks differ by their numbers of classes."""
        return (0, int(class_size(self.counts.shape[1]))) if self.nominal else (1, 0)

    def on_slice(self, slice_: Matrix, anchor: int) -> Vector:
        """Inner product of every column's own slice, over pi/2, with a centred `slice_`."""
        if not self.nominal:
            return _on_slice(self.codes.astype(np.int32), slice_, anchor)
        values = np.empty(len(self.codes))
        for k, codes in enumerate(self.codes):
            members = (codes == np.arange(self.counts.shape[1])[:, None]).astype(np.float64)
            within = np.einsum("ai,ai->a", members @ slice_, members)
            values[k] = slice_[anchor, anchor] - (2 * within.sum() - within[codes[anchor]]) / 3
        return values


@dataclass(eq=False)
class Angles:
    """A multi-output target: its slices are angles between vectors, made one anchor at a time."""

    values: Matrix
    columns: Indices = field(default_factory=lambda: np.zeros(1, np.intp))
    energies: Vector = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.values)
        constant = (self.values == self.values[0]).all()
        anchors = range(0 if constant else n)
        energy = sum(float((centred_angles(self.values, r) ** 2).sum()) for r in anchors)
        self.energies = np.array([energy * (2 / np.pi) ** 2 * n**2])

    def on_slice(self, slice_: Matrix, anchor: int) -> Vector:
        """Inner product of its own slice, over pi/2, with a centred `slice_`."""
        return np.array([2 / np.pi * (centred_angles(self.values, anchor) * slice_).sum()])


ProjectionPart: TypeAlias = Ranked | Coded | Angles


@dataclass(frozen=True)
class ProjectionCorrelation(Measure):
    r"""Squared projection correlation :math:`\mathrm{PC}^2` (Zhu et al. 2017), ``"pc"`` for short.

    Zero in the population if and only if the variables are independent, no moment conditions, and
    for numbers a function of ranks alone: strictly increasing transforms change nothing. Exact
    integer counts, O(n^2 / 64) per pair for n up to 1024 and O(n log n) beyond.
    Paper: section 2.4.1.
    """

    alias: ClassVar[str] = "pc"
    by_rank: ClassVar[bool] = True

    def prepare(self, block: Block, use: Use) -> list[Part]:
        """Sort the columns into classes, few levels, ranks without ties and ranks with ties."""
        if block.nominal:
            return [_nominal(block)]
        often = use.partners >= BIT_SET_PARTNERS
        return _numeric_parts(block, bit_sets=often and block.n_rows <= BIT_SET_ROWS)

    def prepare_target(self, target: Target) -> Part:
        """Embed the target; a multi-output one keeps its vectors."""
        if target.kind == "multi-output":
            return Angles(unit_scale(target.vectors)[0].T)
        return self.prepare(target.block(), ONCE)[0]

    def inner(self, a: Any, b: Any) -> Matrix:
        """Brackets of the module's formula for all pairs of columns of two parts."""
        if isinstance(b, Angles):
            return _inner_angles(a, b)
        if isinstance(a, Angles):
            return _inner_angles(b, a).T
        if a.key > b.key:  # one direction for a pair, or its last bit would depend on the blocks
            return self.inner(b, a).T
        n = a.codes.shape[1] if isinstance(a, Coded) else a.order.shape[1]
        out = np.zeros((len(a.columns), len(b.columns)))
        if isinstance(a, Coded) and isinstance(b, Coded):
            coded_loops.cross_coded(
                a.codes, a.counts, a.nominal, b.codes, b.counts, b.nominal, a is b, out
            )
        elif isinstance(a, Coded):
            coded_loops.cross_coded_ranked(a.codes, a.counts, a.nominal, b.order, b.through, out)
        else:
            _cross_ranked(a, b, out)
        return _bracket(out, a.u[:, None], b.u[None, :], n)

    def bytes_per_column(self, n_rows: int, use: Use) -> int:
        """Order, below and through as 32-bit integers; two bit sets per sample while n is small."""
        return n_rows * (12 + (n_rows // 4 if n_rows <= BIT_SET_ROWS else 0))

    def tile(self, target: Target | None) -> int:
        """Bit sets of two tiles stay in cache; against a target, calls must be worth their cost."""
        if target is None:
            return 64
        return 512 if target.kind == "multi-output" else 256  # whose slices serve many


def _bracket(cross: Matrix, u_a: Matrix, u_b: Matrix, n: int) -> Matrix:
    return np.asarray(cross - u_a - u_b + float(n) * (n - 1) ** 2)


def _nominal(block: Block) -> Coded:
    n_levels = int(block.values.max()) + 1
    codes: NDArray[Any] = block.values.astype(np.uint8 if n_levels <= 256 else np.int32)
    counts = np.stack([np.bincount(row, minlength=n_levels) for row in codes])
    return Coded(block.columns, codes, counts, nominal=True)


def _numeric_parts(block: Block, bit_sets: bool) -> list[Part]:
    """Columns with few levels coded, others ranked: without ties, and with ties."""
    n = block.n_rows
    codes, counts, levels = coded_loops.code_small_integers(block.values, TABLE_LEVELS)
    rest = np.flatnonzero(levels == 0)
    values = np.ascontiguousarray(block.values[rest], dtype=np.float64)
    order = np.argsort(values, axis=1).astype(np.int32)
    below, through, distinct = loops.rank_rows(values, order)
    many = distinct > min(TABLE_LEVELS, n - 1)
    for k, ranks in zip(rest[~many], below[~many], strict=True):
        _, codes[k], sizes = np.unique(ranks, return_inverse=True, return_counts=True)
        levels[k] = len(sizes)
        counts[k, : len(sizes)] = sizes
    few = levels > 0
    parts: list[Part] = []
    if few.any():
        counts = counts[few, : levels.max()]
        parts.append(Coded(block.columns[few], codes[few], counts, nominal=False))
    for tied, rows in ((False, many & (distinct == n)), (True, many & (distinct < n))):
        if rows.any():
            ranked = order[rows], below[rows], through[rows]
            planes = loops.bit_planes(order[rows], through[rows], False) if bit_sets else None
            parts.append(Ranked(block.columns[rest[rows]], *ranked, tied, planes))
    return parts


def _cross_ranked(a: Ranked, b: Ranked, out: Matrix) -> None:
    same, tied = a is b, a.tied or b.tied
    if a.planes is not None and b.planes is not None:
        if tied:
            untied_a = loops.bit_planes(a.order, a.through, True)
            untied_b = untied_a if same else loops.bit_planes(b.order, b.through, True)
            loops.cross_bits_tied(
                a.planes, untied_a, a.signs, b.planes, untied_b, b.signs, same, out
            )
        else:
            loops.cross_bits(a.planes, a.signs, b.planes, b.signs, same, out)
    elif tied:
        loops.cross_sweep_tied(a.order, a.below, a.through, b.order, b.below, b.through, same, out)
    else:
        loops.cross_sweep(a.order, b.order, same, out)


def centred_angles(values: Matrix, anchor: int) -> Matrix:
    """Centred slice of the arccos tensor at `anchor`, from vectors of any length.

    Angles are 2 atan2(|u - v|, |u + v|): arccos would lose eight digits near 1. Samples equal to
    the anchor have the angle pi/2 with all others, the anchor itself 0.
    """
    towards = values - values[anchor]
    largest = np.abs(towards).max(axis=1, keepdims=True)
    tied = largest[:, 0] == 0
    towards /= np.where(largest > 0, largest, 1.0)  # so that squares cannot underflow
    units = towards / np.where(tied, 1.0, np.sqrt((towards**2).sum(axis=1)))[:, None]
    apart, together = np.zeros((2, len(values), len(values)))
    for coordinate in units.T:
        apart += (coordinate[:, None] - coordinate) ** 2
        together += (coordinate[:, None] + coordinate) ** 2
    angles = 2 * np.arctan2(np.sqrt(apart), np.sqrt(together))
    angles[tied, :] = angles[:, tied] = np.pi / 2
    angles[anchor, :] = angles[:, anchor] = 0.0
    means = angles.mean(axis=0)
    return np.asarray(angles - means - means[:, None] + means.mean())


def _inner_angles(a: ProjectionPart, b: Angles) -> Matrix:
    n = len(b.values)
    total = np.zeros(len(a.columns))
    for anchor in range(n):
        total += a.on_slice(centred_angles(b.values, anchor), anchor)
    return np.asarray((2 / np.pi) * n**2 * total)[:, None]


def _on_slice(ranks: NDArray[np.int32], slice_: Matrix, anchor: int) -> Vector:
    """Products of a slice with sign vectors, always 8 at a time: the bits depend on the shape."""
    out = np.empty(len(ranks))
    signs = np.zeros((8, ranks.shape[1]))
    for start in range(0, len(ranks), 8):
        some = ranks[start : start + 8]
        signs[: len(some)] = np.sign(some - some[:, [anchor]])
        products = np.einsum("ki,ki->k", signs @ slice_, signs)
        out[start : start + 8] = slice_[anchor, anchor] - products[: len(some)]
    return out
