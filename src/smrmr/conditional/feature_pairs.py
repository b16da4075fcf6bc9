"""Defines FeaturePairs: features whose effects depend on each other, or on a covariate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..types import Indices, Mask, Matrix, Vector
from .rules import Rule


@dataclass(frozen=True, eq=False)
class FeaturePairs:
    """Pairs that may act together, smallest p-value first; all others have larger ones.

    The hypothesis of a pair is that the effect of neither depends on the other, given all others.

    Attributes
    ----------
    features
        Positions in X of both, (pairs, 2), the one of smaller p-value first. Covariates follow
        after the last feature.
    p_values
        One for each pair: the larger of those in which either is the feature and the other one its
        partner.
    effects
        Correlation of the residual of the feature with the product of the target's residual and the
        partner: positive where the target is higher if both are high or both are low. Without
        meaning for its sign where there are several classes or outputs.
    n_tested
        Number of all pairs that could have been found.
    """

    features: Indices
    p_values: Vector
    effects: Vector
    n_tested: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", np.asarray(self.features).reshape(-1, 2))

    def q_values(self, rule: Rule) -> Vector:
        """Smallest level at which a rule selects each pair, all others having p-values of 1."""
        if not len(self.p_values):
            return np.empty(0)
        scale = 0.5 / rule.largest_alone(self.n_tested, 0.5)
        n_selected = np.arange(1, len(self.p_values) + 1)
        levels = self.p_values * scale / (n_selected if rule.error_rate == "FDR" else 1)
        return np.minimum(np.minimum.accumulate(levels[::-1])[::-1], 1.0)


def pair_up(
    features: Indices,
    partners: Indices,
    p: Vector,
    effects: Vector,
    is_tested: Mask,
    is_partner: Mask,
) -> FeaturePairs:
    """Pairs of features from p-values of a feature with a partner, each in either direction.

    Where a direction can be tested and is not among these its p-value counts as 1. The masks are by
    position in X, covariates after the last feature.
    """
    n = len(is_tested)
    best = np.lexsort((p, partners, features))
    features, partners, p, effects = features[best], partners[best], p[best], effects[best]
    _, first = np.unique(features * n + partners, return_index=True)
    found = {(int(features[i]), int(partners[i])): (float(p[i]), float(effects[i])) for i in first}
    rows = list[tuple[float, int, int, float]]()
    for (feature, partner), (one, effect) in found.items():
        other = 0.0
        if is_tested[partner] and is_partner[feature]:
            other = found.get((partner, feature), (1.0, 0.0))[0]
            if (other, partner) < (one, feature):
                continue  # the same pair from its other side
        if other < 1:
            rows.append((max(one, other), feature, partner, effect))
    rows.sort()
    both = int(np.count_nonzero(is_tested & is_partner))
    n_tested = int(is_tested.sum()) * int(is_partner.sum()) - both - both * (both - 1) // 2
    table: Matrix = np.array(rows, dtype=np.float64).reshape(-1, 4)
    return FeaturePairs(table[:, 1:3].astype(np.intp), table[:, 0], table[:, 3], max(n_tested, 0))
