"""Defines MarginalTests: what is known of every feature alone, with no other adjusted for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from ..types import Indices, Matrix, Vector


@dataclass(frozen=True, eq=False)
class MarginalTests:
    """Every feature alone with the target, adjusted for covariates and groups of rows only.

    Entries are by position in X. Copies have those of the feature that represents them, constants
    a p-value of 1.

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
        error = ndtri((1 + confidence) / 2) / np.sqrt(max(self.freedom - 1, 1))
        middle = np.arctanh(np.clip(self.effects, -1 + 1e-15, 1 - 1e-15))
        return np.tanh(middle - error), np.tanh(middle + error)
