"""Turns columns into normal scores; where values are tied, draws them from a joint latent model.

Tied are equal values here: those who call settle near ties first.
"""

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from ..types import Mask, Matrix, Vector
from .covariance import graphical_lasso

ROUNDS = 20
FAR = 9.0  # standard deviations beyond which a normal variable is never drawn


def have_ties(values: NDArray[Any]) -> Mask:
    """Which columns hold some value twice."""
    ordered = np.sort(values, axis=0)
    return np.asarray((ordered[1:] == ordered[:-1]).any(axis=0))


def normal_scores(values: NDArray[Any], rng: Generator) -> Matrix:
    """Normal quantiles of the ranks, ties broken at random and in each column anew.

    Ties broken alike in all columns would correlate columns that are independent.
    """
    n, p = values.shape
    quantiles = ndtri(np.arange(1, n + 1) / (n + 1))
    quantiles /= np.sqrt(np.mean(quantiles**2))
    noise, scores = rng.random((n, p)), np.empty((n, p))
    order, tied = values.argsort(axis=0), have_ties(values)
    order[:, tied] = np.lexsort((noise[:, tied], values[:, tied]), axis=0)
    np.put_along_axis(scores, order, quantiles[:, None], axis=0)
    return scores


def break_ties(scores: Matrix, values: NDArray[Any], tied: Mask, rng: Generator) -> None:
    """Redraw the scores of tied columns given all others, in place.

    A column of few levels is seen as a normal variable cut into intervals. Where in its interval a
    row lies is drawn given its other columns: ties broken without looking at them would dilute the
    correlations, and knockoffs would resemble the neighbours of their feature less than the feature
    does. Draws alternate with estimates of the correlations (stochastic EM, with one Gibbs sweep
    per round).
    """
    if not tied.any() or len(tied) == 1:
        return
    drawn = np.asfortranarray(scores)
    intervals = {j: _intervals(values[:, j]) for j in np.flatnonzero(tied)}
    for _ in range(ROUNDS):
        precision = np.linalg.inv(graphical_lasso(drawn / np.sqrt(np.mean(drawn**2, axis=0))))
        for j, (low, high) in intervals.items():
            variance = 1 / precision[j, j]
            mean = drawn[:, j] - variance * (drawn @ precision[:, j])
            drawn[:, j] = _truncated_normal(mean, np.sqrt(variance), low, high, rng)
    scores[:] = drawn / np.sqrt(np.mean(drawn**2, axis=0))


def _intervals(column: NDArray[Any]) -> tuple[Vector, Vector]:
    """Ends of the interval of a standard normal variable that each value stands for."""
    ordered = np.sort(column)
    n = len(column)
    low = np.searchsorted(ordered, column, side="left") / n
    high = np.searchsorted(ordered, column, side="right") / n
    return np.maximum(ndtri(low), -FAR), np.minimum(ndtri(high), FAR)


def _truncated_normal(mean: Vector, sd: float, low: Vector, high: Vector, rng: Generator) -> Vector:
    """Draw normal variables that are known to lie in intervals."""
    a, b = (low - mean) / sd, (high - mean) / sd
    mirrored = a > 0  # the left tail has all the digits
    a, b = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
    below, upto = ndtr(a), ndtr(b)
    z = np.clip(ndtri(below + (upto - below) * rng.random(len(mean))), a, b)
    return np.asarray(mean + sd * np.where(mirrored, -z, z))
