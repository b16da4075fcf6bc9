"""What the two passes of the tests share: results so far, and what every task needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..features.groups import MembersByNumber
from ..types import Indices, Mask, Matrix, Vector
from .distillers import Distillation
from .inputs import Inputs
from .residual_checks import MANY_WIDE
from .residuals import Neighbours
from .statistics import PartnerProducts

MAX_BLOCK_VALUES = 2**21  # bounds the memory of one block of columns,
MIN_BLOCK, MAX_BLOCK = 8, 256  # which has no fewer and no more columns than these;
MAX_TASK_VALUES = 2**24  # the same of what a task holds: columns whose neighbours are found
# together, or components without each of its hypotheses
LARGE = 10**6  # bytes, which Dask sends to each worker once


@dataclass(frozen=True, eq=False)
class DirectedPairs:
    """Rows of Z whose effect depends on a partner: one entry for each row and partner.

    `p` are p-values of single pairs, `effects` correlations of the row's residual with the product
    of the target's residual and the partner.
    """

    rows: Indices
    partners: Indices
    p: Vector
    effects: Vector

    @classmethod
    def joined(cls, parts: list[DirectedPairs]) -> DirectedPairs:
        """Those of several parts."""
        none = cls(*(np.empty(0, kind) for kind in (np.intp, np.intp, float, float)))
        every = zip(*(vars(part).values() for part in [none, *parts]), strict=True)
        return cls(*(np.concatenate(column) for column in every))


@dataclass(frozen=True, eq=False)
class Results:
    """What is known of every row of Z as a member of a hypothesis: one entry for each of them.

    Where there are several partitions, a row has an entry for every hypothesis that it belongs to.
    Arrays of two axes have a column for each column of the target.

    Attributes
    ----------
    rows, hypothesis_of
        The row of Z and the hypothesis of each entry.
    p
        p-value of each entry.
    p_by_target, effects
        The same for each column of the target, and partial correlations with it.
    neighbours
        What each entry is adjusted for.
    freedom, residual_variance
        Degrees of freedom of the partial correlations, and share of its variance that neighbours
        and components do not explain.
    most_similar, similarity
        The neighbours that correlate most with it beyond chance, two at most, -1 for none, and
        their correlations, 0 where there is none.
    best_partners
        The partners that each entry acts together with most, -1 for none, (entries, most); without
        columns if that was not asked.
    p_of_interaction, p_of_others
        p-value of the entry with any partner, 1 if that was not asked, and without partners.
    pairs
        Pairs of entries of the finest partition that were tested against a fit without them.
    p_of_hypotheses
        p-value of each hypothesis.
    goes_with_spread
        Whether the residual of each entry is the larger the wider its row.
    excess
        How far the residuals of feature and target go together across rows of nearly the same
        covariates, in standard deviations; 0 where that was not asked.
    dependent
        Entries whose p-value was raised because their residual depends on another feature, or on
        the spread of the row.
    """

    rows: Indices
    hypothesis_of: Indices
    p: Vector
    p_by_target: Matrix
    effects: Matrix
    neighbours: Neighbours
    freedom: Vector
    residual_variance: Vector
    most_similar: Indices
    similarity: Matrix
    best_partners: Indices
    p_of_interaction: Vector
    p_of_others: Vector
    pairs: DirectedPairs
    p_of_hypotheses: Vector
    goes_with_spread: Mask
    excess: Vector
    dependent: Indices

    @property
    def of_unequal_spread(self) -> Mask:
        """Whether each entry needs a test for residuals of unequal spread: all if many do."""
        return np.asarray(self.goes_with_spread | (self.goes_with_spread.mean() > MANY_WIDE))


@dataclass(frozen=True, eq=False)
class Shared:
    """What all tasks need, in one object, so that it is sent to every worker once."""

    inputs: Inputs
    distillation: Distillation
    results: Results | None = None
    orders: dict[int, Indices] = field(default_factory=dict)

    @cached_property
    def products(self) -> PartnerProducts | None:
        """Products of partners with the residuals of the fit to all features."""
        if not self.inputs.interacting:
            return None
        E = self.distillation.full_fit.residuals
        return self.inputs.products_with(E)

    @cached_property
    def partners_back(self) -> tuple[Indices, MembersByNumber]:
        """Rows, by the number of each partner that they act together with most."""
        assert self.results is not None
        entry, place = np.nonzero(self.results.best_partners >= 0)
        partners = self.results.best_partners[entry, place]
        return self.results.rows[entry], MembersByNumber(partners)

    def __sizeof__(self) -> int:
        """Bytes of the scores alone: Dask keeps what is large on its workers."""
        return int(getattr(self.inputs.Z, "nbytes", LARGE))


def block_width(inputs: Inputs) -> int:
    """How many columns are compared with the target together."""
    width = MAX_BLOCK_VALUES // inputs.n_rows // len(inputs.target.names)
    return max(MIN_BLOCK, min(MAX_BLOCK, width))
