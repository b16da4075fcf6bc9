"""What follows from a selection for its features and groups, by their positions in X."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..conditional.evidence import ConditionalEvidence
from ..controllers import Evidence
from ..decision import Decision
from ..paper.evidence import KnockoffEvidence
from ..types import Indices, Mask, Vector
from .trends import Trends


class Views:
    """What follows from the fields of a `smrmr.Selection`, each computed on first use."""

    names: tuple[str, ...]
    evidence: Evidence
    decision: Decision
    trends: Trends
    likeness: tuple[Vector, ...]
    copies: tuple[Indices, ...]

    @property
    def n_features(self) -> int:
        """Number of features in X."""
        return len(self.names)

    @property
    def fdr(self) -> float:
        """The level requested."""
        return self.decision.fdr

    @property
    def W(self) -> Vector:  # noqa: N802 the paper's letter
        """Importance of every feature, 0 if it was not kept; the mean over draws. Of knockoffs."""
        if isinstance(self.evidence, KnockoffEvidence):
            return self.evidence.W
        raise self._without("W", "p_values")

    @property
    def p_values(self) -> Vector:
        """p-value of every feature, or its group, given all others; 1 if not tested. Of tests."""
        if isinstance(self.evidence, ConditionalEvidence):
            return self.evidence.p_values
        raise self._without("p_values", "W")

    def _without(self, name: str, instead: str) -> AttributeError:
        return AttributeError(
            f"a selection by {self.evidence.kind} has no {name}: use q_values, which every "
            f"selection has, or {instead}."
        )

    @property
    def relevance(self) -> Vector:
        """Association of every feature with the target."""
        return np.asarray(self.evidence.relevance)

    @cached_property
    def selected(self) -> Indices:
        """Selected features, best first; of every selected group its representative."""
        return np.asarray(self.evidence.representatives[self.decision.selected])

    @cached_property
    def members(self) -> tuple[Indices, ...]:
        """For each selected feature its group: itself, its look-alikes and copies."""
        return tuple(self.evidence.members_of(int(h)) for h in self.decision.selected)

    @cached_property
    def look_alikes(self) -> tuple[Indices, ...]:
        """For each selected feature the others of its group, copies counted once."""
        return tuple(
            np.setdiff1d(self.leaders[group], self.leaders[k])
            for k, group in zip(self.selected, self.members, strict=True)
        )

    @cached_property
    def alike(self) -> tuple[Vector, ...]:
        """Spearman's correlation of each of `members` with its representative."""
        return tuple(self.likeness_of(int(h)) for h in self.decision.selected)

    @property
    def n_groups(self) -> int:
        """How many of the selected features represent a group of look-alikes."""
        return sum(len(others) > 0 for others in self.look_alikes)

    @cached_property
    def grouped(self) -> bool:
        """Whether groups of features other than copies were tested."""
        numbers = self.evidence.hypotheses[-1]
        own = (self.leaders == np.arange(self.n_features)) & (numbers >= 0)
        return bool(len(np.unique(numbers[own])) < np.count_nonzero(own))

    @cached_property
    def carriers(self) -> tuple[Indices, ...]:
        """For each selected feature the members of its group that may carry its association.

        If one member alone does, it is among these with 95% confidence. If there are none, it takes
        more than one.
        """
        return tuple(self.evidence.carriers_of(int(h)) for h in self.decision.selected)

    @cached_property
    def found_with(self) -> Indices:
        """For each feature the selected one whose group it is in, -1 for none."""
        found = np.full(self.n_features, -1)
        for k, group in zip(self.selected, self.members, strict=True):
            found[group] = k
        return found

    @property
    def selected_names(self) -> list[str]:
        """Names of the selected features, best first."""
        return [self.names[k] for k in self.selected]

    @cached_property
    def support(self) -> Mask:
        """Which features are selected."""
        return np.isin(np.arange(self.n_features), self.selected)

    @cached_property
    def q_values(self) -> Vector:
        """Smallest level that selects each feature, or a group it represents; 1 if none does."""
        q = self._by_feature(self.decision.q_values, 1.0).copy()
        np.minimum.at(q, self.evidence.representatives, self.decision.q_values)
        return q

    @cached_property
    def frequency(self) -> Vector:
        """Share of the draws of knockoffs that select each feature, or its group."""
        return self._by_feature(self.decision.frequency, 0.0)

    @cached_property
    def leaders(self) -> Indices:
        """For each feature the one that stood for it: itself, or the first of its copies."""
        leaders = np.arange(self.n_features)
        for same in self.copies:
            leaders[same] = same[0]
        return leaders

    def n_alike(self, feature: int) -> int:
        """Size of the smallest group in which a feature was tested, copies counted once.

        Parameters
        ----------
        feature
            Its position in X.

        Returns
        -------
        int
            1 for a feature that was tested on its own.
        """
        numbers = self.evidence.hypotheses[0]
        inside = np.flatnonzero(numbers == numbers[feature])
        return len(np.unique(self.leaders[inside]))

    @cached_property
    def shapes(self) -> NDArray[Any]:
        """Shape of the marginal association of each of the best features; empty for others.

        ``"rises"``, ``"falls"``, ``"U"``, ``"arch"``, ``"threshold"`` or ``"unclear"``; with
        classes ``"up in"`` the class of largest mean; ``"category"`` for what is no number.
        """
        shapes = np.full(self.n_features, "", dtype=object)
        shapes[self.trends.features] = self.trends.shapes
        return shapes

    def sizes(self) -> dict[str, Vector]:
        """Sizes of the marginal associations of the best features; NaN for others.

        By name: Spearman's ``correlation``; with classes the mean in each, and of two classes
        their difference in standard deviations and the fold change.
        """
        sizes = {}
        for name, values in self.trends.sizes().items():
            sizes[name] = np.full(self.n_features, np.nan)
            sizes[name][self.trends.features] = values
        return sizes

    def position(self, feature: str | int) -> int:
        """Position of a feature in X.

        Parameters
        ----------
        feature
            Its name, or the position itself.

        Returns
        -------
        int
            The position.

        Raises
        ------
        ValueError
            If there is no such feature; the message names those that are spelt alike.
        """
        if isinstance(feature, str):
            if feature in self.names:
                return self.names.index(feature)
            close = get_close_matches(feature, self.names, n=3)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise ValueError(f"there is no feature {feature!r}.{hint}")
        if not isinstance(feature, Integral) or not 0 <= int(feature) < self.n_features:
            raise ValueError(f"feature {feature!r} is not between 0 and {self.n_features - 1}.")
        return int(feature)

    def likeness_of(self, hypothesis: int) -> Vector:
        """Spearman's correlation of the members of a hypothesis with its representative.

        Parameters
        ----------
        hypothesis
            Its number, as in ``decision.selected``.

        Returns
        -------
        ndarray
            One correlation for each member, 1 for the representative.
        """
        members = self.evidence.members_of(hypothesis)
        partitions = zip(self.evidence.hypotheses, self.likeness, strict=True)
        return next(r[members] for numbers, r in partitions if numbers[members[0]] == hypothesis)

    def _by_feature(self, values: Vector, otherwise: float) -> Vector:
        """Values of hypotheses by feature, going by the finest groups; constants have none."""
        numbers = self.evidence.hypotheses[0]
        return np.where(numbers < 0, otherwise, values[numbers])
