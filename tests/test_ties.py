"""Ties are decided with a tolerance, everywhere.

Law: factors of 1 +- 1e-13, by which processors differ more than enough, change no rank, no copy, no
group and no choice, and no p-value by more than 1e-9, however many values tie in exact arithmetic.
Permuted rows are such factors too: they change the order of sums.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import rankdata

import smrmr
from smrmr import Recipe, SmRMR, select
from smrmr.conditional import Permutation
from smrmr.conditional.scores import draw_tie_breakers
from smrmr.data.study import in_groups, read_study
from smrmr.data.target import as_target
from smrmr.features.copies import find_copies
from smrmr.features.rank_table import RankTable
from smrmr.measures import MEASURES
from smrmr.paper import KnockoffFilter
from smrmr.rows.repeats import repeated_rows
from smrmr.selection.plot_data import shape_of

N, P = 60, 16
quiet = pytest.mark.filterwarnings("ignore:columns .* have fewer than 5")


def nudged(values, rng):
    return values * (1 + 1e-13 * rng.standard_normal(np.shape(values)))


def response(X, rng):
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return Z[:, 0] - Z[:, 1] + 0.5 * rng.standard_normal(len(X))


def of_counts(transformed):
    """A table that is made of three tables of small counts."""

    def table(rng):
        X = transformed(*rng.integers(1, 5, (3, N, P)))
        return X, response(X, rng), {}

    return table


def of_donors(transformed):
    """Cells of donors, six each, compared by their means."""

    def table(rng):
        X = transformed(rng.poisson(3.0, (N, 6, P)))
        y = response(X.mean(axis=1), rng)
        groups = np.repeat(np.arange(N), 6)
        return X.reshape(-1, P), y[groups], {"groups": groups}

    return table


def given_covariates(rng):
    X, y, _ = TABLES["log ratios"](rng)
    covariates = {"age": rng.integers(30, 60, N) / 7, "site": np.array(["a", "b"] * (N // 2))}
    return X, y, {"covariates": covariates}


def survival(rng):
    X, y, _ = TABLES["sums"](rng)
    time = np.round(np.exp(y), 1) + 0.1
    return X, pd.DataFrame({"event": rng.random(N) < 0.7, "time": time}), {"target": "survival"}


def classes(rng):
    X, y, _ = TABLES["log ratios"](rng)
    return X, np.where(y > 0, "ill", "well"), {}


def copies_and_constants(rng):
    X, y, _ = TABLES["sums"](rng)
    X[:, 8:10], X[:, 10] = X[:, :2], np.exp(X[:, 2])
    X[:, 11], X[:, 12] = X[:, 0] > 1.55, 0.3
    X[:, 13] = 1.7 * X[:, 11]
    return X, y, {}


TABLES = {
    "sums": of_counts(lambda a, b, c: 0.1 * a + 0.2 * b + 0.3 * c),
    "log ratios": of_counts(lambda a, b, c: np.log(a / b)),
    "residuals": of_counts(lambda a, b, c: (v := a / 3 + b / 7) - v.mean(axis=0)),
    "far from zero": of_counts(lambda a, b, c: 2000 + a / 1000 + b / 500),
    "mean counts": of_donors(lambda counts: counts / 1.0),
    "mean logs": of_donors(np.log1p),
    "covariates": given_covariates,
    "survival": survival,
    "classes": classes,
    "copies": copies_and_constants,
}


def of_rows(given, rows):
    """Tables and columns in these rows."""
    if isinstance(given, dict):
        return {name: of_rows(values, rows) for name, values in given.items()}
    if isinstance(given, str):
        return given
    return given.iloc[rows].reset_index(drop=True) if hasattr(given, "iloc") else given[rows]


def fitted(X, y, given, control="tests"):
    given = dict(given)
    recipe = Recipe(fdr=0.3, control=control, target=given.pop("target", "auto"))
    return select(X, y, recipe, 0, **given)


@quiet
@pytest.mark.parametrize("table", TABLES)
def test_the_last_digits_decide_no_p_value(table, rng):
    X, y, given = TABLES[table](rng)
    atol = 1e-5 if table == "far from zero" else 1e-9  # a noise of 1e-7 of the spread
    rows = rng.permutation(len(X))
    plain = fitted(X, y, given)
    for again in (
        fitted(nudged(X, rng), y, given),
        fitted(of_rows(X, rows), of_rows(y, rows), of_rows(given, rows)),
    ):
        assert_array_equal(again.leaders, plain.leaders)
        assert_array_equal(again.selected, plain.selected)
        assert again.trends.shapes == plain.trends.shapes
        for mine, theirs in zip(again.evidence.hypotheses, plain.evidence.hypotheses, strict=True):
            assert_array_equal(mine, theirs)
        found, expected = (one.evidence.p_of_hypotheses for one in (again, plain))
        assert_allclose(found, expected, rtol=0, atol=atol)
        assert_allclose(again.alone.p, plain.alone.p, rtol=0, atol=1e-9)


@quiet
@pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")
@pytest.mark.parametrize("table", ["sums", "residuals", "copies"])
@pytest.mark.parametrize("measure", ["pc", "hsic"])
def test_the_last_digits_decide_no_knockoff(table, measure, rng):
    X, y, given = TABLES[table](rng)
    control = KnockoffFilter(measure=measure)
    plain, again = (fitted(x, y, given, control) for x in (X, nudged(X, rng)))
    assert_array_equal(again.leaders, plain.leaders)
    assert_allclose(again.W, plain.W, rtol=0, atol=1e-9)


@quiet
@pytest.mark.parametrize("table", ["sums", "log ratios", "far from zero"])
def test_the_last_digits_decide_no_association(table, rng):
    """The same for all measures, of numbers with one output and with several."""
    X, y, _ = TABLES[table](rng)
    y = np.round(y, 1) + 0.1
    for measure in MEASURES:
        for target in (y, np.column_stack([y, X[:, 3]])):
            found = [
                smrmr.relevance(x, t, measure=measure)
                for x, t in ((X, target), (nudged(X, rng), nudged(target, rng)))
            ]
            assert_allclose(*found, rtol=0, atol=1e-7 if table == "far from zero" else 1e-9)


@pytest.mark.parametrize("kind", ["continuous", "ordinal", "survival"])
def test_the_last_digits_of_the_target_decide_nothing(kind, rng):
    y = np.round(np.exp(TABLES["sums"](rng)[1]), 1) + 0.1
    found = []
    for values in (y, nudged(y, rng)):
        event = {"event": np.arange(N) % 3 > 0, "time": values}
        given = pd.DataFrame(event) if kind == "survival" else values
        found.append(as_target(given, kind).values)
    assert_array_equal(*(rankdata(values) for values in found))
    assert_allclose(*found, rtol=1e-11)


def test_the_last_digits_make_no_level_and_no_change_within_groups(rng):
    """Oracle: the same data without noise."""
    X, y, _ = TABLES["sums"](rng)
    groups = np.repeat(np.arange(N // 2), 2)
    X, dose = X[2 * groups], nudged(rng.integers(3, size=N) / 3.0, rng)
    together = in_groups(read_study(nudged(X, rng), y), groups)
    assert together.row_groups.comparison == "means"
    study = read_study(X, y, covariates={"dose": dose})
    assert study.covariates.design.shape == (N, 3)
    assert shape_of(dose, study.target).kind == "levels"
    doubled = read_study(nudged(X, rng), np.repeat(y[::2], 2))
    assert repeated_rows(doubled).n_equal == N


def test_ranks_decide_which_columns_are_constant_or_copies(rng):
    X, _, _ = TABLES["copies"](rng)
    for by_rank in (True, False):
        plain, again = (
            find_copies(read_study(x, np.arange(N) % 7 + 0.5).columns, by_rank)
            for x in (X, np.where(np.arange(P) % 2, nudged(X, rng), X))
        )
        assert_array_equal(again.leaders, plain.leaders)
        assert_array_equal(again.constant, plain.constant)
        assert_array_equal(np.flatnonzero(again.constant), [12])


def test_the_table_of_ranks_is_that_of_exact_values(rng):
    """Oracle: ranks of whole numbers that are proportional to the sums."""
    a, b, c = rng.integers(1, 5, (3, N, P))
    columns = read_study(nudged(0.1 * a + 0.2 * b + 0.3 * c, rng), np.arange(N) + 0.5).columns
    found = RankTable.of(columns).ranks(np.arange(P))
    assert_array_equal(found, 2 * rankdata(a + 2 * b + 3 * c, axis=0).T)


def test_tie_breakers_are_apart(rng):
    """Law: rounding, at most 1e-15 here, changes no order of ties."""
    for tie_breaker in draw_tie_breakers(1000):
        assert np.diff(np.sort(tie_breaker)).min() > 1e-12
        noisy = tie_breaker + 1e-15 * rng.standard_normal(1000)
        assert_array_equal(np.argsort(tie_breaker), np.argsort(noisy))


def test_permutations_that_tie_with_the_value_count(rng):
    """Oracle: the same statistic in whole numbers, which are added without rounding."""
    r, e = rng.integers(0, 3, 40), rng.integers(0, 3, 40)
    exact = Permutation(lambda r, e: np.rint(10 * r) @ np.rint(10 * e), 300)
    rounded = Permutation(lambda r, e: r @ e, 300)
    tenths = [rng.permutation(r / 10) for _ in range(30)]
    for one in tenths:
        assert rounded._p_value(one, e / 10) == exact._p_value(one, e / 10)


@quiet
def test_the_estimator_gives_the_same_q_values(rng):
    X, y, _ = TABLES["mean logs"](rng)
    fits = [SmRMR().fit(x, y, groups=np.repeat(np.arange(N), 6)) for x in (X, nudged(X, rng))]
    assert_allclose(*(fit.q_values_ for fit in fits), rtol=0, atol=1e-9)
