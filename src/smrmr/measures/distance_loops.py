"""Sums products of distances over all pairs of samples in O(n log n)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runs.compiled import compiled

Array = NDArray[Any]


@compiled
def distance_sums(x: Array, order: Array, out: Array) -> None:
    """Fill ``out[i] = sum_j |x_i - x_j|`` from prefix sums along the sorted column."""
    n = len(x)
    total = x.sum()
    below = 0.0
    for t in range(n):
        i = order[t]
        out[i] = total - 2.0 * below - (n - 2 * t) * x[i]
        below += x[i]


@compiled
def distance_products(
    x_a: Array, order_a: Array, x_b: Array, position_b: Array, same: bool, out: Array
) -> None:
    r"""Fill ``out[k, l] = sum_ij |x_ki - x_kj| |x_li - x_lj|``.

    Sweeping the samples in the order of column k, the samples met before t split by whether they
    are below t in column l: with :math:`b(i, t) = (x_t - x_i)(y_t - y_i)` the sum of :math:`|b|` is
    twice the sum over those below minus the sum over all. A Fenwick tree keeps 1, x, y and xy by
    position in column l (after Chaudhuri and Hu 2019, who merge instead).
    """
    n = x_a.shape[1]
    tree = np.empty((n + 1, 4))
    for k in range(len(x_a)):
        for l in range(k if same else 0, len(x_b)):  # noqa: E741
            tree[:] = 0.0
            sum_x, sum_y, sum_xy, total = 0.0, 0.0, 0.0, 0.0
            for t in range(n):
                i = order_a[k, t]
                x, y = x_a[k, i], x_b[l, i]
                one, below_x, below_y, below_xy = 0.0, 0.0, 0.0, 0.0
                node = np.int64(position_b[l, i])
                enter = node + 1
                while node > 0:
                    one += tree[node, 0]
                    below_x += tree[node, 1]
                    below_y += tree[node, 2]
                    below_xy += tree[node, 3]
                    node &= node - 1
                while enter <= n:
                    tree[enter, 0] += 1.0
                    tree[enter, 1] += x
                    tree[enter, 2] += y
                    tree[enter, 3] += x * y
                    enter += enter & -enter
                below = one * x * y - x * below_y - y * below_x + below_xy
                total += 2.0 * below - (t * x * y - x * sum_y - y * sum_x + sum_xy)
                sum_x += x
                sum_y += y
                sum_xy += x * y
            out[k, l] = 2.0 * total


@compiled
def factor_products(rows: Array, owners: Array, x: Array, order: Array, out: Array) -> None:
    r"""Add ``- sum_a z_a' |x - x'| z_a`` over the rows z that column k owns to ``out[k, l]``.

    For centred z that is twice the integral of the squared running sums of z along x: all terms are
    positive, so nothing cancels.
    """
    for l in range(len(x)):  # noqa: E741
        for a in range(len(rows)):
            total, running = 0.0, 0.0
            for t in range(rows.shape[1] - 1):
                running += rows[a, order[l, t]]
                gap = x[l, order[l, t + 1]] - x[l, order[l, t]]
                total += gap * running * running
            out[owners[a], l] += 2.0 * total
