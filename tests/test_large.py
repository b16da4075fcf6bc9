"""Large files: read in blocks they give what they give when read whole; runs can be resumed."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

from smrmr import Recipe, select, simulate
from smrmr.cli.commands import app
from smrmr.data import ColumnSource, read_data
from smrmr.data.files import limits
from thinned import thinned

pytestmark = pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")


@pytest.fixture(scope="module")
def genotypes():
    drawn = simulate("genotypes", 100, 95, random_state=0)
    return replace(drawn, X=drawn.X[:, :50].copy())


def write_bed(folder, data):
    from bed_reader import to_bed

    ids = [f"s{i}" for i in range(100)]
    names = [f"rs{k}" for k in range(50)]
    to_bed(folder / "d.bed", data.X, properties={"iid": ids, "sid": names})
    table = pd.DataFrame({"who": ids, "size": data.y}).sample(frac=1, random_state=0).iloc[:90]
    table.to_csv(folder / "pheno.csv", index=False)
    return {"path": folder / "d.bed", "pheno": folder / "pheno.csv", "id": "who", "target": "size"}


def write_h5ad(folder, data):
    import anndata
    from scipy.sparse import csr_matrix

    obs = pd.DataFrame({"size": data.y}, index=[f"c{i}" for i in range(100)])
    var = pd.DataFrame(index=[f"g{k}" for k in range(50)])
    anndata.AnnData(csr_matrix(data.X), obs, var).write_h5ad(folder / "d.h5ad")
    return {"path": folder / "d.h5ad", "target": "size"}


def write_zarr(folder, data):
    import zarr

    group = zarr.open_group(str(folder / "d.zarr"), mode="w")
    group["X"], group["y"] = data.X, data.y
    return {"path": folder / "d.zarr"}


def write_npy(folder, data):
    np.save(folder / "d.npy", data.X)
    table = pd.DataFrame({"row": range(100), "size": data.y})
    table.to_csv(folder / "pheno.csv", index=False)
    return {"path": folder / "d.npy", "pheno": folder / "pheno.csv", "id": "row", "target": "size"}


def write_parquet(folder, data):
    frame = pd.DataFrame(data.X, columns=[f"g{k}" for k in range(50)])
    frame.insert(0, "who", [f"s{i}" for i in range(100)])
    frame.assign(size=data.y).to_parquet(folder / "d.parquet", row_group_size=30)
    return {"path": folder / "d.parquet", "target": "size"}


WRITERS = [write_bed, write_h5ad, write_zarr, write_npy, write_parquet]


@pytest.mark.parametrize(
    ("write", "control"),
    thinned(
        [(write, control) for write in WRITERS for control in ("tests", "knockoffs")],
        [(write, "tests") for write in WRITERS] + [(write_bed, "knockoffs")],
    ),
)
def test_blocks_give_what_the_whole_gives(write, control, genotypes, tmp_path, monkeypatch):
    options = write(tmp_path, genotypes)
    whole = read_data(**options)
    monkeypatch.setattr(limits, "MAX_BYTES_WHOLE", 0)
    blocks = read_data(**options)
    assert isinstance(blocks.X, ColumnSource)
    assert isinstance(whole.X, pd.DataFrame)
    assert blocks.X.shape == whole.X.shape
    assert_array_equal(blocks.y, whole.y)
    assert blocks.target == whole.target
    assert blocks.source == whole.source
    assert "read in blocks" in blocks.notes[0]
    names = blocks.X.names or tuple(f"x{k}" for k in range(50))
    assert names == tuple(whole.X.columns)
    settings = Recipe(fdr=0.5, control=control, alike=None)
    expected, found = (select(d.X, d.y, settings, rng=0) for d in (whole, blocks))
    assert_array_equal(found.evidence.scores, expected.evidence.scores)
    assert_array_equal(found.q_values, expected.q_values)
    assert_array_equal(found.selected, expected.selected)
    assert found.names == expected.names


def test_columns_and_samples_can_be_left_out(genotypes, tmp_path, monkeypatch):
    options = write_bed(tmp_path, genotypes)
    table = pd.read_csv(options["pheno"])
    table.loc[3, "size"] = np.nan
    table.to_csv(options["pheno"], index=False)
    more = {"drop": ["rs3", "rs49"], "missing": "impute-mode", "missing_target": "drop"}
    whole = read_data(**options, **more)
    monkeypatch.setattr(limits, "MAX_BYTES_WHOLE", 0)
    blocks = read_data(**options, **more)
    assert blocks.X.shape == whole.X.shape == (89, 48)
    assert_array_equal(blocks.X.read(slice(None)), whole.X)
    with pytest.raises(ValueError, match=r"rs15x.*Did you mean 'rs15'"):
        read_data(**options, drop=["rs15x"], missing="impute-mode")
    with pytest.raises(ValueError, match="missing in 1 of 90 rows"):
        read_data(**options)


def as_it_is(frame, folder):
    return frame, {"target": "size"}


def with_a_target_elsewhere(frame, folder):
    table = frame[["who", "size"]].sample(frac=1, random_state=0).iloc[:90]
    table.to_csv(folder / "pheno.csv", index=False)
    pheno = {"pheno": folder / "pheno.csv", "id": "who", "target": "size"}
    return frame.drop(columns="size"), pheno


def with_named_rows(frame, folder):
    return frame.set_index("who"), {"target": "size"}


def with_columns_beside(frame, folder):
    frame = frame.assign(site=np.where(frame.index % 3, "a", "b"), note="n")
    return frame, {"target": "site", "id": "who", "beside": ["g4", "size"], "drop": ["note", "g7"]}


def with_gaps(frame, folder):
    frame.loc[3, ["g1", "size"]] = np.nan
    return frame, {"target": "size", "missing": "impute-mean", "missing_target": "drop"}


PARQUET = [as_it_is, with_a_target_elsewhere, with_named_rows, with_columns_beside, with_gaps]


@pytest.mark.parametrize("make", PARQUET)
def test_a_table_in_parquet_is_read_in_blocks(make, genotypes, tmp_path, monkeypatch):
    """Oracle: the table as it is read whole."""
    frame = pd.read_parquet(write_parquet(tmp_path, genotypes)["path"])
    frame, options = make(frame, tmp_path)
    frame.to_parquet(tmp_path / "d.parquet")
    whole = read_data(tmp_path / "d.parquet", **options)
    monkeypatch.setattr(limits, "MAX_BYTES_WHOLE", 0)
    blocks = read_data(tmp_path / "d.parquet", **options)
    assert isinstance(blocks.X, ColumnSource)
    assert blocks.X.names == tuple(whole.X.columns)
    assert_array_equal(blocks.X.read(slice(None)), whole.X)
    pd.testing.assert_series_equal(blocks.y, whole.y)
    pd.testing.assert_frame_equal(blocks.beside, whole.beside)
    assert set(whole.notes) <= set(blocks.notes)


@pytest.mark.parametrize(
    "options", [{}, {"missing": "drop-rows"}, {"na": ["-9"]}, {"transpose": True}], ids=str
)
def test_parquet_is_read_whole_where_it_must_be(options, genotypes, tmp_path, monkeypatch):
    """Oracle: the table as it is read whole."""
    frame = pd.DataFrame(genotypes.X[:, :3], columns=list("abc")).assign(y=genotypes.y)
    if not options:
        frame["site"] = np.where(frame.index % 3, "a", "b")
    frame = frame.T if "transpose" in options else frame
    frame.to_parquet(tmp_path / "d.parquet")
    whole = read_data(tmp_path / "d.parquet", "y", **options)
    monkeypatch.setattr(limits, "MAX_BYTES_WHOLE", 0)
    found = read_data(tmp_path / "d.parquet", "y", **options)
    pd.testing.assert_frame_equal(found.X, whole.X)


def test_a_target_that_a_large_table_has_not_is_named(genotypes, tmp_path, monkeypatch):
    options = write_parquet(tmp_path, genotypes)
    monkeypatch.setattr(limits, "MAX_BYTES_WHOLE", 0)
    with pytest.raises(ValueError, match=r"knows no 'g1x'.*Did you mean 'g1[0-9]?'"):
        read_data(options["path"], "g1x")


@pytest.mark.parametrize("how", ["impute-median", "impute-mean", "impute-mode"])
def test_gaps_are_filled_alike(how, genotypes, tmp_path, monkeypatch, rng):
    """By what is known of the samples that stay: some have no target."""
    options = write_npy(tmp_path, genotypes)
    table = pd.read_csv(options["pheno"])
    table.loc[::3, "size"] = np.nan
    table.to_csv(options["pheno"], index=False)
    X = np.where(rng.random(genotypes.X.shape) < 0.05, np.nan, genotypes.X)
    np.save(options["path"], X)
    options |= {"missing": how, "missing_target": "drop"}
    whole = read_data(**options)
    monkeypatch.setattr(limits, "MAX_BYTES_WHOLE", 0)
    assert_array_equal(read_data(**options).X.read(slice(None)), whole.X)


def test_what_blocks_cannot_do_is_said(genotypes, tmp_path, monkeypatch):
    options = write_bed(tmp_path, genotypes)
    monkeypatch.setattr(limits, "MAX_BYTES_WHOLE", 0)
    with pytest.raises(
        ValueError, match=r"missing='drop-rows' would need the whole.*Use missing='impute-mode'"
    ):
        read_data(**options, missing="drop-rows")
    with pytest.raises(ValueError, match=r"impute-median' would need fract.*missing='impute-mode'"):
        read_data(**options, missing="impute-median")
    with pytest.raises(ValueError, match=r"drop-columns' would need the whole file.*impute-median"):
        read_data(**write_npy(tmp_path, genotypes), missing="drop-columns")


def answer(done):
    assert done.exit_code == 0, done.output
    content = json.loads(done.stdout)
    del content["seconds"]
    return content


def test_the_command_resumes_a_run(genotypes, tmp_path):
    options = write_npy(tmp_path, genotypes)
    command = ["select", str(options["path"]), "--pheno", str(options["pheno"]), "--id", "row"]
    command += ["--target", "size", "--fdr", "0.5", "--json", "--out", str(tmp_path / "out")]
    command.append("--overwrite")
    plain = answer(CliRunner().invoke(app, command))
    run = tmp_path / "run"
    assert answer(CliRunner().invoke(app, [*command, "--run-dir", str(run)])) == plain
    blocks = sorted(run.glob("stage*"))
    for block in blocks[1::2]:
        block.unlink()
    assert answer(CliRunner().invoke(app, ["select", "--resume", str(run), "--json"])) == plain
    assert sorted(run.glob("stage*")) == blocks
    moved = run.rename(tmp_path / "moved")
    assert answer(CliRunner().invoke(app, ["select", "--resume", str(moved), "--json"])) == plain
    assert not run.exists()
    moved.rename(run)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "notes.txt").write_text("")
    (mine / "command.json").write_text("{}")
    for arguments, fault in (
        ([*command[1:], "--run-dir", str(mine)], "holds no run"),
        (["--resume", str(run), "--fdr", "0.1"], "leave out --fdr"),
        (["--resume", str(tmp_path)], "holds no run of smrmr select"),
        ([*command[1:], "--run-dir", str(run), "--seed", "4"], "seed was 0 and is 4"),
        ([], "name the file to read"),
    ):
        done = CliRunner().invoke(app, ["select", *arguments])
        assert done.exit_code == 2
        assert fault in done.stderr
    assert (mine / "command.json").read_text() == "{}"
    assert answer(CliRunner().invoke(app, ["select", "--resume", str(run), "--json"])) == plain
