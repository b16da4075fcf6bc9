"""Counts concordance between columns of few levels or classes and ranked ones.

These are the sums of `projection_loops`; coded columns come as in `contingency_loops`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runs.compiled import compiled
from .projection_loops import LOW, SHIFT, joined, split_square

Array = NDArray[Any]

SHORT = 7000  # rows up to which the fifth power of their number is a 64-bit integer


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
    if counts.shape[1] <= 3 and not nominal and _untied(order, through):
        _cross_few_levels(codes, counts, order, chosen, out)
        return
    (below, group), value = np.empty((2, counts.shape[1]), np.int64), np.empty(counts.shape[1])
    _cross_levels(codes, counts, nominal, order, through, chosen, below, group, value, out)


def _untied(order: Array, through: Array) -> bool:
    """Whether no column holds a value twice: then as many are at most a value as its place says."""
    places = np.take_along_axis(through, order.astype(np.intp), axis=1)
    return bool((places == np.arange(1, order.shape[1] + 1)).all())


@compiled
def _cross_few_levels(codes: Array, counts: Array, order: Array, chosen: Array, out: Array) -> None:
    for l in range(len(order)):  # noqa: E741
        for k in range(len(codes)):
            out[k, l] = _cross_three_levels(codes[k], counts[k], order[l], chosen)


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
def _cross_levels(
    codes: Array,
    counts: Array,
    nominal: bool,
    order: Array,
    through: Array,
    chosen: Array,
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
                    total += chosen[order[l, t]] * value[codes[k, order[l, t]]]
                for a in range(n_levels):
                    below[a] += group[a]
                start = stop
            out[k, l] = total
