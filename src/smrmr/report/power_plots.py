"""Figures of power: against the strength of planted effects, and against the number of rows."""

from collections.abc import Iterable

import numpy as np

from ..power.account import CHANCE, LAYERS, SamplePlan, TableCheck, Trials, layer_of, ratio_of
from ..power.words import as_ratio, percent, smallest_effect, written
from ..selection import Selection
from ..settings import check_choice
from .marks import Band, Line, Mark, Plot, Points, Rule, Tick
from .shapes import PERCENTS

SHORT = {"line": "linear", "bend": "U-shaped", "pair": "interaction"}  # forms, in a word
ROLES = (("main", "selected"), ("bound", "negative"), ("other", "other"))  # of lines and dots
LETTERS = 55  # that the names of places have room for
MARGIN = 1.2  # factor beyond the first and last of them
TITLE = "Power on this table"


def power_plot(selection: Selection) -> Plot:
    """Power against the strength of effects, if it was measured on the table of a selection."""
    if selection.table_check is None:
        said = "Power was not measured on this table; selection.check(X, y) measures it."
        return Plot(TITLE, nothing=said)
    return check_plot(selection.table_check)


def check_plot(check: TableCheck, layer: str = "") -> Plot:
    """Power against the strength of effects: a line for each form, the smallest found marked."""
    marks, said = list[Mark](), list[str]()
    shown = [form for form in check.forms if _is_about(layer, form)]
    for form, (role, dot) in zip(shown, ROLES, strict=False):
        cells = [c for c, cell in enumerate(check.cells) if cell.form == form]
        cells.sort(key=lambda c: check.cells[c].share)
        places = [check.cells[c].share for c in cells]
        marks += _curve(check, cells, places, layer, (role, dot), SHORT[form])
        said.append(smallest_effect(check, form, layer))
        at = check.smallest(form, layer=layer).at
        if np.isfinite(at) and len(shown) == 1:
            marks.append(Rule(at, f"{percent(CHANCE)} at {percent(at)}", vertical=True))
        elif np.isfinite(at):
            marks.append(Line(np.array([at, at]), np.array([0.0, CHANCE]), role))
            marks.append(Points(np.array([at]), np.array([CHANCE]), dot, (said[-1],)))
    what = "share of variance explained"
    label = f"{what} ({check.ratio})" if check.ratio else what
    return _plot(TITLE, label, marks, _strengths(check), " ".join(said), layer)


def plan_plot(plan: SamplePlan, layer: str = "") -> Plot:
    """Power against the number of rows: a line for each planted effect, the pilot marked."""
    marks, sizes = list[Mark](), {cell.n_rows for cell in plan.cells}
    shown = [one for one in plan.effects() if _is_about(layer, one[0])]
    for i, (form, share, n_effects) in enumerate(shown):
        cells = [c for c, cell in enumerate(plan.cells) if (cell.form, cell.share) == (form, share)]
        cells.sort(key=lambda c: plan.cells[c].n_rows)
        places = [float(plan.cells[c].n_rows) for c in cells]
        label = f"{SHORT[form]}, {percent(share)}"
        if plan.ratio:
            label += f" ({plan.ratio} {ratio_of(plan.target, share, n_effects):.1f})"
        marks += _curve(plan, cells, places, layer, ROLES[i % len(ROLES)], label)
    if plan.n_pilot and marks:
        marks.append(Rule(plan.n_pilot, f"pilot, {plan.n_pilot:,} rows", vertical=True))
        sizes.add(plan.n_pilot)
    ticks = [Tick(float(n), f"{n:,}") for n in sorted(sizes)]
    return _plot("Power by number of rows", "rows", marks, ticks, str(plan), layer)


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
    roles: tuple[str, str],
    label: str,
) -> list[Mark]:
    """Power at some places, with its interval, as far as it was measured."""
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
    x = np.array([at for at, _, _ in known])
    y = np.array([(rate.low, rate.mean, rate.high) for _, rate, _ in known]).T
    tips = tuple(tip for *_, tip in known)
    line, dot = roles
    return [Band(x, y[[0, 2]], line), Line(x, y[1], line, label), Points(x, y[1], dot, tips)]


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
    named = ticks[:1]
    for tick in ticks[1:]:
        apart = LETTERS * np.log(tick.at / named[-1].at) / np.log(high / low)
        if apart >= 1 + (len(tick.label) + len(named[-1].label)) / 2:
            named.append(tick)
    return Plot(
        title,
        x_label,
        f"power ({layer})" if layer else "power",
        (Rule(CHANCE, percent(CHANCE)), *marks),
        x_log=True,
        x_ticks=tuple(named),
        x_limits=(low, high),
        y_ticks=PERCENTS,
        y_limits=(0.0, 1.04),
        summary=summary,
    )
