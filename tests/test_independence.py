"""One question: `smrmr.test` is the test that `select` makes, with an effect and its interval."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import norm, t

import smrmr
from benchmarks.studies.one_question import ASKED, features, target
from questions import CASES, numbers
from smrmr import ConditionalTests, Recipe, select


def without(X, k):
    return np.delete(X, k, axis=1)


@pytest.mark.parametrize("case", CASES)
def test_the_p_value_is_that_of_select(case, rng):
    """Oracle: the feature among all others in `select`, groups of look-alikes off."""
    make, kind = CASES[case]
    X, y = make(rng)
    every = select(X, y, Recipe(alike=None, target=kind))
    for k in (0, 1, 12):
        one = smrmr.test(X[:, k], y, given=without(X, k), target=kind)
        assert one.p_value == pytest.approx(every.p_values[k], rel=1e-12)
        np.testing.assert_allclose(one.effects[:, 0], every.evidence.effects[0][:, k], rtol=1e-9)
        assert one.residual_variance[0] == pytest.approx(every.evidence.residual_variance[k])
        assert one.n_given == X.shape[1] - 1


def test_rows_in_groups_and_covariates_are_those_of_select(rng):
    """Oracle: the same study in `select`."""
    X, y = numbers(rng)
    beside = {
        "covariates": pd.DataFrame({"age": rng.normal(size=100)}),
        "groups": np.arange(100) // 4,
    }
    every = select(X, y, Recipe(alike=None), **beside)
    one = smrmr.test(X[:, 3], y, without(X, 3), **beside)
    assert one.p_value == pytest.approx(every.p_values[3], rel=1e-12)
    means = smrmr.test(X[:, 3], y, without(X, 3)[:, :3], **beside, aggregate="mean")
    assert (one.n_rows, means.n_rows) == (100, 25)


def test_several_columns_are_one_hypothesis(rng):
    """Oracle: the group that the user names in `select`."""
    X, y = numbers(rng)
    groups = ["a"] * 3 + [None] * 37
    every = select(X, y, Recipe(feature_groups=groups))
    joint = smrmr.test(X[:, :3], y, X[:, 3:])
    assert joint.p_value == pytest.approx(every.p_values[0], rel=1e-12)
    assert joint.names == ("x0", "x1", "x2")
    assert joint.effects.shape == (1, 3)
    assert joint.effect == joint.effects[0, 0]  # feature 0 is true


def test_alone_it_is_the_marginal_test(rng):
    """Oracle: the stage of features alone, and the closed form of the linear statistic."""
    X, y = numbers(rng)
    alone = smrmr.test(X[:, 3], y)
    assert alone.p_value == pytest.approx(select(X[:, [3]], y).alone.p[0], rel=1e-9)
    linear = smrmr.test(X[:, 3], y, control="tests(statistics=linear, check_residuals=false)")
    r, freedom = linear.effect, 98
    expected = 2 * t.sf(abs(r) * np.sqrt(freedom / (1 - r**2)), freedom)
    assert linear.p_value == pytest.approx(expected, rel=1e-6)
    assert linear.freedom.tolist() == [freedom]
    assert linear.n_given == 0


def test_the_interval_is_fishers(rng):
    """Oracle: Fisher's transform, whose variance is 1 / (degrees of freedom - 1)."""
    X, y = numbers(rng)
    one = smrmr.test(X[:, 1], y, without(X, 1), confidence=0.9)
    assert one.freedom[0] == 98  # no component and no spline takes part
    wide = norm.ppf(0.95) / np.sqrt(one.freedom[0] - 1)
    expected = np.tanh(np.arctanh(one.effect) + np.array([-wide, wide]))
    np.testing.assert_allclose(one.interval, expected, rtol=1e-9)
    wider = smrmr.test(X[:, 1], y, without(X, 1), confidence=0.99)
    assert wider.interval[0] < one.interval[0] < one.interval[1] < wider.interval[1]


def test_columns_of_every_kind_are_taken(rng):
    """Oracle: the same numbers as arrays."""
    X, y = numbers(rng)
    frame = pd.DataFrame(X).add_prefix("g")
    expected = smrmr.test(X[:, 0], y, X[:, 1:])
    for x, given in (
        (frame["g0"], frame.drop(columns="g0")),
        (frame[["g0"]], sparse.csc_matrix(X[:, 1:])),
        (X[:, [0]], frame.iloc[:, 1:]),
        (X[:, 0].tolist(), X[:, 1:]),
    ):
        assert smrmr.test(x, y, given).p_value == pytest.approx(expected.p_value, rel=1e-12)
    assert smrmr.test(frame["g0"], y, frame.drop(columns="g0")).names == ("g0",)
    single = smrmr.test(X[:, 0], y, X[:, 1])  # one other feature, as a column
    assert single.n_given == 1
    site = pd.Series(
        pd.Categorical(np.where(X[:, 0] > 0.5, "a", np.where(X[:, 0] > -0.5, "b", "c")))
    )
    category = smrmr.test(site, y, X[:, 1:])
    assert category.p_value < 0.01
    assert category.effect > 0
    assert np.isnan(category.interval).all()
    assert "interval" not in str(category)
    assert json.loads(category.to_json())["low"] == [[None]]


def test_it_says_what_was_found(rng):
    """Oracle: the numbers of the result."""
    X, y = numbers(rng)
    one = smrmr.test(X[:, 0], y, X[:, 1:])
    low, high = one.interval
    assert str(one) == (
        f"Independence of x and the target given 39 other features: p = {one.p_value:.2g}. The "
        f"partial correlation is {one.effect:.2f} (95% interval {low:.2f} to {high:.2f}, "
        f"{one.freedom[0]:.0f} degrees of freedom)."
    )
    table = one.to_frame()
    assert table["effect"].tolist() == [one.effect]
    assert table[["effect_low", "effect_high"]].to_numpy().ravel().tolist() == [low, high]
    assert json.loads(one.to_json())["p_value"] == one.p_value
    X, y = CASES["six classes"][0](rng)
    several = smrmr.test(X[:, 0], y, X[:, 1:])
    assert sorted(several.targets) == [f"class {name}" for name in "abcdef"]
    assert several.effects.shape == several.low.shape == several.p_by_target.shape == (6, 1)
    assert abs(several.effect) == np.abs(several.effects).max()
    assert ", the strongest, is" in str(several)
    assert len(several.to_frame()) == 6


def test_notes_say_what_cannot_be_tested(rng):
    """Law: what others predict almost completely has no power of its own, and a note says so."""
    X, y = numbers(rng)
    nearly = X[:, 0] + 0.05 * rng.standard_normal(100)
    found = smrmr.test(nearly, y, X)
    assert found.residual_variance[0] < 0.05
    assert len(found.notes) == 1
    assert "Other features predict x almost completely" in str(found)


def test_questions_without_an_answer_are_refused(rng):
    X, y = numbers(rng)
    with pytest.raises(ValueError, match=r"x has the same order of values as z2 in given"):
        smrmr.test(np.exp(X[:, 2]), y, X)
    with pytest.raises(ValueError, match="x1 has the same order"):
        smrmr.test(np.column_stack([y**2, X[:, 2]]), y, pd.DataFrame(X).add_prefix("g"))
    with pytest.raises(ValueError, match="x is constant"):
        smrmr.test(np.ones(100), y, X)
    with pytest.raises(ValueError, match="X has 100 rows and given has 99"):
        smrmr.test(X[:, 0], y, X[1:, 1:])
    with pytest.raises(ValueError, match="control='knockoffs' compares all features"):
        smrmr.test(X[:, 0], y, X[:, 1:], control="knockoffs")
    with pytest.raises(ValueError, match="confidence=2"):
        smrmr.test(X[:, 0], y, confidence=2)
    frame = pd.DataFrame(X, index=[f"row {i}" for i in range(100)])
    with pytest.warns(UserWarning, match="matched by position"):
        smrmr.test(frame[0], y, frame[[1, 2]][::-1])


def test_settings_of_the_tests_are_taken(rng):
    """Oracle: the same controller in `select`."""
    X, y = numbers(rng)
    control = ConditionalTests(statistics="linear", distillers="lasso")
    every = select(X, y, Recipe(alike=None, control=control))
    one = smrmr.test(X[:, 4], y, without(X, 4), control=control)
    assert one.p_value == pytest.approx(every.p_values[4], rel=1e-12)


@pytest.mark.slow
def test_it_keeps_its_level_and_gains_power():
    """Law: uniform p-values next to two true neighbours; power grows; intervals hold the truth.

    Normal data, so the partial correlation is known. What a regularised fit leaves of the target
    makes estimates smaller, so intervals of large effects hold the truth a little less often.
    """
    shares, held = [], []
    for partial in (0.0, 0.2, 0.4):
        found = []
        for seed in range(200 if partial == 0 else 60):
            rng = np.random.default_rng([seed, 11])
            X = features(150, 60, rng)
            found.append(smrmr.test(X[:, ASKED], target(X, partial, rng), without(X, ASKED)))
        p = np.array([one.p_value for one in found])
        ends = np.array([one.interval for one in found])
        shares.append(np.mean(p <= 0.05))
        held.append(np.mean((ends[:, 0] <= partial) & (partial <= ends[:, 1])))
    assert abs(shares[0] - 0.05) <= 3 * np.sqrt(0.05 * 0.95 / 200)
    assert shares[0] + 0.3 < shares[1] < shares[2]
    assert shares[2] > 0.95
    assert held[0] >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 200)
    assert min(held[1:]) >= 0.9 - 3 * np.sqrt(0.1 * 0.9 / 60)
