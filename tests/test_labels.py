"""Ids of rows and labels of features: told from values, and kept beside them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

from smrmr import Recipe, select
from smrmr.cli.commands import app
from smrmr.data import read_data
from smrmr.data.ids import is_called_ids
from smrmr.selection import Selection

N, P = 24, 6
IDS = [f"S{i}" for i in range(N)]
GENES = [f"ENSG{k}" for k in range(P)]
SYMBOLS = ["TP53", "EGFR", "MYC", "KRAS", "BRAF", "ALK"]


@pytest.fixture
def plain():
    """The numbers alone, which every table below holds as well."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N, P)).round(3), columns=GENES)
    return X.assign(y=(2 * X["ENSG0"] + rng.normal(size=N)).round(3))


def saved(frame, folder, ending="csv"):
    path = folder / f"d.{ending}"
    {
        "csv": lambda: frame.to_csv(path, index=False),
        "xlsx": lambda: frame.to_excel(path, index=False),
        "parquet": lambda: frame.to_parquet(path),
    }[ending]()
    return path


def assert_numbers(data, plain):
    assert_array_equal(data.X.to_numpy(dtype=float), plain[GENES].to_numpy())
    assert list(data.X.columns) == GENES
    assert_array_equal(data.y.to_numpy(dtype=float), plain["y"].to_numpy())


# --- names of rows ----------------------------------------------------------------------------

WITH_IDS = {
    # what: columns besides the numbers, and where; the column of ids, columns that are left out
    "first": ({"who": IDS}, 0, "who", []),
    "last": ({"who": IDS}, P, "who", []),
    "first of two": ({"who": IDS, "file": [f"{i}.cel" for i in range(N)]}, 0, "who", ["file"]),
    "by its name": ({"file": [f"{i}.cel" for i in range(N)], "Patient ID": IDS}, 3,
                    "Patient ID", ["file"]),
    "numbers": ({"sample_id": [str(7 * i + 100) for i in range(N)]}, 2, "sample_id", []),
}  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
@pytest.mark.parametrize("what", WITH_IDS)
def test_ids_become_names_of_rows(what, ending, plain, tmp_path):
    """Oracle: the table without them, and the ids that were written."""
    columns, place, name, others = WITH_IDS[what]
    frame = plain.copy()
    for more, (column, values) in enumerate(columns.items()):
        frame.insert(place + more, column, values)
    if what == "numbers":
        frame["sample_id"] = frame["sample_id"].astype(int)
    data = read_data(saved(frame, tmp_path, ending), "y")
    assert_numbers(data, plain)
    assert list(data.X.index) == list(data.y.index) == columns[name]
    assert (
        data.notes[0] == f"{name!r} names the rows (such as {columns[name][0]!r}) and is no feature"
    )
    assert len(data.notes) == 1 + bool(others)
    assert all(repr(other) in data.notes[-1] for other in others)


def test_the_answer_is_that_without_ids(plain, tmp_path):
    """Oracle: the same numbers in Python."""
    data = read_data(saved(plain.assign(who=IDS), tmp_path), "y")
    found = select(data.X, data.y)
    expected = select(plain[GENES], plain["y"])
    assert_array_equal(found.p_values, expected.p_values)


UNCLEAR = {
    "two columns": ({"a": IDS, "b": [f"q{i}" for i in range(N)]}, "such as id='b'"),
    "ids twice": ({"patient": IDS[: N // 2] * 2}, "ids that are repeated.*use groups='patient'"),
    "a gap": ({"who": [*IDS[:-1], None]}, "Use id='who'"),
    "days": ({"day": [f"2024-01-{i + 1:02d}" for i in range(N)]}, "dates or times"),
}


@pytest.mark.parametrize("what", UNCLEAR)
def test_what_may_be_ids_is_asked_about(what, plain, tmp_path):
    """Oracle: the columns that were put between the numbers."""
    columns, words = UNCLEAR[what]
    frame = plain.copy()
    for name, values in columns.items():
        frame.insert(2, name, values)
    with pytest.raises(ValueError, match=words):
        read_data(saved(frame, tmp_path), "y")


def test_numbers_that_are_not_called_ids_stay_features(plain, tmp_path):
    """Oracle: the columns that were written; numbers that count rows are warned of elsewhere."""
    data = read_data(saved(plain.assign(count=range(N), width=range(N)), tmp_path), "y")
    assert list(data.X.columns) == [*GENES, "count", "width"]
    assert not data.notes


def test_ids_that_are_asked_for_as_something_else_are_that(plain, tmp_path):
    """Oracle: the column itself, as target or beside the features."""
    path = saved(plain.assign(who=IDS, sample=range(N)), tmp_path)
    assert list(read_data(path, "y", beside=["who"]).beside["who"]) == IDS
    assert list(read_data(path, "sample").y) == list(range(N))
    assert list(read_data(path, "y", id="sample").X.index) == [str(i) for i in range(N)]
    assert "who" not in read_data(path, "y", annotation=["who"]).X
    dropped = read_data(path, "y", drop=["who", "sample"])
    assert (list(dropped.X.index), dropped.notes) == (list(range(N)), [])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, True) for name in ("id", "ID", "sample", "patient_id", "PatientID", "case no")),
        *((name, True) for name in ("Unnamed: 0", "rownames", "Nr.", "participant code", "GEO id")),
        *((name, False) for name in ("ID1", "idh1", "sampled depth", "width", "patience", "y")),
        ("mean of all samples by id", False),
    ],
)
def test_names_of_columns_of_ids(name, expected):
    """Oracle: what people call their ids, by hand."""
    assert is_called_ids(name) == expected


# --- labels of features in rows ---------------------------------------------------------------


def in_rows(plain, ids=GENES, **labels):
    """The same table turned, with columns of labels after the names; the target has none."""
    turned = plain.set_axis(IDS).T
    for place, (name, texts) in enumerate(labels.items()):
        turned.insert(place, name, [*texts, None])
    turned.insert(0, "gene_id", [*ids, "y"])
    return turned


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_labels_beside_names_of_features(ending, plain, tmp_path):
    """Oracle: the table without labels, and the labels that were written."""
    titles = ["a kinase", None, "a factor", "a switch", "a kinase", None]
    frame = in_rows(plain, symbol=SYMBOLS, title=titles)
    data = read_data(saved(frame, tmp_path, ending), "y", transpose=True)
    assert_numbers(data, plain)
    assert list(data.X.index) == IDS
    assert data.notes == ["'symbol', 'title' describe features and are kept beside their names"]
    assert data.annotations == ("symbol", "title")
    assert data.about_features.loc[GENES, "symbol"].tolist() == SYMBOLS
    assert data.about_features.loc[GENES, "title"].tolist() == [text or "" for text in titles]


def test_symbols_that_a_spreadsheet_spoilt_are_pointed_out(plain, tmp_path):
    """Oracle: what Excel makes of SEPT2."""
    frame = in_rows(plain, symbol=["2-Sep", *SYMBOLS[1:]])
    assert (
        "becomes 2-Sep): '2-Sep'" in read_data(saved(frame, tmp_path), "y", transpose=True).notes[1]
    )


def test_names_that_repeat_themselves_give_way(plain, tmp_path):
    """Oracle: the second column, which has a different name in every row."""
    frame = in_rows(plain, ids=["g"] * P, accession=GENES)
    frame["accession"] = [*GENES, "y"]
    data = read_data(saved(frame, tmp_path), "y", transpose=True)
    assert_numbers(data, plain)
    assert "'gene_id' repeats itself, so features are named by 'accession'" in data.notes
    assert data.about_features.loc["ENSG0", "gene_id"] == "g"
    with pytest.raises(ValueError, match="rows 'g' appear more than once"):
        read_data(saved(frame.drop(columns="accession"), tmp_path), "y", transpose=True)


def test_labels_of_samples_in_rows_are_no_labels_of_features(plain, tmp_path):
    """Oracle: a row of text among rows of numbers, which is a column once turned."""
    frame = in_rows(plain, symbol=SYMBOLS).astype(object)
    state = ["ill", "well"] * (N // 2)
    frame.loc["state"] = ["state", None, *state]
    data = read_data(saved(frame, tmp_path), "state", transpose=True)
    assert data.y.tolist() == state
    assert_array_equal(data.X[GENES].to_numpy(), plain[GENES].to_numpy())
    assert data.annotations == ("symbol",)


def test_numbers_and_text_beside_names_are_asked_about(plain, tmp_path):
    """Oracle: chromosomes, of which X is text; the advice gives the table without them."""
    frame = in_rows(plain, chromosome=["1", "X", "3", "7", "9", "12"], start=range(P))
    path = saved(frame, tmp_path)
    with pytest.raises(ValueError, match=r"'chromosome' holds .* 'X' in the row of 'ENSG1'"):
        read_data(path, "y", transpose=True)
    with pytest.raises(ValueError, match=r"missing in 1 of 25 rows \(such as that of 'start'\)"):
        read_data(path, "y", transpose=True, annotation=["chromosome"])
    data = read_data(path, "y", transpose=True, annotation=["chromosome", "start"])
    assert_numbers(data, plain)
    assert data.about_features.loc[GENES, "chromosome"].tolist() == ["1", "X", "3", "7", "9", "12"]
    dropped = read_data(path, "y", transpose=True, drop=["chromosome", "start", "ENSG0"])
    assert list(dropped.X.columns) == GENES[1:]
    with pytest.raises(ValueError, match=r"annotation=\['star'\]: no such column.*'start'"):
        read_data(path, "y", transpose=True, annotation=["chromosome", "star"])


# --- labels of features above the numbers -----------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize("named", [True, False])
def test_rows_of_labels_above_the_numbers(ending, named, plain, tmp_path):
    """Oracle: the table without them, and the labels that were written."""
    above = pd.DataFrame([[*SYMBOLS, ""], [*["mg/l"] * P, "kg"]], columns=plain.columns)
    frame = pd.concat([above, plain.astype(object)])
    if named:
        frame.insert(0, "sample", ["symbol", "unit", *IDS])
    data = read_data(saved(frame, tmp_path, ending), "y")
    assert_numbers(data, plain)
    assert data.annotations == (("symbol", "unit") if named else ("label", "label 2"))
    assert data.about_features.loc[GENES, data.annotations[0]].tolist() == SYMBOLS
    assert list(data.X.index) == (IDS if named else list(range(N)))


def test_a_single_text_among_numbers_is_no_row_of_labels(plain, tmp_path):
    """Oracle: the message about that cell."""
    frame = plain.astype(object)
    frame.loc[0, ["ENSG0", "ENSG1"]] = "low"
    with pytest.raises(ValueError, match="numbers and text such as 'low' in row 1"):
        read_data(saved(frame, tmp_path), "y")


# --- in the answer ----------------------------------------------------------------------------


def test_annotations_are_in_every_table_of_the_answer(plain, tmp_path, monkeypatch):
    """Oracle: the symbols that were written beside the names; the answer without them."""
    monkeypatch.chdir(tmp_path)
    frame = in_rows(plain, symbol=SYMBOLS)
    path = saved(frame, tmp_path)
    run = CliRunner().invoke
    asked = ["select", str(path), "--target", "y", "--transpose"]
    done = run(app, [*asked, "--out", "out"])
    assert done.exit_code == 0, done.output
    assert " symbol " in done.stdout
    symbols = dict(zip(GENES, SYMBOLS, strict=True))
    for table in ("features", "selected", "associated", "own", "panel"):
        written = pd.read_csv(f"out/{table}.csv")
        assert written.columns[1] == "symbol"
        assert written["symbol"].tolist() == [symbols[name] for name in written["feature"]]
    assert "ENSG0 (TP53)" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert run(app, ["explain", "out", "TP53"]).stdout.startswith("ENSG0 (TP53) is selected")
    found = Selection.from_json((tmp_path / "out" / "selection.json").read_text(encoding="utf-8"))
    assert found.annotations == {"symbol": SYMBOLS}
    plainly = run(app, [*asked, "--drop", "symbol", "--json", "--out", "plain"])
    answer = json.loads(plainly.stdout)
    assert answer["annotations"] == {}
    assert answer["selected"] == found.selected_names == ["ENSG0", "ENSG1"]


def test_columns_of_var_are_shown_if_asked_for(plain, tmp_path):
    """Oracle: the var that was written; nothing of it is shown unasked."""
    anndata = pytest.importorskip("anndata")
    var = pd.DataFrame({"symbol": SYMBOLS, "length": range(P)}, index=GENES)
    obs = pd.DataFrame({"y": plain["y"].to_numpy()}, index=IDS)
    anndata.AnnData(plain[GENES].to_numpy(), obs, var).write_h5ad(tmp_path / "d.h5ad")
    assert read_data(tmp_path / "d.h5ad", "y").annotations == ()
    data = read_data(tmp_path / "d.h5ad", "y", annotation=["symbol"])
    assert data.annotations == ("symbol",)
    with pytest.raises(ValueError, match=r"no such column.*Did you mean 'symbol'"):
        read_data(tmp_path / "d.h5ad", "y", annotation=["symbols"])


def test_annotations_of_python_users(plain):
    """Oracle: a mapping and a table of the same texts; names of columns of tables are not taken."""
    found = select(plain[GENES], plain["y"], Recipe())
    by_name = found.with_annotations({"ENSG0": "TP53", "elsewhere": "x"})
    assert by_name.annotations == {"annotation": ["TP53", *[""] * (P - 1)]}
    about = pd.DataFrame({"shape": SYMBOLS}, index=GENES)
    table = found.with_annotations(about).to_frame()
    assert sorted(table["shape (annotation)"]) == sorted(SYMBOLS)
    assert found.with_annotations(about).position("MYC") == 2
    same = found.with_annotations(pd.DataFrame({"kind": ["a"] * P}, index=GENES))
    with pytest.raises(ValueError, match="there is no feature 'a'"):
        same.position("a")
    with pytest.raises(ValueError, match=r"'myc'\. Did you mean 'MYC'\?"):
        by_name.with_annotations(about).position("myc")


def test_long_names_are_read_whole_in_a_terminal_of_80_columns(plain, tmp_path, monkeypatch):
    """Oracle: the ids that were written, which differ in their last digits alone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    long = [f"ENSG00000{k:06d}.12" for k in range(P)]
    frame = in_rows(plain, long, symbol=SYMBOLS)
    asked = ["select", str(saved(frame, tmp_path)), "--target", "y", "--transpose"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    shown = [line for line in done.stdout.splitlines() if "┃" in line or "│" in line]
    assert max(map(len, shown)) <= 80
    assert [line.split()[0] for line in shown if "ENSG" in line] == long[:2]
    assert "Panel to predict with: TP53" in done.stdout
