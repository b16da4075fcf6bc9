"""Tables of a selection: every feature, groups of features, and what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Indices, pd

if TYPE_CHECKING:
    from .selection import Selection


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
    place = np.full(n, n)
    place[selection.selected] = np.arange(len(selection.selected))
    order = np.lexsort((-selection.relevance, -selection.evidence.scores, place))
    return frame.iloc[order].reset_index(drop=True)


def table_of_hypotheses(selection: Selection, hypotheses: Indices) -> Any:
    """A row per hypothesis, with the names of its features."""
    evidence, names = selection.evidence, selection.names
    representatives = evidence.representatives[hypotheses]
    members = [evidence.members_of(int(h)) for h in hypotheses]
    carriers = [evidence.carriers_of(int(h)) for h in hypotheses]
    return frame_of(
        {
            "feature": [names[k] for k in representatives],
            "selected": np.isin(hypotheses, selection.decision.selected),
            "size": [len(group) for group in members],
            "q_value": selection.decision.q_values[hypotheses],
            **selection.presentation.columns(selection, hypotheses),
            "shape": selection.shapes[representatives],
            **{name: values[representatives] for name, values in selection.sizes().items()},
            "least_alike": [np.abs(selection.likeness_of(int(h))).min() for h in hypotheses],
            "may_carry_it": [" ".join(names[k] for k in group) for group in carriers],
            "members": [" ".join(names[k] for k in group) for group in members],
        }
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
    return table.rename(columns={"feature": "representative"})


def frame_of(columns: dict[str, Any]) -> Any:
    """A DataFrame; text as objects, since names may hold what text of pandas 3 cannot."""
    for name, values in columns.items():
        if np.asarray(values).dtype.kind in "OU":
            columns[name] = pd.Series(list(values), dtype=object)
    return pd.DataFrame(columns)


def _representatives(selection: Selection) -> Indices:
    """For each feature that of the group it was found in, or of its largest group."""
    numbers = selection.evidence.hypotheses[-1]
    largest = selection.evidence.representatives[numbers]
    largest = np.where(numbers < 0, np.arange(selection.n_features), largest)
    return np.where(selection.found_with >= 0, selection.found_with, largest)
