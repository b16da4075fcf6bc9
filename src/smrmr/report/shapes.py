"""Describes a feature against the target: bands over bins, boxes of groups, shares above zero."""

from dataclasses import replace

import numpy as np

from ..selection import PlotData, Selection, Shape
from ..types import Mask, Matrix, Vector
from .marks import Band, Boxes, Line, Mark, Plot, Points, Tick, short

MOST_CLASSES = 20
LONGEST = 60  # letters of a class that stands in a row
LETTERS_ACROSS = 36  # of names side by side; more of them stand in rows
PERCENTS = tuple(Tick(share, f"{100 * share:.0f}%") for share in (0.0, 0.25, 0.5, 0.75, 1.0))
FAR_APART = 8.0  # times the distance of their quartiles: values that need a symlog axis


def shape_plot(selection: Selection, feature: str | int) -> Plot:
    """A feature against the target: bands over bins, or boxes where there are groups of rows."""
    k = selection.position(feature)
    data = selection.plot_data
    name, target = short(selection.names[k]), target_name(selection)
    title = f"{name} against {target}"
    place = np.flatnonzero(data.features == selection.leaders[k])
    if not place.size:
        return Plot(title, nothing="Only the features that stand out most are drawn.")
    shape = data.shapes[place[0]]
    if len(shape.counts) < 2 and data.values is None:
        return Plot(title, nothing="The groups of rows are too small to be summarised.")
    if data.outputs:
        target = short(data.outputs[shape.output])
    if shape.kind == "bins":
        dots, beyond = _dots(data, place[0], shape)
        summary = _medians(shape, target, tuple(f"around {at:.3g}" for at in shape.at), name)
        plot = Plot(title, name, target + beyond, (*dots, *_bands(shape)), summary=summary)
        return _scaled(plot, x=shape.at, y=shape.quantiles)
    shape, hidden = _largest(shape)
    more = f" ({hidden} more not drawn)" if hidden else ""
    dots, beyond = _dots(data, place[0], shape)
    if shape.kind == "levels":
        summary = _medians(shape, target, shape.names, name)
        return _in_columns(Plot(title, name + more, target + beyond, dots, summary=summary), shape)
    if shape.shares.size:
        return _shares(Plot(title, f"rows with {name} above 0", target + more), shape)
    summary = _medians(shape, name, shape.names, target)
    if len(shape.names) * max(len(short(each)) + 1 for each in shape.names) <= LETTERS_ACROSS:
        return _in_columns(Plot(title, target + more, name + beyond, dots, summary=summary), shape)
    dots = tuple(replace(mark, x=mark.y, y=mark.x) for mark in dots)
    return _in_rows(Plot(title, name + beyond, target + more, dots, summary=summary), shape)


def target_name(selection: Selection) -> str:
    """What the target is called on axes."""
    name = short(selection.source.get("target column", "target"))
    return {"survival": f"risk, going by {name}", "ordinal": f"rank of {name}"}.get(
        selection.target, name
    )


def symlog_unit(values: Matrix) -> float:
    """Size beyond which an axis for these values should be logarithmic; 0 for a plain axis.

    Values on both sides of zero, such as standardised ones, have no ratios that a log would show.
    """
    low, first, third, high = np.quantile(values, [0, 0.25, 0.75, 1])
    if low < 0 < high:
        return 0.0
    sizes = np.abs(values[values != 0])
    if high - low <= FAR_APART * (third - first) or np.ptp(np.log10(sizes)) < 1:
        return 0.0
    unit = max(float(np.quantile(sizes, 0.25)), float(sizes.max()) / 1e6)
    return float(10.0 ** np.floor(np.log10(unit)))


def _scaled(plot: Plot, x: Matrix | None = None, y: Matrix | None = None) -> Plot:
    """A plot with symlog axes, and labels that say so, where the values along them need it."""
    if x is not None and (unit := symlog_unit(x)):
        plot = replace(plot, x_symlog=unit, x_label=f"{plot.x_label} (log scale)")
    if y is not None and (unit := symlog_unit(y)):
        plot = replace(plot, y_symlog=unit, y_label=f"{plot.y_label} (log scale)")
    return plot


def _in_columns(plot: Plot, shape: Shape) -> Plot:
    """Boxes side by side, with their names below."""
    boxes = Boxes(shape.quantiles, _tips(shape, shape.names))
    ticks = tuple(Tick(float(i), short(name)) for i, name in enumerate(shape.names))
    return _scaled(replace(plot, marks=(*plot.marks, boxes), x_ticks=ticks), y=shape.quantiles)


def _in_rows(plot: Plot, shape: Shape) -> Plot:
    """Boxes in rows, which have room for long names."""
    boxes = Boxes(shape.quantiles, _tips(shape, shape.names), lying=True)
    names = tuple(short(name, LONGEST) for name in shape.names)
    plot = _rows(replace(plot, marks=(*plot.marks, boxes)), names)
    return _scaled(plot, x=shape.quantiles)


def _rows(plot: Plot, names: tuple[str, ...]) -> Plot:
    ticks = tuple(Tick(float(i), name) for i, name in enumerate(names))
    return replace(plot, y_ticks=ticks, y_limits=(len(names) - 0.5, -0.5))


def _shares(plot: Plot, shape: Shape) -> Plot:
    """Share of rows above zero in each class, with the mean beside its name."""
    groups = list(zip(shape.names, shape.shares, shape.counts, shape.means, strict=True))
    tips = tuple(
        f"{short(name)}: {100 * share:.3g}% of {n} rows above 0, mean {mean:.3g}"
        for name, share, n, mean in groups
    )
    names = tuple(f"{short(name, LONGEST)}, mean {mean:.2g}" for name, _, _, mean in groups)
    at = np.arange(len(groups), dtype=np.float64)
    ends = zip(at, shape.shares, strict=True)
    bars = [Line(np.array([0.0, share]), np.array([i, i]), "smooth") for i, share in ends]
    marks: tuple[Mark, ...] = (*bars, Points(shape.shares, at, "selected", tips))
    plot = replace(plot, marks=marks, x_ticks=PERCENTS, x_limits=(0.0, 1.04))
    return _rows(replace(plot, summary="; ".join(tips)), names)


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


def _medians(shape: Shape, what: str, places: tuple[str, ...], along: str) -> str:
    """The medians of a figure in a sentence, for those who cannot see it."""
    pairs = zip(shape.quantiles[:, 2], places, strict=True)
    return f"Median of {what} by {along}: " + ", ".join(
        f"{median:.3g} ({short(place)})" for median, place in pairs
    )


def _largest(shape: Shape) -> tuple[Shape, int]:
    """The largest groups, as many as can be drawn, and how many are left out."""
    hidden = max(0, len(shape.counts) - MOST_CLASSES)
    some = np.sort(np.argsort(-shape.counts, kind="stable")[:MOST_CLASSES])
    names = tuple(shape.names[i] for i in some)
    wanted = {name: getattr(shape, name) for name in ("counts", "quantiles", "shares", "means")}
    fewer = {name: values[some] for name, values in wanted.items() if len(values)}
    return replace(shape, names=names, **fewer), hidden


def _dots(data: PlotData, place: int, shape: Shape) -> tuple[tuple[Points, ...], str]:
    """Single rows, if they were to be kept, and a remark on those too far out to be drawn."""
    if data.values is None or data.y is None:
        return (), ""
    x = data.values[:, place]
    if shape.kind == "classes":
        groups = np.array([*data.labels], dtype=object)[data.y.astype(np.intp)]
        y = x
    else:
        groups = np.array([f"{value:.4g}" for value in x], dtype=object)
        y = data.y.reshape(len(x), -1)[:, shape.output]
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
    far = 4 * (high - low)
    inside: Mask = (values >= low - far) & (values <= high + far)
    if far == 0 or inside.all():
        return np.ones(len(values), dtype=np.bool_), ""
    hidden = int(np.count_nonzero(~inside))
    return inside, f" ({hidden} extreme row{'s' * int(hidden != 1)} left out)"
