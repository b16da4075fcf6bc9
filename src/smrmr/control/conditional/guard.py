r"""Asks whether what is left of a feature is free of its neighbours, and a second test if not.

The tests take r for independent of all other features. Where it visibly is not, only its mean can
be trusted, and a test that needs no more than that must agree: is the mean of :math:`r_i e_i` zero,
going by their own spread?
"""

import numpy as np
from scipy.special import stdtr

from ...types import Indices, Matrix, Vector
from .concordance import covariance_of_values
from .null import covariance_tail

MOST_ASKED = 50  # features most associated with the one in question
BONFERRONI = 0.01


def still_depends(Z: Matrix, own: Indices, column: int, r: Vector, tiny: Vector) -> bool:
    """Whether r depends on one of the 50 features most associated with its own."""
    z, n = Z[column], Z.shape[1]
    bows = np.abs(Z)
    near = np.maximum(np.abs(Z @ z), np.abs((bows - bows.mean(axis=1, keepdims=True)) @ z))
    near[own] = -1.0
    asked = np.argsort(-near, kind="stable")[: min(MOST_ASKED, len(Z) - len(own))]
    found = [covariance_of_values(Z[j] + tiny, r + tiny[::-1]) for j in asked]
    return bool(len(found) * covariance_tail(np.array(found), n).min(initial=1.0) < BONFERRONI)


def second_opinion(r: Vector, e: Vector, rank: int, bent: bool) -> float:
    """p-value that needs no more than the means of r (and |r|) given the others to be right."""
    bow = np.abs(r) - np.abs(r).mean()
    products = [r * e, bow * e] if bent else [r * e]
    n = len(r)
    t = [abs(v.mean()) / max(v.std(ddof=1), 1e-300) * np.sqrt(n) for v in products]
    return float(min(1.0, len(t) * 2 * stdtr(max(n - 2 - rank, 1), -max(t))))
