"""Counts concordance for columns of few levels and classes, from contingency tables.

These are the sums of `projection_loops` for columns that come coded: ``codes`` (level of each
sample) and ``counts`` (samples of each level), ordered or nominal.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import ONE, compiled, popcount
from .projection_loops import LOW, SHIFT, joined, split_square

Array = NDArray[Any]

SHORT = 7000  # rows up to which the fifth power of their number is a 64-bit integer
COMPARED = 6  # entries of a table up to which comparing beats counting sample by sample


@compiled
def _cross_three_levels(codes: Array, counts: Array, order: Array, chosen: Array) -> Any:
    """Cross term of a column of at most three ordered levels and an untied one, at once.

    Around the sample t in order, of level c, ``v`` is ``n (S - 2 D) - S (n - 1 - 2 t)`` with S the
    sum of the signs of levels minus c and D that of the t earlier samples.
    """
    n, n_levels = len(order), len(counts)
    lowest, highest = counts[0], counts[2] if n_levels > 2 else 0
    first, middle, last = n - lowest, highest - lowest, highest - n
    before_low, before_high = np.int64(0), np.int64(0)
    total, low, high = np.uint64(0), np.uint64(0), np.uint64(0)
    for t in range(n):
        r = np.uint64(order[t])
        c = codes[r]
        is_low, is_high = np.int64(c == 0), np.int64(c == 2)
        in_low, in_high = -is_low, -is_high  # all bits or none, since branches would be guesses
        in_middle = ~(in_low | in_high)
        signs = (in_low & first) | (in_middle & middle) | (in_high & last)
        earlier = (in_low & (t - before_low)) | (in_high & (before_high - t))
        earlier |= in_middle & (before_high - before_low)
        v = chosen[r] * (n * (signs - 2 * earlier) - signs * (n - 1 - 2 * t))
        before_low += is_low
        before_high += is_high
        if n <= SHORT:
            total += np.uint64(v * v)
        else:
            part, rest = split_square(v)
            low += part
            high += rest
    return joined(low + (total & LOW), high + (total >> SHIFT))


@compiled
def cross_coded_ranked(
    codes: Array,
    counts: Array,
    nominal: bool,
    order: Array,
    through: Array,
    chosen: Array,
    out: Array,
) -> None:
    r"""Fill `out` for coded columns (rows) against ranked ones, in O(n levels) per pair.

    Around sample r of the ranked column, level a has the centred sum of signs
    :math:`R_a = n \sum_{i \in a} t_r(i) - n_a T_r`. An ordered column of level c at r has
    :math:`v_r = \sum_{a > c} R_a - \sum_{a < c} R_a`; a nominal one contributes
    :math:`\tfrac23 \sum_a R_a^2 - \tfrac13 R_c^2`. `chosen` is 1 for anchors.
    """
    n = order.shape[1]
    n_levels = counts.shape[1]
    below = np.empty(n_levels, np.int64)
    group = np.empty(n_levels, np.int64)
    value = np.empty(n_levels)
    for l in range(len(order)):  # noqa: E741
        untied = True
        for t in range(n):
            untied = untied and through[l, order[l, t]] == t + 1
        for k in range(len(codes)):
            if untied and not nominal and n_levels <= 3:
                out[k, l] = _cross_three_levels(codes[k], counts[k], order[l], chosen)
                continue
            below[:] = 0
            total, start = 0.0, 0
            while start < n:
                stop = through[l, order[l, start]]
                group[:] = 0
                for t in range(start, stop):
                    group[codes[k, order[l, t]]] += 1
                tilt = n - start - stop
                after = 0.0
                for a in range(n_levels):
                    signs = counts[k, a] - 2 * below[a] - group[a]
                    value[a] = np.float64(n * signs - counts[k, a] * tilt)
                    after += value[a] * value[a] if nominal else value[a]
                for a in range(n_levels):
                    own = value[a]
                    if nominal:
                        value[a] = (2.0 * after - own * own) / 3.0
                    else:
                        after -= own
                        value[a] = 2.0 * after + own  # levels sum to 0: those before are -after-own
                        value[a] *= value[a]
                for t in range(start, stop):
                    total += chosen[order[l, t]] * value[codes[k, order[l, t]]]
                for a in range(n_levels):
                    below[a] += group[a]
                start = stop
            out[k, l] = total


@compiled
def _level_planes(codes: Array, n_levels: int) -> Array:
    """Bit set of the samples of every level: ``planes[k, level, word]``."""
    n_columns, n = codes.shape
    planes = np.zeros((n_columns, n_levels, (n + 63) // 64), np.uint64)
    for k in range(n_columns if n_levels else 0):
        for i in range(n):
            planes[k, codes[k, i], i >> 6] |= ONE << np.uint64(i & 63)
    return planes


@compiled
def _combine_rows(table: Array, nominal: bool) -> None:
    """Replace each row by (sum of the rows after it) minus (sum of the rows before it).

    With `nominal`, by 2/3 of the sum of all rows minus 1/3 of itself instead.
    """
    for b in range(table.shape[1]):
        total = 0.0
        for a in range(table.shape[0]):
            total += table[a, b]
        before = 0.0
        for a in range(table.shape[0]):
            own = table[a, b]
            table[a, b] = (2.0 * total - own) / 3.0 if nominal else total - 2.0 * before - own
            before += own


@compiled
def _cross_table(
    table: Array,
    anchors: Array,
    counts_a: Array,
    counts_b: Array,
    nominal_a: bool,
    nominal_b: bool,
    v: Array,
) -> float:
    """Return the cross term of two coded columns from their contingency table.

    The table `anchors` has only the samples over which the sum goes.
    """
    n = counts_a.sum()
    for a in range(table.shape[0]):
        for b in range(table.shape[1]):
            v[a, b] = np.float64(n * table[a, b] - counts_a[a] * counts_b[b])
    if not nominal_a:
        _combine_rows(v, False)
    if not nominal_b:
        _combine_rows(v.T, False)
    for a in range(table.shape[0]):
        for b in range(table.shape[1]):
            v[a, b] *= v[a, b]
    if nominal_a:
        _combine_rows(v, True)
    if nominal_b:
        _combine_rows(v.T, True)
    total = 0.0
    for a in range(table.shape[0]):
        for b in range(table.shape[1]):
            total += anchors[a, b] * v[a, b]
    return total


@compiled
def _count_by_comparing(
    codes_a: Array, counts_a: Array, codes_b: Array, counts_b: Array, table: Array
) -> None:
    """Fill a small contingency table by vector comparisons, its last row and column by margins."""
    last_a, last_b = table.shape[0] - 1, table.shape[1] - 1
    for b in range(last_b + 1):
        table[last_a, b] = counts_b[b]
    for a in range(last_a):
        table[a, last_b] = counts_a[a]
        for b in range(last_b):
            found = 0
            for i in range(len(codes_a)):
                found += (codes_a[i] == a) & (codes_b[i] == b)
            table[a, b] = found
            table[a, last_b] -= found
        for b in range(last_b + 1):
            table[last_a, b] -= table[a, b]


@compiled
def cross_coded(
    codes_a: Array,
    counts_a: Array,
    nominal_a: bool,
    codes_b: Array,
    counts_b: Array,
    nominal_b: bool,
    anchors: Array,
    same: bool,
    out: Array,
) -> None:
    """Fill `out` for coded columns from their contingency tables.

    A table is counted sample by sample or, where it is small, by comparing; where many tables share
    the bit sets of the levels, by popcounts of 64 samples at a time.
    """
    n = codes_a.shape[1]
    levels_a, levels_b = counts_a.shape[1], counts_b.shape[1]
    n_words = (n + 63) // 64
    table = np.empty((levels_a, levels_b), np.int64)
    held = table if len(anchors) == n else np.empty_like(table)
    v = np.empty((levels_a, levels_b))
    by_words = levels_a * levels_b * n_words < n and len(codes_a) > 8 and len(codes_b) > 8
    planes_a = _level_planes(codes_a, levels_a if by_words else 0)
    planes_b = _level_planes(codes_b, levels_b if by_words else 0)
    for k in range(len(codes_a)):
        for l in range(k if same else 0, len(codes_b)):  # noqa: E741
            table[:] = 0
            if by_words:
                for a in range(levels_a):
                    for b in range(levels_b):
                        for w in range(n_words):
                            table[a, b] += np.int64(popcount(planes_a[k, a, w] & planes_b[l, b, w]))
            elif (levels_a - 1) * (levels_b - 1) <= COMPARED:
                _count_by_comparing(codes_a[k], counts_a[k], codes_b[l], counts_b[l], table)
            else:
                for i in range(n):
                    table[codes_a[k, i], codes_b[l, i]] += 1
            if len(anchors) < n:
                held[:] = 0
                for r in anchors:
                    held[codes_a[k, r], codes_b[l, r]] += 1
            counts = counts_a[k], counts_b[l]
            out[k, l] = _cross_table(table, held, *counts, nominal_a, nominal_b, v)


@compiled
def self_coded(counts: Array, anchors: Array, nominal: bool) -> Array:
    """Cross term of every coded column with itself; `anchors` counts those of each level."""
    n_columns, n_levels = counts.shape
    table, held = np.zeros((2, n_levels, n_levels), np.int64)
    v = np.empty((n_levels, n_levels))
    out = np.empty(n_columns)
    for k in range(n_columns):
        for a in range(n_levels):
            table[a, a], held[a, a] = counts[k, a], anchors[k, a]
        out[k] = _cross_table(table, held, counts[k], counts[k], nominal, nominal, v)
    return out
