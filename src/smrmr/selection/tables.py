"""Tables of a selection: every feature, groups of features, and what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.frames import frame_of
from ..types import Indices
from .annotations import beside_names
from .bounds import CONFIDENCE, Family
from .conditional import in_shown_order
from .effects import Effects
from .layers import Layer

if TYPE_CHECKING:
    from .selection import Selection

MISSED = 0.05  # share of the intervals of associated features that miss the true effect


def table_of_features(selection: Selection) -> Any:
    """Every feature with what became of it, selected features first."""
    n, names = selection.n_features, selection.names
    frame = frame_of(
        {
            "feature": list(names),
            "selected": selection.support,
            **selection.table_columns(),
            **selection.sizes(),
            "group": [names[k] for k in _representatives(selection)],
            "outcome": selection.outcomes.tolist(),
        }
    )
    frame = beside_names(frame, selection, np.arange(n))
    place = np.full(n, n)
    place[selection.selected] = np.arange(len(selection.selected))
    order = np.lexsort((-selection.relevance, -selection.evidence.scores, place))
    return frame.iloc[order].reset_index(drop=True)


def table_of_hypotheses(selection: Selection, hypotheses: Indices) -> Any:
    """A row per hypothesis, with the names of its features."""
    evidence, names = selection.evidence, selection.names
    representatives = evidence.representatives[hypotheses]
    members = [evidence.members_of(int(h)) for h in hypotheses]
    carriers = [selection.carriers_of(int(h)) for h in hypotheses]
    frame = frame_of(
        {
            "feature": [names[k] for k in representatives],
            "selected": np.isin(hypotheses, selection.decision.selected),
            "size": [len(group) for group in members],
            "q_value": selection.decision.q_values[hypotheses],
            **selection.presentation.columns(selection, hypotheses),
            **alone_columns(selection, representatives),
            "shape": selection.shapes[representatives],
            **{name: values[representatives] for name, values in selection.sizes().items()},
            "least_alike": [np.abs(selection.likeness_of(int(h))).min() for h in hypotheses],
            "credible_set": [
                " | ".join(" ".join(names[k] for k in some) for some in one.sets)
                for one in carriers
            ],
            "probability": [one.probabilities.max() for one in carriers],
            "members": [" ".join(names[k] for k in group) for group in members],
        }
    )
    return beside_names(frame, selection, representatives)


def table_of_layer(selection: Selection, layer: Layer) -> Any:
    """A row per feature that a layer of single features names."""
    features, order = layer.features, {}
    columns = selection.table_columns()
    if layer.name != "own":  # what it rests on comes first
        order = {name: columns[name] for name in columns if "_alone" in name}
    sizes = {name: values[features] for name, values in selection.sizes().items()}
    shown = {name: values[features] for name, values in (order | columns).items()}
    own: dict[str, Any] = {}
    if layer.name == "own":
        own["q_value_own"] = layer.q_values[features]
    elif layer.name == "panel":
        own["coefficient"] = layer.scores[features]
        if selection.panel.accuracy is not None:
            own["stability"] = selection.panel.accuracy.stability
    named = [selection.names[k] for k in features]
    frame = frame_of({"feature": named, **own, **shown, **sizes})
    return beside_names(frame, selection, features)


def alone_columns(selection: Selection, features: Indices) -> dict[str, Any]:
    """What is known of features alone, by name; intervals are those of the associated.

    If R of m features are associated, each interval has confidence 1 - 0.05 R / m: then 95% of the
    intervals of associated features hold the true effect in expectation (Benjamini and Yekutieli
    2005).
    """
    alone, layer = selection.alone, selection.layer("associated")
    effects = alone_effects(selection, features)
    direction, which = effects.strongest()
    share = _share_associated(selection)
    low, high = (ends[:, features] for ends in alone.intervals(1 - MISSED * share))
    if len(effects.both_classes.names) > len(effects.names):
        low, high = np.concatenate([low, -high]), np.concatenate([high, -low])
    at = which, np.arange(len(features))
    named = effects.associated(selection.associated[features], selection.fdr * share)
    way = effects.by_column(named)
    listed = effects.listed(way, in_shown_order(selection, effects.names))
    return {
        "p_value_alone": alone.p[features],
        "q_value_alone": layer.q_values[features],
        "direction_alone": direction,
        **{f"{name}_alone": values for name, values in listed.items()},
        "effect_alone": effects.sizes(which),
        "effect_alone_low": low[at],
        "effect_alone_high": high[at],
    }


def alone_markers(selection: Selection) -> dict[str, Any]:
    """For each class or output the associated features that mark it alone, by name of column."""
    features = selection.layer("associated").features
    effects = alone_effects(selection, features)
    level = selection.fdr * _share_associated(selection)
    named = effects.associated(np.ones(len(features), np.bool_), level)
    order = in_shown_order(selection, effects.both_classes.names)
    return effects.markers(named, [selection.names[k] for k in features], order)


def _share_associated(selection: Selection) -> float:
    """R / m if R of m features are associated, one at least."""
    layer = selection.layer("associated")
    return max(len(layer.features), 1) / max(len(layer.tested), 1)


def alone_effects(selection: Selection, features: Indices) -> Effects:
    """Effects of features alone; copies, which may run backwards, have none."""
    alone, everyone = selection.alone, np.arange(selection.n_features)
    tested = (selection.leaders == everyone) & (selection.evidence.hypotheses[0] >= 0)
    return Effects(
        alone.targets,
        selection.plot_data.labels,
        alone.effects[:, features],
        alone.p_by_target[:, features],
        np.isin(features, alone.categories),
        tested[features],
        selection.unclear,
    )


def table_of_groups(selection: Selection) -> Any:
    """All groups of two or more features, smallest q first."""
    q_values = selection.decision.q_values
    sizes = np.zeros(len(q_values), np.intp)
    for numbers in selection.evidence.hypotheses:
        known, size = np.unique(numbers[numbers >= 0], return_counts=True)
        sizes[known] = size
    large = np.flatnonzero(sizes > 1)
    order = np.argsort(q_values[large], kind="stable")
    table = table_of_hypotheses(selection, large[order])
    family, evidence = Family(selection, "associated", CONFIDENCE), selection.evidence
    bounds = [family.at_least(evidence.members_of(int(h))) for h in large[order]]
    table.insert(table.columns.get_loc("size") + 1, "at_least_associated", bounds)
    return table.rename(columns={"feature": "representative"})


def _representatives(selection: Selection) -> Indices:
    """For each feature that of the group it was found in, or of its largest group."""
    numbers = selection.evidence.hypotheses[-1]
    largest = selection.evidence.representatives[numbers]
    largest = np.where(numbers < 0, np.arange(selection.n_features), largest)
    return np.where(selection.found_with >= 0, selection.found_with, largest)
