"""Pairs as a layer of the answer: tables, words, files, and partners in every caller."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from typer.testing import CliRunner

import smrmr
from oracles import smallest_levels
from smrmr import Recipe, Selection, SmRMR, select
from smrmr.cli.commands import app
from smrmr.cli.display import show_answer
from smrmr.conditional.feature_pairs import FeaturePairs
from smrmr.report import render, statement
from smrmr.report.conditional.checks import alone_verdict
from smrmr.report.words import say

COLUMNS = ["feature", "partner", "p_value", "q_value", "direction", "share_explained", "selected"]
pytestmark = pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")


def products(n=200, p=24, seed=0):
    """x0 times x1 raises the target, x2 times x3 lowers it; all others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3] + 0.7 * rng.normal(size=n)


def treated(n=200, p=16, seed=1):
    """The effect of x0 depends on the treatment, that of x1 on age; both are covariates."""
    rng = np.random.default_rng(seed)
    X, age = rng.normal(size=(n, p)), rng.normal(size=n)
    drug = np.repeat(["no", "yes"], n // 2)
    y = X[:, 0] * np.where(drug == "yes", 1.2, -1.2) + X[:, 1] * age + 0.7 * rng.normal(size=n)
    return X, y, {"drug": drug, "age": age}


def with_pairs(found, rows, n_tested):
    """The same answer with other pairs: feature, partner, p-value and effect of each."""
    table = np.array(rows, dtype=float)
    pairs = FeaturePairs(table[:, :2].astype(np.intp), table[:, 2], table[:, 3], n_tested)
    return replace(found, evidence=replace(found.evidence, pairs=pairs))


def noise():
    """12 features that are independent of the target."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 12)), rng.normal(size=60)


def true_pairs(table):
    """Selected pairs, each as a set of names."""
    chosen = table[table["selected"]]
    return {frozenset(both) for both in zip(chosen["feature"], chosen["partner"], strict=True)}


@pytest.fixture(scope="module")
def found():
    return select(*products())


@pytest.fixture(scope="module")
def by_covariates():
    X, y, covariates = treated()
    return select(X, y, covariates=covariates)


@pytest.fixture(scope="module")
def grouped():
    """x0 and x1 are alike and selected as one group, x4 copies x3, x5 is selected too."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 12))
    X[:, 1] = X[:, 0] + 0.15 * rng.normal(size=150)
    X[:, 4] = -X[:, 3]
    made = select(X, X[:, 0] + X[:, 5] + rng.normal(size=150))
    assert {frozenset(group) for group in made.members} == {frozenset({0, 1}), frozenset({5})}
    return made


# -- the table


def test_pairs_of_the_data_are_found_with_their_directions(found):
    """Oracle: how the table was made."""
    table = found.pairs
    assert table.columns.tolist() == COLUMNS
    assert table["p_value"].is_monotonic_increasing
    assert true_pairs(table) == {frozenset({"x0", "x1"}), frozenset({"x2", "x3"})}
    for _, row in table[table["selected"]].iterrows():
        rises = row["feature"] in ("x0", "x1")
        assert row["direction"] == ("concordant" if rises else "discordant")


def test_q_values_are_benjamini_and_hochberg_over_all_pairs(found):
    """Oracle: a loop over p-values, all pairs that are not listed having p-value 1."""
    pairs, table = found.evidence.pairs, found.pairs
    assert pairs.n_tested == 24 * 23 // 2
    every = np.ones(pairs.n_tested)
    every[: len(table)] = table["p_value"]
    assert_allclose(table["q_value"], smallest_levels(every, "bh")[: len(table)])
    assert_allclose(table["share_explained"], pairs.effects**2)
    for level in (1e-9, 0.1, 0.6):
        again = found.at(level).pairs
        assert_array_equal(again["selected"], table["q_value"] <= level)


def test_covariates_are_partners_by_name(by_covariates):
    """Oracle: how the table was made; levels of a category have no direction."""
    table = by_covariates.pairs.set_index("feature")
    assert true_pairs(by_covariates.pairs) == {frozenset({"x0", "drug"}), frozenset({"x1", "age"})}
    assert (table.loc["x0", "direction"], table.loc["x1", "direction"]) == ("", "concordant")
    assert by_covariates.covariate_categories.tolist() == [0]
    assert "2 pairs of features and covariates act together (FDR 0.1 over pairs)." in statement(
        by_covariates
    )
    assert "depends on drug (pair p-value" in by_covariates.explain("x0")


def test_the_direction_of_two_classes_is_that_of_the_second_by_name(found):
    """Oracle: how the classes were made; the order of rows changes nothing."""
    X, y = products()
    for up, down, way in (("yes", "no", "concordant"), ("ill", "well", "discordant")):
        labels = np.where(y > 0, up, down)
        for rows in (np.argsort(y), np.argsort(-y)):
            made = select(X[rows], labels[rows])
            row = made.pairs.iloc[0]
            assert {row["feature"], row["partner"]} in ({"x0", "x1"}, {"x2", "x3"})
            rises = row["feature"] in ("x0", "x1")
            assert (row["direction"] == way) == rises
            high = max(up, down)
            where = "both are high" if row["direction"] == "concordant" else "one is high"
            assert f"class {high} is more frequent where {where}" in made.explain(row["feature"])


def test_a_direction_is_left_out_where_it_has_no_meaning(found):
    """Law: three classes and several outputs have no order, nor have levels of a category."""
    X, y = products()
    for several in (np.digitize(y, [-1, 1]).astype(str), np.stack([y, -y + X[:, 9]], axis=1)):
        table = select(X, several).pairs
        assert table["selected"].any()
        assert set(table["direction"]) == {""}
    frame = pd.DataFrame(X[:, 4:]).add_prefix("x")
    frame["kind"] = pd.Categorical(np.where(X[:, 0] > 0, "a", "b"))
    table = select(frame, frame["x5"] * np.sign(X[:, 0]) + 0.5 * X[:, 1]).pairs
    assert true_pairs(table) == {frozenset({"x5", "kind"})}
    assert table["direction"][0] == ""


def test_knockoffs_have_an_empty_table():
    """Law: the same columns, and nothing in layer, words and page."""
    X, y = products(n=100, p=10)
    other = select(X, y, Recipe(control="knockoffs"), rng=0)
    assert other.pairs.columns.tolist() == COLUMNS
    assert len(other.pairs) == len(other.findings("pairs")) == 0
    assert other.layer("pairs").features.size == other.layer("pairs").tested.size == 0
    assert 'id="pairs"' not in render(other)
    assert "partner" not in other.findings()


# -- the layer


def test_the_layer_has_the_best_pair_of_every_feature(grouped):
    """Oracle: p-values and effects that were planted; q is 20 p over the rank, from below."""
    made = with_pairs(grouped, [[3, 5, 0.001, 0.5], [5, 2, 0.008, 0.4], [7, 3, 0.2, 0.1]], 20)
    layer = made.layer("pairs")
    assert layer.features.tolist() == [3, 5, 2]
    expected = {2: 0.008, 3: 0.001, 4: 0.001, 5: 0.001, 7: 0.2}  # 4 copies 3
    assert_allclose(layer.p_values, [expected.get(k, 1.0) for k in range(12)])
    q = {2: 0.08, 3: 0.02, 4: 0.02, 5: 0.02}
    assert_allclose(layer.q_values, [q.get(k, 1.0) for k in range(12)])
    assert_allclose(layer.scores, -np.log10(layer.p_values))
    assert made.findings("pairs")["partner"].tolist() == ["x5", "x2"]
    assert made.at(0.05).findings("pairs")["partner"].tolist() == ["x5"]
    assert "selected" not in made.findings("pairs")


def test_only_features_of_interest_are_in_the_layer():
    """Law: a partner that is only adjusted for is named as a partner, and not found."""
    X, y = products()
    some = select(X, y, Recipe(only=["x0", "x9"]))
    assert some.evidence.pairs.n_tested == 2 * 23 - 1
    assert some.layer("pairs").features.tolist() == [0]
    assert some.findings("pairs")[["feature", "partner"]].to_numpy().tolist() == [["x0", "x1"]]
    assert some.layer("pairs").p_values[1] == 1


def test_findings_name_their_partner(found, grouped):
    """Oracle: the pairs that were planted; of a group any member may have the pair."""
    rows = [[1, 8, 1e-6, 0.5], [9, 3, 1e-5, 0.4], [5, 7, 0.5, 0.1]]
    table = with_pairs(grouped, rows, 66).findings().set_index("feature")
    partner = {"x0": "x8", "x1": "x8", "x5": ""}
    assert table["partner"].tolist() == [partner[name] for name in table.index]
    every = with_pairs(grouped, rows, 66).to_frame().set_index("feature")["partner"]
    assert every[["x3", "x4", "x9", "x2"]].tolist() == ["x9", "x9", "x3", ""]
    inside = with_pairs(grouped, [[1, 0, 1e-6, 0.5]], 66)
    assert not any(inside.findings()["partner"])  # both are the same finding
    partners = dict(zip(found.findings()["feature"], found.findings()["partner"], strict=True))
    assert (partners["x0"], partners["x3"]) == ("x1", "x2")


def test_the_selector_keeps_features_of_pairs():
    """Oracle: how the table was made."""
    X, y = products()
    fitted = SmRMR(answer="pairs").fit(X, y)
    assert sorted(fitted.selected_) == [0, 1, 2, 3]
    assert_array_equal(fitted.q_values_, fitted.selection_.layer("pairs").q_values)
    assert set(SmRMR(answer="pairs", n_features=2).fit(X, y).selected_) in ({0, 1}, {2, 3})


# -- words


def test_the_headline_counts_pairs_if_there_are_any(grouped):
    """Oracle: the pairs that were planted."""
    rows = [[3, 5, 1e-6, 0.5], [9, 2, 1e-5, 0.4]]
    assert "2 pairs of features act together (FDR 0.1 over pairs)." in str(
        with_pairs(grouped, rows, 66)
    )
    assert "1 pair of features acts together (FDR 0.1 over pairs)." in str(
        with_pairs(grouped, rows[:1], 66)
    )
    for none in (with_pairs(grouped, [[3, 5, 0.9, 0.1]], 66), grouped):
        assert "pair" not in str(none)


def test_a_feature_says_what_its_effect_depends_on(grouped):
    """Oracle: the pairs that were planted, from either side, of a group and of a copy."""
    shown = int(grouped.found_with[0])  # represents x0 and x1
    rows = [[5, 9, 2e-6, -0.5], [1 - shown, 8, 1e-5, 0.4], [3, 7, 0.01, 0.3]]
    made = with_pairs(grouped, rows, 66)
    numbers = "(pair p-value 2e-06, q-value 0.000132): the target is higher where one is high"
    assert f"Its effect depends on x9 {numbers} and the other low." in made.explain("x5")
    assert f"Its effect depends on x5 {numbers}" in made.explain("x9")
    assert "Their product explains 25% of the residual variance." in made.explain("x9")
    other = f"The effect of x{1 - shown}, in its group, depends on x8 (pair p-value 1e-05"
    assert other in made.explain("x0")
    own = with_pairs(grouped, [[shown, 8, 1e-5, 0.4]], 66)
    assert "Its effect depends on x8 (pair p-value 1e-05" in own.explain("x0")
    near = "Its effect may depend on x7 (pair p-value 0.01, q-value 0.22): a near miss"
    assert near in made.explain("x4")  # which copies x3
    assert "depend" not in made.explain("x2")
    far = with_pairs(grouped, [[3, 7, 0.01, 0.3]], 66)  # q-value 0.66
    assert "depend" not in far.explain("x3")


def test_findings_of_a_pair_need_not_be_associated_alone(found):
    """Law: products of symmetric features have no association alone, and that is no doubt."""
    verdict = alone_verdict(found)
    assert (found.alone.p[found.selected] > 0.05).any()
    assert verdict.word == "fine"
    assert "or acts together with a partner" in verdict.text
    without = with_pairs(found, [[8, 9, 0.9, 0.1]], 276)
    assert alone_verdict(without).word == "look at this"


def test_near_misses_among_pairs_are_named_where_nothing_is_selected(grouped):
    """Oracle: the pairs that were planted: three at most, and none beyond q-value 0.5."""
    rows = [[3, 5, 1e-3, 0.5], [9, 2, 2e-3, 0.4], [7, 8, 0.02, 0.1], [10, 11, 0.025, 0.1]]
    rows += [[6, 8, 0.2, 0.1]]
    nothing = select(*noise())
    assert nothing.selected.size == 0
    empty = with_pairs(nothing, rows, 66).at(0.01)
    said = "Near misses among pairs, not findings: x3 and x5 (p = 0.001), x9 and x2 (p = 0.002),"
    assert f"{said} x7 and x8 (p = 0.02)." in statement(empty)
    assert "Near misses among pairs" not in statement(with_pairs(grouped, rows, 66))
    few = with_pairs(nothing, [*rows[:1], *rows[4:]], 66).at(0.01)
    assert "among pairs, not findings: x3 and x5 (p = 0.001)." in statement(few)


def test_methods_say_what_was_tested_to_act_together(found, by_covariates):
    """Oracle: the settings."""
    every = "Interactions of each feature with every other feature were tested"
    assert every in say(found, "methods")
    assert "The same rule over 276 pairs selected 2 pairs at FDR level 0.1." in say(
        found, "methods"
    )
    assert f"{every.replace(' were', ' and covariate were')}" in say(by_covariates, "methods")
    X, y, covariates = treated()
    some = select(X, y, Recipe(partners=["drug", "x3", 4]), covariates=covariates)
    assert "of each feature with drug, x3 and x4 were tested" in say(some, "methods")
    none = select(X, y, Recipe(partners="none"), covariates=covariates)
    assert "Interactions" not in say(none, "methods")
    assert len(none.pairs) == 0


def test_the_page_has_a_section_of_pairs(found):
    """Oracle: the table; the section is left out where nothing was tested."""
    page = render(found)
    section = page.split('<section id="pairs"')[1].split("</section>")[0]
    assert "Of 276 pairs, 2 act together, with FDR 0.1 over pairs" in section
    for name in ("x0", "x1", "x2", "x3"):
        assert f">{name}<" in section
    assert '<a href="#pairs">' in page
    assert "<dt>discordant</dt>" in page
    X, y = products()
    assert 'id="pairs"' not in render(select(X, y, Recipe(partners="none")))


# -- files


def test_pairs_survive_json(found, by_covariates):
    """Oracle: the selection itself, covariates as partners too."""
    for made in (found, by_covariates, found.at(1e-30)):
        again = Selection.from_json(made.to_json())
        pd.testing.assert_frame_equal(again.pairs, made.pairs)
        assert again.explain("x0") == made.explain("x0")
    content = json.loads(by_covariates.to_json())
    assert {row["partner"] for row in content["pairs"]} == {"drug", "age"}
    assert set(content["layers"]["pairs"]) == {"x0", "x1"}
    assert content["settings"]["partners"] == "all"


def test_the_command_writes_and_shows_pairs(tmp_path):
    """Oracle: the selection in the same folder; without pairs no column shows partners."""
    X, y = products()
    pd.DataFrame(X).add_prefix("g").assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    asked = ["select", str(tmp_path / "t.csv"), "--target", "y", "--no-accuracy", "--out"]
    done = CliRunner().invoke(app, [*asked, str(tmp_path / "a")])
    assert done.exit_code == 0, done.output
    saved = Selection.from_json((tmp_path / "a" / "selection.json").read_text())
    written = pd.read_csv(tmp_path / "a" / "pairs.csv")
    pd.testing.assert_frame_equal(written, saved.findings("pairs"), check_dtype=False)
    selected = pd.read_csv(tmp_path / "a" / "selected.csv", keep_default_na=False)
    assert selected["partner"].tolist() == saved.findings()["partner"].tolist()
    first = saved.pairs.iloc[0]
    assert f"Pairs that act together: {first['feature']} and {first['partner']}" in done.output
    assert "partner" in done.output
    none = CliRunner().invoke(app, [*asked, str(tmp_path / "b"), "--partners", "none"])
    assert none.exit_code == 0, none.output
    assert "partner" not in none.output.split("What next")[0]
    assert len(pd.read_csv(tmp_path / "b" / "pairs.csv")) == 0


def test_the_terminal_shows_partners_and_near_misses(grouped, capsys):
    """Oracle: the pairs that were planted."""
    rows = [[1, 8, 1e-6, 0.5], [9, 3, 1e-5, -0.4]]
    show_answer(with_pairs(grouped, rows, 66), [])
    shown = capsys.readouterr().out
    assert "Pairs that act together: x1 and x8, x9 and x3." in shown
    heads = next(line for line in shown.splitlines() if "feature" in line and "┃" in line)
    assert "partner" in heads
    assert "shape" not in heads
    show_answer(with_pairs(grouped, [[5, 6, 0.9, 0.1]], 66), [])
    assert "partner" not in capsys.readouterr().out
    show_answer(with_pairs(select(*noise()), rows, 66).at(1e-5), [])
    shown = capsys.readouterr().out.split("Pairs that came closest, not findings")[1]
    assert "x9      │ x3" in shown
    assert "discordant" in shown


def test_anndata_holds_pairs_and_partners(tmp_path):
    """Oracle: the selection that is returned, also after a file."""
    import anndata

    X, y, covariates = treated()
    obs = pd.DataFrame({"y": y, **covariates}, index=map(str, range(len(y))))
    adata = anndata.AnnData(X, obs=obs)
    recipe = Recipe(partners=["drug"])
    made = smrmr.anndata.select(adata, "y", covariates=["drug", "age"], recipe=recipe)
    assert true_pairs(made.pairs) == {frozenset({"0", "drug"})}
    adata.write_h5ad(tmp_path / "a.h5ad")
    for held in (adata, anndata.read_h5ad(tmp_path / "a.h5ad")):
        assert held.uns["smrmr"]["pairs"]["partner"].tolist() == ["drug"]
        assert held.var["smrmr_partner"].tolist() == ["drug"] + [""] * 15
        assert held.var_names[held.var["smrmr_pairs"]].tolist() == ["0"]
        assert json.loads(held.uns["smrmr"]["settings"]["partners"]) == ["drug"]


# -- partners


def test_every_caller_takes_partners(tmp_path):
    """Oracle: `select` with positions; selector and command by names."""
    X, y, covariates = treated()
    frame = pd.DataFrame(X).add_prefix("g").rename(columns={"g3": "g3,b"})
    expected = select(frame, y, Recipe(partners=[3, "drug"]), covariates=covariates)
    assert expected.evidence.pairs.n_tested == 16 + 15
    fitted = SmRMR(partners=["g3,b", "drug"]).fit(frame, y, covariates=covariates)
    pd.testing.assert_frame_equal(fitted.selection_.pairs, expected.pairs)
    assert SmRMR(partners="none").get_params()["partners"] == "none"
    frame.assign(y=y, **covariates).to_csv(tmp_path / "t.csv", index=False)
    start = ["select", str(tmp_path / "t.csv"), "--target", "y", "--covar-name", "drug,age"]
    start += ["--no-accuracy", "--quiet", "--out"]
    for given, asked, n_tested in (
        (["g3,b", "drug"], ["g3,b", "drug"], 16 + 15),
        (["drug, age"], ["drug", "age"], 32),
    ):
        out = tmp_path / given[0]
        options = [word for one in given for word in ("--partners", one)]
        done = CliRunner().invoke(app, [*start, str(out), *options])
        assert done.exit_code == 0, done.output
        saved = Selection.from_json((out / "selection.json").read_text())
        assert saved.settings["partners"] == asked
        assert saved.evidence.pairs.n_tested == n_tested
    refused = CliRunner().invoke(app, [*start, str(tmp_path / "no"), "--partners", "drug,g3"])
    assert refused.exit_code == 2
    said = "--partners: there is no feature or covariate 'g3'. Did you mean 'g13' or 'g3,b'?"
    assert said in refused.output


def test_a_kept_feature_is_a_partner_by_position_and_name():
    """Oracle: the other way to name it; it is adjusted for as a covariate."""
    X, y = products()
    by_name, by_position = (
        select(X, y, Recipe(partners=[one], always_keep=["x1"])) for one in ("x1", 1)
    )
    assert by_name.evidence.pairs.n_tested == by_position.evidence.pairs.n_tested == 23
    assert true_pairs(by_name.pairs) == true_pairs(by_position.pairs) == {frozenset({"x0", "x1"})}


def test_partners_that_cannot_be_are_refused():
    X, y, covariates = treated()
    for control in ("knockoffs", "paper"):
        with pytest.raises(ValueError, match=r"partners=\['x1'\].*control='tests'"):
            Recipe(partners=["x1"], control=control)
        with pytest.raises(ValueError, match=r"partners='none'.*leave it out"):
            Recipe(partners="none", control=control)
        assert Recipe(partners="all", control=control).partners == "all"
    for given, match in {
        "drugs": "partners: there is no feature or covariate 'drugs'. Did you mean 'drug'",
        18: "partners: feature or covariate 18 is not between 0 and 17",
        (): r"partners=\(\) names no partner.*partners='none'",
        (True, False): "partners is a mask",
    }.items():
        with pytest.raises(ValueError, match=match):
            select(X, y, Recipe(partners=given), covariates=covariates)
    with pytest.raises(ValueError, match="there is no feature 'drug'"):
        select(X, y, Recipe(partners="drug"))
