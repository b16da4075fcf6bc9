"""Plans: rows of a pilot, of its copula, or of a few numbers, and what they add up to."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import chisquare, norm
from sklearn.covariance import ledoit_wolf_shrinkage

from smrmr import Recipe, plan
from smrmr.data import open_columns
from smrmr.data.study import read_study
from smrmr.pipeline import groups_from
from smrmr.power.account import SamplePlan
from smrmr.power.words import words_of_plan
from smrmr.problems import Problem
from smrmr.trials.copula import Copula, shrinkage_of
from smrmr.trials.planting import candidates_of
from smrmr.trials.sources import Pilot, Simulated
from thinned import thinned

N, P = 40, 8
HOW = {"strengths": 0.5, "n_fits": 4, "precision": 1e-6, "rng": 3}


def table(n=N, p=P):
    rng = np.random.default_rng(17)
    return rng.standard_normal((n, p)), rng.standard_normal(n)


def pilot(X, y, target="auto", recipe=None, **of_rows):
    """A pilot that can draw any number of rows."""
    recipe = Recipe() if recipe is None else recipe
    known = {"always_keep": recipe.always_keep, "only": recipe.only, "partners": recipe.partners}
    study = read_study(X, y, target, **of_rows, **known)
    return Pilot(study, candidates_of(study, groups_from(study, recipe), "all"), Copula.of(study))


def same(found, expected):
    assert_array_equal(found.cell_of, expected.cell_of)
    assert_array_equal(found.outcomes, expected.outcomes)


# rows of the pilot


@pytest.mark.parametrize("n_rows", [10, 27, 39, 40])
def test_up_to_its_number_rows_of_the_pilot_are_drawn_once(n_rows, rng):
    """Oracle: rows found by their values; each is drawn as often, with its own target."""
    X, y = table()
    source, drawn = pilot(X, y), np.zeros(N, int)
    for _ in range(200):
        study, candidates = source.draw(n_rows, rng)
        rows = np.argmax(study.columns.values[:, :1] == X[:, 0], axis=1)
        assert len(np.unique(rows)) == n_rows
        assert_array_equal(study.columns.values, X[rows])
        assert_array_equal(study.target.values, y[rows])
        assert_array_equal(candidates, np.arange(P))
        drawn[rows] += 1
    assert_allclose(drawn / 200, n_rows / N, atol=0.18)  # 5 standard errors
    # spread: neighbours in the order of y share a place, or are next to each other
    gaps = np.diff(np.flatnonzero(np.isin(np.argsort(y), rows)))
    assert gaps.max(initial=1) <= 2 * np.ceil(N / n_rows)


def test_classes_and_events_have_the_shares_of_the_pilot(rng):
    """Oracle: shares by hand; classes that are gone are not named."""
    X, _ = table(100)
    y = np.repeat(["a", "b", "c"], [50, 40, 10])
    for n_rows, counts in ((20, [10, 8, 2]), (60, [30, 24, 6]), (300, [150, 120, 30])):
        study, _ = pilot(X, y).draw(n_rows, rng)
        found = pd.Series(study.target.labels)[study.target.values.astype(int)].value_counts()
        assert_allclose(found[["a", "b", "c"]], counts, atol=1)
    times = pd.DataFrame({"event": np.arange(100) % 4 == 0, "time": rng.exponential(size=100)})
    for n_rows in (20, 60, 300):
        study, _ = pilot(X, times, "survival").draw(n_rows, rng)
        time, event = study.target.derived_from
        assert event.mean() == pytest.approx(0.25, abs=3 / n_rows)
        pairs = set(zip(times["time"], times["event"], strict=True))
        assert {(t, bool(e)) for t, e in zip(time, event, strict=True)} <= pairs


@pytest.mark.parametrize("n_rows", [12, 40, 90])
def test_groups_of_rows_are_drawn_whole(n_rows, rng):
    """Oracle: sizes by hand, and no group twice; groups that come again are others."""
    X, y = table()
    codes = np.repeat(np.arange(10), 4)
    source = pilot(X, y, groups=codes)
    for _ in range(10):
        study, _ = source.draw(n_rows, rng)
        groups = study.row_groups
        assert groups.n_groups == len(np.unique(groups.codes)) == -(-n_rows // 4)
        sizes = np.bincount(groups.codes)
        assert sorted(sizes)[1:] == [4] * (groups.n_groups - 1)
        assert sizes.sum() == n_rows
        of_pilot = codes[np.argmax(study.target.values[:, None] == y, axis=1)]
        assert all(len(set(of_pilot[groups.codes == g])) == 1 for g in range(groups.n_groups))
        if n_rows <= N:
            assert len(set(of_pilot)) == groups.n_groups


def test_covariates_are_those_of_the_rows(rng):
    """Oracle: the target is a covariate and little more, before and after."""
    X, age = table()
    source = pilot(X, age + 1e-3 * X[:, 0], covariates={"age": age, "sex": np.arange(N) % 2})
    for n_rows in (20, 80):
        study, _ = source.draw(n_rows, rng)
        given = study.covariates.one_by_one[0]
        assert np.corrcoef(np.argsort(np.argsort(given[:, 0])), study.target.values)[0, 1] > 0.9
        assert set(map(tuple, given[:, 1:])) == {(0.0, 1.0), (1.0, 0.0)}


def test_nothing_is_planted_on_what_is_constant_in_the_rows_drawn(rng):
    """Oracle: a feature that few rows have alone."""
    X, y = table()
    X[:, 3] = np.arange(N) % 8 == 7
    source, varies = pilot(X, y), set()
    for _ in range(30):
        study, candidates = source.draw(12, rng)
        vary = 3 in candidates
        assert vary == (np.ptp(study.columns.values[:, 3]) > 0)
        varies.add(vary)
    assert varies == {True, False}


# rows beyond the pilot


def test_the_copula_keeps_every_distribution(rng):
    """Oracle: every value as often as in the pilot, to the row; rare ones and categories too."""
    X, y = table()
    frame = (
        pd.DataFrame(X)
        .add_prefix("x")
        .assign(
            rare=(np.arange(N) < 5).astype(np.int8),
            genotype=rng.choice(3, N, p=[0.7, 0.2, 0.1]),
            level=pd.Categorical(rng.choice(list("uvw"), N)),
            skewed=np.exp(3 * X[:, 0]),
            same=2.5,
        )
    )
    for of_rows in ({}, {"covariates": {"site": np.arange(N) % 2}}):
        source = pilot(frame, y, **of_rows)
        before = source.study.columns
        for n_rows in (2 * N, 2 * N + 13):
            study, _ = source.draw(n_rows, rng)
            after = study.columns
            assert (after.names, after.values.dtype) == (before.names, before.values.dtype)
            assert_array_equal(after.nominal, before.nominal)
            for one, more in zip(before.values.T, after.values.T, strict=True):
                levels, counts = np.unique(one, return_counts=True)
                found, times = np.unique(more, return_counts=True)
                assert set(found) <= set(levels)
                assert_allclose(times, counts[np.isin(levels, found)] * n_rows / N, atol=1)


def correlated(n, rng):
    """Three blocks of four, correlated by 0.9, and noise."""
    blocks = np.repeat(rng.standard_normal((n, 3)), 4, axis=1)
    return np.column_stack(
        [0.949 * blocks + 0.316 * rng.standard_normal((n, 12)), rng.standard_normal((n, 188))]
    )


def test_the_copula_keeps_correlations_above_chance_and_shrinks_others():
    """Oracle: correlations of the pilot, and none of noise; all shrunk alike the first were 0.3."""
    rng = np.random.default_rng(2)
    X = correlated(60, rng)
    copula = Copula.of(read_study(X, rng.standard_normal(60)))
    assert 0.5 < copula.shrinkage < 0.95
    drawn = copula.draw(rng.integers(0, 60, 4000), rng)
    before, after = np.corrcoef(X.T), np.corrcoef(drawn.T)
    block = np.equal.outer(np.arange(200) // 4, np.arange(200) // 4) & ~np.eye(200, dtype=bool)
    block[12:] = False
    assert_allclose(after[block], before[block], atol=0.06)
    noise = ~block & ~np.eye(200, dtype=bool)
    slope = np.sum(after[noise] * before[noise]) / np.sum(before[noise] ** 2)
    assert slope == pytest.approx(1 - copula.shrinkage, abs=0.06)


def test_copies_and_what_neighbours_tell_stay_so(rng):
    """Oracle: equality of columns, of opposite ones, and of a sum of two."""
    X, y = table(60)
    X[:, 3], X[:, 5] = X[:, 1], -X[:, 2]
    copula = Copula.of(read_study(X, y))
    drawn = copula.draw(np.arange(60).repeat(3), rng)
    assert_array_equal(drawn[:, 3], drawn[:, 1])
    assert_array_equal(drawn[:, 5], -drawn[:, 2])


def test_what_covariates_say_of_features_is_kept(rng):
    """Oracle: means by level in the pilot and in new rows."""
    n = 200
    site = rng.choice(list("uvw"), n)
    X = rng.standard_normal((n, 5)) + 2 * (site == "u")[:, None]
    source = pilot(X, rng.standard_normal(n), covariates={"site": site})
    study, _ = source.draw(1000, rng)
    levels = study.covariates.design.argmax(axis=1)
    before = pd.DataFrame(X).groupby(source.study.covariates.design.argmax(axis=1)).mean()
    after = pd.DataFrame(study.columns.values).groupby(levels).mean()
    assert_allclose(after, before, atol=0.35)
    assert before.max().min() > 1.5


@pytest.mark.parametrize(("n", "p"), [(20, 5), (30, 100), (60, 30)])
def test_shrinkage_is_that_of_ledoit_and_wolf(n, p, rng):
    """Oracle: scikit-learn, of standardised columns."""
    X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, p)) + rng.standard_normal((n, p))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = ledoit_wolf_shrinkage(Z, assume_centered=True)
    assert shrinkage_of(X) == pytest.approx(expected)
    assert shrinkage_of(np.column_stack([X, np.ones(n)])) == pytest.approx(expected)


# plans of pilots


@pytest.mark.parametrize(
    "kind",
    thinned(
        ["plain", "covariates", "groups", "means", "survival", "classes"], ["groups", "survival"]
    ),
)
def test_plans_of_pilots_of_every_kind(kind):
    """Oracle: numbers of rows by hand, and counts that are possible."""
    X, y = table()
    target, of_rows = "auto", {}
    if kind == "covariates":
        of_rows = {"covariates": {"age": y[::-1], "sex": np.arange(N) % 2}}
    elif kind in ("groups", "means"):
        of_rows = {"groups": np.repeat(np.arange(20), 2)}
        of_rows |= {"aggregate": "mean"} if kind == "means" else {}
    elif kind == "survival":
        y, target = pd.DataFrame({"event": y > -0.5, "time": np.exp(y)}), "survival"
    elif kind == "classes":
        y = np.repeat(["a", "b", "c"], [20, 17, 3])
    found = plan(X, y, Recipe(target=target), **of_rows, **HOW | {"strengths": 0.9})
    n = 20 if kind == "means" else N
    assert [cell.n_rows for cell in found.cells] == [n // 2, n, 2 * n, 4 * n]
    assert (found.n_pilot, found.drawn_from, found.n_fits) == (n, "pilot", 4)
    assert (found.outcomes[:, 1, 0] == 1).all()
    assert (found.outcomes[..., 1] <= found.outcomes[..., [0, 2]].min(axis=2)).all()
    assert found.outcomes[-1, 0, 1] == 1  # an effect that is nearly all, in most rows
    same(SamplePlan.from_json(found.to_json()), found)


RECIPES = {
    "some": Recipe(always_keep=["x0"], only=["x1", "x2", "x5"], partners=["x3"]),
    "groups": Recipe(feature_groups=[0, 0, 1, 1, 2, 2, 3, 3]),
    "knockoffs": Recipe(control="knockoffs"),
}


@pytest.mark.parametrize("which", thinned(RECIPES, ["some"]))
def test_plans_by_recipes_of_every_kind(which):
    """Oracle: counts that are possible; features that are not tested are not planted on."""
    (X, y), recipe = table(), RECIPES[which]
    found = plan(X, y, recipe, n_rows=(30, 80), **HOW)
    assert (found.outcomes[:, 1, 0] == 1).all()
    assert (found.outcomes[..., 3] <= found.outcomes[..., 2]).all()
    drawn = pilot(X, y, recipe=recipe).draw(80, np.random.default_rng(0))[1]
    assert_array_equal(drawn, [1, 2, 5] if recipe.only else np.arange(P))


def test_pilots_in_files_and_sparse_matrices(tmp_path):
    """Oracle: the same columns as an array."""
    X, y = table()
    X[X < 0] = 0
    np.save(tmp_path / "X.npy", X)
    how = HOW | {"n_rows": (30, 80), "n_fits": 2}
    expected = plan(X, y, **how)
    for other in (open_columns(tmp_path / "X.npy"), sparse.csc_array(X)):
        same(plan(other, y, **how), expected)


def test_a_plan_goes_on_and_more_fits_extend_fewer(tmp_path):
    """Oracle: five fits at once, of rounds that take every number of rows once."""
    X, y = table()
    how = HOW | {"n_rows": (20, 50), "n_fits": 5}
    whole = plan(X, y, **how)
    assert whole.cell_of.tolist() == [0, 1, 0, 1, 0]
    few = plan(X, y, **how | {"n_fits": 3}, run_dir=tmp_path)
    assert_array_equal(few.outcomes, whole.outcomes[:3])
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("stage*")}
    same(plan(X, y, **how, run_dir=tmp_path), whole)
    assert len(kept) == 3
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    with pytest.raises(ValueError, match="holds another run"):
        plan(X, y, **how | {"n_rows": (20, 60)}, run_dir=tmp_path)


# plans without a pilot


def test_features_without_a_pilot_have_the_correlation(rng):
    """Oracle: powers of it by distance, and the normal distribution."""
    study, candidates = Simulated(5, 0.6).draw(20_000, rng)
    apart = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    assert_allclose(np.corrcoef(study.columns.values.T), 0.6**apart, atol=0.04)
    ends = np.quantile(study.columns.values[:, 0], [0.1, 0.9])
    assert_allclose(ends, norm.ppf([0.1, 0.9]), atol=0.06)
    assert candidates.tolist() == [0, 1, 2, 3, 4]


def test_targets_without_a_pilot_have_the_shares(rng):
    """Oracle: counts by hand; where there are events is by chance."""
    study, _ = Simulated(4, 0.0, "classes", class_shares="0.5,0.3,0.2").draw(50, rng)
    counts = np.bincount(study.target.values.astype(int))
    assert dict(zip(study.target.labels, counts, strict=True)) == {"0": 25, "1": 15, "2": 10}
    events = []
    for _ in range(200):
        study, _ = Simulated(4, 0.0, "survival", event_share=0.3).draw(20, rng)
        time, event = study.target.derived_from
        assert event.sum() == 6
        events += np.flatnonzero(event[np.argsort(time)]).tolist()
    assert chisquare(np.bincount(events, minlength=20)).pvalue > 1e-4


def test_more_rows_find_more():
    """Oracle: certainty, and next to nothing; the crossing between the two by hand."""
    found = plan(p=20, n_rows=(12, 200), strengths=0.2, n_fits=6, precision=1e-6)
    few, many = found.power(0), found.power(1)
    assert few.mean < 0.3
    assert many.mean == 1.0
    share = (0.8 - few.mean) / (many.mean - few.mean)
    expected = 12 * (200 / 12) ** share
    assert found.rows_needed("line", 0.2).at == pytest.approx(expected)
    assert f"{expected:,.0f} rows" in str(found)
    assert [*found.effects()] == [("line", 0.2, 2)]


def test_sentences_speak_of_what_was_tried():
    """Oracle: by hand; of 100 rows there was no fit."""
    said = [*words_of_plan(plan(p=9, n_rows=(10, 100), n_fits=1, strengths=(0.01, 0.02)))]
    assert said[0].startswith("10 rows are not enough to detect 80% of effects that explain 1%")
    assert said[1].startswith("No fit was left for effects that explain 2% of the variance")
    assert said[2].startswith("1 fit, ")


X, Y = table()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "there is no pilot table. Give one, or the number of features: p=2000"),
        ({"X": X}, "the pilot table has no target. Give y"),
        ({"X": X, "y": Y, "p": 5}, "p=5 is for plans without a pilot table, and there is one"),
        ({"X": X, "y": Y, "correlation": 0.5}, "correlation=0.5 is for plans without a pilot"),
        ({"X": X, "y": Y, "event_share": 0.5}, "event_share=0.5 is for plans without a pilot"),
        ({"p": 5, "y": Y}, "y is about a pilot table, and there is none. Give the table, or leave"),
        ({"p": 5, "covariates": X}, "covariates is about a pilot table"),
        ({"p": 5, "groups": Y}, "groups is about a pilot table"),
        ({"p": 5, "plant_on": "clusters"}, "plant_on is about a pilot table"),
        ({"p": 5, "recipe": Recipe(only=[1])}, "only is about a pilot table"),
        ({"p": 5, "recipe": Recipe(partners="none")}, "partners is about a pilot table"),
        ({"p": 5, "recipe": Recipe(target="ordinal")}, "target is about a pilot table"),
        ({"p": 1}, "p=1 must be a whole number of 2 or more"),
        ({"p": 5, "correlation": 1}, "correlation=1 is no correlation of neighbours."),
        ({"p": 5, "correlation": "high"}, "correlation='high' is no correlation"),
        ({"p": 5, "class_shares": (0.5, 0.6)}, "are no shares of classes. Give two or more"),
        ({"p": 5, "class_shares": 1.0}, "class_shares=1.0 are no shares"),
        ({"p": 5, "class_shares": "a,b"}, "class_shares='a,b' are no shares"),
        ({"p": 5, "event_share": 0}, "event_share=0 is not"),
        ({"p": 5, "event_share": 0.5, "class_shares": "0.5,0.5"}, "survival. Leave out one"),
        ({"p": 5, "n_rows": 9}, "n_rows=9 are no numbers of rows. Whole numbers from 10 on"),
        ({"p": 5, "n_rows": 20.5}, "n_rows=20.5 are no numbers of rows"),
        ({"p": 5, "n_rows": "20,x"}, "n_rows='20,x' are no numbers of rows"),
        ({"p": 5, "n_rows": []}, "n_rows=[] are no numbers of rows"),
        (
            {"p": 5, "n_rows": 20, "class_shares": "0.99,0.01"},
            "n_rows=20: y has a single class. At least two are needed. Try more",
        ),
        ({"p": 5, "n_rows": 20, "event_share": 0.1}, "n_rows=20: 2 events in 20 rows. At least 5"),
        ({"p": 5, "strengths": 2}, "strengths=2.0 is an odds or hazard ratio"),
        ({"X": X, "y": Y, "groups": Y[:3]}, "groups"),
    ],
)
def test_what_cannot_be_meant_is_refused(wrong, message):
    """Oracle: messages by hand."""
    with pytest.raises(Problem, match=re.escape(message)):
        plan(**{"n_fits": 2} | wrong)
