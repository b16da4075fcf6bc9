"""Draws the marks of a figure on matplotlib axes, as figure.svg writes them into a page."""

from __future__ import annotations

import textwrap
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .marks import Band, Boxes, Cells, Intervals, Line, Mark, Plot, Points, Rule, Stems, Tick, Tiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    **dict.fromkeys(("selected", "main", "smooth"), "#1f5fbf"),
    **dict.fromkeys(("negative", "bound"), "#d9742b"),
    **dict.fromkeys(("other", "mirror", "cloud"), "#8a8f98"),
    "kept": "#8fb0dd",
    "rule": "#40444c",
}
ISOLATES = dict.fromkeys(map(ord, "\u2068\u2069"))  # matplotlib, which knows none, may draw boxes
DARKEST_TILE = 0.5  # opacity, at which what stands in a tile can still be read


def draw_axes(plot: Plot, ax: Axes | None) -> Axes:
    """Draw a figure on axes that are given, or on those of a new figure of pyplot.

    Notebooks and ``plt.show()`` show figures of pyplot alone.
    """
    if ax is None:
        from matplotlib import pyplot  # takes half a second to load, so not before

        ax = pyplot.subplots(layout="constrained")[1]
    plot = without_isolates(plot)
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
    for symlog, scale in ((plot.x_symlog, ax.set_xscale), (plot.y_symlog, ax.set_yscale)):
        if symlog:
            scale("symlog", linthresh=symlog)
    for mark in plot.marks:
        _add(mark, ax)
    limits = {"xlim": plot.x_limits, "ylim": plot.y_limits}
    ax.set(**{name: values for name, values in limits.items() if values})
    for axis, ticks in ((ax.xaxis, plot.x_ticks), (ax.yaxis, plot.y_ticks)):
        if ticks is not None:
            _name(axis, ticks)
    upright = [mark for mark in plot.marks if isinstance(mark, Rule) and mark.vertical]
    for rule in upright:
        _name_upright(rule, ax)
    if any(
        isinstance(mark, Line | Rule) and mark.label for mark in plot.marks if mark not in upright
    ):
        ax.legend(frameon=False)
    return ax


def without_isolates(drawn: Any) -> Any:
    r"""The same figure, or part of it, without the marks that isolate names in a page.

    Examples
    --------
    >>> without_isolates(Tick(1.0, "\u2068É\u2069")).label
    'É'
    """
    if isinstance(drawn, str):
        return drawn.translate(ISOLATES)
    if isinstance(drawn, tuple):
        return tuple(map(without_isolates, drawn))
    if not is_dataclass(drawn):
        return drawn
    parts = {field.name: without_isolates(getattr(drawn, field.name)) for field in fields(drawn)}
    return replace(drawn, **parts)  # type: ignore[type-var]


def _name_upright(rule: Rule, ax: Axes) -> None:
    """Write the name of an upright line at its top, on the side that has room."""
    ax.get_xlim()  # which settles the limits
    place = ax.transAxes.inverted().transform(ax.transData.transform((rule.at, 1.0)))[0]
    left = place < 0.5
    ax.annotate(
        rule.label,
        (rule.at, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(4 if left else -4, -4),
        textcoords="offset points",
        ha="left" if left else "right",
        va="top",
        parse_math=False,
    )


def _name(axis: Any, ticks: tuple[Tick, ...]) -> None:
    axis.set_ticks([], minor=True)  # of a log axis, which would name more places
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
            colour = COLOURS.get(role, COLOURS["main"])
            ax.fill_between(x, *y, color=colour, alpha=shade, linewidth=0)
        case Intervals(x, y, role):
            ax.vlines(x, *y, color=COLOURS[role], alpha=0.5)
        case Rule(at, label, role, vertical):
            line = ax.axvline if vertical else ax.axhline
            label = "" if vertical else label
            line(at, color=COLOURS[role], linestyle="--", linewidth=1, label=label or None)
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
        case Tiles():
            _add_tiles(mark, ax)


def _add_tiles(mark: Tiles, ax: Axes) -> None:
    """Tiles in two colours, with what stands in them."""
    from matplotlib.colors import to_rgb

    below, above = to_rgb(COLOURS["negative"]), to_rgb(COLOURS["selected"])
    shades = mark.shades[..., None]
    colours = np.concatenate(
        [np.where(shades < 0, below, above), DARKEST_TILE * np.abs(shades)], axis=-1
    )
    ax.imshow(colours, origin="lower", aspect="auto")
    for y, (texts, notes) in enumerate(zip(mark.texts, mark.notes, strict=True)):
        for x, (text, note) in enumerate(zip(texts, notes, strict=True)):
            ax.text(x, y, text, ha="center", va="bottom")
            place = "top" if text else "center"
            ax.text(x, y, note, ha="center", va=place, fontsize="x-small")
