"""Defines Plot, a figure as a list of marks that matplotlib and the web page both know to draw."""

import re
from dataclasses import dataclass
from typing import TypeAlias

from ..types import Matrix, Vector

# controls, what no encoding can hold, and what turns the direction of the text around it
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True, eq=False)
class Placed:
    """Values at places on two axes, drawn in the colour of a role."""

    x: Vector
    y: Matrix
    role: str


@dataclass(frozen=True)
class Points(Placed):
    """Dots; with `tips`, a text for each that appears when it is pointed at."""

    tips: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line(Placed):
    """A line through points."""

    label: str = ""


@dataclass(frozen=True)
class Stems(Placed):
    """Bars from zero."""

    tips: tuple[str, ...]


class Band(Placed):
    """An area between two lines: `y` holds the lower and the upper one."""


class Intervals(Placed):
    """An upright line at each place: `y` holds the lower and the upper ends."""


@dataclass(frozen=True)
class Rule:
    """A line across the figure that others are compared with."""

    at: float
    label: str
    role: str = "rule"
    vertical: bool = False


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes at x = 0, 1, ..., or at y if `lying`; rows are 10%, 25%, 50%, 75% and 90% points."""

    quartiles: Matrix
    tips: tuple[str, ...]
    lying: bool = False


@dataclass(frozen=True, eq=False)
class Cells:
    """A square of cells shaded by the root of `values` in [0, 1], row 0 at the top."""

    values: Matrix
    tips: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Tiles:
    """A grid of tiles at x = 0, 1, ... and y = 0, 1, ..., row 0 at the bottom.

    `shades` in [-1, 1] are those of two colours, one below 0 and one above, and 0 is blank. In each
    tile stands a text, nothing for a tile without a value, and a smaller note.
    """

    shades: Matrix
    texts: tuple[tuple[str, ...], ...]
    notes: tuple[tuple[str, ...], ...]
    tips: tuple[tuple[str, ...], ...]


Mark: TypeAlias = Points | Line | Stems | Rule | Boxes | Band | Intervals | Cells | Tiles


@dataclass(frozen=True)
class Tick:
    """A place on an axis with a name; `chosen` names stand out."""

    at: float
    label: str
    chosen: bool = False


@dataclass(frozen=True)
class Plot:
    """A figure: marks between two axes, or `nothing`, which says why there is nothing to draw.

    A symlog axis is linear up to the size `x_symlog` or `y_symlog` on both sides of zero and
    logarithmic beyond; 0 is a plain one. `summary` describes it for those who cannot see it.
    """

    title: str
    x_label: str = ""
    y_label: str = ""
    marks: tuple[Mark, ...] = ()
    nothing: str = ""
    x_log: bool = False
    x_ticks: tuple[Tick, ...] | None = None
    y_ticks: tuple[Tick, ...] | None = None
    x_limits: tuple[float, float] | None = None
    y_limits: tuple[float, float] | None = None
    x_symlog: float = 0.0
    y_symlog: float = 0.0
    summary: str = ""


def short(name: str, length: int = 40) -> str:
    """A name that cannot upset the text around it: cut, without controls, isolated if need be."""
    clean = _UNPRINTABLE.sub("\ufffd", name[: length + 1])
    return cut(clean if clean.isascii() else f"\u2068{clean}\u2069", length)


def cut(label: str, length: int) -> str:
    """A label of `short` cut further, its isolation kept."""
    bare = label.strip("\u2068\u2069")
    return label if len(bare) <= length else f"\u2068{bare[: length - 1]}…\u2069"
