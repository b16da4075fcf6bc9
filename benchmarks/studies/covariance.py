"""Shows what each estimate of the covariance does to FDR and power.

    python -m benchmarks.studies.covariance [seeds]

Gaussian features of four structures, n=120, p=60, ten of them in a linear y; knockoffs of all
features; importance by |cov(X_k, y)| - |cov(X~_k, y)|, the statistic that is most easily misled by
neighbours of true features; knockoff+ at 0.3. "true" is given the true covariance.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from scipy.linalg import block_diag, toeplitz
from sklearn.covariance import ledoit_wolf

import smrmr

N, P, LEVEL = 120, 60, 0.3


def structures():
    loadings = np.random.default_rng(99).normal(size=(P, 5)) * 0.4
    factors = loadings @ loadings.T + np.eye(P)
    sd = np.sqrt(np.diag(factors))
    return {
        "chain 0.5": toeplitz(0.5 ** np.arange(P)),
        "equicorrelated 0.5": np.full((P, P), 0.5) + 0.5 * np.eye(P),
        "blocks of 10 at 0.7": block_diag(*[np.full((10, 10), 0.7) + 0.3 * np.eye(10)] * 6),
        "five factors": factors / sd / sd[:, None],
    }


def gaussian(X, sigma, covariance, s):
    """The way to draw knockoffs; Ledoit-Wolf is a matrix given, since it is no option of smrmr."""
    if covariance == "true":
        return smrmr.paper.Gaussian(s, sigma)
    if covariance == "ledoit-wolf":
        scores = (X - X.mean(axis=0)) / X.std(axis=0)
        return smrmr.paper.Gaussian(s, ledoit_wolf(scores, assume_centered=True)[0], copula=True)
    return smrmr.paper.Gaussian(s, covariance)


def one(sigma, covariance, s, seed):
    """False discovery proportion and share of true features found."""
    rng = np.random.default_rng([seed, N, P])
    X = rng.normal(size=(N, P)) @ np.linalg.cholesky(sigma).T
    true = rng.choice(P, 10, replace=False)
    y = X[:, true] @ rng.choice([-1, 1], 10) + rng.normal(size=N)
    drawn = smrmr.paper.draw_knockoffs(
        X, gaussian(X, sigma, covariance, s), random_state=rng
    ).X_knockoff
    W = np.abs(X.T @ (y - y.mean())) - np.abs(drawn.T @ (y - y.mean()))
    found = smrmr.paper.decide(W, LEVEL).selected
    hits = np.isin(found, true).sum()
    return 1 - hits / len(found) if len(found) else 0.0, hits / 10


def main(seeds):
    warnings.simplefilter("ignore")  # singular sample covariances say so
    estimates = ["true", "auto", "sample", "ledoit-wolf"]
    for s in ("equi", "mvr"):
        print(f"s={s!r}, {seeds} seeds: FDR (standard error) / power")
        for name, sigma in structures().items():
            for covariance in estimates:
                runs = np.array([one(sigma, covariance, s, seed) for seed in range(seeds)])
                (fdr, power), error = runs.mean(axis=0), runs[:, 0].std() / np.sqrt(seeds)
                print(f"  {name:<20} {covariance:<12} {fdr:.2f} ({error:.2f}) / {power:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
