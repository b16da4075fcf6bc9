r"""Counts concordance around every anchor, for all pairs of two groups of columns.

With ``s_r(i) = sign(x_i - x_r)`` and ``t_r(i) = sign(y_i - y_r)`` every loop here returns

.. math:: \sum_r v_r^2, \qquad v_r = n \sum_i s_r(i) t_r(i) - \sum_i s_r(i) \sum_i t_r(i),

the sum being over the samples r that are anchors. All numbers are integers and are summed without
rounding. Columns come ranked: ``order`` (samples by increasing value), ``below`` and ``through``
(for each sample, how many values are less, and at most, its own). Samples are swept in the order of
one column, or counted by bit sets; columns with few levels and classes are in `contingency`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runs.compiled import ONE, compiled, compiled_inside, popcount

Array = NDArray[Any]
Ranks = tuple[Array, Array, Array]  # order, below, through

SHORT = 7000  # rows up to which the fifth power of their number is a 64-bit integer
EXACT = 1500  # the same where it is exact in double precision
ANCHORS = 128  # that all pairs of columns meet at, before they meet at others
HALF = np.uint64(20)  # bits of v that are squared by themselves beyond
LOW = np.uint64(2**40 - 1)
WORD = np.uint64(6)  # 2 ** 6 bits
WITHIN = np.uint64(63)
AT_ONCE = 8  # words of a bit set that lie in one line of the processor's cache
MAX_SEEN = 2**20  # words of bit sets of all anchors that are put together at a time


def rank_rows(starts: Array, order: Array) -> tuple[Array, Array, Array]:
    """Return `below`, `through` and the number of distinct values of each row.

    `order` sorts a row, and `starts` says which of the values in that order begin a run of ties.
    """
    n, place = order.shape[1], np.arange(order.shape[1], dtype=np.int32)
    below = np.empty(order.shape, np.int32)
    if starts.all():
        np.put_along_axis(below, order, place[None], axis=1)
        return below, below + np.int32(1), np.full(len(order), n)
    first = np.maximum.accumulate(np.where(starts, place, 0), axis=1)
    np.put_along_axis(below, order, first, axis=1)
    end = np.full_like(first, n)
    np.copyto(end[:, :-1], place[1:], where=starts[:, 1:])
    np.minimum.accumulate(end[:, ::-1], axis=1, out=end[:, ::-1])
    through = np.take_along_axis(end, below, axis=1)
    return below, through, 1 + np.count_nonzero(starts[:, 1:], axis=1)


@compiled
def sum_of_squares(v: Array, n: int) -> Any:
    """Sum of the squares of the `v` of n samples as a float, rounded once."""
    total, high = np.uint64(0), np.uint64(0)
    if n <= SHORT:
        for r in range(len(v)):
            total += np.uint64(v[r] * v[r])
        return np.float64(total)
    for r in range(len(v)):  # as total + 2 ** 40 * high
        size = np.uint64(abs(v[r]))
        top, rest = size >> HALF, size & (LOW >> HALF)
        middle = top * rest << ONE
        total += rest * rest + ((middle << HALF) & LOW)
        high += top * top + (middle >> HALF)
    return np.float64(total) + np.float64(high) * 2.0**40


@compiled
def sweep(ranks_a: Ranks, ranks_b: Ranks, tied: bool, same: bool, out: Array) -> None:
    """Fill `out` by sweeping the samples in the order of one column, if all are anchors.

    Columns are their order, below and through. The places in the other column of all samples met
    are a set of bits, with a count per word. Since ``s_r(i) = 1 - [x_i < x_r] - [x_i <= x_r]``, the
    four counts of samples less than, and at most, r in both columns give ``sum_i s_r(i) t_r(i)``;
    without ties one of them gives the others. Of the `same` columns on both sides, only pairs up to
    the diagonal are filled.
    """
    (order_a, below_a, through_a), (order_b, below_b, through_b) = ranks_a, ranks_b
    n = order_a.shape[1]
    words = np.empty(n // 64 + 1, np.uint64)
    before = np.empty((n // 512 + 1) * 8, np.int32)  # whole vectors
    places, met, v = np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n, np.int64)
    for l in range(len(order_b)):  # noqa: E741
        for t in range(n):
            places[order_b[l, t]] = t
        for k in range(l + 1 if same else len(order_a)):
            for w in range(len(words)):
                words[w] = 0
            for w in range(len(before)):
                before[w] = 0
            if tied:
                _meet_tied(
                    order_a[k], through_a[k], below_b[l], through_b[l], places, words, before, met
                )
                for t in range(n):
                    r = np.uint64(order_a[k, t])
                    s = n - np.int64(below_a[k, r]) - through_a[k, r]
                    u = n - np.int64(below_b[l, r]) - through_b[l, r]
                    v[t] = n * (met[t] + s + u - n) - s * u
            else:
                for t in range(n):
                    r = np.uint64(order_a[k, t])
                    place = np.int64(places[r])
                    both = np.int64(_count_below(place, words, before))
                    _take(place, words, before)
                    v[t] = n * (4 * both + 1) - (2 * t + 1) * (2 * place + 1)
            out[k, l] = sum_of_squares(v, n)


@compiled
def _meet_tied(
    order: Array,
    through: Array,
    below_b: Array,
    through_b: Array,
    places: Array,
    words: Array,
    before: Array,
    met: Array,
) -> None:
    """Set ``met[t]`` to the four counts of the t-th sample in order, added up."""
    start: Any = 0
    while start < len(order):
        stop = np.int64(through[order[start]])
        for t in range(start, stop):
            r = np.uint64(order[t])
            met[t] = _count_below(below_b[r], words, before)
            met[t] += _count_below(through_b[r], words, before)
        for t in range(start, stop):
            _take(places[np.uint64(order[t])], words, before)
        for t in range(start, stop):
            r = np.uint64(order[t])
            met[t] += _count_below(below_b[r], words, before)
            met[t] += _count_below(through_b[r], words, before)
        start = stop


@compiled
def _count_below(place: Any, words: Array, before: Array) -> Any:
    """How many places less than `place` are taken."""
    word = np.uint64(place) >> WORD
    bits = words[word] & ((ONE << (np.uint64(place) & WITHIN)) - ONE)
    return before[word] + np.int32(popcount(bits))


@compiled
def _take(place: Any, words: Array, before: Array) -> None:
    """Take a place; the loop has a fixed length, since branches would be guesses."""
    word = np.uint64(place) >> WORD
    words[word] |= ONE << (np.uint64(place) & WITHIN)
    own = np.int32(word)
    for later in range(len(before)):
        before[later] += np.int32(np.int32(later) > own)


@compiled
def sweep_anchors(
    ranks_a: Ranks, visits_a: Array, ranks_b: Ranks, bins_b: Array, same: bool, out: Array
) -> None:
    """Do the same for a few anchors: samples on the way from one to the next are only counted.

    `visits_a` are the anchors in the order of each column; `bins_b` says where samples lie among
    the values of the anchors in the other one, see `anchor_bins`.
    """
    (order_a, below_a, through_a), (_, below_b, through_b) = ranks_a, ranks_b
    n, n_anchors = order_a.shape[1], visits_a.shape[1]
    counts, v = np.empty(2 * n_anchors + 2, np.int32), np.empty(n_anchors, np.int64)
    for l in range(len(bins_b)):  # noqa: E741
        for k in range(l + 1 if same else len(order_a)):
            for w in range(len(counts)):
                counts[w] = 0
            met: Any = 0
            first = 0
            while first < n_anchors:
                start = np.int64(below_a[k, visits_a[k, first]])
                stop = np.int64(through_a[k, visits_a[k, first]])
                last = first
                for t in range(met, start):
                    counts[bins_b[l, order_a[k, t]]] += np.int32(1)
                while last < n_anchors and below_a[k, visits_a[k, last]] == start:
                    v[last] = _count_twice(counts, bins_b[l, visits_a[k, last]])
                    last += 1
                for t in range(start, stop):
                    counts[bins_b[l, order_a[k, t]]] += np.int32(1)
                for a in range(first, last):
                    r = visits_a[k, a]
                    if stop == start + 1:  # the anchor alone has come in between
                        v[a] += v[a] + 1
                    else:
                        v[a] += _count_twice(counts, bins_b[l, r])
                    s = n - start - stop
                    u = n - np.int64(below_b[l, r]) - np.int64(through_b[l, r])
                    v[a] = n * (v[a] + s + u - n) - s * u
                met, first = stop, last
            out[k, l] = sum_of_squares(v, n)


@compiled_inside
def _count_twice(counts: Array, place: Any) -> Any:
    """How many samples lie in bins before a place, and how many up to it, added up."""
    before = np.int32(0)
    for w in range(np.int64(place)):
        before += counts[w]
    return 2 * np.int64(before) + np.int64(counts[np.int64(place)])


def anchor_bins(below: Array, anchors: Array) -> Array:
    """Twice the number of anchors' values that are less than each sample's, and 1 if it has one."""
    n = below.shape[1]
    bins = np.empty(below.shape, np.uint16 if 2 * len(anchors) < 2**16 else np.int32)
    for own, found in zip(below, bins, strict=True):
        is_value = np.zeros(n, np.int32)
        is_value[own[anchors]] = 1
        less = np.cumsum(is_value, dtype=np.int32) * 2 - is_value  # 2 * (values up to) - own
        found[:] = less[own]
    return bins


def bit_planes(order: Array, through: Array, anchors: Array, tied: bool) -> Array:
    """Bit sets of the samples below each anchor: ``planes[0, column, word, anchor]``.

    After the last anchor lines of the cache are filled with nothing that is read.
    If `tied`, also those of the samples whose value differs from the anchor's, ``planes[1]``.
    """
    n_columns, n = order.shape
    n_words, n_anchors = (n + 63) // 64, len(anchors)
    n_words = n_words if tied else max(n_words, 2)  # as `cross_two_words` takes
    planes = _in_lines((1 + tied, n_columns, n_words, n_anchors))
    number = np.full(n, -1, np.int32)
    number[anchors] = np.arange(n_anchors)
    width = min(n_words, max(AT_ONCE, MAX_SEEN // max(n_anchors, 1)))
    seen = np.empty((1 + tied, n_anchors, width), np.uint64)
    _fill_planes(order, through, number, np.empty(width, np.uint64), seen, planes)
    return planes


def _in_lines(shape: tuple[int, ...]) -> Array:
    """Room for words in lines of the processor's cache, of which the last axis fills whole ones."""
    shape = *shape[:-1], -(-shape[-1] // AT_ONCE) * AT_ONCE
    room = np.empty(int(np.prod(shape)) + AT_ONCE, np.uint64)
    first = -room.ctypes.data // room.itemsize % AT_ONCE
    return room[first : first + int(np.prod(shape))].reshape(shape)


@compiled
def _fill_planes(
    order: Array, through: Array, number: Array, met: Array, seen: Array, planes: Array
) -> None:
    """Fill in planes, some words at a time: what an anchor has seen lies together until the end."""
    n, n_words = order.shape[1], planes.shape[2]
    last = ~np.uint64(0) >> (np.uint64(-n) & WITHIN)  # bits beyond the last sample are 0
    for k in range(len(order)):
        for first in range(0, n_words, len(met)):
            width = min(len(met), n_words - first)
            for w in range(width):
                met[w] = np.uint64(0)
            start: Any = 0
            while start < n:
                stop = np.int64(through[k, order[k, start]])
                for t in range(start, stop):
                    anchor = number[order[k, t]]
                    if anchor >= 0:
                        for w in range(width):
                            seen[0, anchor, w] = met[w]
                for t in range(start, stop):
                    word = np.int64(order[k, t] >> 6) - first
                    if 0 <= word < width:
                        met[word] |= ONE << np.uint64(order[k, t] & 63)
                for t in range(start, stop if len(planes) > 1 else start):
                    anchor = number[order[k, t]]
                    if anchor >= 0:
                        for w in range(width):
                            seen[1, anchor, w] = seen[0, anchor, w] | ~met[w]
                        if first + width == n_words:
                            seen[1, anchor, width - 1] &= last
                start = stop
            _turn(seen, planes[:, k, first : first + width])


@compiled
def _turn(seen: Array, planes: Array) -> None:
    """Write words of every anchor as anchors of every word, a few words at a time."""
    for side in range(len(planes)):
        for first in range(0, planes.shape[1], AT_ONCE):
            for r in range(seen.shape[1]):
                for w in range(first, min(first + AT_ONCE, planes.shape[1])):
                    planes[side, w, r] = seen[side, r, w]


@compiled
def cross_bits(
    planes_a: Array, signs_a: Array, planes_b: Array, signs_b: Array, n: int, same: bool, out: Array
) -> None:
    """Fill `out` from bit sets of n samples and the sums of signs of every anchor.

    Without ties ``sum_i s_r(i) t_r(i)`` is ``4 c_r + s_r + t_r + 1 - n`` with ``c_r`` the number of
    samples below r in both columns; with ties, samples untied with r in both columns count. Of the
    `same` columns on both sides, only pairs from the diagonal on are filled.
    """
    v = np.empty(signs_a.shape[1], np.int64)
    tied = len(planes_a) > 1
    for k in range(len(signs_a)):
        for l in range(k if same else 0, len(signs_b)):  # noqa: E741
            for r in range(len(v)):
                v[r] = 0
            for w in range(planes_a.shape[2]):
                below_a, below_b = planes_a[0, k, w], planes_b[0, l, w]
                if tied:
                    untied_a, untied_b = planes_a[1, k, w], planes_b[1, l, w]
                    for r in range(len(v)):
                        both = untied_a[r] & untied_b[r]
                        against = both & (below_a[r] ^ below_b[r])
                        v[r] += np.int64(popcount(both)) - 2 * np.int64(popcount(against))
                else:
                    for r in range(len(v)):
                        v[r] += np.int64(popcount(below_a[r] & below_b[r]))
            for r in range(len(v)):
                s, u = np.int64(signs_a[k, r]), np.int64(signs_b[l, r])
                concordance = v[r] if tied else 4 * v[r] + s + u + 1 - n
                v[r] = n * concordance - s * u
            out[k, l] = sum_of_squares(v, n)


@compiled
def cross_two_words(
    planes_a: Array, signs_a: Array, planes_b: Array, signs_b: Array, n: int, same: bool, out: Array
) -> None:
    """Do the same of up to 128 samples without ties, in one pass over the anchors of a pair."""
    for k in range(len(signs_a)):
        for l in range(k if same else 0, len(signs_b)):  # noqa: E741
            s, u, total = signs_a[k], signs_b[l], np.uint64(0)
            a0, a1 = planes_a[0, k, 0], planes_a[0, k, 1]
            b0, b1 = planes_b[0, l, 0], planes_b[0, l, 1]
            for r in range(len(s)):
                both = np.int64(popcount(a0[r] & b0[r]) + popcount(a1[r] & b1[r]))
                x, y = np.int64(s[r]), np.int64(u[r])
                v = n * (4 * both + x + y + 1 - n) - x * y
                total += np.uint64(v * v)
            out[k, l] = np.float64(total)


@compiled
def cross_untied(
    planes_a: Array, signs_a: Array, planes_b: Array, signs_b: Array, n: int, same: bool, out: Array
) -> None:
    """Do the same of more samples without ties, up to `EXACT`: some anchors of all pairs at a time.

    Their bit sets of one column stay in the fastest cache while it meets all others.
    """
    n_anchors, n_words = signs_a.shape[1], planes_a.shape[2]
    v = np.empty(n_anchors, np.int64)
    for k in range(len(signs_a)):
        for l in range(k if same else 0, len(signs_b)):  # noqa: E741
            out[k, l] = 0.0
    for first in range(0, n_anchors, ANCHORS):
        last = first + ANCHORS if first + ANCHORS < n_anchors else n_anchors
        start, stop = np.uint64(first), np.uint64(last)
        for k in range(len(signs_a)):
            for l in range(k if same else 0, len(signs_b)):  # noqa: E741
                s, u, total = signs_a[k], signs_b[l], np.uint64(0)
                for r in range(start, stop):
                    v[r] = 0
                for w in range(n_words % 4):
                    a0, b0 = planes_a[0, k, w], planes_b[0, l, w]
                    for r in range(start, stop):
                        v[r] += np.int64(popcount(a0[r] & b0[r]))
                for w in range(n_words % 4, n_words, 4):
                    a0, a1 = planes_a[0, k, w], planes_a[0, k, w + 1]
                    a2, a3 = planes_a[0, k, w + 2], planes_a[0, k, w + 3]
                    b0, b1 = planes_b[0, l, w], planes_b[0, l, w + 1]
                    b2, b3 = planes_b[0, l, w + 2], planes_b[0, l, w + 3]
                    for r in range(start, stop):
                        both = popcount(a0[r] & b0[r]) + popcount(a1[r] & b1[r])
                        both += popcount(a2[r] & b2[r]) + popcount(a3[r] & b3[r])
                        v[r] += np.int64(both)
                for r in range(start, stop):
                    x, y = np.int64(s[r]), np.int64(u[r])
                    z = n * (4 * v[r] + x + y + 1 - n) - x * y
                    total += np.uint64(z * z)
                out[k, l] += np.float64(total)
