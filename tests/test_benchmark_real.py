"""The real data of the benchmark: files and their checksums, preparation, protocol, resuming."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from zipfile import ZipFile

import numpy as np
import pytest
from joblib import parallel_config
from scipy.io import savemat
from sklearn.ensemble import RandomForestClassifier

from benchmarks.data.datasets import SOURCES, Dataset, Source, load, read_arrays, read_toxicity
from benchmarks.data.download import File, fetch, find
from benchmarks.data.hiv import for_drug, listed_positions, mutations
from benchmarks.experiments import known_truth, prediction
from benchmarks.experiments.real import run_real, run_task
from benchmarks.grids.read import RealGrid
from benchmarks.methods import SIZES
from benchmarks.stores import open_store
from smrmr.rivals import SIS

pytestmark = pytest.mark.slow

# --- files ---


class Handler(SimpleHTTPRequestHandler):
    """Serves the files of a folder; those named cut* end after ten bytes."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if not self.path.startswith("/cut"):
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"0123456789")

    def log_message(self, *_):
        pass


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A web server of our own, an empty cache, and no folder of the user."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("SMRMR_DATA", raising=False)
    folder = tmp_path / "site"
    folder.mkdir()
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *args: Handler(*args, directory=str(folder))
    )
    server.asked, server.folder = [], folder
    server.cache = tmp_path / "home" / "smrmr"
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_file_is_downloaded_once_and_its_checksum_kept(site):
    """Oracle: the bytes on the server, and what the server was asked for."""
    content = bytes(range(256)) * 1000
    (site.folder / "a.mat").write_bytes(content)
    calls = []
    file = File("a.mat", f"{site.url}/a.mat")
    path = fetch([file], lambda *call: calls.append(call))
    assert path == site.cache / "a.mat"
    assert path.read_bytes() == content
    assert (site.cache / "a.mat.sha256").read_text() == sha256(content).hexdigest()
    assert calls[-1] == ("download a.mat", len(content), len(content))
    assert len(calls) > 1
    assert fetch([file]) == path
    assert site.asked == ["/a.mat"]


def test_a_pinned_checksum_is_enforced(site):
    (site.folder / "a.mat").write_bytes(b"another file")
    pinned, found = sha256(b"the original").hexdigest(), sha256(b"another file").hexdigest()
    file = File("a.mat", f"{site.url}/a.mat", pinned)
    with pytest.raises(ValueError, match=f"a.mat has SHA-256 {found}; expected {pinned}.*try"):
        fetch([file])
    assert list(site.cache.iterdir()) == []
    (site.folder / "a.mat").write_bytes(b"the original")
    path = fetch([file])
    path.write_bytes(b"another file")
    with pytest.raises(ValueError, match="was changed or damaged: delete it"):
        fetch([file])


def test_a_file_without_pin_is_held_to_its_first_download(site):
    served, file = site.folder / "a.mat", File("a.mat", f"{site.url}/a.mat")
    served.write_bytes(b"first")
    path = fetch([file])
    path.write_bytes(b"edited")
    with pytest.raises(ValueError, match=r"of the first download, in a.mat.sha256"):
        fetch([file])
    path.unlink()
    served.write_bytes(b"second")
    with pytest.raises(ValueError, match=r"holds another file now.*Delete .*a\.mat\.sha256 too"):
        fetch([file])
    assert not path.exists()
    (site.cache / "a.mat.sha256").unlink()
    assert fetch([file]).read_bytes() == b"second"


def test_an_interrupted_download_leaves_nothing(site):
    with pytest.raises(OSError, match=r"cut.mat could not be downloaded.*10 of 1,000 bytes"):
        fetch([File("cut.mat", f"{site.url}/cut.mat")])
    assert list(site.cache.iterdir()) == []
    with pytest.raises(OSError, match=r"/gone.mat could not be downloaded: HTTP Error 404"):
        fetch([File("gone.mat", f"{site.url}/gone.mat")])


def test_the_users_folder_is_searched_and_nothing_downloaded(site, monkeypatch, tmp_path):
    (site.folder / "a.mat").write_bytes(b"served")
    (tmp_path / "mine" / "deep").mkdir(parents=True)
    monkeypatch.setenv("SMRMR_DATA", str(tmp_path / "mine"))
    forms = [File("a.mat", f"{site.url}/a.mat"), File("A.mat")]
    with pytest.raises(FileNotFoundError, match=r"no a.mat or A.mat below SMRMR_DATA=.*mine"):
        fetch(forms)
    (tmp_path / "mine" / "deep" / "A.mat").write_bytes(b"mine")
    assert fetch(forms).read_bytes() == b"mine"
    assert list((tmp_path / "mine" / "deep").iterdir()) == [fetch(forms)]
    assert site.asked == []


# --- data sets ---


def test_bytes_of_images_become_floats(tmp_path):
    """Oracle: 3 - 5 is -2, and 254 in bytes."""
    pixels = np.array([[3, 9], [5, 9], [4, 0], [5, 1]], dtype=np.uint8)
    savemat(tmp_path / "image.mat", {"X": pixels, "Y": np.array([[2], [7], [7], [2]])})
    data = read_arrays(tmp_path / "image.mat")
    assert data.X[0, 0] - data.X[1, 0] == -2
    assert data.y.tolist() == [0, 1, 1, 0]
    assert (data.target, data.names) == ("classes", ("x0", "x1"))


def test_toxicity_is_read_from_either_form(tmp_path):
    text = "a,b,Class\n1,2,NonToxic\n3,4,Toxic\n"
    (tmp_path / "toxicity.csv").write_text(text)
    with ZipFile(tmp_path / "toxicity-2.zip", "w") as archive:
        archive.writestr("notes.csv", "x\n")
        archive.writestr("folder/data.csv", text)
    for name in ("toxicity.csv", "toxicity-2.zip"):
        data = SOURCES["Toxicity"].read(tmp_path / name)
        assert data.X.tolist() == [[1, 2], [3, 4]]
        assert (data.y.tolist(), data.names) == ([0, 1], ("a", "b"))


HIV_ROWS = """\
id APV ATV IDV LPV NFV RTV SQV P1 P10 P99
a 1.0 NA 1 1 1 1 1 - I A
b 2.0 3.0 1 1 1 1 1 - IV A
c 4.0 NA 1 1 1 1 1 K I A
d 8.0 NA 1 1 1 1 1 K V -
e NA 5.0 1 1 1 1 1 K d .
f 9.0 NA 1 1 1 1 1 K V* -
g 16.0 NA 1 1 1 1 1 . V i
h 32.0 NA 1 1 1 1 1 K - i
"""


def test_hiv_preparation(tmp_path):
    """Oracle: worked by hand.

    Sample f has a bad cell, e no APV. 1K is in c, d, h (and in e and f, which are gone); 10V in b,
    d, g; 99A where 10I is; 99i in g and h only.
    """
    (tmp_path / "data.txt").write_text(HIV_ROWS.replace(" ", "\t"))
    table = mutations(tmp_path / "data.txt")
    assert list(table)[7:] == ["1K", "10I", "10V", "10d", "99A", "99i"]
    assert len(table) == 7
    X, y, names, positions = for_drug(table, "APV")
    assert names == ["1K", "10I", "10V"]
    assert positions.tolist() == [1, 10, 10]
    assert X.T.tolist() == [[0, 0, 1, 1, 0, 1], [1, 1, 1, 0, 0, 0], [0, 1, 0, 1, 1, 0]]
    np.testing.assert_allclose(y / np.log(2), [0, 1, 2, 3, 4, 5])


def test_listed_positions(tmp_path):
    (tmp_path / "list.txt").write_text("10\tF R\n82\tA F S T\n\n")
    assert listed_positions(tmp_path / "list.txt") == {10, 82}


@pytest.fixture
def small(tmp_path, monkeypatch):
    """60 rows in classes of 30, 24 and 6, 12 features of which 3 tell; as a file, and listed."""
    rng = np.random.default_rng(5)
    y = np.repeat([1, 2, 3], [30, 24, 6])
    X = rng.normal(size=(60, 12))
    X[:, :3] += 2 * (y[:, None] == [1, 2, 3])
    savemat(tmp_path / "small.mat", {"X": X, "Y": y[:, None]})
    monkeypatch.setenv("SMRMR_DATA", str(tmp_path))
    monkeypatch.setitem(
        SOURCES, "small", Source("small", ((File("small.mat"),),), 60, 12, read_arrays)
    )
    monkeypatch.setattr(prediction, "TREES", 5)
    return load("small")


TINY = RealGrid(("small",), 1, (), 0)


def test_load_refuses_other_sizes_and_names(small, monkeypatch):
    monkeypatch.setitem(SOURCES, "small", replace(SOURCES["small"], p=13))
    with pytest.raises(ValueError, match="60 rows and 12 features; 60 and 13 are expected"):
        load("small")
    with pytest.raises(ValueError, match="no data set 'GLIOMAS'"):
        load("GLIOMAS")


@pytest.mark.parametrize(
    ("name", "read", "content"),
    [
        ("small.mat", read_arrays, b"<html>moved</html>"),
        ("toxicity-2.zip", read_toxicity, b"<html>moved</html>"),
        ("toxicity.csv", read_toxicity, b"a,b\n1,2\n"),
    ],
)
def test_a_file_that_is_not_the_data_is_named(tmp_path, monkeypatch, name, read, content):
    """Such as the page that a server sends in place of a file that moved."""
    (tmp_path / name).write_bytes(content)
    monkeypatch.setenv("SMRMR_DATA", str(tmp_path))
    monkeypatch.setitem(SOURCES, "odd", Source("odd", ((File(name),),), 1, 2, read))
    with pytest.raises(ValueError, match=rf"{name} is not the file that odd is read from.*Delete"):
        load("odd")


# --- the protocol ---


def classes(sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = np.zeros((len(y), 1))
    return Dataset(X, y, ("x0",), "classes", np.arange(1))


@pytest.mark.parametrize("sizes", [(14, 7, 14, 15), (10,) * 10, (20, 3, 1)])
def test_folds_share_out_rows_and_classes(sizes):
    """Law: test folds are a partition; a part of a share gets that share of every class, +- 1."""
    data = classes(sizes)
    n = len(data.y)
    folds = [prediction.make_fold(data, "any", 3, fold) for fold in range(5)]
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(n))
    for fold in folds:
        parts = (fold.train, fold.validation, fold.test)
        assert sorted(np.concatenate(parts)) == list(range(n))
        for part, share in zip(parts, (0.64, 0.16, 0.2), strict=True):
            counts = np.bincount(data.y[part], minlength=len(sizes))
            assert (np.abs(counts - share * np.array(sizes)) < 2).all()
            assert abs(len(part) - share * n) < 2
    assert len({fold.method_seed for fold in folds}) == 5
    again = prediction.make_fold(data, "any", 4, 0)
    assert set(again.test) != set(folds[0].test)


@pytest.mark.parametrize("method", prediction.COMPARED)
def test_features_come_from_training_rows_alone(small, method):
    """Law: noise in place of all other rows changes nothing; in place of training rows it does."""
    fold = prediction.make_fold(small, "small", 0, 0)
    found = prediction.select_by_setting(small, fold, method)
    rng = np.random.default_rng(0)

    def with_noise(rows):
        X, y = small.X.copy(), small.y.copy()
        X[rows] = rng.normal(size=(len(rows), 12))
        y[rows] = rng.permutation(y[rows])
        changed = prediction.select_by_setting(replace(small, X=X, y=y), fold, method)
        return {setting: features.tolist() for setting, features in changed.items()}

    plain = {setting: features.tolist() for setting, features in found.items()}
    assert with_noise(np.concatenate([fold.validation, fold.test])) == plain
    if method not in ("all features", "no features"):
        assert with_noise(fold.train) != plain


@pytest.mark.parametrize("number", range(5))
def test_a_row_is_the_protocol_done_by_hand(small, number):
    """Oracle: the protocol written out for SIS with scikit-learn."""
    X, y = small.X, small.y
    fold = prediction.make_fold(small, "small", 0, number)
    order = np.argsort(SIS(target="classes").fit(X[fold.train], y[fold.train]).ranking_)

    def accuracy(k, train, test):
        forest = RandomForestClassifier(5, random_state=fold.forest_seed)
        forest.fit(X[np.ix_(train, order[:k])], y[train])
        return np.mean(forest.predict(X[np.ix_(test, order[:k])]) == y[test])

    scores = [accuracy(k, fold.train, fold.validation) for k in SIZES]
    best = SIZES[int(np.argmax(scores))]
    row = prediction.prediction_row(
        small, {"dataset": "small", "method": "SIS", "repeat": 0, "fold": number}
    )
    assert row["setting"] == f"k={best}"
    assert row["n_selected"] == min(best, 12)
    both = np.concatenate([fold.train, fold.validation])
    assert row["accuracy"] == pytest.approx(accuracy(best, both, fold.test))


def test_the_best_setting_is_chosen_and_the_first_of_equals():
    settings = {name: np.arange(k) for name, k in (("a", 1), ("b", 2), ("c", 3), ("d", 2))}
    asked = []

    def score(features):
        asked.append(len(features))
        return {1: 0.5, 2: 0.9, 3: 0.9}[len(features)]

    assert prediction._best(settings, score) == "b"
    assert asked == [1, 2, 3]


def rows_of(path):
    """Rows without their last value, the seconds, in any order."""
    return sorted(line.rsplit(",", 1)[0] for line in path.read_text().splitlines())


def test_runs_resume(small, tmp_path, monkeypatch):
    """Law: a finished run is left as it is; lost rows come back as they were, but for the time."""
    few = ("knockoffs, relaxed", "SIS", "HSIC-LASSO (blocks)", "all features", "no features")
    monkeypatch.setattr(prediction, "COMPARED", few)
    calls = []
    out = tmp_path / "out"
    run_real(TINY, out, progress=lambda *call: calls.append(call))
    path = out / "real.csv"
    first = path.read_bytes()
    frame = open_store(out, "real").frame()
    assert len(frame) == 5 * len(few)
    assert (frame["status"] == "ok").all(), set(frame["status"])
    assert calls == [("real data", k, 5) for k in range(6)]
    means = frame.groupby("method")["accuracy"].mean()
    assert means["no features"] == 0.5  # the largest class has half of the rows
    assert means["all features"] > 0.6

    run_real(TINY, out)
    assert path.read_bytes() == first

    before = rows_of(path)
    lines = first.decode().splitlines(keepends=True)
    path.write_text("".join(lines[:1] + lines[2::2]) + "small,SIS,0")  # killed while writing
    with parallel_config(backend="threading"):
        run_real(TINY, out, jobs=2)
    assert rows_of(path) == before


def test_a_failure_is_a_row(tmp_path, monkeypatch):
    """Oracle: 15 training rows are too few for a block of 20."""
    monkeypatch.setattr(prediction, "TREES", 5)
    rng = np.random.default_rng(1)
    data = replace(classes((12, 12)), X=rng.normal(size=(24, 3)))
    task = prediction.prediction_tasks(["tiny"], 1)[0]
    rows = {row["method"]: row for row in run_task(prediction.prediction_row, data, task)}
    failed = rows["HSIC-LASSO (blocks)"]
    assert failed["status"].startswith("ValueError: block_size=20")
    assert "accuracy" not in failed
    assert [name for name in rows if rows[name]["status"] != "ok"] == ["HSIC-LASSO (blocks)"]
    for name in ("knockoffs, relaxed", "paper (PC, SCAD), relaxed", "paper (PC, MCP), relaxed"):
        assert rows[name]["n_selected"] > 0  # the level is raised, for these data are noise
    store = open_store(tmp_path, "real")
    store.append(rows.values())
    assert len(store.done()) == len(task)


def test_data_sets_that_are_missing_are_named_and_left_out(small, tmp_path, monkeypatch):
    grid = RealGrid(("GLIOMA", "small"), 1, ("madelon",), 1)
    monkeypatch.setattr(prediction, "COMPARED", ("SIS",))
    monkeypatch.setattr(known_truth, "COMPARED", ("knockoffs",))
    with pytest.warns(UserWarning, match=r"left out: GLIOMA: .*\. madelon: .*") as warned:
        run_real(grid, tmp_path / "out")
    assert len(warned) == 1
    assert set(open_store(tmp_path / "out", "real").frame()["dataset"]) == {"small"}


# --- known truth ---


def test_findings_count_units_once(rng, monkeypatch):
    """Oracle: 12 strong features, two to a unit, 4 of 6 units true; all others are in the last."""
    monkeypatch.setitem(sys.modules, "knockpy", None)  # as if it were not installed
    X = rng.normal(size=(400, 30))
    y = X[:, :12] @ np.ones(12) + 0.1 * rng.normal(size=400)
    names = tuple(map(str, range(30)))
    units = np.minimum(np.arange(30) // 2, 5)
    data = Dataset(X, y, names, "continuous", units, frozenset(range(4)))
    with pytest.warns(UserWarning, match="LASSO knockoffs is left out: knockpy is not installed"):
        (task,) = known_truth.truth_tasks(["strong"], 1)
    rows = run_task(known_truth.truth_row, data, task)
    assert len(rows) == 3
    for row in rows:
        assert row["n_selected"] >= 12
        assert (row["n_true"], row["n_false"]) == (4, 2)


def test_lasso_knockoffs_find_strong_features(rng):
    pytest.importorskip("knockpy")
    X = rng.normal(size=(400, 30))
    names = tuple(map(str, range(30)))
    y = X[:, :12] @ np.ones(12)
    data = Dataset(X, y, names, "continuous", np.arange(30), frozenset(range(12)))
    task = [
        key
        for key in known_truth.truth_tasks(["strong"], 1)[0]
        if key["method"] == "LASSO knockoffs"
    ]
    rows = [run_task(known_truth.truth_row, data, task)[0] for _ in range(2)]
    assert rows[0]["n_true"] == 12
    assert rows[0]["n_false"] == rows[1]["n_false"]


# --- the true files ---

given = pytest.mark.skipif(
    not os.environ.get("SMRMR_DATA"), reason="SMRMR_DATA names no folder with the data sets"
)


def present(name):
    if not all(map(find, SOURCES[name].files)):
        pytest.skip(f"{name} is not below SMRMR_DATA")
    return load(name)


@given
@pytest.mark.parametrize("name", SOURCES)
def test_true_files_load(name):
    """Oracle: the paper's table of sizes, which `load` enforces."""
    data = present(name)
    assert data.X.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert len(data.names) == len(data.units) == data.X.shape[1]


@given
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("GLIOMA", [14, 7, 14, 15]),
        ("TOX_171", [45, 45, 39, 42]),
        ("warpAR10P", [13] * 10),
        ("Toxicity", [115, 56]),
    ],
)
def test_true_classes(name, sizes):
    """Oracle: published class sizes."""
    assert np.bincount(present(name).y).tolist() == sizes


@given
def test_true_hiv_data():
    """Oracle: 846 samples with 361 mutations, as published; 34 positions in the list."""
    data = present("HIV APV")
    assert len(data.truth) == 34
    path = next(Path(os.environ["SMRMR_DATA"]).rglob("PI_DATA.txt"))
    assert mutations(path).shape == (846, 7 + 361)
