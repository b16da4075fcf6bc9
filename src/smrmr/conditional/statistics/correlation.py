r"""Statistics that are correlations of residuals, or of their absolute values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import stdtr

from ...types import Mask, Vector
from .pairs import ResidualPairs


@dataclass(frozen=True)
class Linear:
    """Correlation of r with e, ``"linear"``: a partial correlation under Student's t.

    Parameters
    ----------
    weight, weight_with_abs
        Weight in the combination of p-values, and where absolute values of features helped the fit
        of the target.

    Examples
    --------
    >>> from smrmr import ConditionalTests
    >>> from smrmr.conditional import Linear
    >>> ConditionalTests(statistics="linear").statistics == (Linear(),)
    True
    """

    weight: float = 0.5
    weight_with_abs: float = 0.3
    alias: ClassVar[str] = "linear"
    only_mean: ClassVar[bool] = True
    all_columns: ClassVar[bool] = False

    def p_values(self, pairs: ResidualPairs) -> Vector:
        """One p-value for each pair of residuals.

        Parameters
        ----------
        pairs
            Residuals of features and target.

        Returns
        -------
        ndarray
            p-values, (k,).
        """
        return correlation_tail(self._correlation(pairs), self._freedom(pairs))

    def _correlation(self, pairs: ResidualPairs) -> Vector:
        return pairs.correlation

    def _freedom(self, pairs: ResidualPairs) -> Vector:
        return pairs.freedom


@dataclass(frozen=True)
class Spread(Linear):
    r"""Correlation of r with \|e\|, ``"spread"``: for features that change the target's spread.

    Parameters
    ----------
    weight, weight_with_abs
        Weight in the combination of p-values, and where absolute values of features helped the fit
        of the target.

    Examples
    --------
    >>> from smrmr.conditional import Spread
    >>> Spread(weight=0.2).only_mean
    False
    """

    weight: float = 0.1
    weight_with_abs: float = 0.1
    alias: ClassVar[str] = "spread"
    only_mean: ClassVar[bool] = False

    def _correlation(self, pairs: ResidualPairs) -> Vector:
        return pairs.moments.correlation_abs_e

    def _freedom(self, pairs: ResidualPairs) -> Vector:
        return pairs.freedom + pairs.rank  # what r is adjusted for stays in |e|


@dataclass(frozen=True)
class Absolute(Linear):
    r"""Correlation of \|r\| with normal scores of e, ``"absolute"``: for U shapes.

    Parameters
    ----------
    weight, weight_with_abs
        Weight in the combination of p-values, and where absolute values of features helped the fit
        of the target.

    Examples
    --------
    >>> from smrmr.conditional import Absolute
    >>> Absolute().weight_with_abs
    0.35
    """

    weight: float = 0.05
    weight_with_abs: float = 0.35
    alias: ClassVar[str] = "absolute"
    only_mean: ClassVar[bool] = False

    def _correlation(self, pairs: ResidualPairs) -> Vector:
        return pairs.moments.correlation_abs_r

    def _freedom(self, pairs: ResidualPairs) -> Vector:
        return pairs.freedom + pairs.rank  # what e is adjusted for stays in |r|


def gcm_p_values(pairs: ResidualPairs, with_abs: Mask) -> Vector:
    r"""p-values that only need the mean of r (and of \|r\|) given the other features to be right.

    They test whether the mean of :math:`r_i e_i` is zero, studentised by these products: the
    generalised covariance measure of Shah and Peters (2020). `with_abs` says where the fit of the
    target took absolute values of features, so that :math:`|r_i| e_i` is tested as well.
    """
    freedom = np.maximum(pairs.freedom, 1.0)
    moments = pairs.moments
    of_r, of_abs_r = (
        2 * stdtr(freedom, -np.abs(t)) for t in (moments.t_product, moments.t_product_abs_r)
    )
    both = np.minimum(2 * np.minimum(of_r, of_abs_r), 1.0)
    return np.asarray(np.where(with_abs, both, of_r))


def correlation_tail(correlation: Vector, freedom: Vector) -> Vector:
    """Two-sided p-value of a correlation under Student's t."""
    squared = np.minimum(correlation**2, 1 - 1e-15)
    freedom = np.maximum(freedom, 1.0)
    t = np.abs(correlation) * np.sqrt(freedom / (1 - squared))
    return np.asarray(2 * stdtr(freedom, -t))
