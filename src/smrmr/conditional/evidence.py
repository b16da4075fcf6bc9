"""Defines what conditional tests find: a p-value of every feature, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..decision import Decision
from ..features.groups import MembersByNumber
from ..types import Indices, Mask, Matrix, Vector
from .rules import as_rule, decide_by_rule

MARKED = 0.01  # p-value alone up to which a feature counts as associated with the target
GONE = 0.1  # p-value given all others above which nothing of that seems to be left
RULED_OUT = 0.05  # p-value of the rest of a group down to which a member may carry it all


@dataclass(frozen=True, eq=False)
class Fit:
    """How one part of the target was fitted.

    `part` is the name of the class or output; `explained` the share of variance, on rows left out,
    that each kind of fit explains; `bent` says that absolute values of features helped; `used` are
    positions in X of the features that took part.
    """

    part: str
    explained: dict[str, float]
    bent: bool
    used: Indices


@dataclass(frozen=True, eq=False)
class TestEvidence:
    """What the tests found; entries are by position in X but for those of hypotheses.

    A hypothesis is about a feature with its copies, or about a group of look-alikes. Several
    partitions of the features into groups, from fine to coarse, may have been tested together.

    Attributes
    ----------
    relevance
        Squared projection correlation of every feature with the target.
    marginal
        p-value of every feature alone, with no other adjusted for.
    hypotheses
        For each partition the hypothesis that each feature belongs to, -1 for constants.
    p_of_hypotheses
        Chance of at least this much association with what is left of the target, given all features
        outside the hypothesis, if there is none; 1 if it was not tested.
    members
        For each partition the p-value of each feature given all features outside its group.
    rests
        For each partition and feature the p-value of all others of its group once the feature is
        known: if it is large, the feature could be the one that carries what the group tells.
    effects
        For each partition and part of the target the correlation of what is left of a feature with
        what is left of the target: its sign is the direction. That of a category goes by its most
        telling level and has no sign.
    left
        Share of a feature's variance that its neighbours do not explain, in the finest partition.
    neighbour, similarity
        The feature outside its group that correlates most with it beyond chance, -1 if there is
        none, and by how much (of normal scores), in the finest partition.
    tested, guarded
        Features that were tested, and those whose p-value was raised because what is left of
        them still depends on another feature.
    categories
        Features whose values are labels without an order.
    fits
        How each part of the target was fitted.
    multiplicity
        ``"bh"``, ``"by"`` or ``"holm"``.
    settings
        Settings of the controller.
    """

    relevance: Vector
    marginal: Vector
    hypotheses: tuple[Indices, ...]
    p_of_hypotheses: Vector
    members: tuple[Vector, ...]
    rests: tuple[Vector, ...]
    effects: tuple[Matrix, ...]
    left: Vector
    neighbour: Indices
    similarity: Vector
    tested: Indices
    guarded: Indices
    categories: Indices
    fits: tuple[Fit, ...]
    multiplicity: str
    settings: dict[str, Any]
    kind: ClassVar[str] = "tests"
    shown: ClassVar[tuple[str, ...]] = ("p_value", "q_value", "direction", "shape")
    measured: ClassVar[str] = "p_value"  # what says how far a feature stands out
    __test__: ClassVar[bool] = False  # pytest, this is no test

    def __post_init__(self) -> None:
        size = len(self.fits), len(self.relevance)
        shaped = tuple(np.asarray(effects).reshape(size) for effects in self.effects)
        object.__setattr__(self, "effects", shaped)

    @property
    def n_features(self) -> int:
        """Number of features in X."""
        return len(self.relevance)

    @cached_property
    def p_values(self) -> Vector:
        """p-value of each feature, or of its group in the finest partition; 1 if not tested."""
        return np.where(self.hypotheses[0] < 0, 1.0, self.p_of_hypotheses[self.hypotheses[0]])

    @cached_property
    def p_as_leads(self) -> Vector:
        """p-value of each feature, or of a group that it leads if that is smaller."""
        best = self.p_values.copy()
        np.minimum.at(best, self.leads, self.p_of_hypotheses)
        return best

    @property
    def scores(self) -> Vector:
        """What features are ranked by: the more digits of p are zero, the better."""
        return np.asarray(-np.log10(self.p_as_leads) + 0.0)

    @property
    def weighed(self) -> Indices:
        """Features that have a score of their own: those that were tested."""
        return self.tested

    @cached_property
    def leads(self) -> Indices:
        """For each hypothesis the feature of smallest p-value given those outside."""
        leads = np.empty(len(self.p_of_hypotheses), np.intp)
        for numbers, members in zip(self.hypotheses, self.members, strict=True):
            order = np.lexsort((-self.relevance, members))[::-1]
            order = order[numbers[order] >= 0]
            leads[numbers[order]] = order  # the last one, which is the best, stays
        return leads

    @property
    def ranking(self) -> Indices:
        """Features that lead a hypothesis that was tested, best first."""
        order = np.lexsort((-self.relevance[self.leads], self.p_of_hypotheses))
        leads = self.leads[order]
        _, first = np.unique(leads, return_index=True)
        leads = leads[np.sort(first)]
        return np.asarray(leads[np.isin(leads, self.tested)])

    @cached_property
    def order(self) -> Indices:
        """For every feature that leads one a hypothesis, best first; findings told twice come last.

        Of groups within groups, one that holds features of a better one, or is among them, is the
        same finding again.
        """
        by_p = np.lexsort((-self.relevance[self.leads], self.p_of_hypotheses))
        told, seen = np.zeros(self.n_features, np.bool_), np.zeros(self.n_features, np.bool_)
        new, again = list[int](), list[int]()
        for h in by_p.tolist():
            inside = self._inside[self._partitions[h]].of(h)
            (again if told[inside].any() else new).append(h)
            told[inside] = True
        order = []
        for h in (*new, *again):
            if not seen[self.leads[h]]:
                order.append(h)
            seen[self.leads[h]] = True
        return np.array(order, dtype=np.intp)

    def asked_at(self, fdr: float) -> TestEvidence:
        """What another level would have found: the same."""
        return self

    @property
    def rate(self) -> str:
        """What the level bounds."""
        return "familywise error rate" if self.multiplicity == "holm" else "FDR"

    @property
    def facts(self) -> dict[str, int]:
        """Numbers for the head of a report."""
        return {"tested": len(self.tested)}

    @property
    def failed(self) -> list[str]:
        """What puts the level in doubt: nothing that these tests could see of themselves."""
        return []

    def decide(self, fdr: float, on_empty: str = "none") -> Decision:
        """Select hypotheses at a level; of groups within groups the innermost."""
        return decide_by_rule(
            as_rule(self.multiplicity),
            self.p_of_hypotheses,
            self.parents,
            fdr,
            on_empty,
            self.relevance[self.leads],
        )

    @cached_property
    def parents(self) -> Indices:
        """For each hypothesis the next larger one around it, -1 if there is none."""
        parents = np.full(len(self.p_of_hypotheses), -1)
        for inner, outer in zip(self.hypotheses, self.hypotheses[1:], strict=False):
            wider = (inner != outer) & (inner >= 0)
            parents[inner[wider]] = outer[wider]
        return parents

    def columns(self, labels: tuple[str, ...], n_rows: int) -> dict[str, NDArray[Any]]:
        """What a table of all features shows besides the decision."""
        direction, effect = self.directions(labels, n_rows)
        return {
            "p_value": self.p_as_leads,
            "direction": direction,
            "effect": effect,
            "p_value_alone": self.marginal,
            "relevance": self.relevance,
            "left": self.left,
        }

    def findings(self, found: Indices, labels: tuple[str, ...], n_rows: int) -> dict[str, Any]:
        """What a table of hypotheses shows of each besides the decision: numbers of its lead."""
        leads, partitions = self.leads[found], self._partitions[found]
        ways = [self.directions(labels, n_rows, c) for c in range(len(self.hypotheses))]
        pairs = list(zip(partitions, leads, strict=True))
        return {
            "p_value": self.p_of_hypotheses[found],
            "direction": np.array([ways[c][0][k] for c, k in pairs], dtype=object),
            "effect": np.array([ways[c][1][k] for c, k in pairs], dtype=np.float64),
            "p_value_alone": self.marginal[leads],
            "relevance": self.relevance[leads],
        }

    def members_of(self, hypothesis: int) -> Indices:
        """Features that a hypothesis is about, copies among them, the most telling first."""
        partition = self._partitions[hypothesis]
        inside = self._inside[partition].of(hypothesis)
        order = np.lexsort((-self.relevance[inside], self.members[partition][inside]))
        lead = inside == self.leads[hypothesis]
        return np.asarray(inside[order][np.argsort(~lead[order], kind="stable")])

    def carriers_of(self, hypothesis: int) -> Indices:
        """Members of which one carries what the group tells, with 95% confidence.

        That is if a single one does. If there are none, no single member suffices.
        """
        inside = self.members_of(hypothesis)
        return np.asarray(inside[self.rests[self._partitions[hypothesis]][inside] > RULED_OUT])

    @cached_property
    def _inside(self) -> tuple[MembersByNumber, ...]:
        return tuple(MembersByNumber(numbers) for numbers in self.hypotheses)

    @cached_property
    def _partitions(self) -> Indices:
        """The finest partition that each hypothesis is in."""
        found = np.zeros(len(self.p_of_hypotheses), np.intp)
        for c in range(len(self.hypotheses) - 1, -1, -1):
            numbers = self.hypotheses[c]
            found[numbers[numbers >= 0]] = c
        return found

    def directions(
        self, labels: tuple[str, ...], n_rows: int, partition: int = 0
    ) -> tuple[NDArray[Any], Vector]:
        """Which way each feature goes with the target given all outside its group, and how much.

        ``"rises"`` or ``"falls"`` says what the target does as the feature rises; of several
        outputs the one of largest effect is named. With classes, `labels` being their names, it is
        the class that the feature is highest in. A category does not rise: ``"category"``.
        ``"unclear"`` are effects within two standard errors of 0: weak ones, and those that go up
        here and down there. Features that were not tested have neither direction nor effect, and
        so have copies, which may run backwards.
        """
        names, effects = self._parts, self.effects[partition]
        if labels and len(self.fits) == 1:  # of two classes, one is the other's reverse
            other = next((label for label in labels if label != self.fits[0].part), "")
            names = np.array([self.fits[0].part, other], dtype=object)
            effects = np.concatenate([effects, -effects])
        strongest = (effects if labels else np.abs(effects)).argmax(axis=0)
        effect = effects[strongest, np.arange(self.n_features)]
        way = names[strongest]
        if not labels:
            ways = np.where(effect > 0, "rises", "falls").astype(object)
            way = ways if len(names) == 1 else way + " " + ways
        way = np.where(np.isin(np.arange(self.n_features), self.categories), "category", way)
        way = np.where(np.abs(effect) < 2 / np.sqrt(n_rows), "unclear", way)
        return np.where(self._was_tested, way, ""), np.where(self._was_tested, effect, 0.0)

    def outcome(self, k: int) -> str:
        """What became of a feature that was not selected, in a word or two."""
        if not self._was_tested[k]:
            return "not tested"
        if self.marginal[k] <= MARKED and self.p_values[k] > GONE:
            return "explained by others"
        return "not significant"

    def details(self, k: int) -> dict[str, Any]:
        """Numbers that explain what became of a feature."""
        p = self.p_values[self.tested]
        return {
            "rank": int(np.count_nonzero(p < self.p_values[k])) + 1,
            "guarded": bool(k in self.guarded),
            "near": next(iter(self.neighbours(k)), None),
        }

    def neighbours(self, k: int) -> list[tuple[int, float]]:
        """The features most associated with a feature, with their correlation."""
        near = int(self.neighbour[k])
        return [] if near < 0 else [(near, float(self.similarity[k]))]

    @cached_property
    def _was_tested(self) -> Mask:
        return np.isin(np.arange(self.n_features), self.tested)

    @property
    def _parts(self) -> NDArray[Any]:
        return np.array([fit.part for fit in self.fits], dtype=object)
