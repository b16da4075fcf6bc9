"""Exponentials, low-rank factors of kernel matrices, their products, and median distances."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runs.compiled import compiled, power_of_two

Array = NDArray[Any]

GAUSSIAN, LAPLACIAN, DISTANCE, DELTA = range(4)

ROUNDER = 1.5 * 2.0**52  # adding and subtracting it rounds to whole numbers
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
C2, C3, C4, C5, C6, C7, C8, C9, C10, C11 = (1 / math.factorial(k) for k in range(2, 12))


@compiled
def exponentiate(row: Array) -> None:
    """Replace the entries, at most 0, by their exponentials, to a relative error below 2e-14.

    Written so that the compiler makes vector instructions of it, several times the speed of the
    library's function: exp(t) = 2^k exp(r) with |r| <= ln(2) / 2 and a polynomial for exp(r).
    """
    for j in range(len(row)):
        row[j] = row[j] if row[j] > -700.0 else -700.0
    for j in range(len(row)):
        shifted = row[j] / math.log(2.0) + ROUNDER
        k = shifted - ROUNDER
        r = row[j] - k * LN2_HIGH - k * LN2_LOW
        r2 = r * r
        low = (1.0 + r) + r2 * (C2 + C3 * r)
        middle = (C4 + C5 * r) + r2 * (C6 + C7 * r)
        high = (C8 + C9 * r) + r2 * (C10 + C11 * r)
        row[j] = (low + r2 * r2 * (middle + r2 * r2 * high)) * power_of_two(shifted)


@compiled
def _kernel_row(points: Array, i: Any, first: int, kind: int, width: float, row: Array) -> None:
    """Fill ``row[j] = k(point i, point first + j)``."""
    for j in range(len(row)):
        row[j] = abs(points[0, first + j] - points[0, i])
    for coordinate in range(1, len(points)):
        for j in range(len(row)):  # hypot: squares of far and of near points may not fit
            row[j] = math.hypot(row[j], points[coordinate, first + j] - points[coordinate, i])
    if kind == GAUSSIAN:
        for j in range(len(row)):
            step = row[j] / width
            row[j] = -0.5 * step * step
        exponentiate(row)
    elif kind == DELTA:
        for j in range(len(row)):
            row[j] = 1.0 if row[j] == 0.0 else 0.0
    else:
        for j in range(len(row)):
            row[j] = -row[j] / width
        if kind == LAPLACIAN:
            exponentiate(row)


@compiled
def kernel_rows(points: Array, kind: int, widths: Array, start: int, out: Array) -> None:
    """Write rows of every kernel matrix from `start` on, and from column `start` on."""
    for k in range(len(points)):
        for i in range(out.shape[1]):
            _kernel_row(points[k], start + i, start, kind, widths[k], out[k, i])


@compiled
def cholesky_rows(
    levels: Array, counts: Array, kind: int, width: float, tol: float, rows: Array
) -> int:
    """Pivoted Cholesky factor of the kernel matrix of distinct `levels`; returns its rank.

    Stops once the trace that is left is `tol` of the centred trace explained so far, so that rare
    values far from all others are never dropped. Returns -1 if `rows` has too few rows for that.
    """
    n_levels = len(levels)
    points = levels.reshape((1, n_levels))
    left = np.ones(n_levels)
    n = counts.sum()
    spread = 0.0
    for rank in range(len(rows) + 1):
        residual = 0.0
        for j in range(n_levels):
            residual += counts[j] * left[j]
        if rank > 0 and residual <= tol * spread:
            return rank
        if rank == len(rows):
            return -1
        pivot = np.argmax(left)
        row = rows[rank]
        _kernel_row(points, pivot, 0, kind, width, row)
        for a in range(rank):
            weight = rows[a, pivot]
            for j in range(n_levels):
                row[j] -= weight * rows[a, j]
        shrink = 1.0 / math.sqrt(left[pivot])
        total, square = 0.0, 0.0
        for j in range(n_levels):
            row[j] *= shrink
            left[j] = max(left[j] - row[j] * row[j], 0.0)
            total += counts[j] * row[j]
            square += counts[j] * row[j] * row[j]
        left[pivot] = 0.0
        spread += square - total * total / n
    return -1


@compiled
def add_squares(
    products: Array,
    sizes_a: Array,
    owners_a: Array,
    sizes_b: Array,
    owners_b: Array,
    least: float,
    skip: int,
    total: Array,
) -> None:
    """Add the squared products of rows to the `total` of the two columns that own them.

    Only where the product of the sizes is more than `least`; sizes fall along both axes. Row i
    begins at place ``skip + i``.
    """
    stop = len(sizes_b)
    for i in range(len(sizes_a)):
        while stop > 0 and not sizes_a[i] * sizes_b[stop - 1] > least:
            stop -= 1
        sums = total[owners_a[i]]
        for j in range(max(skip + i, 0), stop):
            product = np.float64(products[i, j])
            sums[owners_b[j]] += product * product


@compiled
def _pairs_within(x: Array, distance: float) -> Any:
    """Count the pairs of the sorted `x` at most `distance` apart."""
    pairs, first = 0, 0
    for j in range(len(x)):
        while x[j] - x[first] > distance:
            first += 1
        pairs += j - first
    return pairs


@compiled
def _distance_of_rank(x: Array, rank: int) -> Any:
    """The `rank`-th smallest distance (from 1) in the sorted `x`, by bisection to the last bit."""
    low, high = 0.0, x[-1] - x[0]
    if _pairs_within(x, low) >= rank:
        return low
    middle = 0.5 * high
    while low < middle < high:
        if _pairs_within(x, middle) >= rank:
            high = middle
        else:
            low = middle
        middle = 0.5 * (low + high)
    return high


@compiled
def median_distance(x: Array) -> Any:
    """Median distance between two entries of the sorted `x`; if 0, the mean of the others.

    Zero only if all entries are equal.
    """
    n = len(x)
    n_pairs = n * (n - 1) // 2
    median = _distance_of_rank(x, n_pairs // 2 + 1)
    if n_pairs % 2 == 0:
        median = 0.5 * (_distance_of_rank(x, n_pairs // 2) + median)
    if median > 0.0:
        return median
    total = 0.0
    for i in range(n):
        total += (2 * i - n + 1) * x[i]
    apart = n_pairs - _pairs_within(x, 0.0)
    return total / apart if apart else 0.0
