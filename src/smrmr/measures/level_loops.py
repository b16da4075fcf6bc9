"""Counts concordance between columns of few levels or classes and ranked ones.

These are the sums of `projection_loops`; coded columns come as in `contingency_loops`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled

Array = NDArray[Any]


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
    (below, group), value = np.empty((2, counts.shape[1]), np.int64), np.empty(counts.shape[1])
    _cross_levels(codes, counts, nominal, order, through, chosen, below, group, value, out)


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
