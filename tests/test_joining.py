"""What other tables and sheets know of the same samples, joined by ids."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

import smrmr
from smrmr.cli.commands import app
from smrmr.data import read_data
from smrmr.data.ids import as_ids

N = 24
IDS = [f"S{i}" for i in range(N)]
GENES = [f"g{k}" for k in range(4)]


@pytest.fixture
def tables():
    """Genes in rows, and in another order and under other names what is known of the samples."""
    rng = np.random.default_rng(0)
    genes = pd.DataFrame(rng.normal(size=(4, N)).round(3), index=GENES, columns=IDS)
    clinic = pd.DataFrame(
        {
            "patient": IDS[::-1],
            "barcode": [f"b{i}" for i in range(N)],
            "age": rng.integers(20, 80, N),
            "y": rng.normal(size=N).round(3),
        }
    )
    return genes, clinic


def assert_joined(data, genes, clinic):
    assert_array_equal(data.X.to_numpy(dtype=float), genes.T.loc[data.X.index].to_numpy())
    known = clinic.set_index("patient")["y"]
    assert_array_equal(data.y.to_numpy(dtype=float), known.loc[list(data.X.index)].to_numpy())


def in_one_book(genes, clinic, folder):
    with pd.ExcelWriter(folder / "book.xlsx") as book:
        genes.to_excel(book, sheet_name="genes", index_label="gene")
        clinic.to_excel(book, sheet_name="clinic", index=False)
    return folder / "book.xlsx"


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("place", ["sheet", "sheet of another book", "file"])
def test_phenotypes_of_another_sheet_or_file(place, named, tables, tmp_path):
    """Oracle: the tables that were written; ids that agree need not be named."""
    genes, clinic = tables
    book = in_one_book(genes, clinic, tmp_path)
    genes.to_csv(tmp_path / "genes.csv", index_label="gene")
    clinic.to_csv(tmp_path / "clinic.csv", index=False)
    file, pheno = {
        "sheet": (book, "clinic"),
        "sheet of another book": (tmp_path / "genes.csv", f"{book}:clinic"),
        "file": (tmp_path / "genes.csv", tmp_path / "clinic.csv"),
    }[place]
    how = {"id": "patient"} if named else {}
    data = read_data(file, "y", transpose=True, pheno=pheno, **how)
    assert_joined(data, genes, clinic)
    assert len(data.X) == N
    assert f"{N} samples joined by 'patient'" in data.notes
    with_age = read_data(file, "y", transpose=True, pheno=pheno, beside=["age"], **how)
    assert with_age.beside["age"].tolist() == clinic["age"][::-1].tolist()


def test_ids_of_other_names_that_agree(tables, tmp_path):
    """Oracle: samples in rows, whose ids are called otherwise; half of them are not known."""
    genes, clinic = tables
    wide = genes.T.rename_axis("sample").reset_index()
    wide.to_csv(tmp_path / "d.csv", index=False)
    clinic[: N // 2].to_csv(tmp_path / "clinic.csv", index=False)
    data = read_data(tmp_path / "d.csv", "y", pheno=tmp_path / "clinic.csv")
    assert_joined(data, genes, clinic)
    assert data.notes[:2] == [
        "12 samples joined by 'sample' and 'patient'",
        "left out: 12 samples of the data without a phenotype, 0 phenotypes without a sample",
    ]


def test_covariates_are_joined_by_ids_that_agree(tables, tmp_path):
    """Oracle: the ages that were written."""
    genes, clinic = tables
    wide = genes.T.rename_axis("sample").reset_index()
    wide.assign(y=range(N)).to_csv(tmp_path / "d.csv", index=False)
    ages = clinic[["patient", "age"]].assign(patient=clinic["patient"])
    ages.to_csv(tmp_path / "ages.csv", index=False)
    data = read_data(tmp_path / "d.csv", "y", covar=tmp_path / "ages.csv")
    assert data.beside["age"].tolist() == clinic["age"][::-1].tolist()
    assert list(data.X.columns) == GENES
    assert data.notes == ["covariates joined by 'sample' and 'patient'"]


@pytest.mark.parametrize("numbers", [range(100, 100 + N), np.arange(100.0, 100 + N)])
def test_ids_that_are_numbers(numbers, tables, tmp_path):
    """Oracle: the same samples; 101 and 101.0 are one id, as gaps make them."""
    genes, clinic = tables
    genes, clinic = genes.set_axis(map(str, range(100, 100 + N)), axis=1), clinic.copy()
    clinic["patient"] = numbers
    genes.to_csv(tmp_path / "d.csv", index_label="gene")
    clinic.to_csv(tmp_path / "clinic.csv", index=False)
    how = {"transpose": True, "pheno": tmp_path / "clinic.csv"}
    for id in ("patient", None):
        data = read_data(tmp_path / "d.csv", "y", id=id, **how)
        assert_array_equal(data.y, clinic["y"])
    assert as_ids(np.array([101.0, np.nan])) == ["101.0", "nan"]


def test_ids_that_may_be_several_or_none_are_asked_for(tables, tmp_path):
    """Oracle: a second column with the same ids; a table without any."""
    genes, clinic = tables
    genes.to_csv(tmp_path / "d.csv", index_label="gene")
    asked = {"transpose": True, "pheno": tmp_path / "clinic.csv"}
    clinic.assign(again=clinic["patient"]).to_csv(tmp_path / "clinic.csv", index=False)
    with pytest.raises(ValueError, match=r"pheno needs id, .*, for several may be meant"):
        read_data(tmp_path / "d.csv", "y", **asked)
    clinic.drop(columns="patient").to_csv(tmp_path / "clinic.csv", index=False)
    with pytest.raises(ValueError, match=r"pheno needs id, the column of ids .* the data\."):
        read_data(tmp_path / "d.csv", "y", **asked)


@pytest.mark.parametrize(
    ("pheno", "words"),
    [
        ("clinik", r"no sheet 'clinik'\. Did you mean 'clinic'"),
        ("clinic.csv", r"no file .*clinic\.csv"),
        ("book.xlsx:ages", r"no sheet 'ages'"),
        ("nowhere.xlsx:ages", r"no file"),
        ("plain.csv:ages", r"sheet is for \.xlsx, \.rds files; plain\.csv is csv"),
    ],
)
def test_places_that_are_not_there(pheno, words, tables, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    in_one_book(*tables, tmp_path)
    tables[1].to_csv("plain.csv", index=False)
    with pytest.raises(ValueError, match=words):
        read_data("book.xlsx", "y", transpose=True, pheno=pheno, id="patient")


def test_a_run_that_goes_on_elsewhere_knows_the_sheet(tables, tmp_path, monkeypatch):
    """Oracle: the answer of the first run."""
    monkeypatch.chdir(tmp_path)
    genes, clinic = tables
    in_one_book(genes, clinic, tmp_path)
    run = CliRunner().invoke
    asked = "select book.xlsx --transpose --pheno clinic --target y --run-dir run --json"
    first = run(app, [*asked.split(), "--no-accuracy"])
    assert first.exit_code == 0, first.output
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    again = run(app, ["select", "--resume", "../run", "--json"])
    assert again.exit_code == 0, again.output
    answers = [json.loads(done.stdout)["evidence"] for done in (first, again)]
    assert answers[0] == answers[1]


# --- MuData -----------------------------------------------------------------------------------


@pytest.fixture
def mudata(tables, tmp_path):
    """Two modalities in the layout of MuData: /mod/NAME is an AnnData, /obs is of all samples."""
    anndata = pytest.importorskip("anndata")
    h5py = pytest.importorskip("h5py")
    genes, clinic = tables
    known = clinic.set_index("patient")
    rna = anndata.AnnData(
        genes.T.to_numpy(),
        known.loc[IDS, ["age"]],
        pd.DataFrame({"symbol": ["A", "B", "C", "D"]}, index=GENES),
        layers={"twice": 2 * genes.T.to_numpy()},
    )
    protein = anndata.AnnData(
        np.arange(2.0 * (N - 4)).reshape(N - 4, 2), None, pd.DataFrame(index=["p", "q"])
    )
    protein.obs_names = IDS[4:]
    path = tmp_path / "d.h5mu"
    with h5py.File(path, "w") as file:
        anndata.io.write_elem(file, "mod/rna", rna)
        anndata.io.write_elem(file, "mod/protein", protein)
        anndata.io.write_elem(file, "obs", known.loc[IDS, ["y"]])
        anndata.io.write_elem(file, "var", pd.DataFrame(index=[*GENES, "p", "q"]))
    return path


def test_a_modality_of_mudata_is_read(mudata, tables):
    """Oracle: the matrices that were written, and what is known of all samples."""
    genes, clinic = tables
    for layer, factor in (("rna", 1), ("rna/twice", 2)):
        data = read_data(mudata, "y", layer=layer, beside=["age"], annotation=["symbol"])
        assert_array_equal(data.X, factor * genes.T.to_numpy())
        assert_array_equal(data.y, clinic.set_index("patient").loc[IDS, "y"])
        assert data.about_features["symbol"].tolist() == ["A", "B", "C", "D"]
    protein = read_data(mudata, "y", layer="protein")
    assert list(protein.X.index) == IDS[4:]
    assert_array_equal(protein.y, clinic.set_index("patient").loc[IDS[4:], "y"])


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (None, r"holds modalities 'protein', 'rna'\. Name one, such as layer='protein'"),
        ("rnaa", r"no modality 'rnaa'\. Did you mean 'rna'"),
        ("rna/thrice", r"no layer 'thrice'"),
        ("protein/raw", "no raw matrix"),
    ],
)
def test_a_modality_must_be_named(layer, words, mudata):
    with pytest.raises(ValueError, match=words):
        read_data(mudata, "y", layer=layer)


def test_mudata_in_python_is_told_how():
    """Oracle: an object with `mod`, as MuData has."""

    class MuData:
        mod = {"rna": None, "protein": None}  # noqa: RUF012

    with pytest.raises(TypeError, match=r"modalities 'rna', 'protein'.* needed: adata\['rna'\]"):
        smrmr.anndata.select(MuData(), "y")
