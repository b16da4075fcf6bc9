"""Hands out the values of a target anew: to the rows of the highest scores the highest values."""

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri

from ...types import Indices, Matrix, Vector


def deal_by_rank(values: Vector, scores: Vector, strata: Indices) -> Vector:
    """The values of each stratum, in the order of the scores of its rows.

    >>> deal_by_rank(np.array([5.0, 7.0, 6.0]), np.array([0.3, 0.1, 0.2]), np.zeros(3, np.intp))
    array([7., 5., 6.])
    """
    dealt = np.empty_like(values)
    dealt[np.lexsort((scores, strata))] = values[np.lexsort((values, strata))]
    return dealt


def deal_classes(scores: Matrix, sizes: Indices) -> Indices:
    """One class per row, of given sizes, by scores (classes, rows).

    Every row gets the class of its highest score as far as sizes allow. The smallest class chooses
    first: the rows in which it exceeds all others by most.

    >>> deal_classes(np.array([[1.0, 3.0, 2.0], [2.5, 2.0, 0.0]]), np.array([2, 1])).tolist()
    [1, 0, 0]
    """
    codes = np.full(scores.shape[1], -1)
    scores = scores.copy()
    for one in np.argsort(sizes, kind="stable"):
        mine = scores[one].copy()
        scores[one] = -np.inf
        lead = np.where(codes < 0, mine - scores.max(axis=0), -np.inf)
        codes[np.argsort(-lead, kind="stable")[: sizes[one]]] = one
    return codes


def scores_with_noise(columns: Matrix, covariates: Matrix, rng: Generator) -> tuple[Matrix, Matrix]:
    """What covariates predict of the normal scores of columns, and the rest in another order.

    Ties are broken at random. The rest stays together row by row, so that columns go together as
    they did.
    """
    q, n = columns.shape
    ranks = np.argsort(np.lexsort((rng.random((q, n)), columns)), axis=1)
    scores = ndtri((ranks + 0.5) / n)
    fitted = (scores @ covariates.T) @ covariates
    return fitted, (scores - fitted)[:, rng.permutation(n)]


def noise_of_ranks(scores: Matrix) -> Vector:
    """Share of the variance of each row of scores that the normal scores of their ranks lack.

    >>> noise_of_ranks(np.random.default_rng(0).standard_normal((1, 200))).round(2).tolist()
    [0.01]
    """
    n = scores.shape[1]
    ranks = np.argsort(np.argsort(scores, axis=1), axis=1)
    normal = ndtri((ranks + 0.5) / n)
    centred = scores - scores.mean(axis=1, keepdims=True)
    shared = np.einsum("qn,qn->q", centred, normal) ** 2
    sizes = np.einsum("qn,qn->q", centred, centred) * np.einsum("qn,qn->q", normal, normal)
    return np.asarray(1 - shared / np.maximum(sizes, 1e-300))
