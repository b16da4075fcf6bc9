"""Counts concordance around anchors from bit sets, see `projection_loops` for the sums.

A bit set tells for one anchor which samples are below it. They are kept for `LANES` anchors at a
time, ``planes[tile, column, byte, anchor]``, so that the bit sets of two columns that meet stay in
the fastest memory. Anchors beyond the last one have empty sets.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runs.compiled import compiled
from .projection_loops import LOW, MIDDLE, NARROW_SUMS, SHIFT, split_square
from .vector_instructions import (
    LANES,
    MOST_ROUNDS,
    ROWS,
    compare_eight,
    count_common,
    count_concordant,
)

Array = NDArray[Any]

TOGETHER = 4  # columns whose bit sets meet those of another one after the other


def bit_planes(below: Array, anchors: Array, unequal: bool, space: Array) -> Array:
    """Bit sets of the samples below each anchor.

    With `unequal`, of those whose value differs from the anchor's. `space` gives the type of ranks.
    """
    n_columns, n = below.shape
    n_bytes = -(-n // (8 * ROWS)) * ROWS
    planes = np.zeros((-(-len(anchors) // LANES), n_columns, n_bytes, LANES), np.uint8)
    ranks, own = np.zeros(8 * n_bytes, space.dtype), np.zeros(LANES, space.dtype)
    _fill_planes(below, anchors, unequal, ranks, own, planes)
    return planes


@compiled
def _fill_planes(
    below: Array, anchors: Array, unequal: bool, ranks: Array, own: Array, planes: Array
) -> None:
    n_columns, n = below.shape
    n_tiles, n_bytes = planes.shape[0], planes.shape[2]
    for k in range(n_columns):
        for i in range(n):
            ranks[i] = below[k, i] - MIDDLE
        for tile in range(n_tiles):
            size = len(anchors) - tile * LANES
            for lane in range(LANES):
                last = lane if lane < size else size - 1
                own[lane] = ranks[anchors[tile * LANES + last]]
            first = (tile * n_columns + k) * n_bytes * LANES
            for byte in range((n + 7) // 8):
                left = n - 8 * byte
                inside = 255 if left >= 8 else (1 << left) - 1  # bits beyond the last sample are 0
                compare_eight(ranks, 8 * byte, own, unequal, inside, planes, first + byte * LANES)
                for lane in range(size, LANES):
                    planes[tile, k, byte, lane] = 0


@compiled
def _sum_of_squares(
    counts: Array, scale: int, shift: int, x: Array, y: Array, at_x: Any, at_y: Any, narrow: bool
) -> tuple[Any, Any]:
    """Squares of ``v = scale * count + shift - x * y`` of a tile, as ``low + 2**40 * high``."""
    low, high, total = np.uint64(0), np.uint64(0), np.uint64(0)
    if narrow:
        for lane in range(LANES):
            tilt = x[at_x + np.uint64(lane)] * y[at_y + np.uint64(lane)]
            v = np.int32(scale * counts[lane] + shift - tilt)
            total += np.uint64(np.int64(v) * np.int64(v))
        return total & LOW, total >> SHIFT
    for lane in range(LANES):
        tilt = np.int64(x[at_x + np.uint64(lane)]) * np.int64(y[at_y + np.uint64(lane)])
        part, rest = split_square(scale * np.int64(counts[lane]) + shift - tilt)
        low += part
        high += rest
    return low, high


def cross_bits(
    below_a: Array,
    untied_a: Array,
    tilts_a: Array,
    below_b: Array,
    untied_b: Array,
    tilts_b: Array,
    n: int,
    tied: bool,
    same: bool,
    out: Array,
) -> None:
    """Fill `out` from bit sets of n samples; entry ``tilts[tile, column, anchor]`` is of an anchor.

    Without ties ``v_r`` is ``4 n c_r + n - (n - S_r) (n - T_r)`` with ``c_r`` the number of samples
    below r in both columns, and tilts are ``n - S_r``. If `tied`, only samples untied with r in
    both columns count, and tilts are ``S_r``, the sums of signs; else `untied_a` is not read.
    """
    counts, sums = np.zeros(LANES, np.int32), np.zeros((2, *out.shape), np.uint64)
    sides = below_a, untied_a, tilts_a.reshape(-1), below_b, untied_b, tilts_b.reshape(-1)
    _meet(*sides, n, tied, same, counts, sums)
    out[:] = sums[0].astype(np.float64) + sums[1].astype(np.float64) * 2.0**40


@compiled
def _meet(
    below_a: Array,
    untied_a: Array,
    tilts_a: Array,
    below_b: Array,
    untied_b: Array,
    tilts_b: Array,
    n: int,
    tied: bool,
    same: bool,
    counts: Array,
    sums: Array,
) -> None:
    n_a, n_b, n_bytes = below_a.shape[1], below_b.shape[1], below_a.shape[2]
    scale, shift = n if tied else 4 * n, 0 if tied else n
    for tile in range(len(below_a)):
        for together in range(0, n_a, TOGETHER):
            for l in range(together if same else 0, n_b):  # noqa: E741
                last = l + 1 if same else n_a
                last = last if last < together + TOGETHER else together + TOGETHER
                for k in range(together, last):
                    row_a, row_b = tile * n_a + k, tile * n_b + l
                    for lane in range(LANES):
                        counts[lane] = 0
                    for start in range(0, n_bytes // ROWS, MOST_ROUNDS):
                        a = (n_bytes * row_a + ROWS * start) * LANES
                        b = (n_bytes * row_b + ROWS * start) * LANES
                        some = n_bytes // ROWS - start
                        some = some if some < MOST_ROUNDS else MOST_ROUNDS
                        if tied:
                            count_concordant(
                                below_a, untied_a, a, below_b, untied_b, b, some, counts
                            )
                        else:
                            count_common(below_a, a, below_b, b, some, counts)
                    at_a, at_b = np.uint64(LANES * row_a), np.uint64(LANES * row_b)
                    low, high = _sum_of_squares(
                        counts, scale, shift, tilts_a, tilts_b, at_a, at_b, n <= NARROW_SUMS
                    )
                    sums[0, k, l] += low
                    sums[1, k, l] += high
