"""Counts how often null features beat their knockoffs; fair is half of the time.

    python -m benchmarks.studies.signs [seeds]

First columns with ties that correlate by 0.5 with neighbours, under three ways to treat ties
(n=300, p=20, four true features, importance by the difference in PC relevance). Then W of the
whole method without a penalty (design 1.d, n=150, p=120), the covariance estimated or true.
Printed: share of nulls that win (standard error), overall and among the fifth that differ most.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from scipy.linalg import toeplitz

import smrmr
from smrmr.paper.decorrelation import equi
from smrmr.paper.gaussian import draw_given
from smrmr.paper.ties import normal_scores


def from_sample(Z, rng):
    sigma = np.corrcoef(Z.T)
    return draw_given(Z, sigma, np.diag(equi(sigma)), rng)


def plain_gaussian(X, rng):
    mean, sd = X.mean(axis=0), X.std(axis=0)
    return mean + sd * from_sample((X - mean) / sd, rng)


def ties_broken_alone(X, rng):
    ranks = from_sample(normal_scores(X, rng), rng).argsort(axis=0).argsort(axis=0)
    return np.take_along_axis(np.sort(X, axis=0), ranks, axis=0)


def ours(X, rng):
    return smrmr.paper.draw_knockoffs(X, random_state=rng).X_knockoff


LEVELS = {"0/1": lambda Z: (Z > 0.5) * 1.0, "0/1/2": lambda Z: (Z > 0) * 1.0 + (Z > 1)}


def with_ties(levels, draw, seed, n=300, p=20):
    rng = np.random.default_rng([77, seed])
    Z = rng.normal(size=(n, p)) @ np.linalg.cholesky(toeplitz(0.5 ** np.arange(p))).T
    X, active = LEVELS[levels](Z), np.arange(0, p, 5)
    y = X[:, active].sum(axis=1) + rng.normal(size=n)
    both = smrmr.relevance(np.hstack([X, draw(X, rng)]), y, target="continuous")
    return np.delete(both[:p] - both[p:], active)


def whole_method(covariance, seed):
    data = smrmr.simulate("1.d", 150, 120, random_state=[4, seed])
    knockoffs = smrmr.paper.Gaussian(covariance=covariance)
    control = smrmr.paper.KnockoffFilter(penalty="none", knockoffs=knockoffs)
    draw = smrmr.select(data.X, data.y, smrmr.Recipe(control=control), seed).evidence.draws[0]
    return draw.W[~np.isin(draw.kept, data.support)]


def report(name, runs):
    shares = []
    for W in runs:
        W = W[W != 0]
        top = np.argsort(-np.abs(W))[: max(1, len(W) // 5)]
        shares.append([np.mean(W > 0), np.mean(W[top] > 0)])
    (overall, top), (a, b) = np.mean(shares, axis=0), np.std(shares, axis=0) / np.sqrt(len(shares))
    print(f"{name:<40} {overall:.3f} ({a:.3f})   top fifth {top:.3f} ({b:.3f})", flush=True)


def main(seeds):
    warnings.simplefilter("ignore")  # one good draw in a hundred fails its diagnosis
    for levels in LEVELS:
        for draw in (plain_gaussian, ties_broken_alone, ours):
            runs = [with_ties(levels, draw, seed) for seed in range(seeds)]
            report(f"{levels}, {draw.__name__}", runs)
    for name, covariance in (("auto", "auto"), ("true", toeplitz(0.5 ** np.arange(120)))):
        report(
            f"W without penalty, covariance {name}",
            [whole_method(covariance, s) for s in range(seeds)],
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 150)
