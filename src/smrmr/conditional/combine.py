"""One p-value from several: of statistics, of features in a group, of columns of the target."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..types import Indices, Mask, Matrix, Vector
from .statistics import ResidualPairs, Statistic, gcm_p_values

MIN_RESIDUAL_VARIANCE = 0.05  # below this share of its variance a column is not tested
SMALLEST, LARGEST = 1e-300, 0.99  # p-values beyond count as these, so that none outweighs all


def p_values(
    pairs: ResidualPairs,
    statistics: Sequence[Statistic],
    with_abs: bool,
    tied: Mask,
    residual_variance: Vector,
) -> Vector:
    """One p-value for each pair of residuals, from all statistics.

    The residual of a `tied` column, such as one of 0 and 1, cannot be independent of the others:
    its variance depends on its mean. So only statistics of the mean are taken, and the generalised
    covariance measure must agree. A column without ties of under 5% residual variance is not
    tested: its residual may be misfit of lines and splines rather than noise.
    """
    found = np.ones(len(pairs.features))
    if not tied.all():
        found = _weighted([one.p_values(pairs) for one in statistics], statistics, with_abs)
    if tied.any():
        needed = gcm_p_values(pairs, with_abs=False)
        own = [one.p_values(pairs) for one in of_mean(statistics)]
        if own:
            mean = own[0] if len(own) == 1 else _weighted(own, of_mean(statistics), with_abs)
            needed = np.maximum(mean, needed)
        found = np.where(tied, needed, found)
    testable = residual_variance > np.where(tied, 0.0, MIN_RESIDUAL_VARIANCE)
    return np.where(testable & (pairs.freedom > 0), found, 1.0)


def _weighted(p: list[Vector], statistics: Sequence[Statistic], with_abs: bool) -> Vector:
    """p-values of several statistics combined by their weights."""
    weights = np.array([one.weight_with_abs if with_abs else one.weight for one in statistics])
    return combine(np.stack(p), (weights / weights.sum())[:, None])


def of_mean(statistics: Sequence[Statistic]) -> tuple[Statistic, ...]:
    """The statistics that need no more than the mean of a residual to be right."""
    return tuple(one for one in statistics if one.only_mean)


def combine_groups(p: Matrix, groups: Indices) -> Matrix:
    """One p-value per group, which are numbered from 0, and column of the target.

    It is that of the rows that were tested, 1 where none was.
    """
    tested = p < 1
    cotangents = np.where(tested, _cotangents(p), 0.0)
    total, size = (
        np.stack([np.bincount(groups, weights=column) for column in values.T], axis=1)
        for values in (cotangents, tested)
    )
    return np.where(size > 0, _from_cotangents(total / np.maximum(size, 1)), 1.0)


def combine_targets(p: Matrix) -> Vector:
    """One p-value per row, of all columns of the target; 1 where all are: these were not tested."""
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
