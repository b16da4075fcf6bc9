"""Makes a table of a header and rows, as files of text and sheets hold them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...problems import Problem, setting
from ...types import pd
from ..ids import as_ids
from ..messages import named, quoted, say_repeated
from ..number_texts import is_text, text_columns
from .format import Table

MOST_ROWS_BELOW = 50  # notes under a table, and empty rows between them
MIN_WIDTH = 3  # columns of a table that may have notes below it


def table_of_rows(
    rows: Any, header: Sequence[str], path: Path, *, transpose: bool = False
) -> Table:
    """A table of rows under a header; with `transpose` every row is a feature named by its index.

    Rows and unnamed columns without any value are left out with a note, and so is what is written
    below the table. A first column without a name that is different in every row holds the ids of
    the samples.
    """
    names = [str(name).strip() for name in header]
    rows, notes = _without_rows_below(rows)
    filled = rows.notna()
    empty = {k for k, name in enumerate(names) if not name and not filled.iloc[:, k].any()}
    kept = [k for k in range(len(names)) if k not in empty]
    full = filled.any(axis=1).to_numpy()
    if empty:
        notes.append(f"{len(empty)} empty column{'s' * (len(empty) > 1)} left out")
        rows, names = rows.iloc[:, kept], [names[k] for k in kept]
    if not full.all():
        n_empty = int((~full).sum())
        notes.append(f"{n_empty} empty row{'s' * (n_empty > 1)} left out")
        rows = rows[full]
    rows = rows.reset_index(drop=True)
    if rows.empty:
        raise ValueError(f"{path} has a header but no rows of data.")
    problems = _problems_of_names(names, path, "sample" if transpose else "column")
    frame = rows.set_axis(_different(names) if problems else names, axis=1)
    if transpose:
        frame = named_by_first(frame)
        return Table(frame, frame.iloc[:, :0], notes=notes, problems=problems)
    if not names[0] and frame.shape[1] > 1 and frame.iloc[:, 0].is_unique:
        ids = as_ids(frame.iloc[:, 0])
        frame = frame.iloc[:, 1:].set_axis(ids)
        notes.append("the first column has no name and is taken for sample ids")
    elif not names[0]:
        problem = Problem(f"{path}: column 1 has no name in the header.", cure="Give it one.")
        problems.insert(0, problem)
    return Table(frame, frame.iloc[:, :0], notes=notes, problems=problems)


def _without_rows_below(rows: Any) -> tuple[Any, list[str]]:
    """The rows without notes at the end, and what these are.

    Such a row has text in its first cell alone: several words, or it comes after an empty row.
    """
    last = rows.iloc[-MOST_ROWS_BELOW:]
    if rows.shape[1] < MIN_WIDTH or not len(last):
        return rows, []
    others = last.iloc[:, 1:].notna().any(axis=1).to_numpy()
    text = np.array([is_text(cell) for cell in last.iloc[:, 0]], dtype=np.bool_)
    empty = ~others & last.iloc[:, 0].isna().to_numpy()
    n_below = int(np.argmin((empty | (text & ~others))[::-1]))
    below = text[len(last) - n_below :]
    if not below.any():
        return rows, []
    said = last.iloc[-n_below:, 0][below]
    if not empty[-n_below] and all(len(str(cell).split()) == 1 for cell in said):
        return rows, []
    them = "1 row" if len(said) == 1 else f"{len(said)} rows"
    return rows.iloc[:-n_below], [f"{them} below the table left out: {quoted(said)}"]


def _problems_of_names(names: list[str], path: Path, what: str) -> list[Problem]:
    unnamed = [k + 1 for k, name in enumerate(names) if not name and k]
    problems = []
    if unnamed:
        many = f"{what}s {named(unnamed)} have" if len(unnamed) > 1 else f"{what} {unnamed[0]} has"
        titled = len(unnamed) > len(names) / 2
        title = f" If the header is in another row, use {setting('header_row', ...)}." * titled
        found = f"{path}: {many} no name in the header."
        problems.append(Problem(found, cure=f"Give every {what} one.{title}"))
        if titled:
            raise problems[0]
    repeated = say_repeated(
        [name for k, name in enumerate(names) if name and (k or what == "column")]
    )
    if repeated:
        problems.append(Problem(f"{path}: {what} names {repeated}"))
    return problems


def _different(names: list[str]) -> list[str]:
    """Names that all differ, so that what else is wrong with the columns can be found."""
    first = {name: k for k, name in reversed(list(enumerate(names)))}
    return [
        name if name and first[name] == k else f"{name} column {k + 1}".strip()
        for k, name in enumerate(names)
    ]


def named_by_first(frame: Any) -> Any:
    """The rows, named by the first column."""
    name = frame.columns[0]
    return frame.iloc[:, 1:].set_axis(pd.Index(as_ids(frame.iloc[:, 0]), name=name))


def named_by_text(frame: Any) -> Any:
    """The rows, named by the first column if they have no names and it holds text."""
    is_text = 0 in text_columns(frame.iloc[:, :1])
    named = not isinstance(frame.index, pd.RangeIndex)
    return frame if named or not is_text else named_by_first(frame)
