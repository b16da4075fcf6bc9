r"""Asks whether what is left of a feature is free of its neighbours, and a second test if not.

The tests take r for independent of all other features. Where it visibly is not, only its mean can
be trusted, and a test that needs no more than that must agree: is the mean of :math:`r_i e_i` zero,
going by their own spread?
"""

import numpy as np
from scipy.special import stdtr

from ...types import Vector
from .concordance import covariance_of_values
from .layout import Layout
from .null import covariance_tail

MOST_ASKED = 50  # features most associated with the one in question
BONFERRONI = 0.01


def still_depends(layout: Layout, column: int, r: Vector) -> bool:
    """Whether r depends on one of the 50 features most associated with its own."""
    z = layout.light[column]
    near = np.maximum(np.abs(layout.light @ z), np.abs(layout.light_bows @ z))
    near[layout.owners == layout.owners[column]] = -1.0
    most = min(MOST_ASKED, len(near))
    asked = np.argpartition(-near, most - 1)[:most]
    asked = asked[near[asked] >= 0]
    tiny, other = layout.tiny
    found = [covariance_of_values(layout.Z[j] + tiny, r + other) for j in asked]
    p = covariance_tail(np.array(found), layout.n_rows)
    return bool(len(found) * p.min(initial=1.0) < BONFERRONI)


def second_opinion(r: Vector, e: Vector, rank: int, bent: bool) -> float:
    """p-value that needs no more than the means of r (and |r|) given the others to be right."""
    bow = np.abs(r) - np.abs(r).mean()
    products = [r * e, bow * e] if bent else [r * e]
    n = len(r)
    t = [abs(v.mean()) / max(v.std(ddof=1), 1e-300) * np.sqrt(n) for v in products]
    return float(min(1.0, len(t) * 2 * stdtr(max(n - 2 - rank, 1), -max(t))))
