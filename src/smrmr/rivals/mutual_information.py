"""Mutual information as an association for mRMR: from contingency tables or nearest neighbours."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.columns import Columns
from ..data.ranks import settled
from ..data.target import Target
from ..measures.embedding import one_hot
from ..problems import Problem, setting
from ..types import Vector

FEW_LEVELS = 10  # columns with no more levels are discrete already


@dataclass
class Information:
    """What both kinds share: columns of numbers, and which of them have levels."""

    columns: Columns

    def __post_init__(self) -> None:
        self._values = settled(np.asarray(self.columns.values, dtype=np.float64), axis=0)
        self._discrete = self.columns.nominal | np.array([_few(x) for x in self._values.T])

    def with_target(self, target: Target) -> Vector:
        """Mutual information of every feature with the target."""
        if target.several:
            raise Problem(
                f"mutual information needs a target of one column. Use {setting('measure', 'pc')}, "
                "'hsic' or 'dcor' for several outputs."
            )
        return self._with(target.values, target.nominal)

    def with_feature(self, k: int) -> Vector:
        """Mutual information of every feature with feature `k`."""
        return self._with(self._values[:, k], bool(self._discrete[k]))

    def _with(self, y: Vector, discrete: bool) -> Vector:
        raise NotImplementedError


@dataclass
class DiscreteInformation(Information):
    """Mutual information, in nats, of columns cut into three states at mean -/+ one sd.

    As in Peng, Long and Ding (2005). Columns with at most 10 levels, classes and nominal features
    keep their levels; a continuous target is cut like a feature.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        columns = zip(self._values.T, self._discrete, strict=True)
        states = [one_hot(_discretised(x, discrete)) for x, discrete in columns]
        self._stacked = np.concatenate(states)
        self._starts = np.cumsum([0, *map(len, states)])[:-1]

    def _with(self, y: Vector, discrete: bool) -> Vector:
        other = one_hot(_discretised(y, discrete))
        n = other.shape[1]
        joint = self._stacked @ other.T / n
        independent = np.outer(self._stacked.sum(axis=1), other.sum(axis=1)) / n**2
        ratio = np.divide(joint, independent, out=np.ones_like(joint), where=joint > 0)
        terms = (joint * np.log(ratio)).sum(axis=1)
        return np.asarray(np.maximum(np.add.reduceat(terms, self._starts), 0.0))


@dataclass
class NeighbourInformation(Information):
    """Mutual information by nearest neighbours (Kraskov et al. 2004), scikit-learn's estimators."""

    random_state: int
    n_jobs: int | None = None

    def _with(self, y: Vector, discrete: bool) -> Vector:
        from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

        estimate = mutual_info_classif if discrete else mutual_info_regression
        how = {"random_state": self.random_state, "n_jobs": self.n_jobs}
        return np.asarray(estimate(self._values, y, discrete_features=self._discrete, **how))


def _few(x: NDArray[Any]) -> bool:
    return len(np.unique(x)) <= FEW_LEVELS


def _discretised(x: NDArray[Any], discrete: bool) -> Vector:
    if discrete or _few(x):
        return np.asarray(np.unique(x, return_inverse=True)[1], dtype=np.float64)
    x = np.asarray(x, dtype=np.float64)
    deviation, mean = x.std(), x.mean()
    return np.asarray(1.0 + (x > mean + deviation) - (x < mean - deviation))
