"""Files of the field: every format gives the same data, every fault its own message."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat
from scipy.sparse import csc_matrix, csr_array, save_npz
from typer.testing import CliRunner

from faults import FAULTS, TABLE
from smrmr import simulate
from smrmr.cli.commands import app
from smrmr.data import read_data
from smrmr.data.files import FORMATS
from smrmr.data.impute import without_missing


@pytest.fixture(scope="module")
def good():
    """Twelve samples of five genes with a target, two kinds of it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 5)).round(3)
    names = [f"gene{k}" for k in range(5)]
    ids = [f"s{k}" for k in range(12)]
    y = rng.normal(size=12).round(3)
    return SimpleNamespace(
        X=X, y=y, names=names, ids=ids, frame=pd.DataFrame(X, columns=names).assign(y=y)
    )


def write_csv(good, folder):
    path = folder / "data.csv"
    good.frame.to_csv(path, index=False)
    return path, {"target": "y"}


def write_csv_gz(good, folder):
    path = folder / "data.csv.gz"
    good.frame.to_csv(path, index=False)
    return path, {"target": "y"}


def write_semicolons(good, folder):
    path = folder / "data.csv"
    good.frame.to_csv(path, index=False, sep=";", encoding="utf-8-sig")
    return path, {"target": "y"}


def write_tsv(good, folder):
    path = folder / "data.tsv"
    good.frame.to_csv(path, index=False, sep="\t")
    return path, {"target": "y"}


def write_transposed(good, folder):
    path = folder / "genes.csv"
    good.frame.set_axis(good.ids).T.to_csv(path)
    return path, {"target": "y", "transpose": True}


def write_pheno(good, folder):
    path = folder / "genes.csv"
    good.frame.drop(columns="y").set_axis(good.ids).T.to_csv(path)
    other = folder / "pheno.csv"
    pd.DataFrame({"sample": good.ids[::-1], "y": good.y[::-1]}).to_csv(other, index=False)
    return path, {"target": "y", "transpose": True, "pheno": other, "id": "sample"}


def write_parquet(good, folder):
    path = folder / "data.parquet"
    good.frame.to_parquet(path)
    return path, {"target": "y"}


def write_xlsx(good, folder):
    path = folder / "data.xlsx"
    good.frame.set_axis(good.ids).to_excel(path)
    return path, {"target": "y"}


def write_rds(good, folder):
    pyreadr = pytest.importorskip("pyreadr")
    path = folder / "data.rds"
    pyreadr.write_rds(path, good.frame)
    return path, {"target": "y"}


def write_npz(good, folder):
    path = folder / "data.npz"
    np.savez(path, X=good.X, y=good.y, names=np.array(good.names))
    return path, {}


def write_npy(good, folder):
    path = folder / "data.npy"
    np.save(path, np.column_stack([good.X, good.y]))
    return path, {"target": "x5"}


def write_mat(good, folder):
    path = folder / "data.mat"
    savemat(path, {"X": good.X, "Y": good.y[:, None]})
    return path, {}


def write_h5ad(good, folder):
    anndata = pytest.importorskip("anndata")
    path = folder / "data.h5ad"
    obs = pd.DataFrame({"y": good.y}, index=good.ids)
    var = pd.DataFrame(index=good.names)
    data = anndata.AnnData(np.zeros_like(good.X), obs, var, layers={"counts": csr_array(good.X)})
    data.write_h5ad(path)
    return path, {"target": "y", "layer": "counts"}


def write_zarr(good, folder):
    zarr = pytest.importorskip("zarr")
    path = folder / "data.zarr"
    group = zarr.open_group(str(path), mode="w")
    for name, values in (("X", good.X), ("y", good.y)):
        group[name] = values  # both versions 2 and 3 of zarr know this
    return path, {}


def write_h5(good, folder):
    h5py = pytest.importorskip("h5py")
    path = folder / "data.h5"
    with h5py.File(path, "w") as file:
        file["X"], file["y"], file["names"] = good.X, good.y, good.names
    return path, {}


def write_anndata_in_zarr(good, folder):
    anndata = pytest.importorskip("anndata")
    path = folder / "data.zarr"
    obs, var = pd.DataFrame({"y": good.y}, index=good.ids), pd.DataFrame(index=good.names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which version of zarr is written
        anndata.AnnData(csc_matrix(good.X), obs, var).write_zarr(path)
    return path, {"target": "y"}


def write_old_h5ad(good, folder):
    """Tables as arrays of records, as AnnData wrote them before version 0.7."""
    h5py = pytest.importorskip("h5py")
    path = folder / "data.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = good.X
        obs = list(zip([name.encode() for name in good.ids], good.y, strict=True))
        file["obs"] = np.array(obs, dtype=[("index", "S9"), ("y", "f8")])
        file["var"] = np.array([(name.encode(),) for name in good.names], dtype=[("index", "S9")])
    return path, {"target": "y"}


WRITERS = [
    write_csv, write_csv_gz, write_semicolons, write_tsv, write_transposed, write_pheno,
    write_parquet, write_xlsx, write_rds, write_npz, write_npy, write_mat, write_h5ad, write_h5,
    write_zarr, write_anndata_in_zarr, write_old_h5ad,
]  # fmt: skip


@pytest.mark.parametrize("write", WRITERS)
def test_every_format_gives_the_same_data(write, good, tmp_path):
    """Oracle: the arrays that were written."""
    path, options = write(good, tmp_path)
    data = read_data(path, **options)
    np.testing.assert_array_equal(data.X.to_numpy(), good.X)
    np.testing.assert_array_equal(data.y.to_numpy(), good.y)
    named = write not in (write_npy, write_mat, write_zarr)
    assert list(data.X.columns) == (good.names if named else [f"x{k}" for k in range(5)])
    if write in (write_transposed, write_pheno, write_h5ad, write_old_h5ad):
        assert list(data.X.index) == good.ids
    assert all(len(digest) == 64 for digest in data.source.values())
    assert len(data.source) == (2 if write is write_pheno else 1)


@pytest.mark.parametrize("packing", [".gz", ".zip"])
@pytest.mark.parametrize("write", [write for write in WRITERS if write is not write_csv_gz])
def test_packed_files_give_the_same_data(write, packing, good, tmp_path):
    """Oracle: the arrays that were written; a folder has no .gz."""
    path, options = write(good, tmp_path)
    packed = path.with_name(path.name + packing)
    if packing == ".zip":
        with ZipFile(packed, "w") as archive:
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                archive.write(file, file.relative_to(tmp_path))
    elif path.is_dir():
        pytest.skip("a folder")
    else:
        packed.write_bytes(gzip.compress(path.read_bytes()))
    (shutil.rmtree if path.is_dir() else Path.unlink)(path)
    data = read_data(packed, **options)
    np.testing.assert_array_equal(data.X.to_numpy(), good.X)
    np.testing.assert_array_equal(data.y.to_numpy(), good.y)
    assert packed.name in data.source


def write_plink(folder, calls, phenotypes):
    """PLINK's own bit layout: two bits a genotype, four samples a byte, variants in rows."""
    code = {2: 0b00, 1: 0b10, 0: 0b11, -1: 0b01}
    n = len(calls)
    body = bytearray(b"\x6c\x1b\x01")
    for variant in np.asarray(calls).T:
        for start in range(0, n, 4):
            byte = 0
            for place, call in enumerate(variant[start : start + 4]):
                byte |= code[int(call)] << (2 * place)
            body.append(byte)
    path = folder / "data.bed"
    path.write_bytes(bytes(body))
    p = len(calls[0])
    (folder / "data.bim").write_text("".join(f"1\trs{k}\t0\t{k}\tA\tG\n" for k in range(p)))
    (folder / "data.fam").write_text(
        "".join(f"f{i} s{i} 0 0 1 {y}\n" for i, y in enumerate(phenotypes))
    )
    return path


def test_plink_genotypes_are_counts(tmp_path):
    """Oracle: genotypes packed into PLINK's bits by hand."""
    pytest.importorskip("bed_reader")
    rng = np.random.default_rng(0)
    calls = rng.integers(0, 3, size=(11, 7))
    path = write_plink(tmp_path, calls, rng.normal(size=11).round(3))
    data = read_data(path)
    np.testing.assert_array_equal(data.X.to_numpy(), calls)
    assert list(data.X.columns) == [f"rs{k}" for k in range(7)]
    assert list(data.X.index) == [f"s{i}" for i in range(11)]
    calls[3, 2] = calls[5, 2] = -1
    path = write_plink(tmp_path, calls, rng.normal(size=11).round(3))
    with pytest.raises(ValueError, match=r"2 missing values in 1 column of 7 \(rs2: 2\)"):
        read_data(path)
    filled = read_data(path, missing="impute-mode")
    mode = pd.Series(calls[calls[:, 2] >= 0, 2]).mode()[0]
    assert filled.X["rs2"].iloc[3] == mode
    assert "filled with the column mode" in filled.notes[0]


def test_joined_phenotypes_count_what_does_not_match(good, tmp_path):
    path, options = write_pheno(good, tmp_path)
    pheno = pd.read_csv(options["pheno"])
    pheno["sample"] = pheno["sample"].replace({"s3": "elsewhere"})
    pheno.to_csv(options["pheno"], index=False)
    data = read_data(path, **options)
    assert list(data.X.index) == [name for name in good.ids if name != "s3"]
    np.testing.assert_array_equal(data.y.to_numpy(), np.delete(good.y, 3))
    assert "1 samples of the data without a phenotype, 1 phenotypes without" in data.notes[1]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("drop-columns", [[2.0], [4.0], [6.0], [9.0]]),
        ("drop-rows", [[1.0, 2.0], [5.0, 6.0], [12.0, 9.0]]),
        ("impute-median", [[1.0, 2.0], [5.0, 4.0], [5.0, 6.0], [12.0, 9.0]]),
        ("impute-mean", [[1.0, 2.0], [6.0, 4.0], [5.0, 6.0], [12.0, 9.0]]),
        ("impute-mode", [[1.0, 2.0], [1.0, 4.0], [5.0, 6.0], [12.0, 9.0]]),
    ],
)
def test_missing_values_by_hand(how, expected):
    X = pd.DataFrame({"a": [1.0, np.nan, 5.0, 12.0], "b": [2.0, 4.0, 6.0, 9.0]})
    complete, notes = without_missing(X, how)
    assert complete.to_numpy().tolist() == expected
    assert len(notes) == 1
    assert without_missing(X[["b"]], how)[1] == []
    infinite = X.fillna(np.inf)
    assert without_missing(infinite, how)[0].to_numpy().tolist() == expected


@pytest.mark.parametrize("how", ["impute-median", "impute-mean", "impute-mode"])
def test_nullable_columns_are_filled(how):
    """Oracle: median 1.5, mean 2 and mode 1 of 1, 1, 2, 4 by hand; whole numbers hold no 1.5."""
    X = pd.DataFrame({"a": pd.array([1, 1, None, 2, 4], dtype="Int64")})
    complete, _ = without_missing(X, how)
    fill = {"impute-median": 1.5, "impute-mean": 2.0, "impute-mode": 1.0}[how]
    assert complete["a"].tolist() == [1, 1, fill, 2, 4]


@pytest.mark.parametrize("layer", [None, "raw", "spliced"])
def test_a_matrix_that_anndata_lacks_is_named(layer, good, tmp_path):
    """Oracle: the file, which has a layer and no X."""
    anndata = pytest.importorskip("anndata")
    obs = pd.DataFrame({"y": good.y}, index=good.ids)
    data = anndata.AnnData(None, obs, pd.DataFrame(index=good.names), layers={"unspliced": good.X})
    data.write_h5ad(tmp_path / "d.h5ad")
    words = {None: "has no X", "raw": "no raw matrix", "spliced": "Did you mean 'unspliced'"}
    with pytest.raises(ValueError, match=words[layer]):
        read_data(tmp_path / "d.h5ad", "y", layer=layer)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_each_fault_is_named(fault, tmp_path, monkeypatch):
    name, content, arguments, words = FAULTS[fault]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text("who,z\nthem,1\nthose,2\n")
    (tmp_path / "typo.toml").write_text('fdrr = 0.2\ntarget = "y"\n')
    if name is not None:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        arguments = [name, *arguments]
    before = sorted(tmp_path.rglob("*"))
    done = CliRunner().invoke(app, ["select", *arguments])
    said = " ".join(done.stderr.split())
    assert done.exit_code == 2, done.output
    assert words in said
    assert "Traceback" not in done.output
    assert done.stdout == ""
    assert sorted(tmp_path.rglob("*")) == before  # nothing is left behind


def test_the_table_behind_the_faults_has_none(tmp_path):
    """Oracle: the numbers that it was made of; so each fault is what was added to it."""
    (tmp_path / "d.csv").write_text(TABLE)
    data = read_data(tmp_path / "d.csv", "y")
    rows = [[i, i * i % 7, i % 5] for i in range(12)]
    assert (data.X.to_numpy().tolist(), data.y.tolist()) == (rows, [i * 0.5 for i in range(12)])


def test_every_format_is_written_and_broken_here():
    """Oracle: the table of formats."""
    known = {format.name for format in FORMATS}
    written = {write.__name__.removeprefix("write_") for write in WRITERS}
    assert known - written == {"bed"}  # which has tests of its own
    assert known - {str(name).rsplit(".")[-1] for name, *_ in FAULTS.values()} == {"tsv"}


def test_archives_that_would_fill_the_memory_are_not_unpacked(tmp_path):
    """Oracle: three members of 3.9 GB by their headers and by the directory of the archive."""
    path = tmp_path / "d.npz"
    with ZipFile(path, "w") as archive:
        for name in "Xyz":
            archive.writestr(f"{name}.npy", npy_header((487_500_000, 1)))
        for member in archive.filelist:
            member.file_size = 3_900_000_128
    with pytest.raises(ValueError, match=r"does not fit in memory: it takes 11\.7 GB"):
        read_data(path)


@pytest.mark.parametrize("name", ["d.npy", "d.npz"])
def test_headers_that_promise_too_much_are_refused(name, tmp_path):
    """Oracle: 80 TB by the header, in a file of 100 bytes; such an array cannot be made."""
    (tmp_path / "d.npy").write_bytes(npy_header((10_000_000, 1_000_000)) + b"few")
    with ZipFile(tmp_path / "d.npz", "w") as archive:
        archive.write(tmp_path / "d.npy", "X.npy")
    with pytest.raises(ValueError, match=r"promises 80,000,000,000,000 bytes.*truncated"):
        read_data(tmp_path / name, "x0")


@pytest.mark.parametrize("name", ["d.mat", "sparse.npz"])
def test_other_files_are_measured_before_they_are_unpacked(name, tmp_path):
    """Oracle: zeros of a megabyte, ten times what is allowed here; 16 times that is enough."""
    savemat(tmp_path / "d.mat", {"X": np.zeros((500, 250))}, do_compression=True)
    save_npz(tmp_path / "sparse.npz", csr_array((500, 250)))
    with pytest.raises(ValueError, match=r"it takes 0\.0 GB, and 0\.0001 .* Raise max_memory, or"):
        read_data(tmp_path / name, "x0", max_memory=12_500)
    assert read_data(tmp_path / name, "x0", max_memory="200KB").X.shape == (500, 249)


def npy_header(shape):
    header = io.BytesIO()
    entries = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, entries)
    return header.getvalue()


def bad_arrays(folder):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    np.savez(folder / "short.npz", X=X, y=y[:9])
    np.savez(folder / "nox.npz", Z=X, y=y)
    np.savez(folder / "pickled.npz", X=X.astype(object), y=y)
    np.save(folder / "flat.npy", y)
    savemat(folder / "nox.mat", {"A": X, "Y": y})
    save_npz(folder / "sparse.npz", csr_array(X))
    write_plink(folder, rng.integers(0, 3, size=(12, 3)), y)
    whole = (folder / "data.bed").read_bytes()
    (folder / "data.bed").write_bytes(whole[:-2])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("short.npz", "X has 12 rows and y has 9"),
        ("nox.npz", "no array 'X'"),
        ("pickled.npz", "Python objects, which are not read for safety"),
        ("flat.npy", "shape (12,)"),
        ("nox.mat", "no array 'X'"),
        ("sparse.npz", "--target COLUMN"),
        ("data.bed", "truncated"),
    ],
)
def test_faults_of_binary_files_are_named(name, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bad_arrays(tmp_path)
    done = CliRunner().invoke(app, ["select", name])
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("module", "name", "files"),
    [
        ("anndata", "d.h5ad", "AnnData files"),
        ("h5py", "d.h5ad", "HDF5 files"),
        ("zarr", "d.zarr", "zarr stores"),
        ("pyarrow", "d.parquet", "Parquet files"),
        ("openpyxl", "d.xlsx", "Excel files"),
        ("rdata", "d.rds", "R files"),
    ],
)
def test_optional_formats_name_the_extra(module, name, files, good, tmp_path, monkeypatch):
    """Oracle: the extra that pyproject.toml declares."""
    write = globals()[f"write_{name.rsplit('.')[-1]}"]
    path, _ = write(good, tmp_path)
    for loaded in {module, *(name for name in sys.modules if name.split(".")[0] == module)}:
        monkeypatch.setitem(sys.modules, loaded, None)
    with pytest.raises(ValueError, match=rf'{files} need {module}.*pip install "smrmr\[files\]"'):
        read_data(path, "y")


# --- the command ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    data = simulate("1.c", 150, 40, random_state=1)
    frame = pd.DataFrame(data.X).add_prefix("x").assign(y=data.y, batch=np.arange(150) % 2)
    frame.to_csv(folder / "data.csv", index=False)
    return folder / "data.csv", data


def test_select_writes_what_it_found(table, tmp_path):
    path, data = table
    out = tmp_path / "out"
    arguments = ["select", str(path), "--target", "y", "--drop", "batch", "--out", str(out)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert sorted(p.name for p in out.iterdir()) == [
        "associated.csv", "features.csv", "groups.csv", "own.csv", "pairs.csv", "panel.csv",
        "report.html", "selected.csv", "selection.json",
    ]  # fmt: skip
    features = pd.read_csv(out / "features.csv")
    selected = pd.read_csv(out / "selected.csv")
    saved = json.loads((out / "selection.json").read_text())
    assert len(features) == 40
    assert selected["feature"].tolist() == saved["selected"]
    assert len(saved["source"]["data.csv"]) == 64
    assert saved["source"]["target column"] == "y"
    assert saved["settings"]["fdr"] == 0.1
    true = {f"x{k}" for k in data.support}
    assert len(true & set(saved["selected"])) >= 3
    for feature in saved["selected"]:
        assert re.search(rf"^ *{feature} +│", done.stdout, flags=re.MULTILINE)
    again = CliRunner().invoke(app, [*arguments, "--json", "--overwrite"])
    content = json.loads(again.stdout)
    assert content["selected"] == saved["selected"]
    assert "done" in again.stderr

    explained = CliRunner().invoke(
        app, ["explain", str(out / "selection.json"), saved["selected"][0]]
    )
    assert "is selected" in explained.stdout
    (out / "report.html").unlink()
    drawn = CliRunner().invoke(app, ["report", str(out / "selection.json")])
    assert drawn.exit_code == 0
    assert (out / "report.html").exists()


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("run-dir = 5", "run-dir = 5 must be a text in quotes"),
        ("scheduler = 5", "scheduler = 5 must be a text in quotes"),
        ('drop = "x1"', "drop = 'x1' must be a list of texts"),
        ("jobs = 1.5", "jobs = 1.5 must be a whole number"),
        ('fdr = "low"', "fdr = 'low' must be a number"),
        ("json = 1", "json = 1 must be true or false"),
        ('resume = "run"', "'resume' is not an option"),
    ],
)
def test_values_of_the_wrong_kind_in_a_config_file(line, fault, table, tmp_path):
    config = tmp_path / "settings.toml"
    config.write_text(line)
    done = CliRunner().invoke(app, ["select", str(table[0]), "--config", str(config)])
    assert done.exit_code == 2
    assert fault in " ".join(done.stderr.split())


@pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")
def test_config_file_and_flags(table, tmp_path):
    path, _ = table
    config = tmp_path / "settings.toml"
    config.write_text(
        'target = "y"\nfdr = 0.15\npenalty = "l1"\ndrop = ["batch"]\non-empty = "relax"\n'
    )
    arguments = ["select", str(path), "--config", str(config), "--out", str(tmp_path / "o")]
    done = CliRunner().invoke(app, [*arguments, "--fdr", "0.25", "--json"])
    assert done.exit_code == 0, done.output
    settings = json.loads(done.stdout)["settings"]
    assert (settings["fdr"], settings["on_empty"]) == (0.25, "relax")
    assert settings["control"] == "knockoffs(penalty=l1)"


def test_simulate_select_explain_as_the_help_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    assert (
        run(app, ["simulate", "2.c", "-n", "100", "-p", "95", "--out", "demo.csv"]).exit_code == 0
    )
    done = run(app, ["select", "demo.csv", "--target", "y"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "smrmr-demo" / "report.html").exists()
    assert run(app, ["explain", "smrmr-demo/selection.json", "x10"]).exit_code == 0
    wrong = run(app, ["explain", "smrmr-demo/selection.json", "x1000"])
    assert wrong.exit_code == 2
    assert "no feature 'x1000'" in wrong.stderr
    assert run(app, ["explain", "demo.csv", "x10"]).exit_code == 2
    assert run(app, ["report", "absent.json"]).exit_code == 2


@pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")
def test_names_that_a_spreadsheet_would_run_are_defused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = simulate("1.c", 60, 40, random_state=0)
    names = ["=1+1", "@cmd", "+x", "-x", *(f"x{k}" for k in range(4, 40))]
    pd.DataFrame(data.X, columns=names).assign(y=data.y).to_csv("d.csv", index=False)
    assert CliRunner().invoke(app, ["select", "d.csv", "--target", "y"]).exit_code == 0
    written = pd.read_csv("smrmr-d/features.csv")
    assert {"'=1+1", "'@cmd", "'+x", "'-x"} <= set(written["feature"])
    assert pd.api.types.is_float_dtype(written["p_value"])


def test_ctrl_c_exits_130_and_leaves_nothing(table, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("smrmr.report.write_report", interrupted)
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["select", str(table[0]), "--target", "y", "--out", str(out)])
    assert done.exit_code == 130
    assert list(out.iterdir()) == []


COUNTED = """
import sys
opened = []
sys.addaudithook(lambda what, of: what == "open" and str(of[0]) == "t.csv" and opened.append(1))
from smrmr.cli import main
sys.argv = ["smrmr", "select", "t.csv", "--target", "x0", "--covar-name", "x1", "--quiet"]
try:
    main()
finally:
    print(len(opened))
"""


def test_a_file_of_text_is_read_once(tmp_path, monkeypatch, rng):
    """Oracle: what Python's audit hooks see opened, and the kernel's count of bytes read."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(rng.normal(size=(40, 5000))).add_prefix("x").to_csv("t.csv", index=False)
    size = Path("t.csv").stat().st_size
    read_data("t.csv", "x0")  # what it imports is read as well
    if Path("/proc/self/io").exists():
        before, _, after = bytes_read(), read_data("t.csv", "x0"), bytes_read()
        head = 100 * 8192 + 1_000_000  # by which the file is judged
        assert size <= after - before < size + head
        assert head < 0.6 * size
    checksum = hashlib.sha256(Path("t.csv").read_bytes()).hexdigest()
    assert read_data("t.csv", "x0").source == {"t.csv": checksum}
    pd.read_csv("t.csv", usecols=range(30)).to_csv("t.csv", index=False)
    done = subprocess.run([sys.executable, "-c", COUNTED], capture_output=True, text=True)
    assert done.stdout.split()[-1] == "1", done.stderr


def bytes_read():
    return int(Path("/proc/self/io").read_text().split()[1])
