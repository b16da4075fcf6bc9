"""Drops or fills missing values as the user chose; nothing is done without being asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..settings import check_choice
from ..types import Data, Indices, Matrix, Vector
from .messages import worst
from .sources import ColumnSource, Which, names_of, subset

if TYPE_CHECKING:
    import pandas as pd

CHOICES = ("refuse", "drop-columns", "drop-rows", "impute-median", "impute-mean", "impute-mode")
LEVELS_AT_ONCE = 16  # columns that share so few values are counted value by value


def rows_with_target(y: pd.Series[Any], how: str, missing: str) -> tuple[Indices, str, str]:
    """Rows whose target is known, a note of the others, and what to do if they are not allowed.

    ``"refuse"`` or ``"drop"``; rows that are dropped for any missing value are asked for as well.
    """
    check_choice("missing_target", how, ("refuse", "drop"))
    unknown = y.isna().to_numpy()
    if unknown.all():
        return np.arange(len(y)), "", f"the target {y.name!r} has no value at all."
    rows = f"{unknown.sum()} of {len(y)} rows"
    known = np.flatnonzero(~unknown)
    if not unknown.any():
        return known, "", ""
    if how == "drop" or missing == "drop-rows":
        return known, f"{rows} without a target dropped", ""
    advice = "Leave them out with --missing-target drop (missing_target='drop' in Python)"
    return known, "", f"the target {y.name!r} is missing in {rows}. {advice}."


def without_missing(frame: pd.DataFrame, how: str) -> tuple[pd.DataFrame, list[str]]:
    """Drop or fill missing values of a DataFrame, and say what was done.

    Parameters
    ----------
    frame
        Numbers and labels. Infinite values count as missing.
    how
        ``"refuse"``: an error that names the worst columns; ``"drop-columns"``, ``"drop-rows"``:
        those that have any; ``"impute-median"``, ``"impute-mean"`` (numbers only),
        ``"impute-mode"``: fill each column with its own.

    Returns
    -------
    The DataFrame (its index says which rows are left), and what was done, in words.
    """
    check_choice("missing", how, CHOICES)
    gaps = _gaps(frame)
    per_column = gaps.sum(axis=0)
    bad = np.flatnonzero(per_column)
    if bad.size == 0:
        return frame, []
    total = int(per_column.sum())
    columns = f"{bad.size} column{'s' * (bad.size > 1)}"
    values = f"{total} missing{_infinite(frame, gaps)} value{'s' * (total > 1)} in {columns}"
    if how == "refuse":
        raise ValueError(
            f"{values} of {frame.shape[1]} ({worst(per_column, frame.columns.__getitem__)}), in "
            f"{gaps.any(axis=1).sum()} of {len(frame)} rows. Choose --missing (missing=... in "
            f"Python) {' or '.join(CHOICES[1:])}."
        )
    if how.startswith("drop-"):
        axis, kind = (0, "row") if how == "drop-rows" else (1, "column")
        full = ~gaps.any(axis=1 - axis)
        if not full.any():
            raise ValueError(f"{values}: every {kind} has one. Use --missing impute-median.")
        note = f"{(~full).sum()} of {len(full)} {kind}s with missing values dropped"
        return frame.iloc[full] if axis == 0 else frame.iloc[:, full], [note]
    kind = how.removeprefix("impute-")
    filled = frame.copy()
    for k in bad:
        column, gap = frame.iloc[:, k], gaps[:, k]
        filled.isetitem(k, _roomy(column).where(~gap, _fill_of(column, gap, kind)))
    return filled, [f"{values} filled with the column {kind}"]


def _gaps(frame: pd.DataFrame) -> Any:
    gaps = np.array(frame.isna(), dtype=bool)  # a copy: what pandas gives may be read-only
    real = [k for k, dtype in enumerate(frame.dtypes) if getattr(dtype, "kind", "") == "f"]
    gaps[:, real] |= np.isinf(frame.iloc[:, real].to_numpy(dtype=np.float64, na_value=np.nan))
    return gaps


def _infinite(frame: pd.DataFrame, gaps: Any) -> str:
    """Say that some gaps are numbers too large to be any."""
    return " or infinite" if gaps.sum() > int(frame.isna().to_numpy().sum()) else ""


def _fill_of(column: pd.Series[Any], gap: Any, kind: str) -> Any:
    """The median, mean or mode of a column; labels have only a mode."""
    known = column[~gap]
    if known.empty:
        raise ValueError(f"column {column.name} has no value at all. Drop it: --drop {column.name}")
    if getattr(column.dtype, "kind", "O") in "biuf":
        return float(FILLS[kind](known.to_numpy(dtype=np.float64)[:, None])[0])
    if kind != "mode" and gap.any():
        labels = f"column {column.name} holds labels"
        raise ValueError(f"{labels}, which have no {kind}. Use --missing impute-mode.")
    return known.mode().iloc[0]


def _roomy(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column that takes fractions: nullable whole numbers do not."""
    nullable = not isinstance(column.dtype, np.dtype)
    if nullable and getattr(column.dtype, "kind", "O") in "biuf":
        return column.astype("Float64").astype(np.float64)
    return column


@dataclass(frozen=True, eq=False)
class Fills:
    """What takes the place of missing values, one per column, learned from some rows."""

    values: tuple[Any, ...]

    @classmethod
    def learned(cls, X: Data, how: str) -> Fills:
        """The median, mean or mode of every column of an array or DataFrame."""
        kind = how.removeprefix("impute-")
        if not hasattr(X, "iloc"):
            values = np.asarray(X, dtype=np.float64)
            known = np.isfinite(values)
            empty = np.flatnonzero(~known.any(axis=0))
            if empty.size:
                raise ValueError(f"column {empty[0]} of X has no value at all. Leave it out.")
            return cls(tuple(FILLS[kind](np.where(known, values, np.nan))))
        gaps = _gaps(X)
        return cls(tuple(_fill_of(X.iloc[:, k], gaps[:, k], kind) for k in range(X.shape[1])))

    def fill(self, X: Data) -> Any:
        """Fill an array or DataFrame; one without gaps stays as it is."""
        if not hasattr(X, "iloc"):
            values = np.asarray(X)
            if values.dtype.kind != "f" or np.isfinite(values).all():
                return X
            return np.where(np.isfinite(values), values, np.asarray(self.values, dtype=np.float64))
        gaps = _gaps(X)
        filled = X.copy()
        for k in np.flatnonzero(gaps.any(axis=0)):
            column = _roomy(X.iloc[:, k])
            filled.isetitem(k, column.where(~gaps[:, k], self.values[k]))
        return filled


@dataclass(frozen=True)
class Filled:
    """A source whose missing values are replaced by the median, mean or mode of their column.

    Whole numbers mark a missing value by `gap`. With ``"refuse"`` missing values are refused.
    """

    source: ColumnSource
    how: str
    gap: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.source.shape

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have any."""
        return self.source.names

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns asked for, without gaps."""
        values = np.asarray(self.source.read(columns))
        there = values != self.gap if self.gap is not None else np.isfinite(values)
        if there.all():
            return values
        bad = ~there.all(axis=0) if self.how == "refuse" else ~there.any(axis=0)
        if bad.any():
            first = names_of(self)[np.arange(self.shape[1])[columns][bad][0]]
            if self.how != "refuse":
                raise ValueError(f"column {first} has no value at all. Drop it: --drop {first}")
            which = f"{bad.sum()} of {len(bad)} columns read have missing values, first {first}"
            raise ValueError(f"{which}. Use --missing impute-mode (missing='impute-mode').")
        fill = FILLS[self.how](np.where(there, values.astype(np.float64), np.nan))
        return np.where(there, values, fill.astype(values.dtype))


def fill_source(
    source: ColumnSource, how: str, rows: Indices | None = None, columns: Indices | None = None
) -> ColumnSource:
    """Some rows and columns of a source, their gaps filled by what these rows hold, or refused.

    A source whose missing values are marked by a whole number, its `gap`, can only take the most
    frequent value of a column, for a median or a mean may be a fraction.
    """
    check_choice("missing", how, CHOICES)
    gap = getattr(source, "gap", None)
    if rows is not None or columns is not None:
        source = subset(source, rows, columns)
    if how == "refuse" and gap is None:  # who reads numbers checks them
        return source
    possible = CHOICES[3:] if gap is None else CHOICES[5:]
    if how not in ("refuse", *possible):
        whole = "the whole file in memory, and it is read in blocks"
        reason = whole if how.startswith("drop-") else "fractions, and this file has none"
        use = " or ".join(possible)
        raise ValueError(f"--missing {how} would need {reason}. Use --missing {use}.")
    return Filled(source, how.removeprefix("impute-"), gap)


def _modes(values: Matrix) -> Vector:
    """The most frequent value of each column, the smallest of equals."""
    levels = np.unique(values[np.isfinite(values)])
    if 0 < levels.size <= LEVELS_AT_ONCE:  # genotypes and the like, all columns at once
        return np.asarray(levels[np.argmax([(values == x).sum(axis=0) for x in levels], axis=0)])
    modes = np.full(values.shape[1], np.nan)
    for k, column in enumerate(values.T):
        found, counts = np.unique(column[np.isfinite(column)], return_counts=True)
        if found.size:
            modes[k] = found[counts.argmax()]
    return modes


FILLS: dict[str, Callable[[Matrix], Any]] = {
    "median": partial(np.nanmedian, axis=0),
    "mean": partial(np.nanmean, axis=0),
    "mode": _modes,
}
