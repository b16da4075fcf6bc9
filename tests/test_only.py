"""Questions about some features given all others: what is tested, counted, reported and refused."""

from __future__ import annotations

import json

import joblib
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import smrmr
from questions import CASES, numbers
from smrmr import Recipe, Selection, SmRMR, select, simulate
from smrmr.cli.commands import app
from smrmr.conditional import preparing
from smrmr.conditional.distillers import Distillation
from smrmr.report.words import say

ASKED = [0, 3, 7, 12]


def benjamini_hochberg(p):
    """Literally: the smallest level that selects each, from the largest p-value down."""
    q, best = np.empty(len(p)), 1.0
    order = np.argsort(p)
    for rank in range(len(p), 0, -1):
        best = min(best, p[order[rank - 1]] * len(p) / rank)
        q[order[rank - 1]] = best
    return q


@pytest.mark.parametrize("case", CASES)
def test_p_values_are_those_of_a_test_of_all(case, rng):
    """Oracle: all features tested, of which these are some; q-values count these alone."""
    make, target = CASES[case]
    X, y = make(rng)
    every = select(X, y, Recipe(alike=None, target=target))
    some = select(X, y, Recipe(alike=None, target=target, only=ASKED))
    np.testing.assert_allclose(some.p_values[ASKED], every.p_values[ASKED], rtol=1e-12)
    np.testing.assert_allclose(
        some.evidence.effects[0][:, ASKED], every.evidence.effects[0][:, ASKED], rtol=1e-9
    )
    for name in ("neighbours", "similarity", "residual_variance", "freedom"):
        one, other = (getattr(found.evidence, name)[..., ASKED] for found in (some, every))
        np.testing.assert_allclose(one, other, rtol=1e-9)
    for one, other in zip(some.evidence.fits, every.evidence.fits, strict=True):
        assert one.used.tolist() == other.used.tolist()
    np.testing.assert_allclose(some.q_values[ASKED], benjamini_hochberg(some.p_values[ASKED]))
    alone = some.layer("associated")
    np.testing.assert_allclose(alone.p_values[ASKED], every.alone.p[ASKED], rtol=1e-12)
    np.testing.assert_allclose(alone.q_values[ASKED], benjamini_hochberg(alone.p_values[ASKED]))


def test_only_features_of_interest_are_reported(rng):
    """Law: whatever an answer names, in any layer, table or sentence, is of interest."""
    X, y = numbers(rng)
    some = select(X, y, Recipe(only=ASKED, accuracy=True))
    assert set(some.selected) == {0, 3}
    assert set(some.layer("associated").features) == {0, 3}
    assert {*some.panel.features} <= {*ASKED}
    assert some.panel.accuracy.mean_associated < 3  # 1 and 4 would make it four
    assert some.layer("own").tested.tolist() == ASKED
    assert {*some.near_miss_positions()} <= {*ASKED}
    assert {*some.plot_data.features} <= {*ASKED}
    others = np.setdiff1d(np.arange(40), ASKED)
    assert set(some.outcomes[others]) == {"only adjusted for"}
    table = some.to_frame().set_index("feature")
    assert (table.loc[[f"x{k}" for k in others], ["p_value", "p_value_alone"]] == 1).all(axis=None)
    assert table.index[:4].tolist() == [f"x{k}" for k in some.selected] + [
        f"x{k}" for k in sorted({7, 12}, key=lambda k: some.p_values[k])
    ]
    assert some.explain("x1") == (
        "x1 is not among the features of interest: it was adjusted for and not tested."
    )
    assert str(some).startswith("2 of 4 features of interest are associated with the target")
    assert "of 4 features of interest and 100 rows" in repr(some)
    assert "4 features of interest were tested" in say(some, "methods")
    assert "Which of 4 features of interest" in say(some, "question")


def test_answers_can_be_kept(rng, tmp_path):
    """Oracle: the answer itself; what is asked about makes another fit and another run."""
    X, y = numbers(rng)
    some = select(X, y, Recipe(only=ASKED))
    again = Selection.from_json(some.to_json())
    assert again.of_interest.tolist() == ASKED
    assert again.outcomes.tolist() == some.outcomes.tolist()
    assert json.loads(some.to_json())["settings"]["only"] == ASKED
    some.report(tmp_path / "report.html")
    memory = joblib.Memory(tmp_path / "memory", verbose=0)
    for n, only in enumerate((None, [0], [0, 3]), start=1):
        fitted = SmRMR(only=only, memory=memory).fit(X, y)
        assert len(list(tmp_path.rglob("output.pkl"))) == n
        assert fitted.selection_.n_of_interest == (40 if only is None else len(only))
    select(X, y, Recipe(only=[0]), 0, run_dir=tmp_path / "run")
    with pytest.raises(ValueError, match="only"):
        select(X, y, Recipe(only=[3]), 0, run_dir=tmp_path / "run")


def test_look_alikes_are_grouped_among_features_of_interest(rng):
    """Oracle: the groups of a table; a look-alike that is not of interest is adjusted for."""
    signal = rng.standard_normal((120, 1))
    X = np.hstack([signal + 0.4 * rng.standard_normal((120, 3)), rng.standard_normal((120, 20))])
    y = signal[:, 0] + 0.5 * rng.standard_normal(120)
    every = select(X, y, Recipe(alike=0.6))
    assert [set(group) for group in every.members] == [{0, 1, 2}]
    some = select(X, y, Recipe(alike=0.6, only=[0, 1, 5]))
    assert sorted(np.unique(some.evidence.hypotheses[0]).tolist()) == [-1, 0, 1]
    assert set(some.evidence.members_of(int(some.evidence.hypotheses[0][0]))) == {0, 1}
    assert some.p_values[0] > every.p_values[0]
    given = select(X, y, Recipe(feature_groups=["a"] * 3 + [None] * 20, only=[1, 2]))
    assert set(given.evidence.members_of(0)) == {1, 2}
    assert given.groups()["members"].tolist() in (["x1 x2"], ["x2 x1"])


def test_no_other_feature_links_look_alikes(rng):
    """Oracle: average linkage by hand. 0 and 2 correlate by about 0.6, each with 1 by 0.9."""
    both, own = rng.standard_normal((2, 300, 2))
    X = np.column_stack([both[:, 0] + both[:, 1], 2 * both[:, 0], both[:, 0] - both[:, 1]])
    X = np.column_stack([X + 0.3 * rng.standard_normal((300, 3)), own])
    X[:, [0, 2]] += both[:, [0]]
    y = both[:, 0] + rng.standard_normal(300)
    r = np.abs(pd.DataFrame(X[:, :3]).corr("spearman").to_numpy())
    assert r[0, 2] < 0.65 < (r[0, 2] + max(r[0, 1], r[1, 2])) / 2 < min(r[0, 1], r[1, 2])
    together = select(X, y, Recipe(alike=0.65)).evidence.hypotheses[0]
    apart = select(X, y, Recipe(alike=0.65, only=[0, 2])).evidence.hypotheses[0]
    assert together[0] == together[1] == together[2]
    assert sorted(apart[[0, 2]]) == [0, 1]


def test_the_panel_goes_by_the_level_among_features_of_interest(rng):
    """Oracle: one p-value that passes alone, and not among forty."""
    X = rng.standard_normal((100, 40))
    y = 0.25 * X[:, 7] + rng.standard_normal(100)
    every = select(X, y)
    k = int(np.argmin(np.abs(np.log(every.alone.p / 0.02))))
    assert 0.005 < every.alone.p[k] < 0.08
    assert not every.associated.any()
    assert every.panel.features.size == 0
    some = select(X, y, Recipe(only=[k]))
    assert some.layer("associated").features.tolist() == some.panel.features.tolist() == [k]


def test_copies_are_of_interest_together(rng):
    """Law: a copy carries the same information, so it is no feature to adjust for."""
    X, y = numbers(rng)
    twice = np.column_stack([X, -X[:, 3]])
    some = select(twice, y, Recipe(alike=None, only=[40]))
    alone = select(X, y, Recipe(alike=None, only=[3]))
    assert some.p_values[40] == pytest.approx(alone.p_values[3], rel=1e-9)
    assert some.of_interest.tolist() == [3, 40]
    assert some.outcome(40) == "selected copy"


def test_names_positions_and_every_caller_ask_the_same(rng, tmp_path):
    """Oracle: `select` with positions; selector, AnnData and command by names."""
    import anndata

    X, y = numbers(rng)
    frame = pd.DataFrame(X).add_prefix("g").rename(columns={"g7": "g7,b"})
    expected = select(frame, y, Recipe(only=[0, 7]))
    fitted = SmRMR(only=["g0", "g7,b"]).fit(frame, y)
    np.testing.assert_array_equal(fitted.selection_.p_values, expected.p_values)
    assert fitted.get_feature_names_out().tolist() == expected.selected_names == ["g0"]
    one = select(frame, y, Recipe(only="g0"))
    assert one.q_values[0] == one.p_values[0] == expected.p_values[0]
    adata = anndata.AnnData(frame, obs=pd.DataFrame({"y": y}, index=frame.index.astype(str)))
    smrmr.anndata.select(adata, "y", recipe=Recipe(only=["g0", "g7,b"]))
    np.testing.assert_allclose(adata.var["smrmr_p_value"], expected.p_values, rtol=1e-9)
    assert json.loads(adata.uns["smrmr"]["settings"]["only"]) == ["g0", "g7,b"]
    frame.assign(y=y).to_csv(tmp_path / "table.csv", index=False)
    start = ["select", str(tmp_path / "table.csv"), "--target", "y", "--no-accuracy", "--json"]
    for given in (["--only", "g0", "--only", "g7,b"], ["--only", "g0,g3"]):
        done = CliRunner().invoke(app, [*start, *given, "--out", str(tmp_path / given[-1])])
        assert done.exit_code == 0, done.output
        saved = Selection.from_json((tmp_path / given[-1] / "selection.json").read_text())
        asked = ["g0", "g7,b" if len(given) > 2 else "g3"]
        assert [saved.names[k] for k in saved.of_interest] == asked
        assert saved.settings["only"] == asked


def test_the_command_is_echoed_with_what_was_asked(rng, tmp_path):
    """Oracle: the options that were typed."""
    X, y = rng.standard_normal((60, 10)), rng.standard_normal(60)
    pd.DataFrame(X).add_prefix("g").assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    asked = ["select", str(tmp_path / "t.csv"), "--target", "y", "--only", "g1,g2"]
    done = CliRunner().invoke(app, [*asked, "--no-accuracy", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "among 2 features" in done.output
    assert "--only g1,g2" in done.output.split("What next")[1]


def test_many_features_are_adjusted_for_and_those_of_interest_tested(rng, monkeypatch):
    """Law: what is of interest is tested however little associated it is."""
    X, y = numbers(rng)
    last = int(np.argsort(select(X, y).relevance)[0])
    monkeypatch.setattr(preparing, "MAX_TESTED", 10)
    assert select(X, y, Recipe(alike=None)).outcome(last) == "not tested"
    some = select(X, y, Recipe(alike=None, only=[last]))
    assert some.outcome(last) == "not significant"
    assert some.evidence.tested.tolist() == [last]


def test_questions_that_cannot_be_asked_are_refused(rng):
    X, y = numbers(rng)
    constant = np.column_stack([X, np.ones(100)])
    for control in ("knockoffs", "paper"):
        with pytest.raises(ValueError, match=r"only=\[0\].*control='tests'"):
            Recipe(only=[0], control=control)
    for given, match in {
        "x99": "only: there is no feature 'x99'",
        40: "only: feature 40 is not between 0 and 39",
        (): r"only=\(\) names no feature",
        (True, False): "only is a mask",
    }.items():
        with pytest.raises(ValueError, match=match):
            select(X, y, Recipe(only=given))
    with pytest.raises(ValueError, match="only and always_keep both name 'x3'"):
        select(X, y, Recipe(only=["x3", "x5"], always_keep=["x3"]))
    with pytest.raises(ValueError, match="every feature of only is constant"):
        select(constant, y, Recipe(only=[40]))


def test_few_features_are_fitted_without(monkeypatch):
    """Oracle: the number of fits of the target, which are counted."""
    data = simulate("1.d", 80, 95, random_state=0)
    fit, fits = Distillation._fit, []

    def counted(self, out):
        fits.append(out)
        return fit(self, out)

    monkeypatch.setattr(Distillation, "_fit", counted)
    select(data.X, data.y, Recipe(alike=None, only=[0, 10]))
    assert len(fits) == 3  # of all, and without each of the two, which are true
    select(data.X, data.y, Recipe(alike=None))
    assert len(fits) > 3 + 5
