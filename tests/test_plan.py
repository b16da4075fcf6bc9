"""Plans: rows of a pilot, rows like them beyond it, and tables made from a few numbers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import smrmr
from smrmr.data.study import read_study
from smrmr.problems import Problem
from smrmr.trials.copula import Copula
from smrmr.trials.quantiles import quantiles
from smrmr.trials.sources import Pilot, Simulated

MANY = 4000


def drawn(X, n, seed=0, covariates=None):
    """Rows of the copula of a table, as scores."""
    given = np.empty((0, len(X))) if covariates is None else covariates
    copula = Copula.of(X, given)
    return copula.draw(np.arange(n) % len(X), np.random.default_rng(seed))


def correlated(n, p, rho, rng):
    """Neighbours correlate by rho, others by its powers."""
    noise = rng.standard_normal((n, p))
    X = noise.copy()
    for k in range(1, p):
        X[:, k] = rho * X[:, k - 1] + np.sqrt(1 - rho**2) * noise[:, k]
    return X


def test_quantiles_are_those_of_numpy_where_values_come_once():
    """Oracle: numpy's "hazen" quantiles, whose places are (i + 1/2) / n too."""
    rng = np.random.default_rng(0)
    values, places = rng.standard_normal((30, 3)), rng.random((50, 3))
    expected = [np.quantile(values[:, k], places[:, k], method="hazen") for k in range(3)]
    assert_allclose(quantiles(values, places).T, expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
def test_values_that_come_more_often_have_none_between_them(dtype):
    """Law: counts stay counts, of the same type, about as often as before."""
    rng = np.random.default_rng(1)
    values = rng.integers(0, 3, (60, 4)).astype(dtype)
    places = (np.argsort(rng.random((600, 4)), axis=0) + 0.5) / 600
    made = quantiles(values, places)
    assert made.dtype == dtype
    for k in range(4):
        assert_array_equal(np.unique(made[:, k]), np.unique(values[:, k]))
        shares = [[np.mean(table[:, k] == v) for v in range(3)] for table in (values, made)]
        assert_allclose(*shares, atol=1 / 60)
    half = quantiles(np.array([[0.0], [0.0], [0.25], [0.5]]), np.array([[0.3], [0.75]]))
    assert_allclose(half, [[0.0], [0.375]])


def test_neighbours_and_factors_of_a_pilot_come_back():
    """Oracle: correlations of the process that made the pilot, of 100 rows and 150 columns."""
    rng = np.random.default_rng(2)
    chain = np.corrcoef(drawn(correlated(100, 150, 0.7, rng), MANY).T)
    next_to = np.diag(chain, 1)
    assert 0.6 < np.mean(next_to) < 0.78
    assert np.mean(np.abs(np.diag(chain, 40))) < 0.06  # what chance alone gave is not kept
    one = rng.standard_normal((100, 1))
    together = np.sqrt(0.5) * one + np.sqrt(0.5) * rng.standard_normal((100, 150))
    common = np.corrcoef(drawn(together, MANY).T)
    assert np.mean(common[np.triu_indices(150, 1)]) == pytest.approx(0.5, abs=0.06)


def test_noise_of_a_pilot_does_not_come_back():
    """Law: of independent columns nearly all stay so, though 40 rows of 300 correlate by chance."""
    X = np.random.default_rng(3).standard_normal((40, 300))
    made = np.corrcoef(drawn(X, MANY).T)[np.triu_indices(300, 1)]
    by_chance = np.corrcoef(X.T)[np.triu_indices(300, 1)]
    assert np.sqrt(np.mean(made**2)) < 0.3 * np.sqrt(np.mean(by_chance**2))


def test_what_covariates_predict_stays_with_their_rows():
    """Oracle: the correlation of a column with the covariate that makes it, before and after."""
    rng = np.random.default_rng(4)
    age = rng.standard_normal(80)
    X = rng.standard_normal((80, 20))
    X[:, 3] += 2 * age
    basis = (age - age.mean())[None] / np.linalg.norm(age - age.mean())
    made = drawn(X, 800, covariates=basis)
    again = np.tile(age, 10)
    before, after = np.corrcoef(X[:, 3], age)[0, 1], np.corrcoef(made[:, 3], again)[0, 1]
    assert after == pytest.approx(before, abs=0.05)
    assert abs(np.corrcoef(made[:, 5], again)[0, 1] - np.corrcoef(X[:, 5], age)[0, 1]) < 0.1


def pilot_of(X, y, target="auto"):
    study = read_study(X, y, target)
    copula = Copula.of(study.columns.values, study.adjustment.basis)
    return Pilot(study, np.arange(study.columns.n_columns), copula)


def test_up_to_its_number_rows_of_the_pilot_are_drawn_once():
    """Law: all its rows are the pilot itself in another order; of fewer none comes twice."""
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((50, 6)), rng.standard_normal(50)
    pilot = pilot_of(X, y)
    whole, _ = pilot.draw(50, rng)
    both = np.column_stack([whole.columns.values, whole.target.values])
    order = np.argsort(both[:, 0])
    assert_array_equal(both[order], np.column_stack([X, y])[np.argsort(X[:, 0])])
    half, _ = pilot.draw(20, rng)
    assert len(np.unique(half.columns.values[:, 0])) == 20
    assert np.isin(half.columns.values[:, 0], X[:, 0]).all()


@pytest.mark.parametrize("n_rows", [21, 40, 130])
def test_classes_keep_their_shares(n_rows):
    """Law: the share of each class is that of the pilot, to one row."""
    rng = np.random.default_rng(6)
    y = np.repeat(["ill", "well", "unsure"], [10, 20, 10])
    study, _ = pilot_of(rng.standard_normal((40, 5)), y).draw(n_rows, rng)
    counts = np.sort(np.bincount(study.target.values.astype(int)))
    assert_allclose(counts / n_rows, [0.25, 0.25, 0.5], atol=1.01 / n_rows)


def test_beyond_the_pilot_numbers_and_columns_come_once():
    """Law: no ties where the pilot has none; counts keep theirs; ranges are those of the pilot."""
    rng = np.random.default_rng(7)
    X = np.column_stack([rng.standard_normal(40), rng.integers(0, 3, 40)])
    study, candidates = pilot_of(X, rng.exponential(size=40)).draw(100, rng)
    assert len(np.unique(study.columns.values[:, 0])) == 100
    assert_array_equal(np.unique(study.columns.values[:, 1]), [0, 1, 2])
    assert len(np.unique(study.target.values)) == 100
    assert study.columns.values[:, 0].min() >= X[:, 0].min()
    assert_array_equal(candidates, [0, 1])


def test_columns_without_variation_in_a_draw_carry_no_effect():
    """Law: a feature that is the same in the rows drawn is no candidate."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((60, 4))
    X[:, 2] = np.arange(60) < 6
    pilot = pilot_of(X, rng.standard_normal(60))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a column of few other values
        found = [pilot.draw(12, rng) for _ in range(20)]
    for study, candidates in found:
        varies = np.ptp(study.columns.values, axis=0) > 0
        assert_array_equal(candidates, np.flatnonzero(varies))
    assert {len(candidates) for _, candidates in found} == {3, 4}


def test_survival_keeps_its_share_of_events():
    """Law: pairs of times and events, and within 1% as many events."""
    rng = np.random.default_rng(9)
    y = pd.DataFrame({"time": rng.exponential(size=60), "event": np.arange(60) % 3 == 0})
    study, _ = pilot_of(rng.standard_normal((60, 4)), y, "survival").draw(240, rng)
    time, event = study.target.derived_from
    assert event.mean() == pytest.approx(1 / 3, abs=0.01)
    assert set(np.unique(event)) == {0.0, 1.0}
    assert (time > 0).all()


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (Simulated(8, class_shares=(0.25, 0.75), target="classes"), (0.25, 0.75)),
        (Simulated(8, event_share=0.4, target="survival"), (0.6, 0.4)),
    ],
)
def test_a_few_numbers_make_such_tables(made, told):
    """Oracle: shares by counting; correlations of neighbours in many rows."""
    study, _ = made.draw(200, np.random.default_rng(0))
    given = study.target.derived_from
    codes = study.target.values if given is None else given[1]
    assert_allclose(np.sort(np.bincount(codes.astype(int)) / 200), np.sort(told), atol=0.01)
    many, _ = Simulated(5, 0.6).draw(MANY, np.random.default_rng(1))
    around = np.corrcoef(many.columns.values.T)
    assert_allclose(np.diag(around, 1), 0.6, atol=0.05)
    assert_allclose(np.diag(around, 2), 0.36, atol=0.05)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({}, "there is no pilot table"),
        ({"p": 1}, "p"),
        ({"p": 9, "correlation": 1.0}, "no correlation of neighbours"),
        ({"p": 9, "class_shares": (0.5, 0.6)}, "no shares of classes"),
        ({"p": 9, "class_shares": (0.5, 0.5), "event_share": 0.5}, "Leave out one"),
        ({"p": 9, "n_rows": (50, "x")}, "no numbers of rows"),
    ],
)
def test_numbers_that_make_no_table_are_refused(how, message):
    """Oracle: messages by hand."""
    with pytest.raises(Problem, match=message):
        smrmr.plan(**how)


def test_a_plan_from_genotypes_with_covariates_and_groups_runs():
    """Law: any pilot that can be selected from can be planned from; here beyond its rows."""
    rng = np.random.default_rng(10)
    X = rng.binomial(2, 0.3, (45, 12))
    clinic = pd.DataFrame({"age": rng.standard_normal(45), "sex": np.arange(45) % 2 == 0})
    how = {"n_rows": 90, "strengths": 0.3, "n_fits": 2, "covariates": clinic}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rare alleles
        found = smrmr.plan(X, rng.standard_normal(45), **how)
    assert (found.n_fits, found.n_pilot, found.drawn_from) == (2, 45, "pilot")
