"""Reads tables of text, one line per row: CSV, TSV and the like."""

import csv
import io
import re
import warnings
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...problems import Problem, setting
from ...types import pd
from .dialect import MIN_ROWS, Dialect, dialect_of
from .format import Format, Table
from .grid import table_of_rows

MANY_COLUMNS = 10_000  # which take long to read


class _Hashed(io.RawIOBase):
    """Bytes of a file, whose checksum is known once they have been read."""

    def __init__(self, file: io.BufferedReader) -> None:
        self.file, self.digest = file, sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_bytes = self.file.readinto(buffer)
        self.digest.update(buffer[:n_bytes])
        return n_bytes


def read_delimited(path: Path, *, usual: str, transpose: bool = False, **said: Any) -> Table:
    """Read a table of text, one row per sample; with `transpose`, one row per feature.

    How it is written is found out by its first lines, unless it is `said`. After them the file is
    read once, for its values and for its checksum.
    """
    encoding, comment = said.get("encoding"), said.get("comment")
    try:
        with path.open("rb") as file:
            found = dialect_of(file, path, usual, **said)
            _refuse_flat(found, path, transpose)
            file.seek(0)
            stream = _Hashed(file)
            with warnings.catch_warnings(), io.BufferedReader(stream, 1 << 20) as content:
                warnings.simplefilter("error", pd.errors.ParserWarning)  # of cut values
                rows = pd.read_csv(
                    content,
                    sep=found.separator,
                    decimal=found.decimal,
                    encoding=found.encoding,
                    comment=comment,
                    skiprows=found.lines_above,
                    header=0,
                    names=range(len(found.header)),
                    index_col=False,
                    low_memory=False,
                    **_to_the_last_bit(),
                )
    except UnicodeError as error:
        raise _not_text(path, encoding, error) from None
    except pd.errors.ParserWarning:
        raise _no_table(path, "rows have more values than the header has names", comment) from None
    except (csv.Error, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise _no_table(path, str(error), comment) from None
    table = table_of_rows(rows, found.header, path, transpose=transpose)
    checksums = {path.name: stream.digest.hexdigest()}
    notes = found.notes + table.notes
    return replace(table, notes=notes, checksums=checksums, decimal=found.decimal)


def _to_the_last_bit() -> dict[str, Any]:
    """What has pandas read numbers exactly; newer ones always do, and warn of being told to."""
    version = tuple(map(int, pd.__version__.split(".")[:2]))
    return {} if version >= (3, 1) else {"float_precision": "round_trip"}


def _refuse_flat(found: Dialect, path: Path, transpose: bool) -> None:
    """Refuse a table of very few rows of very many values before these are read."""
    if transpose or found.n_rows not in range(MIN_ROWS) or len(found.header) < MANY_COLUMNS:
        return
    rows = f"{found.n_rows} row{'s' * (found.n_rows != 1)}"
    cure = f"If its rows are features, use {setting('transpose', True)}."
    needed = f"At least {MIN_ROWS} rows are needed."
    raise Problem(f"{path} has {rows} of {len(found.header):,} values.", needed, cure)


def _not_text(path: Path, encoding: str | None, error: UnicodeError) -> Problem:
    excel = f"try {setting('encoding', 'latin-1')} or cp1252; or save it as UTF-8."
    cure = f"If it was written by Excel or on Windows, {excel}"
    if encoding is not None:
        cure = f"Try another {setting('encoding')}."
    where = f", see {_around(error)!r}" if isinstance(error, UnicodeDecodeError) else ""
    return Problem(f"{path} is not {encoding or 'UTF-8'} text{where}.", cure=cure)


def _around(error: UnicodeDecodeError) -> str:
    """The word that cannot be decoded, with a question mark for what cannot."""
    before = error.object[max(error.start - 20, 0) : error.start]
    after = error.object[error.end : error.end + 20]
    head, tail = re.split(rb"\W", before)[-1], re.split(rb"\W", after)[0]
    return f"{head.decode('ascii')}?{tail.decode('ascii')}"


def _no_table(path: Path, error: str, comment: str | None) -> Problem:
    """What a parser found wrong, and what may help."""
    text = error.removeprefix("Error tokenizing data. C error: ").strip()
    if "EOF inside string" in text:
        row = re.search(r"row (\d+)", text)
        where = f" in or after row {row[1]} of the data" if row else ""
        text, cure = f"a quotation mark{where} is never closed", "Close it, or remove it."
    else:
        lines = f" If some lines are comments, say how they begin: {setting('comment', '#')}."
        header = f" If the header is in another line, say so: {setting('header_row', ...)}."
        cure = f"Correct the file.{'' if comment else lines}{header}"
    return Problem(f"{path} is not a proper table: {text}.", cure=cure)


OPTIONS = ("transpose", "sep", "decimal", "encoding", "comment", "header_row", "skip")
CSV = Format(("csv",), partial(read_delimited, usual=","), options=OPTIONS)
TSV = Format(("tsv", "tab", "txt"), partial(read_delimited, usual="\t"), options=OPTIONS)
