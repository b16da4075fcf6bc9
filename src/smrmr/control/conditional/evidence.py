"""Defines what conditional tests find: a p-value of every feature, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...types import Indices, Mask, Matrix, Vector
from ..decision import Decision
from .multiplicity import decide

MARKED = 0.01  # p-value alone up to which a feature counts as associated with the target
GONE = 0.1  # p-value given all others above which nothing of that seems to be left


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
    """What the tests found about every feature; entries are by position in X.

    Attributes
    ----------
    relevance
        Squared projection correlation of every feature with the target.
    p_values
        Chance of at least this much association with what is left of the target, given all other
        features, if there is none; 1 for features that were not tested. Copies share theirs.
    marginal
        The same for every feature alone, with no other adjusted for.
    effects
        Correlation of what is left of a feature with what is left of the target, (parts, p): its
        sign is the direction.
    left
        Share of a feature's variance that its neighbours do not explain.
    neighbour, similarity
        The feature that correlates most with it beyond chance, -1 if there is none, and by how
        much (of normal scores).
    hypotheses
        Features that are neither constant nor a copy of one before.
    tested, guarded
        Those of them that were tested, and those whose p-value was raised because what is left of
        them still depends on another feature.
    fits
        How each part of the target was fitted.
    multiplicity
        ``"bh"``, ``"by"`` or ``"holm"``.
    settings
        Settings of the controller.
    """

    relevance: Vector
    p_values: Vector
    marginal: Vector
    effects: Matrix
    left: Vector
    neighbour: Indices
    similarity: Vector
    hypotheses: Indices
    tested: Indices
    guarded: Indices
    fits: tuple[Fit, ...]
    multiplicity: str
    settings: dict[str, Any]
    kind: ClassVar[str] = "tests"
    shown: ClassVar[tuple[str, ...]] = ("p_value", "q_value", "direction", "effect")
    __test__: ClassVar[bool] = False  # pytest, this is no test

    def __post_init__(self) -> None:
        size = len(self.fits), len(self.relevance)
        object.__setattr__(self, "effects", np.asarray(self.effects).reshape(size))

    @property
    def n_features(self) -> int:
        """Number of features in X."""
        return len(self.relevance)

    @property
    def scores(self) -> Vector:
        """What features are ranked by: the more digits of p are zero, the better."""
        return np.asarray(-np.log10(self.p_values) + 0.0)

    @property
    def weighed(self) -> Indices:
        """Features that have a score of their own: those that were tested."""
        return self.tested

    @property
    def ranking(self) -> Indices:
        """Features that were tested, best first."""
        order = np.lexsort((-self.relevance[self.tested], self.p_values[self.tested]))
        return np.asarray(self.tested[order])

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
        """Select at a level; a feature stands for its copies, which count as one discovery."""
        return decide(
            self.p_values, self.hypotheses, fdr, self.multiplicity, on_empty, self.relevance
        )

    def columns(self, labels: tuple[str, ...], n_rows: int) -> dict[str, NDArray[Any]]:
        """What a table of all features shows besides the decision."""
        direction, effect = self.directions(labels, n_rows)
        return {
            "p_value": self.p_values,
            "direction": direction,
            "effect": effect,
            "p_value_alone": self.marginal,
            "relevance": self.relevance,
            "left": self.left,
        }

    def directions(self, labels: tuple[str, ...], n_rows: int) -> tuple[NDArray[Any], Vector]:
        """Which way each feature goes with the target given all others, and how much.

        ``"rises"`` or ``"falls"`` says what the target does as the feature rises; of several
        outputs the one of largest effect is named. With classes, `labels` being their names, it is
        the class that the feature is highest in. ``"unclear"`` are effects within two standard
        errors of 0: weak ones, and those that go up here and down there. Features that were not
        tested have neither direction nor effect, and so have copies, which may run backwards.
        """
        names, effects = self._by_class(labels) if labels else (self._parts, self.effects)
        strongest = (effects if labels else np.abs(effects)).argmax(axis=0)
        effect = effects[strongest, np.arange(self.n_features)]
        way = names[strongest]
        if not labels:
            ways = np.where(effect > 0, "rises", "falls").astype(object)
            way = ways if len(names) == 1 else way + " " + ways
        way = np.where(np.abs(effect) < 2 / np.sqrt(n_rows), "unclear", way)
        return np.where(self._was_tested, way, ""), np.where(self._was_tested, effect, 0.0)

    def _by_class(self, labels: tuple[str, ...]) -> tuple[NDArray[Any], Matrix]:
        """Names of all classes, and effects by class; of two, one is the other's reverse."""
        if len(self.fits) > 1:
            return self._parts, self.effects
        other = next((label for label in labels if label != self.fits[0].part), "")
        names = np.array([self.fits[0].part, other], dtype=object)
        return names, np.concatenate([self.effects, -self.effects])

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
