"""Finds points that lie near each other, without comparing all pairs."""

from collections.abc import Iterator

import numpy as np

from ..types import Indices, Matrix

MOST = 2**18  # pairs that are compared at a time


def near_pairs(points: Matrix, reach: float) -> tuple[Indices, Indices]:
    """Pairs of points, (k, m) with m at least 2, whose coordinates all differ by `reach` at most.

    Points are cut into slices along the first coordinate and laid out on a line, one slice after
    the other, by the second; a point then meets only those of its own slice and the next whose
    second coordinate is near.
    """
    wide = 1.001 * reach  # so that rounding parts no pair
    slices = np.floor((points[:, 0] - points[:, 0].min()) / wide)
    heights = points[:, 1] - points[:, 1].min()
    length = heights.max() + 3 * wide
    line = length * slices + heights
    order = np.argsort(line)
    line, points = line[order], points[order]
    own = np.arange(1, len(line) + 1), np.searchsorted(line, line + wide)
    following = (np.searchsorted(line, line + length + step) for step in (-wide, wide))
    found = [np.empty((2, 0), np.intp)]
    for starts, stops in (own, following):
        for pairs in _all_within(starts, stops):
            near = (np.abs(points[pairs[0]] - points[pairs[1]]) <= reach).all(axis=1)
            found.append(order[pairs[:, near]])
    first, second = np.concatenate(found, axis=1)
    return first, second


def _all_within(starts: Indices, stops: Indices) -> Iterator[Indices]:
    """Pairs of each k with all numbers from ``starts[k]`` up to ``stops[k]``, some at a time."""
    counts = np.maximum(stops - starts, 0)
    met = np.flatnonzero(counts)
    counts = counts[met]
    total = np.cumsum(counts)
    edges = np.searchsorted(total, np.arange(MOST, total[-1] if len(total) else 0, MOST))
    for some in np.split(np.arange(len(met)), np.unique(edges)):
        shift = np.cumsum(counts[some]) - counts[some] - starts[met[some]]
        first = np.repeat(met[some], counts[some])
        yield np.stack([first, np.arange(len(first)) - np.repeat(shift, counts[some])])
