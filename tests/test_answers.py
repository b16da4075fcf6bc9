"""Answers that are of use: direction and size, near misses, so many features, kept fits, cards."""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import replace
from html.parser import HTMLParser

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

from smrmr import Recipe, Selection, SmRMR, check, select, simulate
from smrmr.cli.commands import app
from smrmr.data.study import read_study
from smrmr.features.rank_table import RankTable
from smrmr.measures import HSIC
from smrmr.paper import KnockoffFilter
from smrmr.paper.threshold import fewest_selectable
from smrmr.report.words import detectable_effect, level_that_selects
from smrmr.rivals import MRMR, SIS, HSICLasso
from smrmr.runs.progress import progress_bars
from smrmr.selection.plot_data import rounded
from smrmr.selection.trends import FINE, classify_shape, find_trends
from thinned import thinned

pytestmark = pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")
CONTROLS = ("tests", "knockoffs")
PLANTED = {
    "rises": lambda x: np.sinh(x),
    "falls": lambda x: -np.tanh(2 * x),
    "U": lambda x: x**2,
    "arch": lambda x: -np.abs(x - 0.2),
    "threshold": lambda x: 3.0 * (x > 0.3),
    "unclear": lambda x: 0 * x,
}


@pytest.fixture(scope="module")
def found():
    data = simulate("1.d", n=150, p=100, random_state=1)
    return {c: select(data.X, data.y, Recipe(fdr=0.2, control=c), rng=0) for c in CONTROLS}


@pytest.fixture(scope="module")
def nothing():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(80, 30)), rng.normal(size=80)
    y += 0.35 * X[:, 4]
    return {
        c: select(X, y, Recipe(fdr=1e-4, control=c, alike=None), rng=0)
        for c in (*CONTROLS, "tests(rule=by)")
    }


def medians_of(x, y):
    """Deciles of x: medians, counts and gaps between quartiles of y, by numpy."""
    parts = np.array_split(y[np.argsort(x)], 10)
    low, middle, high = np.transpose([np.quantile(part, [0.25, 0.5, 0.75]) for part in parts])
    return middle, np.array([len(part) for part in parts]), high - low


@pytest.mark.parametrize("word", PLANTED)
def test_planted_shapes_are_told(word):
    """Oracle: how the data were made; 30 draws, of which noise may fool one in ten."""
    right = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=300)
        y = PLANTED[word](x) + 0.5 * rng.normal(size=300)
        right += classify_shape(*medians_of(x, y)) == word
    assert right >= 27


def test_shapes_keep_their_laws(rng):
    """Law: turned over, rises and falls and U and arch swap; scale and place do not matter."""
    mirror = {"rises": "falls", "falls": "rises", "U": "arch", "arch": "U"}
    for word, shape in PLANTED.items():
        x = rng.normal(size=400)
        medians, counts, gaps = medians_of(x, shape(x) + 0.5 * rng.normal(size=400))
        told = classify_shape(medians, counts, gaps)
        assert classify_shape(-medians, counts, gaps) == mirror.get(told, told), word
        assert classify_shape(1e6 + 1e3 * medians, counts, 1e3 * gaps) == told
        assert classify_shape(medians[::-1], counts[::-1], gaps[::-1]) in (
            told, {"rises": "falls", "falls": "rises"}.get(told)
        )  # fmt: skip
    few = np.r_[np.zeros(FINE - 4), np.ones(3)]
    assert classify_shape(few, np.full(len(few), 50), np.full(len(few), 0.1)) == "rises"
    assert classify_shape(np.array([1.0]), np.array([9]), np.array([1.0])) == "unclear"


@pytest.mark.parametrize(
    ("medians", "word"),
    [
        ([0.6, 0.3, 0.2, 0.5, 1.5, 2.5, 4, 5.5, 7, 9], "rises"),  # one arm is hardly there
        ([4.8, 2.53, 1.49, 0.88, 0.46, 0.18, 0.03, 0.01, 0.24, 1.19], "falls"),  # a bend is no step
        ([0, 0, 0.1, 0, 0, 0.1, 0, 5, 5.1, 5], "threshold"),
        ([0, 0, 0, 0, 0, 0.4, 1.2, 2.1, 3.1, 5.3], "rises"),  # flat, then a slope
        ([5, 3, 1, 0, 0, 0, 0, 1, 2, 3], "U"),
    ],
)
def test_shapes_between_two_words(medians, word):
    """Oracle: a reader of the medians, which have hardly any error here."""
    assert classify_shape(np.array(medians, float), np.full(10, 50), np.full(10, 0.05)) == word


def test_words_and_correlations_are_those_of_the_data(rng):
    """Oracle: how the data were made, and scipy's Spearman correlation."""
    X = rng.normal(size=(400, 8))
    y = X[:, 0] - X[:, 1] + X[:, 2] ** 2 + 2 * (X[:, 3] > 0.5) + 0.3 * rng.normal(size=400)
    for control in CONTROLS:
        selection = select(X, y, Recipe(fdr=0.3, control=control), rng=0)
        frame = selection.to_frame().set_index("feature").loc[[f"x{k}" for k in range(8)]]
        assert frame["shape"][:4].tolist() == ["rises", "falls", "U", "threshold"]
        for k in range(4):
            assert abs(frame["correlation"].iloc[k] - spearmanr(X[:, k], y)[0]) < 1e-4
        table = selection.findings().set_index("feature")
        assert table.loc["x2", "shape"] == "U"
        assert "is high where it is low or high (a U)" in selection.explain("x2")
        again = Selection.from_json(selection.to_json())
        pd.testing.assert_frame_equal(again.to_frame(), selection.to_frame())


def test_two_classes_have_means_and_fold_changes(rng):
    """Oracle: pandas' means by class, log2 of their ratio, the pooled deviation by hand."""
    y = np.array(["well"] * 60 + ["ill"] * 40)
    X = np.column_stack([rng.gamma(5, size=100), rng.normal(size=100), rng.normal(size=100)])
    X[60:, 0] *= 2.5
    X[60:, 1] -= 1.5
    order = rng.permutation(100)
    for rows in (np.arange(100), order):
        frame = select(X[rows], y[rows], Recipe()).to_frame().set_index("feature")
        means = pd.DataFrame(X).groupby(y).mean()
        for k in range(3):
            row = frame.loc[f"x{k}"]
            np.testing.assert_allclose(row["mean_ill"], means.loc["ill", k], rtol=1e-3)
            np.testing.assert_allclose(row["mean_well"], means.loc["well", k], rtol=1e-3)
            within = [X[y == c, k].var(ddof=1) * (np.sum(y == c) - 1) for c in ("ill", "well")]
            apart = (means.loc["well", k] - means.loc["ill", k]) / np.sqrt(sum(within) / 98)
            np.testing.assert_allclose(row["difference_in_sd"], apart, rtol=2e-3, atol=1e-3)
        assert frame.loc[["x0", "x1"], "shape"].tolist() == ["up in ill", "up in well"]
        change = np.log2(means.loc["well", 0] / means.loc["ill", 0])
        np.testing.assert_allclose(frame.loc["x0", "log2_fold_change"], change, rtol=1e-2)
        assert np.isnan(frame.loc["x1", "log2_fold_change"])  # it has negative values
    said = select(X, y, Recipe()).explain("x0")
    assert "it is highest in class ill (mean" in said
    assert "(well over ill)" in said


def test_several_classes_and_small_ones(rng):
    """Law: no mean of fewer than five rows; the class of largest mean is named."""
    y = np.repeat(["a", "b", "c", "d"], [40, 40, 40, 3])
    X = rng.normal(size=(123, 6))
    X[40:80, 0] += 2
    selection = select(X, y, Recipe())
    frame = selection.to_frame().set_index("feature")
    assert [name for name in frame if name.startswith("mean_")] == ["mean_a", "mean_b", "mean_c"]
    assert "log2_fold_change" not in frame
    assert frame.loc["x0", "shape"] == "up in b"
    assert "highest in class b" in selection.explain("x0")


def test_all_that_could_be_selected_has_a_size(rng):
    """Law: whatever is selected, or by levels up to 0.5, is looked at, and 50 in any case."""
    X, y = rng.normal(size=(60, 300)), rng.normal(size=60)
    study = read_study(X, y)
    ranked, nominal, order = RankTable.of(study.columns), np.zeros(300, bool), rng.permutation(300)
    for n_found, n_selected, n_seen in ((0, 0, 50), (30, 40, 50), (260, 3, 260), (0, 70, 70)):
        q = np.full(300, 0.6)
        q[order[:n_found]] = 0.5
        trends = find_trends(study, ranked, order, order[:n_selected], q, nominal)
        assert trends.features.tolist() == order[:n_seen].tolist()
        assert len(trends.shapes) == len(trends.correlation) == n_seen
    q = np.where(np.arange(300) == order[200], 0.5, 0.6)  # which a level of 0.5 selects
    trends = find_trends(study, ranked, order, order[[3, 299]], q, nominal)
    assert trends.features.tolist() == order[[*range(50), 200, 299]].tolist()


def test_numbers_are_cut_as_they_are_printed(rng):
    """Oracle: Python's own four digits, of all sizes, halfway between two and next to a power."""
    halves, powers = np.arange(-20_001, 20_001) / 20, 10.0 ** np.arange(-30, 31)
    sizes = rng.standard_normal(20_000) * 10.0 ** rng.integers(-20, 21, 20_000)
    odd = [0.0, -0.0, np.inf, np.nan, 9999.5, 99995.0, 0.00099995, 5e-324, 1e308]
    values = np.concatenate([halves, 1000 + halves, powers, np.nextafter(powers, 0), sizes, odd])
    np.testing.assert_array_equal(rounded(values), [float(f"{v:.4g}") for v in values])


def test_what_is_told_of_a_smaller_group_has_a_shape(rng):
    """Oracle: the promise that every finding has a shape, and pandas' means by class.

    x0 is found alone within a larger group of smaller p-value, which tells the same again.
    """
    x = rng.normal(size=(300, 40))
    x[:, :3] = np.sqrt(0.8) * rng.normal(size=(300, 1)) + np.sqrt(0.2) * x[:, :3]
    X = pd.DataFrame(x, columns=[f"x{k}" for k in range(40)])
    y = pd.qcut(x[:, 0] + rng.normal(size=300), 3, labels=list("abc"))
    selection = SmRMR(fdr=0.3).fit(X, y).selection_
    assert "x0" in selection.selected_names
    evidence = selection.evidence
    alone = evidence.hypotheses[0][0]
    around = evidence.parents[alone]
    assert evidence.p_of_hypotheses[around] < evidence.p_of_hypotheses[alone]
    means = X.groupby(y, observed=True).mean()
    for level in (0.01, 0.1, 0.3, 0.5):
        found = selection.at(level).findings()
        assert (found["shape"] != "").all()
        expected = means[found["feature"]].T.to_numpy()
        np.testing.assert_allclose(found[[f"mean_{c}" for c in "abc"]], expected, rtol=1e-3)


def test_categories_have_no_direction(rng):
    x = rng.normal(size=(120, 3))
    frame = pd.DataFrame(x, columns=list("abc"))
    frame["d"] = pd.Categorical(np.where(rng.random(120) < 0.5, "no", "yes"))
    y = x[:, 0] + 2.0 * (frame["d"] == "yes") + 0.3 * rng.normal(size=120)
    for control in CONTROLS:
        table = select(frame, y, Recipe(control=control), rng=0).to_frame().set_index("feature")
        assert table.loc["d", "shape"] == "category"
        assert np.isnan(table.loc["d", "correlation"])


TWO, THREE = ["no", "yes"], ["red", "green", "blue"]


@pytest.mark.parametrize(
    ("target", "levels"),
    thinned(
        [
            (target, levels)
            for target in ("numbers", "classes", "outputs")
            for levels in (TWO, THREE)
        ],
        [("numbers", TWO), ("classes", THREE), ("outputs", TWO)],
    ),
)
def test_a_category_neither_rises_nor_falls(levels, target, rng):
    """Law: levels have no order, so rows in another order, which are read first, change no word."""
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    codes = rng.integers(0, len(levels), 120)
    frame["d"] = pd.Categorical(np.array(levels)[codes])
    frame["weak"] = pd.Categorical(rng.choice(levels, 120))
    y = 2.0 * (codes == 1) + frame["a"].to_numpy() + 0.5 * rng.normal(size=120)
    y = {"numbers": y, "classes": np.where(y > 1, "ill", "well"), "outputs": np.c_[y, y[::-1]]}
    turned = np.argsort(codes)[::-1]
    for rows in (np.arange(120), turned):
        found = select(frame.iloc[rows], y[target][rows], Recipe(fdr=0.1))
        table = found.to_frame().set_index("feature")
        assert (table.loc["d", "direction"], table.loc["d", "effect"] > 0) == ("category", True)
        assert found.findings().set_index("feature").loc["d", "direction"] == "category"
        what = "output 1" if target == "outputs" else "the target"
        assert f"this category is associated with {what} (" in found.explain("d")
        for feature in ("d", "weak"):
            assert not re.search("rises|falls|highest|-0", found.explain(feature))
        assert "as it rises" in found.explain("a") or target != "numbers"


def test_huge_values_and_outputs_have_sizes(rng):
    X = rng.normal(size=(100, 5))
    y = np.column_stack([rng.normal(size=100), -X[:, 0] + 0.1 * rng.normal(size=100)])
    selection = select(X * 1e300, y, Recipe(control="tests"))
    row = selection.to_frame().set_index("feature").loc["x0"]
    assert row["shape"] == "output 2 falls"
    assert row["correlation"] < -0.9
    assert "as it rises, output 2 falls" in selection.explain("x0")
    classes = np.where(X[:, 0] > 0, "b", "a")
    table = select(X * 1e307, classes, Recipe()).to_frame()
    assert np.isfinite(table[["mean_a", "mean_b", "difference_in_sd"]]).all(axis=None)


@pytest.mark.parametrize("control", [*CONTROLS, "tests(rule=by)"])
def test_near_misses_are_the_best_and_no_findings(nothing, control):
    """Oracle: sorting p-values or W."""
    selection = nothing[control]
    assert not selection.selected.size
    near = selection.near_misses()
    measured = "W" if control == "knockoffs" else "p_value"
    every = selection.to_frame()
    every = every[every["W"] > 0] if measured == "W" else every
    best = every.sort_values(measured, ascending=measured != "W", kind="stable")[:10]
    assert near["feature"].tolist() == best["feature"].tolist()
    np.testing.assert_array_equal(near[measured], best[measured])
    np.testing.assert_array_equal(near["q_value"], best["q_value"])
    assert set(near["status"]) == {"near miss, not a finding"}
    assert json.loads(selection.to_json())["near_misses"] == near.to_dict("records")
    letter = measured.replace("_value", "")
    first = f"not findings: {near['feature'][0]} ({letter} = {near[measured][0]:.2g})"
    assert first in str(selection)


def test_advice_works_when_followed(nothing):
    """Law: the level named selects as many as are named, and a slightly smaller one nothing."""
    selection = nothing["tests"]
    level = level_that_selects(selection)
    counted = re.search(r"\.at\(([\d.e-]+)\) selects (\d+) feature", str(selection))
    assert (float(counted[1]), int(counted[2])) == (level, len(selection.at(level).selected))
    assert int(counted[2]) > 0
    assert not selection.at(level * 0.99).selected.size
    worst = replace(selection.decision, q_values=np.ones(len(selection.decision.q_values)))
    hopeless = replace(selection, decision=worst)
    assert level_that_selects(hopeless) is None
    assert ".at(" not in str(hopeless)
    told = {control: 'control="tests"' in str(found) for control, found in nothing.items()}
    assert told == {"tests": False, "knockoffs": True, "tests(rule=by)": True}


@pytest.mark.parametrize(("smallest", "shown"), [(0.1, 0.1), (1 / 3, 0.334), (0.012341, 0.0124)])
def test_levels_are_rounded_up(nothing, smallest, shown):
    selection = nothing["tests"]
    q = np.full(len(selection.decision.q_values), smallest)
    decided = replace(selection, decision=replace(selection.decision, q_values=q))
    assert level_that_selects(decided) == shown


def test_what_a_level_can_find_is_told_beforehand():
    """Oracle: n_needed of a decision; Benjamini and Hochberg's line, and the harmonic sum."""
    assert "needs at least 5 features that stand out together." in detectable_effect(
        Recipe(fdr=0.2, control="knockoffs"), 100
    )
    several = Recipe(fdr=0.2, control=KnockoffFilter(n_draws=3))
    assert "at least 10 features" in detectable_effect(several, 100)
    assert "nothing can be selected" in detectable_effect(Recipe(fdr=0.05, control="paper"), 10)
    assert fewest_selectable(0.2) == 5
    assert "one p-value below about 0.002 is enough" in detectable_effect(Recipe(fdr=0.2), 100)
    by = 0.2 / 100 / np.sum(1 / np.arange(1, 101))
    assert f"below about {by:.1g} is" in detectable_effect(
        Recipe(fdr=0.2, control="tests(rule=by)"), 100
    )
    assert detectable_effect(Recipe(n_features=3), 100) == ""


@pytest.mark.parametrize("control", CONTROLS)
def test_so_many_features_are_the_best_without_guarantee(control, found):
    """Oracle: sorting by p-value or W; and every number up to all features is given."""
    selection = found[control]
    for n in (1, 7, 40, 100, 1000):
        some = selection.at(0.2, n_features=n)
        assert len(some.selected) == min(n, 100) == len(set(some.selected.tolist()))
        assert some.decision.rule == "n_features"
        assert not some.decision.guaranteed
        assert "without any guarantee" in str(some)
        again = Selection.from_json(some.to_json())
        assert again.selected.tolist() == some.selected.tolist()
    assert selection.at(0.2, n_features=5).at(0.2).decision.guaranteed
    for bad in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="n_features"):
            selection.at(0.2, n_features=bad)
        with pytest.raises(ValueError, match="n_features"):
            Recipe(n_features=bad)


def test_a_ranking_by_knockoffs_goes_by_w(found):
    """Oracle: sorting by W, ties by relevance."""
    selection = found["knockoffs"]
    best = np.lexsort((-selection.relevance, -selection.W))
    assert selection.at(0.2, n_features=30).selected.tolist() == best[:30].tolist()


def test_a_ranking_tells_no_finding_twice(rng):
    """Law: groups within groups come after all that shares no feature with a better one."""
    Z = rng.normal(size=(100, 6))
    X = np.hstack([Z + 0.3 * rng.normal(size=Z.shape) for _ in range(3)])  # 6 groups of 3
    y = Z[:, 0] + Z[:, 1] + 0.5 * rng.normal(size=100)
    selection = select(X, y, Recipe(n_features=18))
    assert sorted(selection.selected.tolist()) == list(range(18))
    first = select(X, y, Recipe(n_features=6))
    told = np.concatenate(first.members)
    assert len(set(told.tolist())) == len(told) > 6
    assert set(first.selected[:2] % 6) == {0, 1}
    single = select(X, y, Recipe(n_features=18, alike=None))
    assert (np.diff(single.p_values[single.selected]) >= 0).all()


def small(rng=None):
    """A study that is fitted in no time."""
    rng = np.random.default_rng(5) if rng is None else rng
    X = rng.normal(size=(90, 16))
    return X, X[:, :5].sum(axis=1) + 0.5 * rng.normal(size=90)


@pytest.mark.parametrize("control", ["tests", "knockoffs", "knockoffs(n_draws=2)"])
def test_kept_fits_are_fresh_fits(control, tmp_path):
    """Oracle: fits without memory, to the last bit; one fit in the folder, without any data."""
    X, y = small()
    settings = {"control": control, "random_state": 3}
    for fdr, more in ((0.1, {}), (0.5, {}), (0.01, {"on_empty": "best"}), (0.3, {"n_features": 4})):
        kept, fresh = (
            SmRMR(fdr, memory=memory, **settings, **more).fit(X, y).selection_
            for memory in (joblib.Memory(tmp_path, verbose=0), None)
        )
        one, two = (json.loads(selection.to_json()) for selection in (kept, fresh))
        assert one.pop("seconds").keys() == two.pop("seconds").keys()
        assert one == two
    assert len(list(tmp_path.rglob("output.pkl"))) == 1
    for path in tmp_path.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert not any(np.float64(v).tobytes() in content for v in y)
        assert not any(repr(float(v))[:8].encode() in content for v in X[:3, :3].ravel())


def test_other_data_and_other_settings_are_other_fits(tmp_path):
    """Law: whatever the evidence depends on makes another fit; a seed that is not known none."""
    X, y = small()
    base = SmRMR(0.3, control="knockoffs(lam=0.01)", random_state=0, memory=str(tmp_path))
    cases = [
        ({}, X, y), ({}, X[:, ::-1], y), ({}, X, -y), ({"random_state": 1}, X, y),
        ({"control__penalty": "l1"}, X, y), ({"always_keep": ["x3"]}, X, y),
        ({"keep_data": True}, X, y), ({}, pd.DataFrame(X).add_prefix("gene"), y),
    ]  # fmt: skip
    for n, (changes, X, y) in enumerate(cases, start=1):
        fitted = clone(base).set_params(**changes).fit(X, y)
        assert len(list(tmp_path.rglob("output.pkl"))) == n, changes
        fresh = clone(fitted).set_params(memory=None).fit(X, y)
        assert fitted.selection_.names == fresh.selection_.names
        np.testing.assert_array_equal(fitted.W_, fresh.W_)
    clone(base).set_params(random_state=None).fit(*small())
    kernels = [lambda a, b: (a @ b.T) ** 2, lambda a, b: (a @ b.T) ** 4]  # of one name
    one, two = (
        clone(base).set_params(control__measure=HSIC(kernel=kernel)).fit(*small()).W_
        for kernel in kernels
    )
    assert not np.array_equal(one, two)
    assert len(list(tmp_path.rglob("output.pkl"))) == len(cases)


def test_a_search_over_levels_fits_once_per_fold(tmp_path):
    """Oracle: the same search without memory, score by score; fits counted in the folder."""
    X, y = small()
    chain = make_pipeline(SmRMR(on_empty="best", memory=str(tmp_path)), LinearRegression())
    grid = {"smrmr__fdr": [0.05, 0.1, 0.2, 0.3, 0.5]}
    kept = GridSearchCV(chain, grid, cv=KFold(3), refit=False).fit(X, y)
    assert len(list(tmp_path.rglob("output.pkl"))) == 3
    chain.set_params(smrmr__memory=None)
    some = {"smrmr__fdr": [0.1, 0.5]}
    fresh = GridSearchCV(chain, some, cv=KFold(3), refit=False).fit(X, y)
    at = [1, 4]
    for name in ("split0_test_score", "split1_test_score", "split2_test_score"):
        assert kept.cv_results_[name][at].tolist() == fresh.cv_results_[name].tolist()


class Elements(HTMLParser):
    """Tags, attributes and text of a card."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.depth = [], [], "", 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.depth += 1

    def handle_endtag(self, tag):
        self.depth -= 1

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("control", CONTROLS)
def test_cards_and_lines_are_small_and_safe(control, found, nothing, tmp_path):
    """Law: names stay text; nothing is fetched; at most ten lines and a few kilobytes."""
    hostile = ("<script>alert(1)</script>", "a\nb\nc", "\x1b[31m", "é" * 500, "\ud800")
    for case in (found[control], nothing[control], found[control].at(0.2, n_features=60)):
        names = tuple(hostile[k % 5] + str(k) for k in range(case.n_features))
        for selection in (case, replace(case, names=names)):
            lines = repr(selection).split("\n")
            assert len(lines) < 10
            assert max(map(len, lines)) < 150
            card = selection._repr_html_()
            page = Elements(card)
            assert page.depth == 0
            assert {"script", "img", "link", "iframe"}.isdisjoint(page.tags)
            assert "http" not in card
            assert len(card.encode()) < 8000
            for q in selection.decision.q_values[selection.decision.selected[:5]]:
                assert f"{q:.2g}" in page.text
    selection = found[control]
    assert 'report("report.html") writes' in selection._repr_html_()
    selection.report(tmp_path / "a b.html")
    (link,) = [value for name, value in Elements(selection._repr_html_()).attributes
               if name == "href"]  # fmt: skip
    assert link.endswith("a%20b.html")
    assert "near misses, which are no findings" in repr(nothing[control])
    assert "without guarantee" in repr(found[control].at(0.2, n_features=3))


def test_progress_in_a_notebook_without_widgets_is_one_line(monkeypatch, capsys):
    """Law: no warning (warnings are errors here), and one line, however many steps there are."""
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("smrmr.runs.progress.find_spec", lambda name: None)
    with progress_bars() as show:
        for stage in ("scores", "tests"):
            for done in range(1001):
                show(stage, done, 1000)
    written = capsys.readouterr().err
    assert written.count("\n") == 1
    assert written.startswith("scores, tests, done in ")


def test_progress_is_shown_on_request(capsys, rng):
    """Oracle: the stages that are told; the same answer as without."""
    X, y = rng.normal(size=(40, 8)), rng.normal(size=40)
    quiet = select(X, y)
    assert capsys.readouterr().err == ""
    assert select(X, y, progress=True).to_frame().equals(quiet.to_frame())
    assert "tests" in capsys.readouterr().err
    check(X, y, n_fits=1, progress=False)
    assert capsys.readouterr().err == ""
    check(X, y, n_fits=1, progress=True)
    assert "trials" in capsys.readouterr().err


def test_progress_in_a_notebook_with_widgets_uses_them(monkeypatch):
    """Law: with ipywidgets bars are drawn into a widget, which is shown once."""
    from types import ModuleType

    shown, cleared = [], []

    class Output:
        def clear_output(self, wait):
            cleared.append(wait)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False

    widgets, display = ModuleType("ipywidgets"), ModuleType("IPython.display")
    widgets.Output, display.display = Output, lambda *things, **_: shown.extend(things)
    monkeypatch.setitem(sys.modules, "ipywidgets", widgets)
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr("smrmr.runs.progress.find_spec", lambda name: widgets)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    with progress_bars() as show:
        show("scores", 1, 2)
        show("scores", 2, 2)
    assert sum(isinstance(thing, Output) for thing in shown) == 1
    assert cleared


@pytest.fixture
def table(tmp_path):
    X, y = small()
    path = tmp_path / "my table.csv"
    frame = pd.DataFrame(X).add_prefix("x").assign(age=1.0 + np.arange(90) % 7, y=y)
    frame.to_csv(path, index=False)
    return path


def invoke(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.mark.parametrize("method", ["mrmr", "sis", "hsic-lasso", "smrmr"])
def test_rank_prints_and_writes_the_ranking_of_the_estimator(method, table, tmp_path):
    """Oracle: the estimators, fitted on the same table."""
    out = tmp_path / "ranking.csv"
    asked = ["rank", table, "--target", "y", "--method", method, "-k", 6, "--drop", "age"]
    done = invoke(*asked, "--out", out)
    assert done.exit_code == 0, done.output
    assert "without guarantee" in done.stdout
    written = pd.read_csv(out)
    assert written["rank"].tolist() == [1, 2, 3, 4, 5, 6]
    frame = pd.read_csv(table)
    X, y = frame.drop(columns=["y", "age"]), frame["y"]
    if method == "smrmr":
        expected = SmRMR(n_features=6).fit(X, y).selection_.selected_names
    else:
        fitted = {"mrmr": MRMR, "sis": SIS, "hsic-lasso": HSICLasso}[method](6).fit(X, y)
        expected = X.columns[np.argsort(fitted.ranking_)[:6]].tolist()
        scores = fitted.scores_[np.argsort(fitted.ranking_)[:6]]
        np.testing.assert_allclose(written["score"], scores)
    assert written["feature"].tolist() == expected
    told = json.loads(invoke(*asked, "--json").stdout)
    assert [row["feature"] for row in told["ranking"]] == expected
    assert (told["method"], told["guaranteed"]) == (method, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "y", "-k", "0"], "-k 0 is no number of features"),
        (["--target", "y", "--method", "best"], "--method best is not known. Use 'mrmr'"),
        (["--target", "nope"], "nope"),
        (["--time", "age"], "both --time COLUMN and --event COLUMN"),
        (["--target", "y", "--out", "."], "--out . is a folder"),
    ],
)
def test_rank_refuses_in_one_message(arguments, message, table):
    done = invoke("rank", table, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    ("options", "fdr", "n_levels"),
    [
        (["--control", "knockoffs", "--lam", "0.01"], 0.02, 1),
        (["--rule", "by"], 1e-9, 0),
        ([], 1e-9, 0),
    ],
)
def test_an_empty_answer_names_commands_that_work(
    options, fdr, n_levels, table, tmp_path, monkeypatch
):
    """Law: whatever the terminal says to type next can be typed, and does what it says."""
    monkeypatch.chdir(tmp_path)
    more = ["--covar-name", "age", *options]
    for k in range(5):
        more += ["--drop", f"x{k}"]
    done = invoke("select", table, "--target", "y", "--fdr", fdr, *more)
    assert done.exit_code == 0, done.output
    assert "Near misses, to be tested on new data" in " ".join(done.stdout.split())
    assert f"Level {fdr:g} " in " ".join(done.stderr.split())
    commands = [line.strip() for line in done.stdout.splitlines() if line.startswith("  smrmr ")]
    first = [shlex.split(command)[:2] for command in commands[:2]]
    assert first == [["smrmr", "check"], ["smrmr", "plan"]]  # tried out in tests/test_cli_check.py
    commands = commands[2:]
    assert commands
    lengths = []
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "smrmr"
        again = invoke(*arguments, "--json")
        assert again.exit_code == 0, (command, again.output)
        told = json.loads(again.stdout)
        assert told["covariates"] == ["age"]
        assert {"x0", "x4", "age"}.isdisjoint(told["names"])
        lengths.append(len(told["selected"]))
    assert lengths[-1] == 10  # by number
    assert [int(n) for n in re.findall(r"selects (\d+) feature", done.stdout)] == lengths[:n_levels]
    full = invoke("select", table, "--target", "y", "--out", tmp_path / "full")
    assert "What next" not in full.stdout


def test_select_gives_so_many_features(table, tmp_path):
    """Oracle: the ranking in Python; selected.csv has direction and size."""
    out = tmp_path / "out"
    done = invoke("select", table, "--target", "y", "--n-features", 5, "--out", out)
    assert done.exit_code == 0, done.output
    assert "ranking without any guarantee" in " ".join(done.stdout.split())
    assert "Level" not in done.stderr
    frame = pd.read_csv(table)
    expected = SmRMR(n_features=5).fit(frame.drop(columns="y"), frame["y"]).selection_
    written = pd.read_csv(out / "selected.csv")
    assert written["feature"].tolist() == expected.selected_names
    assert {"direction", "effect", "shape", "correlation"} <= set(written)
    assert "does not hold for this list" in (out / "report.html").read_text()
