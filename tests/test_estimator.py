"""SmRMR as a scikit-learn selector: its contract, frames in and out, progress, the preset."""

from __future__ import annotations

import logging
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from smrmr import Recipe, SmRMR, select, simulate
from smrmr.measures import ProjectionCorrelation
from smrmr.paper import L1, MCP, SCAD, KnockoffFilter
from smrmr.problems import DataWarning

doubtful = pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")


@pytest.fixture(scope="module")
def data():
    return simulate("1.c", n=120, p=40, random_state=3)


@doubtful
@pytest.mark.filterwarnings(
    "ignore:y has .* whole-numbered",
    "ignore:columns .* have fewer",
    "ignore:no feature was selected",
)
@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(*case, marks=marks)
        for estimator, marks in (
            (SmRMR(control="knockoffs", random_state=0), pytest.mark.slow),
            (SmRMR(), ()),
        )
        for case in estimator_checks_generator(estimator)
    ],
    ids=lambda value: str(getattr(getattr(value, "func", value), "__name__", value)),
)
def test_scikit_learn_checks(estimator, check):
    """All of them at the defaults, none expected to fail; so with the other controller."""
    check(estimator)


def test_estimator_is_the_functional_core(data):
    control = KnockoffFilter(penalty="l1")
    fitted = SmRMR(fdr=0.4, control=control, random_state=5).fit(data.X, data.y)
    core = select(data.X, data.y, Recipe(fdr=0.4, control=control), rng=5)
    np.testing.assert_array_equal(fitted.W_, core.W)
    np.testing.assert_array_equal(fitted.selected_, core.selected)
    assert fitted.get_support(indices=True).tolist() == sorted(core.selected.tolist())
    assert fitted.transform(data.X).shape == (120, len(core.selected))
    assert fitted.selection_.seed == 5


def test_every_setting_of_the_recipe_is_a_parameter():
    own = {"random_state", "verbose", "answer", "keep", "missing", "memory"}
    settings = set(Recipe.__dataclass_fields__) | own
    assert set(SmRMR().get_params(deep=False)) == settings
    made = Recipe(**{name: getattr(SmRMR(), name) for name in Recipe.__dataclass_fields__})
    assert made == Recipe()


def test_the_papers_preset_names_every_choice(data):
    """The preset must stay the paper's pipeline whatever the defaults become."""
    params = SmRMR.paper(fdr=0.25, penalty="scad").get_params()
    expected = {
        "measure": ProjectionCorrelation("all"), "penalty": SCAD(a=3.7, lla_steps=2),
        "lam__folds": 5, "lam__debiased": False, "screening__share": 0.4, "screening__lam": 0.01,
        "screening__recycle": True, "knockoffs__s": "equi", "knockoffs__covariance": "sample",
        "knockoffs__copula": False, "n_draws": 1, "cross_terms": True,
    }  # fmt: skip
    assert {name: params[f"control__{name}"] for name in expected} == expected
    assert params["fdr"] == 0.25
    fitted = SmRMR.paper(random_state=0).fit(data.X, data.y)
    assert fitted.selection_.evidence.draws[0].covariance == "sample"


def test_names_go_in_and_come_out(data):
    names = [f"gene {k}" for k in range(40)]
    frames = [pd.DataFrame(data.X, columns=names), pl.DataFrame(data.X, schema=names)]
    bare = SmRMR(random_state=0).fit(data.X, data.y)
    for frame in frames[::-1]:
        fitted = SmRMR(random_state=0).fit(frame, data.y)
        if frame is frames[0]:  # scikit-learn before 1.8 does not see the names of polars 2
            assert fitted.feature_names_in_.tolist() == names
            assert fitted.get_feature_names_out().tolist() == [
                names[k] for k in bare.get_support(indices=True)
            ]
        assert fitted.selection_.selected_names == [names[k] for k in bare.selected_]
        assert "gene 0" in fitted.selection_.explain("gene 0")
    fitted.set_output(transform="pandas")
    assert list(fitted.transform(frames[0]).columns) == fitted.get_feature_names_out().tolist()


def test_works_in_pipelines_and_searches():
    data = simulate("1.c", n=200, p=40, random_state=0)
    control = KnockoffFilter(lam=0.01)
    selector = SmRMR(fdr=0.4, control=control, on_empty="relax", random_state=0)
    pipeline = make_pipeline(selector, LinearRegression())
    grid = {"smrmr__fdr": [0.4, 0.5], "smrmr__control__penalty": ["l1", "mcp(b=3)"]}
    search = GridSearchCV(pipeline, grid, cv=2)
    assert search.fit(data.X, data.y).best_score_ > 0.5
    assert search.best_estimator_[0].control.penalty in (L1(), MCP(b=3))
    assert cross_val_score(pipeline, data.X, data.y, cv=2).mean() > 0.4


@pytest.mark.parametrize("control", ["tests", "knockoffs"])
def test_clone_and_pickle_keep_everything(control, data):
    fitted = SmRMR(fdr=0.2, control=control, random_state=1).fit(data.X, data.y)
    again = pickle.loads(pickle.dumps(fitted))
    evidence = again.selection_.evidence
    np.testing.assert_array_equal(evidence.scores, fitted.selection_.evidence.scores)
    np.testing.assert_array_equal(again.q_values_, fitted.q_values_)
    np.testing.assert_array_equal(again.selected_, fitted.selected_)
    assert again.selection_.to_json() == fitted.selection_.to_json()
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "selection_")
    other = SmRMR(fdr=0.2, random_state=1, control=KnockoffFilter(penalty="l1"))
    assert other.get_params() != copy.get_params()


@doubtful
@pytest.mark.parametrize(
    ("control", "why"),
    [
        ("knockoffs", "at least 20 features must stand out"),
        ("tests", "no p-value is small enough among"),
    ],
)
def test_an_empty_selection_has_no_columns_and_says_what_to_do(control, why, rng):
    """Law: never scikit-learn's message; ours says why and what to do, and doing it works."""
    X, y = rng.normal(size=(60, 20)), rng.normal(size=60)
    selector = SmRMR(fdr=0.05, control=control, random_state=0)
    fitted = clone(selector).fit(X, y)
    assert fitted.selected_.size == 0
    assert fitted.get_feature_names_out().size == 0
    assert why in str(fitted.selection_)
    with pytest.warns(DataWarning, match="no feature was selected") as told:
        out = fitted.transform(X)
    assert out.shape == (60, 0)
    said = [str(told[0].message)]
    strict = clone(selector).set_params(on_empty="raise")
    for fail in (
        lambda: strict.fit_transform(X, y),
        lambda: make_pipeline(strict, LinearRegression()).fit(X, y),
    ):
        with pytest.raises(ValueError, match="no feature was selected") as error:
            fail()
        said.append(str(error.value))
    assert len(told) == 1
    assert told[0].filename == __file__  # the line of the user, none of scikit-learn's
    assert not any(str(name) in said[0] for name in fitted.selection_.near_misses()["feature"])
    for message in said:
        assert why in message
        assert 'on_empty="best", or a number for n_features' in message
    for settings, n in (({"on_empty": "best"}, 1), ({"n_features": 10}, 10)):
        chain = make_pipeline(clone(selector).set_params(**settings), LinearRegression())
        assert chain.fit(X, y)[0].transform(X).shape == (60, n)
        assert chain[0].selection_.decision.guaranteed is False
        assert "without any guarantee" in str(chain[0].selection_)
    relaxed = clone(selector).set_params(on_empty="relax").fit(X, y)
    assert relaxed.transform(X).shape[1] >= 1
    kept = clone(selector).set_params(always_keep=["x3"]).fit(X, y)
    assert kept.transform(X).shape == (60, 1)


def test_random_states_of_every_kind(data):
    for seed in (np.random.RandomState(1), np.random.default_rng(1), None):
        assert (
            SmRMR(control="knockoffs(lam=0.01)", random_state=seed)
            .fit(data.X, data.y)
            .selection_.seed
            is None
        )
    one, two = (
        SmRMR(control="knockoffs(lam=0.01)", random_state=np.random.RandomState(7))
        .fit(data.X, data.y)
        .W_
        for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("control", "logged", "shown"),
    [
        ("knockoffs(lam=cv)", "knockoffs: ", ("relevance", "tuning")),
        ("tests", "tests: ", ("scores", "fits without a feature")),
    ],
)
def test_bars_show_stages_and_silence_is_the_default(control, logged, shown, data, capsys, caplog):
    with caplog.at_level(logging.INFO, logger="smrmr"):
        SmRMR(control=control, random_state=0).fit(data.X, data.y)
    quiet = capsys.readouterr()
    assert quiet.out == quiet.err == ""
    assert any(logged in message for message in caplog.messages)
    SmRMR(control=control, random_state=0, verbose=1).fit(data.X, data.y)
    loud = capsys.readouterr()
    assert loud.out == ""
    for stage in shown:
        assert stage in loud.err


def test_several_outputs(data):
    outputs = np.column_stack([data.y, data.X[:, :2].sum(axis=1)])
    fitted = SmRMR(control="knockoffs(lam=0.01)", random_state=0).fit(data.X, outputs)
    assert fitted.selection_.target == "multi-output"
    hsic = SmRMR(control="knockoffs(measure=hsic)", random_state=0).fit(data.X, outputs)
    assert np.isfinite(hsic.W_).all()


def test_frames_with_categories_are_transformed(data):
    frame = pd.DataFrame(data.X).add_prefix("x")
    frame["x3"] = pd.Categorical(np.where(frame["x3"] > 0, "yes", "no"))
    fitted = SmRMR(on_empty="relax", control="knockoffs(lam=0.01)", random_state=0).fit(
        frame, data.y
    )
    out = fitted.transform(frame)
    assert list(out.columns) == fitted.get_feature_names_out().tolist()
