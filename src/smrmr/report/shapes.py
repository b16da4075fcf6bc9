"""Describes the figures of the data: a feature against the target, features against each other."""

from dataclasses import replace

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from ..selection import Picture, Selection, Shape
from ..types import Indices, Mask, Matrix, Vector
from .marks import Band, Boxes, Cells, Line, Mark, Plot, Points, Tick, short

MOST_CLASSES = 10


def redundancy_plot(selection: Selection) -> Plot:
    """Association of the features that stand out with each other, similar ones side by side."""
    title = "How much features repeat each other"
    picture = selection.picture
    if len(picture.features) < 2:
        return Plot(title, nothing="Fewer than two features stand out: there is no map to draw.")
    order = cluster(picture.redundancy)
    features = picture.features[order]
    values = np.clip(picture.redundancy[np.ix_(order, order)], 0.0, 1.0)
    ticks = tuple(
        Tick(float(i), short(selection.names[k], 24), bool(k in selection.selected))
        for i, k in enumerate(features)
    )
    tips = tuple(
        tuple(f"{a.label} and {b.label}: {value:.2f}" for b, value in zip(ticks, row, strict=True))
        for a, row in zip(ticks, values, strict=True)
    )
    return Plot(title, marks=(Cells(values, tips),), y_ticks=ticks)


def shape_plot(selection: Selection, feature: str | int) -> Plot:
    """A feature against the target: bands over bins, or boxes where there are groups of rows."""
    k = selection.position(feature)
    picture = selection.picture
    title = short(selection.names[k])
    place = np.flatnonzero(picture.features == selection.leaders[k])
    if not place.size:
        return Plot(title, nothing="Only the features that stand out most are drawn.")
    shape = picture.shapes[place[0]]
    if len(shape.counts) < 2 and picture.values is None:
        return Plot(title, nothing="The groups of rows are too small to be summarised.")
    label = "y" if picture.n_outputs == 1 else f"y, output {shape.output + 1}"
    if shape.kind == "bins":
        dots, beyond = _dots(picture, place[0], shape)
        return Plot(title, "value", label + beyond, (*dots, *_bands(shape)))
    shape, hidden = _largest(shape)
    dots, beyond = _dots(picture, place[0], shape)
    classes = shape.kind == "classes"
    return Plot(
        title,
        ("class" if classes else "value") + (f" ({hidden} more not drawn)" if hidden else ""),
        ("value" if classes else label) + beyond,
        (*dots, Boxes(shape.quantiles, _tips(shape, shape.names))),
        x_ticks=tuple(Tick(float(i), short(name, 16)) for i, name in enumerate(shape.names)),
    )


def cluster(redundancy: Matrix) -> Indices:
    """Order in which similar features are neighbours: average linkage, leaves ordered."""
    distances = np.clip(1.0 - (redundancy + redundancy.T) / 2, 0.0, None)
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform(distances, checks=False), "average", optimal_ordering=True)
    return np.asarray(leaves_list(tree), dtype=np.intp)


def _bands(shape: Shape) -> tuple[Mark, ...]:
    low, first, middle, third, high = shape.quantiles.T
    tips = _tips(shape, tuple(f"around {at:.3g}" for at in shape.at))
    return (
        Band(shape.at, np.array([low, high]), "wide"),
        Band(shape.at, np.array([first, third]), "narrow"),
        Line(shape.at, middle, "smooth"),
        Points(shape.at, middle, "selected", tips),
    )


def _tips(shape: Shape, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        f"{short(name)}: {n} rows, median {box[2]:.3g}, half of them between {box[1]:.3g} and "
        f"{box[3]:.3g}"
        for name, n, box in zip(names, shape.counts, shape.quantiles, strict=True)
    )


def _largest(shape: Shape) -> tuple[Shape, int]:
    """The largest groups, as many as can be drawn, and how many are left out."""
    hidden = max(0, len(shape.counts) - MOST_CLASSES)
    some = np.sort(np.argsort(-shape.counts, kind="stable")[:MOST_CLASSES])
    names = tuple(shape.names[i] for i in some)
    counts, quantiles = shape.counts[some], shape.quantiles[some]
    return replace(shape, names=names, counts=counts, quantiles=quantiles), hidden


def _dots(picture: Picture, place: int, shape: Shape) -> tuple[tuple[Mark, ...], str]:
    """Single rows, if they were to be kept, and a remark on those too far out to be drawn."""
    if picture.values is None or picture.y is None:
        return (), ""
    x = picture.values[:, place]
    if shape.kind == "classes":
        groups = np.array([*picture.labels], dtype=object)[picture.y.astype(np.intp)]
        y = x
    else:
        groups = np.array([f"{value:.4g}" for value in x], dtype=object)
        y = picture.y.reshape(len(x), -1)[:, shape.output]
    rows, beyond = _without_extremes(y)
    if shape.kind == "bins":
        return (Points(x[rows], y[rows], "cloud"),), beyond
    position = {name: i for i, name in enumerate(shape.names)}
    rows &= np.array([name in position for name in groups])
    # the golden ratio spreads dots evenly without randomness, so a page is the same every time
    spread = ((np.arange(len(x)) * 0.6180339887) % 1 - 0.5) * 0.5
    across = np.array([position[name] for name in groups[rows]], dtype=np.float64) + spread[rows]
    return (Points(across, y[rows], "cloud"),), beyond


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
