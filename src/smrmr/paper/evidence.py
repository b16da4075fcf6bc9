"""Defines what the knockoff filter finds: one Draw per split and draw of knockoffs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..decision import Decision
from ..features.groups import MembersByNumber
from ..types import Indices, Matrix, Vector
from .diagnose import Diagnosis
from .threshold import decide


@dataclass(frozen=True, eq=False)
class Draw:
    """One pass of the method: a split of the rows, a draw of knockoffs, a solution.

    Features are positions in X. `theta`, `theta_knockoff`, `W` and `s` have one entry for each kept
    feature (`s` none for given knockoffs); `neighbours` are the kept features most associated with
    each, and `association` says how much.
    """

    n_screen: int
    n_select: int
    shortlisted: Indices
    kept: Indices
    theta: Vector
    theta_knockoff: Vector
    W: Vector
    lam: float
    lams: Vector
    losses: Vector
    at_floor: bool
    covariance: str
    s: Vector
    diagnosis: Diagnosis
    neighbours: Indices
    association: Matrix


@dataclass(frozen=True, eq=False)
class KnockoffEvidence:
    """What every draw found about every feature.

    Attributes
    ----------
    relevance
        Association of every feature with the target, on the rows that screen (all rows if none do);
        the mean over draws.
    hypotheses
        The hypothesis that each feature belongs to: itself with its copies, or a group of
        look-alikes; -1 for constants. There is one partition of the features.
    draws
        One per split and draw of knockoffs.
    inner_fdr
        The level of each of several draws, fixed before looking at the data.
    settings
        Settings of the filter and, by nested names such as ``knockoffs__s``, of its strategies.
    """

    relevance: Vector
    hypotheses: tuple[Indices, ...]
    draws: tuple[Draw, ...]
    inner_fdr: float
    settings: dict[str, Any]
    kind: ClassVar[str] = "knockoffs"

    @property
    def n_features(self) -> int:
        """Number of features in X."""
        return len(self.relevance)

    @cached_property
    def W(self) -> Vector:  # noqa: N802 the paper's letter
        """Importance of every feature or of its group, 0 if none was kept; the mean over draws."""
        numbers, total = self.hypotheses[0], self._by_hypothesis.mean(axis=0)
        return np.where(numbers < 0, 0.0, total[numbers])

    @cached_property
    def representatives(self) -> Indices:
        """For each hypothesis the feature of largest coefficient."""
        numbers = self.hypotheses[0]
        order = np.lexsort((-self.relevance, -self.theta))[::-1]
        order = order[numbers[order] >= 0]
        best = np.empty(self._by_hypothesis.shape[1], np.intp)
        best[numbers[order]] = order  # the last one, which is the best, stays
        return best

    @cached_property
    def theta(self) -> Vector:
        """Coefficient of every feature, 0 if it was not kept; the mean over draws."""
        return self._mean_over_draws("theta")

    @cached_property
    def theta_knockoff(self) -> Vector:
        """Coefficient of every feature's knockoff; the mean over draws."""
        return self._mean_over_draws("theta_knockoff")

    @cached_property
    def kept(self) -> Indices:
        """Features that passed the screen in some draw."""
        return np.asarray(np.unique(np.concatenate([draw.kept for draw in self.draws])))

    @property
    def scores(self) -> Vector:
        """What features are ranked by: W."""
        return self.W

    @property
    def weighed(self) -> Indices:
        """Features that have a score of their own: those that passed the screen."""
        return self.kept

    @property
    def ranking(self) -> Indices:
        """Features that beat their knockoff, or represent a group that does, best first."""
        features = np.sort(self.representatives)
        ranked = features[np.argsort(-self.W[features], kind="stable")]
        return np.asarray(ranked[self.W[ranked] > 0])

    @cached_property
    def order(self) -> Indices:
        """All hypotheses, largest W first, ties by relevance."""
        W = self._by_hypothesis.mean(axis=0)
        return np.asarray(np.lexsort((-self.relevance[self.representatives], -W)))

    def at_level(self, fdr: float) -> KnockoffEvidence:
        """What another level would have found: the same, each draw cut at half of that level."""
        return replace(self, inner_fdr=fdr / 2)

    @property
    def failed(self) -> list[Diagnosis]:
        """Diagnoses that put the knockoffs in doubt; one draw in ten may fail by chance."""
        failed = [draw.diagnosis for draw in self.draws if not draw.diagnosis.passed]
        return failed if len(failed) > 0.1 * len(self.draws) else []

    def decide(self, fdr: float, on_empty: str = "none") -> Decision:
        """Select at a level: by knockoff+, over several draws by e-values."""
        return decide(
            self._by_hypothesis,
            fdr,
            on_empty=on_empty,
            relevance=self.relevance[self.representatives],
            inner_fdr=self.inner_fdr,
        )

    def members_of(self, hypothesis: int) -> Indices:
        """Features that a hypothesis is about, copies among them, the heaviest first."""
        inside = self._inside.of(hypothesis)
        order = np.lexsort((-self.relevance[inside], -self.theta[inside]))
        return np.asarray(inside[order])

    def n_kept(self, k: int) -> int:
        """Number of draws in which a feature passed the screen."""
        return sum(k in draw.kept for draw in self.draws)

    @cached_property
    def _inside(self) -> MembersByNumber:
        return MembersByNumber(self.hypotheses[0])

    @cached_property
    def _by_hypothesis(self) -> Matrix:
        """W of every hypothesis in every draw: the sum over its features."""
        numbers = self.hypotheses[0]
        W = np.zeros((len(self.draws), int(numbers.max()) + 1))
        for row, draw in zip(W, self.draws, strict=True):
            np.add.at(row, numbers[draw.kept], draw.W)
        return W

    def _mean_over_draws(self, name: str) -> Vector:
        total = np.zeros(self.n_features)
        for draw in self.draws:
            total[draw.kept] += getattr(draw, name)
        return total / len(self.draws)
