"""Lists what was selected, or near misses where nothing was: names, numbers and figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..selection import Selection
from ..selection.annotations import called, first_annotation
from ..selection.pairs import pairs_of
from .marks import Plot, short
from .shapes import shape_plot
from .table import LABELS
from .words import say

HIDDEN = (  # columns for which there is no room, or that notes say better
    *("selected", "members", "credible_set", "probability", "status"),
    *("residual_variance", "theta", "theta_knockoff"),
)
OF_GROUPS = ("size", "least_alike")
MOST_OF_PANEL = 6  # features of the panel that are drawn
MOST_IN_LAYER = 12  # features of a layer that its section lists
MOST_MEANS = 4  # classes whose means fit beside all else; figures and files have those of more
OF_LAYERS = {  # columns that it shows of them
    "associated": (
        *("p_value_alone", "q_value_alone", "direction_alone"),
        *("higher_in_alone", "rising_outputs_alone", "effect_alone"),
    ),
    "own": ("p_value", "q_value_own", "direction", "effect", "p_value_alone"),
    "panel": (
        *("coefficient", "stability", "p_value_alone", "direction_alone"),
        *("higher_in_alone", "rising_outputs_alone", "effect_alone"),
    ),
}
OF_PAIRS = {  # heads of columns of pairs
    "feature": "feature",
    "partner": "partner",
    "p_value": "p of the pair",
    "q_value": "q-value of the pair",
    "direction": "direction of the pair",
    "share_explained": "share explained",
}
NAMED = ("higher_in", "rising_outputs")  # beside which one direction says little


@dataclass(frozen=True)
class Finding:
    """A finding or near miss: its name, its numbers in a line, a note, a figure."""

    name: str
    size: int
    numbers: str
    note: str
    plot: Plot


@dataclass(frozen=True)
class Listing:
    """A table as text: columns and their heads, whether each holds words, rows, how many more."""

    columns: list[str]
    heads: list[str]
    wordy: list[bool]
    rows: list[list[str]]
    more: int = 0


def listed(selection: Selection) -> list[Finding]:
    """Every finding, best first, or every near miss."""
    q = selection.table_columns()["q_value"]
    sizes = {k: 1 + len(o) for k, o in zip(selection.selected, selection.look_alikes, strict=True)}
    return [
        Finding(
            short(called(selection, k), 200),
            sizes.get(k, 1),
            _numbers(selection, k, q[k]),
            _note(selection, k) if k in sizes else "",
            shape_plot(selection, k),
        )
        for k in (list(sizes) or selection.near_miss_positions().tolist())
    ]


def panel_shapes(selection: Selection) -> list[Finding]:
    """The first features of the panel that are drawn nowhere else, each alone."""
    drawn = selection.selected if selection.selected.size else selection.near_miss_positions()
    shown = [k for k in selection.panel.features.tolist() if k not in drawn][:MOST_OF_PANEL]
    return [
        Finding(
            short(called(selection, k), 200),
            1,
            f"p alone {selection.alone.p[k]:.2g}",
            "",
            shape_plot(selection, k),
        )
        for k in shown
    ]


def _note(selection: Selection, k: int) -> str:
    """For which classes a finding speaks, its marginal association, its group and its partner."""
    said = (say(selection, what, k=k) for what in ("classes_of", "group_note", "together"))
    return " ".join(filter(None, said))


def _numbers(selection: Selection, k: int, q: float) -> str:
    """Score and q-value of a feature, and its relevance before and after adjusting."""
    numbers = f"{say(selection, 'score', k=k)}, q-value {q:.3g}"
    if not selection.unadjusted.size:
        return numbers
    before, after = selection.unadjusted[k], selection.relevance[k]
    return f"{numbers}, relevance {after:.2g} adjusted, {before:.2g} unadjusted"


def listing(selection: Selection) -> Listing:
    """Findings or near misses as a table, with whatever columns the selection gives them."""
    if selection.selected.size:
        frame, features = selection.findings(), selection.selected
    else:
        frame, features = selection.near_misses(), selection.near_miss_positions()
    left_out = {*HIDDEN, *(() if selection.n_groups else OF_GROUPS)}
    left_out |= {name for name in frame if "_alone" in name} - {"p_value_alone"}
    if len(selection.trends.labels) > MOST_MEANS:
        left_out |= {f"mean_{label}" for label in selection.trends.labels}
    left_out |= {*selection.annotations} - {first_annotation(selection)}
    if any(name in frame for name in NAMED):
        left_out.add("direction")
    if "partner" in frame and not any(frame["partner"]):
        left_out.add("partner")
    columns = {name: frame[name].tolist() for name in frame.columns if name not in left_out}
    if selection.unadjusted.size and "relevance" in columns:
        columns["relevance"] = columns.pop("relevance")  # last, and the unadjusted one beside it
        columns["relevance_unadjusted"] = selection.unadjusted[features].tolist()
    if selection.decision.rule == "e-values":
        columns["frequency"] = selection.frequency[features].tolist()
    return as_listing(columns)


def layer_listing(selection: Selection, layer: str) -> Listing:
    """The first features of a layer as a table: names, p-values, directions and effects."""
    frame = selection.findings(layer)
    shown: dict[str, list[Any]] = {"feature": frame["feature"][:MOST_IN_LAYER].tolist()}
    for name in (*filter(None, (first_annotation(selection),)), *OF_LAYERS[layer]):
        if name in frame:
            shown[name] = frame[name][:MOST_IN_LAYER].tolist()
    if any(f"{name}_alone" in shown for name in NAMED):
        del shown["direction_alone"]
    if "effect_alone" in shown:
        parts = (frame[f"effect_alone{end}"][:MOST_IN_LAYER] for end in ("", "_low", "_high"))
        shown["effect_alone"] = [
            f"{e:.2f} ({a:.2f} to {b:.2f})" for e, a, b in zip(*parts, strict=True)
        ]
    return as_listing(shown, max(0, len(frame) - MOST_IN_LAYER))


def pairs_listing(selection: Selection) -> Listing | None:
    """The first pairs that act together; nothing where no pair was tested."""
    if not pairs_of(selection).n_tested:
        return None
    frame = selection.findings("pairs")
    named = OF_PAIRS if any(frame["direction"]) else {**OF_PAIRS, "direction": ""}
    columns = {head: frame[name][:MOST_IN_LAYER].tolist() for name, head in named.items() if head}
    return as_listing(columns, max(0, len(frame) - MOST_IN_LAYER))


def sets_listing(selection: Selection) -> Listing:
    """Credible sets of the selected groups: a row per effect, members with probabilities."""
    rows = zip(selection.selected.tolist(), selection.carriers, strict=True)
    groups = [(k, one) for k, one in rows if len(one.members) > 1][:MOST_IN_LAYER]
    columns: dict[str, list[Any]] = {"group of": [], "members": [], "credible set": []}
    for k, one in groups:
        for some in one.sets:
            columns["group of"].append(selection.names[k])
            columns["members"].append(len(one.members))
            said = say(selection, "with_probabilities", carriers=one, some=some)
            columns["credible set"].append(said)
    return as_listing(columns)


def groups_listing(selection: Selection) -> Listing | None:
    """The groups that were given with their bounds, the largest first; nothing without any."""
    if selection.settings.get("feature_groups") is None:
        return None
    order = ["at_least_associated", "size"]
    table = selection.groups().sort_values(order, ascending=[False, True], kind="stable")
    names = ("representative", "size", "at_least_associated", "q_value")
    columns = {name: table[name][:MOST_IN_LAYER].tolist() for name in names}
    return as_listing(columns, max(0, len(table) - MOST_IN_LAYER))


def as_listing(columns: dict[str, list[Any]], more: int = 0) -> Listing:
    """Columns as a table of text, with heads in words."""
    return Listing(
        [*columns],
        [LABELS.get(name, name.replace("_", " ")) for name in columns],
        [any(isinstance(value, str) for value in values) for values in columns.values()],
        [[_written(value) for value in row] for row in zip(*columns.values(), strict=True)],
        more,
    )


def _written(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if value == value else ""
    return short(value, 200) if isinstance(value, str) else str(value)
