"""Reads CSV and TSV files, plain or gzipped."""

import csv
import gzip
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

from ..messages import quoted
from .format import Format, Table


def read_delimited(path: Path, *, transpose: bool = False) -> Table:
    """Read a table of text, one row per sample; with `transpose`, one row per feature."""
    import pandas as pd

    try:
        header, separator = _header(path)
        _check_header(header, path, transpose)
        frame = pd.read_csv(
            path,
            sep=separator,
            index_col=0 if transpose else False,
            encoding="utf-8-sig",
            low_memory=False,
        )
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not UTF-8 text (byte {error.object[error.start]:#04x} at position "
            f"{error.start}). Save it as UTF-8."
        ) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} is truncated or not gzip: {error}. Copy it again.") from None
    except csv.Error as error:
        raise ValueError(
            f"{path}: the header cannot be read: {error}. A name of at most "
            f"{csv.field_size_limit():,} characters per column is needed. Is the file a table?"
        ) from None
    except pd.errors.ParserError as error:
        detail = str(error).removeprefix("Error tokenizing data. C error: ")
        raise ValueError(f"{path} is not a proper table: {detail.strip()}.") from None
    except pd.errors.EmptyDataError:
        raise ValueError(f"{path} has no columns. A header and rows are needed.") from None
    if transpose:
        frame = transposed(frame, path)
    if frame.empty:
        raise ValueError(f"{path} has a header but no rows of data.")
    notes = [] if separator in (",", "\t") else [f"columns are separated by {separator!r}"]
    return Table(frame, frame.iloc[:, :0], notes=notes)


def _header(path: Path) -> tuple[list[str], str]:
    """Names in the first line, and what separates them."""
    opened: Any = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig", newline="") as lines:
        first = lines.readline()
        while first and not first.strip():
            first = lines.readline()
    if not first.strip():
        raise ValueError(f"{path} is empty. A header and rows are needed.")
    if "\x00" in first:
        raise ValueError(f"{path} holds binary data, not text. Is its extension right?")
    name = path.name.removesuffix(".gz")
    usual = "\t" if name.endswith((".tsv", ".tab")) else ","
    separator = usual if usual in first else max(",\t;|", key=first.count)
    separator = separator if separator in first else usual
    return next(csv.reader([first.rstrip("\r\n")], delimiter=separator)), separator


def _check_header(header: list[str], path: Path, transpose: bool) -> None:
    names = header[1:] if transpose else header
    what = "sample" if transpose else "column"
    twice = [name for name, count in Counter(names).items() if count > 1]
    if "" in names[0 if transpose else 1 :]:
        place = names.index("", 0 if transpose else 1) + 1 + transpose
        raise ValueError(f"{path}: {what} {place} has no name in the header.")
    if twice:
        raise ValueError(
            f"{path}: {what} names {quoted(twice)} appear more than once. Every name must be "
            "different."
        )


def transposed(frame: Any, path: Path) -> Any:
    """Turn features in rows into columns, each with its own type."""
    names = frame.index.astype(str)
    if names.has_duplicates:
        twice = quoted(names[names.duplicated()].unique())
        raise ValueError(
            f"{path}: rows {twice} appear more than once. With "
            "--transpose every row is a feature and needs its own name."
        )
    turned = frame.T
    turned.columns = names
    if all(dtype.kind in "biuf" for dtype in frame.dtypes):
        return turned
    return turned.apply(_typed)


def _typed(column: Any) -> Any:
    """Numbers where every value is one; pandas read each row of mixed types as text."""
    import pandas as pd

    try:
        return pd.to_numeric(column)
    except (ValueError, TypeError):
        return column


CSV = Format(("csv",), read_delimited, options=("transpose",))
TSV = Format(("tsv", "tab", "txt"), read_delimited, options=("transpose",))
