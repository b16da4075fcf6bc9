"""Puts features beside their knockoffs, and measures them together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..association import Associations
from ..association.associator import Associator
from ..data.columns import Columns
from ..data.study import Study
from ..data.target import take_rows
from ..measures.protocol import Measure
from ..runs.work import Work
from ..types import Indices
from .screening import Screening


@dataclass(frozen=True, eq=False)
class Pairs:
    """Features, then their knockoffs, as (n, 2 k) columns, with the target.

    `part` is 0 for rows that screened, which are their own knockoffs, and 1 for those that select.
    """

    study: Study
    part: Indices

    @property
    def n_features(self) -> int:
        """Number of features; as many knockoffs follow."""
        return self.study.columns.n_columns // 2

    def take(self, rows: Indices) -> Pairs:
        """The same columns in fewer rows."""
        return Pairs(self.study.take(rows), self.part[rows])


def pair_with_knockoffs(
    values: NDArray[np.generic], X_knockoff: NDArray[np.generic], study: Study, screening: Screening
) -> Pairs:
    """Put knockoffs beside the features that were kept, and recycled rows above them.

    `values` are the features on all rows, `X_knockoff` their knockoffs on the selecting rows.
    """
    again, rows = screening.recycled, screening.rows_select
    columns = np.hstack([values[rows], X_knockoff])
    if len(again):
        columns = np.vstack([np.hstack([values[again], values[again]]), columns])
    part = np.repeat([0, 1], [len(again), len(rows)])
    order = np.concatenate([again, rows])
    response = take_rows(study.target, order)
    return Pairs(
        Study(Columns.bare(columns), response, row_groups=study.row_groups.take(order)), part
    )


def associate_pairs(pairs: Pairs, measure: Measure, cross_terms: bool, work: Work) -> Associations:
    """Associations of features and knockoffs; without `cross_terms` as eq. (4.1) prints them."""
    engine = Associator(pairs.study.columns, measure, work.quietly())
    target = pairs.study.target
    relevance, redundancy = engine.with_target(target), engine.with_each_other()
    if not cross_terms:
        k = pairs.n_features
        redundancy[:k, k:] = redundancy[k:, :k] = 0.0
    return Associations(relevance, redundancy, target.kind)
