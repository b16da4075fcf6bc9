"""Null p-values where labels are permuted: the features of real tables, classes by chance.

    SMRMR_DATA=/data python -m benchmarks.studies.permuted_labels [permutations]

For each table the share of p-values up to 0.05 and 0.01 (standard errors over permutations), of the
default and of single features, and the share of permutations with any finding at level 0.1.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from joblib import Parallel, delayed

from smrmr import SmRMR

from ..data.datasets import load

TABLES = ("cells", "khan", "warpAR10P")
LEVEL = 0.1


def permuted(X, y, seed):
    """Shares of small p-values given all others and alone, and whether anything is found."""
    warnings.simplefilter("ignore")
    y = np.random.default_rng(seed).permutation(y).astype(str)
    found = SmRMR(fdr=LEVEL, target="classes", alike="none").fit(X, y).selection_
    evidence = found.evidence
    p, alone = (values[evidence.tested] for values in (evidence.p_values, found.alone.p))
    shares = [np.mean(values <= level) for values in (p, alone) for level in (0.05, 0.01)]
    return [*shares, len(found.selected) > 0, np.mean(p[p < 1] <= 0.05)]


def main(n_permutations):
    print("| table | p <= .05 | p <= .01 | alone .05 | alone .01 | any finding | .05 of p < 1 |")
    print("|---|---|---|---|---|---|---|")
    for name in TABLES:
        data = load(name)
        rows = Parallel(n_jobs=2)(
            delayed(permuted)(data.X, data.y, seed) for seed in range(n_permutations)
        )
        rows = np.array(rows, dtype=float)
        means, errors = rows.mean(axis=0), rows.std(axis=0) / np.sqrt(len(rows))
        told = [f"{m:.4f} ({e:.4f})" for m, e in zip(means, errors, strict=True)]
        print(f"| {name} | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
