"""Counts concordance for columns of few levels and classes, from contingency tables.

These are the sums of `projection_loops` for columns that come coded: ``codes`` (level of each
sample) and ``counts`` (samples of each level), ordered or nominal.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runs.compiled import ONE, compiled, popcount

Array = NDArray[Any]

COMPARED = 6  # entries of a table up to which comparing beats counting sample by sample


def _level_planes(codes: Array, n_levels: int) -> Array:
    """Bit set of the samples of every level: ``planes[k, level, word]``."""
    n_columns, n = codes.shape
    planes = np.zeros((n_columns, n_levels, (n + 63) // 64), np.uint64)
    if n_levels:
        _fill_level_planes(codes, planes)
    return planes


@compiled
def _fill_level_planes(codes: Array, planes: Array) -> None:
    for k in range(len(codes)):
        for i in range(codes.shape[1]):
            planes[k, codes[k, i], i >> 6] |= ONE << np.uint64(i & 63)


@compiled
def _combine_rows(table: Array, nominal: bool, turned: bool) -> None:
    """Replace each row by (sum of the rows after it) minus (sum of the rows before it).

    With `nominal`, by 2/3 of the sum of all rows minus 1/3 of itself instead. With `turned` it is
    columns instead of rows.
    """
    n_rows, n_columns = table.shape
    if turned:
        n_rows, n_columns = n_columns, n_rows
    for b in range(n_columns):
        total = 0.0
        for a in range(n_rows):
            total += table[b, a] if turned else table[a, b]
        before = 0.0
        for a in range(n_rows):
            own = table[b, a] if turned else table[a, b]
            new = (2.0 * total - own) / 3.0 if nominal else total - 2.0 * before - own
            if turned:
                table[b, a] = new
            else:
                table[a, b] = new
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
    n = 0
    for a in range(table.shape[0]):
        n += counts_a[a]
    for a in range(table.shape[0]):
        for b in range(table.shape[1]):
            v[a, b] = np.float64(n * table[a, b] - counts_a[a] * counts_b[b])
    for side in range(2):
        nominal = nominal_b if side else nominal_a
        if not nominal:
            _combine_rows(v, nominal, side == 1)
    for a in range(table.shape[0]):
        for b in range(table.shape[1]):
            v[a, b] *= v[a, b]
    for side in range(2):
        nominal = nominal_b if side else nominal_a
        if nominal:
            _combine_rows(v, nominal, side == 1)
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
    by_words = levels_a * levels_b * ((n + 63) // 64) < n
    by_words = by_words and len(codes_a) > 8 and len(codes_b) > 8
    planes_a = _level_planes(codes_a, levels_a if by_words else 0)
    planes_b = _level_planes(codes_b, levels_b if by_words else 0)
    table, v = np.empty((levels_a, levels_b), np.int64), np.empty((levels_a, levels_b))
    held = table if len(anchors) == n else np.empty_like(table)
    coded_a, coded_b = (codes_a, counts_a, nominal_a), (codes_b, counts_b, nominal_b)
    _cross_tables(*coded_a, *coded_b, anchors, same, planes_a, planes_b, table, held, v, out)


@compiled
def _cross_tables(
    codes_a: Array,
    counts_a: Array,
    nominal_a: bool,
    codes_b: Array,
    counts_b: Array,
    nominal_b: bool,
    anchors: Array,
    same: bool,
    planes_a: Array,
    planes_b: Array,
    table: Array,
    held: Array,
    v: Array,
    out: Array,
) -> None:
    """Fill `out` by way of the planes, or sample by sample where they have no levels."""
    n, n_words = codes_a.shape[1], planes_a.shape[2]
    levels_a, levels_b = table.shape
    by_words = planes_a.shape[1] > 0
    for k in range(len(codes_a)):
        for l in range(k if same else 0, len(codes_b)):  # noqa: E741
            _clear(table)
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
                _clear(held)
                for r in range(len(anchors)):
                    held[codes_a[k, anchors[r]], codes_b[l, anchors[r]]] += 1
            out[k, l] = _cross_table(table, held, counts_a[k], counts_b[l], nominal_a, nominal_b, v)


@compiled
def _clear(table: Array) -> None:
    for a in range(table.shape[0]):
        for b in range(table.shape[1]):
            table[a, b] = 0


def self_coded(counts: Array, anchors: Array, nominal: bool) -> Array:
    """Cross term of every coded column with itself; `anchors` counts those of each level."""
    n_columns, n_levels = counts.shape
    table, held = np.zeros((2, n_levels, n_levels), np.int64)
    out, v = np.empty(n_columns), np.empty((n_levels, n_levels))
    _cross_with_itself(counts, anchors, nominal, table, held, v, out)
    return out


@compiled
def _cross_with_itself(
    counts: Array, anchors: Array, nominal: bool, table: Array, held: Array, v: Array, out: Array
) -> None:
    for k in range(len(counts)):
        for a in range(counts.shape[1]):
            table[a, a] = counts[k, a]
            held[a, a] = anchors[k, a]
        out[k] = _cross_table(table, held, counts[k], counts[k], nominal, nominal, v)
