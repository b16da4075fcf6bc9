"""Reads numbers out of columns of text, to the last bit, and marks of missing ones among them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..settings import check_choice
from ..types import Vector, pd
from .frames import numeric_columns
from .messages import WITH_COMMA, WITHOUT_COMMA, quoted

GAPS = {  # what stands for a missing value among numbers; the last are of spreadsheets
    ".", "-", "--", "?", "na", "n.a.", "N.A.", "nd", "n.d.", "ND", "N.D.", "missing", "unknown",
    "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!",
}  # fmt: skip
DECIMAL_COMMA = re.compile(r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)?,\d+(?:[eE][+-]?\d+)?")


LIMIT = re.compile(r"[<>\u2264\u2265]=?\s*([+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?)")
LIMITS = {  # of detection: by what "<0.5" is replaced
    "refuse": None,
    "limit": lambda sign, limit: limit,
    "half": lambda sign, limit: limit / 2 if sign in "<\u2264" else limit,
}
VALUES = "none"  # said of marks that are none


@dataclass(frozen=True)
class Marks:
    """What stands in a table for values that are not there, or not known to the last digit.

    Attributes
    ----------
    na
        Texts and numbers that mark missing values, besides those that always do.
    limits
        What to do about values below or above a limit, see `LIMITS`.
    decimal
        The decimal mark; with a comma points separate thousands.
    """

    na: tuple[str, ...] = ()
    limits: str = "refuse"
    decimal: str = "."

    def __post_init__(self) -> None:
        """Refuse what is not known."""
        check_choice("limits", self.limits, tuple(LIMITS))

    @property
    def need_the_table(self) -> bool:
        """Whether values are looked for that can only be found in a table in memory."""
        return bool(set(self.na) - {VALUES}) or self.limits != "refuse"

    @property
    def numbers(self) -> list[float]:
        """Marks that are numbers."""
        return [float(text) for text in self.na if WITHOUT_COMMA.fullmatch(text)]

    def without_na(self, frame: pd.DataFrame, numeric: bool) -> tuple[pd.DataFrame, int]:
        """The frame without marks, in columns of numbers or in the others; how many there were."""
        marks = self.numbers if numeric else list(self.na)
        places = np.flatnonzero(numeric_columns(frame) == numeric)
        if not marks or not len(places):
            return frame, 0
        hit = np.zeros(frame.shape, dtype=np.bool_)
        hit[:, places] = frame.iloc[:, places].isin(marks).to_numpy()
        n_marks = int(np.count_nonzero(hit))
        return (frame.mask(hit), n_marks) if n_marks else (frame, 0)


PLAIN = Marks()


def numbers_in_texts(frame: pd.DataFrame, marks: Marks = PLAIN) -> tuple[pd.DataFrame, list[str]]:
    """Turn text that holds numbers alone into numbers, and say so.

    What stands for a missing value among them, such as a point, becomes missing.
    """
    frame, n_marks = marks.without_na(frame, numeric=False)
    kinds = frame.dtypes
    places = [k for k in text_columns(frame) if str(kinds.iloc[k]) != "category"]
    cells = frame.iloc[:, places].astype(object).to_numpy()
    found, changed, signs, limited = {}, [], set(), []
    for k, column in zip(places, cells.T, strict=True):
        known, n_limits = _without_limits(column, marks)
        numbers = _as_numbers(known, marks.decimal)
        if numbers is not None:
            found[k] = numbers[0]
            signs |= numbers[1]
            changed += [frame.columns[k]] if numbers[1] else []
            limited += [frame.columns[k]] if n_limits else []
    frame, more = marks.without_na(_with_columns(frame, found), numeric=True)
    notes = []
    if changed:
        notes.append(
            f"{quoted(sorted(signs))} among the numbers of {quoted(changed)} read as missing"
        )
    if limited:
        by = {"limit": "the limit itself", "half": "half of it where it is below"}[marks.limits]
        notes.append(f"values beyond a limit in {quoted(limited)} replaced by {by}")
    if n_marks + more:
        times = n_marks + more
        notes.append(f"{quoted(marks.na)} read as missing, {times} time{'s' * (times != 1)}")
    return frame, notes


def _without_limits(column: NDArray[Any], marks: Marks) -> tuple[NDArray[Any], int]:
    """The column with numbers for values beyond a limit, and how many there were."""
    replaced_by = LIMITS[marks.limits]
    if replaced_by is None:
        return column, 0
    column, n_limits = column.copy(), 0
    for i, value in enumerate(column):
        found = LIMIT.fullmatch(value.strip()) if isinstance(value, str) else None
        if found:
            limit = float(found[1].replace(",", "."))
            column[i], n_limits = replaced_by(value.strip()[0], limit), n_limits + 1
    return column, n_limits


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
        number = any(form.fullmatch(text) for form in (WITH_COMMA, DECIMAL_COMMA, LIMIT))
        return bool(text) and text not in GAPS and not number


def text_columns(frame: pd.DataFrame) -> list[int]:
    """Places of the columns that do not hold numbers alone."""
    return np.flatnonzero(~numeric_columns(frame)).tolist()
