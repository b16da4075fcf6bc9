"""Columns read where they lie: the same answers from every source, engine and resumed run."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import smrmr
from recipes import recipe
from smrmr import Recipe, SmRMR, relevance, select, simulate
from smrmr.data import open_columns
from smrmr.data.columns import Columns, as_columns
from smrmr.data.files.genotypes import BedColumns
from smrmr.data.files.stores import StoredColumns
from smrmr.data.sources import DaskColumns, Subset, as_source
from smrmr.features.copies import find_copies
from smrmr.paper import Gaussian
from smrmr.problems import Problem
from smrmr.rivals import SIS
from smrmr.runs.checkpoints import Checkpoints, checkpoints_in
from thinned import thinned

both_controls = pytest.mark.parametrize("control", ["tests", "knockoffs"])
pytestmark = pytest.mark.filterwarnings(
    "ignore:Knockoffs. NOT exchangeable", "ignore:y has 12 classes"
)


def assert_same(found, expected):
    """The same answer, bit for bit."""
    assert_array_equal(found.evidence.scores, expected.evidence.scores)
    assert_array_equal(found.q_values, expected.q_values)
    assert_array_equal(found.selected, expected.selected)


def write_npy(folder, X):
    np.save(folder / "X.npy", X)
    return open_columns(folder / "X.npy")


def write_npy_by_columns(folder, X):
    np.save(folder / "F.npy", np.asfortranarray(X))
    return open_columns(folder / "F.npy")


def write_hdf5(folder, X):
    import h5py

    with h5py.File(folder / "X.h5", "w") as file:
        file["counts"] = X
    return open_columns(folder / "X.h5", "counts")


def write_anndata(folder, X, convert=np.asarray):
    import anndata

    path = folder / "X.h5ad"
    anndata.AnnData(convert(X)).write_h5ad(path)
    return open_columns(path)


def write_csr(folder, X):
    return write_anndata(folder, X, sparse.csr_matrix)


def write_csc(folder, X):
    return write_anndata(folder, X, sparse.csc_matrix)


def write_zarr(folder, X):
    import zarr

    zarr.save(str(folder / "X.zarr"), X)
    return open_columns(folder / "X.zarr")


def write_dask(folder, X):
    array = pytest.importorskip("dask.array", reason="needs: pip install smrmr[dask]")
    return as_source(array.from_array(X, chunks=(50, 7)))


def write_bed(folder, X, name="X"):
    """Oracle: bed-reader's writer."""
    from bed_reader import to_bed

    path = folder / f"{name}.bed"
    to_bed(path, X, properties={"sid": [f"rs{k}" for k in range(X.shape[1])]})
    return open_columns(path)


NUMBERS = [
    write_npy,
    write_npy_by_columns,
    write_hdf5,
    write_anndata,
    write_csr,
    write_csc,
    write_zarr,
    write_dask,
]


@pytest.fixture(scope="module")
def data():
    """60 features: many zeros in some, a constant, a copy; five tell about y."""
    drawn = simulate("1.d", 120, 100, random_state=0)
    X = drawn.X[:, :60].copy()
    X[:, 3:50:7] *= X[:, 3:50:7] > 0.5
    X[:, 20] = 4.0
    X[:, 33] = -2 * X[:, 31]
    noise = np.random.default_rng(0).normal(size=120)
    return replace(drawn, X=X, y=X[:, ::10].sum(axis=1) + 0.5 * noise)


@pytest.fixture(scope="module")
def genotypes():
    drawn = simulate("genotypes", 120, 100, random_state=1)
    return replace(drawn, X=drawn.X[:, :60].copy())


@pytest.mark.parametrize("write", NUMBERS)
def test_columns_come_as_they_are(write, data, tmp_path):
    source = write(tmp_path, data.X)
    assert source.shape == data.X.shape
    for which in (
        slice(None),
        slice(5, 9),
        np.array([3]),
        np.array([50, 2, 3]),
        np.array([4, 4, 9, 4]),
        np.array([], dtype=int),
    ):
        assert_array_equal(source.read(which), data.X[:, which])
    again = pickle.loads(pickle.dumps(source))
    assert_array_equal(again.read(slice(7, 20)), data.X[:, 7:20])
    if not isinstance(source, DaskColumns):
        assert len(pickle.dumps(source)) < 2000


@pytest.fixture(scope="module")
def from_array(data):
    """What the array gives, fitted once."""
    return cache(lambda control, **more: select(data.X, data.y, asked(control, **more), rng=0))


def asked(control, alike=None, **more):
    return Recipe(fdr=0.4, control=control, alike=alike, **more)


@pytest.mark.parametrize(
    ("write", "control"),
    thinned(
        [(write, control) for write in NUMBERS for control in ("tests", "knockoffs")],
        [(write, "tests") for write in NUMBERS] + [(write_csc, "knockoffs")],
    ),
)
def test_every_source_gives_the_same_selection(write, control, data, from_array, tmp_path):
    """Bit for bit with projection correlation, from relevance to the last number."""
    source = write(tmp_path, data.X)
    assert_array_equal(relevance(source, data.y), relevance(data.X, data.y))
    expected = from_array(control)
    found = select(source, data.y, asked(control), rng=0)
    assert_same(found, expected)
    assert_array_equal(found.relevance, expected.relevance)
    assert [g.tolist() for g in found.copies] == [g.tolist() for g in expected.copies] == [[31, 33]]
    assert found.constants.tolist() == expected.constants.tolist() == [20]
    assert found.selected.size


def test_estimators_take_sources(data, tmp_path):
    source = write_npy(tmp_path, data.X)
    fitted = SmRMR(random_state=0).fit(source, data.y)
    assert_array_equal(fitted.support_, SmRMR(random_state=0).fit(data.X, data.y).support_)
    assert_array_equal(fitted.transform(source), data.X[:, fitted.support_])
    assert_array_equal(SIS(5).fit(source, data.y).ranking_, SIS(5).fit(data.X, data.y).ranking_)


@pytest.mark.parametrize("measure", ["hsic", "dcor", "pearson"])
def test_other_measures_agree_to_twelve_digits(measure, data, tmp_path):
    source = write_zarr(tmp_path, data.X)
    assert_allclose(
        relevance(source, data.y, measure=measure),
        relevance(data.X, data.y, measure=measure),
        atol=1e-12,
    )


def test_data_sets_and_memory_maps_are_taken_as_they_are(data, tmp_path):
    import h5py

    write_hdf5(tmp_path, data.X)
    with h5py.File(tmp_path / "X.h5") as file:
        source = as_source(file["counts"])
    assert isinstance(source, StoredColumns)
    assert_array_equal(relevance(source, data.y), relevance(data.X, data.y))
    np.save(tmp_path / "X.npy", data.X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_array_equal(relevance(mapped, data.y), relevance(data.X, data.y))


@pytest.mark.parametrize("n", [148, 149, 150, 151])
def test_bed_files_are_read_as_bed_reader_reads_them(n, tmp_path, rng):
    from bed_reader import open_bed

    X = rng.integers(0, 3, size=(n, 90)).astype(np.int8)
    X[rng.random(X.shape) < 0.02] = -127  # bed-reader's missing value
    source = write_bed(tmp_path, X)
    theirs = open_bed(tmp_path / "X.bed").read(dtype="int8")
    full = np.flatnonzero((theirs >= 0).all(axis=0))
    assert full.size
    assert_array_equal(source.read(full), theirs[:, full])
    assert source.names[:2] == ("rs0", "rs1")
    with pytest.raises(ValueError, match=r"columns read have missing.*first rs.*impute-mode"):
        source.read(slice(None))
    filled = open_columns(tmp_path / "X.bed", missing="impute-mode").read(slice(None))
    for k in range(90):
        known = theirs[theirs[:, k] >= 0, k]
        mode = np.bincount(known).argmax()
        assert_array_equal(filled[:, k], np.where(theirs[:, k] < 0, mode, theirs[:, k]))


@both_controls
def test_genotypes_select_alike_from_file_and_memory(control, genotypes, tmp_path):
    X = genotypes.X.astype(np.int8)
    source = write_bed(tmp_path, X)
    expected = select(X, genotypes.y, Recipe(fdr=0.5, control=control), rng=3)
    found = select(source, genotypes.y, Recipe(fdr=0.5, control=control), rng=3)
    assert_same(found, expected)
    assert found.names[7] == "rs7"


def test_broken_files_say_what_is_wrong(genotypes, tmp_path):
    write_bed(tmp_path, genotypes.X.astype(np.int8))
    path = tmp_path / "X.bed"
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.raises(ValueError, match="truncated"):
        open_columns(path)
    path.write_bytes(b"\x6c\x1b\x00" + whole[3:])
    with pytest.raises(ValueError, match="one SNP after the other"):
        open_columns(path)
    path.write_bytes(whole)
    (tmp_path / "X.fam").unlink()
    with pytest.raises(FileNotFoundError, match=r"needs X\.fam beside"):
        open_columns(path)
    with pytest.raises(FileNotFoundError, match="no file"):
        open_columns(tmp_path / "absent.npy")
    (tmp_path / "X.txt").write_text("1 2")
    with pytest.raises(ValueError, match="cannot be read by columns"):
        open_columns(tmp_path / "X.txt")
    np.save(tmp_path / "one.npy", np.zeros(5))
    np.save(tmp_path / "X.npy", genotypes.X)
    with pytest.raises(ValueError, match=r"missing='impute-all' is not known.*'impute-mode'"):
        open_columns(tmp_path / "X.npy", missing="impute-all")
    with pytest.raises(ValueError, match=r"drop-rows' would need the whole file.*impute-median"):
        open_columns(tmp_path / "X.npy", missing="drop-rows")
    with pytest.raises(ValueError, match=r"shape \(5,\)"):
        relevance(open_columns(tmp_path / "one.npy"), np.arange(5.0))


@pytest.mark.parametrize(("module", "name"), [("h5py", "X.h5"), ("zarr", "X.zarr")])
def test_a_missing_package_is_named(module, name, tmp_path, monkeypatch):
    (tmp_path / name).write_bytes(b"")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf'need {module}.*pip install "smrmr\[files\]"'):
        relevance(open_columns(tmp_path / name), np.arange(9.0))


def test_a_source_that_does_not_keep_its_word_is_refused(data):
    class Turned:
        shape = data.X.shape

        def read(self, columns):
            return data.X.T[columns]

    with pytest.raises(ValueError, match=r"the source of X gave .* Has the file changed"):
        relevance(Turned(), data.y)


@pytest.mark.parametrize("dtype", ["f2", ">f8", ">i2", "u8", "i8"])
def test_copies_among_numbers_of_any_kind(dtype, rng):
    """Oracle: the one copy that was made."""
    X = rng.integers(0, 200, size=(60, 30)).astype(dtype)
    X[:, 7] = X[:, 3]
    copies = find_copies(as_columns(X), by_rank=True)
    assert_array_equal(copies.leaders, np.where(np.arange(30) == 7, 3, np.arange(30)))
    assert not copies.constant.any()


@pytest.mark.parametrize("dtype", ["u8", "i8"])
def test_numbers_that_floats_cannot_tell_apart_are_constant(dtype, rng):
    """Oracle: 2 ** 62 plus less than 2 ** 9 is 2 ** 62 as a float, and measures see floats."""
    X = 2**62 + rng.integers(0, 200, size=(60, 30)).astype(dtype)
    assert find_copies(as_columns(X), by_rank=True).constant.all()


def test_transform_counts_the_columns_of_a_source(data, tmp_path):
    fitted = SIS(5).fit(data.X[:, :50], data.y)
    with pytest.raises(ValueError, match="expecting 50 features"):
        fitted.transform(write_npy(tmp_path, data.X))


def test_missing_numbers_are_refused_when_they_are_read(data, tmp_path):
    X = data.X.copy()
    X[4, 17] = np.nan
    source = write_npy(tmp_path, X)
    with pytest.raises(ValueError, match=r"missing or infinite.*x17: 1"):
        relevance(source, data.y)


@pytest.mark.parametrize(("how", "fill"), [("median", 2.0), ("mean", 4.0), ("mode", 1.0)])
def test_missing_numbers_are_filled_when_they_are_read(how, fill, tmp_path):
    """Oracle: median, mean and mode of 1, 1, 2, 3, 13 by hand."""
    column = np.array([1, np.nan, 1, 2, 3, 13, np.inf])
    np.save(tmp_path / "X.npy", np.column_stack([column, np.arange(7)]))
    found = open_columns(tmp_path / "X.npy", missing=f"impute-{how}").read(slice(None))
    assert_array_equal(found[:, 0], [1, fill, 1, 2, 3, 13, fill])
    assert_array_equal(found[:, 1], np.arange(7))


@pytest.mark.parametrize("how", ["median", "mean", "mode"])
def test_columns_without_any_value_cannot_be_filled(how, tmp_path):
    """Oracle: the words that a table in memory gets."""
    np.save(tmp_path / "X.npy", np.column_stack([np.arange(7.0), np.full(7, np.nan)]))
    with pytest.raises(ValueError, match=r"column x1 has no value at all.*drop=.'x1'"):
        open_columns(tmp_path / "X.npy", missing=f"impute-{how}").read(slice(None))


def test_subsets_of_subsets(data, tmp_path):
    source = write_npy(tmp_path, data.X)
    columns = Columns.bare(source)
    rows, others = np.array([5, 7, 100, 3]), np.array([1, 0])
    some, fewer = np.array([9, 50, 20, 4]), np.array([3, 1])
    twice = columns.take(rows, some).take(others, fewer)
    assert isinstance(twice.data, Subset)
    assert twice.data.source is source
    assert_array_equal(twice.values, data.X[np.ix_(rows[others], some[fewer])])
    assert columns.take(columns=some).span(1, 3).values.shape == (120, 2)


def test_little_is_sent_to_workers(data, tmp_path):
    """A block of a subset of a file takes its own columns along, and nothing else."""
    source = write_npy(tmp_path, data.X)
    part = Columns.bare(source).take(np.arange(100), np.arange(60)).span(10, 20)
    assert len(pickle.dumps(part)) < 3000
    array = Columns.bare(np.zeros((100, 10_000)))
    assert len(pickle.dumps(array.span(10, 20))) < 9000


@both_controls
@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_engines_agree(backend, control, data, from_array, tmp_path):
    source = write_npy(tmp_path, data.X)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found = select(source, data.y, asked(control, alike="auto", n_jobs=2), rng=0)
    assert_same(found, from_array(control, alike="auto"))


def test_copies_among_few_levels_are_found_by_brute_force_too(rng):
    """Oracle: ranks that correlate by 1 or -1, over all pairs."""
    from scipy.stats import rankdata

    X = rng.integers(0, 3, size=(12, 300)).astype(np.int8)
    X[:, 50:90] = 2 - X[:, 100:140]
    X[:, 90:95] = 5 * X[:, 10:15] + 1
    X[:, 7] = 1
    for values in (X, X.astype(float), X * 0.37):
        copies = find_copies(Columns.bare(values), by_rank=False)
        leaders, constant = copies.leaders, copies.constant
        ranks = rankdata(values, axis=0)
        with np.errstate(invalid="ignore"):
            same = np.abs(np.corrcoef(ranks.T)) > 1 - 1e-9
        expected = [int(np.flatnonzero(row)[0]) if row.any() else k for k, row in enumerate(same)]
        assert_array_equal(leaders, expected)
        assert_array_equal(constant, ranks.std(axis=0) == 0)
        assert (leaders != np.arange(300)).sum() >= 45


def about(**changes):
    return {"features": 3, "seed": 0} | changes


def test_blocks_are_kept_checked_and_tied_to_their_run(tmp_path, caplog):
    folder = tmp_path / "run"
    with checkpoints_in(folder, about()):
        pass
    kept = Checkpoints(folder)
    arrays = [np.arange(3), np.eye(2)]
    kept.save(1, 5, arrays)
    for one, other in zip(kept.load(1, 5), arrays, strict=True):
        assert_array_equal(one, other)
    assert kept.load(1, 6) is None
    (block,) = folder.glob("stage*")
    content = bytearray(block.read_bytes())
    content[-40] ^= 1
    block.write_bytes(content)
    assert kept.load(1, 5) is None
    assert "damaged" in caplog.text
    block.write_bytes(content[:20])
    assert kept.load(1, 5) is None
    with (
        pytest.raises(ValueError, match="seed was 0 and is 1"),
        checkpoints_in(folder, about(seed=1)),
    ):
        pass
    with pytest.raises(ValueError, match="holds no run"), checkpoints_in(tmp_path, about()):
        pass
    (folder / "run.json").write_text("{")
    with pytest.raises(ValueError, match="cannot be read"), checkpoints_in(folder, about()):
        pass


@both_controls
def test_a_resumed_run_gives_the_same_answer(control, data, from_array, tmp_path):
    """Also with a block damaged, and it computes only what is not there."""
    settings = asked(control, alike="auto", max_memory="100kB")
    expected = from_array(control, alike="auto")
    first = select(data.X, data.y, settings, rng=0, run_dir=tmp_path / "run")
    blocks = sorted((tmp_path / "run").glob("stage*"))
    assert len(blocks) > 10
    written = {block: block.stat().st_mtime_ns for block in blocks}
    damaged, lost = blocks[3], blocks[7]
    damaged.write_bytes(b"x" * 100)
    lost.unlink()
    second = select(data.X, data.y, settings, rng=0, run_dir=tmp_path / "run")
    for found in (first, second):
        assert_same(found, expected)
    again = {block for block in blocks if block.stat().st_mtime_ns != written[block]}
    assert again == {damaged, lost}
    with pytest.raises(
        ValueError, match=rf"control was '{control}' and is 'knockoffs.penalty=scad.'"
    ):
        select(data.X, data.y, asked("knockoffs(penalty=scad)", alike="auto", max_memory="100kB"),
               rng=0, run_dir=tmp_path / "run")  # fmt: skip


def test_another_run_is_refused(data, tmp_path):
    """Law: other data, settings or seeds never mix with what a folder holds."""
    settings = recipe(lam=0.01)
    select(data.X, data.y, settings, rng=0, run_dir=tmp_path / "run")
    with pytest.raises(ValueError, match="another run: y was"):
        select(data.X, -data.y, settings, rng=0, run_dir=tmp_path / "run")
    other = data.X.copy()
    other[:, 1] = other[::-1, 1]  # which a sample of columns may not see
    with pytest.raises(ValueError, match="another run: X was"):
        select(other, data.y, settings, rng=0, run_dir=tmp_path / "run")
    labels = np.array([f"c{i % 12}" for i in range(120)])
    numbers = np.arange(120) % 12
    select(data.X, labels, settings, rng=0, run_dir=tmp_path / "labels")
    with pytest.raises(ValueError, match=r"y was 'classes.*is 'continuous"):
        select(data.X, numbers, settings, rng=0, run_dir=tmp_path / "labels")
    eye = recipe(lam=0.01, knockoffs=Gaussian(covariance=np.eye(60)))
    select(data.X, data.y, eye, rng=0, run_dir=tmp_path / "eye")
    half = recipe(lam=0.01, knockoffs=Gaussian(covariance=0.5 + 0.5 * np.eye(60)))
    with pytest.raises(ValueError, match="covariance=array"):
        select(data.X, data.y, half, rng=0, run_dir=tmp_path / "eye")
    drawn = recipe(lam=0.01, knockoffs=lambda X, rng: rng.permuted(X, axis=0))
    with pytest.raises(ValueError, match="knockoffs as an array"):
        select(data.X, data.y, drawn, rng=0, run_dir=tmp_path / "drawn")
    with pytest.raises(ValueError, match=r"random_state=None.*whole number"):
        select(data.X, data.y, settings, rng=None, run_dir=tmp_path / "run")


SCRIPT = """
import sys
import numpy as np
from smrmr import Recipe, select
from smrmr.data import open_columns
y = np.load(sys.argv[2])
settings = Recipe(control="knockoffs", max_memory="20MB")
found = select(open_columns(sys.argv[1]), y, settings, rng=0, run_dir=sys.argv[3])
np.save(sys.argv[4], found.W)
"""


@pytest.mark.slow
def test_kill_minus_nine_loses_blocks_in_flight_only(tmp_path):
    drawn = simulate("1.d", 300, 8000, random_state=2)
    np.save(tmp_path / "X.npy", drawn.X)
    np.save(tmp_path / "y.npy", drawn.y)
    run = tmp_path / "run"
    command = [sys.executable, "-c", SCRIPT, *(str(tmp_path / name) for name in ("X.npy", "y.npy"))]
    command += [str(run), str(tmp_path / "W.npy")]
    running = subprocess.Popen(command, start_new_session=True)
    while running.poll() is None and len(list(run.glob("stage*"))) < 4:
        time.sleep(0.005)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    kept = {path: path.stat().st_mtime_ns for path in run.glob("stage*")}
    assert len(kept) >= 4
    assert not (tmp_path / "W.npy").exists()
    subprocess.run(command, check=True)
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in kept.items())
    settings = Recipe(control="knockoffs", max_memory="20MB")
    expected = select(drawn.X, drawn.y, settings, rng=0).W
    assert_array_equal(np.load(tmp_path / "W.npy"), expected)


@both_controls
def test_a_full_disk_is_an_error_and_keeps_what_is_there(
    control, data, from_array, tmp_path, monkeypatch
):
    settings = asked(control, max_memory="100kB")
    write = Path.write_bytes
    count = 0

    def full(path, content):
        nonlocal count
        count += 1
        if count > 5:
            raise OSError(28, "No space left on device", str(path))
        return write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(Problem, match=r"no room left on the disk for .*stage-001"):
            select(data.X, data.y, settings, rng=0, run_dir=tmp_path / "run")
    assert len(list((tmp_path / "run").glob("stage*"))) == 5
    assert not list((tmp_path / "run").glob(".smrmr*"))
    found = select(data.X, data.y, settings, rng=0, run_dir=tmp_path / "run")
    assert_same(found, from_array(control))


def test_large_redundancies_go_to_a_file(data):
    found = smrmr.redundancy(data.X, max_memory="25kB")
    assert isinstance(found, np.memmap)
    assert_array_equal(found, smrmr.redundancy(data.X))


def test_bed_handles_know_their_shape(genotypes, tmp_path):
    source = write_bed(tmp_path, genotypes.X.astype(np.int8))
    assert isinstance(source.source, BedColumns)
    (tmp_path / "X.fam").unlink()
    again = pickle.loads(pickle.dumps(source))  # a worker counts nothing again
    assert_array_equal(again.read(slice(3)), genotypes.X[:, :3])
