"""Bounds after looking: at least how many features of any set are true, for all sets at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..settings import check_level
from ..types import Indices, Vector

MARGIN = 1e-12  # relative to alpha: far above the rounding of p-values, far below what matters


@dataclass(frozen=True, eq=False)
class Bounds:
    r"""Lower confidence bounds on the number of true features in every set of hypotheses.

    With confidence :math:`1 - \alpha` all bounds are true together, so sets may be chosen after
    looking at the p-values; :math:`\alpha` may not. They come from closed testing with Simes tests
    (Goeman and Solari 2011; Goeman, Meijer, Krebs and Solari 2019). With sorted p-values

    .. math:: h = \max\{i : i\,p_{(m - i + j)} > j \alpha \text{ for } j = 1, \dots, i\}, \qquad
              d(S) = \max_{u \ge 1}\,(1 - u + \#\{k \in S : h\,p_k \le u \alpha\}) \vee 0

    the set :math:`S` has at least :math:`d(S)` true features. The p-values must satisfy the Simes
    inequality, as independent and positively dependent ones do. A hypothesis that could not be
    tested stays in the family, with p-value 1.

    Attributes
    ----------
    h
        No more than so many of the m hypotheses are null, with the same confidence.
    steps
        For each hypothesis the smallest u with :math:`h\,p \le u \alpha`, m + 1 if none is in 1..m.

    Notes
    -----
    The level used is :math:`\alpha (1 - 10^{-12})`: a p-value that equals a critical value up to
    rounding counts as above it. So no bound depends on the last bits, and none is too large.

    Examples
    --------
    No feature alone is known to be true, but of the first four at least two are:

    >>> import numpy as np
    >>> p = np.array([0.012, 0.013, 0.014, 0.015, 0.2, 0.3, 0.5, 0.6, 0.8])
    >>> found = Bounds.of(p, alpha=0.05)
    >>> max(found.at_least(np.array([k])) for k in range(9)), found.at_least(np.arange(4))
    (0, 2)
    >>> found.along(np.arange(9)).tolist()
    [0, 1, 2, 2, 2, 2, 2, 2, 2]
    """

    h: int
    steps: Indices

    @classmethod
    def of(cls, p: Vector, alpha: float) -> Bounds:
        """Bounds from the p-values of a family of hypotheses.

        Parameters
        ----------
        p
            p-values, (m,), of all hypotheses that sets may be taken from.
        alpha
            One less the confidence, in (0, 1); to be set before looking at p-values.

        Returns
        -------
        Bounds
            Answers for any set.
        """
        level = check_level(alpha, "alpha") * (1 - MARGIN)
        h = _most_nulls(np.sort(p), level)
        steps = np.clip(np.ceil(h * p / level), 1, len(p) + 1).astype(np.intp)
        return cls(h, steps)

    def at_least(self, which: Indices) -> int:
        """At least so many features of a set are true: their null hypothesis is false.

        Parameters
        ----------
        which
            Positions of the hypotheses; repeats count once.

        Returns
        -------
        int
            The bound d(S).
        """
        steps = self.steps[np.unique(which)]
        reached = np.cumsum(np.bincount(np.minimum(steps, len(steps) + 1))[1:])
        return int(np.max(reached - np.arange(len(reached)), initial=0))

    def along(self, order: Indices) -> Indices:
        """Bounds of the first 1, 2, 3, ... hypotheses of an order.

        Each hypothesis raises the bound by one or not at all. If a hypothesis with step u may take
        one of the places 1, ..., u - 1 and no two take the same, then d(S) is the fewest that are
        left without (Hall's theorem). Each takes the last one free, which leaves most to others.

        Parameters
        ----------
        order
            Positions of hypotheses; a repeat changes nothing.

        Returns
        -------
        ndarray
            For each k the bound of the first k.
        """
        raises = np.zeros(len(order), np.intp)
        steps = self.steps[order]
        first = np.zeros(len(order), np.bool_)
        first[np.unique(order, return_index=True)[1]] = True
        # a step beyond the number of hypotheses always finds a place, so it needs no search
        contested = np.flatnonzero(first & (steps <= len(order)))
        free = list(range(len(order)))  # leads each place to the last free one up to it, 0 for none
        for k, place in zip(contested.tolist(), (steps[contested] - 1).tolist(), strict=True):
            while free[place] != place:
                free[place] = free[free[place]]
                place = free[place]
            if place:
                free[place] = place - 1
            else:
                raises[k] = 1
        return np.cumsum(raises)


def _most_nulls(p: Vector, level: float) -> int:
    """h: the largest size at which the largest of sorted p-values pass as nulls for Simes' test.

    If i of them do then so do i - 1, so halving the range finds it.
    """
    low, high = 0, len(p)
    while low < high:
        i = (low + high + 1) // 2
        if np.all(i * p[len(p) - i :] > np.arange(1, i + 1) * level):
            low = i
        else:
            high = i - 1
    return low
