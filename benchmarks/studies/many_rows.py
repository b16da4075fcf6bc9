"""Asks whether tests of many rows, which count on a grid and judge by some, keep their promise.

    python -m benchmarks.studies.many_rows [data sets] [first seed]
    PYTHONPATH=/older/clone/src python -m benchmarks.studies.many_rows   # an older state

12,000 rows, 60 columns that correlate by 0.5 with their neighbours, ten weak effects of different
shapes. Printed are null p-values over nominal at 0.05 and 0.01, and true and false discoveries at
two levels, means over data sets with their standard errors.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

import smrmr

ROWS, COLUMNS, N_TRUE = 12_000, 60, 10
STRENGTH = 0.035  # of an effect, in units of the noise
LEVELS = (0.1, 0.2)


def table(seed):
    """Columns, target and the true features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((ROWS, COLUMNS))
    for k in range(1, COLUMNS):
        X[:, k] = 0.5 * X[:, k - 1] + np.sqrt(0.75) * X[:, k]
    true = rng.choice(COLUMNS, N_TRUE, replace=False)
    shapes = (lambda x: x, np.sin, lambda x: (x**2 - 1) / np.sqrt(2), np.tanh, lambda x: x)
    told = sum(shapes[i % 5](X[:, k]) for i, k in enumerate(true))
    return X, STRENGTH * told + rng.standard_normal(ROWS), set(true.tolist())


def study(seed):
    """Null p-values over nominal, then the share of true found and of false among found."""
    X, y, true = table(seed)
    selector = smrmr.SmRMR(alike=None, fdr=LEVELS[0]).fit(X, y)
    null = np.delete(selector.pvalues_, sorted(true))
    row = [np.mean(null <= level) / level for level in (0.05, 0.01)]
    for level in LEVELS:
        found = set(selector.selection_.at(level).selected.tolist())
        row += [len(found & true) / len(true), len(found - true) / max(1, len(found))]
    return row


def main(n_sets=40, first=0):
    warnings.simplefilter("ignore")
    rows = np.array([study(seed) for seed in range(first, first + n_sets)])
    names = ["null p <= .05", "null p <= .01"]
    names += [f"{name} at {level}" for level in LEVELS for name in ("TPR", "FDR")]
    errors = rows.std(axis=0, ddof=1) / np.sqrt(len(rows))
    for name, mean, error in zip(names, rows.mean(axis=0), errors, strict=True):
        print(f"{name:<16} {mean:.2f} ({error:.2f})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
