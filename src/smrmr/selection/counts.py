"""Counts features and hypotheses, so that all numbers of an answer can be told from one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .selection import Selection


@dataclass(frozen=True)
class FeatureCounts:
    """What became of the features before tests: each counts once, hypotheses apart.

    Attributes
    ----------
    all
        Columns of X.
    always_kept, constant, adjusted_for, copies
        Those that are always kept; of the others those without variance; those that are only
        adjusted for; those that copy one before them.
    distinct
        All others, which hypotheses are about.
    single, groups
        Hypotheses about one of them, and about several: groups of look-alikes, or given ones.
    """

    all: int
    always_kept: int
    constant: int
    adjusted_for: int
    copies: int
    distinct: int
    single: int
    groups: int

    @property
    def hypotheses(self) -> int:
        """Number of hypotheses."""
        return self.single + self.groups

    @property
    def plain(self) -> bool:
        """Whether every feature is a hypothesis, and nothing else is."""
        return self.all == self.distinct == self.hypotheses


def count_features(selection: Selection) -> FeatureCounts:
    """What a selection is about, in numbers."""
    everyone = np.arange(selection.n_features)
    tested = everyone if selection.of_interest is None else selection.of_interest
    known = {
        "always_kept": np.isin(everyone, selection.always_kept),
        "constant": np.isin(everyone, selection.constants),
        "adjusted_for": ~np.isin(everyone, tested),
        "copies": (selection.leaders != everyone) | (selection.evidence.hypotheses[0] < 0),
    }
    left, counted = np.ones(len(everyone), np.bool_), {}
    for name, mask in known.items():
        counted[name] = int(np.count_nonzero(mask & left))
        left &= ~mask
    sizes: dict[int, int] = {}
    for numbers in selection.evidence.hypotheses:
        some, n_members = np.unique(numbers[left], return_counts=True)
        sizes |= dict(zip(some.tolist(), n_members.tolist(), strict=True))
    single = sum(size == 1 for size in sizes.values())
    return FeatureCounts(
        len(everyone),
        **counted,
        distinct=int(np.count_nonzero(left)),
        single=single,
        groups=len(sizes) - single,
    )
