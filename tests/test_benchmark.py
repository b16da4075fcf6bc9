"""The benchmark: rows that survive a kill, scores by hand, numbers that depend on nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from benchmarks.experiments import methods
from benchmarks.experiments.grid import Cell, Grid, read_grid
from benchmarks.experiments.measured import RESET, measured
from benchmarks.experiments.methods import METHODS, Found
from benchmarks.experiments.store import Store
from benchmarks.experiments.synthetic import (
    accuracy_of_selection,
    prediction_score,
    run_grid,
    store_in,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from smrmr import SIS, SmRMR, simulate
from smrmr.simulate import DESIGNS

NAMES = [name for method in METHODS for name in dict(method.results)]
COSTS = ["seconds", "megabytes"]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "rows.csv", ("design", "level", "seed"), ("status", "fdr"))


def test_rows_come_back(store):
    assert store.done() == set()
    rows = [
        {"design": "1.a", "level": None, "seed": 0, "status": 'bad, "very"', "fdr": None},
        {"design": "null", "level": 0.3, "seed": 1, "status": "ok", "fdr": 1 / 3},
    ]
    store.append(rows[:1])
    store.append(rows[1:])
    assert store.done() == {("1.a", "", "0"), ("null", "0.3", "1")}
    assert {store.key_of(row) for row in rows} == store.done()
    frame = store.frame()
    assert frame["status"].tolist() == ['bad, "very"', "ok"]
    assert_allclose(frame["fdr"], [np.nan, 0.33333])
    assert frame["design"].tolist() == ["1.a", "null"]


def test_an_unfinished_line_is_dropped_and_other_columns_are_refused(store):
    row = {"design": "1.a", "level": 0.3, "seed": 0, "status": "ok", "fdr": 0.5}
    store.append([row])
    whole = store.path.read_bytes()
    store.path.write_bytes(whole + b"1.a,0.3,1,ok,0.")
    assert len(store.frame()) == 1
    store.begin()
    store.append([row | {"seed": 2}])
    assert store.path.read_bytes() == whole + b"1.a,0.3,2,ok,0.5\n"
    cut = store.path.read_bytes()[:-3]
    store.path.write_bytes(cut)
    other = Store(store.path, ("design",), ("fdr",))
    with pytest.raises(ValueError, match=r"columns design, level, seed.*another folder"):
        other.begin()
    assert store.path.read_bytes() == cut


def test_a_kill_in_the_first_line_leaves_a_file_that_works(store):
    store.path.write_bytes(b"design,lev")
    store.begin()
    store.append([{"design": "1.a", "level": 0.3, "seed": 0, "status": "ok", "fdr": 0}])
    assert store.done() == {("1.a", "0.3", "0")}


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"1.a,0.3\n", "line 3: 2 values for 5 columns"),
        (b"1.a,0.3,1,ok,much\n", "line 3: fdr is 'much', no number"),
        (b"1.a,0.3,1,ok,\xff\n", "line 3: fdr is"),
        (b"1.a,0.3,\0,ok,0.5\n", "line 3: seed is '?', no number"),
    ],
)
def test_damaged_lines_are_named(store, line, fault):
    row = {"design": "1.a", "level": 0.3, "seed": 0, "status": "ok", "fdr": 0.5}
    store.append([row])
    store.path.write_bytes(store.path.read_bytes() + line)
    store.append([row | {"seed": 2}])
    with pytest.raises(ValueError, match=r"rows.csv is damaged") as raised:
        store.frame()
    assert fault in str(raised.value)


def test_two_runs_do_not_lose_each_others_rows(store):
    def run(seeds):
        for seed in seeds:
            store.append([{"design": "1.a", "level": 0.3, "seed": seed, "status": "ok", "fdr": 0}])

    store.begin()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, [range(k, 400, 4) for k in range(4)]))
    assert sorted(store.frame()["seed"]) == list(range(400))


def test_two_runs_that_begin_at_once_may_both_write_the_header(store):
    store.begin()
    row = {"design": "1.a", "level": 0.3, "seed": 0, "status": "ok", "fdr": 0.5}
    store.path.write_bytes(store.path.read_bytes() * 2)
    store.append([row])
    assert store.frame()["seed"].tolist() == [0]


def test_a_folder_that_cannot_be_written_is_named_before_anything_is_computed(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    stages = []
    with pytest.raises(ValueError, match=r"file.synthetic.csv cannot be written"):
        run_grid(SMALL, store_in(tmp_path / "file", "synthetic"), progress=stages.append)
    assert stages == []


def test_grids_are_read_seed_by_seed(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(
        'methods = ["SIS"]\n'
        '[[cells]]\ndesigns = ["1.a"]\nn = [50, 60]\np = [20]\nseeds = 2\n'
        '[[cells]]\ndesigns = ["null", "1.a"]\nn = [50]\np = [30, 20]\nseeds = 1\n'
    )
    grid = read_grid(str(file))
    assert grid.methods == ("SIS",)
    draws = [(c.design, c.n, c.p, seed) for c, seed in grid.draws()]
    assert {seed for *_, seed in draws[:5]} == {0}
    assert sorted(draws) == [  # that of 1.a listed twice is drawn once
        ("1.a", 50, 20, 0),
        ("1.a", 50, 20, 1),
        ("1.a", 50, 30, 0),
        ("1.a", 60, 20, 0),
        ("1.a", 60, 20, 1),
        ("null", 50, 20, 0),
        ("null", 50, 30, 0),
    ]


def test_our_grids_hold_what_they_promise():
    full = read_grid("full")
    assert {c.design for c in full.cells} == set(DESIGNS)
    assert min(c.seeds for c in full.cells) >= 50
    paper = {(c.n, c.p) for c in full.cells if c.design == "2.c"}
    assert paper == {(n, p) for n in (100, 500) for p in (100, 500, 5000)}
    assert list(full.methods) == NAMES
    for name in ("quick", "speed"):
        assert read_grid(name).cells


CELLS = '[[cells]]\ndesigns = ["1.a"]\nn = [50]\np = [20]\nseeds = 2\n'


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("cells = 3", "no [[cells]]"),
        ("x = [", "not a TOML file"),
        (CELLS.replace("1.a", "9.z"), "'9.z' is not one of 1.a"),
        ('methods = ["magic"]\n' + CELLS, "'magic' is not one of"),
        (CELLS.replace("seeds", "draws"), "needs designs, n, p, seeds"),
        (CELLS.replace("[50]", "50"), "n = 50 must list positive integers"),
        (CELLS.replace("[50]", "[-5]"), "n = [-5] must list positive integers"),
        (CELLS.replace("seeds = 2", "seeds = 2.5"), "seeds = 2.5 must be a positive integer"),
        (CELLS.replace('["1.a"]', '"1.a"'), "designs = '1.a' must list one name or more"),
        (CELLS.replace('["1.a"]', "3"), "designs = 3 must list one name or more"),
        ("methods = []\n" + CELLS, "methods = [] must list one name or more"),
        ('method = ["SIS"]\n' + CELLS, "method is not known"),
        (CELLS.replace("[20]", "[5]"), "p = 5 is too few, 1.a needs 6 features"),
    ],
)
def test_bad_grids_are_refused(tmp_path, text, fault):
    file = tmp_path / "grid.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match="grid") as raised:
        read_grid(str(file))
    assert fault in str(raised.value)


def test_an_unknown_grid_is_refused():
    with pytest.raises(ValueError, match=r"no grid 'huge'.*quick, full, speed"):
        read_grid("huge")


def test_shares_are_counted_by_hand():
    data = simulate("1.a", 30, 12, random_state=0)  # true: 0 and 5
    found = Found("any", np.array([5, 1, 2]), 0.3, kept=np.array([1, 2, 5, 7]))
    assert accuracy_of_selection(found, data) == {
        "n_selected": 3, "tpr": 0.5, "fpr": 2 / 10, "fdr": 2 / 3, "recall": 0.5,
    }  # fmt: skip
    empty = Found("any", np.array([], dtype=int))
    assert accuracy_of_selection(empty, data) == {"n_selected": 0, "tpr": 0, "fpr": 0, "fdr": 0}
    null = simulate("null", 30, 12, random_state=0)
    assert accuracy_of_selection(found, null) == {"n_selected": 3, "fpr": 3 / 12, "fdr": 1}


@pytest.mark.filterwarnings("ignore::FutureWarning")  # defaults of scikit-learn that will change
def test_predictions_are_scored_on_fresh_rows():
    """Oracles: the variance of y without features, that of the noise with the true ones."""
    data, fresh = (simulate("1.a", n, 10, random_state=n) for n in (200, 5000))
    nothing = np.array([], dtype=int)
    assert_allclose(prediction_score(nothing, data, fresh), np.mean((fresh.y - data.y.mean()) ** 2))
    assert_allclose(prediction_score(data.support, data, fresh), 1, atol=0.15)
    data, fresh = (simulate("3.a", n, 10, random_state=n) for n in (200, 5000))
    share = np.mean(fresh.y == (data.y.mean() > 0.5))
    assert_allclose(prediction_score(nothing, data, fresh), share)
    assert prediction_score(data.support, data, fresh) > 0.97
    assert 0.65 < prediction_score(data.support[:1], data, fresh) < 0.85


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.results[0][0])
@pytest.mark.parametrize("design", ["1.d", "3.b"])
@pytest.mark.filterwarnings("ignore")
def test_every_method_gives_the_results_that_it_announces(method, design):
    if method.results[0][0] == "LASSO knockoffs":
        pytest.importorskip("knockpy", reason="needs: pip install smrmr[bench]")
    data = simulate(design, 90, 100, random_state=3)
    found = method.fit(data, 1)
    assert [(one.method, one.level) for one in found] == list(method.results)
    again = method.fit(data, 1)
    for one, other in zip(found, again, strict=True):
        assert_array_equal(one.features, other.features)
        assert len(np.unique(one.features)) == len(one.features) <= 100
    assert not any(one.features.size == 0 for one in found if one.method.startswith("SmRMR2"))


def test_smrmr_rows_are_those_of_the_estimator():
    data = simulate("1.d", 200, 120, random_state=1)
    for method in METHODS[:3]:
        by_name = {(one.method, one.level): one.features for one in method.fit(data, 5)}
        build = {
            "SmRMR(default)": SmRMR,
            "SmRMR(default, HSIC)": lambda fdr, **k: SmRMR(fdr, measure="hsic", **k),
            "SmRMR(PC, none)": lambda fdr, **k: SmRMR.paper(fdr, penalty="none", **k),
        }[method.results[0][0]]
        for (name, level), features in by_name.items():
            rule = "relax" if name.startswith("SmRMR2") else "none"
            alone = build(level, on_empty=rule, target="continuous", random_state=5)
            assert_array_equal(features, alone.fit(data.X, data.y).selected_)


def test_rivals_choose_a_size_on_held_out_rows_and_then_rank_all():
    """Oracle: the steps one by one, with the error in place of R2."""
    data = simulate("1.a", 100, 40, random_state=2)
    sis = next(m for m in METHODS if m.results[0][0] == "SIS")
    train, held_out = train_test_split(np.arange(100), test_size=0.2, random_state=4)
    order = np.argsort(SIS(30).fit(data.X[train], data.y[train]).ranking_)
    scores = {}
    for size in (5, 10, 15, 20, 25, 30):
        model = LinearRegression().fit(data.X[train][:, order[:size]], data.y[train])
        predicted = model.predict(data.X[held_out][:, order[:size]])
        scores[size] = -np.mean((data.y[held_out] - predicted) ** 2)
    best = max(scores, key=scores.get)
    (found,) = sis.fit(data, 4)
    assert_array_equal(found.features, np.argsort(SIS(30).fit(data.X, data.y).ranking_)[:best])


@pytest.mark.skipif(not RESET.exists(), reason="peak memory is known on Linux only")
def test_memory_and_time_are_those_of_the_work():
    for _ in range(2):  # the second time freed memory could be taken again unseen
        with measured() as cost:
            work = np.ones(10_000_000)
            time.sleep(0.05)
        assert work.sum() == 1e7
        del work
        assert 75 < cost.megabytes < 100
        assert 0.05 < cost.seconds < 5


SMALL = Grid(
    (Cell("1.a", 60, 30, 2), Cell("3.a", 60, 30, 2)),
    ("SmRMR(default)", "SmRMR2(default)", "SIS", "no features"),
)


@pytest.mark.slow
def test_rows_do_not_depend_on_jobs(tmp_path):
    plain, parallel = store_in(tmp_path / "a", "synthetic"), store_in(tmp_path / "b", "synthetic")
    run_grid(SMALL, plain)
    run_grid(SMALL, parallel, jobs=2)
    assert in_order(parallel).equals(in_order(plain))


def in_order(store):
    """Rows without what they cost."""
    rows = store.frame().sort_values(list(store.key)).drop(columns=COSTS)
    return rows.reset_index(drop=True)


def test_rows_are_computed_once(tmp_path):
    plain = store_in(tmp_path, "synthetic")
    stages = []
    run_grid(SMALL, plain, progress=lambda *stage: stages.append(stage))
    assert stages == [("draws", k, 4) for k in range(5)]
    first = plain.frame()
    assert len(first) == 4 * (5 + 1 + 1 + 1)
    assert set(first["status"]) == {"ok"}
    expected = in_order(plain)

    written = plain.path.read_bytes()
    run_grid(SMALL, plain)
    assert plain.path.read_bytes() == written  # nothing is computed again

    lines = written.splitlines(keepends=True)
    plain.path.write_bytes(b"".join(lines[:11]))
    run_grid(SMALL, plain)
    assert plain.path.read_bytes().startswith(b"".join(lines[:11]))
    assert in_order(plain).equals(expected)
    assert len(plain.path.read_bytes().splitlines()) == len(lines)  # nor is any row written twice


def test_a_failure_is_a_row_that_says_so(tmp_path):
    """20 rows hold no block of 20 once some are set aside; 4 cannot be shared out to 5 folds."""
    store = store_in(tmp_path, "synthetic")
    cells = Cell("1.a", 20, 30, 1), Cell("3.a", 4, 30, 1)
    run_grid(Grid(cells, ("HSIC-LASSO (blocks)", "all features", "no features")), store)
    status = store.frame().set_index(["n", "method"])["status"]
    assert "ValueError: block_size=20" in status[20, "HSIC-LASSO (blocks)"]
    assert "ValueError: " in status[4, "all features"]
    assert status[20, "no features"] == status[4, "no features"] == "ok"


def test_a_method_without_its_package_is_left_out(monkeypatch):
    monkeypatch.setitem(methods.NEEDS, "LASSO knockoffs", "a_package_that_nobody_has")
    with pytest.warns(UserWarning, match="LASSO knockoffs left out: a_package_that_nobody_has is"):
        assert methods.runnable(["SIS", "LASSO knockoffs"]) == ("SIS",)


def test_a_killed_run_resumes_without_computing_again(tmp_path):
    grid = tmp_path / "small.toml"
    grid.write_text(
        'methods = ["SmRMR(default, HSIC)", "no features"]\n'
        '[[cells]]\ndesigns = ["1.d", "3.b"]\nn = [150]\np = [200]\nseeds = 6\n'
    )
    command = [sys.executable, "-m", "smrmr", "benchmark", "synthetic", "--grid", str(grid)]
    command += ["--out", str(tmp_path), "--jobs", "1"]
    rows = tmp_path / "synthetic.csv"
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    while running.poll() is None and not (rows.exists() and rows.read_bytes().count(b"\n") >= 4):
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    before = rows.read_bytes()
    before = before[: before.rfind(b"\n") + 1]
    assert 3 <= before.count(b"\n") - 1 < 24, "killed in the middle"
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert rows.read_bytes().startswith(before)
    frame = store_in(tmp_path, "synthetic").frame()
    assert len(frame) == 24
    assert rows.read_bytes().count(b"\n") == 25
    assert "Tables: " in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_kill_ends_a_run_as_ctrl_c_does(tmp_path):
    """What is written is said, the exit code is that of an interrupt, and no worker is left."""
    command = [sys.executable, "-m", "smrmr", "benchmark", "synthetic", "--out", str(tmp_path)]
    running = subprocess.Popen(
        [*command, "--jobs", "2"], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not (tmp_path / "synthetic.csv").exists():
        time.sleep(0.1)
    time.sleep(3)  # for workers to come
    running.terminate()
    said = running.communicate(timeout=60)[1]
    assert running.returncode == 130
    assert "finished rows are kept" in said
    assert "Traceback" not in said
    for _ in range(100):
        try:
            os.killpg(running.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("workers are still there")
