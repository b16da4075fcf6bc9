"""Trials of the method on a table: what is counted, when they stop, and that numbers are the same.

Whatever draws nothing anew is compared bit by bit.
"""

from __future__ import annotations

import json
import pickle
import re
import warnings
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import binom, kstest

from smrmr import Recipe, Selection, check, select
from smrmr.data import open_columns
from smrmr.data.study import read_study
from smrmr.pipeline import groups_from, select_from
from smrmr.power.account import LAYERS, UNKNOWN, Cell, TableCheck
from smrmr.power.words import level_failed, words_of_check
from smrmr.problems import Problem
from smrmr.trials.effects import Effects
from smrmr.trials.planting import plant
from smrmr.trials.run import Budget, counted, run_trial
from smrmr.trials.sources import Table
from thinned import thinned

N, P = 40, 6
NEVER = 1e-6  # a precision that is not reached
HOW = {"strengths": (0.3, 0.6), "n_fits": 6, "precision": NEVER, "rng": 5}


def table(rng=None):
    """Six features of noise, and a target of noise."""
    rng = np.random.default_rng(11) if rng is None else rng
    return rng.standard_normal((N, P)), rng.standard_normal(N)


@pytest.fixture(scope="module")
def whole():
    """Six fits at once, in this process."""
    return check(*table(), **HOW)


def same(found, expected, n=None):
    """The first outcomes are the same to the bit."""
    n = expected.n_fits if n is None else n
    assert found.n_fits >= n
    assert_array_equal(found.cell_of[:n], expected.cell_of[:n])
    assert_array_equal(found.outcomes[:n], expected.outcomes[:n])


# what is counted


def recounted(found, features, leader):
    """Counts of every layer by sets, from what a selection says in public."""
    planted = {leader[k] for k in features.ravel()}
    groups = [{leader[k] for k in members} for members in found.members]
    pairs = {frozenset(leader[k] for k in some) for some in features if len(some) == 2}
    names = {name: k for k, name in reversed([*enumerate([*found.names, *found.covariates])])}
    rows = found.pairs.loc[found.pairs["selected"], ["feature", "partner"]]
    named = {
        frozenset(leader.get(names[k], names[k]) for k in row) for row in rows.itertuples(False)
    }
    alone, own = (set(found.layer(name).features.tolist()) for name in ("associated", "own"))
    return [
        [len(planted), len(planted & alone), len(alone), UNKNOWN if planted else len(alone)],
        [
            len(planted),
            sum(any(k in group for group in groups) for k in planted),
            len(groups),
            sum(not group & planted for group in groups),
        ],
        [len(planted), len(planted & own), len(own), len(own - planted)],
        [len(pairs), len(pairs & named), len(named), len(named - pairs)],
    ]


@pytest.mark.parametrize(
    "cell", [Cell("", 0.0, 0, 0), Cell("line", 0.4, 2, 0), Cell("pair", 0.7, 1, 0)]
)
def test_counts_are_those_of_the_answer(cell):
    """Oracle: sets made from the public answer; copies count as the first of them."""
    rng = np.random.default_rng(2)
    n = 120
    X = rng.standard_normal((n, 9))
    X[:, 5] = -X[:, 4]
    X[:, 7] = X[:, 6] + 0.3 * rng.standard_normal(n)
    study = read_study(X, rng.standard_normal(n), covariates={"age": rng.standard_normal(n)})
    leader = {k: 4 if k == 5 else k for k in range(9)}
    total = np.zeros((len(LAYERS), 4), int)
    for _ in range(3):
        made, features = plant(study, cell, np.array([0, 1, 5, 6, 8]), rng)
        found = select_from(made, Recipe(fdr=0.3), rng)
        counts = counted(found, features, groups_from(made, Recipe(fdr=0.3)).copies.leaders)
        assert_array_equal(counts, recounted(found, features, leader))
        total += counts
    if cell.form:  # or nothing would be compared
        layers = LAYERS if cell.form == "pair" else ("associated", "signals", "own")
        assert all(total[LAYERS.index(layer), 1] > 0 for layer in layers[cell.form == "pair" :])


def test_a_pair_with_a_covariate_is_false():
    """Oracle: the target is the product of a feature and a covariate, and nothing was planted."""
    rng = np.random.default_rng(7)
    X, age = rng.standard_normal((150, 5)), rng.standard_normal(150)
    y = X[:, 2] * age + 0.1 * rng.standard_normal(150)
    found = select(X, y, covariates={"age": age})
    assert found.pairs["partner"].iloc[0] == "age"
    counts = counted(found, np.array([[3]]), found.leaders)
    expected = recounted(found, np.array([[3]]), {k: k for k in range(5)})
    assert_array_equal(counts, expected)
    assert counts[LAYERS.index("pairs")].tolist() == [
        0,
        0,
        *[len(found.layer("pairs").features)] * 2,
    ]


def test_a_pair_is_found_by_what_stands_for_a_look_alike():
    """Oracle: the planted pair by hand, of which another look-alike is named as the partner."""
    rng = np.random.default_rng(5)
    n, one, other = 250, 1, 4  # each the second of three that correlate by 0.96
    X = np.repeat(rng.standard_normal((n, 2)), 3, axis=1) + 0.2 * rng.standard_normal((n, 6))
    X = np.column_stack([X, rng.standard_normal((n, 6))])
    y = X[:, one] * X[:, other] + rng.standard_normal(n)
    found = select(X, y)
    named = found.pairs.loc[found.pairs["selected"], ["feature", "partner"]]
    assert len(named) == 1
    assert set(named.iloc[0]) != {"x1", "x4"}
    partners = groups_from(read_study(X, y), Recipe()).nearly_same
    counts = counted(found, np.array([[one, other]]), partners)[LAYERS.index("pairs")]
    assert counts.tolist() == [1, 1, 1, 0]
    by_name = counted(found, np.array([[one, other]]), found.leaders)[LAYERS.index("pairs")]
    assert by_name.tolist() == [1, 0, 1, 1]


@pytest.mark.filterwarnings("ignore:columns x0 of X say the same as y")
def test_a_trial_counts_pairs_by_what_stands_for_them():
    """Oracle: the same draws by hand; by their names alone a pair is missed that was found."""
    rng, n = np.random.default_rng(0), 250
    X = np.repeat(rng.standard_normal((n, 2)), 3, axis=1) + 0.2 * rng.standard_normal((n, 6))
    X = np.column_stack([X, rng.standard_normal((n, 6))])
    study, cell, by_name = read_study(X, X[:, 0]), Cell("pair", 0.5, 1, n), []
    source = Table(study, np.array([1, 4]))
    for seed in map(np.random.SeedSequence, (1, 3)):
        found = run_trial(source, Recipe(), cell, seed)[0]
        rng = np.random.default_rng(seed)
        made, features = plant(study, cell, source.candidates, rng)
        selection = select_from(made, Recipe(), rng)
        partners = groups_from(made, Recipe()).nearly_same
        assert_array_equal(found, counted(selection, features, partners))
        by_name.append(counted(selection, features, selection.leaders)[LAYERS.index("pairs")])
        assert found[LAYERS.index("pairs"), 1] >= by_name[-1][1]
    assert sum(counts[3] for counts in by_name) > 0


# what is run, and when it stops


def test_rounds_take_every_strength_once_and_noise_half_as_often():
    """Oracle: by hand; without effects first, so that the level is known soonest."""
    found = check(*table(), strengths=(0.1, 0.2, 0.3, 0.4), n_fits=8, precision=NEVER)
    assert found.cell_of.tolist() == [0, 0, 1, 2, 3, 4, 0, 0]
    assert [cell.form for cell in found.cells] == ["", *["line"] * 4]
    assert [cell.share for cell in found.cells] == [0.0, 0.1, 0.2, 0.3, 0.4]
    assert (found.stopped, found.n_fits) == ("fits", 8)


def test_rates_that_are_known_well_enough_need_no_more_fits():
    """Oracle: five fits of each at least, by hand; the rates say when."""
    X, y = table()
    loose = check(X, y, strengths=0.8, n_fits=60, precision=0.45)
    assert (loose.stopped, np.bincount(loose.cell_of).tolist()) == ("precision", [5, 5])
    assert all(loose.rate(c).half_width <= 0.45 for c in (0, 1))
    close = check(X, y, strengths=0.8, n_fits=60, precision=0.3)
    assert close.stopped == "precision"
    assert all(close.rate(c).half_width <= 0.3 for c in (0, 1))
    last = close.cell_of[-1]  # needed: without it the rate was not known
    assert close.n_fits > loose.n_fits
    n = close.n_fits - 1
    before = replace(close, cell_of=close.cell_of[:n], outcomes=close.outcomes[:n])
    assert before.rate(last).half_width > 0.3


def test_strong_effects_are_found_and_noise_is_not():
    """Oracle: certainty, with an effect that is all there is; binomial tail of the level."""
    X, y = table()
    found = check(X, y, Recipe(fdr=0.05), strengths=0.95, n_fits=12, precision=NEVER)
    assert found.power(1).mean == found.power(1, "associated").mean == 1.0
    assert found.any_false().mean * 6 <= binom.isf(1e-4, 6, 0.05)
    assert found.broken == ()


@pytest.mark.filterwarnings("ignore:.*rows")  # that they repeat, which is the point
def test_repeated_rows_break_the_level():
    """Oracle: with each row six times correlations of noise have six times their variance."""
    X, y = table()
    rows = np.repeat(np.arange(15), 6)
    found = check(X[rows], y[rows], strengths=0.3, n_fits=12, precision=NEVER)
    assert "associated" in found.broken
    assert level_failed(found)


def test_progress_is_told_of_every_fit(whole):
    """Oracle: a count by hand; where rates are known sooner the last total is the number run."""
    told = []
    found = check(*table(), **HOW, progress=lambda *step: told.append(step))
    assert told == [("trials", k, 6) for k in range(7)] + [("trials", 6, 6)]
    same(found, whole)
    told.clear()
    check(*table(), strengths=0.8, precision=0.45, progress=lambda *step: told.append(step))
    assert told[-2:] == [("trials", 10, 60), ("trials", 10, 10)]


def test_more_fits_extend_fewer(whole):
    """Oracle: the first ones of more, whatever round they end in."""
    for n in (1, 4):
        few = check(*table(), **HOW | {"n_fits": n})
        assert few.n_fits == n
        same(whole, few)


def test_another_seed_is_another_check(whole):
    """Oracle: outcomes differ; a number of numpy is the same seed."""
    same(check(*table(), **HOW | {"rng": np.int64(5), "n_fits": 3}), whole, 3)
    other = check(*table(), **HOW | {"rng": 6})
    assert_array_equal(other.cell_of, whole.cell_of)
    assert (other.outcomes != whole.outcomes).any()


def test_time_is_respected_and_a_check_goes_on(whole, tmp_path):
    """Oracle: six fits at once. There is time for one fit, which comes first."""
    short = check(*table(), **HOW, minutes=1e-9, run_dir=tmp_path / "run")
    assert (short.n_fits, short.stopped) == (1, "time")
    same(whole, short)
    longer = check(*table(), **HOW, minutes=60, run_dir=tmp_path / "run")
    assert (longer.n_fits, longer.stopped) == (6, "fits")
    same(longer, whole)


def test_an_interrupted_check_goes_on(whole, tmp_path):
    """Oracle: six fits at once; finished ones are read, which is told by dates of files."""

    def interrupt(stage, done, total):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(*table(), **HOW, run_dir=tmp_path, progress=interrupt)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("stage*")}
    assert len(kept) == 4
    same(check(*table(), **HOW, run_dir=tmp_path), whole)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    damaged = min(kept)
    damaged.write_bytes(damaged.read_bytes()[:-1])
    same(check(*table(), **HOW, run_dir=tmp_path), whole)


@pytest.mark.parametrize(
    "other",
    [
        {"rng": 6},
        {"strengths": 0.3},
        {"forms": "bend"},
        {"n_effects": 1},
        {"fdr": 0.2},
        {"precision": 0.5},
        {"plant_on": [0, 1, 2, 3, 4, 5]},
    ],
)
def test_a_folder_of_other_trials_is_refused(other, tmp_path):
    """Oracle: what differs is named; features are told by more than the names that are shown."""
    X, y = table()
    X = np.column_stack([X, X[:, ::-1] ** 2])
    plant_on = [0, 1, 2, 3, 4, 6]
    how = HOW | {"n_fits": 1, "plant_on": plant_on, "run_dir": tmp_path, "strengths": 0.2}
    check(X, y, **how)
    check(X, y, Recipe(n_jobs=1), **how | {"minutes": 9})  # which change nothing
    with pytest.raises(ValueError, match=r"holds another run: [a-z ]+ was "):
        check(X, y, Recipe(fdr=other.pop("fdr", 0.1)), **how | other)
    with pytest.raises(ValueError, match="holds another run: y was"):
        check(X, y[::-1], **how)


def test_threads_give_the_same_numbers(whole):
    """Oracle: one job. Filters of warnings are afterwards what they were."""
    before = [*warnings.filters]
    with joblib.parallel_config(backend="threading"):
        same(check(*table(), Recipe(n_jobs=2), **HOW), whole)
    assert [*warnings.filters] == before


def test_a_file_gives_the_same_numbers(whole, tmp_path):
    """Oracle: the same columns in memory, also by way of numpy's memory maps."""
    X, y = table()
    np.save(tmp_path / "X.npy", X)
    for X in (open_columns(tmp_path / "X.npy"), np.load(tmp_path / "X.npy", mmap_mode="r")):
        same(check(X, y, **HOW | {"n_fits": 3}), whole, 3)


@pytest.mark.slow
def test_processes_give_the_same_numbers(whole, tmp_path):
    """Oracle: one job; also of a file, and where the first ones were done by threads."""
    X, y = table()
    same(check(X, y, Recipe(n_jobs=2), **HOW), whole)
    np.save(tmp_path / "X.npy", X)
    source, how = open_columns(tmp_path / "X.npy"), {"run_dir": tmp_path / "run"}
    same(check(source, y, Recipe(n_jobs=1), **HOW | {"n_fits": 4}, **how), whole, 4)
    same(check(source, y, Recipe(n_jobs=2), **HOW, **how), whole)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_numbers(whole):
    """Oracle: one job."""
    distributed = pytest.importorskip("dask.distributed", reason="needs: pip install smrmr[dask]")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config(backend="dask", n_jobs=-1),
    ):
        client.wait_for_workers(2)
        same(check(*table(), Recipe(n_jobs=-1), **HOW), whole)


# tables of every kind


@pytest.mark.parametrize(("n", "control"), [(4, "tests"), (12, "tests"), (12, "knockoffs")])
def test_the_smallest_tables(control, n):
    """Oracle: every count is possible; warnings of fits are not told again."""
    rng = np.random.default_rng(1)
    X = np.repeat(rng.standard_normal((n, 2)), [2, 1], axis=1)  # with copies
    found = check(X, rng.standard_normal(n), Recipe(control=control), n_fits=4, strengths=0.5)
    outcomes = found.outcomes
    assert (outcomes[..., 1] <= outcomes[..., [0, 2]].min(axis=2)).all()
    assert (outcomes[..., 3] <= outcomes[..., 2]).all()
    assert (outcomes[found.cell_of == 1, 1, 0] == 1).all()
    assert 0 < found.seconds < 600


AWKWARD = {
    "rare": (np.repeat(["a", "b"], [37, 3]), "auto"),
    "tied": (np.repeat([0.0, 1.5, 2.5], [36, 2, 2]), "continuous"),
    "few events": (
        pd.DataFrame({"event": np.arange(N) % 8 == 0, "time": np.arange(N) % 9 + 1}),
        "survival",
    ),
    "stages": (np.arange(N) % 3, "ordinal"),
    "huge": (np.column_stack([np.arange(N), np.arange(N) % 7]) * 1e300, "auto"),
}


@pytest.mark.parametrize("which", thinned(AWKWARD, ["rare", "few events", "huge"]))
def test_awkward_targets(which):
    """Oracle: counts are possible, and effects that are nearly everything are found at times."""
    (y, target), X = AWKWARD[which], np.exp(3 * table()[0]) * 1e200
    found = check(X, y, Recipe(target=target), strengths=0.9, forms="line,bend", n_fits=4)
    assert (found.outcomes[..., 1] <= found.outcomes[..., 0]).all()
    assert np.isfinite(found.to_frame()[["power", "low", "high"]].to_numpy()).all()
    assert TableCheck.from_json(found.to_json()).to_json() == found.to_json()


def test_a_target_that_is_constant_in_a_level(rng):
    """Oracle: values of the other level alone move; one that explains nothing is no stratum."""
    X, y = table(rng)
    y[:20] = 0
    study = read_study(X, y, covariates={"site": np.repeat(["u", "v"], 20)})
    made, _ = plant(study, Cell("line", 0.5, 1, 0), np.arange(P), rng)
    assert (made.target.values[:20] == 0).all()
    assert sorted(made.target.values[20:]) == sorted(y[20:])
    assert (made.target.values[20:] != y[20:]).any()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["plain", "covariates", "groups", "classes"])
def test_p_values_without_effects_are_uniform(how):
    """Oracle: the uniform distribution, by Kolmogorov and Smirnov at 1 in 10,000."""
    rng = np.random.default_rng(9)
    X, y = rng.standard_normal((60, 4)), rng.standard_normal(60)
    of_rows, recipe = {}, Recipe(alike=None, partners="none")
    if how == "covariates":
        age = rng.standard_normal(60)
        X[:, 0] += age
        y += 2 * age
        of_rows = {"covariates": {"age": age, "site": rng.choice(list("uv"), 60)}}
    elif how == "groups":
        of_rows = {"groups": np.repeat(np.arange(15), 4)}
        y += np.repeat(rng.standard_normal(15), 4)
    elif how == "classes":
        y = rng.choice(list("ab"), 60, p=[0.8, 0.2])
    study = read_study(X, y, partners="none", **of_rows)
    p = []
    for _ in range(150):
        made, _ = plant(study, Cell("", 0.0, 0, 0), np.arange(4), rng)
        p.append(select_from(made, recipe, rng).p_values)
    for values in np.array(p).T:
        assert kstest(values, "uniform").pvalue > 1e-4


# effects and budgets


def test_as_many_effects_as_explain_half_of_the_variance():
    """Oracle: by hand; no more than half of the features have one, and one at least."""
    numbers = [cell.n_effects for cell in Effects().cells("continuous", 100, 50)]
    assert numbers == [5, 5, 2, 1, 1]
    assert [cell.n_effects for cell in Effects(strengths=0.05).cells("continuous", 4, 50)] == [2]
    pairs = [*Effects("pair", 0.05).cells("continuous", 9, 50)]
    assert [(cell.form, cell.n_effects, cell.n_rows) for cell in pairs] == [("pair", 2, 50)]
    assert [cell.n_effects for cell in Effects(strengths=0.8).cells("continuous", 9, 50)] == [1]
    given = [*Effects(strengths=0.2, n_effects=5).cells("continuous", 9, 50)]
    assert [cell.n_effects for cell in given] == [5]
    one, five = (next(Effects(strengths=2.0, n_effects=n).cells("classes", 90, 50)) for n in (1, 5))
    slope = np.log(2) ** 2 / (np.pi**2 / 3)
    assert (one.share, five.share) == (
        pytest.approx(slope / (1 + slope)),
        pytest.approx(slope / (1 + 5 * slope)),
    )


def test_forms_and_strengths_are_read_from_text():
    """Oracle: the same as values; each once, in order."""
    found = Effects("line, pair,line", "0.3,0.1,0.3")
    assert (found.forms, found.strengths) == (("line", "pair"), (0.1, 0.3))
    assert found.said_of_features == "all"
    assert Effects(plant_on=[*range(7)]).said_of_features == "0, 1, 2, 3, 4 and 2 more"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"forms": "lines"}, "forms='lines' is not known. Use 'line', 'bend' or 'pair'"),
        ({"strengths": 0}, "strengths=0 is no strength of an effect. Give shares of variance"),
        ({"strengths": 1}, "strengths=1 is no strength"),
        ({"strengths": "x"}, "strengths='x' is no strength"),
        ({"strengths": [np.nan]}, "is no strength"),
        (
            {"strengths": 2},
            "strengths=2.0 is an odds or hazard ratio, and the target is continuous",
        ),
        ({"n_effects": 0}, "n_effects=0 must be a whole number of 1 or more"),
        ({"n_effects": 4}, "4 effects that explain 0.3 each explain more than all variance. Lower"),
        ({"plant_on": "x9"}, "plant_on: there is no feature 'x9'"),
        ({"forms": "pair", "plant_on": [0]}, "effects of form 'pair' on: 1, which allow 0 that"),
        ({"n_fits": 0}, "n_fits=0 must be a whole number of 1 or more"),
        ({"minutes": 0}, "minutes=0 is no time. Give more than 0"),
        ({"minutes": "5"}, "minutes='5' is no time"),
        ({"precision": 0}, "precision=0 is not a level"),
        ({"rng": -1}, "rng=-1 is no seed. A whole number from 0 on is needed"),
        ({"rng": None}, "rng=None is no seed"),
        ({"rng": np.random.default_rng(0)}, "is no seed"),
        ({"rng": True}, "rng=True is no seed"),
        ({"recipe": "tests"}, "Recipe"),
    ],
)
def test_what_cannot_be_meant_is_refused(wrong, message):
    """Oracle: messages by hand."""
    with pytest.raises((Problem, TypeError), match=re.escape(message)):
        check(*table(), **{"strengths": 0.3, "n_fits": 2, "forms": "line"} | wrong)


def test_a_budget_knows_its_defaults():
    """Oracle: the signature of check."""
    assert Budget() == Budget(60, None, 0.1)


# what is made of it


def test_a_check_survives_json_and_pickle(whole):
    """Oracle: all that it says, before and after."""
    for again in (TableCheck.from_json(whole.to_json()), pickle.loads(pickle.dumps(whole))):
        same(again, whole)
        assert (str(again), again.broken, again.stopped) == (str(whole), whole.broken, "fits")
        pd.testing.assert_frame_equal(again.to_frame(), whole.to_frame())
        pd.testing.assert_frame_equal(again.levels(), whole.levels())
    for text in ("{}", "[]", "not JSON", json.dumps({"level": 0.1})):
        with pytest.raises(ValueError, match="this is no TableCheck saved by smrmr"):
            TableCheck.from_json(text)


def test_a_selection_keeps_its_check(whole):
    """Oracle: check by itself, with the same settings; another level has none."""
    X, y = table()
    recipe = Recipe(fdr=0.1, alike=None)
    how = HOW | {"n_fits": 3}
    found = select(X, y, recipe).check(X, y, **how)
    same(found.table_check, check(X, y, recipe, **how))
    for again in (Selection.from_json(found.to_json()), pickle.loads(pickle.dumps(found))):
        same(again.table_check, found.table_check)
    assert found.at(0.1).table_check is found.table_check
    assert found.at(0.2).table_check is None
    looser = found.at(0.2).check(X, y, n_fits=2, strengths=0.5).table_check
    assert (looser.level, looser.n_fits) == (0.2, 2)
    same(looser, check(X, y, Recipe(fdr=0.2, alike=None), n_fits=2, strengths=0.5))


def test_a_selection_is_checked_on_its_own_data():
    """Oracle: what differs, by hand."""
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    age, pairs = {"age": np.arange(N) % 11}, np.repeat(np.arange(N // 4), 4)
    found = select(frame, y, covariates=age)
    assert found.check(frame, y, covariates=age, n_fits=1).table_check.n_fits == 1
    for X_, y_, of_rows, message in (
        (frame[list("abc")], y, age, "they have 3 features, and it has 6 features"),
        (frame.rename(columns={"b": "z"}), y, age, "they have a feature z, and it has a feature b"),
        (frame[:30], y[:30], {"age": age["age"][:30]}, "they have 30 rows, and it has 40 rows"),
        (frame, y > 0, age, "they have a classes target, and it has a continuous target"),
        (frame, y, None, "they have no covariates, and it has covariates age"),
        (
            frame,
            y,
            {"sex": np.arange(N) % 2},
            "they have covariates sex, and it has covariates age",
        ),
    ):
        with pytest.raises(Problem, match=re.escape(message)):
            found.check(X_, y_, covariates=of_rows, n_fits=1)
    with pytest.raises(Problem, match="they have 10 groups of rows, and it has 0 groups of rows"):
        found.check(frame, y, covariates=age, groups=pairs, n_fits=1)
    with pytest.raises(Problem, match="level between 0 and 1"):
        found.check(frame, y, covariates=age, precision=2)


def test_a_selection_whose_settings_hold_objects_needs_its_recipe():
    """Oracle: the message, and the check with the recipe."""
    X, y = table()
    recipe = Recipe(feature_groups=[0, 0, 1, 1, 2, 2])
    found = select(X, y, recipe)
    with pytest.raises(Problem, match="cannot be read back: they hold groups of features"):
        found.check(X, y, n_fits=2)
    checked = found.check(X, y, recipe, n_fits=2, strengths=0.5).table_check
    same(checked, check(X, y, recipe, n_fits=2, strengths=0.5))


def test_sentences_speak_of_what_was_tried(whole):
    """Oracle: by hand; strengths of which no fit was left are no evidence."""
    said = str(check(*table(), strengths=(0.01, 0.02), n_fits=2))
    assert "even if it explains 1% of the variance of the target" in said
    said = str(check(*table(), strengths=0.3, n_fits=1))
    assert "linear effect" not in said
    assert all(said and said == said.strip() for said in words_of_check(whole))
