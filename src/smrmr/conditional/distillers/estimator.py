"""Offers FromEstimator: any regressor or classifier of scikit-learn as a distiller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...problems import Problem, setting
from ...settings import ComparesBySettings, check_count
from ...types import Indices, Mask, Matrix, Vector
from .problem import NONE, Distilled, FitProblem, mean_square


@dataclass(frozen=True, eq=False)
class FromEstimator(ComparesBySettings):
    """A regressor or classifier of scikit-learn that predicts the target from the other features.

    Its residual is that of rows left out, in folds. It is fitted again without a feature only where
    that feature could be selected: where it is among the `n_refits` that the estimator gives most
    weight (``coef_`` or ``feature_importances_``), or where its first p-value is small.

    Parameters
    ----------
    estimator
        Anything with ``fit`` and ``predict``; classifiers also ``predict_proba``.
    n_folds
        Parts of the rows, each predicted by a fit to all others.
    n_refits
        Features of largest weight without which it is fitted again whatever their first p-value.

    Raises
    ------
    ValueError
        If the estimator has no ``fit`` and ``predict``, or a number is too small.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from smrmr import ConditionalTests
    >>> from smrmr.conditional import FromEstimator
    >>> ConditionalTests(distillers=FromEstimator(Ridge())).distillers[0].n_folds
    5
    """

    estimator: Any
    n_folds: int = 5
    n_refits: int = 50
    alias: ClassVar[str] = "estimator"

    def __post_init__(self) -> None:
        if not all(hasattr(self.estimator, name) for name in ("fit", "predict")):
            raise Problem(
                f"{setting('estimator', self.estimator)} has no fit and predict.",
                cure="Give a regressor or classifier of scikit-learn, not fitted.",
                argument="estimator",
            )
        check_count("n_folds", self.n_folds, least=2)
        check_count("n_refits", self.n_refits)

    def fit(self, problem: FitProblem, out: Indices) -> Distilled:
        """The fit that never sees the columns `out`.

        Parameters
        ----------
        problem
            Features and target.
        out
            Columns to leave out.

        Returns
        -------
        Distilled
            Residual of the target as seen from rows left out.
        """
        kept, basis = np.flatnonzero(problem.without(out)), problem.regressors.covariate_basis
        X = np.concatenate([problem.regressors.features[kept], basis * np.sqrt(len(basis.T))]).T
        target = problem.target
        labels = target.values if target.is_class is None else target.is_class
        order = np.lexsort((X.sum(axis=1), target.values))  # by content, wherever rows stand
        X, labels = X[order], labels[order]
        predicted = np.empty(len(X))
        for start in range(self.n_folds):
            held_out = np.arange(len(X)) % self.n_folds == start
            predicted[held_out] = _predict(self._fit(X[~held_out], labels[~held_out]), X[held_out])
        residual = np.empty(len(X))
        residual[order] = labels - predicted
        if target.is_class is not None:
            residual /= np.std(labels)
        residual -= residual.mean()
        used = NONE
        if not len(out):  # nothing else is left out of a fit without some columns
            used = kept[self._heaviest(self._fit(X, labels), len(kept))]
        name = type(self.estimator).__name__
        return Distilled(residual, residual, used, explained={name: 1 - mean_square(residual)})

    def _fit(self, X: Matrix, labels: Vector | Mask) -> Any:
        """A fresh estimator, fitted; one that draws at random without a seed has the seed 0."""
        from sklearn.base import clone

        fresh = clone(self.estimator)
        if fresh.get_params().get("random_state", 0) is None:
            fresh.set_params(random_state=0)
        return fresh.fit(X, labels)

    def _heaviest(self, fitted: Any, n_features: int) -> Indices:
        """Features of largest weight; all where the estimator has no weights."""
        weights = getattr(fitted, "coef_", getattr(fitted, "feature_importances_", None))
        if weights is None:
            return np.arange(n_features)
        sizes = np.abs(np.atleast_2d(weights)).max(axis=0)[:n_features]
        order = np.argsort(-sizes, kind="stable")[: self.n_refits]
        return np.asarray(order[sizes[order] > 0])


def _predict(fitted: Any, X: Matrix) -> Vector:
    """Predicted numbers, or probabilities of the class."""
    if hasattr(fitted, "predict_proba"):
        return np.asarray(fitted.predict_proba(X)[:, list(fitted.classes_).index(True)])
    return np.asarray(fitted.predict(X), dtype=np.float64)
