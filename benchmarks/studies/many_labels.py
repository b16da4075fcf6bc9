"""Counts selections from noise when a nominal target has few rows per class, and says why.

    python -m benchmarks.studies.many_labels [seeds]

X is independent normal noise, y holds labels drawn without looking at X, n=150. Fair signs make
knockoff+ at 0.3 select something in 8 to 9% of data sets. Printed per number of classes: share
of data sets with a selection, share of W above 0, overall and among the fifth of largest |W|
(standard errors over data sets), for knockoffs from the estimated covariance, from the true one,
and for fresh noise as knockoffs. First: mean redundancy among features, among knockoffs and
between them. Last: labels that do depend on ten features.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from joblib import Parallel, delayed

import smrmr
from smrmr import Recipe
from smrmr.data.columns import as_columns
from smrmr.data.study import Study
from smrmr.data.target import Target
from smrmr.paper import Gaussian, KnockoffFilter
from smrmr.pipeline import select_from

CLASSES = (2, 5, 10, 20, 30, 50, 75, 100, 120, 149)
N = 150
LEVEL = 0.3  # as in the paper


def fresh_noise(values, rng):
    return rng.standard_normal(values.shape)


def knockoffs_of(variant, p):
    if variant == "fresh":
        return fresh_noise
    return Gaussian(covariance=np.eye(p)) if variant == "true" else "gaussian"


def selected(X, codes, control, seed):
    """Select although `smrmr.select` would refuse such classes."""
    if codes.dtype.kind == "i":
        names = tuple(f"class {k}" for k in range(codes.max() + 1))
        target = Target("classes", codes.astype(float), names)
    else:
        target = Target("continuous", codes)
    recipe = Recipe(fdr=LEVEL, control=control, alike=None, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return select_from(Study(as_columns(X), target), recipe, seed)


def one_null(seed, p, n_classes, variant, measure="pc"):
    rng = np.random.default_rng([99, seed, p, n_classes])
    X = rng.standard_normal((N, p))
    every_class = np.concatenate(
        [np.arange(n_classes), np.arange(N - n_classes) % (n_classes or 1)]
    )
    y = rng.permutation(every_class) if n_classes else rng.standard_normal(N)
    control = KnockoffFilter(measure=measure, knockoffs=knockoffs_of(variant, p))
    found = selected(X, y, control, seed)
    W = found.evidence.draws[0].W
    W = W[W != 0]
    top = np.argsort(-np.abs(W))[: max(1, len(W) // 5)]
    return len(found.selected) > 0, np.mean(W > 0), np.mean(W[top] > 0)


def redundancies(seed, p):
    """Mean redundancy among features, among knockoffs and between them (not of own pairs)."""
    X = np.random.default_rng([99, seed]).standard_normal((N, p))
    drawn = smrmr.paper.draw_knockoffs(X, random_state=seed).X_knockoff
    D = smrmr.redundancy(np.hstack([X, drawn]))
    off = ~np.eye(p, dtype=bool)
    return D[:p, :p][off].mean(), D[p:, p:][off].mean(), D[:p, p:][off].mean()


def with_signal(seed, n_classes, variant, n=300, p=100, true=10):
    rng = np.random.default_rng([5, seed, n_classes])
    X = rng.standard_normal((n, p))
    score = X[:, :true].sum(axis=1) + rng.standard_normal(n)
    y = score.argsort().argsort() * n_classes // n
    control = KnockoffFilter(knockoffs=knockoffs_of(variant, p))
    chosen = selected(X, y, control, seed).selected
    false = np.sum(chosen >= true)
    return (len(chosen) - false) / true, false / max(len(chosen), 1)


def report(name, work, seeds):
    rows = np.array(Parallel(n_jobs=-1)(delayed(work[0])(s, *work[1:]) for s in range(seeds)))
    mean, error = np.nanmean(rows, axis=0), np.nanstd(rows, axis=0) / np.sqrt(len(rows))
    cells = "   ".join(f"{m:.4f} ({e:.4f})" for m, e in zip(mean, error, strict=True))
    print(f"{name:<44} {cells}", flush=True)


def main(seeds):
    for p in (30, 70):
        report(f"redundancy XX, KK, XK, p={p}", (redundancies, p), seeds)
    variants = {30: ("estimated", "true", "fresh"), 70: ("estimated",), 200: ("estimated", "true")}
    for p in variants:
        for variant in variants[p]:
            for c in (*CLASSES, 0):
                name = f"p={p}, {variant}, {c or 'no'} classes: any, W>0, top"
                report(name, (one_null, p, c, variant), seeds)
    for measure in ("hsic", "dcor"):
        for c in (149, 75, 30, 10):
            name = f"{measure}, p=30, estimated, {c} classes"
            report(name, (one_null, 30, c, "estimated", measure), seeds)
    for variant in ("estimated", "true"):
        for c in (5, 10, 30):
            report(f"signal, {variant}, {c} classes: TPR, FDP", (with_signal, c, variant), seeds)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
