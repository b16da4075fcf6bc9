"""The benchmark on simulated data: scores by hand, numbers that depend on nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from benchmarks import methods
from benchmarks.experiments.cost import RESET, measured
from benchmarks.experiments.synthetic import levels_of, prediction_score, run_grid, select, shares
from benchmarks.grids.read import Cell, Grid
from benchmarks.methods import METHODS, RELAXED
from benchmarks.stores import open_store
from smrmr import SmRMR, simulate
from smrmr.rivals import SIS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
COSTS = ["seconds", "megabytes"]


def test_shares_are_counted_by_hand():
    data = simulate("1.a", 30, 12, random_state=0)  # true: 0 and 5
    found, kept = np.array([5, 1, 2]), np.array([1, 2, 5, 7])
    assert shares(found, kept, data) == {
        "n_selected": 3, "tpr": 0.5, "fpr": 2 / 10, "fdr": 2 / 3, "recall": 0.5,
    }  # fmt: skip
    empty = np.array([], dtype=int)
    assert shares(empty, None, data) == {"n_selected": 0, "tpr": 0, "fpr": 0, "fdr": 0}
    null = simulate("null", 30, 12, random_state=0)
    assert shares(found, kept, null) == {"n_selected": 3, "fpr": 3 / 12, "fdr": 1}


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


def keys_of(seed, *names):
    return [
        {"method": name, "level": level, "seed": seed}
        for name in names
        for level in levels_of(name)
    ]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("design", ["1.d", "3.b"])
@pytest.mark.filterwarnings("ignore")
def test_every_method_selects_features_and_the_same_again(name, design):
    """Law: the same data and seed give the same features, none of them twice."""
    if package := METHODS[name].package:
        pytest.importorskip(package, reason="needs: pip install smrmr[bench]")
    data, keys = simulate(design, 90, 100, random_state=3), keys_of(1, name)
    found, again = (select(data, keys)[0] for _ in range(2))
    assert len(found) == len(keys)
    for one, other in zip(found, again, strict=True):
        assert_array_equal(one, other)
        assert len(np.unique(one)) == len(one) <= 100
        assert one.size or not name.endswith(RELAXED)


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("knockoffs", lambda fdr, **k: SmRMR(fdr, control="knockoffs", **k)),
        ("knockoffs (HSIC)", lambda fdr, **k: SmRMR(fdr, control="knockoffs(measure=hsic)", **k)),
        ("paper (PC, none)", lambda fdr, **k: SmRMR.paper(fdr, penalty="none", **k)),
    ],
)
def test_knockoff_rows_are_those_of_the_estimator(name, build):
    """Oracle: the estimator fitted at each level and by each rule on its own."""
    data = simulate("1.d", 200, 120, random_state=1)
    keys = keys_of(5, name, f"{name}{RELAXED}")
    assert len({METHODS[key["method"]].fit for key in keys}) == 1
    for key, features in zip(keys, select(data, keys)[0], strict=True):
        rule = "relax" if key["method"].endswith(RELAXED) else "none"
        alone = build(key["level"], on_empty=rule, target="continuous", random_state=5)
        assert_array_equal(features, alone.fit(data.X, data.y).selected_)


def test_rivals_choose_a_size_on_held_out_rows_and_then_rank_all():
    """Oracle: the steps one by one, with the error in place of R2."""
    data = simulate("1.a", 100, 40, random_state=2)
    train, held_out = train_test_split(np.arange(100), test_size=0.2, random_state=4)
    order = np.argsort(SIS(30).fit(data.X[train], data.y[train]).ranking_)
    scores = {}
    for size in (5, 10, 15, 20, 25, 30):
        model = LinearRegression().fit(data.X[train][:, order[:size]], data.y[train])
        predicted = model.predict(data.X[held_out][:, order[:size]])
        scores[size] = -np.mean((data.y[held_out] - predicted) ** 2)
    best = max(scores, key=scores.get)
    (found,), kept, _ = select(data, keys_of(4, "SIS"))
    assert kept is None
    assert_array_equal(found, np.argsort(SIS(30).fit(data.X, data.y).ranking_)[:best])


@pytest.mark.skipif(not RESET.exists(), reason="peak memory is known on Linux only")
def test_memory_and_time_are_those_of_the_work():
    """Oracle: the clock of the processor, read within the block and after it."""
    for _ in range(2):  # the second time freed memory could be taken again unseen
        with measured() as cost:
            start = time.process_time()
            work = np.ones(10_000_000)
            time.sleep(0.1)  # which is no work
            while time.process_time() < start + 0.05:
                pass
            spent = time.process_time() - start
        assert work.sum() == 1e7
        del work
        assert 75 < cost["megabytes"] < 100
        assert spent <= cost["seconds"] <= time.process_time() - start


SMALL = Grid(
    (Cell("1.a", 60, 30, 2), Cell("3.a", 60, 30, 2)),
    ("knockoffs", "knockoffs, relaxed", "SIS", "no features"),
)


def test_a_folder_that_cannot_be_written_is_named_before_anything_is_computed(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    stages = []
    with pytest.raises(ValueError, match=r"file.synthetic.csv cannot be written"):
        run_grid(SMALL, open_store(tmp_path / "file", "synthetic"), progress=stages.append)
    assert stages == []


def test_rows_do_not_depend_on_jobs(tmp_path):
    plain, parallel = (
        open_store(tmp_path / "a", "synthetic"),
        open_store(tmp_path / "b", "synthetic"),
    )
    run_grid(SMALL, plain)
    run_grid(SMALL, parallel, jobs=2)
    assert in_order(parallel).equals(in_order(plain))


def in_order(store):
    """Rows without what they cost."""
    rows = store.frame().sort_values(list(store.key)).drop(columns=COSTS)
    return rows.reset_index(drop=True)


def test_rows_are_computed_once(tmp_path):
    plain = open_store(tmp_path, "synthetic")
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
    store = open_store(tmp_path, "synthetic")
    cells = Cell("1.a", 20, 30, 1), Cell("3.a", 4, 30, 1)
    run_grid(Grid(cells, ("HSIC-LASSO (blocks)", "all features", "no features")), store)
    status = store.frame().set_index(["n", "method"])["status"]
    assert "ValueError: block_size=20" in status[20, "HSIC-LASSO (blocks)"]
    assert "ValueError: " in status[4, "all features"]
    assert status[20, "no features"] == status[4, "no features"] == "ok"


def test_a_method_without_its_package_is_left_out(monkeypatch):
    lacking = replace(METHODS["LASSO knockoffs"], source="a_package_that_nobody_has")
    monkeypatch.setitem(METHODS, "LASSO knockoffs", lacking)
    said = "LASSO knockoffs is left out: a_package_that_nobody_has is not installed"
    with pytest.warns(UserWarning, match=said):
        assert methods.installed(["SIS", "LASSO knockoffs"]) == ("SIS",)


def test_a_killed_run_resumes_without_computing_again(tmp_path):
    grid = tmp_path / "small.toml"
    grid.write_text(
        'methods = ["knockoffs (HSIC)", "no features"]\n'
        '[[cells]]\ndesigns = ["1.d", "3.b"]\nn = [150]\np = [200]\nseeds = 6\n'
    )
    command = [sys.executable, "-m", "benchmarks", "synthetic", "--grid", str(grid)]
    command += ["--out", str(tmp_path), "--jobs", "1"]
    rows = tmp_path / "synthetic.csv"
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=ROOT, start_new_session=True)
    while running.poll() is None and not (rows.exists() and rows.read_bytes().count(b"\n") >= 4):
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    before = rows.read_bytes()
    before = before[: before.rfind(b"\n") + 1]
    assert 3 <= before.count(b"\n") - 1 < 24, "killed in the middle"
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert rows.read_bytes().startswith(before)
    frame = open_store(tmp_path, "synthetic").frame()
    assert len(frame) == 24
    assert rows.read_bytes().count(b"\n") == 25
    assert "Tables: " in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_kill_ends_a_run_as_ctrl_c_does(tmp_path):
    """What is written is said, the exit code is that of an interrupt, and no worker is left."""
    command = [sys.executable, "-m", "benchmarks", "synthetic", "--out", str(tmp_path)]
    running = subprocess.Popen(
        [*command, "--jobs", "2"],
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )
    while running.poll() is None and not (tmp_path / "synthetic.csv").exists():
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
