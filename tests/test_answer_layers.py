"""Layers of an answer: what is associated alone, what adds on its own, and bounds of any set."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.special import ndtri
from typer.testing import CliRunner

import smrmr
from oracles import closed_testing, smallest_levels
from smrmr import ConditionalTests, Recipe, Selection, SmRMR, select, simulate
from smrmr.cli.commands import app
from smrmr.conditional import preparing
from smrmr.data.feature_sets import read_feature_sets
from smrmr.report import render, statement
from smrmr.selection.layers import LAYERS

pytestmark = pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")
LINEAR = ConditionalTests(statistics="linear")


def scores(x):
    """Normal scores of numbers without ties, standardised."""
    z = ndtri((stats.rankdata(x) - 0.5) / len(x))
    return (z - z.mean()) / z.std()


@pytest.fixture(scope="module")
def planted():
    """60 columns: 0 and 1 are alike and 0 is true, 2 is true, 3 copies 2, 4 is constant."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 60))
    X[:, 1] = X[:, 0] + 0.15 * rng.normal(size=150)
    X[:, 3], X[:, 4] = -X[:, 2], 1.0
    y = X[:, 0] + X[:, 2] + rng.normal(size=150)
    return X, y


@pytest.fixture(scope="module")
def found(planted):
    return select(*planted)


# -- associated


def test_answers_show_themselves_in_a_line(rng):
    """What a prompt prints: sentences and counts, and no arrays of all features."""
    X = rng.normal(size=(60, 40))
    y = X[:, 0] + X[:, 1] + rng.normal(size=60)
    found = select(X, y)
    layer = found.layer("associated")
    first = ", ".join(map(str, layer.features[:5]))
    head = f"Layer 'associated': {len(layer.features)} of 40 features, by position: {first}"
    assert repr(layer).startswith(head)
    assert repr(found.panel).startswith(f"Panel of {len(found.panel.features)} features, by pos")
    measured = smrmr.check(X, y, n_fits=2, strengths=(0.5,))
    assert repr(measured) == f"TableCheck: {measured}"
    question = smrmr.test(X[:, 0], y)
    assert repr(question) == str(question)
    hostile = smrmr.test(pd.Series(X[:, 0], name="<b>"), y)
    assert "Independence of &lt;b&gt; and" in hostile._repr_html_()
    assert measured._repr_html_().count("<td>line</td>") == len(measured.to_frame())


def test_linear_p_values_effects_and_intervals_alone_are_those_of_pearson(planted):
    """Oracle: scipy's correlation test of normal scores with the target, and its intervals."""
    X, y = planted
    found = select(X, y, Recipe(control=LINEAR))
    table = found.to_frame().set_index("feature")
    m, r = 58, len(found.layer("associated").features)  # one copies, one is constant
    for k in (0, 1, 2, 7, 20):
        oracle = stats.pearsonr(scores(X[:, k]), y)
        assert_allclose(found.alone.p[k], min(oracle.pvalue, 0.99), rtol=1e-6)
        assert_allclose(found.alone.effects[0, k], oracle.statistic, rtol=1e-9)
        ends = oracle.confidence_interval(1 - 0.05 * r / m)
        mine = table.loc[f"x{k}", ["effect_alone_low", "effect_alone_high"]]
        assert_allclose(mine.astype(float), [ends.low, ends.high], rtol=1e-3)


def test_covariates_are_adjusted_for_as_a_partial_correlation(planted):
    """Oracle: least squares on the covariate's columns, then Student's t with so many fewer."""
    X, y = planted
    group = np.repeat(["a", "b", "c"], 50)
    found = select(X, y + (group == "a"), Recipe(control=LINEAR), covariates={"group": group})
    design = np.stack([np.ones(150), group == "a", group == "b"], axis=1).astype(float)
    z, e = (
        v - design @ np.linalg.lstsq(design, v, rcond=None)[0]
        for v in (scores(X[:, 0]), y + (group == "a"))
    )
    r = np.corrcoef(z, e)[0, 1]
    freedom = 150 - 2 - 2
    p = 2 * stats.t.sf(abs(r) * np.sqrt(freedom / (1 - r**2)), freedom)
    assert found.alone.freedom == freedom
    assert_allclose(found.alone.p[0], p, rtol=1e-6)
    assert "adjusted for group (each alone" in statement(found)


def test_joint_test_of_classes_alone_is_the_analysis_of_variance():
    """Oracle: one-way analysis of variance of the normal scores, of three classes."""
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 40)
    X = rng.normal(size=(120, 10)) + (y == "b")[:, None] * np.linspace(0, 1, 10)
    joint = ConditionalTests(statistics=["linear", "joint"])
    found = select(X, y, Recipe(control=joint))
    for k in range(10):
        z = scores(X[:, k])
        f = stats.f_oneway(*(z[y == c] for c in "abc")).pvalue
        each = [stats.pearsonr(z, y == c).pvalue for c in sorted("abc")]
        assert_allclose(np.sort(found.alone.p_by_target[:, k]), np.sort(each), rtol=1e-6)
        cauchy = 0.7 / np.tan(np.pi * f) + 0.1 * np.sum(1 / np.tan(np.pi * np.array(each)))
        assert_allclose(found.alone.p[k], min(0.5 - np.arctan(cauchy) / np.pi, 0.99), rtol=1e-5)


def test_the_layer_is_benjamini_and_hochberg_over_distinct_features(planted, found):
    """Oracle: a loop over p-values; copies share theirs, constants have none."""
    layer, rest = found.layer("associated"), np.delete(np.arange(60), [3, 4])
    assert_array_equal(layer.tested, rest)
    expected = smallest_levels(found.alone.p[rest], "bh")
    assert_allclose(layer.q_values[rest], expected, rtol=1e-12)
    assert (layer.q_values[3], layer.q_values[4]) == (layer.q_values[2], 1.0)
    assert set(layer.features) == set(rest[expected <= 0.1])
    assert (np.diff(layer.p_values[layer.features]) >= 0).all()
    assert found.associated.sum() == len(layer.features) + 1  # and the copy
    assert set(found.findings("associated")["feature"]) == {f"x{k}" for k in layer.features}


def test_effects_of_categories_have_no_sign_and_no_direction():
    """Law: levels of a category have no order; a feature of two levels is one column."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=120)
    X = pd.DataFrame(rng.normal(size=(120, 6))).add_prefix("x")
    X["kind"] = pd.Categorical(np.where(y < -0.5, "low", np.where(y > 0.5, "high", "mid")))
    found = select(X, y)
    row = found.to_frame().set_index("feature").loc["kind"]
    assert row["direction_alone"] == "category"
    assert row["effect_alone"] > 0.5
    assert "kind" in set(found.findings("associated")["feature"])


def test_features_beyond_the_limit_of_the_tests_are_tested_alone(planted, found, monkeypatch):
    """Oracle: the same features without a limit."""
    monkeypatch.setattr(preparing, "MAX_TESTED", 20)
    some = select(*planted)
    assert 20 <= len(some.evidence.tested) < 30
    assert_array_equal(some.alone.p, found.alone.p)
    assert_array_equal(some.relevance, found.relevance)
    assert_array_equal(some.layer("associated").features, found.layer("associated").features)


def test_classes_are_named_for_associated_features():
    """Oracle: how the table was made: x0 is high in a, x1 is low in c."""
    rng = np.random.default_rng(2)
    y = np.repeat(["a", "b", "c"], 60)
    X = rng.normal(size=(180, 20))
    X[:60, 0] += 2
    X[120:, 1] -= 2
    found = select(X, y)
    table = found.findings("associated").set_index("feature")
    assert table.loc["x0", "higher_in_alone"] == "a"
    assert table.loc["x1", "lower_in_alone"] == "c"
    marked = found.markers("associated").set_index(["class", "feature"])["direction"]
    assert (marked["a", "x0"], marked["c", "x1"]) == ("higher", "lower")
    for name, row in table.iterrows():
        for column, way in (("higher_in_alone", "higher"), ("lower_in_alone", "lower")):
            said = [c for c in "abc" if marked.get((c, name)) == way]
            assert row[column] == "; ".join(said)
    with pytest.raises(ValueError, match="layer='own'"):
        found.markers("own")


def test_intervals_of_two_classes_turn_over_with_the_effect():
    """Law: whichever class a feature is higher in, its interval holds its effect, above 0."""
    rng = np.random.default_rng(6)
    y = np.repeat(["a", "b"], 60)
    X = rng.normal(size=(120, 10))
    X[:60, 0] += 2
    X[60:, 1] += 2
    table = select(X, y).findings("associated").set_index("feature")
    assert table.loc[["x0", "x1"], "direction_alone"].tolist() == ["a", "b"]
    for name in ("x0", "x1"):
        low, effect, high = table.loc[
            name, ["effect_alone_low", "effect_alone", "effect_alone_high"]
        ]
        assert 0 < low < effect < high < 1


def test_anndata_holds_a_column_per_layer():
    """Oracle: the selection that is returned."""
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(4)
    label = np.repeat(["ill", "well"], 60)
    values = rng.normal(size=(120, 15)) + (label == "ill")[:, None] * (np.arange(15) < 3)
    adata = anndata.AnnData(values, obs=pd.DataFrame({"label": label}, index=map(str, range(120))))
    found = smrmr.anndata.select(adata, "label")
    assert_array_equal(adata.var["smrmr_associated"], found.associated)
    own = np.isin(np.arange(15), found.layer("own").features)
    assert_array_equal(adata.var["smrmr_own"], own)
    assert_array_equal(adata.var["smrmr_p_value_alone"], found.alone.p)
    assert {"0", "1", "2"} <= set(adata.uns["smrmr"]["markers_alone"]["ill"])


@pytest.mark.filterwarnings("ignore:the first principal component")  # which y is, here
@pytest.mark.slow
def test_intervals_of_associated_features_hold_the_effect():
    """Law: of the intervals of selected features 95% hold the true correlation, within 3 SE."""
    held, rng = [], np.random.default_rng(3)
    true = np.r_[np.full(30, 0.35), np.zeros(70)]
    for _ in range(100):
        y = rng.normal(size=200)
        X = true * y[:, None] + np.sqrt(1 - true**2) * rng.normal(size=(200, 100))
        found = select(X, y, Recipe(control=LINEAR, alike="none"))
        table = found.findings("associated")
        effect = true[[int(name[1:]) for name in table["feature"]]]
        inside = (table["effect_alone_low"] <= effect) & (effect <= table["effect_alone_high"])
        held.append(inside.mean())
    assert np.mean(held) > 0.95 - 3 * np.std(held) / 10


# -- own


def test_own_contributions_are_what_single_features_are_selected_for(planted):
    """Oracle: a selection that tests single features and nothing else."""
    X, y = planted
    for fdr in (0.05, 0.1, 0.3):
        grouped = select(X, y, Recipe(fdr=fdr, partners="none"))  # of which look-alikes count once
        single = select(X, y, Recipe(fdr=fdr, alike="none", partners="none"))
        assert_array_equal(grouped.layer("own").features, single.selected)
        assert_allclose(
            grouped.layer("own").q_values, single.layer("own").q_values, rtol=0, atol=1e-12
        )
    assert 1 not in grouped.layer("own").features


def test_given_groups_leave_no_single_features_to_test(planted):
    """Law: what was tested in groups alone has no contribution of its own."""
    X, y = planted
    found = select(X, y, Recipe(feature_groups=np.arange(60) // 4))
    assert found.layer("own").tested.size == found.layer("own").features.size == 0
    assert found.selected.size > 0
    assert "Tested as single features, none adds to all others" in statement(found)


def test_layers_of_knockoffs(planted):
    """Law: alone as with tests; own contributions are the selected features that are single."""
    X, y = planted
    other = select(X, y, Recipe(control="knockoffs"), rng=0)
    assert_array_equal(other.alone.p, select(X, y).alone.p)
    assert set(other.layer("own").features) <= set(other.selected)
    assert np.isnan(other.layer("own").p_values).all()
    assert other.at_least(layer="associated") >= 1
    for layer in ("signals", "own"):
        with pytest.raises(ValueError, match="knockoffs have no p-values"):
            other.at_least(layer=layer)


# -- near misses


def test_near_misses_are_ordered_by_both(planted):
    """Law: those associated alone come first, then by p-value given all others."""
    X, y = planted[0].copy(), planted[1]
    X[:, 1] = X[:, 0] + np.random.default_rng(0).normal(size=150)  # a proxy of a true one
    found = select(X, y, Recipe(fdr=0.1, alike="none"))
    table = found.near_misses(40)
    alone = table["feature"].isin(set(found.findings("associated")["feature"])).to_numpy()
    assert alone.any()
    assert not alone.all()
    assert (np.diff(alone.astype(int)) <= 0).all()
    for part in (table[alone], table[~alone]):
        assert part["p_value"].is_monotonic_increasing


# -- bounds after looking


def test_bounds_of_sets_are_those_of_closed_testing():
    """Oracle: closed testing by enumeration, of 8 features."""
    data = simulate("1.a", n=60, p=8, random_state=1)
    found = select(data.X, data.y)
    p = found.layer("associated").p_values
    rng = np.random.default_rng(0)
    sets = {f"s{i}": rng.choice(8, 1 + i % 5, replace=False).tolist() for i in range(12)}
    table = found.at_least(sets, confidence=0.8).set_index("set")
    oracle = closed_testing(p, 0.2)
    for name, members in sets.items():
        assert table.loc[name, "at_least"] == oracle[sum(1 << k for k in members)]
        assert found.at_least(members, confidence=0.8) == table.loc[name, "at_least"]
        assert table.loc[name, "size"] == len(members)


def test_bounds_count_copies_once_and_know_names(planted, found):
    """Law: a copy adds nothing to a set, a constant cannot be true, positions are names."""
    assert found.at_least(["x2", "x3"]) == found.at_least([2]) == found.at_least(["x3"]) == 1
    assert found.at_least("x4") == 0
    assert found.at_least() == len(found.selected)
    assert found.at_least(layer="own") == found.at_least(found.layer("own").features, layer="own")
    with pytest.raises(ValueError, match="there is no feature 'x99'"):
        found.at_least(["x99"])
    with pytest.raises(ValueError, match="layer='panels'"):
        found.at_least([1], layer="panels")
    with pytest.raises(ValueError, match="confidence=9"):
        found.at_least([1], confidence=9)


def test_given_groups_have_bounds(planted):
    """Oracle: the bound of each group's members."""
    X, y = planted
    found = select(X, y, Recipe(feature_groups=np.arange(60) // 4))
    table = found.groups()
    assert len(table) == 15
    assert table["at_least_associated"].max() == 3  # 0, 1 and 2, which 3 copies
    for members, bound in zip(table["members"], table["at_least_associated"], strict=True):
        assert bound == found.at_least(members.split())
    page = render(found)
    assert "At least so many members of the given groups" in page
    assert "At least so many members of the given groups" not in render(select(X, y))


def test_the_command_bounds_sets_of_a_file(planted, found, tmp_path):
    """Oracle: the selection itself; names that are no features are counted."""
    (tmp_path / "selection.json").write_text(found.to_json())
    gmt = tmp_path / "sets.gmt"
    gmt.write_text("first\t\tx0\tx2\tnobody\nsecond\t\tx7\tx8\nempty\t\tnone\n")
    run = CliRunner().invoke
    done = run(app, ["bound", str(tmp_path), "--sets", str(gmt), "--out", str(tmp_path / "b.csv")])
    assert done.exit_code == 0, done.output
    assert "2 names" in done.output
    table = pd.read_csv(tmp_path / "b.csv").set_index("set")
    assert table.loc["first", "at_least"] == found.at_least(["x0", "x2"]) == 2
    assert table.loc["second"].tolist() == [2, 0, 0.0]
    alone = run(app, ["bound", str(tmp_path), "x0", "x9"])
    assert "At least 1 of 2 are associated, with confidence 0.9." in alone.output
    every = run(app, ["bound", str(tmp_path)])
    assert every.output.count("At least") == 3
    both = run(app, ["bound", str(tmp_path), "x0", "--sets", str(gmt)])
    missing = run(app, ["bound", str(tmp_path), "--sets", str(tmp_path / "no.gmt")])
    assert (both.exit_code, missing.exit_code) == (2, 2)
    assert "there is no file" in missing.output


def test_sets_in_a_csv_file(tmp_path):
    """Oracle: the file; a file of one column and one of strangers are refused in words."""
    path = tmp_path / "sets.csv"
    path.write_text("set,feature\na,x0\nb,x1\na,x2\n")
    assert read_feature_sets(path, ["x0", "x1", "x2"]) == ({"a": ["x0", "x2"], "b": ["x1"]}, 0)
    with pytest.raises(ValueError, match="is a feature"):
        read_feature_sets(path, ["gene1"])
    path.write_text("set\na\n")
    with pytest.raises(ValueError, match="no table of sets"):
        read_feature_sets(path, ["x0"])


# -- the answer of the estimator


def test_answer_decides_what_is_kept(planted, found):
    """Oracle: the layers of the same data."""
    X, y = planted
    for answer in ("signals", "associated", "own"):
        fitted, layer = SmRMR(answer=answer).fit(X, y), found.layer(answer)
        assert_array_equal(fitted.get_support(indices=True), np.sort(layer.features))
        for name, values in (
            ("pvalues_", layer.p_values),
            ("q_values_", layer.q_values),
            ("scores_", layer.scores),
        ):
            assert_array_equal(getattr(fitted, name), values)
    every = SmRMR(answer="associated", keep="all").fit(X, y)
    assert_array_equal(every.get_support(), found.associated)
    few = SmRMR(answer="own", n_features=3).fit(X, y)
    p = found.layer("own").p_values
    assert_array_equal(np.sort(p[few.selected_]), np.sort(p[found.layer("own").tested])[:3])
    assert few.selection_.decision.guaranteed
    with pytest.raises(ValueError, match="answer='all'"):
        SmRMR(answer="all").fit(X, y)


# -- words, files, JSON


def test_the_headline_counts_every_layer(found):
    """Oracle: the layers."""
    said = statement(found)
    n, groups = len(found.selected), found.n_groups
    assert said.startswith(f"{found.associated.sum()} of 60 features are associated with")
    assert f"{n - groups} feature" in said
    assert f"Tested as single features, {len(found.layer('own').features)} add" in said


def test_failed_checks_stand_in_the_headline(found):
    """Law: the sentence of a check that puts the level in doubt is part of the answer."""
    from dataclasses import replace

    from smrmr.report.conditional.checks import histogram_verdict

    p = np.linspace(0.1, 0.45, len(found.evidence.p_of_hypotheses))
    doubtful = replace(found, evidence=replace(found.evidence, p_of_hypotheses=p)).at(0.1)
    verdict = histogram_verdict(doubtful)
    assert verdict.word == "look at this"
    assert f"Look at this first: {verdict.text}" in statement(doubtful)
    assert "Look at this first" not in statement(found)


def test_layers_come_back_from_json(found):
    """Law: reading what was written gives the same layers, bounds and credible sets."""
    text = found.to_json()
    again = Selection.from_json(text)
    for name in LAYERS:
        assert_array_equal(again.layer(name).features, found.layer(name).features)
        assert_array_equal(again.layer(name).q_values, found.layer(name).q_values)
        written = json.loads(text)["layers"][name]
        assert written == [found.names[k] for k in found.layer(name).features]
    assert again.at_least(layer="associated") == found.at_least(layer="associated")
    for one, other in zip(again.carriers, found.carriers, strict=True):
        assert_array_equal(one.members, other.members)
        assert_allclose(one.probabilities, other.probabilities)
    pd.testing.assert_frame_equal(again.findings("own"), found.findings("own"))
