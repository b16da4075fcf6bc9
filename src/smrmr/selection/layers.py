"""Layers of an answer: features associated alone, signals, own contributions, pairs, the panel.

Every layer asks its own question of all features and controls its own error rate. A new layer is a
function here and a line in `LAYERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..conditional.evidence import ConditionalEvidence
from ..conditional.rules import BenjaminiHochberg, Rule, decide_by_rule
from ..data.messages import named
from ..layers.bounds import Bounds
from ..types import Indices, Vector
from .pairs import pairs_of, q_values_of_pairs

if TYPE_CHECKING:
    from .selection import Selection


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer of an answer: which features it names, and what it knows of all of them.

    Attributes
    ----------
    name
        ``"associated"``, ``"signals"``, ``"own"``, ``"pairs"`` or ``"panel"``.
    features
        Positions of the features that it names, best first; of copies the first, of a group its
        representative.
    p_values, q_values
        Of every feature; 1 where it was not tested. Those of signals are of the group that a
        feature represents, if there is one; those of pairs are of the best pair that a feature is
        in. Knockoffs have no p-values: they are NaN.
    scores
        What features are ranked by, the larger the better.
    tested
        Features whose hypotheses make the family of this layer; copies count once.
    """

    name: str
    features: Indices
    p_values: Vector
    q_values: Vector
    scores: Vector
    tested: Indices

    def __repr__(self) -> str:
        found = f"{len(self.features)} of {len(self.tested):,} features"
        return f"Layer {self.name!r}: {found}, by position: {named(self.features)}"

    def bounds(self, confidence: float) -> Bounds:
        """Lower bounds on the number of true features of any set.

        Parameters
        ----------
        confidence
            With which all of them hold together.

        Returns
        -------
        Bounds
            Of the hypotheses `tested`, in that order.
        """
        return Bounds.of(self.p_values[self.tested], 1 - confidence)


def associated(selection: Selection) -> Layer:
    """Features that depend on the target, each alone: given covariates and groups of rows only."""
    return _by_rule("associated", selection, selection.alone.p, distinct_features(selection))


def signals(selection: Selection) -> Layer:
    """Features and groups that add to all others: what the level was set for."""
    evidence, unknown = selection.evidence, np.full(selection.n_features, np.nan)
    return Layer(
        "signals",
        selection.selected,
        evidence.p_of_representatives if isinstance(evidence, ConditionalEvidence) else unknown,
        selection.q_values,
        evidence.scores,
        evidence.weighed,
    )


def own(selection: Selection) -> Layer:
    """Single features that add to all others, the look-alikes of each among these."""
    evidence, single = selection.evidence, _single_features(selection)
    if isinstance(evidence, ConditionalEvidence):
        return _by_rule("own", selection, evidence.p_values, single)
    q = np.ones(selection.n_features)
    q[single] = selection.q_values[single]
    found = selection.selected[np.isin(selection.selected, single)]
    return Layer("own", found, np.full(len(q), np.nan), q, evidence.scores, single)


def pairs(selection: Selection) -> Layer:
    """Features that act together with another one, or with a covariate; the level is of pairs."""
    found, pair_q = pairs_of(selection), q_values_of_pairs(selection)
    tested = selection.evidence.weighed if found.n_tested else np.empty(0, np.intp)
    p, q = np.ones((2, selection.n_features))
    for side in found.features.T:
        mine = np.isin(side, tested)
        np.minimum.at(p, side[mine], found.p_values[mine])
        np.minimum.at(q, side[mine], pair_q[mine])
    p, q = p[selection.leaders], q[selection.leaders]
    named = found.features[pair_q <= selection.fdr].ravel()
    named = named[np.sort(np.unique(named, return_index=True)[1])]
    return Layer("pairs", named[np.isin(named, tested)], p, q, -np.log10(p) + 0.0, tested)


def panel(selection: Selection) -> Layer:
    """Few of the associated features, relevant and not redundant; their level is that of these."""
    alone, chosen = selection.layer("associated"), selection.panel
    scores = np.zeros(selection.n_features)
    scores[chosen.features] = chosen.theta
    return Layer("panel", chosen.features, alone.p_values, alone.q_values, scores, alone.tested)


LAYERS: dict[str, Callable[[Selection], Layer]] = {
    "associated": associated,
    "signals": signals,
    "own": own,
    "pairs": pairs,
    "panel": panel,
}


def distinct_features(selection: Selection) -> Indices:
    """Features of interest that vary and are not always kept; of copies the first."""
    first = selection.leaders == np.arange(selection.n_features)
    return np.flatnonzero(first & (selection.evidence.hypotheses[0] >= 0))


def _single_features(selection: Selection) -> Indices:
    """Features that are a hypothesis of their own in the finest partition."""
    numbers, distinct = selection.evidence.hypotheses[0], distinct_features(selection)
    size = np.bincount(numbers[distinct])
    return np.asarray(distinct[size[numbers[distinct]] == 1])


def _by_rule(name: str, selection: Selection, p: Vector, tested: Indices) -> Layer:
    """The layer of a family of p-values at the level of the selection, by its rule."""
    rule: Rule = getattr(selection.evidence, "rule", BenjaminiHochberg())
    no_groups, relevance = np.full(len(tested), -1), selection.relevance[tested]
    made = decide_by_rule(rule, p[tested], no_groups, selection.fdr, "none", relevance)
    mine, q = np.ones(selection.n_features), np.ones(selection.n_features)
    mine[tested], q[tested] = p[tested], made.q_values
    mine, q = mine[selection.leaders], q[selection.leaders]
    return Layer(name, tested[made.selected], mine, q, -np.log10(mine) + 0.0, tested)
