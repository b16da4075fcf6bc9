"""Defines Groups: which features are tested together, because they cannot be distinguished."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..runs.work import Work
from ..types import Data, Indices
from .alike import find_alike
from .copies import Copies, find_copies
from .rank_table import RankTable
from .user_groups import read_feature_groups

NEARLY_SAME = 0.9  # correlation from which on a feature can stand for another one


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of features, from fine to coarse: with every partition they can only grow.

    Attributes
    ----------
    copies
        Features that copy one another, which are together in every partition, and constants.
    of_interest
        The same of those features that are tested; all others are only adjusted for.
    partitions
        For each of them and each feature the first feature of its group, itself if it is alone.
    nearly_same
        The same for groups of features that can stand for each other: those of the finest partition
        with a cut of 0.9 or more, else copies.
    """

    copies: Copies
    of_interest: Copies
    partitions: tuple[Indices, ...]
    nearly_same: Indices

    @cached_property
    def hypotheses(self) -> tuple[Indices, ...]:
        """For each partition and feature the number of its group, from 0; -1 if not tested.

        A group that two partitions share has one number. It holds features of interest alone.
        """
        numbers, n_known, before = [], 0, None
        untested = self.of_interest.constant
        for labels in self.partitions:
            counted = np.where(untested, len(labels), labels)
            size = np.bincount(counted, minlength=len(labels) + 1)[counted]
            number = np.full(len(labels), -1)
            known = np.zeros(len(labels), bool)
            if before is not None:
                known = size == before[1]
                number[known] = before[0][known]
            new = ~known & ~untested
            number[new] = n_known + np.unique(labels[new], return_inverse=True)[1]
            n_known = max(n_known, number.max() + 1)
            before = number, size
            numbers.append(np.where(untested, -1, number))
        return tuple(numbers)


class MembersByNumber:
    """Features of each group by its number, found without looking at all of them."""

    def __init__(self, numbers: Indices) -> None:
        self._order = np.argsort(numbers, kind="stable")
        self._sorted = numbers[self._order]

    def of(self, number: int) -> Indices:
        """Positions of a number, in order."""
        start, stop = np.searchsorted(self._sorted, [number, number + 1])
        return np.asarray(self._order[start:stop])


def find_groups(
    table: RankTable,
    by_rank: bool,
    cuts: tuple[float, ...] = (1.0,),
    given: Data = None,
    work: Work | None = None,
    left_out: Indices | None = None,
    only: Indices | None = None,
) -> Groups:
    """Groups of copies, of look-alikes, and those that the user gives: one mechanism for all.

    Parameters
    ----------
    table
        The columns and their ranks, which others may read afterwards.
    by_rank
        Whether monotone transforms are copies.
    cuts
        For each a partition, the largest first: columns of a group correlate by at least so much on
        average. 1 means copies.
    given
        Groups that the user names, see `read_feature_groups`; they make the coarsest partition.
    left_out
        Columns that are not tested; neither are their copies.
    only
        Columns that are tested, and so are their copies; all if None. Look-alikes are looked for
        among these.
    """
    work = Work(n_jobs=1) if work is None else work
    with work.stage("copies", steps=True):
        copies = find_copies(table.columns, by_rank, work, table)
    if left_out is not None:
        copies = copies.without(copies.same_as(left_out))
    of_interest = copies if only is None else copies.without(~copies.same_as(only))
    below = tuple(cut for cut in cuts if cut < 1)
    partitions, nearly_same = [copies.leaders] if 1.0 in cuts else [], copies.leaders
    if below:
        with work.stage("look-alikes", steps=True):
            found = find_alike(table, of_interest.modelled, below, work, copies.leaders)
        partitions += [labels[copies.leaders] for labels in found]
        if below[0] >= NEARLY_SAME:
            nearly_same = found[0][copies.leaders]
    if given is not None:
        partitions.append(read_feature_groups(given, table.columns, copies))
    return Groups(copies, of_interest, tuple(partitions), nearly_same)
