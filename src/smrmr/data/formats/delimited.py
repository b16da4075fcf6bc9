"""Reads CSV and TSV files, plain or gzipped."""

import csv
import gzip
import zlib
from pathlib import Path
from typing import Any

from ..messages import refuse_twice
from .format import Format, Table


def read_delimited(path: Path, *, transpose: bool = False) -> Table:
    """Read a table of text, one row per sample; with `transpose`, one row per feature."""
    import pandas as pd

    try:
        header, separator = _header(path)
        what = "sample" if transpose else "column"
        if "" in header[1:]:
            raise ValueError(f"{path}: {what} {header.index('', 1) + 1} has no name in the header.")
        refuse_twice(header[1:] if transpose else header, f"{path}: {what} names")
        index = 0 if transpose else False
        frame = pd.read_csv(
            path, sep=separator, index_col=index, encoding="utf-8-sig", low_memory=False
        )
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: {error}. Save it as UTF-8.") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} is truncated or not gzip: {error}. Copy it again.") from None
    except (csv.Error, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        detail = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        raise ValueError(f"{path} is not a proper table: {detail}. Correct the file.") from None
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
        first = next((line for line in lines if line.strip()), "")
    if not first:
        raise ValueError(f"{path} is empty. A header and rows are needed.")
    if "\x00" in first:
        raise ValueError(f"{path} holds binary data, not text. Is its extension right?")
    usual = "\t" if path.name.removesuffix(".gz").endswith((".tsv", ".tab")) else ","
    separator = usual if usual in first else max(usual + ",\t;|", key=first.count)
    return next(csv.reader([first.rstrip("\r\n")], delimiter=separator)), separator


def transposed(frame: Any, path: Path) -> Any:
    """Turn features in rows into columns, each with its own type."""
    names = frame.index.astype(str)
    refuse_twice(names, f"{path}: with --transpose every row is a feature, and rows")
    turned = frame.T.set_axis(names, axis=1)
    numeric = all(dtype.kind in "biuf" for dtype in frame.dtypes)
    return turned if numeric else turned.apply(_typed)


def _typed(column: Any) -> Any:
    """Numbers where every value is one; pandas read each row of mixed types as text."""
    import pandas as pd

    try:
        return pd.to_numeric(column)
    except (ValueError, TypeError):
        return column


CSV = Format(("csv",), read_delimited, options=("transpose",))
TSV = Format(("tsv", "tab", "txt"), read_delimited, options=("transpose",))
