"""Offers FromEstimator: any regressor or classifier of scikit-learn as a distiller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...data.targets.protocol import TargetColumns
from ...problems import Problem, setting
from ...settings import ComparesBySettings, check_count
from ...types import Indices, Matrix, Vector
from .problem import NONE, Distilled, FitProblem

MOST_FEATURES = 1000  # that an estimator is given, those most associated with the target


@dataclass(frozen=True, eq=False)
class FromEstimator(ComparesBySettings):
    """A regressor or classifier of scikit-learn that predicts the target from the other features.

    Its residual is that of rows left out, in folds. It is fitted again without a feature only where
    that feature could be selected: where it is among the `n_refits` that the estimator gives most
    weight (``coef_`` or ``feature_importances_``), or where its first p-value is small. Of
    more than 1,000 features it is given those most associated with the target.

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

    @property
    def name(self) -> str:
        """That of the estimator."""
        return type(self.estimator).__name__

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
            Residuals of the target as seen from rows left out.
        """
        kept = np.flatnonzero(problem.allowed(out, MOST_FEATURES))
        basis = problem.regressors.covariate_basis
        X = np.concatenate([problem.regressors.features[kept], basis * np.sqrt(len(basis.T))]).T
        targets = _as_fitted(problem.target, hasattr(self.estimator, "predict_proba"))
        order = np.lexsort((X.sum(axis=1), *problem.target.values[::-1]))  # wherever rows stand
        X, folds = X[order], np.arange(len(X)) % self.n_folds
        residuals, weights = np.empty_like(problem.target.values), []
        for labels, columns in targets:
            labels = labels[order]
            for fold in range(self.n_folds):
                known, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
                fitted = self._fit(X[known], labels[known])
                predicted = _predict(fitted, X[held_out], labels)
                left = _indicators(labels)[:, held_out] - predicted
                residuals[np.ix_(columns, order[held_out])] = left
            if not len(out):  # nothing else is left out of a fit without some columns
                weights.append(self._weights(self._fit(X, labels), len(kept)))
        if problem.target.is_class is not None:
            residuals /= problem.target.is_class.std(axis=1, keepdims=True)
        residuals -= residuals.mean(axis=1, keepdims=True)
        used = NONE if len(out) else kept[self._heaviest(np.max(weights, axis=0))]
        return Distilled(residuals, used)

    def held_out(self, problem: FitProblem) -> Matrix:
        """Residuals of rows left out, as seen from fits to the others.

        Parameters
        ----------
        problem
            Features and target.

        Returns
        -------
        ndarray
            Residuals of the rows `FitProblem.judged`, (q, rows).
        """
        return self.fit(problem, NONE).residuals[:, problem.judged]

    def _fit(self, X: Matrix, labels: NDArray[Any]) -> Any:
        """A fresh estimator, fitted; one that draws at random without a seed has the seed 0."""
        from sklearn.base import clone

        fresh = clone(self.estimator)
        if fresh.get_params().get("random_state", 0) is None:
            fresh.set_params(random_state=0)
        return fresh.fit(X, labels)

    def _weights(self, fitted: Any, n_features: int) -> Vector:
        """Weight of every feature in a fit; infinite where the estimator has none."""
        weights = getattr(fitted, "coef_", getattr(fitted, "feature_importances_", None))
        if weights is None:
            return np.full(n_features, np.inf)
        return np.asarray(np.abs(np.atleast_2d(weights)).max(axis=0)[:n_features])

    def _heaviest(self, weights: Vector) -> Indices:
        """Features of largest weight; all where there are no weights."""
        order = np.argsort(-weights, kind="stable")
        order = order if np.isinf(weights).all() else order[: self.n_refits]
        return np.asarray(order[weights[order] > 0])


def _as_fitted(target: TargetColumns, classifies: bool) -> list[tuple[NDArray[Any], Indices]]:
    """What an estimator is fitted to, one after the other, and the columns that each stands for."""
    columns = np.arange(len(target.values))
    if target.is_class is None:
        return [(values, columns[[q]]) for q, values in enumerate(target.values)]
    if classifies and len(columns) > 1:
        return [(target.is_class.argmax(axis=0), columns)]  # all classes at once
    return [(inside, columns[[q]]) for q, inside in enumerate(target.is_class)]


def _indicators(labels: NDArray[Any]) -> Matrix:
    """Columns that stand for labels: numbers and a single class themselves, one per class else."""
    if labels.dtype.kind != "i":
        return np.asarray(labels[None], dtype=np.float64)
    return np.asarray(labels == np.arange(labels.max() + 1)[:, None], dtype=np.float64)


def _predict(fitted: Any, X: Matrix, labels: NDArray[Any]) -> Matrix:
    """Predicted numbers, or probabilities of classes; 0 for a class that no fitted row was in."""
    if not hasattr(fitted, "predict_proba"):
        return np.asarray(fitted.predict(X), dtype=np.float64)[None]
    chances = fitted.predict_proba(X).T
    if labels.dtype.kind != "i":
        return np.asarray(chances[[list(fitted.classes_).index(True)]])
    found = np.zeros((int(labels.max()) + 1, len(X)))
    found[np.asarray(fitted.classes_, dtype=np.intp)] = chances
    return found
