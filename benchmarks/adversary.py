"""Data made to mislead, in `CASES`: each function draws a table whose true features are known.

A feature k is true where H_k, y independent of X_k given all other features (and what is `given`),
is false. Under "rows" below, y is drawn without looking at X and what breaks is the independence of
rows; under "structure" a hidden variable drives y and X, and about a hundred other features leave
next to nothing of it for X_k to add: there H_k holds nearly. Everywhere else it holds exactly.

Sizes and strengths of time order, space, lags, both covariates and populations were picked among
several because they break the level: what these cases measure is a worst case, not a usual rate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator

from smrmr.types import Matrix, Vector

N, P = 100, 100


@dataclass(frozen=True, eq=False)
class Case:
    """A table, its true features, and what else is handed over: covariates or groups of rows."""

    X: Matrix
    y: Vector
    support: tuple[int, ...] = ()
    given: dict[str, Any] = field(default_factory=dict)
    target: str = "continuous"


Draw: TypeAlias = Callable[[Generator], Case]


def _chain(n: int, p: int, rng: Generator, correlation: float = 0.5) -> Matrix:
    """Gaussian columns, each correlated with the one before it."""
    X = rng.standard_normal((n, p))
    for k in range(1, p):
        X[:, k] = correlation * X[:, k - 1] + np.sqrt(1 - correlation**2) * X[:, k]
    return X


def _series(n: int, p: int, rng: Generator, correlation: float) -> Matrix:
    """Stationary series in columns: each row is correlated with the one before it."""
    return np.ascontiguousarray(_chain(p, n, rng, correlation).T)


# --- rows that are not independent; y does not depend on X ---


def rows_twice(rng: Generator) -> Case:
    """Fifty rows, each given twice."""
    X, y = rng.standard_normal((50, 40)), rng.standard_normal(50)
    return Case(np.repeat(X, 2, axis=0), np.repeat(y, 2))


def rows_in_time(rng: Generator) -> Case:
    """Rows in time order: every column and y are series of their own, AR(.5)."""
    return Case(_series(2 * N, P, rng, 0.5), _series(2 * N, 1, rng, 0.5)[:, 0])


def rows_in_space(rng: Generator) -> Case:
    """Rows on a square of 14 by 14: columns and y are smooth fields of their own."""
    places = np.stack(np.divmod(np.arange(14 * 14), 14), axis=1)
    far = np.linalg.norm(places[:, None] - places, axis=2)
    factor = np.linalg.cholesky(np.exp(-far / 2) + 1e-9 * np.eye(len(far)))
    fields = factor @ rng.standard_normal((len(far), P + 1))
    return Case(fields[:, 1:], fields[:, 0])


def lagged(rng: Generator) -> Case:
    """Ten lags of one series, six steps apart, and y from another such series, both AR(.9)."""
    lags = range(1, 61, 6)
    series = _series(2 * N + max(lags), 1, rng, 0.9)[:, 0]
    X = np.column_stack([series[max(lags) - lag :][: 2 * N] for lag in lags])
    return Case(X, _series(2 * N, 1, rng, 0.9)[:, 0])


def _measured_again(rng: Generator) -> tuple[Matrix, Vector, Vector]:
    """Four rows of each of 25 subjects, half of the variance between subjects; and the subject."""
    subjects = np.repeat(np.arange(25), 4)
    X = rng.standard_normal((25, P))[subjects] + rng.standard_normal((N, P))
    y = rng.standard_normal(25)[subjects] + rng.standard_normal(N)
    return X, y, subjects.astype(np.float64)


def repeated_measures(rng: Generator) -> Case:
    """Subjects measured four times, and nobody says so."""
    return Case(*_measured_again(rng)[:2])


def repeated_measures_in_groups(rng: Generator) -> Case:
    """Subjects measured four times, given as groups of rows."""
    X, y, subjects = _measured_again(rng)
    return Case(X, y, given={"groups": subjects})


# --- covariates that act in other ways than by straight lines; given them y is noise ---


def covariates_by_product(rng: Generator) -> Case:
    """Two covariates whose product shifts y and the first feature."""
    given = rng.standard_normal((N, 2))
    both = given.prod(axis=1)
    X = rng.standard_normal((N, P))
    X[:, 0] += both
    return Case(X, 2 * both + rng.standard_normal(N), given={"covariates": given})


def covariate_by_waves(rng: Generator) -> Case:
    """A covariate that shifts y and the first feature as two periods of a sine."""
    given = rng.random((N, 1))
    wave = np.sin(4 * np.pi * given[:, 0])
    X = rng.standard_normal((N, P))
    X[:, 0] += 2 * wave
    return Case(X, 2 * wave + rng.standard_normal(N), given={"covariates": given})


def _in_batches(rng: Generator) -> tuple[Matrix, Vector, Matrix]:
    """Features shifted by batch, classes three times as frequent in one of two batches."""
    batch = rng.permutation(np.repeat([0.0, 1.0], N // 2))
    y = (rng.random(N) < np.where(batch == 1, 0.75, 0.25)).astype(np.float64)
    X = np.outer(batch, rng.normal(size=P)) + rng.standard_normal((N, P))
    return X, y, batch[:, None]


def batch_adjusted_for(rng: Generator) -> Case:
    """Classes that go with a batch, which is given as a covariate."""
    X, y, batch = _in_batches(rng)
    return Case(X, y, given={"covariates": batch}, target="classes")


# --- structure: a hidden variable of the row, which all other features reveal ---


def batch_effect(rng: Generator) -> Case:
    """Classes that go with a batch that nobody recorded."""
    X, y, _ = _in_batches(rng)
    return Case(X, y, target="classes")


def row_scale(rng: Generator) -> Case:
    """A scale of the row, common to all features and to y (elliptical)."""
    scale = np.exp(0.7 * rng.standard_normal((N, 1)))
    return Case(scale * rng.standard_normal((N, P)), scale[:, 0] * rng.standard_normal(N))


def populations(rng: Generator) -> Case:
    """Five populations that differ in y and in the mean of every feature."""
    members = rng.integers(5, size=2 * N)
    X = 0.5 * rng.standard_normal((5, P))[members] + rng.standard_normal((2 * N, P))
    return Case(X, 3 * rng.standard_normal(5)[members] + rng.standard_normal(2 * N))


def library_size(rng: Generator) -> Case:
    """Counts in proportion to the depth of a sample, on which y depends."""
    depth = 0.5 * rng.standard_normal(N)
    X = rng.poisson(np.exp(depth[:, None] + rng.uniform(1, 5, P)))
    return Case(X.astype(np.float64), depth / depth.std() + rng.standard_normal(N))


def outlier_samples(rng: Generator) -> Case:
    """Five samples that are far off in every feature and in y."""
    off = np.isin(np.arange(N), rng.choice(N, 5, replace=False)).astype(np.float64)
    X = rng.standard_normal((N, P)) + 5 * np.outer(off, rng.choice([-1.0, 1.0], P))
    return Case(X, rng.standard_normal(N) + 8 * off)


def drift(rng: Generator) -> Case:
    """An instrument that drifts from the first row to the last, in y too."""
    time = np.linspace(-1.7, 1.7, N)
    X = np.outer(time, rng.normal(size=P)) + rng.standard_normal((N, P))
    return Case(X, time + rng.standard_normal(N))


# --- features of odd shape; y depends on the true ones alone, whatever the others are ---


def spread_by_a_column(rng: Generator) -> Case:
    """A column that sets the spread of all others, and of y, which it alone says something of."""
    first = rng.standard_normal((N, 1))
    X = np.hstack([first, np.exp(0.7 * first) * rng.standard_normal((N, P - 1))])
    return Case(X, np.exp(0.7 * first[:, 0]) * rng.standard_normal(N), (0,))


def copy_of_a_product(rng: Generator) -> Case:
    """Two columns and their product add to y; the third column is a noisy copy of the product."""
    X = rng.standard_normal((N, P))
    product = X[:, 0] * X[:, 1]
    X[:, 2] = product + 0.3 * X[:, 2]
    return Case(X, X[:, 0] + X[:, 1] + product + rng.standard_normal(N), (0, 1))


def sign_of_a_product(rng: Generator) -> Case:
    """The product of two columns adds to y; the third column is the sign of the product."""
    X = rng.standard_normal((N, P))
    product = X[:, 0] * X[:, 1]
    X[:, 2] = np.sign(product)
    return Case(X, product + 0.5 * rng.standard_normal(N), (0, 1))


def multiplicative_noise(rng: Generator) -> Case:
    """Five true features, the first of which scales the noise too."""
    X = _chain(N, P, rng)
    true = (0, 20, 40, 60, 80)
    return Case(X, X[:, true].sum(axis=1) + np.exp(X[:, 0]) * rng.standard_normal(N), true)


def leverage_points(rng: Generator) -> Case:
    """Heavy tails: features of t(2), five rows ten times as far out, and Cauchy noise."""
    X = rng.standard_t(2, (N, P))
    X[rng.choice(N, 5, replace=False)] *= 10
    return Case(X, X[:, :5].sum(axis=1) + rng.standard_cauchy(N), (0, 1, 2, 3, 4))


def tiny_class(rng: Generator) -> Case:
    """Three classes by chance, one of them of three rows."""
    return Case(
        _chain(N, P, rng), rng.permutation(np.repeat([0, 1, 2], [60, 37, 3])), (), {}, "classes"
    )


def composition(rng: Generator) -> Case:
    """Shares of a whole without one part; y adds two of them."""
    parts = np.exp(_chain(N, P + 1, rng))
    X = (parts / parts.sum(axis=1, keepdims=True))[:, :P]
    x = X[:, (0, 50)] / X[:, (0, 50)].std(axis=0)
    return Case(X, x.sum(axis=1) + rng.standard_normal(N), (0, 50))


def rounded(rng: Generator) -> Case:
    """Features rounded to whole numbers, and a target of few values."""
    X = np.clip(np.rint(_chain(N, P, rng)), -1, 2)
    return Case(X, np.rint((X[:, 0] + X[:, 50] + rng.standard_normal(N)) / 2), (0, 50))


def proxied_confounder(rng: Generator) -> Case:
    """A hidden cause of y with ten noisy proxies: each adds to the others, so each is true."""
    hidden = rng.standard_normal((N, 1))
    X = _chain(N, P, rng)
    X[:, :10] = hidden + rng.standard_normal((N, 10))
    return Case(X, 2 * hidden[:, 0] + rng.standard_normal(N), tuple(range(10)))


def rank_deficient(rng: Generator) -> Case:
    """A hundred mixtures of twenty factors: each is a function of the others, so none is true."""
    X = rng.standard_normal((N, 20)) @ rng.standard_normal((20, P))
    return Case(X, X[:, 0] / X[:, 0].std() + rng.standard_normal(N))


def imputed_by_the_mean(rng: Generator) -> Case:
    """Rows that lose all columns from some place on, filled by means; the true ones are whole."""
    X = _chain(N, P, rng, 0.8)
    lost = np.arange(P) >= rng.integers(10, 2 * P, size=N)[:, None]
    X = np.where(lost, np.nan, X)
    X = np.where(lost, np.nanmean(X, axis=0), X)
    true = (0, 3, 6, 9)
    return Case(X, X[:, true].sum(axis=1) + rng.standard_normal(N), true)


def zero_inflated(rng: Generator) -> Case:
    """Features that are 0 in seven rows of ten, and a target that is 0 in half of them."""
    X = np.exp(_chain(N, P, rng)) * (rng.random((N, P)) < 0.3)
    y = (X[:, 0] + X[:, 50] + np.exp(rng.standard_normal(N))) * (rng.random(N) < 0.5)
    return Case(X, y, (0, 50))


def copies(rng: Generator) -> Case:
    """Every feature twice: copies are one hypothesis, so that either may be named."""
    X = _chain(N, P // 2, rng)
    return Case(np.tile(X, 2), X[:, (0, 25)].sum(axis=1) + rng.standard_normal(N), (0, 25, 50, 75))


def rare_zeros_and_ones(rng: Generator) -> Case:
    """Rare 0/1 columns in independent rows, many of them alike, and a target by chance."""
    return Case((rng.random((N, P)) < 0.05).astype(np.float64), rng.standard_normal(N))


def independent_rows(rng: Generator) -> Case:
    """Nothing odd: independent rows, ten true features."""
    X, true = _chain(N, P, rng), tuple(range(0, 100, 10))
    return Case(X, X[:, true].sum(axis=1) + rng.standard_normal(N), true)


CASES: dict[str, Draw] = {
    "rows given twice": rows_twice,
    "rows in time order": rows_in_time,
    "rows in space": rows_in_space,
    "lagged features": lagged,
    "repeated measures": repeated_measures,
    "repeated measures, groups given": repeated_measures_in_groups,
    "covariates by their product": covariates_by_product,
    "covariate by two periods of a sine": covariate_by_waves,
    "batch effect, adjusted for": batch_adjusted_for,
    "batch effect": batch_effect,
    "common row scale": row_scale,
    "five populations": populations,
    "library size": library_size,
    "outlier samples": outlier_samples,
    "drift along the rows": drift,
    "spread set by a column": spread_by_a_column,
    "noisy copy of a product": copy_of_a_product,
    "sign of a product": sign_of_a_product,
    "multiplicative noise": multiplicative_noise,
    "leverage points": leverage_points,
    "class of three rows": tiny_class,
    "composition": composition,
    "rounded values": rounded,
    "proxied confounder": proxied_confounder,
    "rank deficient": rank_deficient,
    "imputed by the mean": imputed_by_the_mean,
    "zero-inflated": zero_inflated,
    "copies of features": copies,
    "rare 0/1 columns": rare_zeros_and_ones,
    "independent rows": independent_rows,
}
SOUND = ("rare 0/1 columns", "independent rows", "batch effect, adjusted for", "rounded values")
"""Cases of which nothing is wrong, so that a warning in the first line would be a false alarm."""
