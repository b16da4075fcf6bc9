"""Work on a Dask cluster: the same bits, also when a worker is lost in the middle."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from smrmr import Recipe, select, simulate
from smrmr.conditional.results import Shared
from smrmr.data import open_columns

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
distributed = pytest.importorskip("dask.distributed", reason="needs: pip install smrmr[dask]")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("columns")
    drawn = simulate("1.d", 400, 30_000, random_state=3)
    np.save(folder / "X.npy", drawn.X)
    return drawn, open_columns(folder / "X.npy")


def test_a_lost_worker_changes_nothing(data):
    drawn, source = data
    recipe = Recipe(control="knockoffs", max_memory="50MB")
    expected = select(drawn.X, drawn.y, recipe, rng=0)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(2)
        pids = list(client.run(os.getpid).values())
        blocks = []

        def kill_one_after_a_few(stage, done, total):
            blocks.append(stage)
            if stage == "relevance" and done == 3:
                os.kill(pids[0], signal.SIGKILL)

        with joblib.parallel_config(backend="dask", n_jobs=-1):
            found = select(source, drawn.y, recipe, rng=0, progress=kill_one_after_a_few)
        assert pids[0] not in client.run(os.getpid).values()
    assert blocks.count("relevance") > 10
    assert_array_equal(found.W, expected.W)
    assert_array_equal(found.relevance, expected.relevance)


def test_tests_are_the_same_on_every_engine(monkeypatch):
    """Oracle: one thread. What tasks share is sent off once per pass over the features."""
    drawn = simulate("1.d", 80, 95, random_state=3)
    y = np.digitize(drawn.y, np.quantile(drawn.y, [1 / 3, 2 / 3]))
    expected = select(drawn.X, y, Recipe(target="classes"))
    with joblib.parallel_config(backend="loky", n_jobs=2):
        by_processes = select(drawn.X, y, Recipe(target="classes", n_jobs=2))
    sent = []
    monkeypatch.setattr(Shared, "__getstate__", lambda self: sent.append(self) or vars(self))
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config(backend="dask", n_jobs=-1),
    ):
        client.wait_for_workers(2)
        by_dask = select(drawn.X, y, Recipe(target="classes", n_jobs=-1))
    assert 1 <= len(sent) <= 4
    for found in (by_processes, by_dask):
        assert_array_equal(found.p_values, expected.p_values)
        assert_array_equal(found.evidence.p_of_hypotheses, expected.evidence.p_of_hypotheses)
        assert_array_equal(found.relevance, expected.relevance)


def test_the_command_uses_the_workers_of_a_scheduler(data, tmp_path):
    """Oracle: the same command without a scheduler."""
    drawn, source = data
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    port = address.rsplit(":", 1)[1]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = [sys.executable, "-m", "dask"]
    started = [
        subprocess.Popen([*dask, "scheduler", "--port", port, "--dashboard-address", ":0"], **quiet)
    ]
    started += [
        subprocess.Popen([*dask, "worker", address, "--nthreads", "1"], **quiet) for _ in range(2)
    ]
    frame = tmp_path / "y.csv"
    frame.write_text(
        "id,y\n" + "".join(f"{i},{value!r}\n" for i, value in enumerate(map(float, drawn.y)))
    )
    command = [sys.executable, "-m", "smrmr", "select", str(source.path), "--pheno", str(frame)]
    command += ["--id", "id", "--target", "y", "--max-memory", "50MB", "--json"]
    command += ["--control", "knockoffs"]
    try:
        plain, shared = (
            subprocess.run([*command, "--out", str(tmp_path / name), *more], capture_output=True)
            for name, more in (("plain", []), ("shared", ["--scheduler", address]))
        )
    finally:
        for process in started:
            process.terminate()
    assert plain.returncode == shared.returncode == 0, shared.stderr

    def numbers(done):
        return re.sub(rb'"seconds": \{[^}]*\}', b"", done.stdout)

    assert numbers(plain) == numbers(shared)


def test_a_scheduler_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,y\n" + "".join(f"{i},{i % 7}\n" for i in range(40)))
    command = [sys.executable, "-m", "smrmr", "select", str(path), "--target", "y"]
    command += ["--scheduler", "tcp://127.0.0.1:9"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("control", ["tests", "knockoffs"])
def test_threads_of_the_user_may_select_at_the_same_time(control, data):
    drawn, _ = data
    settings = Recipe(fdr=0.3, control=control)
    found = {}

    def one(seed):
        found[seed] = select(drawn.X[:, :300], drawn.y, settings, rng=seed)

    threads = [threading.Thread(target=one, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
        time.sleep(0.01)
    for thread in threads:
        thread.join()
    assert len(found) == 2
    for seed, one_of_two in found.items():
        alone = select(drawn.X[:, :300], drawn.y, settings, rng=seed)
        # threads hold their arrays at other addresses, which moves the last bit of LAPACK's results
        assert_allclose(one_of_two.evidence.scores, alone.evidence.scores, rtol=1e-12)
        assert_allclose(one_of_two.q_values, alone.q_values, rtol=1e-12)
        assert_array_equal(one_of_two.selected, alone.selected)
