"""Places the values of a Plot on a page: scales, limits and round numbers on the axes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .marks import Boxes, Plot, Tick, Tiles

LETTER = 6.8  # room for one letter, in the units of the page
ROOM_ABOVE = 28
ROOM_BELOW = 40
MARGIN = 12
ROW = 22  # room for a named row
TALL_ROW = 36  # room for one whose name stands above it
TILE = 44  # height of a tile
WIDEST_NAMES = 0.4  # of a figure: names of rows that take more stand above their rows


@dataclass(frozen=True)
class Scale:
    """Turns data values into positions between `start` and `end`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    symlog: float = 0.0

    def __call__(self, values: Any) -> Any:
        """Position of a value, or positions of an array of them."""
        low, high = self._placed(self.low), self._placed(self.high)
        share = (self._placed(values) - low) / ((high - low) or 1.0)
        return self.start + share * (self.end - self.start)

    @property
    def step(self) -> float:
        """Room that one unit of the data takes, on a linear scale."""
        return abs((self.end - self.start) / (self.high - self.low))

    def _placed(self, values: Any) -> Any:
        if self.symlog:
            return np.arcsinh(np.asarray(values) / self.symlog)
        return np.log10(values) if self.log else values


@dataclass(frozen=True)
class Frame:
    """The two scales of a figure and what is written along them, names of rows above if so."""

    x: Scale
    y: Scale
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    names_above: bool = False


def frame_of(plot: Plot, width: int, height: int) -> Frame:
    """Scales that hold all marks, with as many numbers as there is room for."""
    x_low, x_high = plot.x_limits or _limits(plot, "x")
    y_low, y_high = plot.y_limits or _limits(plot, "y")
    y_ticks = plot.y_ticks or _numbers(y_low, y_high, height // 35, plot.y_symlog)
    x_ticks = plot.x_ticks or _numbers(x_low, x_high, width // 70, plot.x_symlog, plot.x_log)
    above = names_above(plot, width)
    left = MARGIN + LETTER * (0 if above else max((len(t.label) for t in y_ticks), default=0))
    x = Scale(x_low, x_high, left, width - MARGIN, plot.x_log, plot.x_symlog)
    y = Scale(y_low, y_high, height - ROOM_BELOW, ROOM_ABOVE, symlog=plot.y_symlog)
    return Frame(x, y, x_ticks, y_ticks, above)


def names_above(plot: Plot, width: int) -> bool:
    """Whether names of rows are too long to stand at their left."""
    return (
        LETTER * max((len(t.label) for t in plot.y_ticks or ()), default=0) > WIDEST_NAMES * width
    )


def height_of(plot: Plot, width: int, height: int) -> int:
    """Height of a figure: that of its tiles, else more than `height` if many rows have names."""
    if tiles := [mark for mark in plot.marks if isinstance(mark, Tiles)]:
        return ROOM_ABOVE + ROOM_BELOW + TILE * len(tiles[0].shades)
    row = TALL_ROW if names_above(plot, width) else ROW
    return max(height, ROOM_ABOVE + ROOM_BELOW + row * len(plot.y_ticks or ()))


def _numbers(
    low: float, high: float, count: int, symlog: float, log: bool = False
) -> tuple[Tick, ...]:
    if symlog:
        return symlog_ticks(low, high, count, symlog)
    return (log_ticks if log else nice_ticks)(low, high, count)


def nice_ticks(low: float, high: float, count: int) -> tuple[Tick, ...]:
    """At most `count` or so round numbers between two.

    >>> [tick.label for tick in nice_ticks(-0.11, 0.42, 4)]
    ['0', '0.2', '0.4']
    """
    rough = (high - low) / max(count, 1) or 1.0
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= 0.999 * rough)
    places = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step
    # zero comes out as 1e-17 or -0 at times
    return tuple(Tick(float(at), f"{0.0 if abs(at) < step / 2 else at:.6g}") for at in places)


def log_ticks(low: float, high: float, count: int) -> tuple[Tick, ...]:
    """Powers of ten between two numbers, with 2 and 5 times them if there is room.

    >>> [tick.label for tick in log_ticks(0.8, 25_000, 6)]
    ['1', '10', '100', '1000', '10,000']
    """
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    places: list[float] = []
    for factors in ((1, 2, 5), (1, 3), (1,)):
        places = [float(f * p) for p in powers for f in factors if low <= f * p <= high]
        if len(places) <= count:
            break
    return tuple(Tick(at, f"{at:g}" if at < 1e4 else f"{at:,.0f}") for at in places)


def symlog_ticks(low: float, high: float, count: int, symlog: float) -> tuple[Tick, ...]:
    """Zero and powers of ten on both sides of it, as many as there is room for.

    >>> [tick.label for tick in symlog_ticks(-20, 20_000, 4, 1.0)]
    ['-10', '0', '10', '1000']
    """
    powers = symlog * 10.0 ** np.arange(0, 1 + np.log10(max(-low, high, symlog) / symlog))
    for every in range(1, len(powers) + 1):
        sizes = powers[every - 1 :: every]
        places = [p for p in (*-sizes[::-1], 0.0, *sizes) if low <= p <= high]
        if len(places) <= count + 1:
            break
    return tuple(Tick(float(at), f"{at:g}" if abs(at) < 1e4 else f"{at:,.0f}") for at in places)


def _limits(plot: Plot, axis: str) -> tuple[float, float]:
    """Range of all marks, with a margin."""
    if axis == "x" and plot.x_ticks is not None:
        return -0.6, len(plot.x_ticks) - 0.4
    found = [getattr(mark, axis) for mark in plot.marks if hasattr(mark, axis)]
    boxes = [mark for mark in plot.marks if isinstance(mark, Boxes)]
    found += [box.quartiles for box in boxes if box.lying == (axis == "x")]
    low = min(float(np.min(values)) for values in found)
    high = max(float(np.max(values)) for values in found)
    if axis == "x" and plot.x_log:
        return low / 1.15, high * 1.15
    symlog = plot.x_symlog if axis == "x" else plot.y_symlog
    if symlog:  # the margin is one of what is seen
        low, high = float(np.arcsinh(low / symlog)), float(np.arcsinh(high / symlog))
    margin = 0.06 * (high - low) or abs(high) or 1.0
    low, high = low - margin, high + margin
    return (symlog * float(np.sinh(low)), symlog * float(np.sinh(high))) if symlog else (low, high)
