"""Draws the figures of a selection on matplotlib axes."""

from __future__ import annotations

import textwrap
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from ..selection import Selection
from .knockoffs.plots import diagnosis_plot, fdp_plot, importance_plot, lambda_plot, relevance_plot
from .marks import Band, Boxes, Cells, Line, Plot, Points, Rule, Stems, Tick
from .shapes import redundancy_plot, shape_plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    "selected": "#1f5fbf",
    "kept": "#8fb0dd",
    "negative": "#d9742b",
    "other": "#8a8f98",
    "main": "#1f5fbf",
    "bound": "#d9742b",
    "rule": "#40444c",
    "mirror": "#8a8f98",
    "cloud": "#8a8f98",
    "smooth": "#1f5fbf",
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
    >>> from smrmr import select, simulate
    >>> from smrmr.report import plot_w
    >>> data = simulate("1.d", n=200, p=95, random_state=0)
    >>> plot_w(select(data.X, data.y, rng=0)).get_ylabel()
    'W'
    """
    return _draw(importance_plot(selection), ax)


def plot_fdp(selection: Selection, ax: Axes | None = None) -> Axes:
    """Estimated share of false features against the number selected, and its 95% bound.

    The bound, of `smrmr.false_discovery_bounds`, holds for all numbers together. Over several
    draws: the level at which each number of features would be selected.
    """
    return _draw(fdp_plot(selection), ax)


def plot_relevance(selection: Selection, ax: Axes | None = None) -> Axes:
    """Relevance of every feature by rank; those that passed the screen and the selected marked."""
    return _draw(relevance_plot(selection), ax)


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
    return _draw(lambda_plot(selection), ax)


def plot_diagnosis(selection: Selection, ax: Axes | None = None) -> Axes:
    """P-values of the tests whether knockoffs can be told from features, one dot per draw."""
    return _draw(diagnosis_plot(selection), ax)


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
    ax.set_xlabel(plot.x_label)
    ax.set_ylabel(plot.y_label)
    if plot.x_log:
        ax.set_xscale("log")
    for mark in plot.marks:
        _add(mark, ax)
    if plot.x_limits:
        ax.set_xlim(plot.x_limits)
    if plot.y_limits:
        ax.set_ylim(plot.y_limits)
    if plot.x_ticks is not None:
        _name(ax.set_xticks, ax.get_xticklabels, plot.x_ticks)
    if plot.y_ticks is not None:
        _name(ax.set_yticks, ax.get_yticklabels, plot.y_ticks)
    if any(isinstance(mark, Line | Rule) and mark.label for mark in plot.marks):
        ax.legend(frameon=False)
    return ax


def _name(place: Any, labels: Any, ticks: tuple[Tick, ...]) -> None:
    # a name with dollar signs would be taken for a formula, and may not be one
    place([tick.at for tick in ticks], [tick.label for tick in ticks], parse_math=False)
    size = min(10, max(4, 200 / len(ticks)))
    for label, tick in zip(labels(), ticks, strict=True):
        label.set_fontsize(size)
        label.set_fontweight("bold" if tick.chosen else "normal")


@singledispatch
def _add(mark: Any, ax: Axes) -> None:
    raise TypeError(f"{type(mark).__name__} is not a mark.")


@_add.register(Points)
def _(mark: Points, ax: Axes) -> None:
    faint = mark.role == "cloud"
    size, alpha = (8, 0.5) if faint else (22, 1.0)
    ax.scatter(
        mark.x, mark.y, s=size, color=COLOURS[mark.role], alpha=alpha, zorder=2 + (not faint)
    )


@_add.register(Line)
def _(mark: Line, ax: Axes) -> None:
    ax.plot(mark.x, mark.y, color=COLOURS[mark.role], label=mark.label or None)


@_add.register(Stems)
def _(mark: Stems, ax: Axes) -> None:
    ax.bar(mark.x, mark.y, color=COLOURS[mark.role])


@_add.register(Rule)
def _(mark: Rule, ax: Axes) -> None:
    line = ax.axvline if mark.vertical else ax.axhline
    line(mark.at, color=COLOURS[mark.role], linestyle="--", linewidth=1, label=mark.label)


@_add.register(Boxes)
def _(mark: Boxes, ax: Axes) -> None:
    names = ("whislo", "q1", "med", "q3", "whishi")
    boxes = [dict(zip(names, box, strict=True)) for box in mark.quartiles]
    places = np.arange(len(boxes))
    ax.bxp(boxes, positions=places, widths=0.6, showfliers=False, manage_ticks=False)


@_add.register(Band)
def _(mark: Band, ax: Axes) -> None:
    shade = 0.12 if mark.role == "wide" else 0.25
    ax.fill_between(mark.x, *mark.y, color=COLOURS["main"], alpha=shade, linewidth=0)


@_add.register(Cells)
def _(mark: Cells, ax: Axes) -> None:
    from matplotlib.colors import PowerNorm

    # associations are squares: their roots show weak ones too
    image = ax.imshow(mark.values, norm=PowerNorm(0.5, 0, 1), cmap="Blues")
    ax.figure.colorbar(image, ax=ax, label="association")
    ax.set_xticks([])
