"""Columns prepared for projection correlation: ranks and vectors; `contingency` has the others.

All sums over samples r, the anchors of the angles, are over the `anchors` alone, see
`projection.ProjectionCorrelation`.
"""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Indices, Matrix, Vector
from . import projection_loops as loops

FEW_ROWS = 256  # up to here matrices of signs are multiplied, sooner than loops are compiled,
FEW_SIGNS, FEW_PRODUCTS = 2**20, 2**25  # where there are so few of both


@lru_cache(maxsize=16)
def spread_anchors(n_rows: int, n_anchors: int) -> Indices:
    """One row out of each of `n_anchors` strata of neighbouring rows, all if there are no more.

    Drawn at random, by a seed that depends on the number of rows alone: rows at equal steps would
    fall into step with periodic data.
    """
    if n_anchors >= n_rows:
        return np.arange(n_rows)
    edges = np.arange(n_anchors + 1) * n_rows // n_anchors
    shares = np.random.Generator(np.random.PCG64(n_rows)).random(n_anchors)
    return np.asarray(edges[:-1] + (shares * np.diff(edges)).astype(np.intp))


@dataclass(eq=False)
class Ranked:
    """Columns with many levels, as ranks, and with `bit_sets` as those of every anchor.

    Where they meet few others, matrices may do without loops.
    """

    columns: Indices
    ranks: loops.Ranks
    tied: bool
    anchors: Indices
    bit_sets: bool
    meets_few: bool = True
    signs: NDArray[np.int32] = field(init=False)  # sum over i of sign(x_i - x_r)
    u: Vector = field(init=False)
    energies: Vector = field(init=False)
    _planes: NDArray[np.uint64] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        n, (_, below, through) = self.n_rows, self.ranks
        self.signs = (np.int32(n) - below - through).take(self.anchors, axis=1)
        signs = self.signs.astype(np.float64)
        untied = n - (through - below).take(self.anchors, axis=1).astype(np.float64)
        cross = ((n * untied - signs**2) ** 2).sum(axis=1)
        self.u = (signs**2).sum(axis=1)
        self.energies = bracket(cross, self.u, self.u, n, len(self.anchors))

    def planes(self) -> NDArray[np.uint64]:
        """Bit sets of the samples below every anchor, kept; threads do not wait for each other."""
        if self._planes is None:
            order, _, through = self.ranks
            self._planes = loops.bit_planes(order, through, self.anchors, self.tied)
        return np.asarray(self._planes)

    @cached_property
    def visits(self) -> NDArray[np.int32]:
        """Anchors in the order of each column."""
        order = np.argsort(self.ranks[1].take(self.anchors, axis=1), axis=1, kind="stable")
        return np.asarray(self.anchors.astype(np.int32)[order])

    @cached_property
    def bins(self) -> NDArray[Any]:
        """Where samples lie among the anchors' values in each column."""
        return np.asarray(loops.anchor_bins(self.ranks[1], self.anchors))

    @cached_property
    def signs_around(self) -> NDArray[np.float32]:
        """Sign of x_i - x_r for every anchor r: (anchors, columns, rows)."""
        below = self.ranks[1]
        own = below.take(self.anchors, axis=1).T[:, :, None]
        return np.asarray(np.sign(below - own), np.float32)

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.ranks[0].shape[1])

    @property
    def key(self) -> tuple[int, int]:
        """Order of the kinds of parts."""
        return 2, self.tied

    def cross(self, other: "Ranked", out: Matrix) -> None:
        """Fill `out` with the sums over anchors, of every pair of columns of two parts.

        These are whole numbers, and the same in whatever way they are counted.
        """
        n, (k, m) = self.n_rows, out.shape
        signs = len(self.anchors) * n  # of a column
        few = n <= FEW_ROWS and max(k, m) * signs <= FEW_SIGNS and k * m * signs <= FEW_PRODUCTS
        if few and self.meets_few and other.meets_few:
            both = self.signs_around @ other.signs_around.transpose(0, 2, 1)
            apart = self.signs.T[:, :, None] * other.signs.T[:, None]
            out[:] = ((n * both.astype(np.float64) - apart) ** 2).sum(axis=0)
        elif self.bit_sets and other.bit_sets and self.tied == other.tied:
            planes = self.planes(), self.signs, other.planes(), other.signs
            cross = loops.cross_bits
            if not self.tied and n <= loops.EXACT:
                cross = loops.cross_two_words if n <= 128 else loops.cross_untied
            cross(*planes, n, self is other, out)
        elif len(self.anchors) < n:
            mine, theirs = (self.ranks, self.visits), (other.ranks, other.bins)
            loops.sweep_anchors(*mine, *theirs, self is other, out)
        else:
            loops.sweep(self.ranks, other.ranks, self.tied or other.tied, self is other, out)

    def on_slice(self, slice_: Matrix, anchor: int) -> Vector:
        """Inner product of every column's own slice, over pi/2, with a centred `slice_`."""
        return product_on_slice(self.ranks[1], slice_, anchor)


@dataclass(eq=False)
class Angles:
    """A multi-output target: its slices are angles between vectors, made one anchor at a time."""

    values: Matrix
    anchors: Indices
    columns: Indices = field(default_factory=lambda: np.zeros(1, np.intp))
    energies: Vector = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.values)
        constant = (self.values == self.values[0]).all()
        anchors = self.anchors[: 0 if constant else n]
        energy = sum(float((centred_angles(self.values, r) ** 2).sum()) for r in anchors)
        self.energies = np.array([energy * (2 / np.pi) ** 2 * n**2])

    def on_slice(self, slice_: Matrix, anchor: int) -> Vector:
        """Inner product of its own slice, over pi/2, with a centred `slice_`."""
        return np.array([2 / np.pi * (centred_angles(self.values, anchor) * slice_).sum()])

    def inner(self, other: Any) -> Matrix:
        """Brackets with every column of another part, in a row."""
        n = len(self.values)
        total = np.zeros(len(other.columns))
        for anchor in self.anchors:
            total += other.on_slice(centred_angles(self.values, anchor), anchor)
        return np.asarray((2 / np.pi) * n**2 * total)[None, :]


def bracket(cross: Matrix, u_a: Matrix, u_b: Matrix, n: int, n_anchors: int) -> Matrix:
    """The bracket of the formula in `projection`, from its sums over anchors."""
    return np.asarray(cross - u_a - u_b + float(n_anchors) * (n - 1) ** 2)


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


def anchor_mask(anchors: Indices, n_rows: int) -> NDArray[np.uint8]:
    """1 for samples that are anchors."""
    chosen = np.zeros(n_rows, np.uint8)
    chosen[anchors] = 1
    return chosen


def product_on_slice(ranks: NDArray[np.int32], slice_: Matrix, anchor: int) -> Vector:
    """Products of a slice with sign vectors, always 8 at a time: the bits depend on the shape."""
    out = np.empty(len(ranks))
    signs = np.zeros((8, ranks.shape[1]))
    for start in range(0, len(ranks), 8):
        some = ranks[start : start + 8]
        signs[: len(some)] = np.sign(some - some[:, [anchor]])
        products = np.einsum("ki,ki->k", signs @ slice_, signs)
        out[start : start + 8] = slice_[anchor, anchor] - products[: len(some)]
    return out
