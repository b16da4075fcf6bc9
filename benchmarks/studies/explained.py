"""How much of a real target the fits are said to explain, against nested cross-validation.

    SMRMR_DATA=/data python -m benchmarks.studies.explained [repeats] [table ...]

Per table: the share of variance explained on rows left out that each kind of fit of the default
claims, and that of fits of scikit-learn for which everything (scaling, penalty) is chosen within
the four folds they learn from: LASSO, ridge regression and, for classes, logistic regression. The
standard error is over repeats of five folds. Of classes it is the mean over their 0/1 columns.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.decomposition import PCA
from sklearn.linear_model import LassoCV, LogisticRegressionCV, RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smrmr.types import Matrix

from ..data.datasets import Dataset, load
from .shuffled_targets import TABLES, tested


def target_columns(data: Dataset) -> Matrix:
    """The target as columns: of two classes one, of more classes one each."""
    if data.target != "classes":
        return np.asarray(data.y, dtype=np.float64)[:, None]
    classes = np.unique(data.y)
    return np.equal.outer(data.y, classes[1:] if len(classes) == 2 else classes).astype(np.float64)


def _rotated(fit: Any) -> Any:
    """A fit with a squared penalty, which is the same on principal components, and faster."""
    return make_pipeline(StandardScaler(), PCA(), fit)


def lasso(X: Matrix, data: Dataset, rows: Any, out: Any) -> Matrix:
    """Predictions of a LASSO for each column, its penalty by cross-validation."""
    fit = MultiOutputRegressor(LassoCV(alphas=30, eps=0.01, cv=5, tol=1e-3))
    model = make_pipeline(StandardScaler(), fit).fit(X[rows], target_columns(data)[rows])
    return np.asarray(model.predict(X[out]))


def ridge(X: Matrix, data: Dataset, rows: Any, out: Any) -> Matrix:
    """Predictions of ridge regression, its penalty by generalised cross-validation."""
    model = _rotated(RidgeCV(np.logspace(0, 6, 25))).fit(X[rows], target_columns(data)[rows])
    return np.asarray(model.predict(X[out])).reshape(len(out), -1)


def logistic(X: Matrix, data: Dataset, rows: Any, out: Any) -> Matrix:
    """Predicted shares of classes by logistic regression, its penalty by cross-validation."""
    fit = LogisticRegressionCV(
        Cs=np.logspace(-6, 0, 10), cv=5, scoring="neg_log_loss", max_iter=300
    )
    shares = _rotated(fit).fit(X[rows], data.y[rows]).predict_proba(X[out])
    return np.asarray(shares[:, 1:] if shares.shape[1] == 2 else shares)


def nested(data: Dataset, fit: Any, seed: int) -> float:
    """Share of variance explained on the rows left out of five folds, mean over columns."""
    warnings.simplefilter("ignore")  # of paths that end before they converge
    classes = data.target == "classes"
    folds = (StratifiedKFold if classes else KFold)(5, shuffle=True, random_state=seed)
    Y = target_columns(data)
    left, total = np.zeros_like(Y), np.zeros_like(Y)
    for rows, out in folds.split(data.X, data.y):
        left[out] = Y[out] - fit(data.X, data, rows, out)
        total[out] = Y[out] - Y[rows].mean(axis=0)
    return float(np.mean(1 - np.sum(left**2, axis=0) / np.sum(total**2, axis=0)))


def main(repeats: int = 2, names: Sequence[str] = ()) -> None:
    """Print the table, a row per table of data."""
    fits = {"LASSO": lasso, "ridge": ridge, "logistic": logistic}
    print("| table | said of the default |" + "".join(f" nested {name} |" for name in fits))
    print("|" + "---|" * (2 + len(fits)))
    for name in names or TABLES:
        data = load(name)
        columns = tested(data, np.asarray(data.y)).evidence.fits
        kinds = {k: np.mean([fit.explained[k] for fit in columns]) for k in columns[0].explained}
        told = [", ".join(f"{kind} {share:.2f}" for kind, share in kinds.items())]
        for kind, fit in fits.items():
            if kind == "logistic" and data.target != "classes":
                told.append("-")
                continue
            shares = Parallel(n_jobs=2)(delayed(nested)(data, fit, seed) for seed in range(repeats))
            error = np.std(shares, ddof=1) / np.sqrt(repeats) if repeats > 1 else np.nan
            told.append(f"{np.mean(shares):.2f} ({error:.2f})")
        print(f"| {name} | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2, sys.argv[2:])
