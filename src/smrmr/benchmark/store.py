"""Keeps results as rows of a CSV file that only grows, each keyed by what it was computed from."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

Row: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Store:
    """A CSV file with the columns `key`, which tell rows apart, and `values`.

    Rows are appended whole and flushed to the disk, so that a killed run loses only what it had not
    yet finished. What a kill left of an unfinished line is dropped by the next run.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()) / "rows.csv", ("design", "seed"), ("fdr",))
    >>> store.append([{"design": "1.a", "seed": 0, "fdr": 0.25}])
    >>> store.done(), store.frame()["fdr"].tolist()
    ({('1.a', '0')}, [0.25])
    """

    path: Path
    key: tuple[str, ...]
    values: tuple[str, ...]

    def done(self) -> set[Key]:
        """Keys of the rows there are, as text."""
        return {tuple(row[name] for name in self.key) for row in self._rows()}

    def key_of(self, row: Row) -> Key:
        """The key of a row, as `done` gives it."""
        return tuple(_text(row[name]) for name in self.key)

    def append(self, rows: Iterable[Row]) -> None:
        """Add rows; a value that is not there is left empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if not self._mend():
            writer.writerow(self._columns)
        for row in rows:
            writer.writerow([_text(row.get(name)) for name in self._columns])
        with self.path.open("a", encoding="utf-8", newline="") as file:
            file.write(text.getvalue())
            file.flush()
            os.fsync(file.fileno())

    def frame(self) -> Any:
        """All rows as a pandas DataFrame; of rows with one key, the first."""
        frame = pd.DataFrame(self._rows(), columns=list(self._columns)).drop_duplicates(
            list(self.key)
        )
        for name in self._columns:
            numbers = pd.to_numeric(frame[name], errors="coerce")
            if (numbers.notna() | (frame[name] == "")).all():
                frame[name] = numbers
        return frame

    @property
    def _columns(self) -> tuple[str, ...]:
        return self.key + self.values

    def _rows(self) -> list[dict[str, str]]:
        if not self.path.exists():
            return []
        with self.path.open(encoding="utf-8", newline="") as file:
            whole = [line for line in file if line.endswith("\n")]
        rows = csv.reader(whole)
        header = tuple(next(rows, ()))
        if header and header != self._columns:
            raise ValueError(
                f"{self.path} has the columns {', '.join(header)}; this version writes "
                f"{', '.join(self._columns)}. Use another folder, or move the file away."
            )
        return [dict(zip(self._columns, row, strict=True)) for row in rows]

    def _mend(self) -> bool:
        """Drop an unfinished last line; whether there is a file with a header."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists():
            return False
        self._rows()  # refuses a file of other columns
        with self.path.open("rb+") as file:
            content = file.read()
            whole = content.rfind(b"\n") + 1
            file.truncate(whole)
        return whole > 0


def failure(error: Exception) -> str:
    """A failure as the status of a row: one line, not too long."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def _text(value: Any) -> str:
    if value is None or value != value:  # NaN differs from itself
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)
