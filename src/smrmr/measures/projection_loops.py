r"""Counts concordance around every sample, for all pairs of two groups of columns.

With ``s_r(i) = sign(x_i - x_r)`` and ``t_r(i) = sign(y_i - y_r)`` every loop here returns

.. math:: \sum_r v_r^2, \qquad v_r = n \sum_i s_r(i) t_r(i) - \sum_i s_r(i) \sum_i t_r(i),

or its form for nominal columns. All counts are integers. Columns come as

- *ranked*: ``order`` (samples by increasing value), ``below`` and ``through`` (for each sample, how
  many values are less, and at most, its own);
- *coded*: ``codes`` (level of each sample) and ``counts`` (samples of each level).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import ONE, compiled, popcount

Array = NDArray[Any]

GROUP = 1024  # samples under one 16-lane counter row of the rank directory
SPAN = 64  # small whole numbers lie within such a range


@compiled
def rank_rows(values: Array, order: Array, below: Array, through: Array, levels: Array) -> None:
    """Fill `below`, `through` and the number of distinct values of each sorted row."""
    n_columns, n = values.shape
    for k in range(n_columns):
        start, distinct = 0, 0
        while start < n:
            stop = start + 1
            while stop < n and values[k, order[k, stop]] == values[k, order[k, start]]:
                stop += 1
            for t in range(start, stop):
                below[k, order[k, t]] = start
                through[k, order[k, t]] = stop
            distinct += 1
            start = stop
        levels[k] = distinct


@compiled
def code_small_integers(values: Array, codes: Array, counts: Array, levels: Array) -> None:
    """Code the rows that hold few small whole numbers without sorting; `levels` is 0 elsewhere.

    `counts` has one column a level. Genotypes and 0/1 columns come through here.
    """
    max_levels = counts.shape[1]
    c: Any
    seen = np.empty(SPAN, np.int64)
    for k in range(len(values)):
        row = values[k]
        low, high = row[0], row[0]
        for i in range(len(row)):
            low = min(low, row[i])
            high = max(high, row[i])
        levels[k] = 0
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
        counts[k] = 0
        for c in range(SPAN):
            if seen[c] > 0:
                counts[k, levels[k]] = seen[c]
                seen[c] = levels[k]
                levels[k] += 1
        for i in range(len(row)):
            codes[k, i] = seen[np.int64(row[i] - low)]


@compiled
def below_planes(order: Array, through: Array, planes: Array) -> None:
    """Write the bit set of the samples below each sample: ``planes[k, word, sample]``."""
    n_columns, n_words, n = planes.shape
    for k in range(n_columns):
        for w in range(n_words):
            plane = planes[k, w]
            seen, start = np.uint64(0), 0
            while start < n:
                stop = through[k, order[k, start]]
                for t in range(start, stop):
                    plane[order[k, t]] = seen
                for t in range(start, stop):
                    i = order[k, t]
                    if i >> 6 == w:
                        seen |= ONE << np.uint64(i & 63)
                start = stop


@compiled
def untied_planes(order: Array, through: Array, planes: Array) -> None:
    """Write the bit set of the samples whose value differs from each sample's."""
    n_columns, n_words, n = planes.shape
    for k in range(n_columns):
        for w in range(n_words):
            plane = planes[k, w]
            inside = min(n - 64 * w, 64)  # samples beyond the last one are not there
            everyone = ~np.uint64(0) >> np.uint64(64 - inside)
            start = 0
            while start < n:
                stop = through[k, order[k, start]]
                tied = np.uint64(0)
                for t in range(start, stop):
                    i = order[k, t]
                    if i >> 6 == w:
                        tied |= ONE << np.uint64(i & 63)
                for t in range(start, stop):
                    plane[order[k, t]] = everyone & ~tied
                start = stop


@compiled
def cross_bits(
    below_a: Array, signs_a: Array, below_b: Array, signs_b: Array, same: bool, out: Array
) -> None:
    """Fill `out` for untied columns from ``below`` bit sets; `signs` is ``sum_i s_r(i)``.

    Without ties ``sum_i s_r(i) t_r(i)`` is ``4 c_r + S_r + T_r - (n - 1)`` with ``c_r`` the
    number of samples below r in both columns.
    """
    n_words, n = below_a.shape[1:]
    both = np.empty(n, np.int32)
    size = np.int32(n)
    for k in range(len(below_a)):
        for l in range(k if same else 0, len(below_b)):  # noqa: E741
            both[:] = 0
            for w in range(n_words):
                for r in range(n):
                    both[r] += np.int32(popcount(below_a[k, w, r] & below_b[l, w, r]))
            total = np.int64(0)
            for r in range(n):
                s, t = signs_a[k, r], signs_b[l, r]
                concordance = np.int32(4) * both[r] + s + t - (size - np.int32(1))
                v = np.int32(size * concordance - s * t)
                total += np.int64(v) * np.int64(v)
            out[k, l] = total


@compiled
def cross_bits_tied(
    below_a: Array,
    untied_a: Array,
    signs_a: Array,
    below_b: Array,
    untied_b: Array,
    signs_b: Array,
    same: bool,
    out: Array,
) -> None:
    """Fill `out` for columns with ties: only samples untied with r in both columns count."""
    n_words, n = below_a.shape[1:]
    concordance = np.empty(n, np.int32)
    size = np.int32(n)
    for k in range(len(below_a)):
        for l in range(k if same else 0, len(below_b)):  # noqa: E741
            concordance[:] = 0
            for w in range(n_words):
                for r in range(n):
                    counted = untied_a[k, w, r] & untied_b[l, w, r]
                    against = counted & (below_a[k, w, r] ^ below_b[l, w, r])
                    concordance[r] += np.int32(popcount(counted))
                    concordance[r] -= np.int32(2) * np.int32(popcount(against))
            total = np.int64(0)
            for r in range(n):
                v = np.int32(size * concordance[r] - signs_a[k, r] * signs_b[l, r])
                total += np.int64(v) * np.int64(v)
            out[k, l] = total


@compiled
def _clear(words: Array, lanes: Array, tree: Array) -> None:
    words[:] = 0
    lanes[:] = 0
    tree[:] = 0


@compiled
def _insert(position: np.int64, words: Array, lanes: Array, tree: Array, steps: Array) -> None:
    """Add a position to the rank directory."""
    word = position >> 6
    words[word] |= ONE << np.uint64(position & 63)
    first = (word >> 4) << 4
    row = lanes[first : first + 16]
    step = steps[word & 15]
    for lane in range(16):  # one vector addition
        row[lane] += step[lane]
    node = (word >> 4) + 1
    while node < len(tree):
        tree[node] += 1
        node += node & -node


@compiled
def _inserted_below(position: np.int64, words: Array, lanes: Array, tree: Array) -> Any:
    """How many inserted positions are smaller than `position`."""
    word = position >> 6
    bits = words[word] & ((ONE << np.uint64(position & 63)) - ONE)
    found = np.int64(lanes[word]) + np.int64(popcount(bits))
    node = word >> 4
    while node > 0:
        found += tree[node]
        node &= node - 1
    return found


@compiled
def _new_directory(n: int) -> tuple[Array, Array, Array, Array]:
    """Return empty words, lanes and tree of a rank directory, and the steps that fill its lanes."""
    n_groups = n // GROUP + 1
    steps = np.zeros((16, 16), np.uint16)
    for lane in range(16):
        steps[lane, lane + 1 :] = 1
    words = np.zeros(16 * n_groups, np.uint64)
    return words, np.zeros(16 * n_groups, np.uint16), np.zeros(n_groups, np.int32), steps


@compiled
def cross_sweep(order_a: Array, order_b: Array, same: bool, out: Array) -> None:
    """Fill `out` for untied columns by sweeping the samples in order of one, O(n log n) a pair.

    The samples met so far are kept by their position in the other column, in a directory of three
    levels: words of 64 positions, counters within groups of 1024, a Fenwick tree over the groups.
    """
    n = order_a.shape[1]
    words, lanes, tree, steps = _new_directory(n)
    position = np.empty(n, np.int32)
    for l in range(len(order_b)):  # noqa: E741
        for t in range(n):
            position[order_b[l, t]] = t
        for k in range(l + 1 if same else len(order_a)):
            _clear(words, lanes, tree)
            total = 0.0
            for t in range(n):
                j = np.int64(position[order_a[k, t]])
                both = _inserted_below(j, words, lanes, tree)
                _insert(j, words, lanes, tree, steps)
                s, u = n - 1 - 2 * t, n - 1 - 2 * j
                v = np.float64(n * (4 * both + s + u - (n - 1)) - s * u)
                total += v * v
            out[k, l] = total


@compiled
def cross_sweep_tied(
    order_a: Array,
    below_a: Array,
    through_a: Array,
    order_b: Array,
    below_b: Array,
    through_b: Array,
    same: bool,
    out: Array,
) -> None:
    """Fill `out` for columns with ties, as `cross_sweep` but one group of equal values at a time.

    Since ``s_r(i) = 1 - [x_i < x_r] - [x_i <= x_r]``, the four counts of samples less than, and at
    most, r in both columns give ``sum_i s_r(i) t_r(i)``.
    """
    n = order_a.shape[1]
    words, lanes, tree, steps = _new_directory(n)
    position = np.empty(n, np.int32)
    met = np.empty(n, np.int64)
    for l in range(len(order_b)):  # noqa: E741
        for t in range(n):
            position[order_b[l, t]] = t
        for k in range(l + 1 if same else len(order_a)):
            _clear(words, lanes, tree)
            total, start = 0.0, 0
            while start < n:
                stop = through_a[k, order_a[k, start]]
                for t in range(start, stop):
                    r = order_a[k, t]
                    met[r] = _inserted_below(below_b[l, r], words, lanes, tree)
                    met[r] += _inserted_below(through_b[l, r], words, lanes, tree)
                for t in range(start, stop):
                    _insert(np.int64(position[order_a[k, t]]), words, lanes, tree, steps)
                for t in range(start, stop):
                    r = order_a[k, t]
                    met[r] += _inserted_below(below_b[l, r], words, lanes, tree)
                    met[r] += _inserted_below(through_b[l, r], words, lanes, tree)
                    s = n - np.int64(below_a[k, r]) - through_a[k, r]
                    u = n - np.int64(below_b[l, r]) - through_b[l, r]
                    v = np.float64(n * (met[r] + s + u - n) - s * u)
                    total += v * v
                start = stop
            out[k, l] = total


@compiled
def cross_coded_ranked(
    codes: Array,
    counts: Array,
    nominal: bool,
    order: Array,
    through: Array,
    out: Array,
) -> None:
    r"""Fill `out` for coded columns (rows) against ranked ones, in O(n levels) a pair.

    Around sample r of the ranked column, level a has the centred sum of signs
    :math:`R_a = n \sum_{i \in a} t_r(i) - n_a T_r`. An ordered column of level c at r has
    :math:`v_r = \sum_{a > c} R_a - \sum_{a < c} R_a`; a nominal one contributes
    :math:`\tfrac23 \sum_a R_a^2 - \tfrac13 R_c^2`.
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
                    total += value[codes[k, order[l, t]]]
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
def _signed_sums(table: Array) -> None:
    """Replace each row by (sum of the rows after it) minus (sum of the rows before it)."""
    for b in range(table.shape[1]):
        total = 0.0
        for a in range(table.shape[0]):
            total += table[a, b]
        before = 0.0
        for a in range(table.shape[0]):
            own = table[a, b]
            table[a, b] = total - 2.0 * before - own
            before += own


@compiled
def _class_weights(table: Array) -> None:
    """Replace each row by 2/3 of the sum of all rows minus 1/3 of itself."""
    for b in range(table.shape[1]):
        total = 0.0
        for a in range(table.shape[0]):
            total += table[a, b]
        for a in range(table.shape[0]):
            table[a, b] = (2.0 * total - table[a, b]) / 3.0


@compiled
def _cross_table(
    table: Array,
    counts_a: Array,
    counts_b: Array,
    nominal_a: bool,
    nominal_b: bool,
    v: Array,
) -> float:
    """Return the cross term of two coded columns from their contingency table."""
    n = counts_a.sum()
    for a in range(table.shape[0]):
        for b in range(table.shape[1]):
            v[a, b] = np.float64(n * table[a, b] - counts_a[a] * counts_b[b])
    if not nominal_a:
        _signed_sums(v)
    if not nominal_b:
        _signed_sums(v.T)
    for a in range(table.shape[0]):
        for b in range(table.shape[1]):
            v[a, b] *= v[a, b]
    if nominal_a:
        _class_weights(v)
    if nominal_b:
        _class_weights(v.T)
    total = 0.0
    for a in range(table.shape[0]):
        for b in range(table.shape[1]):
            total += table[a, b] * v[a, b]
    return total


@compiled
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
    n_words = (n + 63) // 64
    table = np.empty((levels_a, levels_b), np.int64)
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
            out[k, l] = _cross_table(table, counts_a[k], counts_b[l], nominal_a, nominal_b, v)


@compiled
def self_coded(counts: Array, nominal: bool) -> Array:
    """Cross term of every coded column with itself."""
    n_columns, n_levels = counts.shape
    table = np.zeros((n_levels, n_levels), np.int64)
    v = np.empty((n_levels, n_levels))
    out = np.empty(n_columns)
    for k in range(n_columns):
        for a in range(n_levels):
            table[a, a] = counts[k, a]
        out[k] = _cross_table(table, counts[k], counts[k], nominal, nominal, v)
    return out
