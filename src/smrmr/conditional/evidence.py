"""Defines what conditional tests find: p-values of all hypotheses, and what they rest on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..decision import Decision
from ..features.groups import MembersByNumber
from ..types import Indices, Matrix, Vector
from .feature_pairs import FeaturePairs
from .rules import Rule, as_rule, decide_by_rule


@dataclass(frozen=True, eq=False)
class Fit:
    """How one column of the target was fitted.

    `target` is the name of the class or output; `explained` the share of its variance that each
    kind of fit explains on rows left out, with everything chosen anew without them, and `errors`
    the standard errors of these shares; `taken` is the kind whose residuals were tested, empty if
    none predicts clearly better than the mean; `uses_absolute_values` says that absolute values of
    features improved the fit; `used` are positions in X of the features that took part, and
    `n_offered` is the number of features that a sparse fit could choose from.
    """

    target: str
    explained: dict[str, float]
    errors: dict[str, float]
    taken: str
    uses_absolute_values: bool
    used: Indices
    n_offered: int

    @property
    def share(self) -> float:
        """Share of variance that the fit taken explains on rows left out; 0 if none was."""
        return self.explained.get(self.taken, 0.0)

    @property
    def share_error(self) -> float:
        """Standard error of that share."""
        return self.errors.get(self.taken, 0.0)


@dataclass(frozen=True, eq=False)
class ConditionalEvidence:
    """What conditional tests found; entries are by position in X but for those of hypotheses.

    A hypothesis is about a feature with its copies, or about a group of look-alikes. Several
    partitions of the features into groups, from fine to coarse, may have been tested together.

    Attributes
    ----------
    relevance
        Squared projection correlation of every feature with the target.
    hypotheses
        For each partition the hypothesis that each feature belongs to, -1 for constants and for
        features that are not of interest.
    p_of_hypotheses
        p-value of each hypothesis given all features outside it; 1 if it was not tested.
    p_of_members
        For each partition the p-value of each feature given all features outside its group.
    p_by_target
        For each partition and column of the target the p-value of each feature given all features
        outside its group.
    effects
        For each partition and column of the target the correlation of the residual of a feature
        with that of the target: its sign is the direction. That of a category is the one of its
        strongest level, without sign.
    freedom, residual_variance
        Degrees of freedom of the effects, and share of a feature's variance that its neighbours do
        not explain, in the finest partition.
    neighbours, similarity
        The two features outside its group that correlate most with it beyond chance, -1 where
        there is none, and by how much (of normal scores), in the finest partition: (2, features).
    spread_share
        Share of residuals that are the larger the wider their row is in the other features.
    excess
        How far the residuals of a feature and of the target go together across rows of nearly the
        same covariates, in standard deviations; 0 without covariates or for large p-values.
    p_of_interaction
        p-value of each feature with any partner, given all others: part of its p-value.
    pairs
        Pairs of features that may act together.
    tested, raised
        Features that were tested, and those whose p-value was raised because their residual still
        depends on another feature, or on the spread of the row.
    categories
        Features whose values are labels without an order.
    fits
        How each column of the target was fitted.
    rule
        What turns p-values into q-values; JSON holds its name.
    settings
        Settings of the controller.
    """

    relevance: Vector
    hypotheses: tuple[Indices, ...]
    p_of_hypotheses: Vector
    p_of_members: tuple[Vector, ...]
    p_by_target: tuple[Matrix, ...]
    effects: tuple[Matrix, ...]
    freedom: Vector
    residual_variance: Vector
    neighbours: Indices
    similarity: Matrix
    spread_share: float
    excess: Vector
    p_of_interaction: Vector
    pairs: FeaturePairs
    tested: Indices
    raised: Indices
    categories: Indices
    fits: tuple[Fit, ...]
    rule: Rule
    settings: dict[str, Any]
    kind: ClassVar[str] = "tests"

    def __post_init__(self) -> None:
        size = len(self.fits), len(self.relevance)  # which JSON does not tell if there are none
        for name in ("effects", "p_by_target"):
            shaped = tuple(np.asarray(part).reshape(size) for part in getattr(self, name))
            object.__setattr__(self, name, shaped)
        object.__setattr__(self, "rule", as_rule(self.rule))

    @property
    def n_features(self) -> int:
        """Number of features in X."""
        return len(self.relevance)

    @cached_property
    def p_values(self) -> Vector:
        """p-value of each feature, or of its group in the finest partition; 1 if not tested."""
        return np.where(self.hypotheses[0] < 0, 1.0, self.p_of_hypotheses[self.hypotheses[0]])

    @cached_property
    def p_of_representatives(self) -> Vector:
        """p-value of each feature, or of a group that it represents if that is smaller."""
        best = self.p_values.copy()
        np.minimum.at(best, self.representatives, self.p_of_hypotheses)
        return best

    @property
    def scores(self) -> Vector:
        """What features are ranked by: -log10 p."""
        return np.asarray(-np.log10(self.p_of_representatives) + 0.0)

    @property
    def weighed(self) -> Indices:
        """Features that have a score of their own: those that were tested."""
        return self.tested

    @cached_property
    def representatives(self) -> Indices:
        """For each hypothesis the member of smallest p-value given those outside."""
        best = np.empty(len(self.p_of_hypotheses), np.intp)
        for numbers, p in zip(self.hypotheses, self.p_of_members, strict=True):
            order = np.lexsort((-self.relevance, p))[::-1]
            order = order[numbers[order] >= 0]
            best[numbers[order]] = order  # the last one, which is the best, stays
        return best

    @property
    def ranking(self) -> Indices:
        """Representatives of hypotheses that were tested, best first."""
        ranked = self.representatives[self._by_p]
        ranked = ranked[np.sort(np.unique(ranked, return_index=True)[1])]
        return np.asarray(ranked[np.isin(ranked, self.tested)])

    @cached_property
    def order(self) -> Indices:
        """A hypothesis of every representative, best first; findings that repeat others come last.

        Of groups within groups, one that holds features of a better one, or is among them, is the
        same finding again.
        """
        covered = np.zeros(self.n_features, np.bool_)
        new, again = list[int](), list[int]()
        for h in self._by_p.tolist():
            inside = self._inside[self.finest_partition[h]].of(h)
            (again if covered[inside].any() else new).append(h)
            covered[inside] = True
        order = np.array([*new, *again], dtype=np.intp)
        return order[np.sort(np.unique(self.representatives[order], return_index=True)[1])]

    def at_level(self, fdr: float) -> ConditionalEvidence:
        """What another level would have found: the same."""
        return self

    def decide(self, fdr: float, on_empty: str = "none") -> Decision:
        """Select hypotheses at a level; of groups within groups the innermost."""
        return decide_by_rule(
            self.rule,
            self.p_of_hypotheses,
            self.parents,
            fdr,
            on_empty,
            self.relevance[self.representatives],
        )

    @cached_property
    def parents(self) -> Indices:
        """For each hypothesis the next larger one around it, -1 if there is none."""
        parents = np.full(len(self.p_of_hypotheses), -1)
        for inner, outer in zip(self.hypotheses, self.hypotheses[1:], strict=False):
            wider = (inner != outer) & (inner >= 0)
            parents[inner[wider]] = outer[wider]
        return parents

    def members_of(self, hypothesis: int) -> Indices:
        """Features that a hypothesis is about, copies too: its representative, then by p-value."""
        partition = self.finest_partition[hypothesis]
        inside = self._inside[partition].of(hypothesis)
        others = inside != self.representatives[hypothesis]
        p = self.p_of_members[partition][inside]
        return np.asarray(inside[np.lexsort((-self.relevance[inside], p, others))])

    @cached_property
    def finest_partition(self) -> Indices:
        """The finest partition that each hypothesis is in."""
        found = np.zeros(len(self.p_of_hypotheses), np.intp)
        for c in range(len(self.hypotheses) - 1, -1, -1):
            numbers = self.hypotheses[c]
            found[numbers[numbers >= 0]] = c
        return found

    @property
    def _by_p(self) -> Indices:
        """All hypotheses, smallest p-value first, ties by relevance."""
        return np.lexsort((-self.relevance[self.representatives], self.p_of_hypotheses))

    @cached_property
    def _inside(self) -> tuple[MembersByNumber, ...]:
        return tuple(MembersByNumber(numbers) for numbers in self.hypotheses)
