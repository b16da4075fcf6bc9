"""One p-value from several: of statistics, of features in a group, of columns of the target."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..types import Indices, Mask, Matrix, Vector
from .distillers.problem import Shape
from .statistics import ResidualPairs, Statistic, gcm_p_values, joint_gcm_p_values, needs_partners
from .statistics.tied import tied_p_values

MIN_RESIDUAL_VARIANCE = 0.05  # below this share of its variance a column is not tested
CLEARLY_LINEAR = 0.3  # share explained from which on effects count as straight lines,
LESS_IF_LINEAR = 0.8  # share of their weight that other statistics lose then,
LESS_OF_PARTNERS = 0.5  # and those of partners
SMALLEST, LARGEST = 1e-300, 0.99  # p-values beyond count as these, so that none outweighs all


def p_values(
    columns: Sequence[ResidualPairs],
    statistics: Sequence[Statistic],
    shapes: Sequence[Shape],
    tied: Mask,
    residual_variance: Vector,
) -> tuple[Vector, Matrix]:
    """One p-value for each feature from all statistics, (k,), and for each column, (k, q).

    `shapes` are those of the fit behind each feature, or one for all. A `tied` column, such as one
    of 0 and 1, has a variance that depends on its mean, so that its residual is not independent of
    the others: it has tests of its own, see `tied_p_values`. A column without ties of under 5%
    residual variance is not tested: its residual may be misfit of lines and splines rather than
    noise. Statistics of partners are left to `with_partners`.
    """
    alone, joint, _ = _by_kind(statistics, len(columns))
    own = [_of_one(pairs, alone, shapes) for pairs in columns]
    together = [one.p_values(columns[0]) for one in joint]
    if tied.any():
        by_column, of_all = tied_p_values(columns[0].take(tied))
        for p, of_tied in zip(own, by_column.T, strict=True):
            p[tied] = of_tied
        for p in together:
            p[tied] = of_all
    testable = residual_variance > np.where(tied, 0.0, MIN_RESIDUAL_VARIANCE)
    testable &= columns[0].freedom > 0
    found = _of_all(own, together, _weights(joint, shapes))
    return np.where(testable, found, 1.0), np.where(testable[:, None], np.stack(own, axis=1), 1.0)


def with_partners(
    p: Vector, pairs: ResidualPairs, statistics: Sequence[Statistic], shapes: Sequence[Shape]
) -> Vector:
    """p-values combined with those of features that act together with partners.

    Columns that are not tested, with a p-value of 1, stay so, and so do those without partners.
    """
    alone, _, of_partners = _by_kind(statistics, 1)
    if not of_partners or pairs.interactions is None:
        return p
    weights = _weights(of_partners, shapes)
    weights = weights if alone else np.full_like(weights, 1 / len(weights))
    every = np.stack([p, *(one.p_values(pairs) for one in of_partners)])
    found = combine(every, np.concatenate([1 - weights.sum(axis=0, keepdims=True), weights]))
    is_tested = (p < 1) | (not alone)
    return np.where(is_tested & (pairs.interactions.n_partners > 0), found, p)


def all_gcm_p_values(
    columns: Sequence[ResidualPairs], statistics: Sequence[Statistic], shapes: Sequence[Shape]
) -> Vector:
    """What the generalised covariance measure makes of all columns of the target, (k,).

    Interactions are taken as they are given.
    """
    _, joint, _ = _by_kind(statistics, len(columns))
    with_abs = np.array([shape.uses_absolute_values for shape in shapes])
    own = [gcm_p_values(pairs, with_abs) for pairs in columns]
    together = [joint_gcm_p_values(columns[0])] * len(joint)
    found = _of_all(own, together, _weights(joint, shapes))
    return with_partners(found, columns[0], statistics, shapes)


def _by_kind(
    statistics: Sequence[Statistic], n_columns: int
) -> tuple[list[Statistic], list[Statistic], list[Statistic]]:
    """Statistics of single columns of the target, of several together, and of partners."""
    of_partners = [one for one in statistics if needs_partners(one)]
    others = [one for one in statistics if not needs_partners(one)]
    alone = [one for one in others if not one.all_columns]
    return alone, [one for one in others if one.all_columns and n_columns > 1], of_partners


def _of_all(own: list[Vector], together: list[Vector], weights: Matrix) -> Vector:
    """One p-value from those of single columns, which share what is left of the weight, and all."""
    if len(own) == 1 and not together:
        return own[0]
    rest = (1 - weights.sum(axis=0, keepdims=True)) / len(own)
    return combine(np.stack([*own, *together]), np.concatenate([*[rest] * len(own), weights]))


def _weights(statistics: Sequence[Statistic], shapes: Sequence[Shape]) -> Matrix:
    """Weights of statistics, a column for each of the shapes."""
    of_shapes = [_weights_of_one(statistics, shape) for shape in shapes]
    return np.array(of_shapes).reshape(len(shapes), len(statistics)).T


def _weights_of_one(statistics: Sequence[Statistic], shape: Shape) -> list[float]:
    """Weights of statistics by what a fit says of the shape of effects.

    Any function of a fit that never saw a feature may weigh its tests. The better straight lines
    explain the target, the less weight have statistics that look for more than a shift of its mean.
    """
    if shape.uses_products and all(map(needs_partners, statistics)):
        return [getattr(one, "weight_with_products", one.weight) for one in statistics]
    if shape.uses_absolute_values:
        return [one.weight_with_abs for one in statistics]
    linear = min(shape.linear_share / CLEARLY_LINEAR, 1.0)
    return [one.weight * (1 - linear * _less(one)) for one in statistics]


def _less(statistic: Statistic) -> float:
    """Share of its weight that a statistic loses where straight lines explain the target."""
    if needs_partners(statistic):
        return LESS_OF_PARTNERS
    return 0.0 if statistic.only_mean else LESS_IF_LINEAR


def _of_one(
    pairs: ResidualPairs, statistics: Sequence[Statistic], shapes: Sequence[Shape]
) -> Vector:
    """p-values of several statistics combined by their weights."""
    p = [one.p_values(pairs) for one in statistics]
    if len(p) < 2:
        return p[0] if p else np.ones(len(pairs.features))
    weights = _weights(statistics, shapes)
    return combine(np.stack(p), weights / weights.sum(axis=0))


def of_mean(statistics: Sequence[Statistic]) -> tuple[Statistic, ...]:
    """The statistics that need no more than the mean of a residual to be right."""
    return tuple(one for one in statistics if one.only_mean)


def combine_groups(p: Vector, groups: Indices) -> Vector:
    """One p-value per group, which are numbered from 0.

    It is that of the rows that were tested, 1 where none was.
    """
    tested = p < 1
    total = np.bincount(groups, weights=np.where(tested, _cotangents(p), 0.0))
    size = np.bincount(groups, weights=tested)
    return np.where(size > 0, _from_cotangents(total / np.maximum(size, 1)), 1.0)


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
