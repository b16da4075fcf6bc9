"""Describes features in figures: what is told of each, and how relevant they are."""

import numpy as np

from ..selection import Selection
from ..types import Indices, Mask, Vector
from .marks import Line, Mark, Plot, Points, Stems, short
from .words import say

MOST_DOTS = 300


def about(selection: Selection, k: int) -> str:
    """A feature in a line: what became of it, and its numbers."""
    return (
        f"{short(selection.names[k])}: {selection.outcome(k)}, {say(selection, 'score', k=k)}, "
        f"q-value {selection.q_values[k]:.3g}, relevance {selection.relevance[k]:.3g}"
    )


def by_role(
    kind: type[Points | Stems], x: Vector, y: Vector, tips: list[str], roles: dict[str, Mask]
) -> list[Mark]:
    """A mark for each role that some of the places have."""
    return [
        kind(x[mask], y[mask], role, tuple(tips[i] for i in np.flatnonzero(mask)))
        for role, mask in roles.items()
        if mask.any()
    ]


def relevance_by_rank(selection: Selection, marked: Indices) -> Plot:
    """Relevance of every feature by rank; the selected and some others marked."""
    relevance = selection.relevance
    order = np.argsort(-relevance, kind="stable")
    rank = np.empty(len(order))
    rank[order] = np.arange(1, len(order) + 1)
    some = np.unique(np.geomspace(1, len(order), 300).round())
    height = relevance[order[some.astype(np.intp) - 1]]
    marks: list[Mark] = [Line(some, height, "other", "all features")]
    marked = np.setdiff1d(marked, selection.selected)
    marked = marked[np.argsort(-relevance[marked], kind="stable")][:MOST_DOTS]
    for features, role in ((marked, "kept"), (selection.selected[:MOST_DOTS], "selected")):
        if features.size:
            tips = tuple(about(selection, k) for k in features)
            marks.append(Points(rank[features], relevance[features], role, tips))
    return Plot(
        "Relevance of every feature",
        "rank",
        "association with the target",
        tuple(marks),
        x_log=True,
        x_limits=(0.8, max(2.0, 1.25 * len(order))),
        y_limits=(0.0, float(relevance.max()) * 1.08 or 1.0),
    )
