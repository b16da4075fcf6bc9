"""Turns p-values into q-values: how many tests were made is part of every answer."""

import numpy as np

from ..decision import ROUNDING, Decision, higher_levels
from ..settings import check_choice, check_level
from ..types import Indices, Mask, Vector

RULES = ("bh", "by", "holm")


def adjust(p_values: Vector, rule: str = "bh", parents: Indices | None = None) -> Vector:
    """Smallest level at which each hypothesis is rejected.

    ``"bh"`` (Benjamini and Hochberg 1995) controls the FDR where p-values are independent or
    depend positively; ``"by"`` (Benjamini and Yekutieli 2001) whatever their dependence;
    ``"holm"`` (1979) even the chance of a single false rejection.

    Hypotheses about groups within groups name their `parents`, -1 for none. Of those rejected only
    the innermost are reported, and only these count (focused BH: Katsevich, Sabatti and Bogomolov
    2023).

    Examples
    --------
    >>> adjust(np.array([0.01, 0.02, 0.5])).tolist()
    [0.03, 0.03, 0.5]
    >>> adjust(np.array([0.01, 0.02, 0.5]), "holm").tolist()
    [0.03, 0.04, 0.5]

    A feature and the group around it are one discovery, not two:

    >>> adjust(np.array([0.02, 0.01]), parents=np.array([1, -1])).tolist()
    [0.04, 0.02]
    """
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    place = np.arange(1, m + 1)
    if rule == "holm":
        levels = np.maximum.accumulate(p_values[order] * (m + 1 - place))
    else:
        factor = np.sum(1 / place) if rule == "by" else 1.0
        count = place if parents is None else _count_innermost(order, parents)
        count = count[np.searchsorted(p_values[order], p_values[order], side="right") - 1]
        levels = p_values[order] * factor * m / count
        levels = np.minimum.accumulate(levels[::-1])[::-1]
    q = np.empty(m)
    q[order] = np.minimum(levels, 1.0)
    return q


def innermost(chosen: Mask, parents: Indices) -> Mask:
    """Which of the chosen hypotheses have no chosen one within them."""
    around = np.zeros(len(chosen), np.bool_)
    for k in np.flatnonzero(chosen):
        above = parents[k]
        while above >= 0 and not around[above]:
            around[above] = True
            above = parents[above]
    return chosen & ~around


def _count_innermost(order: Indices, parents: Indices) -> Indices:
    """Number of innermost hypotheses among the first 1, 2, 3, ... of an order."""
    chosen, around = np.zeros((2, len(order)), np.bool_)
    counts = np.empty(len(order), np.intp)
    count = 0
    for i, k in enumerate(order):
        chosen[k] = True
        count += not around[k]
        above = parents[k]
        while above >= 0 and not around[above]:
            around[above] = True
            count -= bool(chosen[above])
            above = parents[above]
        counts[i] = count
    return counts


def largest_alone(m: int, level: float, rule: str = "bh") -> float:
    """Largest p-value that is selected if no other of m p-values is below 1.

    >>> largest_alone(100, 0.1)
    0.001
    """
    return float(level / m / (np.sum(1 / np.arange(1, m + 1)) if rule == "by" else 1.0))


def decide(
    p_values: Vector, parents: Indices, fdr: float, rule: str, on_empty: str, relevance: Vector
) -> Decision:
    """Select the hypotheses whose q-value is at most the level, smallest p-value first.

    Those that hold another one that is selected are left out.

    ``on_empty="relax"`` raises the level in steps of 0.05 until something is selected, and takes
    the smallest p-value if nothing ever is.
    """
    fdr = check_level(fdr)
    check_choice("on_empty", on_empty, ("none", "relax"))
    q = adjust(p_values, rule, parents)
    for level in [fdr, *(higher_levels(fdr) if on_empty == "relax" else [])]:
        chosen = (q <= level + ROUNDING) & (q < 1)
        if chosen.any():
            break
    used = "relaxed" if level > fdr else rule
    order = np.lexsort((-relevance, p_values))
    selected = order[innermost(chosen, parents)[order]]
    if on_empty == "relax" and not selected.size:
        selected, used = order[:1], "best feature"
    scores = -np.log10(p_values) + 0.0
    return Decision(
        selected=selected,
        scores=scores,
        q_values=q,
        frequency=np.isin(np.arange(len(q)), selected).astype(np.float64),
        threshold=float(scores[selected].min(initial=np.inf)),
        fdr=fdr,
        level=level,
        rule=used,
        n_needed=1,
    )
