r"""Counts concordance around every anchor, for all pairs of two groups of columns.

With ``s_r(i) = sign(x_i - x_r)`` and ``t_r(i) = sign(y_i - y_r)`` every loop here returns

.. math:: \sum_r v_r^2, \qquad v_r = n \sum_i s_r(i) t_r(i) - \sum_i s_r(i) \sum_i t_r(i),

the sum being over the samples r that are anchors. All numbers are integers and are summed without
rounding. Columns come ranked: ``order`` (samples by increasing value), ``below`` and ``through``
(for each sample, how many values are less, and at most, its own). Here samples are swept in the
order of one column; bit sets are in `projection_bits`, columns with few levels and classes in
`contingency_loops`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runs.compiled import ONE, compiled, popcount
from .vector_instructions import BLOCK, TIED_BLOCK, earlier_smaller, smaller_around

Array = NDArray[Any]

NARROW_RANKS = 65_535  # rows up to which a rank, minus half of it, is a 16-bit integer,
MIDDLE = np.int64(32_768)
NARROW_SUMS = 23_170  # and up to which v is a 32-bit one and 64 of its squares a 64-bit one
HALF = np.uint64(20)  # bits of v that are squared by themselves beyond
LOW = np.uint64(2**40 - 1)
SHIFT = np.uint64(40)


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


def rank_type(n: int) -> type[np.signedinteger[Any]]:
    """Integers that hold ranks, minus `MIDDLE`, of so many rows."""
    return np.int16 if n <= NARROW_RANKS else np.int32


@compiled
def split_square(v: Any) -> tuple[Any, Any]:
    """Return ``low, high`` such that the square of v is ``low + 2**40 * high``."""
    size = np.uint64(abs(np.int64(v)))
    high, low = size >> HALF, size & (LOW >> HALF)
    middle = high * low << ONE
    return low * low + ((middle << HALF) & LOW), high * high + (middle >> HALF)


@compiled
def joined(low: Any, high: Any) -> Any:
    """``low + 2**40 * high`` as a float."""
    return np.float64(low) + np.float64(high) * 2.0**40


@compiled
def _count_below(place: Any, words: Array, before: Array) -> Any:
    """How many places less than `place` are taken."""
    word = np.uint64(place) >> np.uint64(6)
    bits = words[word] & ((ONE << (np.uint64(place) & np.uint64(63))) - ONE)
    return before[word] + np.int32(popcount(bits))


@compiled
def _forget(words: Array, before: Array) -> None:
    """Take nothing."""
    for word in range(len(words)):
        words[word] = 0
        before[word] = 0


@compiled
def _take(places: Array, size: int, words: Array, before: Array) -> None:
    """Take the first `size` of the `places`, and count again what is taken before each word."""
    for u in range(size):
        place = np.uint64(places[u])
        words[place >> np.uint64(6)] |= ONE << (place & np.uint64(63))
    total = np.int32(0)
    for word in range(len(words)):
        before[word] = total
        total += np.int32(popcount(words[word]))


@compiled
def _add_terms(
    n: int, start: int, places: Array, both: Array, inside: Array, weights: Array, sums: Array
) -> None:
    """Add the squares of ``v = n (4 c + 1) - (2 t + 1) (2 j + 1)`` of a block to `sums`."""
    if n > NARROW_SUMS:
        for u in range(BLOCK):
            tilt = (2 * (start + u) + 1) * (2 * np.int64(places[u]) + 1)
            v = weights[u] * (n * (4 * (both[u] + np.int64(inside[u])) + 1) - tilt)
            low, high = split_square(v)
            sums[0] += low
            sums[1] += high
        return
    total = np.uint64(0)
    for u in range(BLOCK):
        tilt = (2 * (start + u) + 1) * (2 * np.int64(places[u]) + 1)
        v = np.int32(weights[u] * (n * (4 * (both[u] + np.int64(inside[u])) + 1) - tilt))
        total += np.uint64(np.int64(v) * np.int64(v))
    sums[0] += total & LOW
    sums[1] += total >> SHIFT


def cross_sweep(
    order_a: Array, order_b: Array, chosen: Array, same: bool, ranks: Array, out: Array
) -> None:
    """Fill `out` for untied columns by sweeping the samples in order of one, a block at a time.

    The places in the other column of all samples met are a set of bits, with a count per word: it
    tells how many samples of earlier blocks are below, and comparisons how many of the same block.
    `chosen` is 1 for anchors, `ranks` is space for a block. Without ties ``v_r`` is
    ``4 n c_r + n - (2 t + 1) (2 j + 1)`` with t and j the places of r in the two columns and
    ``c_r`` the number of samples below r in both.
    """
    n = order_a.shape[1]
    met = np.empty(n // 64 + 1, np.uint64), np.empty(n // 64 + 1, np.int32)
    places, both, weights = np.zeros((3, BLOCK), np.int32)
    block = places, both, weights, ranks, np.zeros_like(ranks), np.zeros(2, np.uint64)
    _sweep(order_a, order_b, chosen, same, np.empty(n, np.int32), *met, *block, out)


@compiled
def _sweep(
    order_a: Array,
    order_b: Array,
    chosen: Array,
    same: bool,
    place_of: Array,
    words: Array,
    before: Array,
    places: Array,
    both: Array,
    weights: Array,
    ranks: Array,
    inside: Array,
    sums: Array,
    out: Array,
) -> None:
    n = order_a.shape[1]
    for l in range(len(order_b)):  # noqa: E741
        for t in range(n):
            place_of[order_b[l, t]] = t
        for k in range(l + 1 if same else len(order_a)):
            order = order_a[k]
            _forget(words, before)
            sums[0] = sums[1] = 0
            for start in range(0, n, BLOCK):
                size = BLOCK if n - start > BLOCK else n - start
                for u in range(size, BLOCK):
                    weights[u] = 0
                for u in range(size):
                    sample = np.uint64(order[start + u])
                    place = place_of[sample]
                    places[u] = place
                    ranks[u] = place - MIDDLE
                    weights[u] = chosen[sample]
                    both[u] = _count_below(place, words, before)
                earlier_smaller(ranks, inside)
                _take(places, size, words, before)
                _add_terms(n, start, places, both, inside, weights, sums)
            out[k, l] = joined(sums[0], sums[1])


@compiled
def _end_of_block(start: int, times: Array) -> Any:
    """End of the block that begins at `start`, where no group of equal values is parted."""
    n = times.shape[1]
    stop = min(start + TIED_BLOCK, n)
    if times[1, start] > stop:
        return times[1, start]
    return times[0, stop] if stop < n else stop


@compiled
def _meet_with_ties(
    order: Array, times: Array, place_of: Array, limits: Array, block: tuple[Array, ...], met: Array
) -> None:
    """Set ``met[t]`` to the four counts of the t-th sample in order, added up.

    ``times[:, t]`` is how many values are less than, and at most, its own, ``limits[:, r]`` the
    same of sample r in the other column.
    """
    n = len(order)
    words, before = np.zeros(n // 64 + 1, np.uint64), np.zeros(n // 64 + 1, np.int32)
    places = np.zeros(n, np.int32)
    ranks, starts, ends, low, high, found = block
    start = 0
    while start < n:
        stop = _end_of_block(start, times)
        size = stop - start
        for t in range(start, stop):
            r = np.uint64(order[t])
            places[t - start] = place_of[r]
            met[t] = _count_below(limits[0, r], words, before)
            met[t] += _count_below(limits[1, r], words, before)
        if size <= TIED_BLOCK:
            for u in range(size):
                r = np.uint64(order[start + u])
                ranks[u] = places[u] - MIDDLE
                starts[u] = times[0, start + u] - start
                ends[u] = times[1, start + u] - start
                low[u], high[u] = limits[0, r] - MIDDLE, limits[1, r] - MIDDLE
            ranks[size:TIED_BLOCK] = n - MIDDLE  # below nobody
            smaller_around(ranks, starts, ends, low, high, found)
            for u in range(size):
                met[start + u] = 2 * met[start + u] + found[u]
            _take(places, size, words, before)
        else:  # all are equal
            _take(places, size, words, before)
            for t in range(start, stop):
                r = np.uint64(order[t])
                met[t] += _count_below(limits[0, r], words, before)
                met[t] += _count_below(limits[1, r], words, before)
        start = stop


@compiled
def cross_sweep_tied(
    order_a: Array,
    below_a: Array,
    through_a: Array,
    order_b: Array,
    below_b: Array,
    through_b: Array,
    chosen: Array,
    same: bool,
    ranks: Array,
    out: Array,
) -> None:
    """Fill `out` for columns with ties, as `cross_sweep` does.

    Since ``s_r(i) = 1 - [x_i < x_r] - [x_i <= x_r]``, the four counts of samples less than, and at
    most, r in both columns give ``sum_i s_r(i) t_r(i)``.
    """
    n = order_a.shape[1]
    place_of, met = np.empty(n, np.int32), np.empty(n, np.int32)
    limits, times = np.empty((2, n), np.int32), np.empty((len(order_a), 2, n), np.int32)
    three = np.zeros_like(ranks), np.zeros_like(ranks), np.zeros_like(ranks)
    block = *three, ranks, np.zeros_like(ranks), np.zeros_like(ranks)
    for k in range(len(order_a)):
        for t in range(n):
            times[k, 0, t] = below_a[k, order_a[k, t]]
            times[k, 1, t] = through_a[k, order_a[k, t]]
    for l in range(len(order_b)):  # noqa: E741
        for t in range(n):
            place_of[order_b[l, t]] = t
            limits[0, t], limits[1, t] = below_b[l, t], through_b[l, t]
        for k in range(l + 1 if same else len(order_a)):
            _meet_with_ties(order_a[k], times[k], place_of, limits, block, met)
            low, high = np.uint64(0), np.uint64(0)
            for t in range(n):
                r = np.uint64(order_a[k, t])
                s = n - np.int64(times[k, 0, t]) - times[k, 1, t]
                u = n - np.int64(limits[0, r]) - limits[1, r]
                part, rest = split_square(chosen[r] * (n * (met[t] + s + u - n) - s * u))
                low += part
                high += rest
            out[k, l] = joined(low, high)
