"""Shows conditional tests in tables: p-values, directions, effects, and those of each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..conditional.evidence import ConditionalEvidence
from ..types import Indices, Mask, Matrix
from .effects import FOR_CLASSES, FOR_OUTPUTS, Effects
from .pairs import partners_of, partners_of_features

if TYPE_CHECKING:
    from .selection import Selection

MEASURED = "p_value"
UNASSOCIATED = 0.1  # p-value given all others above which an associated feature no longer is


def evidence_of(selection: Selection) -> ConditionalEvidence:
    """The evidence of a selection by conditional tests."""
    assert isinstance(selection.evidence, ConditionalEvidence)
    return selection.evidence


def shown(selection: Selection) -> tuple[str, ...]:
    """Columns of the findings that fit a terminal; partners, if any, take the place of shapes."""
    together = ("partner",) if any(partners_of(selection, selection.members)) else ()
    if len(evidence_of(selection).fits) == 1:
        return "p_value_alone", "p_value", "q_value", "direction", *(together or ("shape",))
    words = FOR_CLASSES if selection.plot_data.labels else FOR_OUTPUTS
    return "p_value_alone", "p_value", "q_value", *words.values(), *together


def columns(selection: Selection, hypotheses: Indices | None = None) -> dict[str, NDArray[Any]]:
    """Columns by name: of the representatives of these hypotheses, or of all features."""
    evidence = evidence_of(selection)
    effects = effects_of(selection, hypotheses)
    if hypotheses is None:
        features, p = np.arange(evidence.n_features), evidence.p_of_representatives
        way = np.full(effects.values.shape, "", dtype=object)
        partners = partners_of_features(selection)
    else:
        features, p = evidence.representatives[hypotheses], evidence.p_of_hypotheses[hypotheses]
        way = directions_by_column(selection, hypotheses)
        partners = partners_of(selection, [evidence.members_of(int(h)) for h in hypotheses])
    direction, which = effects.strongest()
    return {
        "p_value": p,
        "direction": direction,
        **effects.listed(way, in_shown_order(selection, effects.names)),
        "effect": effects.sizes(which),
        "partner": partners,
        "relevance": evidence.relevance[features],
        "residual_variance": evidence.residual_variance[features],
    }


def effects_of(selection: Selection, hypotheses: Indices | None = None) -> Effects:
    """Effects given all others: of the representatives of hypotheses, or of all features.

    Features that were not tested have none, and neither have copies, which may run backwards.
    """
    evidence = evidence_of(selection)
    if hypotheses is None:
        features, values = np.arange(evidence.n_features), evidence.effects[0]
        p = evidence.p_by_target[0]
    else:
        features = evidence.representatives[hypotheses]
        values = _of_hypotheses(evidence, evidence.effects, hypotheses)
        p = _p_by_column(evidence, hypotheses)
    return Effects(
        tuple(fit.target for fit in evidence.fits),
        selection.plot_data.labels,
        values,
        p,
        np.isin(features, evidence.categories),
        np.isin(features, evidence.tested),
        selection.unclear,
    )


def markers(selection: Selection) -> dict[str, NDArray[Any]]:
    """Columns by name: for each class or output the selected features associated with it."""
    hypotheses = selection.decision.selected
    effects = effects_of(selection, hypotheses)
    named = associated_columns(selection, hypotheses)
    order = in_shown_order(selection, effects.both_classes.names)
    return effects.markers(named, [selection.names[k] for k in selection.selected], order)


def associated_columns(selection: Selection, hypotheses: Indices) -> Mask:
    """Which classes or outputs each hypothesis is associated with, (q, hypotheses).

    None for hypotheses that are not selected, see `Effects.associated`. Under a rule that bounds
    the familywise error rate, that of all classes named is bounded too, by level fdr / m.
    """
    evidence, found = evidence_of(selection), selection.decision.selected
    families = len(found) if error_rate(selection) == "FDR" else 1
    level = selection.fdr * families / len(evidence.p_of_hypotheses)
    return effects_of(selection, hypotheses).associated(np.isin(hypotheses, found), level)


def directions_by_column(selection: Selection, hypotheses: Indices) -> NDArray[Any]:
    """Direction of each hypothesis for each class or output, (q, hypotheses).

    It is empty for classes or outputs that a hypothesis is not associated with.
    """
    named = associated_columns(selection, hypotheses)
    return effects_of(selection, hypotheses).by_column(named)


def columns_by_direction(selection: Selection, hypothesis: int) -> dict[str, dict[str, float]]:
    """Effects by class or output, strongest first, by direction: where a finding has any."""
    one = np.array([hypothesis])
    effects, way = effects_of(selection, one), directions_by_column(selection, one)[:, 0]
    values = effects.values[:, 0]
    found: dict[str, dict[str, float]] = {}
    for c in np.argsort(-np.abs(values), kind="stable"):
        if way[c]:
            found.setdefault(way[c], {})[effects.names[c]] = float(values[c])
    return found


def in_shown_order(selection: Selection, names: Sequence[str]) -> Indices:
    """Positions of classes in the order of figures, those too small for them last, by name.

    Outputs stay in their order.
    """
    if not selection.plot_data.labels:
        return np.arange(len(names))
    shapes = selection.plot_data.shapes
    place = {name: i for i, name in enumerate(shapes[0].names)} if shapes else {}
    return np.array(
        sorted(range(len(names)), key=lambda i: (place.get(names[i], len(place)), names[i])),
        dtype=np.intp,
    )


def _p_by_column(evidence: ConditionalEvidence, hypotheses: Indices) -> Matrix:
    """p-values of representatives for each class or output, (q, hypotheses).

    Where a more conservative test raised the p-value of a feature, none is below that.
    """
    features = evidence.representatives[hypotheses]
    raised = np.isin(features, evidence.raised)
    together = tuple(np.tile(p, (len(evidence.fits), 1)) for p in evidence.p_of_members)
    least = np.where(raised, _of_hypotheses(evidence, together, hypotheses), 0.0)
    return np.maximum(_of_hypotheses(evidence, evidence.p_by_target, hypotheses), least)


def _of_hypotheses(
    evidence: ConditionalEvidence, values: tuple[Matrix, ...], hypotheses: Indices
) -> Matrix:
    """Values of representatives in the partition of each hypothesis, (q, hypotheses)."""
    features = evidence.representatives[hypotheses]
    places = zip(evidence.finest_partition[hypotheses], features, strict=True)
    found = np.array([values[c][:, k] for c, k in places])
    return found.reshape(len(hypotheses), len(evidence.fits)).T


def outcomes(selection: Selection) -> NDArray[Any]:
    """What became of every feature that was not selected, in a word or two."""
    evidence = evidence_of(selection)
    untested = ~np.isin(np.arange(evidence.n_features), evidence.tested)
    explained = selection.associated & (evidence.p_values > UNASSOCIATED)
    words = ["not tested", "explained by others"]
    return np.select([untested, explained], words, "not significant")


def neighbours(selection: Selection, k: int) -> list[tuple[int, float]]:
    """The two features outside its group that correlate most with a feature, if they do."""
    evidence = evidence_of(selection)
    near = zip(evidence.neighbours[:, k].tolist(), evidence.similarity[:, k].tolist(), strict=True)
    return [(j, r) for j, r in near if j >= 0]


def error_rate(selection: Selection) -> str:
    """What the level bounds."""
    return evidence_of(selection).rule.error_rate
