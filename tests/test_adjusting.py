"""The study as it was run: covariates, groups of rows, survival, features that are always kept."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.stats import rankdata
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

from smrmr import Recipe, Selection, SmRMR, select
from smrmr.cli.commands import app
from smrmr.data.covariates import read_covariates
from smrmr.data.study import adjusted, read_study
from smrmr.data.targets.survival import deviance_residuals, martingale_residuals
from smrmr.paper.pairs import Pairs
from smrmr.paper.screening import split_rows
from smrmr.paper.tuning import deal_folds
from smrmr.report.words import say

GROUPS = np.repeat(np.arange(30), 5)


def confounded(rng, n=150, p=40, shifted=8):
    """Three batches shift the target and a few features; x20 and x21 are true."""
    batch = rng.integers(0, 3, n)
    X = rng.standard_normal((n, p))
    X[:, :shifted] += 1.5 * batch[:, None]
    y = 1.5 * batch + X[:, 20] - X[:, 21] + rng.standard_normal(n)
    return X, y, batch.astype(str)


def survival(rng, n=200, p=20):
    X = rng.standard_normal((n, p))
    risk = np.exp(X[:, 0] - X[:, 1])
    time, censored = rng.exponential(1 / risk), rng.exponential(1.5, n)
    return X, np.minimum(time, censored).round(2), time <= censored


# -- covariates


def test_the_basis_spans_covariates(rng):
    """Oracle: least squares on a design of their own; levels, lines and bends are all in it."""
    age, batch = rng.normal(50, 10, 80), rng.choice(list("abc"), 80)
    basis = read_covariates({"age": age, "batch": batch}, 80).basis
    np.testing.assert_allclose(basis @ basis.T, np.eye(len(basis)), atol=1e-12)
    np.testing.assert_allclose(basis.sum(axis=1), 0, atol=1e-10)
    for column in (age, batch == "b"):
        centred = column - np.mean(column)
        assert np.linalg.norm(centred - basis.T @ (basis @ centred)) < 1e-8


@pytest.mark.parametrize("control", ["tests", "knockoffs(screening=none)"])
def test_a_batch_explains_what_it_shifts(control, rng):
    """Oracle: how X and y were made; without the batch, features that it shifts are found."""
    X, y, batch = confounded(rng)
    recipe = Recipe(fdr=0.3, control=control)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the knockoffs of skewed features
        raw = select(X, y, recipe, 0)
        found = select(X, y, recipe, 0, covariates={"batch": batch})
    assert found.covariates == ("batch",)
    assert raw.relevance[:8].max() > raw.relevance[8:20].max()
    shown = found.to_frame().set_index("feature")
    assert shown.loc["x0", "relevance_unadjusted"] > 3 * shown.loc["x0", "relevance"]
    best = np.argsort(-found.evidence.scores)[:2]
    assert set(best.tolist()) == {20, 21}


def test_covariates_know_the_names_of_their_levels(rng):
    """Oracle: the column itself; splines that are cut to lines, and others joined, keep step."""
    sex, dose, age = np.tile(["m", "f"], 30), np.tile([0, 5, 10], 20), rng.normal(size=60)
    for extra in ({}, {f"more {k}": rng.normal(size=60) for k in range(3)}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of the many, as lines
            given = read_covariates({"age": age, "sex": sex, **extra}, 60)
        both = given.joined(read_covariates({"dose": dose}, 60))
        assert len(both.levels) == len(both.owners) == both.design.shape[1]
        columns = {"sex": sex, "dose": dose.astype(str)}
        for column, level, owner in zip(both.design.T, both.levels, both.owners, strict=True):
            values = columns.get(both.names[owner])
            assert (level == "") == (values is None)
            if values is not None:
                np.testing.assert_array_equal(column, values == level)


def test_names_and_order_of_covariates_do_not_matter(rng):
    X, y, batch = confounded(rng)
    age = rng.normal(size=150)
    first = select(X, y, covariates={"age": age, "batch": batch})
    renamed = np.array(["z", "y", "x"])[batch.astype(int)]
    second = select(X, y, covariates=pd.DataFrame({"plate": renamed, "years": 2 * age + 7}))
    np.testing.assert_allclose(second.p_values, first.p_values, rtol=1e-6)


def test_nothing_is_left_that_covariates_explain(rng):
    """Law: features and target that knockoffs see are orthogonal to covariates."""
    X, y, batch = confounded(rng)
    study = read_study(X, y, covariates={"batch": batch})
    left = adjusted(study, [np.arange(150)])
    indicators = 1.0 * (batch[:, None] == np.unique(batch))
    indicators -= indicators.mean(axis=0)
    assert np.abs(indicators.T @ left.columns.values).max() < 1e-9
    assert np.abs(indicators.T @ left.target.values).max() < 1e-9
    labels = np.where(y > np.median(y), "ill", "well")
    two = adjusted(read_study(X, labels, covariates={"batch": batch}), [np.arange(150)]).target
    assert two.values.ndim == 1
    assert np.abs(indicators.T @ two.values).max() < 1e-9


def test_covariates_that_make_no_sense_are_named(rng):
    X, y, batch = confounded(rng)
    frame = pd.DataFrame(X).add_prefix("g")
    refused = {
        r"covariate g3 is the feature g3": {"g3": X[:, 3]},
        r"covariates is 'batch'": "batch",
        r"covariates has no column": [],
        r"'y' explain y completely": {"y": y},
        r"looks like sample ids": {"id": [f"s{k}" for k in range(150)]},
        r"covariate a has 1 missing": {"a": [np.nan, *range(149)]},
        r"X has 150 rows and covariate a has 3": {"a": [1, 2, 3]},
        r"is the same for all samples": {"a": np.ones(150)},
        r"take up 60 of 150 rows": {f"c{k}": rng.normal(size=150) for k in range(60)},
    }
    for message, given in refused.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that sixty are many
            with pytest.raises(ValueError, match=message):
                select(frame, y, covariates=given)
    with pytest.raises(ValueError, match=r"'batch' explain class '\d' completely"):
        select(frame, batch, covariates={"batch": batch})
    age = rng.normal(size=150)
    with pytest.warns(UserWarning, match="covariates 'b' add nothing"):
        select(frame, y, covariates={"a": age, "b": -2 * age})


# -- groups of rows


def test_groups_of_rows_are_means_where_the_target_is_theirs(rng):
    """Oracle: the table of means, made by pandas."""
    X = pd.DataFrame(rng.standard_normal((150, 20))).add_prefix("g")
    y = rng.standard_normal(30)
    found = select(X, y[GROUPS], groups=[f"P{k}" for k in GROUPS])
    expected = select(X.groupby(GROUPS).mean(), y)
    np.testing.assert_allclose(found.p_values, expected.p_values, rtol=1e-9)
    assert (found.row_comparison, found.n_groups_of_rows, found.n_rows) == ("means", 30, 30)
    assert "means of features per group, 30 in all" in say(found, "methods")


def test_groups_of_rows_are_no_covariate(rng):
    """Law: names of covariates are the user's, whatever they are; groups are told elsewhere."""
    X = rng.standard_normal((150, 8)) + rng.standard_normal((30, 8))[GROUPS]
    y = X[:, 0] + rng.standard_normal(150)
    ages = {"groups of rows": rng.standard_normal(150)}
    found = select(X, y, covariates=ages, groups=GROUPS)
    assert found.covariates == ("groups of rows",)
    assert (found.row_comparison, found.n_groups_of_rows) == ("within", 30)
    renamed = select(X, y, covariates={"age": ages["groups of rows"]}, groups=GROUPS)
    np.testing.assert_array_equal(found.p_values, renamed.p_values)
    assert select(X, y, groups=GROUPS).covariates == ()


def test_rows_are_compared_within_groups(rng):
    """Oracle: groups as a covariate, of which the tests ask more; and the sign of the effect."""
    shared = rng.standard_normal((30, 20))[GROUPS]
    X = shared + rng.standard_normal((150, 20))
    y = 3 * rng.standard_normal(30)[GROUPS] + X[:, 4] + 0.5 * rng.standard_normal(150)
    found = select(X, y, Recipe(fdr=0.05), groups=GROUPS)
    assert found.row_comparison == "within"
    assert "compared by their correlation. " in say(found, "methods")
    assert 4 in found.selected
    assert found.covariates == ()
    moved = select(X + 100 * shared, y + 7 * GROUPS, Recipe(fdr=0.05), groups=GROUPS)
    assert 4 in moved.selected
    assert Selection.from_json(found.to_json()).row_comparison == "within"


def test_rows_of_one_group_stay_on_one_side(rng):
    """Law: of splits and of folds, whatever the seed."""
    X = rng.standard_normal((150, 10)) + rng.standard_normal((30, 10))[GROUPS]
    study = read_study(X, rng.standard_normal(150), groups=GROUPS)
    for seed in range(5):
        child = np.random.default_rng(seed)
        screen, chosen = split_rows(study.target, 0.4, child, study.row_groups.codes)
        assert not set(GROUPS[screen]) & set(GROUPS[chosen])
        assert len(screen) + len(chosen) == 150
        fold = deal_folds(Pairs(study, np.ones(150, np.intp)), 5, child)
        assert all(len(set(fold[g == GROUPS])) == 1 for g in range(30))
        assert len(set(fold)) == 5


def test_groups_that_make_no_sense_are_named(rng):
    X, y = rng.standard_normal((40, 5)), rng.standard_normal(40)
    for groups, message in (
        ("patient", r"groups=table\['patient'\]"),
        (np.zeros(40), "all rows are in one group"),
        ([1, 2], "X has 40 rows and groups has 2"),
        ([None] * 40, "groups has 40 missing"),
    ):
        with pytest.raises(ValueError, match=message):
            select(X, y, groups=groups)
    with pytest.raises(ValueError, match="aggregate needs groups"):
        select(X, y, aggregate="mean")
    with pytest.raises(ValueError, match="classes that change within groups"):
        select(X, ["a", "b"] * 20, groups=np.arange(40) // 4, aggregate="mean")
    with pytest.warns(UserWarning, match="whose means are too few"):
        select(X, np.repeat(y[:8], 5), groups=np.arange(40) // 5)


def test_repeated_rows_are_warned_of(rng):
    """Oracle: how rows were made; few factors make rows alike too, and that is no repetition."""
    y = rng.standard_normal(150)
    repeated = 2 * rng.standard_normal((30, 80))[GROUPS] + rng.standard_normal((150, 80))
    with pytest.warns(UserWarning, match="150 of 150 rows are far more like another row"):
        select(repeated, y)
    factors = rng.standard_normal((150, 2)) @ rng.standard_normal((2, 80))
    for X in (rng.standard_normal((150, 80)), factors + 0.3 * rng.standard_normal((150, 80))):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read_study(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_study(repeated, y, groups=GROUPS)


def test_ids_of_several_rows_are_warned_of(rng):
    """Oracle: how columns were made; counts and classes of sorted rows are no ids."""
    X = pd.DataFrame(rng.poisson(3, (150, 8))).add_prefix("g")
    y = rng.standard_normal(150)
    labels = np.array([f"P{k}" for k in rng.permutation(GROUPS)])
    for ids in (GROUPS + 100, pd.Categorical(labels)):
        with pytest.warns(UserWarning, match="columns patient look like ids of patients"):
            read_study(X.assign(patient=ids), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_study(X.assign(stage=np.repeat(np.arange(5), 30)), y)
        read_study(X.assign(patient=rng.permutation(GROUPS)), y)


def test_a_target_that_hardly_changes_within_groups_is_warned_of(rng):
    X = rng.standard_normal((150, 5))
    y = rng.standard_normal(30)[GROUPS]
    y[[3, 77]] += 1
    with pytest.warns(UserWarning, match="y changes within 2 of 30 groups"):
        read_study(X, y, groups=GROUPS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_study(X, rng.standard_normal(150), groups=GROUPS)


# -- survival, stages


def test_martingale_residuals_without_covariates(rng):
    """Oracle: the hazards added up one event time after the other."""
    _, time, event = survival(rng)
    hazard = np.zeros(len(time))
    for t in np.unique(time[event]):
        hazard[time >= t] += np.sum(event & (time == t)) / np.sum(time >= t)
    found = martingale_residuals(time, event, np.empty((0, len(time))))
    np.testing.assert_allclose(found, event - hazard, atol=1e-12)
    assert abs(found.sum()) < 1e-9
    deviance = deviance_residuals(time, event, np.empty((0, len(time))))
    assert (np.sign(deviance) == np.sign(found)).all()


def test_cox_leaves_nothing_to_covariates(rng):
    """Oracle: the score equations of Cox's model, which residuals solve up to a tiny ridge."""
    X, time, event = survival(rng)
    basis = read_covariates(pd.DataFrame(X[:, :2]), len(time)).basis
    found = martingale_residuals(time, event, basis)
    assert abs(found.sum()) < 1e-8
    before = martingale_residuals(time, event, np.empty((0, len(time))))
    assert np.abs(basis @ found).max() < 0.02 * np.abs(basis @ before).max()


@pytest.mark.slow
def test_survival_is_that_of_lifelines(rng):
    """Oracle: lifelines' Cox model and its residuals."""
    lifelines = pytest.importorskip("lifelines", reason="lifelines is not installed")
    X, time, event = survival(rng)
    time = time + 1e-6 * rng.random(len(time))  # without ties, which lifelines takes as Efron did
    given = read_covariates({"a": X[:, 0] > 0, "b": rng.choice(list("xyz"), len(time))}, len(time))
    frame = pd.DataFrame(given.basis.T).assign(time=time, event=event)
    model = lifelines.CoxPHFitter().fit(frame, "time", "event")
    for kind, ours in (("martingale", martingale_residuals), ("deviance", deviance_residuals)):
        theirs = model.compute_residuals(frame, kind).sort_index()[kind].to_numpy()
        np.testing.assert_allclose(ours(time, event, given.basis), theirs, atol=0.01)


def test_knockoffs_of_survival_given_covariates(rng):
    """Oracle: how times were made."""
    X, time, event = survival(rng)
    y = pd.DataFrame({"event": event, "time": time})
    recipe = Recipe(control="knockoffs", target="survival")
    found = select(X, y, recipe, 0, covariates={"batch": rng.choice(list("ab"), 200)})
    assert set(np.argsort(-found.W)[:2].tolist()) == {0, 1}


def test_survival_targets_come_in_several_forms(rng):
    X, time, event = survival(rng)
    fields = np.array(list(zip(event, time, strict=True)), dtype=[("e", bool), ("t", float)])
    first = SmRMR(fdr=0.1).fit(X, fields).selection_
    assert first.target == "survival"
    assert {0, 1} <= set(first.selected.tolist())
    assert "the risk rises" in first.explain(0)
    frame = pd.DataFrame({"time": time, "event": event * 1})
    second = SmRMR(fdr=0.1, target="survival").fit(X, frame).selection_
    np.testing.assert_array_equal(first.p_values, second.p_values)
    for wrong, message in (
        (np.c_[time, time], "cannot be told apart"),
        (np.c_[time, event, time], "left truncation"),
        (pd.DataFrame({"event": event * 2, "time": time}), "the event holds"),
        (pd.DataFrame({"event": event, "time": -time}), "not negative"),
        (pd.DataFrame({"event": time > 1e9, "time": time}), "0 events in 200 rows"),
    ):
        with pytest.raises(ValueError, match=message):
            SmRMR(target="survival").fit(X, wrong)


def test_stages_are_ranks(rng):
    """Oracle: average ranks as numbers."""
    X = rng.standard_normal((120, 15))
    stage = np.digitize(X[:, 0] + 0.5 * rng.standard_normal(120), [-1, 0, 1])
    found = select(X, stage, Recipe(target="ordinal"))
    expected = select(X, rankdata(stage), Recipe(target="continuous"))
    np.testing.assert_array_equal(found.p_values, expected.p_values)
    ordered = pd.Series(pd.Categorical.from_codes(stage, list("dcba"), ordered=True))
    np.testing.assert_array_equal(
        select(X, ordered, Recipe(target="ordinal")).p_values, found.p_values
    )
    with pytest.raises(ValueError, match="labels alone do not say"):
        select(X, np.array(list("abcd"))[stage], Recipe(target="ordinal"))


def test_a_single_stage_is_refused(rng):
    """Law: a target must vary, whatever levels a category knows of that no row has."""
    X = rng.standard_normal((40, 3))
    one = pd.Categorical(["II"] * 40, ["I", "II"], ordered=True)
    for y in (one, pd.Series(one), np.full(40, 2)):
        with pytest.raises(ValueError, match=r"y has the single value (II|2)\. It must vary"):
            select(X, y, Recipe(target="ordinal"))


def test_a_table_that_looks_like_survival_is_warned_of(rng):
    """Oracle: what the tables were made as; numbers that are no survival are not warned of."""
    X, time, event = survival(rng)
    event = event.astype(int)
    for names in (("died", "months"), ("OS_status", "OS.time"), ("relapse", "Follow-up days")):
        y = pd.DataFrame(dict(zip(names, (event, time), strict=True)))
        for table in (y, y[[names[1], names[0]]]):
            with pytest.warns(UserWarning, match=f"{names[0]!r} and {names[1]!r}.*'survival'"):
                assert read_study(X, table).target.kind == "multi-output"
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for names, columns in (
            (("died", "weight"), (event, time)),  # a name is no time
            (("sick", "months"), (event, time)),  # no event
            (("died", "months"), (2 * event, time)),  # not 0 and 1, nor 1 and 2
            (("died", "months"), (event, time - 1)),  # times below 0
            (("died", "months"), (event, event)),  # two levels
            (("predied", "monthsly"), (event, time)),
        ):
            read_study(X, pd.DataFrame(dict(zip(names, columns, strict=True))))
        read_study(X, np.column_stack([event, time]))  # without names
        y = pd.DataFrame({"died": event, "months": time})
        read_study(X, y, "continuous")
        read_study(X, y, "survival")


# -- features that are always kept, and the command line


def test_kept_features_are_covariates(rng):
    """Oracle: the same columns given as covariates."""
    X, y, _ = confounded(rng)
    frame = pd.DataFrame(X).add_prefix("g")
    kept = SmRMR(fdr=0.1, always_keep=["g20", "g5"]).fit(frame, y)
    given = select(frame.drop(columns=["g20", "g5"]), y, covariates=frame[["g5", "g20"]])
    others = np.delete(np.arange(40), [5, 20])
    expected = given.layer("signals").p_values
    np.testing.assert_allclose(kept.pvalues_[others], expected, rtol=1e-6)
    assert {"g5", "g20", "g21"} <= set(kept.get_feature_names_out())
    assert kept.selection_.outcome("g5") == "always kept"
    assert "always kept, as requested" in kept.selection_.explain("g20")
    with pytest.raises(ValueError, match="always_keep: there is no feature 'g99'"):
        SmRMR(always_keep=["g99"]).fit(frame, y)


def test_missing_values_are_filled_with_what_fit_learned(rng):
    """Oracle: scikit-learn's imputer, fitted on the rows of `fit` alone."""
    X, y, _ = confounded(rng)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 20], X[:, 21] = np.nan_to_num(X[:, 20]), np.nan_to_num(X[:, 21])
    imputer = SimpleImputer(strategy="median").fit(X[:100])
    expected = SmRMR(fdr=0.1).fit(imputer.transform(X[:100]), y[:100])
    for form in (np.asarray, pd.DataFrame):
        model = SmRMR(fdr=0.1, missing="impute-median").fit(form(X[:100]), y[:100])
        assert "missing values filled with the column median" in say(model.selection_, "methods")
        np.testing.assert_array_equal(model.pvalues_, expected.pvalues_)
        kept = np.asarray(model.transform(form(X[100:])))
        np.testing.assert_allclose(kept, imputer.transform(X[100:])[:, model.support_])
        with pytest.raises(ValueError, match="missing or infinite values"):
            SmRMR().fit(form(X), y)
        with pytest.raises(ValueError, match="missing='zero'"):
            SmRMR(missing="zero").fit(form(X), y)


def test_weights_are_refused(rng):
    X, y, _ = confounded(rng)
    with pytest.raises(ValueError, match="sample_weight is not supported"):
        SmRMR().fit(X, y, sample_weight=np.ones(150))


def test_metadata_reaches_a_pipeline(rng):
    """Oracle: the selector fitted alone."""
    X, y, batch = confounded(rng)
    with sklearn.config_context(enable_metadata_routing=True):
        selector = SmRMR(fdr=0.1).set_fit_request(covariates=True, groups=False)
        made = make_pipeline(selector).fit(X, y, covariates={"batch": batch})
    alone = SmRMR(fdr=0.1).fit(X, y, covariates={"batch": batch})
    np.testing.assert_array_equal(made[0].pvalues_, alone.pvalues_)


def test_fit_takes_means_of_groups(rng):
    """Oracle: `select`, which has the same argument."""
    X = rng.standard_normal((150, 8)) + rng.standard_normal((30, 8))[GROUPS]
    y = X[:, 0] + rng.standard_normal(150)
    found = SmRMR().fit(X, y, groups=GROUPS, aggregate="mean").selection_
    assert (found.row_comparison, found.n_rows) == ("means", 30)
    expected = select(X, y, groups=GROUPS, aggregate="mean")
    np.testing.assert_array_equal(found.p_values, expected.p_values)
    with pytest.raises(ValueError, match="aggregate='median'"):
        SmRMR().fit(X, y, groups=GROUPS, aggregate="median")


def test_the_command_line_adjusts(rng, tmp_path):
    """Oracle: the library on the same columns."""
    X, time, event = survival(rng)
    batch = rng.choice(list("ab"), len(time))
    frame = pd.DataFrame(X).add_prefix("g").assign(days=time, died=event * 1, batch=batch)
    frame.insert(0, "id", [f"s{k}" for k in range(len(frame))])
    frame.drop(columns="batch").to_csv(tmp_path / "t.csv", index=False)
    frame[["id", "batch"]].iloc[::-1].to_csv(tmp_path / "c.csv", index=False)
    asked = f"select {tmp_path}/t.csv --time days --event died --id id --covar {tmp_path}/c.csv"
    ran = CliRunner().invoke(app, [*asked.split(), "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output
    found = Selection.from_json((tmp_path / "out" / "selection.json").read_text())
    fields = pd.DataFrame({"event": event, "time": time})
    table = frame.drop(columns=["id", "days", "died", "batch"])
    recipe = Recipe(target="survival")
    expected = select(table, fields, recipe, covariates={"batch": batch})
    np.testing.assert_allclose(found.p_values, expected.p_values, rtol=1e-9)
    assert found.covariates == ("batch",)
    for wrong, message in (
        ("--time days", "needs both --time COLUMN and --event COLUMN"),
        ("--target died --covar-name agee", "no column 'agee'"),
        ("--time days --event died --target g0", "leave out --target"),
    ):
        ran = CliRunner().invoke(app, ["select", f"{tmp_path}/t.csv", *wrong.split()])
        assert ran.exit_code == 2
        assert message in " ".join(ran.output.split())
