"""Draws columns of every kind that users bring, for tests that go through all of them."""

from __future__ import annotations

import numpy as np
import pandas as pd


def spread(n, rng):
    return rng.normal(size=n)


def heavy_tails(n, rng):
    return rng.standard_t(2, size=n)


def outliers(n, rng):
    return rng.normal(size=n) * np.where(rng.random(n) < 0.05, 30, 1)


def zero_inflated(n, rng):
    return np.where(rng.random(n) < 0.45, 0.0, rng.lognormal(size=n))


def mostly_zero(n, rng):
    return np.where(rng.random(n) < 0.9, 0.0, rng.lognormal(size=n))


def many_ties(n, rng):
    return np.round(rng.normal(size=n) * 8) / 8


def counts(n, rng):
    return rng.poisson(30, size=n).astype(float)


def few_levels(n, rng):
    return rng.integers(0, 4, size=n) * 0.37


def genotype(n, rng):
    return rng.binomial(2, 0.3, size=n).astype(float)


def binary(n, rng):
    return rng.integers(0, 2, size=n).astype(float)


def two_classes(n, rng):
    return pd.Categorical(rng.choice(["b", "a"], size=n))


def five_classes(n, rng):
    return pd.Categorical(rng.choice(list("qwert"), size=n))


NUMERIC = {
    f.__name__: f
    for f in (
        spread,
        heavy_tails,
        outliers,
        zero_inflated,
        mostly_zero,
        many_ties,
        counts,
        few_levels,
        genotype,
        binary,
    )
}
NOMINAL = {f.__name__: f for f in (two_classes, five_classes)}


def frame(n, rng, copies=2):
    """`copies` columns of every kind as a DataFrame."""
    kinds = NUMERIC | NOMINAL
    return pd.DataFrame(
        {f"{name}{i}": draw(n, rng) for name, draw in kinds.items() for i in range(copies)}
    )


def variables(X):
    """Columns of a frame as the oracles read them: numbers, or strings for classes."""
    return [
        X[name].astype(str).to_numpy() if X[name].dtype == "category" else X[name].to_numpy()
        for name in X.columns
    ]
