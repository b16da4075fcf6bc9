r"""Tests for features of few values, such as 0 and 1 or counts, whose variance follows their mean.

The residual r of such a feature is not independent of the other features, but it is exchangeable
among rows with the same expected value. So rows are put into strata of similar fitted values, and
:math:`S = \sum_i r_i e_i` is compared with its distribution under permutations within strata b,

.. math:: \operatorname{E} S = \sum_b n_b \bar r_b \bar e_b, \quad \operatorname{Var} S = \sum_b
          \frac{\sum_{i \in b} (r_i - \bar r_b)^2 \sum_{i \in b} (e_i - \bar e_b)^2}{n_b - 1},

whose third moment is known too. Its tail is that of a gamma distribution with the same three
moments (Pearson's type III), which matters where a rare value meets a rare class. Where strata hold
so few of both that three moments say little, permutations of all rows are the safer comparison: the
larger p-value of the two counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, ndtr, ndtri, stdtr

from ...types import Indices, Matrix, Vector
from .joint import explained, f_tail
from .pairs import ResidualPairs

ROWS_PER_STRATUM, MOST_STRATA = 35, 20
SYMMETRIC = 1e-4  # skewness below which a tail is that of a normal distribution
SMALLEST = 1e-300

Array = NDArray[np.float64]


def tied_p_values(pairs: ResidualPairs) -> tuple[Matrix, Vector]:
    """p-values of features against each column of the target, (k, q), and against all of them."""
    n_strata = int(np.clip(pairs.n_rows // ROWS_PER_STRATUM, 1, MOST_STRATA))
    by_column, joint = _compare(pairs, 1)
    which = (pairs.rank > 0) & (pairs.fitted is not None)  # others have one fitted value
    if n_strata > 1 and which.any():
        within = _compare(pairs.take(which), n_strata)
        by_column[which] = np.maximum(by_column[which], within[0])
        joint[which] = np.maximum(joint[which], within[1])
    return by_column, joint


def _compare(pairs: ResidualPairs, n_strata: int) -> tuple[Matrix, Vector]:
    n = pairs.n_rows
    fitted = np.zeros_like(pairs.features) if pairs.fitted is None else pairs.fitted
    order = np.argsort(fitted + pairs.tie_breaker, axis=1)  # neighbours have few values too
    starts = np.arange(n_strata) * n // n_strata
    sizes = np.diff(starts, append=n)
    r = _centred(np.take_along_axis(pairs.features, order, axis=1), starts, sizes)
    E = np.take_along_axis(np.moveaxis(pairs.targets, 0, 1), order[:, None], axis=2)
    E = _centred(E, starts, sizes)  # (k, q, n)
    variance = np.add.reduceat(r * r, starts, axis=-1) / np.maximum(sizes - 1, 1)
    among = np.matmul(E * np.repeat(variance, sizes, axis=-1)[:, None], np.swapaxes(E, 1, 2))
    spread = np.sqrt(np.maximum(np.einsum("kqq->kq", among), SMALLEST))
    cubes = np.add.reduceat(r * r * r, starts, axis=-1)
    cubes = cubes * sizes / np.maximum((sizes - 1) * (sizes - 2), 1)
    third = np.einsum("kb,kqb->kq", cubes, np.add.reduceat(E * E * E, starts, axis=-1))
    sums = np.matmul(E, r[:, :, None])[:, :, 0]
    scores = _normal(sums / spread, np.maximum(pairs.freedom - n_strata + 1, 1.0)[:, None], n)
    scores = _without_skewness(scores, third / np.maximum(spread**3, SMALLEST))
    among = among / (spread[:, :, None] * spread[:, None, :])
    squares, d = explained(scores, among, pairs.freedom)
    share, left = np.minimum(squares / n, 1 - 1e-15), pairs.freedom + 1 - d
    joint = f_tail(share / d, (1 - share) / np.maximum(left, 1), d, left)
    return 2 * ndtr(-np.abs(scores)), joint


def _centred(values: Array, starts: Indices, sizes: Indices) -> Array:
    """Values less their mean in each stratum, of which rows follow each other."""
    means = np.add.reduceat(values, starts, axis=-1) / sizes
    return np.asarray(values - np.repeat(means, sizes, axis=-1))


def _normal(z: Matrix, freedom: Vector, n: int) -> Matrix:
    """Standard normal scores that have the tail of z, whose square is n times a correlation's."""
    share = np.minimum(z**2 / n, 1 - 1e-15)
    t = np.sqrt(share * freedom / (1 - share))
    return np.asarray(np.sign(z) * -ndtri(np.maximum(stdtr(freedom, -t), SMALLEST)))


def _without_skewness(z: Matrix, skewness: Matrix) -> Matrix:
    """Standard normal scores that are exceeded in absolute value as often as gamma variables z."""
    shape = 4 / np.maximum(np.abs(skewness), SYMMETRIC) ** 2
    away = np.abs(z) * np.sqrt(shape)
    p = gammaincc(shape, shape + away) + gammainc(shape, np.maximum(shape - away, 0.0))
    scores = np.sign(z) * -ndtri(np.clip(p / 2, SMALLEST, 0.5))
    return np.where(np.abs(skewness) > SYMMETRIC, scores, z)
