"""Shows conditional tests in tables: p-values, directions and effects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..conditional.evidence import ConditionalEvidence
from ..types import Indices, Matrix, Vector

if TYPE_CHECKING:
    from .selection import Selection

MEASURED = "p_value"
SHOWN: tuple[str, ...] = ("p_value", "q_value", "direction", "shape")
ASSOCIATED = 0.01  # marginal p-value up to which a feature counts as associated with the target
UNASSOCIATED = 0.1  # p-value given all others above which it no longer does


def evidence_of(selection: Selection) -> ConditionalEvidence:
    """The evidence of a selection by conditional tests."""
    assert isinstance(selection.evidence, ConditionalEvidence)
    return selection.evidence


def columns(selection: Selection, hypotheses: Indices | None = None) -> dict[str, NDArray[Any]]:
    """Columns by name: of the representatives of these hypotheses, or of all features."""
    evidence = evidence_of(selection)
    if hypotheses is None:
        features, p = np.arange(evidence.n_features), evidence.p_of_representatives
        effects = evidence.effects[0]
    else:
        features, p = evidence.representatives[hypotheses], evidence.p_of_hypotheses[hypotheses]
        places = zip(evidence.finest_partition[hypotheses], features, strict=True)
        by_hypothesis = np.array([evidence.effects[c][:, k] for c, k in places])
        effects = by_hypothesis.reshape(len(hypotheses), len(evidence.fits)).T
    direction, effect = directions(selection, features, effects)
    return {
        "p_value": p,
        "direction": direction,
        "effect": effect,
        "p_value_alone": evidence.marginal[features],
        "relevance": evidence.relevance[features],
        "residual_variance": evidence.residual_variance[features],
    }


def directions(
    selection: Selection, features: Indices, effects: Matrix
) -> tuple[NDArray[Any], Vector]:
    """Direction and size of associations, from effects of features on the columns of the target.

    ``"rises"`` or ``"falls"`` says what the target does as the feature rises; of several outputs
    the one of largest effect is named. With classes it is the class that the feature is highest in.
    A category does not rise: ``"category"``. ``"unclear"`` are effects within two standard errors
    of 0: weak ones, and those that are not monotone. Features that were not tested have neither
    direction nor effect, and so have copies, which may run backwards.
    """
    evidence, labels = evidence_of(selection), selection.plot_data.labels
    names = np.array([fit.target for fit in evidence.fits], dtype=object)
    if labels and len(names) == 1:  # of two classes, one is the other's reverse
        names = np.append(names, next((label for label in labels if label != names[0]), ""))
        effects = np.concatenate([effects, -effects])
    strongest = (effects if labels else np.abs(effects)).argmax(axis=0)
    effect = effects[strongest, np.arange(len(features))]
    way = names[strongest]
    if not labels:
        ways = np.where(effect > 0, "rises", "falls").astype(object)
        way = ways if len(names) == 1 else way + " " + ways
    way = np.where(np.isin(features, evidence.categories), "category", way)
    way = np.where(np.abs(effect) < 2 / np.sqrt(selection.n_rows), "unclear", way)
    tested = np.isin(features, evidence.tested)
    return np.where(tested, way, ""), np.where(tested, effect, 0.0)


def outcomes(selection: Selection) -> NDArray[Any]:
    """What became of every feature that was not selected, in a word or two."""
    evidence = evidence_of(selection)
    untested = ~np.isin(np.arange(evidence.n_features), evidence.tested)
    explained = (evidence.marginal <= ASSOCIATED) & (evidence.p_values > UNASSOCIATED)
    words = ["not tested", "explained by others"]
    return np.select([untested, explained], words, "not significant")


def neighbours(selection: Selection, k: int) -> list[tuple[int, float]]:
    """The feature outside its group that correlates most with a feature, if one does."""
    evidence = evidence_of(selection)
    near = int(evidence.neighbour[k])
    return [] if near < 0 else [(near, float(evidence.similarity[k]))]


def error_rate(selection: Selection) -> str:
    """What the level bounds."""
    return evidence_of(selection).rule.error_rate
