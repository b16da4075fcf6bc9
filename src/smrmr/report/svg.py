"""Writes a Plot as SVG whose colours come from the style sheet of the page."""

from collections.abc import Iterable
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np
from markupsafe import Markup

from .marks import Band, Boxes, Cells, Line, Plot, Points, Rule, Stems
from .scales import LETTER, Frame, frame_of, height_of

NOTHING = Markup("")
SIZED = Markup('<text x="{:.1f}" y="{:.1f}" class="{}" style="font-size:{:.1f}px">{}</text>')
CROWD = 50  # dots, from which on they are drawn smaller


def draw_svg(plot: Plot, width: int = 460, height: int = 290, summary: str = "") -> Markup:
    """The figure as an inline SVG element, or a paragraph that says why there is none.

    `summary` replaces that of the figure for those who cannot see it.
    """
    plot = replace(plot, summary=summary or plot.summary)
    if plot.nothing:
        return Markup('<p class="nothing">{}</p>').format(plot.nothing)
    if isinstance(plot.marks[0], Cells):
        return _map(plot, plot.marks[0], width)
    height = height_of(plot, width, height)
    frame = frame_of(plot, width, height)
    parts = [
        _axes(frame),
        _text(width - 12, height - 6, plot.x_label, "label end"),
        _text(4, 13, plot.y_label, "label"),
        *(_write(mark, frame) for mark in plot.marks),
        _key(plot, frame),
    ]
    return _figure(plot, width, height, parts)


def _figure(plot: Plot, width: int, height: float, parts: list[Markup]) -> Markup:
    return Markup('<svg viewBox="0 0 {} {:.0f}" role="img" aria-label="{}">{}</svg>').format(
        width, height, f"{plot.title}. {plot.summary}".rstrip(". ") + ".", NOTHING.join(parts)
    )


def _text(x: float, y: float, text: str, role: str) -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" class="{}">{}</text>').format(x, y, role, text)


def _tip(text: str) -> Markup:
    return Markup("<title>{}</title>").format(text)


def _axes(frame: Frame) -> Markup:
    left, right, bottom, top = frame.x.start, frame.x.end, frame.y.start, frame.y.end
    grid = Markup('<path class="grid" d="M{:.0f} {:.1f}H{:.0f}"/>')
    parts = []
    for tick in frame.y_ticks:
        at = frame.y(tick.at)
        parts.append(grid.format(left, at, right))
        if frame.names_above:  # whole, so small if it must be
            size = min(12.0, 12 * (right - left) / (LETTER * max(len(tick.label), 1)))
            parts.append(SIZED.format(left + 4, at - 11, "row", size, tick.label))
        else:
            parts.append(_text(left - 6, at + 4, tick.label, "end"))
    parts += [_text(frame.x(t.at), bottom + 17, t.label, "middle") for t in frame.x_ticks]
    outline = Markup('<path class="axis" d="M{:.0f} {:.0f}V{:.0f}H{:.0f}"/>')
    return NOTHING.join([*parts, outline.format(left, top, bottom, right)])


def _key(plot: Plot, frame: Frame) -> Markup:
    """Names of the lines, in their colours, if there are several."""
    named = [mark for mark in plot.marks if isinstance(mark, Line) and mark.label]
    if len(named) < 2:
        return NOTHING
    x, parts = frame.x.end, []
    for mark in named:
        parts.append(_text(x, 13, mark.label, f"end key {mark.role}"))
        x -= LETTER * (len(mark.label) + 3)
    return NOTHING.join(parts)


def _map(plot: Plot, cells: Cells, width: int) -> Markup:
    """A square of cells with names at its left; shades below are its key."""
    ticks = plot.y_ticks or ()
    longest = max(len(tick.label) for tick in ticks)
    size, left, side = 12.0, 0.0, 0.0
    for _ in range(3):  # many names are written small, which leaves room for larger cells
        left = 12 + LETTER * longest * size / 12
        side = min((width - left - 4) / len(ticks), 34)
        size = min(12.0, 0.95 * side)
    cell = Markup('<rect x="{:.1f}" y="{:.1f}" fill-opacity="{:.2f}">{}</rect>')
    parts = []
    for i, (tick, tips) in enumerate(zip(ticks, cells.tips, strict=True)):
        role, y = "end chosen" if tick.chosen else "end", 4 + i * side
        parts.append(SIZED.format(left - 6, y + 0.5 * side + 0.35 * size, role, size, tick.label))
        for j, (value, tip) in enumerate(zip(cells.values[i], tips, strict=True)):
            parts.append(cell.format(left + j * side, y, np.sqrt(value), _tip(tip)))
    gap = 0.94 * side  # once, not in every cell
    style = Markup("<style>.cells rect{{width:{:.1f}px;height:{:.1f}px}}</style>").format(gap, gap)
    below = 4 + len(ticks) * side
    shade = Markup('<path class="shade" d="M{:.0f} {:.0f}h33v9h-33z" fill-opacity="{:.1f}"/>')
    shades = []
    for step in range(6):
        x = left + 36 * step
        shades.append(shade.format(x, below + 10, step / 5))
        shades.append(_text(x + 16, below + 33, f"{(step / 5) ** 2:.2g}", "middle"))
    group = Markup('<g class="cells">{}</g>').format(NOTHING.join(parts))
    return _figure(plot, width, below + 40, [style, group, *shades])


@singledispatch
def _write(mark: Any, frame: Frame) -> Markup:
    raise TypeError(f"{type(mark).__name__} is not a mark.")


@_write.register
def _(mark: Points, frame: Frame) -> Markup:
    places = list(zip(frame.x(mark.x), frame.y(mark.y), strict=True))
    if not mark.tips:  # dots of no length with round ends: a few bytes each
        path = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in places)
        return Markup('<path class="{}" d="{}"/>').format(mark.role, path)
    size, crowd = (2.5, " crowd") if len(places) > CROWD else (3.5, "")
    dot = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="{}">{}</circle>')
    pairs = zip(places, mark.tips, strict=True)
    dots = [dot.format(a, b, size, _tip(tip)) for (a, b), tip in pairs]
    return Markup('<g class="dot {}{}">{}</g>').format(mark.role, crowd, NOTHING.join(dots))


@_write.register
def _(mark: Line, frame: Frame) -> Markup:
    path = _through(frame.x(mark.x), frame.y(mark.y))
    return Markup('<path class="line {}" d="M{}"/>').format(mark.role, path)


@_write.register
def _(mark: Stems, frame: Frame) -> Markup:
    bar = Markup('<path d="M{:.1f} {:.1f}h{:.1f}V{:.1f}h-{:.1f}z">{}</path>')
    zero, wide = frame.y(0.0), min(0.8 * frame.x.step, 26.0)
    places = zip(frame.x(mark.x), frame.y(mark.y), mark.tips, strict=True)
    bars = [bar.format(x - wide / 2, zero, wide, y, wide, _tip(tip)) for x, y, tip in places]
    return Markup('<g class="bar {}">{}</g>').format(mark.role, NOTHING.join(bars))


@_write.register
def _(mark: Rule, frame: Frame) -> Markup:
    x, y = frame.x, frame.y
    if mark.vertical:
        at = x(mark.at)
        line = Markup('<path class="rule" d="M{:.1f} {:.0f}V{:.0f}"/>').format(at, y.start, y.end)
        # the text goes to the side that has room
        shift, role = (5, "") if at < (x.start + x.end) / 2 else (-5, "end")
        return line + _text(at + shift, y.end + 10, mark.label, role)
    at = y(mark.at)
    line = Markup('<path class="{}" d="M{:.0f} {:.1f}H{:.0f}"/>')
    text = _text(x.end - 2, at + (14 if mark.at < 0 else -5), mark.label, "end")
    return line.format(mark.role, x.start, at, x.end) + text


@_write.register
def _(mark: Boxes, frame: Frame) -> Markup:
    group = Markup('<g class="box"><path d="{}"/><path class="median" d="{}"/>{}</g>')
    along, across = (frame.x, frame.y) if mark.lying else (frame.y, frame.x)
    half = min(0.3 * across.step, 6.0 if mark.lying else 30.0)
    parts = []
    for i, (box, tip) in enumerate(zip(mark.quartiles, mark.tips, strict=True)):
        at = across(i)
        low, first, middle, third, high = along(box)
        lines = [
            [(first, -half), (first, half), (third, half), (third, -half)],
            [(first, 0.0), (low, 0.0)],
            [(third, 0.0), (high, 0.0)],
            [(middle, -half), (middle, half)],
        ]
        drawn = [_broken(line, at, mark.lying) for line in lines]
        parts.append(group.format(f"{drawn[0]}z{drawn[1]}{drawn[2]}", drawn[3], _tip(tip)))
    return NOTHING.join(parts)


def _broken(line: list[tuple[float, float]], at: float, lying: bool) -> str:
    """A line through points, each given by its value and its distance from the middle of a box."""
    along, off = np.array(line).T
    x, y = (along, at + off) if lying else (at + off, along)
    return f"M{_through(x, y)}"


@_write.register
def _(mark: Band, frame: Frame) -> Markup:
    x, (low, high) = frame.x(mark.x), frame.y(mark.y)
    path = _through([*x, *x[::-1]], [*low, *high[::-1]])
    return Markup('<path class="band {}" d="M{}z"/>').format(mark.role, path)


def _through(x: Iterable[float], y: Iterable[float]) -> str:
    return "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))
