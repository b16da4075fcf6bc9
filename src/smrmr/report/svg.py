"""Writes a Plot as SVG whose colours come from the style sheet of the page."""

from typing import Any

from markupsafe import Markup

from .marks import Cells, Line, Plot
from .scales import LETTER, frame_of, height_of
from .words import environment

CROWD = 50  # dots, from which on they are drawn smaller


def draw_svg(plot: Plot, width: int = 460, height: int = 290, summary: str = "") -> Markup:
    """The figure as an inline SVG element, or a paragraph that says why there is none.

    `summary` replaces that of the figure for those who cannot see it.
    """
    if plot.nothing:
        return Markup('<p class="nothing">{}</p>').format(plot.nothing)
    said = f"{plot.title}. {summary or plot.summary}".rstrip(". ") + "."
    shared = {"plot": plot, "width": width, "summary": said, "letter": LETTER}
    if isinstance(plot.marks[0], Cells):
        return _drawn(**shared, **_places(plot, width), cells=plot.marks[0])
    height = height_of(plot, width, height)
    frame = frame_of(plot, width, height)
    lines = [mark for mark in plot.marks if isinstance(mark, Line) and mark.label]
    return _drawn(**shared, height=height, frame=frame, lines=lines, crowd=CROWD, cells=None)


def _drawn(**known: Any) -> Markup:
    figure = environment(autoescape=True).get_template("figure.svg")
    text = figure.render(zip=zip, kind=lambda mark: type(mark).__name__, **known)
    return Markup(text.strip())


def _places(plot: Plot, width: int) -> dict[str, float]:
    """Where the cells of a map begin, their size and that of names, and what lies below."""
    ticks = plot.y_ticks or ()
    longest = max(len(tick.label) for tick in ticks)
    size, left, side = 12.0, 0.0, 0.0
    for _ in range(3):  # many names are written small, which leaves room for larger cells
        left = 12 + LETTER * longest * size / 12
        side = min((width - left - 4) / len(ticks), 34)
        size = min(12.0, 0.95 * side)
    below = 4 + len(ticks) * side
    return {"left": left, "side": side, "size": size, "below": below, "height": below + 40}
