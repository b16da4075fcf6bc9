"""Lists what was found, or the leads where nothing was: names, numbers and figures of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..selection import Selection
from .marks import Plot, short
from .shapes import shape_plot
from .table import LABELS
from .words import say

LISTS = ("selected", "members", "may_carry_it", "left", "status")  # columns that texts tell better
OF_GROUPS = ("size", "least_alike")


@dataclass(frozen=True)
class Finding:
    """A finding or lead: its name, its numbers in a line, what it stands for, and its figure."""

    name: str
    size: int
    numbers: str
    note: str
    plot: Plot


@dataclass(frozen=True)
class Listing:
    """A table as text: heads, whether each holds words, and rows."""

    heads: list[str]
    wordy: list[bool]
    rows: list[list[str]]


def listed(selection: Selection) -> list[Finding]:
    """Every finding, best first, or every lead."""
    q = selection.columns()["q_value"]
    sizes = {k: 1 + len(o) for k, o in zip(selection.selected, selection.look_alikes, strict=True)}
    return [
        Finding(
            short(selection.names[k], 200),
            sizes.get(k, 1),
            _numbers(selection, k, q[k]),
            say(selection, "stands_for", k=k) if k in sizes else "",
            shape_plot(selection, k),
        )
        for k in (list(sizes) or selection.lead_positions().tolist())
    ]


def _numbers(selection: Selection, k: int, q: float) -> str:
    """Score and q-value of a feature, and its relevance before and after adjusting."""
    told = f"{say(selection, 'score', k=k)}, q-value {q:.3g}"
    if selection.unadjusted.size:
        told += (
            f", relevance {selection.relevance[k]:.2g} adjusted, {selection.unadjusted[k]:.2g} raw"
        )
    return told


def listing(selection: Selection) -> Listing:
    """Findings or leads as a table, with whatever columns the selection gives them."""
    if selection.selected.size:
        frame, features = selection.findings(), selection.selected
    else:
        frame, features = selection.leads(), selection.lead_positions()
    left_out = LISTS if selection.n_groups else LISTS + OF_GROUPS
    columns = {name: frame[name].tolist() for name in frame.columns if name not in left_out}
    if selection.unadjusted.size and "relevance" in columns:
        columns["relevance"] = columns.pop("relevance")  # last, and the raw one beside it
        columns["relevance_unadjusted"] = selection.unadjusted[features].tolist()
    if selection.decision.rule == "e-values":
        columns["frequency"] = selection.frequency[features].tolist()
    return Listing(
        [LABELS.get(name, name.replace("_", " ")) for name in columns],
        [any(isinstance(value, str) for value in values) for values in columns.values()],
        [[_written(value) for value in row] for row in zip(*columns.values(), strict=True)],
    )


def _written(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if value == value else ""
    return short(value, 200) if isinstance(value, str) else str(value)
