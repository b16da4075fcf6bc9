"""Headers below titles, in two rows, notes below tables, and sheets: read where they are plain."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from smrmr.data import read_data
from smrmr.data.files.layout import layout_of, n_titles

openpyxl = pytest.importorskip("openpyxl")

N = 12
NAMES = ["a", "b", "c", "d", "y"]


def numbers():
    values = np.random.default_rng(0).normal(size=(N, 5)).round(3)
    return pd.DataFrame(values, columns=NAMES)


FRAME = numbers()
IDS = [f"S{i}" for i in range(N)]
TEXT = FRAME.to_csv(index=False)
EUROPEAN = FRAME.to_csv(index=False, sep=";", decimal=",")
BELOW = "Note: values are logarithms"

TITLED = {
    # what: text, number of rows above and below that are left out
    "a title": (f"Table S1. Expression\n{TEXT}", 1, 0),
    "a title of one word": (f"Expression\n{TEXT}", 1, 0),
    "titles and blank lines": (f"Table S1\n\nby me\n\n{TEXT}", 2, 0),
    "a title with separators": (f"Table S1,,,,\n,,,,\n{TEXT}", 2, 0),
    "Windows line ends": (f"Table S1\n{TEXT}".replace("\n", "\r\n"), 1, 0),
    "a European title": (f"Tabelle 1\n{EUROPEAN}", 1, 0),
    "a European title, padded": (f"Tabelle 1, von mir;;;;\n{EUROPEAN}", 1, 0),
    "tabs": (f"Table S1, by me\n{TEXT}".replace(",", "\t"), 0, 0),
    "a note": (f"{TEXT}{BELOW}\n", 0, 1),
    "a note apart": (f"{TEXT},,,,\nlegend\n", 0, 1),
    "notes with separators": (f"{TEXT}\n{BELOW},,,,\n* p < 0.05,,,,\n", 0, 2),
    "both": (f"Table S1\n{TEXT}\n\n{BELOW}\n", 1, 1),
}


@pytest.mark.parametrize("ending", ["csv", "txt"])
@pytest.mark.parametrize("what", [what for what in TITLED if what != "tabs"])
def test_titles_and_notes_are_left_out(what, ending, tmp_path):
    """Oracle: the numbers that were written, and how many rows were put around them."""
    text, above, below = TITLED[what]
    path = tmp_path / f"d.{ending}"
    path.write_bytes(text.encode())
    data = read_data(path, "y")
    assert_array_equal(data.X.to_numpy(dtype=float), FRAME[NAMES[:4]].to_numpy())
    assert_array_equal(data.y.to_numpy(dtype=float), FRAME["y"].to_numpy())
    said = "; ".join(data.notes)
    rows = {0: "", 1: "1 row", 2: "2 rows"}
    assert f"{rows[above]} above the header left out" in said or not above
    assert f"{rows[below]} below the table left out" in said or not below
    assert said.count("left out: '") == bool(above) + bool(below)


@pytest.mark.parametrize(
    "rows",
    [
        [["a", "b"], ["1", "2"], ["3", "4"]],
        [["title"], ["1", "2"], ["3", "4"]],
        [["a"], ["1"], ["2"]],
        [["title", "of two cells"], ["a", "b", "c"], ["1", "2", "3"]],
        [["title"], *[[str(k)] for k in range(30)], ["a", "b"], ["1", "2"]],
    ],
)
def test_what_may_be_no_title_is_none(rows):
    """Oracle: by hand: a header, numbers or a single column below it, two cells, too many rows."""
    assert n_titles(rows) == 0


@pytest.mark.parametrize("what", ["a title", "a title with separators", "a European title"])
def test_the_row_of_the_header_can_be_said(what, tmp_path):
    """Oracle: the numbers; counted as an editor counts lines."""
    text, above, _ = TITLED[what]
    (tmp_path / "d.csv").write_text(text)
    for how in ({"header_row": above + 1}, {"skip": above}):
        data = read_data(tmp_path / "d.csv", "y", **how)
        assert_array_equal(data.X, FRAME[NAMES[:4]])
        assert "above" not in "; ".join(data.notes)


def test_a_title_of_many_cells_needs_to_be_told(tmp_path):
    """Law: the advice is followed by a table that can be read."""
    path = tmp_path / "d.csv"
    path.write_text(f"\nTable S1, by me, 2020\n# x, y\n{TEXT}")
    with pytest.raises(ValueError, match="If the header is in another line, say so: header_row"):
        read_data(path, "y")
    assert_array_equal(read_data(path, "y", header_row=4).X, FRAME[NAMES[:4]])
    assert_array_equal(read_data(path, "y", skip=3).X, FRAME[NAMES[:4]])
    assert_array_equal(read_data(path, "y", skip=2, comment="#").X, FRAME[NAMES[:4]])


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"header_row": 0}, "header_row=0 must be a whole number of 1 or more"),
        ({"skip": -1}, "skip=-1 must be a whole number of 0 or more"),
        ({"header_row": 2, "skip": 1}, "say the same twice"),
        ({"skip": 99}, "empty below 99 rows"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_rows_that_cannot_be(how, words, ending, tmp_path):
    path = tmp_path / f"d.{ending}"
    FRAME.to_csv(path) if ending == "csv" else FRAME.to_excel(path)
    with pytest.raises(ValueError, match=words):
        read_data(path, "y", **how)


def test_the_row_of_a_header_is_for_tables_of_text(tmp_path):
    np.save(tmp_path / "d.npy", FRAME.to_numpy())
    with pytest.raises(ValueError, match=r"skip is for \.csv, \.tsv, \.xlsx files"):
        read_data(tmp_path / "d.npy", "x4", skip=1)


# --- headers of two rows ----------------------------------------------------------------------

MERGED = {
    # what: rows of the header, names that are read
    "groups": ([["", "A", "", "B", "", "clinic"], ["id", "a", "b", "a", "b", "y"]],
               ["A a", "A b", "B a", "B b"]),
    "names that differ": ([["", "A", "", "B", "", ""], ["id", "a", "b", "c", "d", "y"]],
                          list("abcd")),
    "merged downwards": ([["id", "A", "", "B", "", "y"], ["", "a", "b", "a", "b", ""]],
                         ["A a", "A b", "B a", "B b"]),
}  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize("title", [True, False])
@pytest.mark.parametrize("what", MERGED)
def test_headers_of_two_rows(what, title, ending, tmp_path):
    """Oracle: names put together by hand, and the numbers that were written."""
    header, names = MERGED[what]
    rows = [[one, *map(float, values)] for one, values in zip(IDS, FRAME.to_numpy(), strict=True)]
    cells = [["Table 1", *[""] * 5]] * title + header + rows
    path = tmp_path / f"d.{ending}"
    frame = pd.DataFrame(cells)
    if ending == "csv":
        frame.to_csv(path, header=False, index=False)
    else:
        frame.replace("", None).to_excel(path, header=False, index=False)
    data = read_data(path, "y")
    assert list(data.X.columns) == names
    assert list(data.X.index) == IDS
    assert_array_equal(data.X.to_numpy(dtype=float), FRAME[NAMES[:4]].to_numpy())
    assert "the header has two rows, merged cells above names" in data.notes


def test_labels_below_names_are_no_second_header():
    """Oracle: a header without gaps, above a row of units."""
    rows = [["id", "a", "b", "y"], ["", "mg", "kg", "cm"], ["s1", "1", "2", "3"]]
    assert layout_of(rows).header == rows[0]


# --- sheets -----------------------------------------------------------------------------------


@pytest.fixture
def book(tmp_path):
    """A page of words, a table that begins in the third row of the second column, another one."""
    made = openpyxl.Workbook()
    made.active.title = "about"
    made.active["A1"] = "Supplement"
    sheet = made.create_sheet("genes")
    for i, row in enumerate([NAMES, *FRAME.to_numpy().tolist()]):
        for j, value in enumerate(row):
            sheet.cell(3 + i, 2 + j, value)
    sheet.cell(3 + N + 3, 2, "legend")
    other = made.create_sheet("7")
    other.append(["z", "x"])
    for i in range(N):
        other.append([i, i * i])
    made.save(tmp_path / "book.xlsx")
    return tmp_path / "book.xlsx"


def test_the_first_sheet_that_is_a_table_is_read(book):
    """Oracle: the numbers that were written."""
    data = read_data(book, "y")
    assert_array_equal(data.X.to_numpy(dtype=float), FRAME[NAMES[:4]].to_numpy())
    assert data.notes[0] == "sheet 'genes' is read; others are 'about', '7'"
    assert data.notes[-1] == "1 row below the table left out: 'legend'"


def test_sheets_are_named_or_counted(book):
    """Oracle: the names of the sheets; a number counts only where no sheet is called so."""
    assert read_data(book, "z", sheet="7").X["x"].tolist() == [i * i for i in range(N)]
    assert list(read_data(book, "y", sheet="2", header_row=3).X) == NAMES[:4]
    with pytest.raises(ValueError, match="no sheet '9'"):
        read_data(book, "y", sheet="9")
    with pytest.raises(
        ValueError, match=r"no column 'z'.* Other sheets are 'about', '7': pheno='a"
    ):
        read_data(book, "z")
