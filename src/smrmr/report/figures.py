"""Draws the figures of a selection on matplotlib axes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from ..selection import Selection
from ..settings import one_of
from .features import redundancy_plot
from .html import ACCOUNTS
from .marks import Band, Boxes, Cells, Line, Mark, Plot, Points, Rule, Stems, Tick
from .shapes import shape_plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    **dict.fromkeys(("selected", "main", "smooth"), "#1f5fbf"),
    **dict.fromkeys(("negative", "bound"), "#d9742b"),
    **dict.fromkeys(("other", "mirror", "cloud"), "#8a8f98"),
    "kept": "#8fb0dd",
    "rule": "#40444c",
}


def plot_w(selection: Selection, ax: Axes | None = None) -> Axes:
    """W by size, with the threshold and its mirror image below zero.

    A feature is selected if its W reaches the threshold; those that reach the mirror image from
    above show how many false ones to expect among them.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    ax
        Where to draw; a new figure unless given.

    Examples
    --------
    >>> from smrmr import Recipe, select, simulate
    >>> from smrmr.report import plot_w
    >>> data = simulate("1.d", n=200, p=95, random_state=0)
    >>> plot_w(select(data.X, data.y, Recipe(control="knockoffs"), rng=0)).get_ylabel()
    'W'
    """
    return _draw(_own(selection, "importance"), ax)


def plot_fdp(selection: Selection, ax: Axes | None = None) -> Axes:
    """Estimated share of false features against the number selected, and its 95% bound.

    The bound, of `smrmr.false_discovery_bounds`, holds for all numbers together. Over several
    draws: the level at which each number of features would be selected.
    """
    return _draw(_own(selection, "fdp"), ax)


def plot_relevance(selection: Selection, ax: Axes | None = None) -> Axes:
    """Relevance of every feature by rank; those that passed the screen and the selected marked."""
    return _draw(_own(selection, "relevance"), ax)


def plot_redundancy(selection: Selection, ax: Axes | None = None) -> Axes:
    """Associations between the features of largest W, clustered; selected ones in bold."""
    return _draw(redundancy_plot(selection), ax)


def plot_shape(selection: Selection, feature: str | int, ax: Axes | None = None) -> Axes:
    """A feature against the target, group of rows by group of rows.

    Medians with bands from 25% to 75% and from 10% to 90% of the rows in each bin; boxes if the
    target has classes or the feature few levels. Single rows are drawn if the data were kept. Of
    several outputs, the one that differs most along the feature.
    """
    return _draw(shape_plot(selection, feature), ax)


def plot_lambda(selection: Selection, ax: Axes | None = None) -> Axes:
    """Held-out loss along the path of lambda, with the lambda that was chosen."""
    return _draw(_own(selection, "lambda"), ax)


def plot_diagnosis(selection: Selection, ax: Axes | None = None) -> Axes:
    """P-values of the tests whether knockoffs can be told from features, one dot per draw."""
    return _draw(_own(selection, "diagnosis"), ax)


def plot_p_values(selection: Selection, ax: Axes | None = None) -> Axes:
    """p-values of the best 40 features with the cut-off; bars go down where the effect is negative.

    Examples
    --------
    >>> from smrmr import Recipe, select, simulate
    >>> from smrmr.report import plot_p_values
    >>> data = simulate("1.d", n=100, p=95, random_state=0)
    >>> plot_p_values(select(data.X, data.y, Recipe(control="tests"))).get_title()
    'The smallest p-values'
    """
    return _draw(_own(selection, "best"), ax)


def plot_histogram(selection: Selection, ax: Axes | None = None) -> Axes:
    """How many p-values fall where; if no feature mattered, all bars would be about as high."""
    return _draw(_own(selection, "histogram"), ax)


def plot_alone(selection: Selection, ax: Axes | None = None) -> Axes:
    """p-value of every feature alone against that given all others, as numbers of zeros."""
    return _draw(_own(selection, "alone"), ax)


def plot_fits(selection: Selection, ax: Axes | None = None) -> Axes:
    """Share of the target's variance that each fit explains on rows left out."""
    return _draw(_own(selection, "fits"), ax)


def _own(selection: Selection, name: str) -> Plot:
    """A figure that not every controller has."""
    kind = selection.evidence.kind
    figures = ACCOUNTS[kind].FIGURES
    if name not in figures:
        raise ValueError(f"a selection by {kind} has no figure {name!r}. It has {one_of(figures)}.")
    plot: Plot = figures[name](selection)
    return plot


def _draw(plot: Plot, ax: Axes | None) -> Axes:
    if ax is None:
        from matplotlib.figure import Figure  # takes half a second to load, so not before

        ax = Figure(layout="constrained").subplots()
    ax.set_title(plot.title, parse_math=False)
    if plot.nothing:
        said = textwrap.fill(plot.nothing, 40)
        ax.text(0.5, 0.5, said, ha="center", va="center", transform=ax.transAxes)
        ax.set_axis_off()
        return ax
    ax.set_xlabel(plot.x_label, parse_math=False)
    ax.set_ylabel(plot.y_label, parse_math=False)
    if plot.x_log:
        ax.set_xscale("log")
    for bend, scale in ((plot.x_bend, ax.set_xscale), (plot.y_bend, ax.set_yscale)):
        if bend:
            scale("symlog", linthresh=bend)
    for mark in plot.marks:
        _add(mark, ax)
    limits = {"xlim": plot.x_limits, "ylim": plot.y_limits}
    ax.set(**{name: values for name, values in limits.items() if values})
    for axis, ticks in ((ax.xaxis, plot.x_ticks), (ax.yaxis, plot.y_ticks)):
        if ticks is not None:
            _name(axis, ticks)
    if any(isinstance(mark, Line | Rule) and mark.label for mark in plot.marks):
        ax.legend(frameon=False)
    return ax


def _name(axis: Any, ticks: tuple[Tick, ...]) -> None:
    # a name with dollar signs would be taken for a formula, and may not be one
    axis.set_ticks([tick.at for tick in ticks], [tick.label for tick in ticks], parse_math=False)
    size = min(10, max(4, 200 / len(ticks)))
    for label, tick in zip(axis.get_ticklabels(), ticks, strict=True):
        label.set(fontsize=size, fontweight="bold" if tick.chosen else "normal")


def _add(mark: Mark, ax: Axes) -> None:
    match mark:
        case Points(x, y, "cloud"):
            ax.scatter(x, y, s=8, color=COLOURS["cloud"], alpha=0.5, zorder=2)
        case Points(x, y, role):
            ax.scatter(x, y, s=22, color=COLOURS[role], alpha=1.0, zorder=3)
        case Line(x, y, role, label):
            ax.plot(x, y, color=COLOURS[role], label=label or None)
        case Stems(x, y, role):
            ax.bar(x, y, color=COLOURS[role])
        case Band(x, y, role):
            shade = 0.12 if role == "wide" else 0.25
            ax.fill_between(x, *y, color=COLOURS["main"], alpha=shade, linewidth=0)
        case Rule(at, label, role, vertical):
            line = ax.axvline if vertical else ax.axhline
            line(at, color=COLOURS[role], linestyle="--", linewidth=1, label=label)
        case Boxes(quartiles, _, lying):
            low, first, middle, third, high = quartiles.T
            places = range(len(quartiles))
            bar, along = (ax.barh, ax.hlines) if lying else (ax.bar, ax.vlines)
            across = ax.vlines if lying else ax.hlines
            bar(places, third - first, 0.6, first, color=COLOURS["kept"])
            along(places, low, first, color=COLOURS["main"])
            along(places, third, high, color=COLOURS["main"])
            ends = [i - 0.3 for i in places], [i + 0.3 for i in places]
            across(middle, *ends, color=COLOURS["main"], linewidth=2)
        case Cells(values):
            from matplotlib.colors import PowerNorm

            # associations are squares: their roots show weak ones too
            image = ax.imshow(values, norm=PowerNorm(0.5, 0, 1), cmap="Blues")
            ax.figure.colorbar(image, ax=ax, label="association")
            ax.set_xticks([])
