"""Describes the figures of the data: a feature against the target, features against each other."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from ..selection import Selection
from ..types import Indices, Mask, Matrix, Vector
from .marks import Boxes, Cells, Line, Mark, Plot, Points, Tick, short

FEW_LEVELS = 6  # of a feature that is drawn as boxes rather than as a cloud
MOST_CLASSES = 10
NEIGHBOURS = 0.4  # share of the points that a smooth looks at
GRID = 50


def redundancy_plot(selection: Selection) -> Plot:
    """Association of the features of largest W with each other, similar ones side by side."""
    title = "How much features repeat each other"
    shown = selection.shown
    if len(shown.features) < 2:
        return Plot(title, nothing="Fewer than two features beat their knockoff: no map to draw.")
    order = cluster(shown.redundancy)
    features = shown.features[order]
    values = np.clip(shown.redundancy[np.ix_(order, order)], 0.0, 1.0)
    names = [short(selection.names[k], 24) for k in features]
    chosen = np.isin(features, selection.decision.selected)
    tips = tuple(
        tuple(f"{a} and {b}: {value:.2f}" for b, value in zip(names, row, strict=True))
        for a, row in zip(names, values, strict=True)
    )
    ticks = tuple(
        Tick(float(i), name, bool(mark))
        for i, (name, mark) in enumerate(zip(names, chosen, strict=True))
    )
    return Plot(title, marks=(Cells(values, tips),), y_ticks=ticks)


def shape_plot(selection: Selection, feature: str | int) -> Plot:
    """A feature against the target: a cloud with a smooth, or boxes where there are groups."""
    k = selection._position(feature)
    shown = selection.shown
    title = short(selection.names[k])
    place = np.flatnonzero(shown.features == selection._leaders[k])
    if not place.size:
        return Plot(title, nothing="Values are kept for the features of largest W only.")
    x = shown.values[:, place[0]]
    if shown.labels:
        return _by_class(title, x, shown.y.astype(np.intp), shown.labels)
    y, label = (shown.y, "y") if shown.y.ndim == 1 else _nearest_output(x, shown.y)
    inside, beyond = _without_extremes(y)
    x, y, label = x[inside], y[inside], label + beyond
    levels = np.unique(x)
    if len(levels) <= FEW_LEVELS:
        groups = np.searchsorted(levels, x)
        names = tuple(f"{level:g}" for level in levels)
        return Plot(
            title,
            "value",
            label,
            _boxes_over_points(groups, y, names),
            x_ticks=tuple(Tick(float(i), name) for i, name in enumerate(names)),
        )
    grid = np.unique(np.quantile(x, np.linspace(0.01, 0.99, GRID)))
    curve = smoother(x, grid) @ y
    return Plot(title, "value", label, (Points(x, y, "cloud"), Line(grid, curve, "smooth")))


def cluster(redundancy: Matrix) -> Indices:
    """Order in which similar features are neighbours: average linkage, leaves ordered."""
    distances = np.clip(1.0 - (redundancy + redundancy.T) / 2, 0.0, None)
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform(distances, checks=False), "average", optimal_ordering=True)
    order: Indices = leaves_list(tree).astype(np.intp)
    return order


def smoother(x: Vector, grid: Vector) -> Matrix:
    """Weights that turn y into a local linear fit at each point of the grid.

    Tricube weights over the nearest 40% of the points, as in lowess without its robust steps.
    """
    distances = np.abs(grid[:, None] - x)
    reach = int(np.ceil(NEIGHBOURS * len(x))) - 1
    width = np.partition(distances, reach, axis=1)[:, [reach]]
    span = float(np.ptp(x)) or 1.0
    weights = np.clip(1 - (distances / np.maximum(width, 0.02 * span)) ** 3, 0.0, None) ** 3
    weights /= weights.sum(axis=1, keepdims=True)
    centre = weights @ x
    away = x - centre[:, None]
    spread = np.sum(weights * away**2, axis=1)
    # where all weight sits on one value there is no slope to fit
    slope = np.where(spread > 1e-12 * span**2, (grid - centre) / np.maximum(spread, 1e-300), 0.0)
    fit: Matrix = weights * (1 + slope[:, None] * away)
    return fit


def _nearest_output(x: Vector, y: Matrix) -> tuple[Vector, str]:
    """Of several outputs, the one that the feature's smooth explains best."""
    spread = y.std(axis=0)
    scaled = (y - y.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    grid = np.unique(np.quantile(x, np.linspace(0.01, 0.99, GRID)))
    best = int(np.argmax(np.var(smoother(x, grid) @ scaled, axis=0)))
    return y[:, best], f"y, output {best + 1} of {y.shape[1]}"


def _by_class(title: str, x: Vector, classes: Indices, labels: tuple[str, ...]) -> Plot:
    counts = np.bincount(classes, minlength=len(labels))
    largest = np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES])
    largest = largest[counts[largest] > 0]
    inside, beyond = _without_extremes(x)
    rows = np.isin(classes, largest) & inside
    names = tuple(short(labels[label], 16) for label in largest)
    hidden = np.count_nonzero(counts) - len(largest)
    return Plot(
        title,
        "class" + (f" ({hidden} smaller ones not drawn)" if hidden else ""),
        "value" + beyond,
        _boxes_over_points(np.searchsorted(largest, classes[rows]), x[rows], names),
        x_ticks=tuple(Tick(float(i), name) for i, name in enumerate(names)),
    )


def _boxes_over_points(groups: Indices, values: Vector, names: tuple[str, ...]) -> tuple[Mark, ...]:
    # the golden ratio spreads points evenly without randomness, so a page is the same every time
    jitter = ((np.arange(len(groups)) * 0.6180339887) % 1 - 0.5) * 0.5
    heights = values.astype(np.float64)
    levels = np.unique(values)
    if len(levels) <= FEW_LEVELS and len(levels) > 1:
        heights = heights + ((np.arange(len(groups)) * 0.7548776662) % 1 - 0.5) * 0.2 * np.min(
            np.diff(levels)
        )
    boxes = [_box(values[groups == i]) for i in range(len(names))]
    tips = tuple(
        f"{name}: {np.sum(groups == i)} rows, median {box[2]:.3g}, half of them between "
        f"{box[1]:.3g} and {box[3]:.3g}"
        for i, (name, box) in enumerate(zip(names, boxes, strict=True))
    )
    return Points(groups + jitter, heights, "cloud"), Boxes(np.array(boxes), tips)


def _without_extremes(values: Vector) -> tuple[Mask, str]:
    """Rows that can be drawn on one scale, and a remark if some cannot.

    A single value far out would press all others into a line. Values of a normal distribution
    are never that far out.
    """
    low, high = np.quantile(values, [0.25, 0.75])
    reach = 4 * (high - low)
    inside: Mask = (values >= low - reach) & (values <= high + reach)
    if reach == 0 or inside.all():
        return np.ones(len(values), dtype=np.bool_), ""
    hidden = int(np.count_nonzero(~inside))
    return inside, f" ({hidden} extreme row{'s' * int(hidden != 1)} left out)"


def _box(values: Vector) -> Vector:
    """Quartiles, and whiskers to the last value within 1.5 interquartile ranges (Tukey)."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    reach = 1.5 * (high - low)
    inside = values[(values >= low - reach) & (values <= high + reach)]
    return np.array([min(inside.min(), low), low, middle, high, max(inside.max(), high)])
