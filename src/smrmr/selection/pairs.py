"""Pairs of features that act together: their table, and the partners of features."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..conditional.evidence import ConditionalEvidence
from ..conditional.feature_pairs import FeaturePairs
from ..data.frames import frame_of
from ..types import Indices, Vector

if TYPE_CHECKING:
    from .selection import Selection

NO_PAIRS = FeaturePairs(np.empty((0, 2), np.intp), np.empty(0), np.empty(0), 0)


def pairs_of(selection: Selection) -> FeaturePairs:
    """Pairs that may act together; none by knockoffs, which do not test any."""
    evidence = selection.evidence
    return evidence.pairs if isinstance(evidence, ConditionalEvidence) else NO_PAIRS


def q_values_of_pairs(selection: Selection) -> Vector:
    """Smallest level that selects each pair, by the rule of the tests over all pairs tested."""
    evidence = selection.evidence
    if not isinstance(evidence, ConditionalEvidence):
        return np.empty(0)
    return evidence.pairs.q_values(evidence.rule)


def n_selected_pairs(selection: Selection) -> int:
    """Number of pairs that the level selects: the first ones."""
    return int(np.count_nonzero(q_values_of_pairs(selection) <= selection.fdr))


def table_of_pairs(selection: Selection) -> Any:
    """A row per pair that may act together, smallest p-value first."""
    pairs, q = pairs_of(selection), q_values_of_pairs(selection)
    names = [*selection.names, *selection.covariates]  # covariates follow after the last feature
    return frame_of(
        {
            "feature": np.array([names[k] for k in pairs.features[:, 0]], dtype=object),
            "partner": np.array([names[k] for k in pairs.features[:, 1]], dtype=object),
            "p_value": pairs.p_values,
            "q_value": q,
            "direction": _directions(selection, pairs),
            "share_explained": pairs.effects**2,
            "selected": q <= selection.fdr,
        }
    )


def _directions(selection: Selection, pairs: FeaturePairs) -> NDArray[Any]:
    """In which direction each pair acts; empty where the sign of an effect has no meaning."""
    evidence = selection.evidence
    if not isinstance(evidence, ConditionalEvidence) or len(evidence.fits) > 1:
        return np.full(len(pairs.effects), "", dtype=object)
    high = higher_class(selection)
    as_fitted = not high or evidence.fits[0].target == high
    way = np.where((pairs.effects > 0) == as_fitted, "concordant", "discordant").astype(object)
    levels = selection.n_features + selection.covariate_categories
    way[np.isin(pairs.features, [*evidence.categories, *levels]).any(axis=1)] = ""
    return way


def higher_class(selection: Selection) -> str:
    """Of two classes the one that counts as high, the second by name; else nothing."""
    labels = sorted(selection.plot_data.labels)
    return labels[1] if len(labels) == 2 else ""


def best_pair(selection: Selection, features: Indices) -> tuple[int, int] | None:
    """The first pair of which one is among these features and the other not: number, and which."""
    inside = np.isin(pairs_of(selection).features, features)
    found = np.flatnonzero(inside[:, 0] != inside[:, 1])
    return (int(found[0]), int(np.argmax(inside[found[0]]))) if found.size else None


def partners_of(selection: Selection, groups: Iterable[Indices]) -> NDArray[Any]:
    """For each group of features the partner in its best pair, empty unless that is selected."""
    n, pairs = n_selected_pairs(selection), pairs_of(selection).features
    names, partners = [*selection.names, *selection.covariates], []
    for features in groups:
        number, side = best_pair(selection, features) or (n, 0)
        partners.append(names[pairs[number, 1 - side]] if number < n else "")
    return np.array(partners, dtype=object)


def partners_of_features(selection: Selection) -> NDArray[Any]:
    """For each feature the partner in its best pair, empty unless that is selected."""
    partners = np.full(selection.n_features, "", dtype=object)
    some = pairs_of(selection).features[: n_selected_pairs(selection)]
    some = np.unique(some[some < selection.n_features])
    partners[some] = partners_of(selection, some[:, None])
    return np.asarray(partners[selection.leaders])
