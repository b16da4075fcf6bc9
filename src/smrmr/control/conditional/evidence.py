"""Defines what conditional tests find: a p-value of every feature, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...types import Indices, Matrix, Vector
from ..decision import Decision
from .multiplicity import adjust, decide

MARKED = 0.01  # p-value alone from which a feature counts as associated with the target


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
        features, if there is none; 1 for features that were not tested.
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
    tested, guarded
        Features that were tested, and those whose p-value was raised because what is left of them
        still depends on another feature.
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
    tested: Indices
    guarded: Indices
    fits: tuple[Fit, ...]
    multiplicity: str
    settings: dict[str, Any]
    kind: ClassVar[str] = "tests"
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
    def ranking(self) -> Indices:
        """Features whose p-value is 0.05 or less, best first, and the ten best in any case."""
        order = np.lexsort((-self.relevance, self.p_values))
        n = np.count_nonzero(self.p_values <= 0.05)
        return np.asarray(order[: max(n, min(10, len(self.tested)))])

    @property
    def facts(self) -> dict[str, int]:
        """Numbers for the head of a report."""
        return {"tested": len(self.tested)}

    @property
    def failed(self) -> list[str]:
        """What puts the level in doubt: nothing that these tests could see of themselves."""
        return []

    def decide(self, fdr: float, on_empty: str = "none") -> Decision:
        """Select at a level."""
        return decide(self.p_values, fdr, self.multiplicity, on_empty, self.relevance)

    def columns(self) -> dict[str, Vector]:
        """Numbers about every feature, by name, for tables."""
        strongest = np.abs(self.effects).argmax(axis=0)
        return {
            "p_value": self.p_values,
            "effect": self.effects[strongest, np.arange(self.n_features)],
            "p_value_alone": self.marginal,
            "relevance": self.relevance,
            "left": self.left,
        }

    def outcome(self, k: int) -> str:
        """What became of a feature that was not selected, in a word or two."""
        if k not in self._tested:
            return "not tested"
        if self.marginal[k] <= MARKED and self.p_values[k] > MARKED:
            return "explained by others"
        return "not significant"

    def details(self, k: int) -> dict[str, Any]:
        """Numbers that explain what became of a feature."""
        strongest = int(np.abs(self.effects[:, k]).argmax())
        return {
            "rank": int(np.count_nonzero(self.p_values < self.p_values[k])) + 1,
            "effect": float(self.effects[strongest, k]),
            "part": self.fits[strongest].part,
            "guarded": k in self.guarded,
        }

    def neighbours(self, k: int) -> list[tuple[int, float]]:
        """The features most associated with a feature, with their correlation."""
        near = int(self.neighbour[k])
        return [] if near < 0 else [(near, float(self.similarity[k]))]

    @cached_property
    def q_values(self) -> Vector:
        """Smallest level that selects each feature."""
        return adjust(self.p_values, self.multiplicity)

    @cached_property
    def _tested(self) -> set[int]:
        return set(self.tested.tolist())
