"""Figures of the layers of an answer, whatever the controller."""

import numpy as np

from ..selection import Selection
from ..selection.tables import alone_columns
from ..types import Indices
from .features import Figures, by_role
from .marks import Band, Line, Mark, Plot, Points, Rule, Tick, short
from .power_plots import power_plot

MOST_DOTS = 600
MOST_NAMES = 40  # of features in a panel that fit beside a figure
MOST_SETS = 12  # credible sets that are drawn


def associated_plot(selection: Selection) -> Plot:
    """Effect of every feature alone against its p-value; those associated and selected marked."""
    title, layer = "Every feature alone", selection.layer("associated")
    known = layer.tested[np.argsort(layer.p_values[layer.tested], kind="stable")]
    rest = known[MOST_DOTS // 2 :]  # of the less associated some stand for all
    step = max(1, -(-len(rest) // (MOST_DOTS // 2)))
    drawn = np.concatenate([known[: MOST_DOTS // 2], rest[::step]])
    columns = alone_columns(selection, drawn)
    x, y = columns["effect_alone"], -np.log10(columns["p_value_alone"]) + 0.0
    chosen, found = selection.support[drawn], selection.associated[drawn]
    roles = {"other": ~chosen & ~found, "kept": found & ~chosen, "selected": chosen}
    tips = [
        f"{short(selection.names[k])}: p alone {p:.2g}, effect alone {effect:.2f}"
        for k, p, effect in zip(drawn, columns["p_value_alone"], x, strict=True)
    ]
    marks: list[Mark] = by_role(Points, x, y, tips, roles)
    if found.any():
        cut = float(-np.log10(layer.p_values[layer.features].max()) + 0.0)
        marks.append(Rule(cut, f"associated from p = {10**-cut:.2g} down"))
    size = max(0.1, 1.08 * float(np.abs(x).max()))
    top = max(1.0, 1.08 * float(y.max()))
    return Plot(
        title,
        "effect alone (correlation)",
        "-log10 of p alone",
        tuple(marks),
        x_limits=(-size if x.min() < 0 else 0.0, size),
        y_limits=(0.0, top),
    )


def carriers_plot(selection: Selection) -> Plot:
    """Probability of every member of selected groups that it carries the effect."""
    title = "Who carries the effect of a group"
    groups = [one for one in selection.carriers if len(one.members) > 1][:MOST_SETS]
    if not groups:
        return Plot(title, nothing="No group of look-alikes is selected.")
    x, y, tips, inside = list[float](), list[float](), list[str](), list[bool]()
    for row, one in enumerate(groups):
        sets = np.concatenate(one.sets)
        for k, probability in zip(one.members.tolist(), one.probabilities, strict=True):
            x.append(probability)
            y.append(float(row))
            inside.append(k in sets)
            tips.append(f"{short(selection.names[k])}: probability {probability:.2f}")
    mask = np.array(inside)
    roles = {"other": ~mask, "selected": mask}
    labels = [_set_label(selection, one.sets, len(one.members)) for one in groups]
    return Plot(
        title,
        "probability to carry the effect",
        "",
        tuple(by_role(Points, np.array(x), np.array(y), tips, roles)),
        x_limits=(-0.02, 1.04),
        y_ticks=tuple(Tick(float(i), label) for i, label in enumerate(labels)),
        y_limits=(len(groups) - 0.4, -0.6),
    )


def _set_label(selection: Selection, sets: tuple[Indices, ...], size: int) -> str:
    lead = short(selection.names[int(sets[0][0])], 24)
    return f"{lead}: {sum(map(len, sets))} of {size}"


def panel_plot(selection: Selection) -> Plot:
    """Score of panels by size, beside chance and all associated features; or coefficients."""
    panel = selection.panel
    if not len(panel.features):
        return Plot("The panel", nothing="No feature is associated alone.")
    if panel.accuracy is None:
        return _coefficients_plot(selection)
    found = panel.accuracy
    x, y = found.sizes.astype(np.float64), found.scores
    tips = [
        f"{size} features: {found.measure} {score:.3f}, standard error {error:.3f}"
        for size, score, error in zip(found.sizes, y, found.errors, strict=True)
    ]
    taken = found.sizes == found.size
    band = Band(x, np.stack([y - found.errors, y + found.errors]), "main")
    marks: list[Mark] = [band, Line(x, y, "main")]
    marks += by_role(Points, x, y, tips, {"kept": ~taken, "selected": taken})
    marks += [Rule(found.all_associated, "all associated"), Rule(found.chance, "chance", "mirror")]
    ends = [*(y - found.errors), *(y + found.errors), found.all_associated, found.chance]
    margin = 0.08 * (max(ends) - min(ends)) or 0.1
    return Plot(
        "How well panels of each size predict",
        "features in the panel",
        f"{found.measure} on samples left out",
        tuple(marks),
        x_limits=(0.0, float(x.max()) + 1.0),
        y_limits=(min(ends) - margin, max(ends) + margin),
    )


def _coefficients_plot(selection: Selection) -> Plot:
    features, theta = selection.panel.features, selection.panel.theta
    tips = tuple(
        f"{short(selection.names[k])}: coefficient {size:.3g}"
        for k, size in zip(features, theta, strict=True)
    )
    at = np.arange(len(features), dtype=np.float64)
    names = [short(selection.names[k], 24) for k in features]
    named = tuple(Tick(place, name) for place, name in zip(at, names, strict=True))
    return Plot(
        "The panel, in its order",
        "coefficient",
        "" if len(features) <= MOST_NAMES else "rank in the panel",
        (Points(theta, at, "selected", tips),),
        x_limits=(0.0, 1.08 * float(theta.max())),
        y_ticks=named if len(features) <= MOST_NAMES else None,
        y_limits=(len(features) - 0.4, -0.6),
    )


OF_LAYERS: Figures = {
    "associated": associated_plot,
    "carriers": carriers_plot,
    "panel": panel_plot,
    "power": power_plot,
}
