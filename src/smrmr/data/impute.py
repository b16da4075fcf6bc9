"""Drops or imputes missing values as the user chose; nothing is done by default."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..problems import Problem, setting
from ..settings import check_choice
from ..types import Data, Indices, Matrix, Vector, pd
from .frames import numeric_columns
from .messages import quoted, worst
from .sources import ColumnSource, Which, names_of, subset
from .texts import is_nested, names_like_dates, problems_of_target, problems_of_texts

CHOICES = ("refuse", "drop-columns", "drop-rows", "impute-median", "impute-mean", "impute-mode")
CHANGED = "values changed"  # by which the source of a selection tells of fillings and the like
HEADROOM = 64  # powers of two between the largest number and sums of as many as there may be
LEVELS_AT_ONCE = 16  # columns that share so few values are counted value by value


class Complete(NamedTuple):
    """Features and target in the rows that are left, what was done, and what must be mended.

    `changes` are those of the notes that say which rows and values are no longer there or filled.
    """

    features: pd.DataFrame
    y: pd.Series[Any]
    rows: Indices
    notes: list[str]
    changes: list[str]
    problems: list[Problem]


def complete(
    features: pd.DataFrame, y: pd.Series[Any] | None, missing: str, missing_target: str
) -> Complete:
    """Leave out rows without a target, which no rule can fill; then drop or impute features.

    Without a target the features are checked all the same.
    """
    check_choice("missing_target", missing_target, ("refuse", "drop"))
    changes: list[str] = []
    problems: list[Problem] = []
    known = np.arange(len(features))
    if y is None:
        y = pd.Series(np.zeros(len(features)), index=features.index)
    else:
        absent = y.isna().to_numpy()
        rows_without = f"{absent.sum()} of {len(y)} rows"
        if absent.all():
            problems.append(Problem(f"the target {y.name!r} has no value at all."))
        elif missing_target == "drop" or missing == "drop-rows":
            changes += [f"{rows_without} without a target dropped"] if absent.any() else []
        elif absent.any():
            cure = f"Leave them out with {setting('missing_target', 'drop')}."
            where = f"{rows_without}{_such_as(features.index[absent])}"
            problems.append(Problem(f"the target {y.name!r} is missing in {where}.", cure))
        known = known if absent.all() else np.flatnonzero(~absent)
        problems += problems_of_target(y.reset_index(drop=True).dropna())
    there = features if len(known) == len(features) else features.iloc[known]
    left = there.reset_index(drop=True)
    try:
        left, more = without_missing(left, missing)
        changes += more
    except Problem as problem:
        problems.append(problem)
    rows = known[left.index.to_numpy()]
    problems += problems_of_texts(left.set_axis(rows))
    notes = changes + _constant(left) + names_like_dates(left.columns)
    left = left.set_axis(features.index[rows])
    return Complete(left, y.iloc[rows], rows, notes, changes, problems)


def _such_as(names: Any) -> str:
    """The first of these names of rows, if they are no numbers."""
    given = len(names) and getattr(names.dtype, "kind", "O") == "O"
    return f" (such as that of {str(names[0])!r})" if given else ""


def _constant(features: pd.DataFrame) -> list[str]:
    """Say which columns are the same in all rows."""
    same = numeric_columns(features)
    values = features.iloc[:, same].to_numpy()
    same[same] = (values == values[:1]).all(axis=0)
    for k in np.flatnonzero(~numeric_columns(features)):
        column = features.iloc[:, k]
        same[k] = not is_nested(column.dropna()) and column.nunique(dropna=False) == 1
    return [f"constant and never selected: {quoted(features.columns[same])}"] if same.any() else []


def without_missing(frame: pd.DataFrame, how: str) -> tuple[pd.DataFrame, list[str]]:
    """Drop or impute missing values of a DataFrame, and say what was done.

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
    infinite = " or infinite" * (total > int(frame.isna().to_numpy().sum()))
    columns = f"{bad.size} column{'s' * (bad.size > 1)}"
    values = f"{total} missing{infinite} value{'s' * (total > 1)} in {columns}"
    if how == "refuse":
        raise Problem(
            f"{values} of {frame.shape[1]} ({worst(per_column, frame.columns.__getitem__)}), in "
            f"{gaps.any(axis=1).sum()} of {len(frame)} rows.",
            cure=f"Choose {setting('missing')} {' or '.join(CHOICES[1:])}.",
        )
    if how.startswith("drop-"):
        axis, kind = (0, "row") if how == "drop-rows" else (1, "column")
        full = ~gaps.any(axis=1 - axis)
        if not full.any():
            cure = f"Use {setting('missing', 'impute-median')}."
            raise Problem(f"{values}: every {kind} has one.", cure=cure)
        note = f"{(~full).sum()} of {len(full)} {kind}s with missing values dropped"
        return frame.iloc[full] if axis == 0 else frame.iloc[:, full], [note]
    some, filled = frame.iloc[:, bad], frame.copy()
    for k, (_, column) in zip(bad, Imputer.learned(some, how).fill(some).items(), strict=True):
        filled.isetitem(k, column)
    return filled, [f"{values} filled with the column {how.removeprefix('impute-')}"]


def _gaps(frame: pd.DataFrame) -> Any:
    gaps = np.array(frame.isna(), dtype=bool)  # a copy: what pandas gives may be read-only
    real = [k for k, dtype in enumerate(frame.dtypes) if getattr(dtype, "kind", "") == "f"]
    gaps[:, real] |= np.isinf(frame.iloc[:, real].to_numpy(dtype=np.float64, na_value=np.nan))
    return gaps


def _without_values(name: Any) -> Problem:
    cure = f"Drop it: {setting('drop', [str(name)])}."
    return Problem(f"column {name} has no value at all.", cure=cure)


@dataclass(frozen=True, eq=False)
class Imputer:
    """What takes the place of missing values, one per column, learned from some rows."""

    values: tuple[Any, ...]

    @classmethod
    def learned(cls, X: Data, how: str) -> Imputer:
        """The median, mean or mode of every column of an array or DataFrame."""
        frame, kind = _as_frame(X), how.removeprefix("impute-")
        gaps, numeric = _gaps(frame), numeric_columns(frame)
        for k in np.flatnonzero(gaps.all(axis=0)):
            raise _without_values(frame.columns[k])
        values = np.empty(len(numeric), dtype=object)
        numbers = frame.iloc[:, numeric].to_numpy(dtype=np.float64, na_value=np.nan)
        values[numeric] = FILLS[kind](np.where(gaps[:, numeric], np.nan, numbers))
        for k in np.flatnonzero(~numeric):
            if kind != "mode" and gaps[:, k].any():
                labels = f"column {frame.columns[k]} holds labels, which have no {kind}."
                raise Problem(labels, cure=f"Use {setting('missing', 'impute-mode')}.")
            values[k] = frame.iloc[:, k].mode().iloc[0]
        return cls(tuple(values))

    def fill(self, X: Data) -> Any:
        """Fill an array or DataFrame; one without gaps stays as it is."""
        frame = _as_frame(X)
        gaps, numeric = _gaps(frame), numeric_columns(frame)
        if not gaps.any():
            return X
        filled = frame.copy()
        for k in np.flatnonzero(gaps.any(axis=0)):
            column = frame.iloc[:, k]
            if numeric[k] and not isinstance(column.dtype, np.dtype):  # which takes no fractions
                column = column.astype("Float64").astype(np.float64)
            filled.isetitem(k, column.where(~gaps[:, k], self.values[k]))
        return filled if frame is X else filled.to_numpy()


def _as_frame(X: Data) -> Any:
    """A DataFrame, which an array becomes."""
    return X if hasattr(X, "iloc") else pd.DataFrame(np.asarray(X, dtype=np.float64))


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
        """The columns requested, without gaps."""
        values = np.asarray(self.source.read(columns))
        there = values != self.gap if self.gap is not None else np.isfinite(values)
        if there.all():
            return values
        bad = ~there.all(axis=0) if self.how == "refuse" else ~there.any(axis=0)
        if bad.any():
            first = names_of(self)[np.arange(self.shape[1])[columns][bad][0]]
            if self.how != "refuse":
                raise _without_values(first)
            which = f"{bad.sum()} of {len(bad)} columns read have missing values, first {first}."
            raise Problem(which, cure=f"Use {setting('missing', 'impute-mode')}.")
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
        cure = f"Use {setting('missing', possible[0])}{' or '.join(('', *possible[1:]))}."
        raise Problem(f"{setting('missing', how)} would need {reason}.", cure=cure)
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


def _in_range(fill: Callable[[Matrix], Any], values: Matrix) -> Vector:
    """A mean or median of columns whose sums may be beyond the largest number."""
    largest = np.fmax.reduce(np.abs(values), axis=None, initial=0.0)
    halvings = HEADROOM if largest > np.ldexp(1.0, 1023 - HEADROOM) else 0
    return np.asarray(np.ldexp(fill(np.ldexp(values, -halvings)), halvings))


FILLS: dict[str, Callable[[Matrix], Any]] = {
    "median": partial(_in_range, partial(np.nanmedian, axis=0)),
    "mean": partial(_in_range, partial(np.nanmean, axis=0)),
    "mode": _modes,
}
