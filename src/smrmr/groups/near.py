"""Finds points that lie near each other, without comparing all pairs."""

import numpy as np
from numpy.typing import NDArray

from ..measures.compiled import compiled
from ..types import Indices, Matrix


def near_pairs(points: Matrix, reach: float) -> tuple[Indices, Indices]:
    """Pairs of points, (k, m) with m at least 2, whose coordinates all differ by `reach` at most.

    Points are cut into slices along the first coordinate and sorted by the second within each; a
    point then meets only those of its own slice and the next whose second coordinate is near.
    """
    slices = np.floor(points[:, 0] / reach)
    order = np.lexsort((points[:, 1], slices))
    first, second = _sweep(slices[order], points[order], reach).T
    return order[first], order[second]


@compiled
def _sweep(slices: NDArray[np.float64], points: Matrix, reach: float) -> NDArray[np.int64]:
    """Near pairs of points that are sorted by slice and second coordinate, as two columns."""
    found = [(0, 0) for _ in range(0)]
    ahead = 0  # the first point of the next slice that is not too far below
    for k in range(len(points)):
        m = k + 1
        while m < len(points) and slices[m] == slices[k] and points[m, 1] - points[k, 1] <= reach:
            if _near(points[k], points[m], reach):
                found.append((k, m))
            m += 1
        while ahead < len(points) and (
            slices[ahead] <= slices[k]
            or (slices[ahead] == slices[k] + 1 and points[k, 1] - points[ahead, 1] > reach)
        ):
            ahead += 1
        m = ahead
        while (
            m < len(points) and slices[m] == slices[k] + 1 and points[m, 1] - points[k, 1] <= reach
        ):
            if _near(points[k], points[m], reach):
                found.append((k, m))
            m += 1
    pairs = np.empty((len(found), 2), np.int64)
    for i in range(len(found)):
        pairs[i, 0], pairs[i, 1] = found[i]
    return pairs


@compiled
def _near(a: NDArray[np.float64], b: NDArray[np.float64], reach: float) -> bool:
    farthest = 0.0
    for i in range(len(a)):
        farthest = max(farthest, abs(a[i] - b[i]))
    return farthest <= reach
