"""Counts concordance for columns of few levels and classes, from contingency tables.

These are the sums of `projection_loops` for columns that come coded: ``codes`` (level of each
sample) and ``counts`` (samples of each level), ordered or nominal.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import ONE, compiled, popcount

Array = NDArray[Any]

SPAN = 64  # small whole numbers lie within such a range


@compiled
def code_small_integers(values: Array, max_levels: int) -> tuple[Array, Array, Array]:
    """Code the rows that hold few small whole numbers without sorting.

    Returns the level of every sample, the samples of every level (one column per level), and the
    number of levels of every row, which is 0 for rows that are left uncoded. Genotypes and 0/1
    columns come through here.
    """
    codes = np.empty(values.shape, np.uint8)
    counts = np.zeros((len(values), max_levels), np.int64)
    levels = np.zeros(len(values), np.int64)
    c: Any
    seen = np.empty(SPAN, np.int64)
    for k in range(len(values)):
        row = values[k]
        low, high = row[0], row[0]
        for i in range(len(row)):
            low = min(low, row[i])
            high = max(high, row[i])
        if not np.float64(high) - np.float64(low) < SPAN:
            continue
        seen[:] = 0
        whole = True
        for i in range(len(row)):
            c = np.int64(row[i] - low)
            whole = whole and c + low == row[i]
            seen[c] += 1
        distinct = np.count_nonzero(seen)
        if not whole or distinct > max_levels:
            continue
        for c in range(SPAN):
            if seen[c] > 0:
                counts[k, levels[k]] = seen[c]
                seen[c] = levels[k]
                levels[k] += 1
        for i in range(len(row)):
            codes[k, i] = seen[np.int64(row[i] - low)]
    return codes, counts, levels


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
        for k in range(len(codes)):
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

    A table is counted sample by sample, or, where it is small and many tables share the bit sets of
    the levels, by popcounts of 64 samples at a time.
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
