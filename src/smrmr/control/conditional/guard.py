"""Asks whether what is left of a feature is free of its neighbours.

The tests take r for independent of all other features. Where it visibly is not, only its mean can
be trusted, and a test that needs no more than that must agree: `statistics.second_opinion`.
"""

import numpy as np

from ...types import Indices, Vector
from .dependence import by_rank, covariance_of_ranks, ranks_of
from .layout import Layout
from .null import covariance_tail
from .residuals import VALUES_AT_ONCE

MOST_ASKED = 50  # features most associated with the one in question
BONFERRONI = 0.01


def still_depends(layout: Layout, column: int, inside: Indices, r: Vector) -> bool:
    """Whether r depends on a covariate, or on one of 50 columns.

    These are the columns most associated with its own but for `inside`.
    """
    z = layout.light[column]
    near = np.maximum(np.abs(layout.light @ z), np.abs(layout.light_bows @ z))
    near[inside] = -1.0
    most = min(MOST_ASKED, len(near))
    asked = np.argpartition(-near, most - 1)[:most]
    asked = asked[near[asked] >= 0]
    tiny, other = layout.tiny
    ranks, pc = ranks_of(np.argsort(r + other)[None])[0], by_rank("pc", layout.n_rows)
    width = max(1, VALUES_AT_ONCE // layout.n_rows)
    found = [
        covariance_of_ranks(ranks[np.argsort(columns[i : i + width] + tiny)], *pc)
        for columns in (layout.Z[asked], layout.covariates)
        for i in range(0, len(columns), width)
    ]
    p = covariance_tail(np.concatenate([np.empty(0), *found]), layout.n_rows)
    n_asked = len(near) + len(layout.covariates)  # the 50 were chosen from so many
    return bool(n_asked * p.min(initial=1.0) < BONFERRONI)
