"""Turns evidence into a decision: at a level or, if asked for, the best without guarantee."""

from dataclasses import replace
from typing import Any

from ..settings import check_choice, check_count
from .decision import Decision

ON_EMPTY = ("none", "lead", "relax")


def decide_with_fallback(
    evidence: Any, fdr: float, on_empty: str = "none", n_features: int | None = None
) -> Decision:
    """Select at a level.

    Where the level selects nothing, ``on_empty="lead"`` takes the best feature and ``"relax"``
    raises the level until something is selected. `n_features` takes so many, best first, whatever
    the level. None of the three carries a guarantee.
    """
    check_choice("on_empty", on_empty, ON_EMPTY)
    if n_features is not None:
        check_count("n_features", n_features)
        return _take_best(evidence, evidence.decide(fdr), n_features, "n_features")
    decision: Decision = evidence.decide(fdr, "relax" if on_empty == "relax" else "none")
    if on_empty == "lead" and not decision.selected.size:
        return _take_best(evidence, decision, 1, "best feature")
    return decision


def _take_best(evidence: Any, decision: Decision, n: int, rule: str) -> Decision:
    selected = evidence.order[:n]
    threshold = float(decision.scores[selected].min())
    return replace(decision, selected=selected, threshold=threshold, level=1.0, rule=rule)
