r"""Counts concordance around every sample, for all pairs of two groups of columns.

With ``s_r(i) = sign(x_i - x_r)`` and ``t_r(i) = sign(y_i - y_r)`` every loop here returns

.. math:: \sum_r v_r^2, \qquad v_r = n \sum_i s_r(i) t_r(i) - \sum_i s_r(i) \sum_i t_r(i),

all counts being integers. Columns come ranked: ``order`` (samples by increasing value), ``below``
and ``through`` (for each sample, how many values are less, and at most, its own). Columns with few
levels and classes are in `contingency_loops`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import ONE, compiled, popcount

Array = NDArray[Any]

GROUP = 1024  # samples under one 16-lane counter row of the rank directory


def rank_rows(values: Array, order: Array) -> tuple[Array, Array, Array]:
    """Return `below`, `through` and the number of distinct values of each sorted row."""
    below, through, levels = np.empty_like(order), np.empty_like(order), np.empty(len(order), int)
    _rank(values, order, below, through, levels)
    return below, through, levels


@compiled
def _rank(values: Array, order: Array, below: Array, through: Array, levels: Array) -> None:
    n = values.shape[1]
    for k in range(len(values)):
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


def bit_planes(order: Array, through: Array, untied: bool) -> Array:
    """Bit sets of the samples below each sample, ``planes[k, word, sample]``.

    With `untied`, of those whose value differs from the sample's instead.
    """
    n_columns, n = order.shape
    planes = np.empty((n_columns, (n + 63) // 64, n), np.uint64)
    _fill_planes(order, through, untied, planes)
    return planes


@compiled
def _fill_planes(order: Array, through: Array, untied: bool, planes: Array) -> None:
    n_columns, n_words, n = planes.shape
    for k in range(n_columns):
        for w in range(n_words):
            plane = planes[k, w]
            everyone = ~np.uint64(0)
            if 64 * w + 64 > n:  # samples beyond the last one are not there
                everyone >>= np.uint64(64 * w + 64 - n)
            seen, start = np.uint64(0), 0
            while start < n:
                stop = through[k, order[k, start]]
                tied = np.uint64(0)
                for t in range(start, stop):
                    i = order[k, t]
                    if i >> 6 == w:
                        tied |= ONE << np.uint64(i & 63)
                for t in range(start, stop):
                    plane[order[k, t]] = everyone & ~tied if untied else seen
                seen |= tied
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
def _insert(position: np.int64, words: Array, lanes: Array, tree: Array, steps: Array) -> None:
    """Add a position to the rank directory."""
    word = position >> 6
    words[word] |= ONE << np.uint64(position & 63)
    first, own = (word >> 4) << 4, word & 15
    for lane in range(16):  # one vector addition
        lanes[first + lane] += steps[own, lane]
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


def _new_directory(n: int) -> tuple[Array, Array, Array, Array]:
    """Words, lanes and tree of a rank directory, and the steps that fill its lanes."""
    n_groups = n // GROUP + 1
    words, lanes = np.empty(16 * n_groups, np.uint64), np.empty(16 * n_groups, np.uint16)
    return words, lanes, np.empty(n_groups, np.int32), np.triu(np.ones((16, 16), np.uint16), 1)


@compiled
def _empty(words: Array, lanes: Array, tree: Array) -> None:
    """Take all positions out of the rank directory."""
    for word in range(len(words)):
        words[word] = 0
        lanes[word] = 0
    for node in range(len(tree)):
        tree[node] = 0


def cross_sweep(order_a: Array, order_b: Array, same: bool, out: Array) -> None:
    """Fill `out` for untied columns by sweeping the samples in order of one, O(n log n) per pair.

    The samples met so far are kept by their position in the other column, in a directory of three
    levels: words of 64 positions, counters within groups of 1024, a Fenwick tree over the groups.
    """
    n = order_a.shape[1]
    _sweep(order_a, order_b, same, *_new_directory(n), np.empty(n, np.int32), out)


@compiled
def _sweep(
    order_a: Array,
    order_b: Array,
    same: bool,
    words: Array,
    lanes: Array,
    tree: Array,
    steps: Array,
    position: Array,
    out: Array,
) -> None:
    n = order_a.shape[1]
    for l in range(len(order_b)):  # noqa: E741
        for t in range(n):
            position[order_b[l, t]] = t
        for k in range(l + 1 if same else len(order_a)):
            _empty(words, lanes, tree)
            total = 0.0
            for t in range(n):
                j = np.int64(position[order_a[k, t]])
                both = _inserted_below(j, words, lanes, tree)
                _insert(j, words, lanes, tree, steps)
                s, u = n - 1 - 2 * t, n - 1 - 2 * j
                v = np.float64(n * (4 * both + s + u - (n - 1)) - s * u)
                total += v * v
            out[k, l] = total


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
    ranked = order_a, below_a, through_a, order_b, below_b, through_b
    space = *_new_directory(n), np.empty(n, np.int32), np.empty(n, np.int64)
    _sweep_tied(*ranked, same, *space, out)


@compiled
def _sweep_tied(
    order_a: Array,
    below_a: Array,
    through_a: Array,
    order_b: Array,
    below_b: Array,
    through_b: Array,
    same: bool,
    words: Array,
    lanes: Array,
    tree: Array,
    steps: Array,
    position: Array,
    met: Array,
    out: Array,
) -> None:
    n = order_a.shape[1]
    for l in range(len(order_b)):  # noqa: E741
        for t in range(n):
            position[order_b[l, t]] = t
        for k in range(l + 1 if same else len(order_a)):
            _empty(words, lanes, tree)
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
