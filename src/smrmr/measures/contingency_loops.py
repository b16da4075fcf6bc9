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
LOOKED_AT = 16  # values of a row that tell whether it may hold whole numbers


def code_small_integers(values: Array, max_levels: int) -> tuple[Array, Array, Array]:
    """Code the rows that hold few small whole numbers without sorting.

    Returns the level of every sample, the samples of every level (one column per level), and the
    number of levels of every row, which is 0 for rows that are left uncoded. Genotypes and 0/1
    columns come through here.
    """
    codes = np.empty(values.shape, np.uint8)
    counts = np.zeros((len(values), max_levels), np.int64)
    levels = np.zeros(len(values), np.int64)
    if _may_be_whole(values).any():  # which saves compiling what follows
        _code(values, np.empty(SPAN, np.int64), codes, counts, levels)
    return codes, counts, levels


def _may_be_whole(values: Array) -> NDArray[np.bool_]:
    """Rows whose first values differ by whole numbers, as those of all that are coded do."""
    first = values[:, :LOOKED_AT].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # of the largest numbers
        steps = first - first[:, :1]
        return np.asarray((np.abs(steps - np.rint(steps)) < 1e-3).all(axis=1))


@compiled
def _code(values: Array, seen: Array, codes: Array, counts: Array, levels: Array) -> None:
    c: Any
    for k in range(len(values)):
        row = values[k]
        low, high = row[0], row[0]
        for i in range(len(row)):
            low = row[i] if row[i] < low else low
            high = row[i] if row[i] > high else high
        if not np.float64(high) - np.float64(low) < SPAN:
            continue
        for c in range(SPAN):
            seen[c] = 0
        distinct, whole = 0, True
        for i in range(len(row)):
            c = np.int64(row[i] - low)
            whole = whole and c + low == row[i]
            distinct += seen[c] == 0
            seen[c] += 1
        if not whole or distinct > counts.shape[1]:
            continue
        for c in range(SPAN):
            if seen[c] > 0:
                counts[k, levels[k]] = seen[c]
                seen[c] = levels[k]
                levels[k] += 1
        for i in range(len(row)):
            codes[k, i] = seen[np.int64(row[i] - low)]


def cross_coded_ranked(
    codes: Array, counts: Array, nominal: bool, order: Array, through: Array, out: Array
) -> None:
    r"""Fill `out` for coded columns (rows) against ranked ones, in O(n levels) per pair.

    Around sample r of the ranked column, level a has the centred sum of signs
    :math:`R_a = n \sum_{i \in a} t_r(i) - n_a T_r`. An ordered column of level c at r has
    :math:`v_r = \sum_{a > c} R_a - \sum_{a < c} R_a`; a nominal one contributes
    :math:`\tfrac23 \sum_a R_a^2 - \tfrac13 R_c^2`.
    """
    (below, group), value = np.empty((2, counts.shape[1]), np.int64), np.empty(counts.shape[1])
    _cross_levels(codes, counts, nominal, order, through, below, group, value, out)


@compiled
def _cross_levels(
    codes: Array,
    counts: Array,
    nominal: bool,
    order: Array,
    through: Array,
    below: Array,
    group: Array,
    value: Array,
    out: Array,
) -> None:
    n = order.shape[1]
    n_levels = counts.shape[1]
    for l in range(len(order)):  # noqa: E741
        for k in range(len(codes)):
            for a in range(n_levels):
                below[a] = 0
            total, start = 0.0, 0
            while start < n:
                stop = through[l, order[l, start]]
                for a in range(n_levels):
                    group[a] = 0
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
                    total += value[codes[k, order[l, t]]]
                for a in range(n_levels):
                    below[a] += group[a]
                start = stop
            out[k, l] = total


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
    table: Array, counts_a: Array, counts_b: Array, nominal_a: bool, nominal_b: bool, v: Array
) -> float:
    """Return the cross term of two coded columns from their contingency table."""
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
            total += table[a, b] * v[a, b]
    return total


def cross_coded(
    codes_a: Array,
    counts_a: Array,
    nominal_a: bool,
    codes_b: Array,
    counts_b: Array,
    nominal_b: bool,
    same: bool,
    out: Array,
) -> None:
    """Fill `out` for coded columns from their contingency tables.

    A table is counted sample by sample, or, where it is small and many tables share the bit sets of
    the levels, by popcounts of 64 samples at a time.
    """
    n = codes_a.shape[1]
    levels_a, levels_b = counts_a.shape[1], counts_b.shape[1]
    by_words = levels_a * levels_b * ((n + 63) // 64) < n
    by_words = by_words and len(codes_a) > 8 and len(codes_b) > 8
    planes_a = _level_planes(codes_a, levels_a if by_words else 0)
    planes_b = _level_planes(codes_b, levels_b if by_words else 0)
    table, v = np.empty((levels_a, levels_b), np.int64), np.empty((levels_a, levels_b))
    coded_a, coded_b = (codes_a, counts_a, nominal_a), (codes_b, counts_b, nominal_b)
    _cross_tables(*coded_a, *coded_b, same, planes_a, planes_b, table, v, out)


@compiled
def _cross_tables(
    codes_a: Array,
    counts_a: Array,
    nominal_a: bool,
    codes_b: Array,
    counts_b: Array,
    nominal_b: bool,
    same: bool,
    planes_a: Array,
    planes_b: Array,
    table: Array,
    v: Array,
    out: Array,
) -> None:
    """Fill `out` by way of the planes, or sample by sample where they have no levels."""
    n, n_words = codes_a.shape[1], planes_a.shape[2]
    levels_a, levels_b = table.shape
    by_words = planes_a.shape[1] > 0
    for k in range(len(codes_a)):
        for l in range(k if same else 0, len(codes_b)):  # noqa: E741
            for a in range(levels_a):
                for b in range(levels_b):
                    table[a, b] = 0
            if by_words:
                for a in range(levels_a):
                    for b in range(levels_b):
                        for w in range(n_words):
                            table[a, b] += np.int64(popcount(planes_a[k, a, w] & planes_b[l, b, w]))
            else:
                for i in range(n):
                    table[codes_a[k, i], codes_b[l, i]] += 1
            out[k, l] = _cross_table(table, counts_a[k], counts_b[l], nominal_a, nominal_b, v)


def self_coded(counts: Array, nominal: bool) -> Array:
    """Cross term of every coded column with itself."""
    n_columns, n_levels = counts.shape
    out, v = np.empty(n_columns), np.empty((n_levels, n_levels))
    _cross_with_itself(counts, nominal, np.zeros((n_levels, n_levels), np.int64), v, out)
    return out


@compiled
def _cross_with_itself(counts: Array, nominal: bool, table: Array, v: Array, out: Array) -> None:
    for k in range(len(counts)):
        for a in range(counts.shape[1]):
            table[a, a] = counts[k, a]
        out[k] = _cross_table(table, counts[k], counts[k], nominal, nominal, v)
