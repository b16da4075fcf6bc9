"""The stores: CSV files that only grow, one row per result, keyed by what it was computed from."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import pandas as pd

Row: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[str, ...]

DRAWS = (
    ("design", "n", "p", "method", "version", "level", "seed"),
    ("status", "tpr", "fpr", "fdr", "n_selected", "recall", "score", "seconds", "megabytes"),
)
NULL = {0.05: "null_05", 0.01: "null_01", 0.001: "null_001"}  # columns, by the nominal level
PROMISES = ("status", "tpr", "fdr", "n_selected", "seconds", *NULL.values())
COLUMNS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # the key, then the values
    "synthetic": DRAWS,
    "speed": DRAWS,
    "real": (
        ("dataset", "method", "version", "repeat", "fold"),
        ("status", "setting", "n_selected", "accuracy", "seconds"),
    ),
    "truth": (
        ("dataset", "method", "version", "level", "seed"),
        ("status", "n_selected", "n_true", "n_false", "seconds"),
    ),
    "yardstick": (DRAWS[0], PROMISES),
    "planted": (("dataset", "response", "method", "version", "level", "seed"), PROMISES),
    "groups": (
        ("dataset", "response", "method", "version", "alike", "level", "seed"),
        ("status", "tpr", "fdr", "n_selected", "size", "seconds"),
    ),
}
WORDS = (
    "dataset",
    "design",
    "response",
    "method",
    "alike",
    "status",
    "version",
    "setting",
    "commit",
    "date",
)  # other columns hold numbers


def open_store(folder: Path, name: str) -> Store:
    """One of the stores of a folder, by the name of its file.

    The ``version`` of a method is part of every key, so that a new version computes its rows again.

    ``synthetic`` and ``speed``
        One row per draw, method and level. ``tpr``, ``fpr`` and ``fdr`` are shares of the one list
        selected, ``recall`` is the share of true features that passed a screen, ``score`` the mean
        squared error or, with classes, the accuracy.
    ``real``
        One row per fold and method. ``setting`` is the level or number of features that was chosen
        on validation rows, ``seconds`` the time of the selection alone.
    ``truth``
        One row per data set, method and seed. ``n_selected`` counts features; ``n_true`` and
        ``n_false`` count the units of `Dataset`, each once.
    ``yardstick`` and ``planted``
        One row per draw, or per data set, response and seed, for every method that promises a
        level, at every level; one fit serves all of them, and ``seconds`` are those of that fit.
        ``null_05``, ``null_01`` and ``null_001`` are the shares of false features whose p-value is
        at most 0.05, 0.01 and 0.001, where a method has p-values.
    ``groups``
        One row per table, response, seed, way to control the FDR, cut and level. ``tpr`` is the
        share of true features within a group that was found, ``fdr`` the share of groups found that
        hold no true feature, ``size`` the mean number of features per group found.
    """
    return Store(folder / f"{name}.csv", *COLUMNS[name])


def read_stores(folder: Path) -> dict[str, Any]:
    """The newest rows of all stores of a folder, by the name; none where there is no file."""
    return {name: newest(open_store(folder, name).frame()) for name in COLUMNS}


def newest(frame: Any) -> Any:
    """The rows of the newest version of every method: tables do not mix versions.

    Examples
    --------
    >>> rows = pd.DataFrame({"method": ["A", "B", "A"], "version": ["a 9", "b 1.2", "a 10"]})
    >>> newest(rows)["version"].tolist()
    ['b 1.2', 'a 10']
    """
    versions = frame.groupby("method")["version"].unique()
    latest = {method: max(found, key=_numbers) for method, found in versions.items()}
    return frame[frame["version"] == frame["method"].map(latest)]


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version.rpartition(" ")[2])]


@dataclass(frozen=True)
class Store:
    """A CSV file with the columns `key`, which tell rows apart, and `values`.

    Rows are appended whole and flushed to the disk, so that a killed run loses only what it had not
    yet finished. What a kill left of an unfinished line is dropped when the next run begins.

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

    def due(self, tasks: Iterable[Sequence[Row]]) -> list[list[Row]]:
        """What is left of tasks, each a list of keys, without the rows there are."""
        done = self.done()
        left = ([key for key in task if self.key_of(key) not in done] for task in tasks)
        return [task for task in left if task]

    def begin(self) -> None:
        """Write the header, or drop what a kill left of a line; for the start of a run."""
        self._rows()  # refuses a file of other columns
        with self._open() as file:
            file.seek(0)
            whole = file.read()
            if not whole.endswith(b"\n"):
                whole = whole[: whole.rfind(b"\n") + 1]
                file.truncate(len(whole))
            if not whole:
                file.write(_line(self._columns))

    def append(self, rows: Iterable[Row]) -> None:
        """Add rows; a value that is not there is left empty."""
        if not self.path.exists():
            self.begin()
        lines = [_line(_text(row.get(name)) for name in self._columns) for row in rows]
        with self._open() as file:
            file.write(b"".join(lines))
            file.flush()
            os.fsync(file.fileno())

    def frame(self) -> Any:
        """All rows as a pandas DataFrame; of rows with one key, the first."""
        frame = pd.DataFrame(self._rows(), columns=list(self._columns))
        for name in (name for name in self._columns if name not in WORDS):
            text = frame[name]
            frame[name] = pd.to_numeric(text, errors="coerce")
            if (wrong := text[frame[name].isna() & (text != "")]).size:
                raise self._damage(int(wrong.index[0]), f"{name} is {wrong.iloc[0]!r}, no number")
        return frame.drop_duplicates(list(self.key))

    @property
    def _columns(self) -> tuple[str, ...]:
        return self.key + self.values

    def _open(self) -> BinaryIO:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return self.path.open("ab+")
        except OSError as error:
            raise ValueError(f"{self.path} cannot be written: {error.strerror}.") from None

    def _rows(self) -> list[dict[str, str]]:
        if not self.path.exists():
            return []
        with self.path.open(encoding="utf-8", errors="replace", newline="") as file:
            whole = [line.replace("\0", "?") for line in file if line.endswith("\n")]
        header, *rows = csv.reader(whole) if whole else [list(self._columns)]
        if tuple(header) != self._columns:
            raise ValueError(
                f"{self.path} has the columns {', '.join(header)}; this version writes "
                f"{', '.join(self._columns)}. Use another folder, or move the file away."
            )
        for i, row in enumerate(rows):
            if len(row) != len(header):
                raise self._damage(i, f"{len(row)} values for {len(header)} columns")
        # two runs that begin at once may both write the header
        return [dict(zip(header, row, strict=True)) for row in rows if row != header]

    def _damage(self, row: int, what: str) -> ValueError:
        return ValueError(
            f"{self.path} is damaged in line {row + 2}: {what}. Delete that line: what it said is "
            "computed again."
        )


def _line(values: Iterable[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue().encode()


def _text(value: Any) -> str:
    if value is None or value != value:  # NaN differs from itself
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)
