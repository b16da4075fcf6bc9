"""Takes some rows and columns of a study, on the scale of the tests."""

import numpy as np

from ..conditional.model_columns import rank_columns
from ..data.study import Study
from ..features.rank_table import RankTable
from ..runs.work import Work
from ..types import Indices, Matrix


def sampled(study: Study, rows: Indices, max_columns: int) -> tuple[Study, Matrix]:
    """Chosen rows, in this order, and columns evenly spread over all; their normal scores (k, n).

    A category has one column of scores per level.
    """
    columns = np.linspace(0, study.columns.n_columns - 1, max_columns).astype(np.intp)
    part = study.take(rows, np.unique(columns))
    table = RankTable.of(part.columns, keep=False)
    ranked = rank_columns(table, np.arange(part.columns.n_columns), Work(n_jobs=1))
    return part, ranked.scores(np.arange(len(rows)), np.empty((0, len(rows))))
