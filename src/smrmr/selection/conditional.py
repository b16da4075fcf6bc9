"""Shows conditional tests in tables: p-values, directions, effects, and those of each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..conditional.evidence import ConditionalEvidence
from ..conditional.rules import Holm
from ..types import Indices, Mask, Matrix, Vector

if TYPE_CHECKING:
    from .selection import Selection

MEASURED = "p_value"
FOR_CLASSES = {"higher": "higher_in", "lower": "lower_in"}  # columns by direction
FOR_OUTPUTS = {"rises": "rising_outputs", "falls": "falling_outputs"}
ASSOCIATED = 0.01  # marginal p-value up to which a feature counts as associated with the target
UNASSOCIATED = 0.1  # p-value given all others above which it no longer does


def evidence_of(selection: Selection) -> ConditionalEvidence:
    """The evidence of a selection by conditional tests."""
    assert isinstance(selection.evidence, ConditionalEvidence)
    return selection.evidence


def shown(selection: Selection) -> tuple[str, ...]:
    """Columns of the findings that fit a terminal."""
    if len(evidence_of(selection).fits) == 1:
        return "p_value", "q_value", "direction", "shape"
    return "p_value", "q_value", *_words(selection).values()


def columns(selection: Selection, hypotheses: Indices | None = None) -> dict[str, NDArray[Any]]:
    """Columns by name: of the representatives of these hypotheses, or of all features."""
    evidence = evidence_of(selection)
    if hypotheses is None:
        features, p = np.arange(evidence.n_features), evidence.p_of_representatives
        effects = evidence.effects[0]
    else:
        features, p = evidence.representatives[hypotheses], evidence.p_of_hypotheses[hypotheses]
        effects = _of_hypotheses(evidence, evidence.effects, hypotheses)
    direction, effect = directions(selection, features, effects)
    return {
        "p_value": p,
        "direction": direction,
        **_named_columns(selection, hypotheses),
        "effect": effect,
        "p_value_alone": selection.alone.p[features],
        "relevance": evidence.relevance[features],
        "residual_variance": evidence.residual_variance[features],
    }


def markers(selection: Selection) -> dict[str, NDArray[Any]]:
    """Columns by name: for each class or output the selected features associated with it."""
    evidence, labels = evidence_of(selection), selection.plot_data.labels
    hypotheses = selection.decision.selected
    names = [fit.target for fit in evidence.fits]
    effects = _of_hypotheses(evidence, evidence.effects, hypotheses)
    p = _p_by_column(evidence, hypotheses)
    way = directions_by_column(selection, hypotheses)
    if labels and len(names) == 1:  # of two classes, one is the other's reverse
        names += [label for label in labels if label != names[0]]
        other = np.where(way == "higher", "lower", np.where(way == "lower", "higher", way))
        way, p = np.concatenate([way, other]), np.concatenate([p, p])
        signs = np.where(np.isin(selection.selected, evidence.categories), 1.0, -1.0)
        effects = np.concatenate([effects, signs * effects])
    order = in_shown_order(selection, names)
    rows = [(c, i) for c in order for i in np.argsort(p[c], kind="stable") if way[c, i]]
    at = tuple(np.array(rows, dtype=np.intp).reshape(-1, 2).T)
    return {
        "class" if labels else "output": np.array(names, dtype=object)[at[0]],
        "feature": np.array([selection.names[k] for k in selection.selected], dtype=object)[at[1]],
        "direction": way[at],
        "effect": effects[at],
        "p_value": p[at],
    }


def associated_columns(selection: Selection, hypotheses: Indices) -> Mask:
    """Which classes or outputs each hypothesis is associated with, (q, hypotheses).

    None for hypotheses that are not selected. For a selected one the p-values of its representative
    for the q classes are adjusted by Holm's rule, at level fdr R / m if R of m hypotheses are
    selected: then the error in naming classes, averaged over the selected hypotheses, is at most
    fdr in expectation (Benjamini and Bogomolov 2014). Under a rule that bounds the familywise error
    rate, that of all classes named is bounded too, by level fdr / m. With a single column it is the
    selection that says so.
    """
    evidence, found = evidence_of(selection), selection.decision.selected
    selected = np.isin(hypotheses, found)
    q, m = len(evidence.fits), len(evidence.p_of_hypotheses)
    if q == 1:
        return selected[None]
    families = len(found) if error_rate(selection) == "FDR" else 1
    p, holm, single = (_p_by_column(evidence, hypotheses), Holm(), np.full(q, -1))
    adjusted = np.array([holm.adjust(own, single) for own in p.T]).reshape(-1, q).T
    return np.asarray(selected & (adjusted <= selection.fdr * families / m))


def directions_by_column(selection: Selection, hypotheses: Indices) -> NDArray[Any]:
    """Direction of each hypothesis for each class or output, (q, hypotheses).

    ``"higher"`` or ``"lower"`` in a class than in the other classes; an output ``"rises"`` or
    ``"falls"`` as the feature rises; ``"unclear"`` and ``"category"`` as in `directions`. It is
    empty for classes or outputs that a hypothesis is not associated with.
    """
    evidence = evidence_of(selection)
    effects = _of_hypotheses(evidence, evidence.effects, hypotheses)
    up, down = _words(selection)
    way = np.where(effects > 0, up, down).astype(object)
    way[:, np.isin(evidence.representatives[hypotheses], evidence.categories)] = "category"
    way[np.abs(effects) < _unclear(selection)] = "unclear"
    return np.where(associated_columns(selection, hypotheses), way, "")


def columns_by_direction(selection: Selection, hypothesis: int) -> dict[str, dict[str, float]]:
    """Effects by class or output, strongest first, by direction: where a finding has any."""
    evidence, one = evidence_of(selection), np.array([hypothesis])
    effects = _of_hypotheses(evidence, evidence.effects, one)[:, 0]
    way = directions_by_column(selection, one)[:, 0]
    found: dict[str, dict[str, float]] = {}
    for c in np.argsort(-np.abs(effects), kind="stable"):
        if way[c]:
            found.setdefault(way[c], {})[evidence.fits[c].target] = float(effects[c])
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


def _words(selection: Selection) -> dict[str, str]:
    """The two directions, and the columns that list classes or outputs of each."""
    return FOR_CLASSES if selection.plot_data.labels else FOR_OUTPUTS


def _named_columns(selection: Selection, hypotheses: Indices | None) -> dict[str, NDArray[Any]]:
    """For each direction the names of classes or outputs, where there are several."""
    evidence = evidence_of(selection)
    if len(evidence.fits) == 1:
        return {}
    if hypotheses is None:
        nothing = np.full(evidence.n_features, "", dtype=object)
        return dict.fromkeys(_words(selection).values(), nothing)
    targets = [fit.target for fit in evidence.fits]
    way, order = directions_by_column(selection, hypotheses), in_shown_order(selection, targets)
    named: dict[str, NDArray[Any]] = {}
    for word, column in _words(selection).items():
        each = [[targets[c] for c in order if way[c, i] == word] for i in range(len(hypotheses))]
        named[column] = np.array(["; ".join(names) for names in each], dtype=object)
    return named


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
    way = np.where(np.abs(effect) < _unclear(selection), "unclear", way)
    tested = np.isin(features, evidence.tested)
    return np.where(tested, way, ""), np.where(tested, effect, 0.0)


def _unclear(selection: Selection) -> float:
    """Two standard errors of an effect, within which its direction is unclear."""
    return float(2 / np.sqrt(selection.n_rows))


def outcomes(selection: Selection) -> NDArray[Any]:
    """What became of every feature that was not selected, in a word or two."""
    evidence = evidence_of(selection)
    untested = ~np.isin(np.arange(evidence.n_features), evidence.tested)
    explained = (selection.alone.p <= ASSOCIATED) & (evidence.p_values > UNASSOCIATED)
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
