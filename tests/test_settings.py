"""Settings as objects, names and text: one meaning, whatever the form.

Oracles: the law that what is written reads back as itself, and hand-worked texts.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import smrmr
from smrmr import (
    HSIC,
    MCP,
    SCAD,
    Bayes,
    CrossValidation,
    Gaussian,
    KnockoffFilter,
    Pearson,
    Recipe,
    SmRMR,
    Split,
)
from smrmr.control import as_control
from smrmr.settings import change_strategy, nested_settings, write_setting

CONTROLS = [
    KnockoffFilter(),
    KnockoffFilter.paper(),
    KnockoffFilter.paper(measure="hsic", penalty="none"),
    KnockoffFilter(measure=HSIC(kernel="laplacian", width=0.5), penalty=SCAD(a=2.5)),
    KnockoffFilter(lam=0.02, screening="none", n_draws=3, cross_terms=False),
    KnockoffFilter(lam=CrossValidation(folds=3, debiased=True), screening=Split(n_keep=12)),
    KnockoffFilter(lam=Bayes(penalties=["l1", MCP(b=2.0)], trials=5), measure=Pearson()),
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
            "knockoffs(screening=split(share=0.3, n_keep=none), lam=cv(debiased=true))",
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
    with pytest.raises(ValueError, match="has no setting 'shares'"):
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
        "control": "knockoffs(lam=cv(folds=3, debiased=true), screening=split(n_keep=12))",
        "target": "auto",
        "on_empty": "relax",
        "n_features": None,
        "alike": "auto",
        "feature_groups": None,
        "always_keep": None,
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
    knockoffs = [smrmr.draw_knockoffs(one.X, random_state=0) for one in data]
    selections = [smrmr.select(one.X, one.y, rng=0) for one in data]
    results = [
        data,
        found,
        [smrmr.solve(one) for one in found],
        [smrmr.solution_path(one, n_lams=3) for one in found],
        knockoffs,
        selections,
        [one.decision for one in selections],
        [one.evidence for one in selections],
        [one.picture for one in selections],
    ]
    for one, other in results:
        assert one == one
        assert one != other
