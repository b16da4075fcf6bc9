"""Defines Decision, what is selected at a level, and what to do where that is nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from .settings import check_choice, check_count
from .types import Indices, Vector

ROUNDING = 1e-12  # 0.3 + 0.05 + 0.05 counts as 0.4
STEP = 0.05  # by which the relaxed rule raises the level
LEVELS = (0.1, 0.2, 0.3)  # whose answers are reported, whatever the level requested
ON_EMPTY = ("none", "raise", "best", "relax")


@dataclass(frozen=True, eq=False)
class Decision:
    """Which features are selected, at which level, and why.

    Attributes
    ----------
    selected
        Selected features, best first.
    scores
        What hypotheses were ranked by: W, the mean e-value over several draws, or -log10 p.
    q_values
        Smallest level that selects each feature, 1 if there is none.
    frequency
        Share of the draws that select each feature.
    threshold
        Features with this score or more are selected; ``inf`` if there are none.
    fdr
        The level requested.
    level
        The level used; above `fdr` if the rule was relaxed, 1 if features were taken by rank.
    rule
        ``"knockoff+"``, ``"e-values"`` over several draws, ``"bh"``, ``"by"`` or ``"holm"`` for
        p-values; or ``"relaxed"``, ``"best feature"`` and ``"n_features"`` (a number was
        requested), which carry no guarantee.
    n_needed
        Fewest features that can be selected: with knockoffs 1 / level, since with none below the
        mirrored cut-off the estimate of the false discovery proportion is still 1 / n.

    Examples
    --------
    >>> from smrmr.paper import decide
    >>> made = decide([9.0, 8.0, 7.0, 6.0, 5.0, 0.5, -0.4], fdr=0.2)
    >>> made.selected.tolist(), made.threshold, made.rule, made.guaranteed
    ([0, 1, 2, 3, 4, 5], 0.5, 'knockoff+', True)
    """

    selected: Indices
    scores: Vector
    q_values: Vector
    frequency: Vector
    threshold: float
    fdr: float
    level: float
    rule: str
    n_needed: int

    @property
    def smallest_level(self) -> float:
        """The smallest level at which something would be selected; ``inf`` if there is none."""
        return min((float(q) for q in self.q_values if q < 1), default=np.inf)

    @property
    def guaranteed(self) -> bool:
        """Whether the level was fixed beforehand, which the guarantee needs."""
        return self.rule not in ("relaxed", "best feature", "n_features")


class Decidable(Protocol):
    """What a level can be set on."""

    @property
    def order(self) -> Indices:
        """Hypotheses, best first, one for each feature that represents any."""

    def decide(self, fdr: float, on_empty: str = "none") -> Decision:
        """The decision at a level."""


def decide_with_fallback(
    evidence: Decidable, fdr: float, on_empty: str = "none", n_features: int | None = None
) -> Decision:
    """The decision at a level, with a fallback where it selects nothing.

    ``on_empty="best"`` takes the best feature, ``"relax"`` raises the level until something is
    selected. `n_features` takes so many, best first, whatever the level. None of the three carries
    a guarantee.
    """
    check_choice("on_empty", on_empty, ON_EMPTY)
    if n_features is not None:
        check_count("n_features", n_features)
        return _take_best(evidence, evidence.decide(fdr), n_features, "n_features")
    decision = evidence.decide(fdr, "relax" if on_empty == "relax" else "none")
    if on_empty == "best" and not decision.selected.size:
        return _take_best(evidence, decision, 1, "best feature")
    return decision


def _take_best(evidence: Decidable, decision: Decision, n: int, rule: str) -> Decision:
    selected = evidence.order[:n]
    threshold = float(decision.scores[selected].min())
    return replace(decision, selected=selected, threshold=threshold, level=1.0, rule=rule)


def higher_levels(fdr: float) -> list[float]:
    """Levels that the relaxed rule tries."""
    steps = int(np.ceil((1 - fdr) / STEP - 1e-9))
    return [min(round(fdr + STEP * i, 10), 1.0) for i in range(1, steps + 1)]
