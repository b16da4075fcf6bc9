"""False features of tables with very many rows, beside least squares on the same rows.

    python -m benchmarks.studies.tall_tables ROWS COLUMNS TABLES [FIRST]

as in ``60000 300 12``. Tables are those of `benchmarks.speed.memory`, one for each seed from FIRST
on, 1 unless it is given; 0 is the table that this draws. Features that do not matter are
independent of the target given the others, and columns are jointly normal, so that least squares on
all columns, with Student's t, is exact for the linear part of the model. Printed are how often
p-values of such features are at most a, over a, by ours and by least squares, and the share of
false features among those found at level 0.1, with standard errors over tables.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from scipy.special import stdtr

import smrmr

from ..speed.memory import pieces, planted

AT_MOST = (0.1, 0.01, 0.001)


def least_squares(X, y):
    """p-values of all columns."""
    n, p = X.shape
    X, y = X - X.mean(axis=0), y - y.mean()
    inverse = np.linalg.inv(X.T @ X)
    slopes = inverse @ (X.T @ y)
    variance = ((y - X @ slopes) ** 2).sum() / (n - p - 1)
    return 2 * stdtr(n - p - 1, -np.abs(slopes / np.sqrt(variance * np.diag(inverse))))


def one_table(n, p, seed):
    """p-values of features that do not matter by both, and the numbers found, true and false."""
    parts = list(pieces(n, p, seed))
    X, y = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
    null = np.setdiff1d(np.arange(p), planted(p))
    found = smrmr.select(X, y, rng=0)
    hits = int(np.isin(found.selected, planted(p)).sum())
    ours = found.evidence.p_values[null]
    return ours, least_squares(X, y)[null], hits, len(found.selected) - hits


def main(n, p, n_tables, first=1):
    warnings.simplefilter("ignore")
    tables = [one_table(n, p, seed) for seed in range(first, first + n_tables)]
    ours, theirs, hits, false = map(np.array, zip(*tables, strict=True))
    for name, p_values in (("smrmr", ours), ("least squares", theirs)):
        for most in AT_MOST:
            shares = (p_values <= most).mean(axis=1) / most
            error = shares.std(ddof=1) / np.sqrt(n_tables) if n_tables > 1 else np.nan
            print(f"{name:<14} p <= {most}: {shares.mean():.2f} ({error:.2f}) times as often")
    shares = false / np.maximum(hits + false, 1)
    error = shares.std(ddof=1) / np.sqrt(n_tables) if n_tables > 1 else np.nan
    print(f"found {hits.mean():.1f} of 10; false of those found {shares.mean():.3f} ({error:.3f})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
