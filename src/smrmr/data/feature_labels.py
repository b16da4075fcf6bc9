"""Sets labels of features apart from their values, whether features are rows or columns.

A table is numbers with labels around them. Where features are rows, columns of text beside the
names describe features: ``gene_id, symbol, S1, S2, ...``. Where features are columns, rows of text
above the numbers do, such as units. Text is told from numbers cell by cell, for one row of labels
makes text of all columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problems import Problem, setting
from ..types import Indices, Mask, pd
from .files import Table
from .frames import numeric_columns
from .messages import did_you_mean, quoted, refuse_all, say_repeated
from .number_texts import Marks, is_text, numbers_in_texts, text_columns
from .texts import names_like_dates

MOST_LABEL_ROWS = 5  # above the numbers
UNNAMED = "label"  # of a row of labels without a name


def with_features_in_columns(
    table: Table, path: Path, annotation: Sequence[str], drop: Sequence[str], marks: Marks
) -> Table:
    """Turn features in rows into columns; columns of text, and those named, become their labels.

    Columns to drop are left out if there are any of that name.
    """
    frame = table.features.drop(columns=[name for name in drop if name in table.features])
    refuse_all(_unknown(annotation, frame.columns))
    texts, known = text_cells(frame), frame.notna().to_numpy()
    labels = _mostly(texts, known, axis=0) | frame.columns.isin(annotation)
    values = ~labels
    numbers = ~_mostly(texts[:, values], known[:, values], axis=1)  # not rows of labels of samples
    _refuse_unclear(frame, values, numbers, texts)
    about = frame.iloc[:, np.flatnonzero(labels)]
    about.insert(0, _free_name(frame.index.name, about), frame.index.astype(str))
    names, notes = _names_of_features(about, path)
    new = [not about.iloc[:, k].astype(str).equals(names) for k in range(about.shape[1])]
    about = about.iloc[:, np.flatnonzero(new)].set_axis(names.to_numpy())
    if about.shape[1]:
        they = "describes features and is" if about.shape[1] == 1 else "describe features and are"
        notes.append(f"{quoted(about.columns)} {they} kept beside their names")
    notes += names_like_dates(about.to_numpy().ravel())
    turned = frame.iloc[:, np.flatnonzero(values)].T.set_axis(names.to_numpy(), axis=1)
    turned, more = numbers_in_texts(_of_types(turned), replace(marks, decimal=table.decimal))
    return replace(
        table,
        features=turned,
        about=turned.iloc[:, :0],
        notes=[*table.notes, *notes, *more],
        changes=more,
        about_features=_texts(about) if about.shape[1] else None,
        annotations=tuple(map(str, about.columns)),
    )


def without_label_rows(table: Table, marks: Marks) -> Table:
    """Set rows of text above the numbers apart, as labels of the columns below them."""
    frame = table.features
    if table.in_blocks is not None or not hasattr(frame, "iloc"):
        return table
    if 2 * np.count_nonzero(numeric_columns(frame)) >= frame.shape[1]:
        return table
    texts, known = text_cells(frame), frame.notna().to_numpy()
    values = ~_mostly(texts, known, axis=0)
    above = _mostly(texts[:, values], known[:, values], axis=1)
    n_rows = int(np.argmin(above)) if not above.all() else 0
    if not 0 < n_rows <= MOST_LABEL_ROWS:
        return table
    labels = frame.iloc[:n_rows, np.flatnonzero(values)].T
    labels.columns = _names_of_rows(frame, n_rows, np.flatnonzero(~values))
    features, more = numbers_in_texts(
        _of_types(frame.iloc[n_rows:]), replace(marks, decimal=table.decimal)
    )
    if isinstance(frame.index, pd.RangeIndex):
        features = features.reset_index(drop=True)
    rows = "row describes" if n_rows == 1 else f"{n_rows} rows describe"
    note = f"the first {rows} features ({quoted(labels.columns)})"
    return replace(
        table,
        features=features,
        about=table.about.iloc[n_rows:].set_axis(features.index),
        notes=[*table.notes, note, *more],
        changes=[*table.changes, *more],
        about_features=_texts(labels.set_axis(labels.index.astype(str))),
        annotations=tuple(labels.columns),
    )


def split_annotations(
    table: Table, annotation: Sequence[str], features: pd.DataFrame
) -> tuple[tuple[str, ...], list[str], list[Problem]]:
    """Labels of features to show, columns that describe samples, and what is wrong with names."""
    known = () if table.about_features is None else table.about_features.columns
    of_features = [name for name in annotation if name in known]
    of_samples = [name for name in annotation if name in features and name not in known]
    others = [name for name in annotation if name not in known and name not in features]
    shown = (*table.annotations, *(name for name in of_features if name not in table.annotations))
    return shown, of_samples, _unknown(others, [*known, *features])


def text_cells(frame: pd.DataFrame) -> Mask:
    """Which cells hold text that is neither a number nor a mark of a missing one."""
    texts = np.zeros(frame.shape, dtype=np.bool_)
    for k in text_columns(frame):
        texts[:, k] = [is_text(value) for value in frame.iloc[:, k].astype(object)]
    return texts


def _mostly(texts: Mask, known: Mask, axis: int) -> NDArray[Any]:
    """Whether more than half of the cells that hold something are text."""
    return np.asarray(2 * texts.sum(axis=axis) > known.sum(axis=axis))


def _unknown(annotation: Sequence[str], names: Iterable[str]) -> list[Problem]:
    return [
        Problem(f"{setting('annotation', [name])}: no such column.{did_you_mean(name, names)}")
        for name in annotation
        if name not in names
    ]


def _refuse_unclear(frame: pd.DataFrame, values: Mask, numbers: Mask, texts: Mask) -> None:
    """Refuse columns with some text where most others hold numbers: these may be labels."""
    unclear = np.flatnonzero(texts[numbers].any(axis=0) & values)
    if not 0 < 2 * len(unclear) < np.count_nonzero(values):
        return
    first = unclear[0]
    row = np.flatnonzero(texts[:, first] & numbers)[0]
    held = f"such as {str(frame.iloc[row, first])!r} in the row of {str(frame.index[row])!r}"
    names = [str(frame.columns[k]) for k in unclear]
    what = f"column {names[0]!r} holds" if len(names) == 1 else f"columns {quoted(names)} hold"
    raise Problem(
        f"{what} numbers and text, {held}.",
        cure=f"If this describes features, use {setting('annotation', names[:3])}; if it is a "
        "sample, correct such values, or leave them empty where they are missing.",
    )


def _free_name(name: Any, about: pd.DataFrame) -> str:
    """What to call the column of names: as its header does, unless labels are called so."""
    free = "feature" if name is None or not str(name) else str(name)
    while free in about:
        free += "_"
    return free


def _names_of_features(about: pd.DataFrame, path: Path) -> tuple[pd.Series[Any], list[str]]:
    """The first column of labels, or another one if that one repeats itself; and a note."""
    for k, name in enumerate(about):
        column = about.iloc[:, k]
        if column.notna().all() and column.astype(str).is_unique:
            note = f"{about.columns[0]!r} repeats itself, so features are named by {name!r}"
            return column.astype(str), [note] if k else []
    turned = f"with {setting('transpose', True)} every row is a feature"
    raise Problem(f"{path}: {turned}, and rows {say_repeated(about.iloc[:, 0])}")


def _names_of_rows(frame: pd.DataFrame, n_rows: int, beside: Indices) -> list[str]:
    """What rows of labels are called: by the ids of samples, or by the text beside them."""
    found: list[str] = []
    for i in range(n_rows):
        cells = [frame.index[i]] if not isinstance(frame.index, pd.RangeIndex) else []
        cells += [frame.iloc[i, k] for k in beside]
        name = next((str(cell) for cell in cells if is_text(cell)), UNNAMED)
        found.append(name if name not in found else f"{name} {i + 1}")
    return found


def _of_types(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns of objects as what they hold."""
    numeric = all(dtype.kind in "biuf" for dtype in frame.dtypes)
    return frame if numeric else frame.infer_objects()


def _texts(labels: pd.DataFrame) -> pd.DataFrame:
    """Labels as text, empty where there are none."""
    return labels.astype(object).where(labels.notna(), "").astype(str)
