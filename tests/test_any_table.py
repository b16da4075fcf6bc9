"""Tables as people have them: each is read as it was meant, or refused with what to change."""

from __future__ import annotations

import errno
import gzip
import html
import json
import os
import re
import time
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

import smrmr.pipeline
from smrmr import Recipe, select
from smrmr.cli.commands import app
from smrmr.data import read_data
from smrmr.data.columns import as_columns

N = 30


def numbers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N, 4)).round(3), columns=list("abcd"))
    return X.assign(y=(2 * X["a"] + rng.normal(size=N)).round(3))


FRAME = numbers()
PLAIN = FRAME.to_csv(index=False)
LINES = PLAIN.splitlines()
EUROPEAN = PLAIN.replace(",", ";").replace(".", ",")


def with_column(name, values):
    return FRAME.assign(**{name: values}).to_csv(index=False)


def with_cell(value, column="b"):
    frame = FRAME.astype(object)
    frame.loc[3, column] = value
    return frame.to_csv(index=False)


def in_r(frame):
    """As write.table of R does it: blanks, quotes, and no name above the names of rows."""
    rows = [" ".join([f'"s{i}"', *map(str, row)]) for i, row in enumerate(frame.to_numpy())]
    return "\n".join([" ".join(f'"{name}"' for name in frame), *rows]) + "\n"


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


WRITTEN = {
    # what: (name, content, options, words of a note)
    "commas": ("d.csv", PLAIN, {}, None),
    "Windows line ends": ("d.csv", PLAIN.replace("\n", "\r\n"), {}, None),
    "old Mac line ends": ("d.csv", PLAIN.replace("\n", "\r"), {}, None),
    "UTF-8 with a mark": ("d.csv", b"\xef\xbb\xbf" + PLAIN.encode(), {}, None),
    "UTF-16": ("d.csv", PLAIN.encode("utf-16"), {}, "utf-16"),
    "UTF-16 that is named": ("d.csv", PLAIN.encode("utf-16-le"), {"encoding": "utf-16-le"}, None),
    "latin-1 that is named": ("d.csv", PLAIN.encode("latin-1"), {"encoding": "latin-1"}, None),
    "semicolons": ("d.csv", PLAIN.replace(",", ";"), {}, "separated by semicolons"),
    "decimal commas": ("d.csv", EUROPEAN, {}, "decimal commas"),
    "decimal commas and tabs": ("d.txt", EUROPEAN.replace(";", "\t"), {}, "decimal commas"),
    "decimal commas in quotes": (
        "d.csv", "\n".join(['"' + x.replace(";", '","') + '"' for x in EUROPEAN.split("\n")[:-1]]),
        {}, "decimal commas",
    ),
    "tabs in a .csv": ("d.csv", PLAIN.replace(",", "\t"), {}, "separated by tabs"),
    "commas in a .txt": ("d.txt", PLAIN, {}, "separated by commas"),
    "bars": ("d.txt", PLAIN.replace(",", "|"), {}, "separated by bars"),
    "lined up": ("d.txt", FRAME.to_string(index=False), {}, "separated by blanks"),
    "written by R": ("d.txt", in_r(FRAME), {}, "taken for sample ids"),
    "odd separator": ("d.csv", PLAIN.replace(",", "^"), {"sep": "^"}, None),
    "named separator": ("d.csv", PLAIN.replace(",", "\t"), {"sep": "tab"}, None),
    "comments": ("d.csv", f"# mine\n#, of, today\n{PLAIN}", {"comment": "#"}, None),
    "blank lines": ("d.csv", "\n\n" + PLAIN.replace("\n", "\n\n", 3), {}, None),
    "index of pandas": ("d.csv", FRAME.to_csv(), {}, "taken for sample ids"),
    "separators at the ends": ("d.csv", PLAIN.replace("\n", ",\n"), {}, "1 empty column"),
    "separators at the ends of rows": (
        "d.csv", "\n".join([LINES[0], *(f"{line}," for line in LINES[1:])]), {}, "1 empty column",
    ),
    "empty rows": ("d.csv", PLAIN + ",,,,\n,,,,\n", {}, "2 empty rows"),
    "another ending": ("d.dat", PLAIN, {"format": "csv"}, None),
    "gene after gene": (
        "d.csv", FRAME.set_axis([f"s{i}" for i in range(N)]).T.to_csv(), {"transpose": True}, None,
    ),
    "blanks around names": ("d.csv", PLAIN.replace("a,b", " a , b", 1), {}, None),
    "a long line": ("d.csv", f"#{'x' * 300_000}\n{PLAIN}", {"comment": "#"}, None),
}  # fmt: skip


@pytest.mark.parametrize("what", WRITTEN)
def test_text_is_read_as_it_was_meant(what, tmp_path):
    """Oracle: the numbers that were written."""
    name, content, options, words = WRITTEN[what]
    data = read_data(write(tmp_path, name, content), "y", **options)
    assert list(data.X.columns) == list("abcd")
    assert_array_equal(data.X.to_numpy(), FRAME[list("abcd")].to_numpy())
    assert_array_equal(data.y.to_numpy(), FRAME["y"].to_numpy())
    assert bool(data.notes) == (words is not None)
    assert (words or "") in "; ".join(data.notes)


@pytest.mark.parametrize("mark", ["NA", "N/A", ".", "-", "", "#DIV/0!", "null", "NaN", "1e400"])
def test_marks_of_missing_values(mark, tmp_path):
    """Oracle: the median of the others by NumPy takes the place of what is not there."""
    path = write(tmp_path, "d.csv", with_cell(mark))
    with pytest.raises(ValueError, match=r"1 missing( or infinite)? value in 1 column of 4"):
        read_data(path, "y")
    data = read_data(path, "y", missing="impute-median")
    assert data.X["b"].iloc[3] == np.median(FRAME["b"].drop(3))
    assert ("read as missing" in data.notes[0]) == (mark in (".", "-", "#DIV/0!"))


def test_names_of_any_letters(tmp_path):
    """Oracle: the names that were written."""
    names = ["größe in µm", "β-actin", "氏名", "a,b", "the target"]
    path = tmp_path / "my table.csv"
    FRAME.set_axis(names, axis=1).to_csv(path, index=False)
    data = read_data(path, "the target")
    assert list(data.X.columns) == names[:4]


REFUSED = {
    # what: (name, content, options, words of the message)
    "nothing": ("d.csv", "", {}, "is empty. A header and rows are needed"),
    "comments alone": ("d.csv", "# a\n# b\n", {"comment": "#"}, "is empty"),
    "a header": ("d.csv", "a,b,y\n", {}, "a header but no rows"),
    "one column": ("d.csv", "y\n1\n2\n3\n4\n", {}, "no feature is left"),
    "one column of words": ("d.csv", "my y\n1\n2\n3\n4\n", {}, "what separates them: sep='tab'"),
    "no header": ("d.csv", "\n".join(LINES[1:]), {}, "add a line of names"),
    "NUL bytes": ("d.csv", PLAIN[:200] + "\0\0" + PLAIN[200:], {}, "binary data"),
    "UTF-16 without a mark": ("d.csv", PLAIN.encode("utf-16-le"), {}, "encoding='utf-16-le'"),
    "latin-1": ("d.csv", PLAIN.replace("a", "é", 1).encode("latin-1"), {}, "encoding='latin-1'"),
    "another encoding": (
        "d.csv", PLAIN.replace("a", "é", 1).encode("latin-1"), {"encoding": "ascii"}, "not ascii",
    ),
    "no such encoding": ("d.csv", PLAIN, {"encoding": "utf-9"}, "'utf-9' is not known"),
    "a web page": ("d.csv", "\n<!DOCTYPE html>\n<html></html>", {}, "a web page"),
    "JSON": ("d.csv", '{"a": 1}', {}, "JSON"),
    "Excel in disguise": ("d.csv", b"PK\x03\x04" * 9, {}, "format='xlsx'"),
    "an open quotation": (
        "d.csv", "\n".join([*LINES[:9], '1,"2,3,4,5', *LINES[9:]]), {}, "is never closed",
    ),
    "a long row": ("d.csv", f"{PLAIN}1,2,3,4,5,6,7\n", {}, "Expected 5 fields in line 32, saw 7"),
    "long rows": ("d.csv", f"{LINES[0]}\n" + "1,2,3,4,5,6,7\n" * 9, {}, "more values than the"),
    "a short row": ("d.csv", "\n".join([*LINES, "1,2"]), {}, "target 'y' is missing in 1 of 31"),
    "comments that nobody told of": ("d.csv", f"# by me, now\n{PLAIN}", {}, "comment='#'"),
    "a comment below a title": ("d.csv", f"Table 1\n# by me, now\n{PLAIN}", {}, "header_row"),
    "long comment mark": ("d.csv", PLAIN, {"comment": "##"}, "must be one character"),
    "another separator": ("d.csv", PLAIN, {"sep": ";"}, "separates nothing"),
    "long separator": ("d.csv", PLAIN, {"sep": "::"}, "must be one character"),
    "no such decimal mark": ("d.csv", PLAIN, {"decimal": "'"}, "decimal="),
    "another decimal mark": ("d.csv", EUROPEAN, {"decimal": "."}, "use decimal=','"),
    "thousands or decimals": (
        "d.csv", "a;b;y\n" + "\n".join(f"{i},100;{i};{i}" for i in range(1, 9)), {},
        "a decimal comma (then use decimal=',') or with separators of thousands",
    ),
    "dates": ("d.csv", with_column("day", ["2024-01-30", "2024-12-01"] * 15), {}, "dates or times"),
    "other dates": ("d.csv", with_column("day", ["30.1.2024", "1.12.24"] * 15), {}, "or times"),
    "times": ("d.csv", with_column("hour", ["12:30", "9:15:10"] * 15), {}, "dates or times"),
    "months": ("d.csv", with_column("day", ["1-Mar-2020", "12 Sep 21"] * 15), {}, "dates or times"),
    "money": ("d.csv", with_column("cost", ["$1.50", "€ 20"] * 15), {}, "money or per cent"),
    "per cent": ("d.csv", with_column("share", ["1.5%", "20 %"] * 15), {}, "money or per cent"),
    "ids": (
        "d.csv", FRAME.assign(p=[f"p{i}" for i in range(N)], q=[f"q{i}" for i in range(N)])
        .to_csv(index=False), {}, "such as id='p'",
    ),
    "free text": ("d.csv", with_column("k", [f"w{min(i, 20)}" for i in range(N)]), {}, "free text"),
    "labels of few rows": ("d.csv", with_column("k", list("abcdefghij") * 3), {}, "Merge labels"),
    "below a limit": ("d.csv", with_cell("<0.1"), {}, "beyond a limit such as '<0.1'"),
    "a date as target": (
        "d.csv", PLAIN.replace(",y", ",was", 1).replace("\n", ",2020-01-01\n").replace(
            "was,2020-01-01", "was,y", 1), {}, "the target 'y' holds dates",
    ),
    "text in the target": ("d.csv", with_cell("low", "y"), {}, "'y' holds numbers and text"),
    "twice the target": ("d.csv", PLAIN.replace("a,b", "y,b", 1), {}, "'y' appear more than once"),
    "a sheet of text": ("d.csv", PLAIN, {"sheet": "a"}, "sheet is for .xlsx, .rds files"),
    "not zip": ("d.csv.zip", PLAIN, {}, "truncated or not zip"),
    "two ids": ("d.csv", with_column("id", ["p", "q"] * 15), {"id": "id"}, "with groups, not id"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_read_is_refused_with_advice(what, tmp_path):
    name, content, options, words = REFUSED[what]
    with pytest.raises(ValueError, match=r"\.$") as refused:
        read_data(write(tmp_path, name, content), "y", **options)
    assert words in str(refused.value)
    assert "Traceback" not in str(refused.value)


@pytest.mark.parametrize("name", ["d.csv", "d", "d.gz", "d.zip"])
def test_a_folder_is_no_table(name, tmp_path):
    (tmp_path / name).mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        read_data(tmp_path / name, "y")


def test_a_name_without_an_ending(tmp_path):
    path = write(tmp_path, "table", PLAIN)
    with pytest.raises(ValueError, match=r"no ending that says its format\. Give format one of"):
        read_data(path, "y")
    assert_array_equal(read_data(path, "y", format="csv").y, FRAME["y"])


def test_genes_that_a_spreadsheet_turned_into_dates_are_named(tmp_path):
    path = write(tmp_path, "d.csv", PLAIN.replace("a,b", "2-Sep,1-Mar", 1))
    assert "(SEPT2 becomes 2-Sep): '2-Sep', '1-Mar'" in read_data(path, "y").notes[0]


def test_all_problems_are_in_one_message(tmp_path):
    """Oracle: seven faults put into one table; the message numbers and cures each of them."""
    frame = FRAME.astype(object).assign(
        day="2024-01-01", cost="$5", k=[f"p{min(i, 20)}" for i in range(N)], c=["1,5", "2,5"] * 15
    )
    frame.loc[2, "y"] = frame.loc[5, "b"] = np.nan
    text = frame.to_csv(index=False).replace("a,b", "d,b", 1)
    with pytest.raises(ValueError, match=r"^7 things must be mended:") as refused:
        read_data(write(tmp_path, "d.csv", text), "y")
    said = str(refused.value).splitlines()[1:]
    cures = ["Each must be different", "missing_target='drop'", "Choose missing ", "decimal=','",
             "drop=['day']", "drop=['cost']", "drop=['k']"]  # fmt: skip
    assert len(said) == 7
    assert all(cure in line for cure, line in zip(cures, said, strict=True))
    assert [line.split(".")[0].strip() for line in said] == list("1234567")


@pytest.mark.parametrize("control", [[], ["--missing", "impute-median"]])
def test_rows_without_a_target_are_dropped_when_asked_by_name(control, tmp_path):
    """Oracle: the same table without these rows."""
    path = write(tmp_path, "d.csv", with_cell("", "y"))
    how = dict(zip(["missing"], control[1:], strict=False))
    with pytest.raises(ValueError, match=r"missing in 1 of 30 rows.*missing_target='drop'"):
        read_data(path, "y", **how)
    data = read_data(path, "y", missing_target="drop", **how)
    assert_array_equal(data.X.to_numpy(), FRAME.drop(index=3)[list("abcd")].to_numpy())
    assert_array_equal(data.y, FRAME["y"].drop(3))
    assert data.notes == ["1 of 30 rows without a target dropped"]
    with pytest.raises(ValueError, match=r"missing_target='fill' is not known.*'drop'"):
        read_data(path, "y", missing_target="fill")


# --- every bit ----------------------------------------------------------------------------------

BITS = {
    # what: (ending, how the table is written, options)
    "csv": ("csv", lambda f, p: f.to_csv(p, index=False), {}),
    "blanks": ("txt", lambda f, p: f.to_csv(p, index=False, sep=" "), {}),
    "European": ("csv", lambda f, p: f.to_csv(p, index=False, sep=";", decimal=","), {}),
    "turned": ("csv", lambda f, p: f.T.to_csv(p), {"transpose": True}),
    "turned, with a row of text": (
        "csv", lambda f, p: f.assign(kind=["u", "v"] * (N // 2)).T.to_csv(p), {"transpose": True},
    ),
    "labels above": (
        "csv",
        lambda f, p: pd.concat(
            [pd.DataFrame([list("qrstu")], columns=f.columns), f.astype(object)]
        ).to_csv(p, index=False), {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BITS)
def test_numbers_are_read_to_the_last_bit(what, tmp_path):
    """Oracle: the table in memory, and in Parquet: same bits, so same answer."""
    ending, write_table, options = BITS[what]
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(N, 4)) * 10.0 ** rng.integers(-9, 9, size=4))
    frame = frame.set_axis(list("abcd"), axis=1).assign(y=rng.normal(size=N))
    write_table(frame, tmp_path / f"d.{ending}")
    frame.to_parquet(tmp_path / "d.parquet")
    data = read_data(tmp_path / f"d.{ending}", "y", **options)
    parquet = read_data(tmp_path / "d.parquet", "y")
    for name in "abcd":
        assert_array_equal(data.X[name].to_numpy(dtype=float), frame[name].to_numpy())
        assert_array_equal(parquet.X[name], frame[name])
    assert_array_equal(data.y.to_numpy(dtype=float), frame["y"].to_numpy())


@pytest.mark.parametrize("decimal", [".", ","])
def test_marks_of_missing_values_leave_other_bits_alone(decimal, tmp_path):
    """Oracle: the numbers in memory, whose column is text in the file."""
    values = np.random.default_rng(6).normal(size=N)
    written = [repr(float(v)).replace(".", decimal) for v in values]
    written[4] = "n.d."
    frame = FRAME.drop(columns="b").assign(b=written)
    frame.to_csv(tmp_path / "d.csv", index=False, sep=";", decimal=decimal)
    read = read_data(tmp_path / "d.csv", "y", missing="drop-rows").X["b"]
    assert_array_equal(read, np.delete(values, 4))


# --- samples in columns -----------------------------------------------------------------------


def genes(n_genes=40, n_samples=12):
    values = np.random.default_rng(1).normal(size=(n_genes, n_samples))
    names = [f"GENE{k}" for k in range(n_genes)]
    return pd.DataFrame(values, index=names, columns=[f"GSM{i}" for i in range(n_samples)])


@pytest.mark.parametrize("label", ["gene", None])
@pytest.mark.parametrize("target", ["GENE7", "disease", None])
def test_samples_in_columns_are_recognised(label, target, tmp_path):
    """Law: the advice is followed by a table that can be read, if the target is one of its rows."""
    path = tmp_path / "d.csv"
    genes().to_csv(path, index_label=label)
    advice = r"Your samples seem to be columns.*[uU]se transpose=True"
    with pytest.raises(ValueError, match=advice):
        read_data(path, target)
    beside = genes()
    beside.insert(0, "symbol", [f"SYM{k}" for k in range(40)])
    beside.to_csv(tmp_path / "symbols.csv", index_label="gene")
    with pytest.raises(ValueError, match=advice):
        read_data(tmp_path / "symbols.csv", target)
    assert read_data(path, "GENE7", transpose=True).X.shape == (12, 39)
    with pytest.raises(ValueError, match=r"seem to be rows: 'GSM3' is a column\. Leave out"):
        read_data(path, "GSM3", transpose=True)


def test_phenotypes_of_samples_in_columns(tmp_path):
    """Oracle: ids that are names of columns; with --transpose they are joined."""
    genes().to_csv(tmp_path / "d.csv", index_label="gene")
    pheno = tmp_path / "p.csv"
    pd.DataFrame({"id": [f"GSM{i}" for i in range(12)], "y": range(12)}).to_csv(pheno, index=False)
    with pytest.raises(ValueError, match=r"Your samples seem to be columns: use transpose=True\."):
        read_data(tmp_path / "d.csv", "y", pheno=pheno, id="id")
    data = read_data(tmp_path / "d.csv", "y", pheno=pheno, id="id", transpose=True)
    assert data.y.tolist() == list(range(12))


def test_a_wide_table_of_samples_is_not_said_to_be_turned(tmp_path):
    """Oracle: ten samples in rows, whose ids are a column; the target is merely misspelt."""
    genes(10, 40).to_csv(tmp_path / "d.csv", index_label="sample")
    with pytest.raises(ValueError, match="Did you mean 'GSM7'") as refused:
        read_data(tmp_path / "d.csv", "gsm7")
    assert "transpose" not in str(refused.value)
    long = genes(40, 10).assign(sex=["f", "m"] * 20, dose=[f"<{k}" for k in range(40)])
    long.to_csv(tmp_path / "long.csv", index_label="sample")
    with pytest.raises(
        ValueError, match=r"There are .* in another table is joined by pheno"
    ) as why:
        read_data(tmp_path / "long.csv", "response")
    assert "transpose" not in str(why.value)


# --- Excel, R, archives, standard input -------------------------------------------------------


def test_sheets(tmp_path):
    """Oracle: the numbers that were written; another sheet holds twice as much."""
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        FRAME.astype(object).assign(a=FRAME["a"].astype(str)).to_excel(
            book, sheet_name="first", index=False, startrow=2
        )
        (2 * FRAME).to_excel(book, sheet_name="more", index=False)
        pd.DataFrame().to_excel(book, sheet_name="nothing", index=False)
    data = read_data(path, "y")
    assert_array_equal(data.X.to_numpy(), FRAME[list("abcd")].to_numpy())
    assert data.notes == ["sheet 'first' is read; others are 'more', 'nothing'"]
    assert_array_equal(read_data(path, "y", sheet="more").y, 2 * FRAME["y"])
    with pytest.raises(ValueError, match=r"no sheet 'other'. There are 'first', 'more', 'nothing'"):
        read_data(path, "y", sheet="other")
    with pytest.raises(ValueError, match="'nothing' is empty"):
        read_data(path, "y", sheet="nothing")


def test_sheets_that_would_fill_the_memory_are_not_unpacked(tmp_path):
    FRAME.to_excel(tmp_path / "d.xlsx")
    with pytest.raises(ValueError, match="does not fit in memory"):
        read_data(tmp_path / "d.xlsx", "y", max_memory=125)


def test_objects_of_r(tmp_path):
    """Oracle: what pyreadr wrote; R's own files are below."""
    pyreadr = pytest.importorskip("pyreadr")
    path = tmp_path / "d.RData"
    pyreadr.write_rdata(path, FRAME, df_name="one")
    assert_array_equal(read_data(path, "y").X.to_numpy(), FRAME[list("abcd")].to_numpy())
    kinds = FRAME.assign(site=pd.Categorical(["u", "v", "w"] * 10), ok=[True, False] * 15)
    pyreadr.write_rds(tmp_path / "d.rds", kinds)
    X = read_data(tmp_path / "d.rds", "y").X
    assert X["site"].tolist() == ["u", "v", "w"] * 10
    assert X["ok"].tolist() == [True, False] * 15


def test_several_objects_of_r(tmp_path):
    """Oracle: the objects that were written, by rdata."""
    rdata = pytest.importorskip("rdata", "1.0")  # which can write
    path = tmp_path / "d.rda"
    rdata.write_rda(path, {"one": FRAME, "two": FRAME * 2, "word": "x"})
    with pytest.raises(ValueError, match=r"holds one \(30 x 5\), two \(30 x 5\), word.*sheet"):
        read_data(path, "y")
    assert_array_equal(read_data(path, "y", sheet="two").y, 2 * FRAME["y"])
    with pytest.raises(ValueError, match=r"no object 'tw'\. Did you mean 'two'"):
        read_data(path, "y", sheet="tw")
    rdata.write_rda(path, {"x": FRAME.to_numpy(), "y": FRAME["y"].to_numpy()})
    data = read_data(path)
    assert (data.target, data.X.shape) == ("y", (N, 5))
    rdata.write_rda(path, {"word": "x"})
    with pytest.raises(ValueError, match=r"holds no table: word.*In R.*write\.csv"):
        read_data(path, "y")


@pytest.mark.skipif(
    not os.environ.get("SMRMR_DATA"), reason="SMRMR_DATA names no folder with the data sets"
)
@pytest.mark.parametrize(
    ("name", "shape", "target", "levels"),
    [
        ("alon.RData", (62, 2000), None, {"n": 22, "t": 40}),
        ("gravier.RData", (168, 2905), None, {"good": 111, "poor": 57}),
        ("khan.RData", (63, 2308), None, {"BL": 8, "EWS": 23, "NB": 12, "RMS": 20}),
        ("riboflavin.RData", (71, 4088), "y", None),
    ],
)
def test_files_that_r_wrote(name, shape, target, levels):
    """Oracle: the sizes and classes that the papers of these data tell, and a round number."""
    found = list(Path(os.environ["SMRMR_DATA"]).rglob(name))
    if not found:
        pytest.skip(f"{name} is not below SMRMR_DATA")
    data = read_data(found[0], target)
    assert data.X.shape == shape
    if levels is None:
        assert data.X.columns[0] == "x.AADK_at"
        assert data.y.iloc[0] == np.log2(0.01)  # the rate of production of its first strain
    else:
        assert data.y.value_counts().to_dict() == levels


def test_a_gzip_that_would_fill_the_disk_is_not_unpacked(tmp_path, monkeypatch):
    """Oracle: a megabyte of zeros in a kilobyte, where 100,000 bytes are allowed."""
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, "d.csv.gz", gzip.compress(b"0" * 1_000_000))
    with pytest.raises(ValueError, match=r"does not fit in memory: it unpacks to more than 0"):
        read_data(path, "y", max_memory=12_500)
    asked = ["rank", "d.csv.gz", "--target", "y", "--max-memory", "12KB"]
    assert "Raise --max-memory, or save X" in CliRunner().invoke(app, asked).stderr


@pytest.mark.parametrize("name", ["../d.csv", "a/../../d.csv", "/d.csv"])
def test_archives_that_lead_out_of_their_folder_are_not_unpacked(name, tmp_path):
    """Oracle: the name, which the message shows; nothing is written there."""
    (tmp_path / "inner").mkdir()
    with ZipFile(tmp_path / "inner" / "d.zip", "w") as archive:
        archive.writestr(name, PLAIN)
    with pytest.raises(ValueError, match="outside of its folder: it holds ") as refused:
        read_data(tmp_path / "inner" / "d.zip", "y")
    assert repr(name) in str(refused.value)
    assert [path.name for path in tmp_path.rglob("*")] == ["inner", "d.zip"]


@pytest.mark.parametrize("target", ["d.csv", "e.csv", "nowhere.csv"])
def test_links_that_lead_to_no_file(target, tmp_path):
    """Oracle: a link to itself, two links to each other, and one to nothing."""
    (tmp_path / "d.csv").symlink_to(target)
    (tmp_path / "e.csv").symlink_to("d.csv")
    with pytest.raises(ValueError, match=r"d\.csv is a link that leads to no file\. Name the file"):
        read_data(tmp_path / "d.csv", "y")


@pytest.mark.parametrize("n_rows", [0, 1, 3])
def test_a_few_rows_of_very_many_columns_are_refused_soon(n_rows, tmp_path):
    """Oracle: seconds by the clock, of which reading took more than 90."""
    row = ",".join(["1.5"] * 1_000_000)
    names = ",".join(f"x{k}" for k in range(1_000_000))
    path = write(tmp_path, "d.csv", "\n".join([names, *[row] * n_rows]))
    start = time.process_time()
    with pytest.raises(ValueError, match=rf"has {n_rows} rows? of 1,000,000 values\. At least 4"):
        read_data(path, "x0")
    assert time.process_time() - start < 20


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    """Oracle: the error that Linux gives a write to a full disk."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "d.csv", PLAIN)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    done = CliRunner().invoke(app, ["select", "d.csv", "--target", "y", "--out", "answers/one"])
    assert done.exit_code == 2
    said = " ".join(done.stderr.split())
    assert f"no room left on the disk for {Path('answers/one')}. Free some room, or name" in said
    assert list((tmp_path / "answers" / "one").iterdir()) == []
    with pytest.raises(ValueError, match=r"no room left on the disk for .*r\.html"):
        select(FRAME[list("abcd")], FRAME["y"]).report(tmp_path / "r.html")


@pytest.mark.filterwarnings("default")
def test_two_runs_do_not_replace_each_other(tmp_path, monkeypatch):
    """Oracle: an answer that another run writes while this one computes; both are kept."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "d.csv", PLAIN)
    run = CliRunner().invoke
    asked = ["select", "d.csv", "--target", "y", "--no-accuracy"]
    compute = smrmr.pipeline.select

    def while_another_runs(*args, **kwargs):
        monkeypatch.setattr("smrmr.pipeline.select", compute)
        assert run(app, [*asked, "--fdr", "0.2", "--out", "out"]).exit_code == 0
        return compute(*args, **kwargs)

    monkeypatch.setattr("smrmr.pipeline.select", while_another_runs)
    done = run(app, [*asked, "--out", "out"])
    assert done.exit_code == 0, done.output
    told = "another run has written to out in the meantime. This one goes to out-2."
    assert told in " ".join(done.stderr.split())
    assert str(Path("out-2/report.html")) in done.stdout
    saved = (Path(name, "selection.json").read_text() for name in ("out", "out-2"))
    assert [json.loads(text)["fdr"] for text in saved] == [0.2, 0.1]
    again = run(app, [*asked, "--out", "out", "--overwrite", "--fdr", "0.3"])
    assert again.exit_code == 0
    assert json.loads(Path("out/selection.json").read_text())["fdr"] == 0.3


def test_unpacked_copies_are_read_before_they_are_gone(tmp_path, monkeypatch):
    """Oracle: the array that was written; as it lies it would be read in blocks."""
    path = tmp_path / "d.npy"
    np.save(path, FRAME.to_numpy())
    write(tmp_path, "d.npy.gz", gzip.compress(path.read_bytes()))
    monkeypatch.setattr("smrmr.data.files.limits.MAX_BYTES_WHOLE", 0)
    with pytest.raises(ValueError, match="read in blocks"):
        read_data(path, "x4")
    assert_array_equal(read_data(tmp_path / "d.npy.gz", "x4").X, FRAME[list("abcd")])


@pytest.mark.parametrize(
    ("members", "words"),
    [
        (["one.csv", "two.csv"], "holds 2 files: 'one.csv', 'two.csv'. One is needed: unpack it"),
        ([], "holds no file"),
        (["notes.docx"], "the format 'docx' is not known. Open it where it was made"),
    ],
)
def test_archives_of_no_table_or_many(members, words, tmp_path):
    with ZipFile(tmp_path / "d.zip", "w") as archive:
        for name in members:
            archive.writestr(name, PLAIN)
    with pytest.raises(ValueError, match=r"d\.zip") as refused:
        read_data(tmp_path / "d.zip", "y")
    assert words in str(refused.value)


def test_what_systems_leave_in_archives_is_no_table(tmp_path):
    with ZipFile(tmp_path / "d.zip", "w") as archive:
        archive.writestr("folder/", "")
        archive.writestr("folder/d.csv", PLAIN)
        archive.writestr("folder/.DS_Store", b"\0")
        archive.writestr("__MACOSX/folder/._d.csv", b"\0")
    assert_array_equal(read_data(tmp_path / "d.zip", "y").y, FRAME["y"])


def test_genotypes_in_archives(tmp_path):
    """Oracle: the same files as they lie; .bim and .fam come along."""
    from test_files import write_plink

    calls = np.random.default_rng(0).integers(0, 3, size=(11, 7))
    path = write_plink(tmp_path, calls, range(11))
    plain = read_data(path)
    with ZipFile(tmp_path / "d.zip", "w") as archive:
        for ending in (".bed", ".bim", ".fam"):
            archive.write(path.with_suffix(ending), f"data{ending}")
            packed = gzip.compress(path.with_suffix(ending).read_bytes())
            path.with_suffix(f"{ending}.gz").write_bytes(packed)
            path.with_suffix(ending).unlink()
    for packed in (tmp_path / "d.zip", tmp_path / "data.bed.gz"):
        pd.testing.assert_frame_equal(read_data(packed).X, plain.X)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(pack, tmp_path, monkeypatch):
    """Oracle: the same table in a file."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "d.csv", EUROPEAN)
    answers = {}
    for name, piped in (("d.csv", b""), ("-", pack(EUROPEAN.encode()))):
        command = ["select", name, "--target", "y", "--json"]
        done = CliRunner().invoke(app, command, input=piped)
        assert done.exit_code == 0, done.output
        answers[name] = json.loads(done.stdout)
    assert answers["-"]["selected"] == answers["d.csv"]["selected"]
    assert "a" in answers["-"]["selected"]
    assert list(answers["-"]["source"])[1].startswith("standard input")
    assert (tmp_path / "smrmr-stdin" / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "z"], "standard input has no column 'z'"),
        (["--target", "y", "--run-dir", "run"], "--run-dir needs a file that can be read again"),
        (["--target", "y", "--format", "npy"], "standard input cannot be read as a NumPy matrix"),
    ],
)
def test_faults_of_standard_input(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["select", "-", *arguments], input=PLAIN)
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
    assert list(tmp_path.iterdir()) == []


# --- labels, answers, stages ------------------------------------------------------------------


def labelled(n=90):
    rng = np.random.default_rng(2)
    site = np.array(["Bonn", "Rome", "Paris"])[np.arange(n) % 3]
    X = pd.DataFrame(rng.normal(size=(n, 8)).round(3)).add_prefix("x")
    shift = np.select([site == "Rome", site == "Bonn"], [2.0, -1.0])
    smoker = np.where(rng.random(n) < 0.5, "Yes", "no")
    y = (shift + 2 * (smoker == "Yes") + rng.normal(size=n) / 2).round(3)
    return X.assign(site=site, smoker=smoker, old=rng.random(n) < 0.5, y=y)


def test_labels_in_a_csv_just_work(tmp_path, monkeypatch):
    """Oracle: the two columns that y was made of; the same table in Python, with categories."""
    monkeypatch.chdir(tmp_path)
    frame = labelled()
    frame.to_csv("d.csv", index=False)
    done = CliRunner().invoke(app, ["select", "d.csv", "--target", "y", "--fdr", "0.1"])
    assert done.exit_code == 0, done.output
    said = " ".join(done.stderr.split())
    assert "each of 'site' (3 labels) is one feature" in said
    assert "yes and no in 'smoker' read as 1 and 0" in said
    assert "site holds labels and is tested like all features" in said
    option = re.search(r"the like: (--covar-name) (site)\.", said).groups()
    done = CliRunner().invoke(app, ["select", "d.csv", "--target", "y", "--out", "o", *option])
    assert done.exit_code == 0, done.output
    assert "like all features" not in done.stderr
    assert json.loads((tmp_path / "o" / "selection.json").read_text())["covariates"] == ["site"]
    saved = json.loads((tmp_path / "smrmr-d" / "selection.json").read_text())
    assert {"site", "smoker"} <= set(saved["selected"])
    X = frame.drop(columns="y").assign(
        site=frame["site"].astype("category"), smoker=frame["smoker"] == "Yes"
    )
    found = select(X, frame["y"], Recipe(fdr=0.1))
    features = pd.read_csv("smrmr-d/features.csv").set_index("feature")
    np.testing.assert_allclose(features.loc[list(found.names), "p_value"], found.p_values)
    assert features.loc["smoker", "direction"] == "rises"


def test_labels_have_no_knockoffs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labelled().to_csv("d.csv", index=False)
    done = CliRunner().invoke(app, ["select", "d.csv", "--target", "y", "--control", "knockoffs"])
    assert done.exit_code == 2
    said = " ".join(done.stderr.split())
    assert "--control tests" in said
    assert "one 0/1 column per level" in said


def test_ordered_categories_are_ranks():
    """Law: stages by name, in an order that is not the alphabet's, are the same as by number."""
    rng = np.random.default_rng(3)
    stage = rng.integers(0, 4, size=80)
    names = np.array(["none", "mild", "bad", "worst"])
    X = pd.DataFrame(rng.normal(size=(80, 6))).add_prefix("x")
    y = stage + rng.normal(size=80)
    ordered = pd.Categorical(names[stage], categories=names, ordered=True)
    by_name = select(X.assign(stage=ordered), y, Recipe())
    by_number = select(X.assign(stage=stage), y, Recipe())
    assert_array_equal(by_name.p_values, by_number.p_values)
    assert by_name.findings()["direction"].tolist()[0] == "rises"


def test_ordered_categories_in_files(tmp_path):
    """Oracle: ten stages of three rows each, which are too few for labels and enough for ranks."""
    stage = pd.Categorical(list("jabcdefghi") * 3, categories=list("jabcdefghi"), ordered=True)
    FRAME.assign(stage=stage).to_parquet(tmp_path / "d.parquet")
    data = read_data(tmp_path / "d.parquet", "y")
    assert data.notes == ["each of 'stage' (10 labels, in order) is one feature"]
    assert as_columns(data.X).values[:, 4].tolist() == [*range(10)] * 3
    FRAME.assign(stage=stage.as_unordered()).to_parquet(tmp_path / "d.parquet")
    with pytest.raises(ValueError, match="column 'stage' holds too many labels"):
        read_data(tmp_path / "d.parquet", "y")


def test_types_of_parquet_files(tmp_path):
    """Oracle: plain types; nullable and Arrow types, texts of numbers and decimals are the same."""
    from decimal import Decimal

    plain = labelled(60).drop(columns="smoker")
    plain["x1"] = (10 * plain["x1"]).round()
    kinds = plain.assign(
        x0=plain["x0"].astype("Float64"),
        x1=plain["x1"].astype("Int64"),
        x2=plain["x2"].astype(str).astype("string"),
        x3=[Decimal(str(value)) for value in plain["x3"]],
        old=plain["old"].astype("boolean"),
        site=plain["site"].astype("string"),
    )
    kinds.to_parquet(tmp_path / "kinds.parquet")
    plain.to_csv(tmp_path / "plain.csv", index=False)
    found, wanted = (read_data(tmp_path / name, "y") for name in ("kinds.parquet", "plain.csv"))
    for name in plain.columns.drop(["y", "site"]):
        assert_array_equal(
            found.X[name].to_numpy(dtype=float), wanted.X[name].to_numpy(dtype=float)
        )
    assert found.X["site"].tolist() == wanted.X["site"].tolist()
    answers = [select(data.X, data.y.to_numpy(), Recipe()).p_values for data in (found, wanted)]
    assert_array_equal(*answers)


def test_lists_in_a_column_are_refused(tmp_path):
    """Oracle: a column of lists beside numbers, which no text file has."""
    FRAME.assign(l=[[1, 2]] * N).to_parquet(tmp_path / "d.parquet")
    for target, words in (("y", "column 'l' holds lists"), ("l", "target 'l' holds lists")):
        with pytest.raises(ValueError, match=words):
            read_data(tmp_path / "d.parquet", target)


def test_constants_are_named(tmp_path):
    path = write(tmp_path, "d.csv", FRAME.assign(k=1, w="same").to_csv(index=False))
    assert read_data(path, "y").notes == ["constant and never selected: 'k', 'w'"]


# --- settings files and runs that go on --------------------------------------------------------


def test_settings_files_and_runs_know_how_a_table_is_written(tmp_path, monkeypatch):
    """Oracle: the same numbers in a plain CSV."""
    monkeypatch.chdir(tmp_path)
    frame = FRAME.astype(object)
    frame.loc[3, "y"] = ""
    text = frame.to_csv(index=False).replace(",", "^").replace(".", ",").replace("a^", "ä^", 1)
    write(tmp_path, "odd.dat", f"%mine\n{text}".encode("latin-1"))
    write(tmp_path, "d.csv", FRAME.drop(index=3).rename(columns={"a": "ä"}).to_csv(index=False))
    write(
        tmp_path,
        "odd.toml",
        'format = "csv"\nsep = "^"\ndecimal = ","\nencoding = "latin-1"\ncomment = "%"\n'
        'missing-target = "drop"\ntarget = "y"\n',
    )
    run = CliRunner().invoke
    plain = run(app, ["select", "d.csv", "--target", "y", "--json"])
    asked = ["select", "odd.dat", "--config", "odd.toml", "--run-dir", "run", "--json"]
    by_file, again = run(app, asked), run(app, ["select", "--resume", "run", "--json"])
    for done in (plain, by_file, again):
        assert done.exit_code == 0, done.output
    answers = [json.loads(done.stdout) for done in (plain, by_file, again)]
    assert answers[0]["evidence"] == answers[1]["evidence"] == answers[2]["evidence"]
    assert answers[0]["names"][0] == "ä"


def test_a_mistyped_target_is_not_taken_for_samples_in_columns(tmp_path):
    rows = [f"p{i};{i},5;{i % 7},1;{i % 5},7" for i in range(40)]
    path = write(tmp_path, "d.csv", "\n".join(["id;x1;x2;y", *rows]))
    with pytest.raises(ValueError, match=r"has no column 'Y'\. Did you mean 'y'\?"):
        read_data(path, "Y")


@pytest.mark.parametrize("control", ["tests", "knockoffs"])
def test_the_report_says_how_values_were_changed(control, tmp_path, monkeypatch):
    """Oracle: the marks, limits and gaps that were written; ids of samples are not told."""
    monkeypatch.chdir(tmp_path)
    X = pd.DataFrame(np.random.default_rng(3).normal(9, 1, size=(60, 8)).round(3))
    X = X.add_prefix("m").astype(object).assign(y=X[0] + X[1])
    X.loc[4, "m3"], X.loc[5:7, "m5"], X.loc[8, "m6"], X.loc[9, "y"] = "<7.5", -999, None, None
    X.insert(0, "sample", [f"patient {k}" for k in range(60)])
    X.to_csv("d.csv", index=False)
    cures = ["--na=-999", "--limits=half", "--missing=impute-median", "--missing-target=drop"]
    asked = ["select", "d.csv", "--target", "y", *cures, "--control", control]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    saved = json.loads((tmp_path / "smrmr-d" / "selection.json").read_text())["source"]
    told = (
        "values beyond a limit in 'm3' replaced by half of it where it is below; "
        "'-999' read as missing, 3 times; 1 of 60 rows without a target dropped; "
        "4 missing values in 2 columns filled with the column median"
    )
    assert saved["values changed"] == told
    page = html.unescape((tmp_path / "smrmr-d" / "report.html").read_text(encoding="utf-8"))
    assert f"Before that the table was changed as follows: {told}." in page
    assert page.count(told) == 2  # in the methods and beside the files
    assert "patient 0" in done.stderr
    assert "patient 0" not in page
