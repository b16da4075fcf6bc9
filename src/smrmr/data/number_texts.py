"""Reads numbers out of columns of text, to the last bit, and marks of missing ones among them."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Vector, pd
from .frames import numeric_columns
from .messages import WITHOUT_COMMA, quoted

GAPS = {  # what stands for a missing value among numbers; the last are of spreadsheets
    ".", "-", "--", "?", "na", "n.a.", "N.A.", "nd", "n.d.", "ND", "N.D.", "missing", "unknown",
    "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!",
}  # fmt: skip
DECIMAL_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)?,\d+(?:[eE][+-]?\d+)?")


def numbers_in_texts(frame: pd.DataFrame, decimal: str = ".") -> tuple[pd.DataFrame, list[str]]:
    """Turn text that holds numbers alone into numbers, and say so.

    What stands for a missing value among them, such as a point, becomes missing. With a comma as
    the `decimal` mark points separate thousands.
    """
    kinds = list(map(str, frame.dtypes))
    places = [k for k in text_columns(frame) if kinds[k] != "category"]
    cells = frame.iloc[:, places].astype(object).to_numpy()
    found, changed, marks = {}, [], set()
    for k, column in zip(places, cells.T, strict=True):
        numbers = _as_numbers(column, decimal)
        if numbers is not None:
            found[k] = numbers[0]
            marks |= numbers[1]
            changed += [frame.columns[k]] if numbers[1] else []
    said = f"{quoted(sorted(marks))} among the numbers of {quoted(changed)} read as missing"
    return _with_columns(frame, found), [said] if changed else []


def _with_columns(frame: pd.DataFrame, found: dict[int, Vector]) -> pd.DataFrame:
    """The frame with other columns in some places, all put there at once."""
    if not found:
        return frame
    others = np.setdiff1d(np.arange(frame.shape[1]), list(found))
    numbers = pd.DataFrame(np.stack(list(found.values()), axis=1), index=frame.index)
    joined = pd.concat([frame.iloc[:, others], numbers], axis=1) if len(others) else numbers
    joined = joined.iloc[:, np.argsort([*others, *found], kind="stable")]
    return joined.set_axis(frame.columns, axis=1)


def exact_numbers(texts: NDArray[Any]) -> Vector:
    """The numbers nearest to what is written; NaN where that is none.

    pandas alone is off by the last bit in a third of them.
    """
    try:
        if any("_" in text for text in texts if isinstance(text, str)):  # which Python would skip
            raise ValueError
        plain: Vector = texts.astype(np.float64)
        return plain
    except (ValueError, TypeError, OverflowError):
        numbers = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce")
    values = numbers.to_numpy(dtype=np.float64, copy=True)
    known = ~np.isnan(values)
    values[known] = [float(text) for text in texts[known]]
    return np.asarray(values)


def _with_point(value: Any) -> Any:
    """A text that is a number with a decimal comma as one with a point; all else as it is."""
    if not isinstance(value, str) or not DECIMAL_COMMA.fullmatch(value.strip()):
        return value
    return value.replace(".", "").replace(",", ".")


def _as_numbers(column: NDArray[Any], decimal: str) -> tuple[Vector, set[str]] | None:
    """The numbers that a column of text holds, and its marks of missing ones; None for text."""
    there = ~pd.isna(column)
    known = column[there]
    if not len(known) or not all(_may_be_number(value) for value in known[:3]):
        return None
    if any(isinstance(value, bool | np.bool_ | date) for value in known):
        return None
    if decimal == ",":
        known = np.array([_with_point(value) for value in known], dtype=object)
    numbers = exact_numbers(known)
    texts = [str(value).strip() for value in known[np.isnan(numbers)]]
    large = [WITHOUT_COMMA.fullmatch(text) is not None for text in texts]  # such as 1e400
    strange = {text for text, is_large in zip(texts, large, strict=True) if not is_large}
    if not strange <= GAPS:
        return None
    numbers[np.isnan(numbers)] = [
        float(text) if is_large else np.nan for text, is_large in zip(texts, large, strict=True)
    ]
    filled = np.full(len(column), np.nan)
    filled[there] = numbers
    return (filled, strange) if not np.isnan(filled).all() else None


def _may_be_number(value: Any) -> bool:
    """Whether a value is worth a closer look: most texts are ruled out by their first rows."""
    text = str(value).strip()
    return text in GAPS or text.lower().lstrip("+-").startswith(("inf", "nan", *".0123456789"))


def is_text(value: Any) -> bool:
    """Whether a value is text that is neither a number nor a mark of a missing one."""
    if not isinstance(value, str):
        return False
    try:
        float(value)
        return "_" in value
    except ValueError:
        text = value.strip()
        return bool(text) and text not in GAPS


def text_columns(frame: pd.DataFrame) -> list[int]:
    """Places of the columns that do not hold numbers alone."""
    return np.flatnonzero(~numeric_columns(frame)).tolist()
