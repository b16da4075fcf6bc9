"""Asks whether what is left of a feature is free of its neighbours.

The tests take r for independent of all other features. Where it visibly is not, only its mean can
be trusted, and a test that needs no more than that must agree: `p_values.second_opinion`.
"""

import numpy as np

from ..types import Indices, Vector
from .inputs import Inputs
from .null import covariance_tail
from .rank_statistics import covariance_of_ranks, rank_table, ranks_of
from .residuals import VALUES_AT_ONCE

MOST_ASKED = 50  # features most associated with the one in question
BONFERRONI = 0.01


def still_depends(inputs: Inputs, column: int, inside: Indices, r: Vector) -> bool:
    """Whether r depends on a covariate, or on one of 50 columns.

    These are the columns most associated with its own but for `inside`.
    """
    z = inputs.scores32[column]
    near = np.maximum(np.abs(inputs.scores32 @ z), np.abs(inputs.abs_scores32 @ z))
    near[inside] = -1.0
    most = min(MOST_ASKED, len(near))
    asked = np.argpartition(-near, most - 1)[:most]
    asked = asked[near[asked] >= 0]
    of_features, of_target = inputs.tie_breakers
    ranks, pc = ranks_of(np.argsort(r + of_target)[None])[0], rank_table("pc", inputs.n_rows)
    width = max(1, VALUES_AT_ONCE // inputs.n_rows)
    found = [
        covariance_of_ranks(ranks[np.argsort(columns[i : i + width] + of_features)], *pc)
        for columns in (inputs.Z[asked], inputs.covariates)
        for i in range(0, len(columns), width)
    ]
    p = covariance_tail(np.concatenate([np.empty(0), *found]), inputs.n_rows)
    n_asked = len(near) + len(inputs.covariates)  # the 50 were chosen from so many
    return bool(n_asked * p.min(initial=1.0) < BONFERRONI)
