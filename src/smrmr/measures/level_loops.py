"""Counts concordance between columns of few levels or classes and ranked ones.

These are the sums of `projection_loops`; coded columns come as in `contingency`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runs.compiled import compiled

Array = NDArray[Any]


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
    n, last = order.shape[1], np.int32(counts.shape[1] - 1)
    levels, prefix = np.empty(n, np.int32), np.empty(n + 1, np.int32)
    starts, stops, value = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n)
    prefix[0] = 0
    for l in range(len(order)):  # noqa: E741
        for t in range(n):
            stops[t] = through[l, order[l, t]]
            starts[t] = starts[t - 1] if t > 0 and stops[t] == stops[t - 1] else t
        for k in range(len(codes)):
            for t in range(n):
                levels[t] = codes[k, order[l, t]]
                value[t] = 0.0
            for level in range(last + 1 if nominal else last):  # all R sum to 0
                size, found = np.int32(counts[k, level]), np.int32(0)
                for t in range(n):
                    found += np.int32(levels[t] == level)
                    prefix[t + 1] = found
                for t in range(n):
                    signs = np.float64(size - prefix[starts[t]] - prefix[stops[t]])
                    centred = n * signs - np.float64(size) * np.float64(n - starts[t] - stops[t])
                    if nominal:
                        value[t] += centred * centred * np.float64(2 - (levels[t] == level))
                    else:
                        above, below = np.int32(levels[t] < level), np.int32(levels[t] > level)
                        value[t] += centred * np.float64(above - below - np.int32(levels[t] < last))
            total = 0.0
            for t in range(n):
                term = value[t] / 3.0 if nominal else value[t] * value[t]
                total += chosen[order[l, t]] * term
            out[k, l] = total


@compiled
def count_together(
    codes: Array, counts: Array, other: Array, other_counts: Array, tables: Array
) -> None:
    """Count samples by the levels of each column and of one other: ``tables[column, other, own]``.

    Levels are compared, many samples at once, in place of one count after the other; those of the
    first level are what the samples of each level, which are known, leave for it.
    """
    for k in range(len(codes)):
        own = codes[k]
        for b in range(tables.shape[2]):
            tables[k, 0, b] = counts[k, b]
        for a in range(1, tables.shape[1]):
            tables[k, a, 0] = other_counts[a]
            for b in range(1, tables.shape[2]):
                found, first, second = np.int32(0), np.uint8(a), np.uint8(b)
                for i in range(len(other)):
                    found += np.int32((other[i] == first) & (own[i] == second))
                tables[k, a, b] = found
                tables[k, a, 0] -= found
                tables[k, 0, b] -= found
            tables[k, 0, 0] -= tables[k, a, 0]
