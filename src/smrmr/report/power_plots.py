"""Figures of power: against the strength of planted effects, and against the number of rows."""

from collections.abc import Iterable, Sequence

import numpy as np

from ..power.account import CHANCE, LAYERS, SamplePlan, TableCheck, Trials, layer_of, ratio_of
from ..power.words import SHORT, as_ratio, forms_tried, percent, smallest_effect, written
from ..selection import Selection
from ..settings import check_choice
from .marks import Band, Intervals, Line, Mark, Plot, Points, Rule, Tick
from .shapes import PERCENTS

ROLES = (("main", "selected"), ("bound", "negative"), ("other", "other"))  # of lines and dots
LETTERS = 55  # that the names of places have room for
MARGIN = 1.2  # factor beyond the first and last of them
APART = 1.03  # factor between places of curves, so that their intervals do not hide each other
FIGURE = "Power by strength"


def power_plot(selection: Selection) -> Plot:
    """Power against the strength of effects, if it was measured on the table of a selection."""
    if selection.table_check is None:
        said = "Power was not measured on this table; selection.check(X, y) measures it."
        return Plot(FIGURE, nothing=said)
    return check_plot(selection.table_check)


def check_plot(check: TableCheck, layer: str = "") -> Plot:
    """Power against the strength of effects: a line for each form; of one, the smallest found."""
    marks, said = list[Mark](), list[str]()
    shown = [form for form in forms_tried(check) if _is_about(layer, form)]
    for i, form in enumerate(shown):
        cells = [c for c, cell in enumerate(check.cells) if cell.form == form]
        cells.sort(key=lambda c: check.cells[c].share)
        places = [check.cells[c].share for c in cells]
        marks += _curve(check, cells, places, layer, (i, len(shown)), SHORT[form])
        said.append(smallest_effect(check, form, layer))
        at = check.smallest(form, layer=layer).at
        if np.isfinite(at) and len(shown) == 1:
            marks.append(Rule(at, f"{percent(CHANCE)} at {percent(at)}", vertical=True))
    what = "variance explained by each effect"
    label = f"{what} ({check.ratio})" if check.ratio else what
    title = f"Power with {check.cells[0].n_rows:,} rows"
    return _plot(title, label, marks, _strengths(check), " ".join(said), layer)


def plan_plot(plan: SamplePlan, layer: str = "") -> Plot:
    """Power against the number of rows: a line for each planted effect, the pilot marked."""
    marks, sizes = list[Mark](), {cell.n_rows for cell in plan.cells}
    shown = [one for one in plan.effects() if _is_about(layer, one[0])]
    for i, (form, share, n_effects) in enumerate(shown):
        cells = [c for c, cell in enumerate(plan.cells) if (cell.form, cell.share) == (form, share)]
        cells.sort(key=lambda c: plan.cells[c].n_rows)
        places = [float(plan.cells[c].n_rows) for c in cells]
        label = f"{SHORT[form]}, {percent(share)} of the variance"
        if plan.ratio:
            label += f" ({plan.ratio} {ratio_of(plan.target, share, n_effects):.1f})"
        needed = plan.rows_needed(form, share, layer=layer)
        if np.isfinite(needed.at):
            label += f": {percent(CHANCE)} with {needed.at:,.0f} rows"
            label += " or fewer" if needed.first else ""
        marks += _curve(plan, cells, places, layer, (i, len(shown)), label)
    if plan.n_pilot and marks:
        marks.append(Rule(plan.n_pilot, f"pilot: {plan.n_pilot:,} rows", vertical=True))
        sizes.add(plan.n_pilot)
    ticks = [Tick(float(n), f"{n:,}") for n in sorted(sizes)]
    return _plot("Power by number of rows", "number of rows", marks, ticks, str(plan), layer)


def _is_about(layer: str, form: str) -> bool:
    """Whether effects of a form can be found in a layer; "" is that which is made for them."""
    if layer:
        check_choice("layer", layer, LAYERS)
    return layer != "pairs" or layer_of(form) == "pairs"


def _curve(
    trials: Trials,
    cells: Iterable[int],
    places: Iterable[float],
    layer: str,
    which: tuple[int, int],
    label: str,
) -> list[Mark]:
    """Power at some places, with its intervals, as far as it was measured.

    `which` is the number of the curve, of how many; several stand a little apart.
    """
    known = []
    for c, at in zip(cells, places, strict=True):
        cell = trials.cells[c]
        rate = trials.power(c, layer or layer_of(cell.form))
        if rate.n:
            strength = percent(cell.share) + as_ratio(trials, cell.share, cell.form, cell.n_effects)
            about = f"{SHORT[cell.form]}, {strength}, {cell.n_rows:,} rows"
            known.append((at, rate, f"{about}: power {written(rate)}, {rate.n} fits"))
    if not known:
        return []
    i, n = which
    x = np.array([at for at, _, _ in known]) * APART ** (i - (n - 1) / 2)
    y = np.array([(rate.low, rate.mean, rate.high) for _, rate, _ in known]).T
    tips = tuple(tip for *_, tip in known)
    line, dot = ROLES[i % len(ROLES)]
    around = Band(x, y[[0, 2]], line) if n == 1 else Intervals(x, y[[0, 2]], line)
    return [around, Line(x, y[1], line, label), Points(x, y[1], dot, tips)]


def _strengths(check: TableCheck) -> list[Tick]:
    """Strengths that were planted, with the odds or hazard ratio where all forms have the same."""
    ticks = list[Tick]()
    for share in sorted({cell.share for cell in check.cells if cell.form}):
        numbers = {cell.n_effects for cell in check.cells if cell.share == share}
        label = percent(share)
        if check.ratio and len(numbers) == 1:
            label += f" ({ratio_of(check.target, share, numbers.pop()):.1f})"
        ticks.append(Tick(share, label))
    return ticks


def _plot(
    title: str, x_label: str, marks: list[Mark], ticks: list[Tick], summary: str, layer: str
) -> Plot:
    if not marks:
        return Plot(title, nothing=f"No effects were planted in the layer {layer or 'signals'}.")
    low, high = ticks[0].at / MARGIN, ticks[-1].at * MARGIN
    return Plot(
        title,
        x_label,
        f"effects found ({layer or 'power'})",
        (Rule(CHANCE, percent(CHANCE)), *marks),
        x_log=True,
        x_ticks=_with_room(ticks, low, high),
        x_limits=(low, high),
        y_ticks=PERCENTS,
        y_limits=(0.0, 1.14),  # above 100% stand names of upright lines
        summary=summary,
    )


def _with_room(ticks: Sequence[Tick], low: float, high: float) -> tuple[Tick, ...]:
    """Those ticks whose names do not run into that of the one before."""
    named = [*ticks[:1]]
    for tick in ticks[1:]:
        apart = LETTERS * np.log(tick.at / named[-1].at) / np.log(high / low)
        if apart >= 1 + (len(tick.label) + len(named[-1].label)) / 2:
            named.append(tick)
    return tuple(named)
