"""Checks whether the residual of a feature is independent of its neighbours.

The tests take r for independent of all other features. Where it visibly is not, only its mean can
be trusted, and a test that needs no more than that must agree: `gcm_p_values`.
"""

import numpy as np

from ..types import Indices, Vector
from .inputs import Inputs
from .residuals import MAX_BLOCK_VALUES
from .statistics.null import covariance_tail
from .statistics.rank_covariances import covariance_of_ranks, rank_table, ranks_of

MAX_CHECKED = 50  # features most associated with the one in question
ALPHA = 0.01  # of all of them together, by Bonferroni's rule


def residual_is_dependent(inputs: Inputs, column: int, inside: Indices, r: Vector) -> bool:
    """Whether r depends on a covariate, or on one of 50 columns.

    These are the columns most associated with its own but for `inside`.
    """
    z = inputs.scores32[column]
    near = np.maximum(np.abs(inputs.scores32 @ z), np.abs(inputs.abs_scores32 @ z))
    near[inside] = -1.0
    most = min(MAX_CHECKED, len(near))
    checked = np.argpartition(-near, most - 1)[:most]
    checked = checked[near[checked] >= 0]
    of_features, of_target = inputs.tie_breakers
    ranks, pc = ranks_of(np.argsort(r + of_target)[None])[0], rank_table("pc", inputs.n_rows)
    width = max(1, MAX_BLOCK_VALUES // inputs.n_rows)
    found = [
        covariance_of_ranks(ranks[np.argsort(columns[i : i + width] + of_features)], *pc)
        for columns in (inputs.Z[checked], inputs.covariates)
        for i in range(0, len(columns), width)
    ]
    p = covariance_tail(np.concatenate([np.empty(0), *found]), inputs.n_rows)
    n_candidates = len(near) + len(inputs.covariates)  # the 50 were chosen from so many
    return bool(n_candidates * p.min(initial=1.0) < ALPHA)
