"""Counts false findings where samples differ in scale, and what checking for it costs elsewhere.

    python -m benchmarks.studies.row_scale [data sets] [first seed] [case ...]

In the first rows a factor of each sample scales its features and the noise of the target, or moves
its mean; no feature is true. Printed: the share of findings that are false at level 0.1 with its
standard error over data sets, power, for how many features the p-value was raised, and in how many
answers the first line says that samples differ in scale. The last rows are designs without such a
factor, with noise added to the target, where the check can only cost power. 100 rows and columns.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd

from smrmr import Recipe, select, simulate

from ..report.means import markdown

ROWS, FEATURES, LEVEL = 100, 100, 0.1
NOISE = 0.4  # added to targets of designs, in standard deviations


def common_scale(rng, shape):
    scale = np.exp(0.6 * rng.standard_normal(shape[0]))
    return scale[:, None] * rng.standard_normal(shape), scale * rng.standard_normal(shape[0])


def heavy_scale(rng, shape):
    scale = np.sqrt(3 / rng.chisquare(3, shape[0]))
    return scale[:, None] * rng.standard_normal(shape), scale * rng.standard_normal(shape[0])


def two_scales(rng, shape):
    scale = np.where(rng.random(shape[0]) < 0.2, 4.0, 1.0)
    return scale[:, None] * rng.standard_normal(shape), scale * rng.standard_normal(shape[0])


def column_scale(rng, shape):
    X = rng.standard_normal(shape)
    scale = np.exp(0.8 * X[:, 0])
    X[:, 1:21] *= scale[:, None]
    return X, scale * rng.standard_normal(shape[0])


def scale_and_mean(rng, shape):
    scale = np.exp(0.6 * rng.standard_normal(shape[0]))
    y = 2 * np.log(scale) + scale * rng.standard_normal(shape[0])
    return scale[:, None] * rng.standard_normal(shape), y


def chained_scale(rng, shape):
    scale = np.exp(0.6 * rng.standard_normal(shape[0]))
    X = simulate("1.d", n=shape[0], p=shape[1], random_state=int(rng.integers(2**31))).X
    return scale[:, None] * X, scale * rng.standard_normal(shape[0])


def noisy_samples(rng, shape):
    """Multiplicative noise: measurements of a sample are the worse the larger its factor."""
    quality = np.exp(0.8 * rng.standard_normal(shape[0]))
    X = rng.standard_normal(shape) + quality[:, None] * rng.standard_normal(shape)
    return X, rng.standard_normal(shape[0]) + quality * rng.standard_normal(shape[0])


def library_size(rng, shape):
    """Counts of samples of different depth, and a target measured the better the deeper."""
    depth = np.exp(0.8 * rng.standard_normal(shape[0]))
    counts = rng.poisson(depth[:, None] * rng.gamma(2, 5, shape[1]))
    return counts.astype(float), rng.standard_normal(shape[0]) / np.sqrt(depth)


def log_counts(rng, shape):
    """Counts per total and logarithm: rare genes of shallow samples have the larger spread."""
    depth = np.exp(0.8 * rng.standard_normal(shape[0]))
    counts = rng.poisson(depth[:, None] * rng.gamma(2, 2, shape[1]))
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return np.log1p(1e4 * share), rng.standard_normal(shape[0]) / np.sqrt(depth)


def dilution(rng, shape):
    """Concentrations in diluted samples, not normalised; the target is diluted as well."""
    factor = np.exp(0.8 * rng.standard_normal(shape[0]))
    X = factor[:, None] * np.exp(0.5 * rng.standard_normal(shape))
    return X, factor * np.exp(0.5 * rng.standard_normal(shape[0]))


def log_dilution(rng, shape):
    X, y = dilution(rng, shape)
    return np.log(X), np.log(y)


CASES = {
    "common scale": common_scale,
    "heavy scale": heavy_scale,
    "two scales": two_scales,
    "column sets spread": column_scale,
    "scale and mean": scale_and_mean,
    "scale of a chain": chained_scale,
    "noisy samples": noisy_samples,
    "library size": library_size,
    "log counts": log_counts,
    "dilution": dilution,
    "log dilution": log_dilution,
}
DESIGNS = ("1.a", "1.d", "2.c", "heavy", "genotypes", "equicorrelated", "variance")


def draw(case, seed):
    """Features, target and true positions of one data set."""
    if case in CASES:
        rng = np.random.default_rng((seed, [*CASES].index(case)))
        return *CASES[case](rng, (ROWS, FEATURES)), np.empty(0, int)
    data = simulate(case, n=ROWS, p=FEATURES, random_state=seed)
    noise = np.random.default_rng(seed).standard_normal(ROWS)
    return data.X, data.y + NOISE * np.std(data.y) * noise, data.support


def one(case, seed):
    """What one data set gave."""
    X, y, true = draw(case, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = select(X, y, Recipe(fdr=LEVEL, alike="none"))
    hits = np.isin(found.selected, true)
    return {
        "case": case,
        "FDR": np.mean(~hits) if hits.size else 0.0,
        "power": hits.sum() / len(true) if len(true) else np.nan,
        "raised": len(found.evidence.raised),
        "warned of": "samples differ in scale" in str(found),
    }


def main(seeds=50, first=0, cases=()):
    rows = [
        one(case, first + seed) for case in cases or (*CASES, *DESIGNS) for seed in range(seeds)
    ]
    frame = pd.DataFrame(rows).groupby("case", sort=False)
    table = frame.mean(numeric_only=True).round(2)
    table.insert(1, "SE", frame["FDR"].sem().round(2))
    print(markdown(table.reset_index()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *([sys.argv[3:]] if len(sys.argv) > 3 else []))
