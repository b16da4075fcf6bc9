r"""p-values of pairs of residuals, and one p-value from several.

Three statistics: projection correlation, which depends on ranks alone, so that its null is one
table per number of rows; the plain correlation of r and e; and that of \|r\| with e, where bows
helped the fit of y. Their p-values are combined by Cauchy's rule, which needs no independence.
"""

import numpy as np
from scipy.special import stdtr

from ...types import Data, Matrix, Vector
from .null import covariance_tail
from .residuals import Comparison

SMALLEST = 1e-15  # p-value that is told from 0


def p_values(found: Comparison, n: int, bent: Data) -> Matrix:
    """p-value of every column and part; `bent` says for which parts |r| is looked at."""
    freedom: Matrix = (n - 2 - found.rank[:, None]).astype(np.float64)
    shrunk = found.covariance * ((n - found.rank[:, None]) / n)  # r has lost `rank` dimensions
    parts = [covariance_tail(shrunk, n), correlation_tail(found.correlation, freedom)]
    two = combine(np.stack(parts))
    three = combine(np.stack([*parts, correlation_tail(found.bowed, freedom)]))
    told = (found.left[:, None] > 0) & (freedom > 0)
    return np.where(told, np.where(bent, three, two), 1.0)


def correlation_tail(correlation: Matrix, freedom: Matrix) -> Matrix:
    """Two-sided p-value of a correlation under Student's t."""
    squared = np.minimum(correlation**2, 1 - 1e-15)
    freedom = np.maximum(freedom, 1.0)
    t = np.abs(correlation) * np.sqrt(freedom / (1 - squared))
    return np.asarray(2 * stdtr(freedom, -t))


def combine(p: Matrix) -> Vector:
    r"""One p-value from several along the first axis, by Cauchy's rule (Liu and Xie 2020).

    .. math:: \tfrac12 - \tfrac1\pi \arctan\Big(\tfrac1m \sum_i \cot \pi p_i\Big)

    Examples
    --------
    >>> float(combine(np.array([0.02, 0.02])).round(6)), float(combine(np.array([0.01, 1])) < 0.03)
    (0.02, 1.0)
    """
    p = np.clip(p, SMALLEST, 1 - 1e-6)
    mean = np.mean(1 / np.tan(np.pi * p), axis=0)
    far = mean > 1e6  # where arctan has no digits left
    return np.asarray(
        np.where(far, 1 / (np.pi * np.where(far, mean, 1.0)), 0.5 - np.arctan(mean) / np.pi)
    )
