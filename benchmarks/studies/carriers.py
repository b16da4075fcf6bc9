"""Counts how often the credible sets of an answer hold the feature that carries a planted effect.

    SMRMR_DATA=/data python -m benchmarks.studies.carriers [data sets] [first seed]

One random feature carries the target, by its standardised value times the effect plus noise of
variance 1, or by the logarithm of odds for two classes. Tables: SNPs around LCT (503 people), 600
neighbouring SNPs of 400 mice, and 40 blocks of eight columns at a correlation of 0.9 (200 rows), of
which five carry. `select` runs as by default. Printed, with standard errors over data sets: share
of carriers in a selected finding, share of findings that hold a carrier, and of those that do the
share whose credible sets hold it, the median sizes of their sets and of their groups.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd

from smrmr import Recipe, select

from ..experiments.run import seed_of
from ..report.means import markdown
from .credible_sets import lct, mice

EFFECTS = (0.5, 1.0, 2.0)
N_BLOCKS, SIZE, N_CARRIERS = 40, 8, 5


def snps_of_people(rng):
    return lct().T, 1


def snps_of_mice(rng):
    Z = mice()
    start = int(rng.integers(len(Z) - 600))
    rows = rng.choice(Z.shape[1], 400, replace=False)
    X = Z[start : start + 600, rows].T
    return X[:, X.std(axis=0) > 0], 1


def blocks(rng):
    common = np.repeat(rng.normal(size=(200, N_BLOCKS)), SIZE, axis=1)
    own = rng.normal(size=common.shape)
    return np.sqrt(0.9) * common + np.sqrt(0.1) * own, N_CARRIERS


TABLES = {"LCT": snps_of_people, "mice": snps_of_mice, "blocks": blocks}


def one(table, effect, classes, seed):
    """Found carriers, findings that hold one, sets that hold it, sizes of sets and of groups."""
    rng = np.random.default_rng(seed)
    X, n_carriers = TABLES[table](rng)
    of = np.arange(X.shape[1]) // SIZE if table == "blocks" else np.arange(X.shape[1])
    groups = rng.choice(np.unique(of), n_carriers, replace=False)
    true = np.array([rng.choice(np.flatnonzero(of == g)) for g in groups])
    Z = (X[:, true] - X[:, true].mean(axis=0)) / X[:, true].std(axis=0)
    score = effect * Z.sum(axis=1)
    y = score + rng.normal(size=len(X))
    if classes:
        y = np.where(rng.random(len(X)) < 1 / (1 + np.exp(-2 * score)), "yes", "no")
    found = select(X, y, Recipe(fdr=0.1))
    copies = found.leaders[true]
    held = [np.isin(copies, found.leaders[group]) for group in found.members]
    sets, sizes, widths = [], [], []
    for mine, carriers in zip(held, found.carriers, strict=True):
        if mine.any():
            sets.append(np.isin(copies[mine], np.concatenate(carriers.sets)).all())
            sizes.append(sum(map(len, carriers.sets)))
            widths.append(len(carriers.members))
    n_found = np.any(held, axis=0).mean() if held else 0.0
    true_findings = np.mean([mine.any() for mine in held]) if held else np.nan
    return n_found, true_findings, np.mean(sets) if sets else np.nan, sizes, widths


def main(n_sets=50, first=5000):
    warnings.simplefilter("ignore")
    rows = []
    for table in TABLES:
        if table != "blocks" and (lct if table == "LCT" else mice)() is None:
            continue
        for classes in (False, True):
            for effect in EFFECTS:
                runs = [
                    one(table, effect, classes, seed_of(f"{table} {effect} {classes}", first + i))
                    for i in range(n_sets)
                ]
                shares = [np.array([run[j] for run in runs], dtype=float) for j in range(3)]
                row = {"table": table, "target": "two classes" if classes else "numbers"}
                row["effect"] = effect
                for name, share in zip(("found", "true", "covered"), shares, strict=True):
                    share = share[np.isfinite(share)]
                    error = share.std() / np.sqrt(max(len(share), 1))
                    row[name] = f"{share.mean():.3f} ({error:.3f})" if len(share) else ""
                for name, j in (("set", 3), ("group", 4)):
                    sizes = [size for run in runs for size in run[j]]
                    row[name] = f"{np.median(sizes):g}" if sizes else ""
                rows.append(row)
                print(row, file=sys.stderr)
    print(markdown(pd.DataFrame(rows)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
