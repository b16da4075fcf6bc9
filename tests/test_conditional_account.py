"""What is said, drawn and written of conditional tests: the evidence itself is the oracle."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from smrmr import ConditionalTests, Recipe, Selection, SmRMR, select, simulate
from smrmr.cli.commands import app
from smrmr.data import read_data
from smrmr.paper import KnockoffFilter
from smrmr.problems import Problem
from smrmr.report import plot, render
from smrmr.report.conditional.plots import alone_plot, best_plot, fits_plot, histogram_plot
from smrmr.report.marks import Points, Rule, Stems
from smrmr.report.words import counts_by_level, say, say_items
from test_report import HOSTILE, Page
from thinned import thinned

FIGURES = {"best", "histogram", "alone", "fits", "residuals", "own", "redundancy", "rows"}
PLOTS = ["best", "histogram", "alone", "fits", "relevance", "redundancy"]


def run_tests(X, y, fdr=0.2, on_empty="none", **settings):
    """Single features: groups have tests of their own."""
    control = ConditionalTests(**settings)
    return select(X, y, Recipe(fdr=fdr, control=control, on_empty=on_empty, alike=None))


@pytest.fixture(scope="module")
def cases():
    """One selection of every kind that an account of tests can meet.

    x0 and x1 tell about y, x1 downwards, x2 only by its size; x3 is nearly x0, x4 is what x0 and
    x5 share, x6 is x1 backwards, x7 is constant.
    """
    rng = np.random.default_rng(5)
    X = rng.normal(size=(160, 30))
    X[:, 3] = X[:, 0] + 0.1 * rng.normal(size=160)
    X[:, 4] = X[:, 1] + X[:, 5] + 0.5 * rng.normal(size=160)
    X[:, 6], X[:, 7] = 3 - 2 * X[:, 1], 7.0
    noise = rng.normal(size=160)
    total = 3 * X[:, 0] - 3 * X[:, 1]
    numbers = run_tests(X, total + 3 * np.abs(X[:, 2]) + noise)
    three = np.array(["left", "mid", "right"])[np.digitize(total + noise, [-2, 2])]
    two = np.where(total + noise > 0, "ill", "well")
    outputs = np.column_stack([X[:, 1] + noise / 2, -X[:, 2] + noise[::-1] / 2])
    nothing = run_tests(X, noise, 0.05)
    return {
        "numbers": numbers,
        "proven": numbers_by(numbers, "by"),
        "none false": numbers_by(numbers, "holm"),
        "two classes": run_tests(X, two),
        "three classes": run_tests(X, three),
        "outputs": run_tests(X, outputs),
        "nothing": nothing,
        "relaxed": nothing.at(0.05, on_empty="relax"),
    }


def numbers_by(selection, rule):
    evidence = replace(selection.evidence, rule=rule)
    return replace(selection, evidence=evidence).at(selection.fdr)


EVERY = ["numbers", "proven", "none false", "two classes", "three classes", "outputs"]
EVERY += ["nothing", "relaxed"]


@pytest.mark.parametrize("case", EVERY)
def test_selections_come_back_from_json_to_the_bit(cases, case):
    """Oracle: every field of the evidence, bit by bit, and the page made from it."""
    found = cases[case]
    again = Selection.from_json(found.to_json())
    for f in fields(found.evidence):
        one, two = getattr(found.evidence, f.name), getattr(again.evidence, f.name)
        if isinstance(one, np.ndarray):
            assert (one.dtype, one.shape, one.tobytes()) == (two.dtype, two.shape, two.tobytes())
    for one, two in zip(found.evidence.fits, again.evidence.fits, strict=True):
        assert (one.target, one.explained, one.taken) == (two.target, two.explained, two.taken)
        assert one.uses_absolute_values == two.uses_absolute_values
        assert one.used.tolist() == two.used.tolist()
    np.testing.assert_array_equal(again.decision.q_values, found.decision.q_values)
    assert again.selected_names == found.selected_names
    assert render(again) == render(found)


def test_another_level_is_a_fresh_decision():
    """Oracle: the same data selected at the other level."""
    data = simulate("1.c", 100, 40, random_state=1)
    once = run_tests(data.X, data.y, 0.3)
    for level in (0.01, 0.1, 0.5):
        fresh = run_tests(data.X, data.y, level)
        assert once.at(level).selected.tolist() == fresh.selected.tolist()
        assert str(once.at(level)) == str(fresh)


def test_copies_are_one_discovery(cases):
    """Oracle: x6 copies x1: it is in the group of x1 and has its numbers."""
    found = cases["numbers"]
    assert len(set(found.selected.tolist())) == len(found.selected)
    assert 6 not in found.selected
    assert found.members[found.selected.tolist().index(1)].tolist() == [1, 6]
    assert found.outcome(6) == "selected copy"
    assert (found.p_values[6], found.q_values[6]) == (found.p_values[1], found.q_values[1])
    assert found.table_columns()["direction"][6] == ""  # it runs backwards
    assert f"{len(found.decision.selected)} features are selected at FDR 0.2." in str(found)
    assert 6 not in found.plot_data.features


def test_tables_start_with_the_selected_and_go_by_p_value(cases):
    """Oracle: sorting; the frame of pandas against the table of the page."""
    named = {"three classes": ["higher_in", "lower_in"]}
    named["outputs"] = ["rising_outputs", "falling_outputs"]
    for case in EVERY:
        found = cases[case]
        frame = found.to_frame()
        sizes = list(found.sizes())
        assert list(frame) == [
            "feature", "selected", "q_value", "p_value", "direction", *named.get(case, []),
            "effect", "partner", "relevance", "residual_variance", "p_value_alone", "q_value_alone",
            "direction_alone", *(f"{name}_alone" for name in named.get(case, [])), "effect_alone",
            "effect_alone_low", "effect_alone_high", "shape", *sizes, "group", "outcome",
        ]  # fmt: skip
        assert not frame.drop(columns=sizes).isna().any(axis=None)
        n = len(found.selected)
        assert frame["selected"].tolist() == [True] * n + [False] * (found.n_features - n)
        for part in (frame[:n], frame[n:]):
            assert part["p_value"].is_monotonic_increasing
        data = Page(render(found)).data
        rows = pd.DataFrame(data["rows"], columns=data["columns"]).set_index("feature")
        by_name = frame.set_index("feature").loc[rows.index]
        assert rows.index[:n].tolist() == found.selected_names
        for name in rows:
            assert rows[name].tolist() == by_name[name].tolist()


def test_directions_are_those_of_the_data(cases):
    """Oracle: how the data were made."""
    way, effect = (cases["numbers"].table_columns()[name] for name in ("direction", "effect"))
    assert (way[0], way[1], way[2], way[7]) == ("rises", "falls", "unclear", "")
    assert effect[0] > 0.1 > -0.2 > effect[1]
    assert abs(effect[2]) < 2 / np.sqrt(160)
    assert {2} <= set(cases["numbers"].selected.tolist())  # unclear, yet found
    for case, (high, low) in {
        "two classes": ("ill", "well"), "three classes": ("right", "left")
    }.items():  # fmt: skip
        columns = cases[case].table_columns()
        assert (columns["direction"][1], columns["effect"][1] > 0) == (low, True)
        assert columns["direction"][0] in (high, "unclear")
    way = cases["outputs"].table_columns()["direction"]
    assert (way[1], way[2]) == ("output 1 rises", "output 2 falls")


def test_every_outcome_is_explained(cases):
    """Oracle: the numbers of the evidence, and how the data were made."""
    found = cases["numbers"]
    p, q = found.p_values, found.q_values

    said = found.explain("x1")
    assert said.startswith(f"x1 is selected at FDR 0.2 (p-value {p[1]:.2g} given all other")
    assert f"q-value {q[1]:.3g}" in said
    assert f"marginal p-value {found.alone.p[1]:.2g}" in said
    assert f"Adjusted for all other features, as it rises, the target falls (partial correlation " \
        f"{found.evidence.effects[0][0, 1]:.2f})." in said  # fmt: skip
    assert "associated with the target, without a clear direction" in found.explain("x2")

    said = found.explain("x4")
    assert found.outcome("x4") == "explained by others"
    marginal = found.alone.p[4]
    assert f"x4 is associated with the target alone (p-value {marginal:.2g})" in said
    assert f"but not given all other features (p-value {p[4]:.2g}" in said
    near = found.presentation.neighbours(found, 4)
    assert near[0][0] in (1, 5)
    names, sizes = (f"x{j}" for j, _ in near), (f"{r:.2f}" for _, r in near)
    assert f"{' and '.join(names)} carry the same information, going by correlations of" in said
    assert f"{' and '.join(sizes)}." in said

    said = found.explain("x3")
    own = found.evidence.residual_variance[3]
    assert own < 0.1
    assert f"Other features predict it almost completely ({100 * (1 - own):.3g}% of its" in said
    assert "above all x0 (correlation 1.00)" in said or "above all x0 (correlation 0.99)" in said

    worst = int(found.evidence.ranking[-1])
    assert found.outcome(worst) in ("not significant", "explained by others")
    plain = next(k for k in found.evidence.ranking[::-1] if found.outcome(k) == "not significant")
    said = found.explain(int(plain))
    assert f"is not selected at FDR 0.2 (p-value {p[plain]:.2g} given all" in said
    assert "Adjusted for all other features it is hardly associated with the target (" in said

    assert found.explain("x6") == f"x6 is a copy of x1. {found.explain('x1')}"
    assert found.explain("x7") == "x7 is constant, so it cannot be associated with the target."
    assert "it is highest in class well" in cases["two classes"].explain("x1")
    assert "higher in class left (partial correlation" in cases["three classes"].explain("x1")
    assert "lower in class right" in cases["three classes"].explain("x1")
    assert "as it rises, output 2 falls" in cases["outputs"].explain("x2")
    assert "is selected without any guarantee" in cases["relaxed"].explain(
        int(cases["relaxed"].selected[0])
    )
    assert "selected at familywise error rate 0.2" in cases["none false"].explain("x1")


def test_raised_and_untested_features_are_explained(cases):
    """Oracle: evidence that says so."""
    found = cases["numbers"]
    for raised, said in (([1], True), ([2], False)):
        evidence = replace(found.evidence, raised=np.array(raised))
        words = replace(found, evidence=evidence).explain(1)
        assert ("raised by a more conservative test" in words) == said
    few = replace(found.evidence, tested=np.setdiff1d(found.evidence.tested, [9]))
    said = replace(found, evidence=few).at(0.2).explain("x9")
    assert "x9 was not tested: of 30 features only the 27 most associated" in said


@pytest.mark.parametrize("case", EVERY)
def test_pages_are_whole(cases, case):
    """Oracle: the sections and figures that there must be, and numbers of the selection."""
    found = cases[case]
    page = Page(render(found))
    assert {f"figure-{name}" for name in FIGURES} <= page.ids
    everything = " ".join(" ".join(page.text.values()).split())
    assert not re.search(r"\b(nan|None|inf|undefined)\b", everything)
    assert page.fact("selected") == f"{len(found.selected):,}"
    assert page.fact("tested") == "28"
    assert page.fact(f"{found.error_rate} level") == f"{found.decision.level:g}"
    for name in found.selected_names:
        assert name in page.text["answer"]
    counts = [len(found.at(level, "none").selected) for level in (0.1, 0.2, 0.3)]
    assert re.findall(r"\d+(?:\.\d)?", page.text["levels"]) == ["0.1", "0.2", "0.3"] + [
        str(n) for n in counts
    ]
    methods = " ".join(page.text["methods"].split())
    for phrase in ("Naylor", "Biometrika 109", "generalised covariance measure", "Cauchy", "[5]"):
        assert phrase in methods
    fits = found.evidence.fits
    names = {"blend": "LASSO", "ridge": "ridge regression"}
    if case == "two classes":
        names = {"logistic": "logistic regression", **names}
    assert list(fits[0].explained) == list(names)
    for kind, name in names.items():
        shares = [100 * max(fit.explained[kind], 0) for fit in fits]
        most = f" (standard error {100 * fits[0].errors[kind]:.0f}%)"
        most = f" to {max(shares):.0f}%" if len(fits) > 1 else most
        assert f"{min(shares):.0f}%{most} by {name}" in methods
    taken = {
        "logistic": "Residuals were taken from logistic regression.",
        "blend": "Residuals were taken from LASSO and kernel ridge regression.",
        "ridge": "Residuals were taken from ridge regression.",
        "": "No fit predicted samples left out better than the mean",
    }
    assert [kind for kind, text in taken.items() if text in methods] == [fits[0].taken]
    several, classes = len(fits) > 1, bool(found.plot_data.labels)
    word = "classes" if classes else "outputs"
    assert ("F test" in methods) == several
    assert (f"on those of all {word} together" in methods) == several
    assert ("projection correlation" in methods) == (not (several and classes))
    assert ("Holm's rule" in methods) == ("families of hypotheses" in methods) == several
    used = {"bh": "Hochberg", "by": "Yekutieli", "holm": "Holm"}
    for rule, author in used.items():
        assert (f"{author} [5]" in methods) == (rule == found.evidence.rule.alias)


def test_promises_follow_the_rule(cases):
    """Oracle: what is known of each rule: empirical, proven, or of no false feature at all."""
    words = {name: str(say(cases[name], "promise")) for name in EVERY}
    assert "empirical" in words["numbers"]
    assert "proven" in words["proven"]
    assert "empirical" not in words["proven"]
    assert words["none false"].startswith("With probability 0.8 not a single selected feature")
    assert "does not hold for this list" in words["relaxed"]
    for name in ("numbers", "two classes"):
        assert "empirical" in str(cases[name])
        assert "empirical" in say_items(cases[name], "assumptions")[-1]
    assert "proven" in str(cases["proven"])
    assert "With probability 0.8 not a single" in str(cases["none false"])
    assert "stand out together" not in "".join(words.values()) + str(cases["nothing"])
    assert "with a familywise error rate of at most 20%" in say(cases["none false"], "question")


def test_rules_that_ask_about_single_features_say_so(rng):
    """Oracle: the cuts of the recipe, which are several for Benjamini-Hochberg alone."""
    X = rng.normal(size=(120, 10))
    for rule, alike, told in (
        ("bh", "auto", False), ("by", "auto", True), ("holm", "auto", True), ("by", 0.7, False),
        ("by", None, False),
    ):  # fmt: skip
        recipe = Recipe(0.1, ConditionalTests(rule=rule), alike=alike)
        assert (recipe.cuts == (1.0,)) == (told or alike is None)
        for y in (X[:, 0] + X[:, 1], rng.normal(size=120)):
            said = str(select(X, y, recipe))
            assert ("tested one by one" in said) == told, said


def test_empty_answers_name_near_misses(cases):
    """Oracle: sorting the p-values."""
    found = cases["nothing"]
    assert not found.selected.size
    best = np.argsort(found.p_values[found.evidence.tested], kind="stable")[:10]
    named = ", ".join(f"{found.names[k]} (p = {found.p_values[k]:.2g})"
                      for k in found.evidence.tested[best])  # fmt: skip
    assert f"Near misses, to be tested on new data, not findings: {named}." in str(found)
    said = Page(render(found)).text["why-nothing"]
    # of 30 features one is a copy and one constant
    assert f"a q-value of {found.q_values.min():.3g} among 28 features" in said
    assert "Near misses" not in str(cases["numbers"])


def test_hostile_names_stay_names(cases):
    """Law: no element comes from a name, of features or classes."""
    found = cases["two classes"]
    names = tuple(HOSTILE[k % len(HOSTILE)] + str(k) for k in range(found.n_features))
    evidence = found.evidence
    evidence = replace(evidence, fits=(replace(evidence.fits[0], target=HOSTILE[1]),))
    picture = replace(found.plot_data, labels=(HOSTILE[0], HOSTILE[1]))
    hostile = replace(found, names=names, evidence=evidence, plot_data=picture)
    for one in (hostile, hostile.at(1e-30)):
        page = Page(render(one))
        assert {tag for tag, _ in page.elements}.isdisjoint({"img", "iframe", "object"})
        assert len(page.scripts) == 2
        assert "\n" not in str(one)


def test_figures_draw_the_numbers_of_the_evidence(cases):
    """Oracle: the evidence, counted and sorted once more."""
    found = cases["numbers"]
    evidence = found.evidence
    bars = [mark for mark in best_plot(found).marks if isinstance(mark, Stems)]
    heights = np.concatenate([mark.y for mark in bars])
    np.testing.assert_allclose(
        np.sort(np.abs(heights)), np.sort(-np.log10(found.p_values[evidence.ranking]))
    )
    (chosen,) = (mark for mark in bars if mark.role == "selected")
    assert len(chosen.y) == len(found.decision.selected)
    np.testing.assert_array_equal(
        np.sign(chosen.y), np.sign(evidence.effects[0][0, found.selected])
    )
    cuts = sorted(mark.at for mark in best_plot(found).marks if isinstance(mark, Rule))
    np.testing.assert_allclose(cuts, [-found.decision.threshold, found.decision.threshold])

    bins = np.concatenate(
        [mark.y for mark in histogram_plot(found).marks if isinstance(mark, Stems)]
    )
    p = found.p_values[evidence.tested]
    assert bins.tolist() == [np.sum((p >= i / 20) & (p < (i + 1) / 20) | (p == 1) & (i == 19))
                             for i in range(20)]  # fmt: skip

    dots = {mark.role: mark for mark in alone_plot(found).marks if isinstance(mark, Points)}
    assert sum(len(mark.x) for mark in dots.values()) == len(evidence.tested)
    explained = [k for k in evidence.tested if found.outcome(k) == "explained by others"]
    np.testing.assert_allclose(
        np.sort(dots["negative"].x), np.sort(-np.log10(found.alone.p[explained]))
    )
    for case in ("numbers", "three classes"):
        fits = sorted(cases[case].evidence.fits, key=lambda fit: fit.target)
        drawn = [mark.x.tolist() for mark in fits_plot(cases[case]).marks]
        assert drawn == [[max(f.explained[kind], 0) for f in fits] for kind in fits[0].explained]
    assert [tick.label for tick in fits_plot(found).y_ticks] == ["LASSO", "ridge regression"]
    worse = replace(evidence.fits[0], explained={"blend": -0.1})
    none = replace(found, evidence=replace(evidence, fits=(worse,)))
    assert "No fit explains any variance" in fits_plot(none).nothing


def test_figures_of_the_other_controller_are_refused(cases):
    has = "It has 'best', 'histogram', 'alone', 'fits', 'relevance', 'redundancy', 'adjusting', "
    has += "'associated', 'carriers', 'panel', 'power', 'pair' or"
    for name in ("importance", "lambda", "nonsense"):
        with pytest.raises(Problem, match=f"by tests has no figure '{name}'. {has} 'shape'"):
            plot(cases["numbers"], name)
    with pytest.raises(Problem, match="one feature"):
        cases["numbers"].plot("shape")
    assert cases["numbers"].plot("shape", feature="x1").get_xlabel() == "x1"
    assert "no covariates" in cases["numbers"].plot("adjusting").texts[0].get_text()
    with pytest.raises(AttributeError, match=r"by tests has no W: use q_values.* or p_values"):
        _ = cases["numbers"].W


@pytest.mark.parametrize("case", thinned(EVERY, ["numbers"]))
def test_figures_draw_on_axes(cases, case, tmp_path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 8))
    for name, ax in zip(PLOTS, figure.subplots(2, 3).flat, strict=True):
        assert plot(cases[case], name, ax) is ax
        assert ax.has_data() != any(len(text.get_text()) > 20 for text in ax.texts)
    figure.savefig(tmp_path / "figure.png", dpi=30)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    data = simulate("1.c", 100, 40, random_state=0)
    path = tmp_path_factory.mktemp("data") / "table.csv"
    pd.DataFrame(data.X).add_prefix("x").assign(y=data.y).to_csv(path, index=False)
    return path


def invoke(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.mark.parametrize(
    ("options", "control"),
    [
        ([], "tests"),
        pytest.param(["--control", "tests"], "tests", marks=pytest.mark.slow),
        (["--rule", "by"], "tests(rule=by)"),
        pytest.param(["--control", "tests(rule=by)"], "tests(rule=by)", marks=pytest.mark.slow),
        (["--control", "tests", "--rule", "holm"], "tests(rule=holm)"),
    ],
)
def test_the_command_line_runs_tests(table, tmp_path, options, control):
    """Oracle: `select` in Python; what was written explains and draws itself again."""
    folder = tmp_path / "out"
    done = invoke("select", table, "--target", "y", "--fdr", "0.1", "--out", folder, *options)
    assert done.exit_code == 0, done.output
    data = read_data(table, "y")  # which may round the last bit of a number, and y counts as it is
    expected = select(data.X, data.y, Recipe(fdr=0.1, control=control, accuracy=True))
    written = pd.read_csv(folder / "selected.csv", dtype=str)
    assert written["feature"].tolist() == expected.selected_names
    top = expected.to_frame()[: len(written)]
    assert written["direction"].tolist() == top["direction"].tolist()
    for name in ("p_value", "q_value", "effect"):
        np.testing.assert_array_equal(list(map(float, written[name])), top[name])
    said = " ".join(done.stdout.split())
    assert str(expected) in said
    counts = ", ".join(f"{n} at {level}" for level, n in counts_by_level(expected))
    assert f"Features selected by level: {counts}." in said
    saved = json.loads((folder / "selection.json").read_text())
    assert saved["settings"]["control"] == control
    assert invoke("explain", folder, "x0").stdout.strip() == expected.explain("x0")
    page = (folder / "report.html").read_text()
    assert invoke("report", folder).exit_code == 0
    assert (folder / "report.html").read_text() == page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--control", "knockoffs", "--rule", "by"], "'knockoffs' has no setting --rule"),
        (["--measure", "hsic", "--rule", "by"], "'knockoffs' has no setting --rule"),
        (["--control", "tests", "--measure", "hsic"], "'tests' has no setting --measure"),
        (["--control", "tests", "--penalty", "l1"], "'tests' has no setting --penalty"),
        (["--control", "tests", "--rule", "b"], "--rule b is not known"),
    ],
)
def test_options_of_the_other_controller_are_refused(table, options, message):
    done = invoke("select", table, "--target", "y", *options)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


def test_names_in_a_statement_are_no_markup(tmp_path):
    """Law: a name that looks like colours of a terminal is printed as it is."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 4)), columns=["[red]", "[/b]", "c", "d"])
    frame.assign(y=rng.normal(size=40)).to_csv(tmp_path / "table.csv", index=False)
    arguments = ["--target", "y", "--fdr", "0.001", "--control", "tests", "--out", tmp_path / "out"]
    done = invoke("select", tmp_path / "table.csv", *arguments)
    assert done.exit_code == 0, done.output
    assert {"[red]", "[/b]"} <= set(done.stdout.split())


def test_the_estimator_takes_tests():
    """Oracle: the functional core, and the settings by their nested names."""
    data = simulate("1.c", n=100, p=40, random_state=3)
    selector = SmRMR(fdr=0.1, control="tests")
    assert selector.get_params()["control__rule"].alias == "bh"
    selector.set_params(control__rule="by", control__check_residuals=False)
    assert selector.control == ConditionalTests(rule="by", check_residuals=False)
    fitted = selector.fit(data.X, data.y)
    core = select(data.X, data.y, Recipe(fdr=0.1, control=selector.control))
    np.testing.assert_array_equal(fitted.pvalues_, core.p_values)
    np.testing.assert_array_equal(fitted.q_values_, core.q_values)
    assert fitted.selected_.tolist() == core.selected.tolist()
    assert fitted.transform(data.X).shape == (100, len(core.selected))
    assert not hasattr(fitted, "W_")
    fitted.set_params(control=KnockoffFilter(lam=0.01), random_state=0).fit(data.X, data.y)
    assert np.isnan(fitted.pvalues_).all()
    np.testing.assert_array_equal(fitted.W_, fitted.selection_.W)
