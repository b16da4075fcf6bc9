"""Puts features and target on the scale of the tests: normal scores, and an order of their own."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ..data.ranks import average_ranks
from ..data.scaling import unit_scale
from ..data.target import Target, columns_of
from ..data.targets.protocol import TargetColumns
from ..types import Indices, Matrix, Vector

LONG_TAILS = 5.0  # kurtosis of a target beyond which its normal scores take its place
MIN_SPREAD = 1e-6  # of a column adjusted for covariates, below which they explain all of it
LEAST_SPREAD = 1e-12  # of a row, below which it is constant
JITTER = 1e-9  # breaks ties of scores and of residuals


def doubled_ranks(values: Matrix) -> Matrix:
    """Twice the ranks along every row, whole numbers because ties share their average."""
    return 2 * average_ranks(values, axis=1)


def normal_scores(ranks: NDArray[Any]) -> Matrix:
    """Normal quantiles of doubled ranks, every row with mean 0 and variance 1."""
    return standardised(_quantiles(ranks.shape[1])[ranks.astype(np.intp, copy=False)])


@lru_cache(maxsize=4)
def _quantiles(n: int) -> Vector:
    """Normal quantiles of the doubled ranks of n values: 2 n there are, few of them ties."""
    return np.asarray(ndtri(np.arange(-1.0, 2 * n) / (2 * n)))


def standardised(values: Matrix) -> Matrix:
    """Every row with mean 0 and variance 1; constant rows are 0."""
    values = values - values.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.mean(values * values, axis=-1, keepdims=True))
    values /= np.where(spread > LEAST_SPREAD, spread, np.inf)
    return np.asarray(values)


def adjusted_for(values: Matrix, covariate_basis: Matrix) -> Matrix:
    """Standardised rows without what orthonormal rows explain of them, standardised again."""
    if not len(covariate_basis):
        return values
    left = values - (values @ covariate_basis.T) @ covariate_basis
    gone = left.std(axis=-1, keepdims=True) < MIN_SPREAD
    return standardised(np.where(gone, 0.0, left))


def target_columns(target: Target, covariate_basis: Matrix, scored: bool = True) -> TargetColumns:
    """Columns of the target with mean 0 and variance 1, adjusted for covariates.

    Normal scores take the place of numbers with long tails, if `scored`.
    """
    found = columns_of(target)
    values = standardised(unit_scale(found.values))
    if scored and found.is_class is None:
        long = np.mean(values**4, axis=1) > LONG_TAILS
        values[long] = normal_scores(doubled_ranks(found.values[long]))
    return replace(found, values=adjusted_for(values, covariate_basis))


def row_order(content: Indices, target: Target) -> Indices:
    """An order of the rows that depends on what they hold, not on where they stand.

    By the target; rows that tie there by their `content`, sums of squares of doubled ranks: whole
    numbers, so that columns in another order do not change it either.
    """
    nominal = target.nominal
    values = _by_size(target, content) if nominal else average_ranks(target.values, axis=0)
    return np.lexsort((content, *np.atleast_2d(values.T)[::-1]))


def _by_size(target: Target, content: Indices) -> Vector:
    """Classes numbered by their size, then by what their rows hold: whatever their names."""
    codes = target.values.astype(np.intp)
    held = np.zeros(codes.max() + 1, np.int64)
    np.add.at(held, codes, content)
    order = np.lexsort((held, np.bincount(codes)))
    return np.argsort(order)[codes].astype(np.float64)


def draw_tie_breakers(n: int) -> tuple[Vector, Vector]:
    """Tiny numbers, the same for every data set of n rows: for features and for the target.

    They lie at equal distances, so that rounding, which is smaller, does not change their order.
    """
    drawn = np.random.default_rng(0).standard_normal((2, n))
    places = np.argsort(np.argsort(drawn, axis=1), axis=1)
    of_features, of_target = JITTER * (2 * places / n - 1)
    return of_features, of_target
