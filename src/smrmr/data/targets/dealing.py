"""Hands out the values of a target anew: to the rows of the highest scores the highest values."""

import numpy as np
from numpy.random import Generator
from scipy.special import expit, ndtri

from ...types import Indices, Matrix, Vector

N_SWEEPS = 100  # in which every row meets another of its stratum
N_DRAWN, N_STEPS = 8, 8  # of noise, and towards the strength
MOST_STRENGTH = 10.0  # at which values follow the signal as far as they can


def deal_by_rank(values: Vector, scores: Vector, strata: Indices) -> Vector:
    """The values of each stratum, in the order of the scores of its rows.

    >>> deal_by_rank(np.array([5.0, 7.0, 6.0]), np.array([0.3, 0.1, 0.2]), np.zeros(3, np.intp))
    array([7., 5., 6.])
    """
    dealt = np.empty_like(values)
    dealt[np.lexsort((scores, strata))] = values[np.lexsort((values, strata))]
    return dealt


def deal_classes(codes: Indices, log_odds: Matrix, strata: Indices, rng: Generator) -> Indices:
    r"""The classes of each stratum, by the odds of its rows (classes, rows), in another order.

    The probability of an order is in proportion to :math:`\exp \sum_i` log_odds[codes[i], i], as in
    a conditional logit: pairs of rows change places, each with its probability given all others.

    >>> odds = np.array([[0.0, 0.0, 50.0, 0.0], [50.0, 0.0, 0.0, 0.0]])
    >>> strata, rng = np.array([0, 1, 0, 1]), np.random.default_rng(0)
    >>> deal_classes(np.array([0, 1, 1, 1]), odds, strata, rng).tolist()
    [1, 1, 0, 1]
    """
    n = len(codes)
    dealt = np.empty_like(codes)
    dealt[np.lexsort((rng.random(n), strata))] = codes[np.argsort(strata, kind="stable")]
    for _ in range(N_SWEEPS):
        order = np.lexsort((rng.random(n), strata))[rng.integers(2) :]
        pairs = order[: len(order) // 2 * 2].reshape(-1, 2)
        one, other = pairs[strata[pairs[:, 0]] == strata[pairs[:, 1]]].T
        mine, its = dealt[one], dealt[other]
        lead, each = log_odds[:, one] - log_odds[:, other], np.arange(len(one))
        swapped = rng.random(len(one)) < expit(lead[its, each] - lead[mine, each])
        dealt[one[swapped]], dealt[other[swapped]] = its[swapped], mine[swapped]
    return dealt


def strength_within(
    signal: Vector, rest: Vector, noise: float, strata: Indices, rng: Generator
) -> float:
    """By how much a signal has to be stronger where values stay in their stratum; 10 at most.

    The spread of the values of a stratum is given, and does not follow that of the signal, so that
    values follow it less than if all could change places. `rest` are their normal scores given the
    covariates, `noise` is the share of these in the scores. Found in steps, from draws that all
    steps share.
    """
    draws = [noise * rng.permutation(rest) for _ in range(N_DRAWN)]
    by_chance = [deal_by_rank(rest, drawn, strata) @ signal for drawn in draws]
    strength = 1.0
    for _ in range(N_STEPS):
        scores = (strength * signal + drawn for drawn in draws)
        gained = [deal_by_rank(rest, mine, strata) @ signal for mine in scores]
        gain = float(np.mean(gained) - np.mean(by_chance))
        asked = float(signal @ signal)
        strength *= asked / max(gain, asked / MOST_STRENGTH)
        strength = min(max(strength, 1.0), MOST_STRENGTH)
    return strength


def scores_given(columns: Matrix, covariates: Matrix, rng: Generator) -> tuple[Matrix, Matrix]:
    """What covariates predict of the normal scores of columns, and the rest.

    Ties are broken at random.
    """
    q, n = columns.shape
    ranks = np.argsort(np.lexsort((rng.random((q, n)), columns)), axis=1)
    scores = ndtri((ranks + 0.5) / n)
    fitted = (scores @ covariates.T) @ covariates
    return fitted, scores - fitted


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
