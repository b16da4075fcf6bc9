"""Reads sheets of Excel files."""

import warnings
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

from ...problems import Problem, setting
from ...types import pd
from ..messages import did_you_mean, quoted
from .format import Format, Table, import_needed, reading
from .grid import table_of_rows
from .named_arrays import check_size


def read_excel(path: Path, *, sheet: str | None = None, transpose: bool = False) -> Table:
    """Read the first sheet, or the one named, whose first row that is not empty names columns."""
    import_needed("openpyxl", "Excel files")
    with reading(path, "an Excel file"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks about styles and the like
        with ZipFile(path) as archive:
            check_size(sum(member.file_size for member in archive.infolist()))
        with pd.ExcelFile(path, engine="openpyxl") as book:
            sheets = [str(name) for name in book.sheet_names]
            chosen = sheet or sheets[0]
            cells = book.parse(chosen, header=None) if chosen in sheets else None
    if cells is None:
        raise ValueError(f"{path} has no sheet {sheet!r}.{did_you_mean(chosen, sheets)}")
    cells = cells[cells.notna().any(axis=1)]
    if cells.empty:
        cure = f"Name another with {setting('sheet')}."
        raise Problem(f"{path}: the sheet {chosen!r} is empty.", cure=cure)
    header = ["" if pd.isna(name) else str(name) for name in cells.iloc[0]]
    rows = cells.iloc[1:].infer_objects()
    table = table_of_rows(rows, header, path, transpose=transpose)
    others = [name for name in sheets if name != chosen]
    more = [f"sheet {chosen!r} is read; others are {quoted(others)}"] if others else []
    return replace(table, notes=(more if sheet is None else []) + table.notes)


XLSX = Format(("xlsx", "xlsm"), read_excel, options=("transpose", "sheet"))
