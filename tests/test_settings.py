"""Settings as objects, names and text: one meaning, whatever the form.

Oracles: the law that what is written reads back as itself, and hand-worked texts.
"""

from __future__ import annotations

from typing import get_type_hints

import numpy as np
import pytest
from sklearn.base import clone

import smrmr
from smrmr import ConditionalTests, Recipe, SmRMR, paper
from smrmr.association import Associations
from smrmr.controllers import as_control
from smrmr.measures import HSIC, Pearson
from smrmr.paper import MCP, SCAD, CrossValidation, Gaussian, KnockoffFilter, Split
from smrmr.recipe import Settings
from smrmr.rivals import SIS, HSICLasso
from smrmr.settings import change_strategy, nested_settings, write_setting

CONTROLS = [
    KnockoffFilter(),
    KnockoffFilter.paper(),
    KnockoffFilter.paper(measure="hsic", penalty="none"),
    KnockoffFilter(measure=HSIC(kernel="laplacian", width=0.5), penalty=SCAD(a=2.5)),
    KnockoffFilter(lam=0.02, screening="none", n_draws=3, cross_terms=False),
    KnockoffFilter(lam=CrossValidation(folds=3, debiased=True), screening=Split(recycle=False)),
    KnockoffFilter(penalty=MCP(b=2.0), measure=Pearson()),
    KnockoffFilter(knockoffs=Gaussian("mvr", covariance="graphical-lasso", copula=False)),
]


@pytest.mark.parametrize("control", CONTROLS, ids=write_setting)
def test_what_is_written_reads_back_as_itself(control):
    text = write_setting(control)
    assert as_control(text) == control
    assert write_setting(as_control(text)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("knockoffs", KnockoffFilter()),
        ("paper", KnockoffFilter.paper()),
        ("paper(penalty=l1)", KnockoffFilter.paper(penalty="l1")),
        (
            "knockoffs(screening=split(share=0.3, recycle=true), lam=cv(debiased=true))",
            KnockoffFilter(screening=Split(share=0.3), lam=CrossValidation(debiased=True)),
        ),
        ("knockoffs(penalty=none, screening=none)", KnockoffFilter(penalty=None, screening=None)),
    ],
)
def test_texts_by_hand(text, expected):
    assert as_control(text) == expected


def test_only_what_differs_from_the_defaults_is_written():
    assert write_setting(KnockoffFilter(penalty="mcp", lam="auto")) == "knockoffs"
    assert write_setting(KnockoffFilter(penalty=MCP(b=3.0))) == "knockoffs(penalty=mcp(b=3.0))"


def test_strategies_with_arrays_are_compared_and_told_apart():
    one, same, other = (Gaussian(covariance=c * np.eye(3)) for c in (1, 1, 2))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert write_setting(one) != write_setting(other)


def test_nested_settings_can_be_read_and_changed():
    control = KnockoffFilter()
    inner = nested_settings(control)
    assert inner["screening__share"] == 0.4
    assert inner["penalty__b"] == 3.5
    for name, value in {"screening__share": 0.3, "penalty__b": 2.0, "n_draws": 2}.items():
        changed = change_strategy(control, {name: value})
        assert nested_settings(changed) == inner | _with_outer(changed, name) | {name: value}
    with pytest.raises(ValueError, match="has no setting shares"):
        change_strategy(control, {"screening__shares": 0.3})


def _with_outer(changed, name):
    outer = name.split("__")[0]
    return {outer: getattr(changed, outer)}


def test_scikit_learn_reaches_every_nested_setting():
    for control in ("knockoffs", KnockoffFilter()):
        selector = SmRMR(control=control)
        params = selector.get_params()
        assert {f"control__{name}" for name in nested_settings(KnockoffFilter())} <= set(params)
        changed = clone(selector).set_params(control__penalty__b=2.0, fdr=0.1)
        assert changed.control == KnockoffFilter(penalty=MCP(b=2.0))
        assert changed.fdr == 0.1
        assert selector.control == control
        both = clone(selector).set_params(control="paper", control__n_draws=3)
        assert both.control == KnockoffFilter.paper(n_draws=3)
    with pytest.raises(ValueError, match="Invalid parameter 'penalty'"):
        SmRMR().set_params(penalty="l1")


def test_a_recipe_writes_every_choice():
    recipe = Recipe(fdr=0.2, control=CONTROLS[5], on_empty="relax", n_jobs=2)
    assert recipe.settings == {
        "fdr": 0.2,
        "control": "knockoffs(lam=cv(folds=3, debiased=true), screening=split(recycle=false))",
        "target": "auto",
        "on_empty": "relax",
        "n_features": None,
        "accuracy": False,
        "panel_size": None,
        "alike": "auto",
        "feature_groups": None,
        "always_keep": None,
        "only": None,
        "partners": "all",
        "keep_data": False,
        "max_memory": "1GB",
        "n_jobs": 2,
    }
    assert Recipe(**recipe.settings) == recipe


@pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")
def test_results_with_arrays_can_be_compared():
    """Law: a result equals itself and no other, and asking never raises."""
    data = [smrmr.simulate("1.d", 60, 95, random_state=0) for _ in range(2)]
    found = [smrmr.associate(one.X, one.y) for one in data]
    knockoffs = [paper.draw_knockoffs(one.X, random_state=0) for one in data]
    selections = [smrmr.select(one.X, one.y, rng=0) for one in data]
    results = [
        data,
        found,
        [paper.solve(one) for one in found],
        [paper.solution_path(one, n_lams=3) for one in found],
        knockoffs,
        selections,
        [one.decision for one in selections],
        [one.evidence for one in selections],
        [one.plot_data for one in selections],
    ]
    for one, other in results:
        assert one == one
        assert one != other


def test_settings_are_arguments_too():
    """Law: settings by their names are those of a recipe; beside one they win over it."""
    data = smrmr.simulate("1.d", n=60, p=100, random_state=0)
    by_name = smrmr.select(data.X, data.y, alike=None, fdr=0.2)
    recipe = smrmr.Recipe(alike=None, fdr=0.2)
    assert by_name.settings == recipe.settings
    beside = smrmr.select(data.X, data.y, smrmr.Recipe(alike=0.7, fdr=0.2), alike=None)
    for found in (smrmr.select(data.X, data.y, recipe), beside):
        assert found.to_frame().equals(by_name.to_frame())
    effects = {"strengths": (0.5,), "n_fits": 2}
    assert smrmr.check(data.X, data.y, fdr=0.3, **effects).level == 0.3
    assert smrmr.plan(p=20, n_rows=20, fdr=0.3, **effects).level == 0.3


def test_settings_for_type_checkers_are_those_of_a_recipe():
    assert get_type_hints(Settings) == get_type_hints(smrmr.Recipe)


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"fdrr": 0.2}, "Did you mean 'fdr'"), ({"random_state": 0}, "Use rng"), ({"q": 1}, "There")],
)
def test_unknown_settings_are_refused(settings, said):
    said = f"no argument or setting '{next(iter(settings))}'.*{said}"
    for call in (smrmr.select, smrmr.check, smrmr.plan):
        with pytest.raises(TypeError, match=said):
            call(X, Y, **settings)


def test_a_selection_is_checked_by_its_own_settings():
    found = smrmr.select(X, Y)
    for name, said in (("fdr", r"\.at\(0\.2\)"), ("n_fit", "Did you mean 'n_fits'")):
        with pytest.raises(TypeError, match=f"check has no argument '{name}'.*{said}"):
            found.check(X, Y, **{name: 2})


X, Y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30.0)
APART = Associations(np.array([0.5, 0.2]), np.eye(2), "continuous")
RAGGED = [[1.0, 0.2], [0.2]]
WRONG_CALLS = {
    # what came in: a call, and words of the message, which say what is needed
    "recipe as text": (
        lambda: smrmr.select(X, Y, "knockoffs"),
        r"recipe='knockoffs' is not a Recipe.*such as control='knockoffs'",
    ),
    "level as recipe": (lambda: smrmr.select(X, Y, 0.2), r"recipe=0\.2 is not .* such as fdr=0\.2"),
    "a name as target": (lambda: smrmr.select(X, "age"), r"y is 'age'.*y=table\['age'\]"),
    "no target": (lambda: smrmr.select(X, None), "y is None. Give the column itself"),
    "names as covariates": (
        lambda: smrmr.select(X, Y, covariates=["age", "sex"]),
        r"covariates is 'age', 'sex'.*covariates=table\[\['age', 'sex'\]\]",
    ),
    "survival as rows": (
        lambda: smrmr.select(X, (Y, Y > 9), target="survival"),
        r"survival has 30 columns \(.* and 25 more\)",
    ),
    "several to explain": (
        lambda: smrmr.select(X, Y).explain(["x0", "x1"]),
        r"\['x0', 'x1'\] are several\. One feature is needed",
    ),
    "control as recipe": (lambda: smrmr.select(X, Y, KnockoffFilter()), "is not a Recipe"),
    "W as text": (lambda: paper.decide("x", 0.1), "W='x'.*One importance per feature"),
    "ragged W": (lambda: paper.decide(RAGGED, 0.1), "rows that differ in length.*One importance"),
    "bounds of text": (lambda: paper.false_discovery_bounds(["a"]), "W=.*One importance"),
    "bounds of ragged W": (lambda: paper.false_discovery_bounds(RAGGED), "differ in length"),
    "lambda as text": (lambda: paper.solve(APART, lam="x"), "lam='x' is not a lambda.*at least 0"),
    "tolerance as text": (lambda: paper.solve(APART, tol="x"), "tol='x' must be a number above 0"),
    "array to solve": (lambda: paper.solve(np.eye(2)), r"no relevance and redundancy.*associate"),
    "array to a path": (lambda: paper.solution_path(np.eye(2)), "no relevance and redundancy"),
    "text as relevance": (
        lambda: paper.solve(Associations("x", np.eye(2), "continuous")),
        "relevance='x'.*One number per feature",
    ),
    "lambdas as text": (lambda: paper.solution_path(APART, lams="x"), "lams='x'.*decreasing order"),
    "number of lambdas": (lambda: paper.solution_path(APART, n_lams="x"), "n_lams='x'.*1 or more"),
    "floor of lambdas": (lambda: paper.solution_path(APART, floor="x"), "floor='x'.*above 0"),
    "ragged covariance": (lambda: Gaussian(covariance=RAGGED), r"covariance=.*\(p, p\) matrix"),
    "number as rule": (lambda: ConditionalTests(rule=3), "rule=3.*'bh', 'by'"),
    "number as penalty": (lambda: KnockoffFilter(penalty=3), "penalty=3 is not known.*'mcp'"),
    "threshold as text": (lambda: SIS(threshold="x").fit(X, Y), "threshold='x' must be a number"),
    "block size as text": (lambda: HSICLasso(block_size="x").fit(X, Y), "block_size='x'.*of 4 or"),
    "permutations as text": (
        lambda: HSICLasso(n_permutations="x").fit(X, Y),
        "n_permutations='x'.*1 or more",
    ),
    "no threads": (lambda: smrmr.associate(X, Y, n_jobs=0), "n_jobs=0.*Give 1 or more, or -1"),
    "no threads of a rival": (lambda: SIS(n_jobs=0).fit(X, Y), "n_jobs=0.*Give 1 or more"),
    "near misses as text": (
        lambda: smrmr.select(X, Y).near_misses("x"),
        "most='x'.*whole number of 0 or more",
    ),
}


@pytest.mark.parametrize(("call", "message"), WRONG_CALLS.values(), ids=WRONG_CALLS)
def test_what_cannot_be_used_is_refused_in_our_words(call, message):
    """Oracle: messages by hand, of what came in and what is needed."""
    with pytest.raises(ValueError, match=message):
        call()
