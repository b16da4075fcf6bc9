"""Reads tables of text, one line per row: CSV, TSV and the like."""

import csv
import re
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path

from .dialect import dialect_of
from .format import Format, Table
from .grid import table_of_rows


def read_delimited(
    path: Path,
    *,
    usual: str,
    transpose: bool = False,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    comment: str | None = None,
) -> Table:
    """Read a table of text, one row per sample; with `transpose`, one row per feature.

    How it is written is found out by its first lines, unless it is said.
    """
    import pandas as pd

    try:
        found = dialect_of(path, usual, sep, decimal, encoding, comment)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # of values that are cut off
            rows = pd.read_csv(
                path,
                sep=found.separator,
                decimal=found.decimal,
                encoding=found.encoding,
                comment=comment,
                header=0,
                names=range(len(found.header)),
                index_col=False,
                low_memory=False,
            )
    except UnicodeError as error:
        raise ValueError(_not_text(path, encoding, error)) from None
    except pd.errors.ParserWarning:
        told = _told("rows have more values than the header has names", comment)
        raise ValueError(f"{path} is not a proper table: {told}") from None
    except (csv.Error, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ValueError(f"{path} is not a proper table: {_told(str(error), comment)}") from None
    table = table_of_rows(rows, found.header, path, transpose=transpose)
    return replace(table, notes=found.notes + table.notes)


def _not_text(path: Path, encoding: str | None, error: UnicodeError) -> str:
    if encoding is not None:
        return f"{path} is not {encoding} text: {error}. Try another --encoding."
    return (
        f"{path} is not UTF-8 text: {error}. If it was written by Excel or on Windows, try "
        "--encoding latin-1 or cp1252; or save it as UTF-8."
    )


def _told(error: str, comment: str | None) -> str:
    """What a parser found wrong, and what may help."""
    text = error.removeprefix("Error tokenizing data. C error: ").strip()
    if "EOF inside string" in text:
        row = re.search(r"row (\d+)", text)
        where = f" in or after row {row[1]} of the data" if row else ""
        return f"a quotation mark{where} is never closed. Close it, or remove it."
    lines = "" if comment else " If some lines are comments, say how they begin: --comment '#'."
    return f"{text}. Correct the file.{lines}"


OPTIONS = ("transpose", "sep", "decimal", "encoding", "comment")
CSV = Format(("csv",), partial(read_delimited, usual=","), options=OPTIONS)
TSV = Format(("tsv", "tab", "txt"), partial(read_delimited, usual="\t"), options=OPTIONS)
