"""Rates over trials with confidence intervals, and where a curve of power reaches a chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from ..types import Matrix, Vector

CONFIDENCE = 0.95
N_DRAWN = 400  # curves behind the interval of a crossing


@dataclass(frozen=True)
class Rate:
    """The mean of a share over trials, with a confidence interval; `n` trials."""

    mean: float
    low: float
    high: float
    n: int

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2


def rate_of(shares: Vector, size: float = 1.0, confidence: float = CONFIDENCE) -> Rate:
    r"""The mean of shares in [0, 1], one for each trial, with an interval.

    With :math:`m` the mean and :math:`v` the variance of the shares, :math:`n` trials tell as much
    as :math:`n\,m (1 - m) / v` single yes-or-no answers: of these it is Jeffreys' interval, which
    ends at 0 or 1 where all answers agree. To both variances that of one more trial is added, in
    which all answers are the same: features of one trial may be found or missed together, which
    few trials that happen to agree cannot tell.

    Parameters
    ----------
    shares
        Such as the share of planted features that each trial found.
    size
        Of how many features a share is on average: a trial counts as so many answers at most.
    confidence
        Of the interval.

    Returns
    -------
    Rate
        Without trials 0 to 1 around one half.

    Examples
    --------
    >>> found = rate_of(np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    >>> found.mean, round(found.low, 2), round(found.high, 2)
    (0.1, 0.01, 0.38)
    """
    n = len(shares)
    if not n:
        return Rate(0.5, 0.0, 1.0, 0)
    mean, tail = float(np.mean(shares)), (1 - confidence) / 2
    yes, no = _answers(shares, size)
    low = 0.0 if mean == 0 else float(betaincinv(yes, no, tail))
    high = 1.0 if mean == 1 else float(betaincinv(yes, no, 1 - tail))
    return Rate(mean, min(low, mean), max(high, mean), n)


def _answers(shares: Vector, size: float) -> tuple[float, float]:
    """As many answers yes and no as shares tell as much as, and half of one each."""
    n, mean = len(shares), float(np.mean(shares))
    middle = (np.sum(shares) + 0.5) / (n + 1)
    single = middle * (1 - middle)
    together = (np.sum((shares - mean) ** 2) + 1.0) / (n * single + 1.0)
    answers = n * float(np.clip(1 / together, 1.0, max(size, 1.0)))
    return mean * answers + 0.5, (1 - mean) * answers + 0.5


@dataclass(frozen=True)
class Crossing:
    """Where power reaches a chance, with an interval; ``inf`` where it does not.

    At the first place tried it may have been reached before: `first` says so.
    """

    at: float
    low: float
    high: float
    first: bool


def crossing_of(
    places: Vector,
    shares: Sequence[Vector],
    chance: float,
    sizes: Sequence[float],
    confidence: float = CONFIDENCE,
) -> Crossing:
    """Where a curve that does not fall, through the means of shares, reaches a chance.

    Between places it is straight on a log scale. The interval comes from curves drawn from the beta
    distributions of which the intervals of `rate_of` are.

    Parameters
    ----------
    places
        Strengths or numbers of rows, in increasing order, above 0.
    shares
        For each place one share per trial.
    chance
        The power to reach.
    sizes
        For each place of how many features a share is, as in `rate_of`.
    confidence
        Of the interval.

    Returns
    -------
    Crossing
        The place, from the first to the last, or ``inf``.

    Examples
    --------
    >>> found = crossing_of(np.array([0.1, 0.4]), [np.full(5, 0.6), np.full(5, 1.0)], 0.8, [1, 1])
    >>> round(found.at, 6), found.first
    (0.2, False)
    """
    weights = np.array([len(some) for some in shares], dtype=np.float64)
    means = np.array([np.mean(some) for some in shares])
    at = _crossing(places, rising(means, weights), chance)
    rng = np.random.default_rng(0)  # the same for all data
    of_places = zip(shares, sizes, strict=True)
    drawn = np.stack([rng.beta(*_answers(*place), N_DRAWN) for place in of_places], axis=1)
    found = np.sort([_crossing(places, curve, chance) for curve in rising(drawn, weights)])
    tail = (1 - confidence) / 2
    low, high = found[int(tail * N_DRAWN)], found[int((1 - tail) * N_DRAWN) - 1]
    return Crossing(at, min(float(low), at), max(float(high), at), bool(at <= places[0]))


def rising(means: Vector, weights: Vector) -> Vector:
    """The curve nearest to the means, by weighted squares, that does not fall; for rows of means.

    >>> rising(np.array([0.2, 0.6, 0.4, 0.9]), np.ones(4)).round(3).tolist()
    [0.2, 0.5, 0.5, 0.9]
    """
    from_to: Matrix = np.full((*means.shape, means.shape[-1]), np.inf)
    for i in range(means.shape[-1]):
        sums = np.cumsum((means * weights)[..., i:], axis=-1)
        from_to[..., i, i:] = sums / np.cumsum(weights[i:])
    least = np.minimum.accumulate(from_to[..., ::-1], axis=-1)[..., ::-1]  # over ends, by start
    highest = np.maximum.accumulate(least, axis=-2)
    return np.asarray(np.diagonal(highest, axis1=-2, axis2=-1))


def _crossing(places: Vector, curve: Vector, chance: float) -> float:
    reached = np.flatnonzero(curve >= chance)
    if not reached.size:
        return np.inf
    k = int(reached[0])
    if k == 0:
        return float(places[0])
    share = (chance - curve[k - 1]) / (curve[k] - curve[k - 1])
    return float(np.exp(np.interp(share, (0, 1), np.log(places[k - 1 : k + 1]))))
