r"""p-values of pairs of residuals, and one p-value from several.

Four statistics of r, what is left of a feature, and e, what is left of the target: projection
correlation, or another of `rank_statistics`; the correlation of r with e; that of r with \|e\|, for
features that change the spread of the target; and that of \|r\| with normal scores of e, for U
shapes. Their p-values are combined by Cauchy's rule, which needs no independence. Weights keep the
rarer kinds of effect from costing the usual ones power.
"""

import numpy as np
from scipy.special import stdtr

from ..types import Data, Indices, Mask, Matrix, Vector
from .null import covariance_tail
from .residuals import Comparison

# of projection correlation, r with e, r with |e|, |r| with e; the second where |Z| helped the fit
WEIGHTS = np.array([(0.35, 0.5, 0.1, 0.05), (0.25, 0.3, 0.1, 0.35)])
# within groups of rows, where what is left adds up to 0, only r with e keeps its null
WITHIN_WEIGHTS = np.array([(0, 1, 0, 0), (0, 1, 0, 0)])
LEAST_OWN = 0.05  # of a column's variance, that is worth a test
SMALLEST, LARGEST = 1e-300, 0.99  # p-values beyond count as these, so that none outweighs all


def p_values(
    found: Comparison, n: int, bent: Data, tied: Mask, statistic_weights: Matrix = WEIGHTS
) -> Matrix:
    """p-value of every column and part; `bent` says for which parts |Z| helped the fit.

    `statistic_weights` has a row for fits without absolute values and one for fits with them.

    What is left of a `tied` column, such as one of 0 and 1, cannot be independent of the others:
    its spread goes with its mean. So only the mean is asked about, and `second_opinion` must agree.
    Of others hardly anything may be left: then it is what straight lines and few bends could not
    explain rather than noise, and it is not tested.
    """
    freedom: Matrix = (n - 2 - found.rank[:, None]).astype(np.float64)
    shrunk = found.dependence * ((n - found.rank[:, None]) / n)  # r has lost `rank` dimensions
    correlations = (found.correlation, found.correlation_abs_e, found.correlation_abs_r)
    tails = [correlation_tail(correlation, freedom) for correlation in correlations]
    weights = statistic_weights[np.atleast_1d(bent).astype(int)].T[:, None]
    together = combine(np.stack([covariance_tail(shrunk, n, found.statistic), *tails]), weights)
    of_mean = np.maximum(tails[0], second_opinion(found, n, False))
    together = np.where(tied[:, None], of_mean, together)
    told = (found.left > np.where(tied, 0.0, LEAST_OWN))[:, None] & (freedom > 0)
    return np.where(told, together, 1.0)


def second_opinion(found: Comparison, n: int, bent: Data) -> Matrix:
    """p-value that only needs the mean of r (and of |r|) given the other features to be right.

    It asks whether the mean of :math:`r_i e_i` is zero, going by the spread of these products: the
    generalised covariance measure of Shah and Peters (2020).
    """
    freedom = np.maximum(n - 2.0 - found.rank[:, None], 1.0)
    of_r, of_abs_r = (
        2 * stdtr(freedom, -np.abs(t)) for t in (found.t_product, found.t_product_abs_r)
    )
    both = np.minimum(2 * np.minimum(of_r, of_abs_r), 1.0)
    return np.asarray(np.where(np.atleast_1d(bent), both, of_r))


def correlation_tail(correlation: Matrix, freedom: Matrix) -> Matrix:
    """Two-sided p-value of a correlation under Student's t."""
    squared = np.minimum(correlation**2, 1 - 1e-15)
    freedom = np.maximum(freedom, 1.0)
    t = np.abs(correlation) * np.sqrt(freedom / (1 - squared))
    return np.asarray(2 * stdtr(freedom, -t))


def combine_groups(p: Matrix, groups: Indices) -> Matrix:
    """One p-value per group, which are numbered from 0, and part, of the rows that were tested.

    It is 1 where no row was.
    """
    tested = p < 1
    cotangents = np.where(tested, _cotangents(p), 0.0)
    total, size = (
        np.stack([np.bincount(groups, weights=column) for column in values.T], axis=1)
        for values in (cotangents, tested)
    )
    return np.where(size > 0, _from_cotangents(total / np.maximum(size, 1)), 1.0)


def over_parts(p: Matrix) -> Vector:
    """One p-value per row, of all its parts; 1 where all are: these were not tested."""
    return np.where(p.min(axis=1) < 1, combine(p.T), 1.0)


def combine(p: Matrix, weights: Matrix | None = None) -> Vector:
    r"""One p-value from several along the first axis, by Cauchy's rule (Liu and Xie 2020).

    .. math:: \tfrac12 - \tfrac1\pi \arctan\Big(\sum_i w_i \cot \pi p_i\Big)

    Weights add up to 1 and are equal unless given.

    Examples
    --------
    >>> [float(combine(np.array(p)).round(4)) for p in ([0.02, 0.02], [0.001, 1])]
    [0.02, 0.0022]
    """
    cotangents = _cotangents(p)
    if weights is None:
        return _from_cotangents(cotangents.mean(axis=0))
    return _from_cotangents(np.sum(weights * cotangents, axis=0))


def _cotangents(p: Matrix) -> Matrix:
    return np.asarray(1 / np.tan(np.pi * np.clip(p, SMALLEST, LARGEST)))


def _from_cotangents(mean: Vector) -> Vector:
    far = mean > 1e6  # where arctan has no digits left
    return np.asarray(
        np.where(far, 1 / (np.pi * np.where(far, mean, 1.0)), 0.5 - np.arctan(mean) / np.pi)
    )
