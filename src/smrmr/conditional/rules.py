"""Rules that turn p-values of nested hypotheses into q-values and a decision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from ..decision import ROUNDING, Decision, higher_levels
from ..settings import check_choice, check_level, read_strategy
from ..types import Indices, Mask, Vector


class Rule(Protocol):
    """Turns p-values into q-values: the smallest level at which each hypothesis is rejected.

    Law: a smaller p-value has no larger q-value, and lowering one raises none of the others.
    """

    alias: ClassVar[str]
    error_rate: ClassVar[str]
    """What the level bounds: ``"FDR"`` or ``"familywise error rate"``."""
    proven: ClassVar[bool]
    """Whether the level holds whatever the dependence of the p-values."""

    def adjust(self, p: Vector, parents: Indices) -> Vector:
        """q-values; `parents` are the next larger hypothesis around each, -1 for none."""

    def largest_alone(self, m: int, level: float) -> float:
        """Largest p-value that is selected if no other of m p-values is below 1."""


@dataclass(frozen=True)
class BenjaminiHochberg:
    """Benjamini and Hochberg (1995), ``"bh"``: FDR of independent or positively dependent p-values.

    Of nested hypotheses that are rejected only the innermost are reported, and only these count
    (focused BH: Katsevich, Sabatti and Bogomolov 2023).

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr.conditional import BenjaminiHochberg
    >>> single = np.full(3, -1)
    >>> BenjaminiHochberg().adjust(np.array([0.01, 0.02, 0.5]), single).tolist()
    [0.03, 0.03, 0.5]

    A feature and the group around it are one discovery, not two:

    >>> BenjaminiHochberg().adjust(np.array([0.02, 0.01]), np.array([1, -1])).tolist()
    [0.04, 0.02]
    """

    alias: ClassVar[str] = "bh"
    error_rate: ClassVar[str] = "FDR"
    proven: ClassVar[bool] = False

    def adjust(self, p: Vector, parents: Indices) -> Vector:
        """q-values of p-values.

        Parameters
        ----------
        p
            p-values.
        parents
            For each hypothesis the next larger one around it, -1 for none.

        Returns
        -------
        ndarray
            Smallest level at which each hypothesis is rejected.
        """
        order = np.argsort(p, kind="stable")
        count = _count_innermost(order, parents)
        count = count[np.searchsorted(p[order], p[order], side="right") - 1]
        levels = p[order] * self._factor(len(p)) * len(p) / count
        return _in_place(np.minimum.accumulate(levels[::-1])[::-1], order)

    def largest_alone(self, m: int, level: float) -> float:
        """Largest p-value that is selected if no other of m p-values is below 1.

        Parameters
        ----------
        m
            Number of hypotheses.
        level
            The level.

        Returns
        -------
        float
            The p-value.
        """
        return float(level / m / self._factor(m))

    def _factor(self, m: int) -> float:
        return 1.0


@dataclass(frozen=True)
class BenjaminiYekutieli(BenjaminiHochberg):
    """Benjamini and Yekutieli (2001), ``"by"``: FDR whatever the dependence of the p-values.

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr.conditional import BenjaminiYekutieli
    >>> BenjaminiYekutieli().adjust(np.array([0.01, 0.02]), np.full(2, -1)).round(3).tolist()
    [0.03, 0.03]
    """

    alias: ClassVar[str] = "by"
    proven: ClassVar[bool] = True

    def _factor(self, m: int) -> float:
        return float(np.sum(1 / np.arange(1, m + 1)))


@dataclass(frozen=True)
class Holm:
    """Holm (1979), ``"holm"``: the chance of a single false rejection.

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr.conditional import Holm
    >>> Holm().adjust(np.array([0.01, 0.02, 0.5]), np.full(3, -1)).tolist()
    [0.03, 0.04, 0.5]
    """

    alias: ClassVar[str] = "holm"
    error_rate: ClassVar[str] = "familywise error rate"
    proven: ClassVar[bool] = True

    def adjust(self, p: Vector, parents: Indices) -> Vector:
        """q-values of p-values, nested or not.

        Parameters
        ----------
        p
            p-values.
        parents
            Not used.

        Returns
        -------
        ndarray
            Smallest level at which each hypothesis is rejected.
        """
        order = np.argsort(p, kind="stable")
        levels = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
        return _in_place(levels, order)

    def largest_alone(self, m: int, level: float) -> float:
        """Largest p-value that is selected if no other of m p-values is below 1.

        Parameters
        ----------
        m
            Number of hypotheses.
        level
            The level.

        Returns
        -------
        float
            The p-value.
        """
        return float(level / m)


RULES: dict[str, Callable[..., Rule]] = {
    rule.alias: rule for rule in (BenjaminiHochberg, BenjaminiYekutieli, Holm)
}


def as_rule(rule: Any) -> Rule:
    """The rule that a name stands for; a rule stands for itself."""
    found: Rule = read_strategy("rule", rule, RULES, "adjust")
    return found


def innermost(chosen: Mask, parents: Indices) -> Mask:
    """Which of the chosen hypotheses have no chosen one within them."""
    around = np.zeros(len(chosen), np.bool_)
    for k in np.flatnonzero(chosen):
        above = parents[k]
        while above >= 0 and not around[above]:
            around[above] = True
            above = parents[above]
    return chosen & ~around


def decide_by_rule(
    rule: Rule, p: Vector, parents: Indices, fdr: float, on_empty: str, relevance: Vector
) -> Decision:
    """Select the hypotheses whose q-value is at most the level, smallest p-value first.

    Those that hold another one that is selected are left out. ``on_empty="relax"`` raises the level
    in steps of 0.05 until something is selected, and takes the smallest p-value if nothing ever is.
    """
    fdr = check_level(fdr)
    check_choice("on_empty", on_empty, ("none", "relax"))
    q = rule.adjust(p, parents)
    for level in [fdr, *(higher_levels(fdr) if on_empty == "relax" else [])]:
        chosen = (q <= level + ROUNDING) & (q < 1)
        if chosen.any():
            break
    used = "relaxed" if level > fdr else rule.alias
    order = np.lexsort((-relevance, p))
    selected = order[innermost(chosen, parents)[order]]
    if on_empty == "relax" and not selected.size:
        selected, used = order[:1], "best feature"
    scores = -np.log10(p) + 0.0
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


def _in_place(levels: Vector, order: Indices) -> Vector:
    q = np.empty(len(order))
    q[order] = np.minimum(levels, 1.0)
    return q


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
