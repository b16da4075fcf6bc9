"""Counts how often credible sets hold the member of a group that carries its association.

    SMRMR_DATA=/data python -m benchmarks.studies.credible_sets [data sets] [first seed] [words]

Groups: all SNPs around LCT (503 people) and their clusters (average linkage at a Spearman
correlation of 0.7, as `select` makes them), 300 neighbouring SNPs of 400 mice, clusters of those of
all mice, blocks of normal columns. A random member, or two, carry the target: by its standardised
shape times the effect, and noise of variance 1; by the logarithm of odds or of hazards. With
`words`, only lines that have them all are run. Printed, with standard errors: share of data sets
in which a set holds the carrier (of two carriers: of both, and the share held), share of sets that
hold none, share of data sets with more sets than carriers, mean number of sets, median size.
One process; with 300 data sets it takes a quarter of an hour.
"""

from __future__ import annotations

import sys
import warnings
from functools import cache

import numpy as np
import pandas as pd

from smrmr.conditional.scores import doubled_ranks, normal_scores, standardised
from smrmr.data.columns import Columns
from smrmr.data.files.genotypes import BedColumns
from smrmr.data.targets.survival import deviance_residuals
from smrmr.features.alike import find_alike
from smrmr.features.rank_table import RankTable
from smrmr.layers.credible_sets import credible_sets
from smrmr.runs.work import Work

from ..data.datasets import load
from ..data.download import File, find
from ..experiments.run import seed_of
from ..report.means import markdown

EFFECTS = (0.3, 0.5, 1.0, 2.0)
CUT = 0.7
FEWEST = 3  # members of a cluster that is looked at
WINDOW = 300


@cache
def lct():
    """Standardised genotypes as rows, or nothing where the file is not at hand."""
    found = find([File("LCT.bed")])
    if found is None:
        return None
    X = BedColumns.open(found[0]).read(slice(None)).astype(float).T
    X = np.where(X < 0, np.nan, X)
    X = np.where(np.isnan(X), np.nanmean(X, axis=1, keepdims=True), X)
    return standardised(X[X.std(axis=1) > 0.1])


@cache
def mice():
    try:
        return load("mouse genotypes").X.T
    except FileNotFoundError:
        return None


def clusters(X):
    """Distinct rows in clusters of at least `FEWEST`, as lists of positions."""
    distinct = np.sort(np.unique(np.round(X, 9), axis=0, return_index=True)[1])
    table = RankTable.of(Columns.bare(X[distinct].T.copy()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of large clusters
        (first,) = find_alike(table, np.arange(len(distinct)), (CUT,), Work(1))
    groups = [distinct[first == one] for one in np.unique(first)]
    return [group for group in groups if len(group) >= FEWEST]


@cache
def clusters_of_lct():
    return clusters(lct())


def one_cluster(X, groups, rng):
    sizes = np.array([len(group) for group in groups])
    return X[groups[rng.choice(len(groups), p=sizes / sizes.sum())]]


def mouse_window(rng, n):
    start = rng.integers(len(mice()) - WINDOW)
    X = mice()[start : start + WINDOW, rng.choice(mice().shape[1], n, replace=False)]
    X = standardised(X[X.std(axis=1) > 0.1])
    return X[np.sort(np.unique(np.round(X, 9), axis=0, return_index=True)[1])]


def mouse_cluster(rng, n):
    while True:
        X = mouse_window(rng, n)
        if groups := clusters(X):
            return one_cluster(X, groups, rng)


def block(rng, size, likeness, n):
    shared = np.sqrt(likeness) * rng.standard_normal(n)
    return standardised(shared + np.sqrt(1 - likeness) * rng.standard_normal((size, n)))


GROUPS = {
    "LCT, all": lambda rng: lct(),
    "LCT, cluster": lambda rng: one_cluster(lct(), clusters_of_lct(), rng),
    "400 mice, window": lambda rng: mouse_window(rng, 400),
    "1940 mice, cluster": lambda rng: mouse_cluster(rng, 1940),
    "8 at 0.9, n=100": lambda rng: block(rng, 8, 0.9, 100),
    "8 at 0.9, n=200": lambda rng: block(rng, 8, 0.9, 200),
    "40 at 0.95, n=200": lambda rng: block(rng, 40, 0.95, 200),
}
NEEDS = {"LCT": lct, "mice": mice}
SHAPES = {
    "straight": lambda x: x,
    "|x|": np.abs,
    "tanh(2x)": lambda x: np.tanh(2 * x),
    "x^2": np.square,
    "x > 0.5": lambda x: (x > 0.5) * 1.0,
}


def by_shape(shape):
    def target(x, effect, rng):
        signal = effect * standardised(SHAPES[shape](x)).sum(axis=0)
        return (signal + rng.standard_normal(x.shape[1]))[None]

    return target


def heavy_tailed(x, effect, rng):
    return (effect * x.sum(axis=0) + rng.standard_t(3, x.shape[1]) / np.sqrt(3))[None]


def heavy_tailed_scores(x, effect, rng):
    """Normal scores, which `select` makes of targets with long tails."""
    return normal_scores(doubled_ranks(heavy_tailed(x, effect, rng)))


def two_classes(x, effect, rng):
    return (rng.logistic(size=x.shape[1]) < effect * x.sum(axis=0))[None] * 1.0


def four_classes(x, effect, rng):
    slopes = rng.permutation([-1.5, -0.5, 0.5, 1.5])
    scores = effect * np.outer(slopes, x.sum(axis=0)) + rng.gumbel(size=(4, x.shape[1]))
    return (scores.argmax(axis=0) == np.arange(4)[:, None]) * 1.0


def survival(x, effect, rng):
    time = rng.exponential(size=x.shape[1]) / np.exp(effect * x.sum(axis=0))
    censored = rng.exponential(2, size=x.shape[1])
    known = np.minimum(time, censored)
    return deviance_residuals(known, time <= censored, np.empty((0, len(time))))[None]


TARGETS = {
    **{shape: (1, by_shape(shape)) for shape in SHAPES},
    "noise t3": (1, heavy_tailed),
    "noise t3, scores": (1, heavy_tailed_scores),
    "two classes": (1, two_classes),
    "four classes": (1, four_classes),
    "survival": (1, survival),
    "two carriers": (2, by_shape("straight")),
}


def one(group, target, effect, seed):
    """What the sets of one data set hold."""
    rng = np.random.default_rng(seed_of(f"{group}, {target}, {effect}", seed))
    X = GROUPS[group](rng)
    n_carriers, respond = TARGETS[target]
    carriers = rng.choice(len(X), n_carriers, replace=False)
    E = respond(X[carriers], effect, rng)
    found = credible_sets(normal_scores(doubled_ranks(X)), E)
    right = np.array([np.isin(carriers, one.members) for one in found])
    return {
        "group": group,
        "target": target,
        "effect": effect,
        "all held": right.any(axis=0).all(),
        "held": right.any(axis=0).mean(),
        "wrong sets": np.mean(~right.any(axis=1)),
        "too many": len(found) > n_carriers,
        "sets": len(found),
        "size": np.median([len(one.members) for one in found]),
        "members": len(X),
    }


def main(seeds=200, first=0, words=()):
    for word, read in NEEDS.items():
        if read() is None:
            print(f"no lines of {word}: their genotypes are not below SMRMR_DATA\n")
    cells = [
        (group, target, effect)
        for group in GROUPS
        if all(read() is not None for word, read in NEEDS.items() if word in group)
        for target in TARGETS
        for effect in EFFECTS
        if all(word in f"{group}; {target}; {effect}" for word in words)
    ]
    if not cells:
        print("nothing to run")
        return
    rows = pd.DataFrame(
        [one(*cell, seed) for cell in cells for seed in range(first, first + seeds)]
    )
    groups = rows.groupby(["group", "target", "effect"], sort=False)
    table = groups.mean().drop(columns="size")
    for name in ("all held", "held", "wrong sets", "too many"):
        errors = groups[name].sem().map(" ({:.3f})".format)
        table[name] = table[name].map("{:.3f}".format) + errors
    table["sets"] = table["sets"].map("{:.2f}".format)
    table["median size"] = groups["size"].median().map("{:g}".format)
    table["members"] = groups["members"].median().map("{:g}".format)
    print(markdown(table.reset_index()))


if __name__ == "__main__":
    numbers, words = sys.argv[1:3], sys.argv[3:]
    main(*(int(number) for number in numbers), words=words)
