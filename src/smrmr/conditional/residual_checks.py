"""Checks whether the residual of a feature is independent of its neighbours, rows and covariates.

The tests take r for independent of all other features. Where it visibly is not, only its mean can
be trusted, and a test that needs no more than that must agree: `gcm_p_values`. The same goes where
r is the wider the wider the row: samples that differ in scale make any two residuals dependent.
Where both residuals depend on covariates, no test is right; `covariance_by_covariates` sees it.
"""

import numpy as np
from scipy.special import stdtr

from ..runs.stored_rows import RowsView, inner_products_with
from ..types import Indices, Matrix, Vector
from .inputs import Inputs
from .residuals import MAX_BLOCK_VALUES
from .scores import standardised
from .statistics.null import covariance_tail
from .statistics.rank_covariances import covariance_of_ranks, rank_table, ranks_of

MAX_CHECKED = 50  # features most associated with the one in question
ALPHA = 0.01  # of all of them together, by Bonferroni's rule

SPREAD_ALPHA = 0.01  # of a residual whose size goes with the spread of its row
MANY_WIDE = 0.1  # share of such residuals from which on samples differ in scale


def row_spread_p_values(
    inputs: Inputs, hypothesis_of: Indices, rows: Indices, residuals: Matrix
) -> Vector:
    """p-values of residuals that are the larger the wider the row is in all other hypotheses.

    By the correlation of |r| with the sum of absolute scores of the row, one-sided; both relative
    to what covariates leave of the row.
    """
    numbers, places = np.unique(hypothesis_of[rows], return_inverse=True)
    members = np.flatnonzero(np.isin(hypothesis_of, numbers))
    if len(members) == len(inputs.Z) and len(numbers) == 1:
        return np.ones(len(rows))
    members = members[np.argsort(hypothesis_of[members], kind="stable")]
    starts = np.searchsorted(hypothesis_of[members], numbers)
    own = np.add.reduceat(np.abs(inputs.Z[members]), starts, axis=0, dtype=np.float64)
    spread = standardised((inputs.row_sizes - own) / inputs.row_scale)[places]
    size = standardised(np.abs(residuals) / inputs.row_scale)
    correlation = np.mean(size * spread, axis=1)
    freedom = inputs.n_rows - 2.0
    t = correlation * np.sqrt(freedom / np.maximum(1 - correlation**2, 1e-15))
    return np.asarray(stdtr(freedom, -t))


def residual_is_dependent(inputs: Inputs, column: int, inside: Indices, r: Vector) -> bool:
    """Whether r depends on a covariate, or on one of 50 columns.

    These are the columns most associated with its own but for `inside`.
    """
    z = inputs.scores32[column]
    near = np.maximum(
        *(np.abs(inner_products_with(z, of)) for of in (inputs.scores32, inputs.abs_scores32))
    )
    near[inside] = -1.0
    most = min(MAX_CHECKED, len(near))
    checked = np.argpartition(-near, most - 1)[:most]
    checked = checked[near[checked] >= 0]
    of_features, of_target = inputs.tie_breakers
    ranks, pc = ranks_of(np.argsort(r + of_target)[None])[0], rank_table("pc", inputs.n_rows)
    width = max(1, MAX_BLOCK_VALUES // inputs.n_rows)
    found = [
        covariance_of_ranks(ranks[np.argsort(columns[i : i + width] + of_features)], *pc)
        for columns in (RowsView(inputs.Z, inputs.Z.dtype, checked), inputs.covariates)
        for i in range(0, len(columns), width)
    ]
    p = covariance_tail(np.concatenate([np.empty(0), *found]), inputs.n_rows)
    n_candidates = len(near) + len(inputs.covariates)  # the 50 were chosen from so many
    return bool(n_candidates * p.min(initial=1.0) < ALPHA)
