"""Defines MarginalTests: what is known of every feature alone, with no other adjusted for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from ..types import Indices, Mask, Matrix, Vector


@dataclass(frozen=True, eq=False)
class MarginalTests:
    """Every feature alone with the target, adjusted for covariates and groups of rows only.

    Entries are by position in X. Copies have those of the feature that represents them, constants
    and features that are not of interest a p-value of 1.

    Attributes
    ----------
    p
        p-value of independence of each feature and the target.
    relevance
        Squared projection correlation with the target; of several columns of it the largest.
    targets
        What the columns of the target are called: classes, outputs.
    p_by_target, effects
        For each column of the target the p-value of each feature, and the correlation of its normal
        scores with that column; of a category that of its strongest level, without sign.
    freedom
        Degrees of freedom of these correlations.
    categories
        Features whose values are labels without an order.
    """

    p: Vector
    relevance: Vector
    targets: tuple[str, ...]
    p_by_target: Matrix
    effects: Matrix
    freedom: int
    categories: Indices

    def __post_init__(self) -> None:
        size = len(self.targets), len(self.p)  # which JSON does not tell if there are none
        for name in ("p_by_target", "effects"):
            object.__setattr__(self, name, np.asarray(getattr(self, name)).reshape(size))

    def without(self, features: Mask) -> MarginalTests:
        """The same, as if these features had not been tested; relevance stays.

        Parameters
        ----------
        features
            A mask of the features.

        Returns
        -------
        MarginalTests
            With p-values of 1 and effects of 0 there.
        """
        return replace(
            self,
            p=np.where(features, 1.0, self.p),
            p_by_target=np.where(features, 1.0, self.p_by_target),
            effects=np.where(features, 0.0, self.effects),
        )

    def intervals(self, confidence: float) -> tuple[Matrix, Matrix]:
        """Lower and upper ends of confidence intervals of `effects`, by Fisher's transform.

        Parameters
        ----------
        confidence
            Of each interval, in (0, 1).

        Returns
        -------
        tuple of ndarray
            Both of the shape of `effects`.
        """
        return correlation_intervals(self.effects, self.freedom, confidence)


def correlation_intervals(
    correlations: Matrix, freedom: Any, confidence: float
) -> tuple[Matrix, Matrix]:
    """Lower and upper ends of confidence intervals of correlations, by Fisher's transform.

    `freedom` are their degrees of freedom, of which two have gone into mean and slope.
    """
    error = ndtri((1 + confidence) / 2) / np.sqrt(np.maximum(freedom - 1, 1))
    middle = np.arctanh(np.clip(correlations, -1 + 1e-15, 1 - 1e-15))
    return np.tanh(middle - error), np.tanh(middle + error)
