"""Counts false findings where covariates act jointly or as waves, and what adjusting costs.

    python -m benchmarks.studies.covariate_forms [data sets] [first seed] [rows] [case ...]

A function of the covariates moves the target and 4 of 100 features; no feature is true. Printed for
each case: the share of answers with a false finding at level 0.1 (FDR) with its standard error over
data sets, how many dimensions were adjusted for, in how many answers the first line says that
residuals still depend on the covariates, and the share of answers with a false finding that do not
say so. The last rows, "harmless", are design 1.d with more noise and covariates that drive nothing,
where only power can be lost. A data set of 100 rows takes half a second.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from smrmr import Recipe, select, simulate

from ..report.means import markdown

FEATURES, MOVED, LEVEL = 100, 4, 0.1
NOISE = 0.4  # more of it in the target of 1.d, in standard deviations, so that power can be lost
Effects = Callable[[np.random.Generator, int], tuple[dict[str, Any], np.ndarray]]


def product(rng, n):
    a, b = rng.standard_normal((2, n))
    return {"a": a, "b": b}, a * b


def product_of_uniforms(rng, n):
    a, b = rng.uniform(-1, 1, (2, n))
    return {"a": a, "b": b}, 3 * a * b


def product_with_category(rng, n):
    a, sex = rng.standard_normal(n), rng.integers(0, 2, n)
    return {"a": a, "sex": np.array(["f", "m"])[sex]}, a * (2 * sex - 1)


def slopes_of_batches(rng, n):
    a, batch = rng.standard_normal(n), rng.integers(0, 4, n)
    return {"a": a, "batch": batch.astype(str)}, 1.5 * a * np.array([-1, 0, 0, 1.0])[batch]


def two_categories(rng, n):
    a, b = rng.integers(0, 3, (2, n))
    return {"a": a.astype(str), "b": b.astype(str)}, 1.5 * rng.standard_normal((3, 3))[a, b]


def wave(rng, n):
    c = rng.uniform(0, 4 * np.pi, n)
    return {"c": c}, 1.4 * np.sin(c)


def wave_of_normal(rng, n):
    c = rng.standard_normal(n)
    return {"c": c}, 1.4 * np.sin(4 * c)


def wave_and_product(rng, n):
    a, b = rng.uniform(-np.pi, np.pi, (2, n))
    return {"a": a, "b": b}, np.sin(2 * a) + a * b / 3


def quadrants(rng, n):
    a, b = rng.standard_normal((2, n))
    return {"a": a, "b": b}, np.sign(a * b)


def difference(rng, n):
    a, b = rng.uniform(-1, 1, (2, n))
    return {"a": a, "b": b}, 3 * np.abs(a - b)


def skewed_product(rng, n):
    a, b = np.exp(rng.standard_normal((2, n)))
    return {"a": a, "b": b}, np.log1p(a * b) * np.sign(a - b)


def product_of_five(rng, n):
    c = rng.standard_normal((5, n))
    return {f"c{k}": column for k, column in enumerate(c)}, c[1] * c[3]


def triple_product(rng, n):
    c = rng.standard_normal((3, n))
    return {f"c{k}": column for k, column in enumerate(c)}, 1.4 * np.sign(c[0]) * c[1] * c[2]


CASES: dict[str, Effects] = {
    "product": product,
    "product of uniforms": product_of_uniforms,
    "number x category": product_with_category,
    "slopes of batches": slopes_of_batches,
    "category x category": two_categories,
    "wave": wave,
    "wave of a normal": wave_of_normal,
    "wave + product": wave_and_product,
    "quadrants": quadrants,
    "difference": difference,
    "skewed product": skewed_product,
    "product, five": product_of_five,
    "triple product": triple_product,
}
HARMLESS = {"no covariate": 0, "harmless, 1": 1, "harmless, 2": 2, "harmless, 4": 4}


def draw(case, n, seed):
    """Features, target, covariates and true positions of one data set."""
    if case in HARMLESS:  # the same data whatever the number of covariates
        rng = np.random.default_rng(seed)
        data = simulate("1.d", n=n, p=FEATURES, random_state=seed)
        given = {f"c{k}": rng.standard_normal(n) for k in range(HARMLESS[case])}
        y = data.y + NOISE * np.std(data.y) * rng.standard_normal(n)
        return data.X, y, given or None, data.support
    rng = np.random.default_rng((seed, [*CASES].index(case)))
    given, effect = CASES[case](rng, n)
    X = rng.standard_normal((n, FEATURES))
    X[:, :MOVED] += effect[:, None] * rng.choice([-1, 1], MOVED)
    return X, 2 * effect + rng.standard_normal(n), given, np.empty(0, int)


def one(case, n, seed):
    """What one data set gave."""
    X, y, given, true = draw(case, n, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = select(X, y, Recipe(fdr=LEVEL, alike="none"), covariates=given)
    warned = "residuals still depend on the covariates" in str(found)
    hits = np.isin(found.selected, true)
    return {
        "case": case,
        "FDR": np.mean(~hits) if hits.size else 0.0,
        "power": hits.sum() / len(true) if len(true) else np.nan,
        "dimensions": n - 2 - found.alone.freedom,
        "warned of": warned,
        "not warned of": not (warned or hits.all()),
    }


def main(seeds=50, first=0, n=100, cases=()):
    rows = [
        one(case, n, first + seed) for case in cases or (*CASES, *HARMLESS) for seed in range(seeds)
    ]
    frame = pd.DataFrame(rows).groupby("case", sort=False)
    table = frame.mean(numeric_only=True).round(2)
    table.insert(1, "SE", frame["FDR"].sem().round(2))
    print(markdown(table.reset_index()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), *([sys.argv[4:]] if len(sys.argv) > 4 else []))
