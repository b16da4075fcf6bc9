"""Prints how well several kinds of fit explain a target on rows left out.

``python -m benchmarks.studies.distillers 5`` (data sets per design). A conditional test sees an
effect the better, the less noise the fit of the target leaves. Features are normal scores Z, the
target is as the tests take it. Everything, choices of features included, is done within folds.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel
from sklearn.linear_model import LassoCV
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from smrmr import simulate
from smrmr.conditional.scores import doubled_ranks, normal_scores, standardised, target_columns
from smrmr.data.target import as_target
from smrmr.types import Matrix

DESIGNS = ("1.d", "2.a", "2.c", "3.b", "heavy", "even", "mixed", "cos")
SIZE = {"n": 200, "p": 200}
HINGES = (-0.7, 0.7)
MOST = 12  # features that LASSO hands on


def lasso() -> Any:
    """LASSO with its lambda by cross-validation."""
    return LassoCV(cv=5, alphas=30)


def boosted() -> Any:
    """Small trees, one after the other."""
    return GradientBoostingRegressor(max_depth=2, n_estimators=150, learning_rate=0.07)


def kernel() -> Any:
    """A linear and a joint Gaussian kernel, their weights by likelihood."""
    shape = ConstantKernel() * DotProduct() + ConstantKernel() * RBF(3.0) + WhiteKernel()
    return GaussianProcessRegressor(shape)


def on_few(fit: Any) -> Any:
    """A fit to the features to which a LASSO gives most weight."""
    return make_pipeline(SelectFromModel(lasso(), threshold=1e-9, max_features=MOST), fit)


def explained(Z: Matrix, y: Any) -> dict[str, float]:
    """Share of variance on rows left out, by kind of fit."""
    bent = np.concatenate([Z, standardised(np.abs(Z))])
    hinges = [standardised(np.maximum(sign * (Z - a), 0)) for a in HINGES for sign in (-1, 1)]
    fits = {
        "LASSO on Z": (Z, lasso()),
        "LASSO on Z, |Z|": (bent, lasso()),
        "LASSO on Z, |Z|, hinges": (np.concatenate([bent, *hinges]), lasso()),
        "kernel on 12 of [Z, |Z|]": (bent, on_few(kernel())),
        "boosting on all": (Z, boosted()),
        "boosting on 12 of [Z, |Z|]": (bent, on_few(boosted())),
    }
    return {
        name: float(1 - np.mean((y - cross_val_predict(fit, columns.T, y, cv=5)) ** 2))
        for name, (columns, fit) in fits.items()
    }


def main(seeds: int) -> None:
    """Print a table: a row per design, a column per kind of fit."""
    for i, design in enumerate(DESIGNS):
        shares = []
        for seed in range(seeds):
            data = simulate(design, random_state=9000 + seed, **SIZE)
            y = target_columns(as_target(data.y, data.target), np.empty((0, len(data.y))))[0].values
            shares.append(explained(normal_scores(doubled_ranks(data.X.T)), y))
        if i == 0:
            titles = [name.replace("|", "\\|") for name in shares[0]]
            print("| design | " + " | ".join(titles) + " |\n|" + "---|" * (len(shares[0]) + 1))
        means = [f"{np.mean([share[name] for share in shares]):.2f}" for name in shares[0]]
        print(f"| {design} | " + " | ".join(means) + " |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]))
