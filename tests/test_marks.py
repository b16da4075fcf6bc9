"""Values that are not there, or not known to the last digit: marks, limits, sentinels."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

from smrmr import select
from smrmr.cli.commands import app
from smrmr.data import read_data
from smrmr.data.sentinels import sentinels

N = 30


def numbers():
    values = np.random.default_rng(0).normal(size=(N, 4)).round(3)
    frame = pd.DataFrame(values, columns=list("abcd"))
    return frame.assign(y=(2 * frame["a"] + np.random.default_rng(1).normal(size=N)).round(3))


FRAME = numbers()


def with_cells(cells, folder, ending="csv", **options):
    """The table with other texts in some cells, by column and row."""
    frame = FRAME.astype(object)
    for (name, row), value in cells.items():
        frame.loc[row, name] = value
    path = folder / f"d.{ending}"
    write = {"csv": frame.to_csv, "xlsx": frame.to_excel}[ending]
    write(path, index=False, **options)
    return path


# --- sentinels --------------------------------------------------------------------------------

STAND_OUT = {
    # what: (values, the mark among them)
    "one of -999": ([*range(20), -999], -999),
    "many of -9": ([0, 1, 2, 1, 0, 2, 1, 1, -9, -9], -9),
    "two of 99": ([*range(20), 99, 99], 99),
    "beside gaps": ([*range(20), np.nan, -99, np.inf], -99),
    "fractions": ([*(0.01 * np.arange(20)), -9999], -9999),
    "a single 99": ([*range(20), 99], None),
    "in the range": ([*range(0, 200, 5), 99, 99], None),
    "near the others": ([*range(60, 97), 99, 99], None),
    "below zero": ([*range(-90, 90, 10), -99, -99], None),
    "other numbers": ([*range(20), -1000, -1000], None),
    "two values": ([0, 0, 0, -9, -9], None),
    "nothing": ([np.nan] * 5, None),
}


@pytest.mark.parametrize("what", STAND_OUT)
def test_numbers_that_stand_out(what):
    """Oracle: by hand: farther from all others than these are from each other."""
    values, mark = STAND_OUT[what]
    column = np.array(values, dtype=float)[:, None]
    both = np.hstack([np.resize(np.arange(7.0), (len(values), 1)), column])
    places, found = sentinels(both)
    assert places.tolist() == ([] if mark is None else [1])
    assert found.tolist() == ([] if mark is None else [mark])


@pytest.mark.parametrize("kind", ["counts", "normal", "heavy", "genotypes", "whole"])
def test_values_of_the_field_do_not_stand_out(kind, rng):
    """Oracle: data in which every question would be a false alarm."""
    values = {
        "counts": lambda: rng.negative_binomial(0.3, 0.01, size=(100, 20_000)).astype(float),
        "normal": lambda: rng.normal(size=(100, 20_000)),
        "heavy": lambda: np.rint(100 * rng.standard_t(1.5, size=(100, 20_000))),
        "genotypes": lambda: rng.integers(0, 3, size=(100, 20_000)).astype(float),
        "whole": lambda: rng.integers(0, 100, size=(100, 20_000)).astype(float),
    }[kind]()
    n_alarms = len(sentinels(values)[0])
    assert n_alarms <= (2 if kind == "heavy" else 0)


def test_all_that_stand_out_are_asked_about_once(tmp_path):
    """Law: either answer gives a table; oracle: the numbers of the other cells."""
    cells = {("b", 3): -999, ("c", 4): -999, ("d", 5): 9999, ("d", 6): 9999, ("y", 7): -999}
    path = with_cells(cells, tmp_path)
    with pytest.raises(
        ValueError,
        match=r"^-999 in columns 'b', 'c', 'y' and 9999 in column 'd' stand out from all"
        r" other values\. If that marks missing values use na=\['-999', '9999'\]; "
        r"if not, na=\['none'\]\.$",
    ):
        read_data(path, "y")
    assert read_data(path, "y", na=["none"]).X["b"].iloc[3] == -999
    data = read_data(path, "y", na=["-999", "9999"], missing="drop-rows")
    assert_array_equal(data.X, FRAME[list("abcd")].drop(range(3, 8)))
    assert data.notes[0] == "'-999', '9999' read as missing, 5 times"


def test_what_stands_out_is_one_of_the_problems(tmp_path):
    """Oracle: a table with two faults."""
    path = with_cells({("b", 3): -999, ("c", 4): "low"}, tmp_path)
    with pytest.raises(ValueError, match=r"^2 things must be mended:\n  1\. -999 in column 'b'"):
        read_data(path, "y")


def test_the_command_takes_the_advice(tmp_path, monkeypatch):
    """Law: what the message tells to type is understood."""
    monkeypatch.chdir(tmp_path)
    with_cells({("b", 3): -999, ("c", 3): -99}, tmp_path)
    asked = ["rank", "d.csv", "--target", "y", "-k", "1", "--missing", "drop-rows"]
    said = " ".join(CliRunner().invoke(app, asked).stderr.split())
    assert "use --na -999 --na -99; if not, --na none." in said
    for answer in (["--na", "-999", "--na", "-99"], ["--na", "none"]):
        done = CliRunner().invoke(app, [*asked, *answer])
        assert done.exit_code == 0, done.output
    assert "'-999', '-99' read as missing, 2 times" not in done.stderr


def test_python_is_warned(rng):
    """Oracle: the column that holds -999, in arrays and tables."""
    X, y = rng.normal(size=(40, 5)), rng.normal(size=40)
    X[7, 2] = -999
    with pytest.warns(UserWarning, match=r"columns x2 hold a number such as -999 that stands out"):
        select(X, y)
    with pytest.warns(UserWarning, match=r"columns c hold a number such as -999"):
        select(pd.DataFrame(X, columns=list("abcde")), y)
    X[7, 2] = -2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        select(X, y)


# --- marks of one's own, and limits -----------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_marks_of_ones_own(ending, tmp_path):
    """Oracle: the numbers of the other cells; the label of a category."""
    path = with_cells({("b", 3): "n.v.", ("c", 4): 7777, ("c", 5): "below"}, tmp_path, ending)
    with pytest.raises(ValueError, match="numbers and text"):
        read_data(path, "y")
    data = read_data(path, "y", na=["n.v.", "below", "7777"], missing="drop-rows")
    assert_array_equal(data.X.to_numpy(dtype=float), FRAME[list("abcd")].drop([3, 4, 5]))
    assert "'n.v.', 'below', '7777' read as missing" in "; ".join(data.notes)


LIMITED = {("b", 3): "<0.5", ("b", 9): "< 0.25", ("c", 4): ">40", ("c", 5): "≤1e-3"}


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize(
    ("limits", "expected"), [("limit", [0.5, 0.25, 40, 1e-3]), ("half", [0.25, 0.125, 40, 5e-4])]
)
def test_values_beyond_a_limit(limits, expected, ending, tmp_path):
    """Oracle: the limits that were written, or half of them."""
    path = with_cells(LIMITED, tmp_path, ending)
    with pytest.raises(
        ValueError, match=r"'b', 'c' hold values beyond a limit such as '<0.5'. Use limits='half'"
    ):
        read_data(path, "y")
    data = read_data(path, "y", limits=limits)
    frame = FRAME[list("abcd")].copy()
    for (name, row), value in zip(LIMITED, expected, strict=True):
        frame.loc[row, name] = value
    assert_array_equal(data.X.to_numpy(dtype=float), frame)
    assert "values beyond a limit in 'b', 'c' replaced" in data.notes[0]
    with pytest.raises(ValueError, match="limits='some' is not known"):
        read_data(path, "y", limits="some")


def test_limits_in_european_tables_and_with_features_in_rows(tmp_path):
    """Oracle: the same cells, with decimal commas, turned."""
    frame = FRAME.set_axis([f"s{i}" for i in range(N)]).T.astype(object)
    frame = frame.astype(str).apply(lambda column: column.str.replace(".", ",", regex=False))
    frame.loc["b", "s3"] = "<0,5"
    frame.to_csv(tmp_path / "d.csv", sep=";", index_label="gene")
    data = read_data(tmp_path / "d.csv", "y", transpose=True, limits="limit")
    expected = FRAME[list("abcd")].copy()
    expected.loc[3, "b"] = 0.5
    assert_array_equal(data.X.to_numpy(dtype=float), expected)


@pytest.mark.parametrize("cell", ["1e3,5", "1.2.3", "<", "0x1F", "1_000", "12 mg"])
def test_what_is_no_number_in_any_country(cell, tmp_path):
    """Oracle: the cell, which the message shows with its row; nothing is guessed."""
    path = with_cells({("b", 3): cell}, tmp_path)
    with pytest.raises(
        ValueError, match=r"'b' holds numbers and text such as .* in row 4"
    ) as error:
        read_data(path, "y", limits="half")
    assert repr(cell) in str(error.value)


def test_marks_are_for_tables_in_memory(tmp_path, monkeypatch):
    np.save(tmp_path / "d.npy", FRAME.to_numpy())
    monkeypatch.setattr("smrmr.data.files.limits.MAX_BYTES_WHOLE", 0)
    with pytest.raises(ValueError, match="na and limits are for tables that fit in memory"):
        read_data(tmp_path / "d.npy", "x4", na=["-9"])
