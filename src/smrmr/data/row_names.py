"""Recognises the column that names the rows of a table: ids, which are no feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import pd
from .ids import as_ids, is_called_ids
from .messages import quoted
from .number_texts import text_columns
from .texts import disguise_of, is_nested

SOME_ROWS = 100  # that rule out most columns that are no ids
MIN_NUMBERS = 4  # rows, with fewer of which whole numbers differ by chance


def named_rows(features: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The features without the ids of their rows, which become the names of the rows.

    A text that is different in every row cannot be a feature, so one such column is ids; of several
    it is the first of the table, or the only one that is called like ids. Others describe rows, and
    are left out. Whole numbers are ids if they are all different and their column is called so.
    Rows that have names keep them, and what is not clear stays. Also returns what was done.
    """
    columns = _different_texts(features)
    if not isinstance(features.index, pd.RangeIndex):
        return _without(features, columns), _left_out(features, columns)
    ids = _ids_among(features, columns)
    if ids is None:
        return features, []
    texts, others = as_ids(features.iloc[:, ids]), [k for k in columns if k != ids]
    note = f"{features.columns[ids]!r} names the rows (such as {texts[0]!r}) and is no feature"
    left = _without(features, [ids, *others]).set_axis(texts)
    return left, [note, *_left_out(features, others)]


def _without(features: pd.DataFrame, columns: list[int]) -> pd.DataFrame:
    left = np.setdiff1d(np.arange(features.shape[1]), columns)
    return features.iloc[:, left] if columns else features


def _left_out(features: pd.DataFrame, columns: list[int]) -> list[str]:
    """Say which columns describe rows."""
    if not columns:
        return []
    they = "describes rows and is" if len(columns) == 1 else "describe rows and are"
    names = quoted(features.columns[columns])
    return [f"{names} {they} left out: a different text in every row is no feature"]


def _ids_among(features: pd.DataFrame, columns: list[int]) -> int | None:
    """Which of the columns of different texts, or else of different numbers, has the ids."""
    if len(columns) == 1 or 0 in columns:
        return columns[0]
    called = [k for k, name in enumerate(features) if is_called_ids(str(name))]
    if columns:
        called = [k for k in called if k in columns]
    else:
        called = [k for k in called if _are_different_numbers(features.iloc[:, k])]
    return called[0] if len(called) == 1 else None


def _different_texts(features: pd.DataFrame) -> list[int]:
    """Columns with a different text in every row that is no date, amount or other number."""
    columns = {k: features.iloc[:, k].reset_index(drop=True) for k in text_columns(features)}
    return [
        k
        for k, column in columns.items()
        if column.notna().all()
        and not is_nested(column)
        and column.iloc[:SOME_ROWS].is_unique
        and column.is_unique
        and disguise_of(column) is None
    ]


def _are_different_numbers(column: pd.Series[Any]) -> bool:
    if getattr(column.dtype, "kind", "O") not in "iuf" or len(column) < MIN_NUMBERS:
        return False
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return bool((values == np.rint(values)).all()) and column.is_unique
