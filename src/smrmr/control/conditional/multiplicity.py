"""Turns p-values into q-values: how many tests were made is part of every answer."""

import numpy as np

from ...settings import check_choice, check_level
from ...types import Indices, Vector
from ..decision import ROUNDING, Decision, higher_levels

RULES = ("bh", "by", "holm")


def adjust(p_values: Vector, rule: str = "bh") -> Vector:
    """Smallest level at which each hypothesis is rejected.

    ``"bh"`` (Benjamini and Hochberg 1995) controls the FDR where p-values are independent or
    depend positively; ``"by"`` (Benjamini and Yekutieli 2001) whatever their dependence;
    ``"holm"`` (1979) even the chance of a single false rejection.

    Examples
    --------
    >>> adjust(np.array([0.01, 0.02, 0.5])).tolist()
    [0.03, 0.03, 0.5]
    >>> adjust(np.array([0.01, 0.02, 0.5]), "holm").tolist()
    [0.03, 0.04, 0.5]
    """
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    place = np.arange(1, m + 1)
    if rule == "holm":
        levels = np.maximum.accumulate(p_values[order] * (m + 1 - place))
    else:
        factor = np.sum(1 / place) if rule == "by" else 1.0
        levels = p_values[order] * factor * m / place
        levels = np.minimum.accumulate(levels[::-1])[::-1]
    q = np.empty(m)
    q[order] = np.minimum(levels, 1.0)
    return q


def largest_alone(m: int, level: float, rule: str = "bh") -> float:
    """Largest p-value that is selected if no other of m p-values is below 1.

    >>> largest_alone(100, 0.1)
    0.001
    """
    return float(level / m / (np.sum(1 / np.arange(1, m + 1)) if rule == "by" else 1.0))


def decide(
    p_values: Vector, among: Indices, fdr: float, rule: str, on_empty: str, relevance: Vector
) -> Decision:
    """Select the features whose q-value is at most the level, smallest p-value first.

    The hypotheses are the features `among` all; copies and constants are none of their own.

    ``on_empty="relax"`` raises the level in steps of 0.05 until something is selected, and takes
    the smallest p-value if nothing ever is.
    """
    fdr = check_level(fdr)
    check_choice("on_empty", on_empty, ("none", "relax"))
    q = np.ones(len(p_values))
    q[among] = adjust(p_values[among], rule)
    for level in [fdr, *(higher_levels(fdr) if on_empty == "relax" else [])]:
        chosen = (q <= level + ROUNDING) & (q < 1)
        if chosen.any():
            break
    used = "relaxed" if level > fdr else rule
    order = among[np.lexsort((-relevance[among], p_values[among]))]
    selected = order[: np.count_nonzero(chosen)]
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
