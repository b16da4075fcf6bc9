"""Reads sheets of Excel files."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from ...problems import Problem, setting
from ...types import pd
from ..messages import did_you_mean, quoted
from .dialect import rows_to_skip
from .format import Format, Table, import_needed, reading
from .grid import table_of_rows
from .layout import layout_of
from .named_arrays import check_size

ROWS_JUDGED = 100  # by which a sheet is judged
FEWEST_ROWS = 4  # of a sheet that may be a table


def read_excel(
    path: Path,
    *,
    sheet: str | None = None,
    transpose: bool = False,
    header_row: int | None = None,
    skip: int = 0,
) -> Table:
    """Read the sheet named, or the first one that is a table."""
    skip = rows_to_skip(header_row, skip)
    import_needed("openpyxl", "Excel files")
    with reading(path, "an Excel file"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks about styles and the like
        with ZipFile(path) as archive:
            check_size(sum(member.file_size for member in archive.infolist()))
        with pd.ExcelFile(path, engine="openpyxl") as book:
            sheets = [str(name) for name in book.sheet_names]
            named = _named_sheet(sheet, sheets, path)
            cells = _cells(book, named or sheets[0], skip)
            chosen = named or sheets[0]
            if named is None and not _is_table(cells):
                found = {name: _cells(book, name, skip) for name in sheets[1:]}
                tables = [name for name, one in found.items() if _is_table(one)]
                chosen, cells = (tables[0], found[tables[0]]) if tables else (chosen, cells)
    if cells.empty:
        cure, below = (
            f"Name another with {setting('sheet')}.",
            f" below {skip} rows" if skip else "",
        )
        raise Problem(f"{path}: the sheet {chosen!r} is empty{below}.", cure=cure)
    places = np.flatnonzero(cells.notna().any(axis=1))[:ROWS_JUDGED]  # of rows that hold something
    first = cells.iloc[places].astype(object)
    texts = first.where(first.notna(), "").astype(str)
    layout = layout_of(texts.to_numpy().tolist(), said=header_row is not None)
    rows = cells.iloc[places[layout.last] + 1 :].infer_objects()
    table = table_of_rows(rows, layout.header, path, transpose=transpose)
    others = [name for name in sheets if name != chosen]
    more = [f"sheet {chosen!r} is read; others are {quoted(others)}"] if others else []
    more = [*(more if sheet is None else []), *layout.notes]
    elsewhere = ""
    if others:
        joined, instead = setting("pheno", others[0]), setting("sheet", others[0])
        also = f"{joined} takes the target from one, {instead} reads it instead"
        elsewhere = f" Other sheets are {quoted(others)}: {also}."
    return replace(table, notes=more + table.notes, elsewhere=elsewhere)


def _named_sheet(sheet: str | None, sheets: list[str], path: Path) -> str | None:
    """The sheet of this name, or of this number from 1 where none is called so."""
    if sheet is None or sheet in sheets:
        return sheet
    if sheet.isdecimal() and 0 < int(sheet) <= len(sheets):
        return sheets[int(sheet) - 1]
    raise Problem(f"{path} has no sheet {sheet!r}.{did_you_mean(sheet, sheets)}")


def _cells(book: Any, sheet: str, skip: int) -> Any:
    """The cells of a sheet without its first rows, and without empty columns."""
    cells = book.parse(sheet, header=None).iloc[skip:]
    return cells.loc[:, cells.notna().any(axis=0)]


def _is_table(cells: Any) -> bool:
    """Whether a sheet has rows and columns, not just a few words."""
    n_rows = np.count_nonzero(cells.notna().sum(axis=1) > 1)
    return bool(cells.shape[1] > 1 and n_rows >= FEWEST_ROWS)


OPTIONS = ("transpose", "sheet", "header_row", "skip")
XLSX = Format(("xlsx", "xlsm"), read_excel, options=OPTIONS)
