r"""Offers Joint: the residual of a feature against those of all columns of the target at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from ...types import Matrix, Vector
from .pairs import ResidualPairs
from .rank_covariances import ranks_of, scores_by_rank

LEAST_EIGENVALUE = 1e-6  # relative to the largest, of residuals that are not sums of others


@dataclass(frozen=True)
class Joint:
    r"""F test of r on the residuals of all columns of the target, ``"joint"``.

    With :math:`R^2` the share of r that the d-dimensional span of these residuals explains, m the
    rank of what they are adjusted for,

    .. math:: F = \frac{R^2 / d}{(1 - R^2) / (n - 1 - m - d)}

    has the F distribution with d and n - 1 - m - d degrees of freedom if r is normal. It finds an
    effect that is spread over classes or outputs; the other statistics, column by column, find one
    that is on few of them. With a single column it is left out.

    Parameters
    ----------
    weight, weight_with_abs
        Weight in the combination of p-values, of which the rest is shared out evenly among the
        columns, and the same where absolute values of features helped the fit of the target.

    Examples
    --------
    >>> from smrmr import ConditionalTests
    >>> from smrmr.conditional import Joint
    >>> ConditionalTests(statistics="linear+joint").statistics[1] == Joint()
    True
    """

    weight: float = 0.7
    weight_with_abs: float = 0.6
    alias: ClassVar[str] = "joint"
    only_mean: ClassVar[bool] = True
    all_columns: ClassVar[bool] = True

    def p_values(self, pairs: ResidualPairs) -> Vector:
        """One p-value for each feature.

        Parameters
        ----------
        pairs
            Residuals of features and of all columns of the target.

        Returns
        -------
        ndarray
            p-values, (k,).
        """
        r, E = self._features(pairs), np.moveaxis(pairs.targets, 0, 1)  # (k, n) and (k, q, n)
        freedom = self._freedom(pairs)
        share, d = explained(
            np.matmul(E, r[:, :, None])[:, :, 0], np.matmul(E, np.swapaxes(E, 1, 2)), freedom
        )
        share = np.minimum(share / np.maximum(np.einsum("kn,kn->k", r, r), 1e-300), 1 - 1e-15)
        left = freedom + 1 - d
        return f_tail(share / d, (1 - share) / np.maximum(left, 1), d, left)

    def _features(self, pairs: ResidualPairs) -> Matrix:
        return pairs.features

    def _freedom(self, pairs: ResidualPairs) -> Vector:
        return pairs.freedom


@dataclass(frozen=True)
class JointAbsolute(Joint):
    r"""The same with normal scores of \|r\|, ``"joint_absolute"``: for classes in the middle.

    Parameters
    ----------
    weight, weight_with_abs
        See `Joint`.

    Examples
    --------
    >>> from smrmr.conditional import JointAbsolute
    >>> JointAbsolute().only_mean
    False
    """

    weight: float = 0.05
    weight_with_abs: float = 0.2
    alias: ClassVar[str] = "joint_absolute"
    only_mean: ClassVar[bool] = False

    def _features(self, pairs: ResidualPairs) -> Matrix:
        order = np.argsort(np.abs(pairs.features) + pairs.tie_breaker, axis=1)
        return np.asarray(scores_by_rank(pairs.n_rows)[ranks_of(order)])

    def _freedom(self, pairs: ResidualPairs) -> Vector:
        return pairs.freedom + pairs.rank  # what the target is adjusted for stays in |r|


def joint_gcm_p_values(pairs: ResidualPairs) -> Vector:
    r"""p-values that only need the mean of r given the other features to be right.

    Hotelling's test of whether the means of :math:`r_i e_{ci}` are zero for all columns c of the
    target: the generalised covariance measure of Shah and Peters (2020) for several columns.
    """
    products = np.moveaxis(pairs.targets * pairs.features, 0, 1)  # (k, q, n)
    n = products.shape[2]
    mean = products.mean(axis=2)
    products = products - mean[:, :, None]
    among = np.matmul(products, np.swapaxes(products, 1, 2)) / (n - 1) / n
    squared, d = explained(mean, among, pairs.freedom)
    left = pairs.freedom + 1 - d
    return f_tail(squared * np.maximum(left, 1) / d / (pairs.freedom + 1), 1.0, d, left)


def explained(inner: Matrix, among: NDArray[np.float64], freedom: Vector) -> tuple[Vector, Vector]:
    """Squared length of vectors in the inverse metric `among`, and its rank, for each of k.

    Of more dimensions than half of the degrees of freedom the widest count.
    """
    scale = np.sqrt(np.maximum(np.einsum("kqq->kq", among), 1e-300))
    values, vectors = np.linalg.eigh(among / (scale[:, :, None] * scale[:, None, :]))
    kept = values > LEAST_EIGENVALUE * np.maximum(values[:, -1:], 1e-300)
    places = np.arange(values.shape[1], 0, -1)  # eigenvalues come from the smallest on
    kept &= places <= np.maximum(freedom // 2, 1)[:, None]
    along = np.matmul((inner / scale)[:, None, :], vectors)[:, 0]
    squares = np.where(kept, along**2 / np.where(kept, values, 1.0), 0.0)
    return squares.sum(axis=1), kept.sum(axis=1)


def f_tail(above: Vector, below: Vector | float, d: Vector, left: Vector) -> Vector:
    """Upper tail of F; 1 where too few rows are left."""
    found = fdtrc(d, np.maximum(left, 1.0), above / np.maximum(below, 1e-300))
    return np.asarray(np.where(left > 0, found, 1.0))
