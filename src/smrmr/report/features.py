"""Figures of every selection: how relevant and how redundant features are."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from ..selection import Selection
from ..types import Indices, Mask, Matrix, Vector
from .marks import Cells, Line, Mark, Plot, Points, Stems, Tick, short
from .words import say

MOST_DOTS = 300
Figures: TypeAlias = dict[str, Callable[[Selection], Plot]]


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


def adjusting_plot(selection: Selection) -> Plot:
    """Relevance of the most relevant features before and after covariates are adjusted for."""
    title = "Relevance before and after adjusting"
    before, after = selection.unadjusted, selection.relevance
    if not before.size:
        return Plot(title, nothing="There were no covariates to adjust for.")
    drawn = np.argsort(-np.maximum(before, after), kind="stable")[:MOST_DOTS]
    chosen = np.isin(drawn, selection.selected)
    tips = [f"{about(selection, k)}, {before[k]:.3g} before adjusting" for k in drawn]
    size = 1.08 * float(max(before.max(), after.max())) or 1.0
    ends = np.array([0.0, size])
    roles = {"kept": ~chosen, "selected": chosen}
    return Plot(
        title,
        "relevance before adjusting (raw)",
        "relevance, adjusted",
        (Line(ends, ends, "other"), *by_role(Points, before[drawn], after[drawn], tips, roles)),
        x_limits=(0.0, size),
        y_limits=(0.0, size),
    )


def redundancy_plot(selection: Selection) -> Plot:
    """Association of the best features with each other, clustered."""
    title = "Redundancy of features"
    data = selection.plot_data
    if len(data.features) < 2:
        return Plot(title, nothing="Fewer than two features stand out: there is no map to draw.")
    order = cluster(data.redundancy)
    features = data.features[order]
    values = np.clip(data.redundancy[np.ix_(order, order)], 0.0, 1.0)
    ticks = tuple(
        Tick(float(i), short(selection.names[k], 24), bool(k in selection.selected))
        for i, k in enumerate(features)
    )
    tips = tuple(
        tuple(f"{a.label} and {b.label}: {value:.2f}" for b, value in zip(ticks, row, strict=True))
        for a, row in zip(ticks, values, strict=True)
    )
    return Plot(title, marks=(Cells(values, tips),), y_ticks=ticks)


def cluster(redundancy: Matrix) -> Indices:
    """Order in which similar features are neighbours: average linkage, leaves ordered."""
    distances = np.clip(1.0 - (redundancy + redundancy.T) / 2, 0.0, None)
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform(distances, checks=False), "average", optimal_ordering=True)
    return np.asarray(leaves_list(tree), dtype=np.intp)


EVERY: Figures = {"redundancy": redundancy_plot, "adjusting": adjusting_plot}
