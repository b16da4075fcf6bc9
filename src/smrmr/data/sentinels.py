"""Finds numbers that may mark missing values: -999 and the like, far from all other values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problems import Problem, setting
from ..types import Indices, Vector, pd
from .frames import numeric_columns
from .messages import quoted
from .number_texts import VALUES, Marks

LOW = np.array([-9, -99, -999, -9999, -99999, -999999], dtype=np.float64)
HIGH = -LOW[1:]
CONFIRMED = "smrmr: what stands out are values"  # in `attrs` of a table
MIN_TIMES = 2  # that a positive mark occurs, since counts may have one such value by chance


def problems_of_sentinels(
    features: pd.DataFrame, y: pd.Series[Any] | None, marks: Marks
) -> list[Problem]:
    """Ask about numbers that stand out in features or target, all in one message."""
    if VALUES in marks.na:
        return []
    numeric = np.flatnonzero(numeric_columns(features))
    values = features.iloc[:, numeric].to_numpy(dtype=np.float64, na_value=np.nan)
    places, found = sentinels(values)
    names = [str(features.columns[numeric[k]]) for k in places]
    if y is not None and getattr(y.dtype, "kind", "O") in "iuf":
        _, of_target = sentinels(y.to_numpy(dtype=np.float64, na_value=np.nan)[:, None])
        names, found = [*names, *[str(y.name)] * len(of_target)], np.append(found, of_target)
    if not names:
        return []
    said = []
    for mark in np.unique(found):
        columns = [name for name, one in zip(names, found, strict=True) if one == mark]
        where = f"column {columns[0]!r}" if len(columns) == 1 else f"columns {quoted(columns)}"
        said.append(f"{mark:g} in {where}")
    missing = setting("na", [f"{mark:g}" for mark in np.unique(found)])
    stand = "stands" if len(names) == 1 else "stand"
    return [
        Problem(
            f"{' and '.join(said)} {stand} out from all other values.",
            cure=f"If that marks missing values use {missing}; if not, {setting('na', [VALUES])}.",
        )
    ]


def sentinels(values: NDArray[Any]) -> tuple[Indices, Vector]:
    """Columns with a number that may mark missing values, and that number.

    It is the lowest or highest value, farther from all others than these are from each other.
    """
    if not values.size:
        return np.empty(0, np.intp), np.empty(0)
    low, high = (of.reduce(values, axis=0).astype(np.float64) for of in (np.fmin, np.fmax))
    likely = np.flatnonzero(np.isin(low, LOW) | np.isin(high, HIGH))
    found = [_sentinel(values[:, k].astype(np.float64)) for k in likely]
    marks = np.array(found, dtype=np.float64)
    return likely[~np.isnan(marks)], marks[~np.isnan(marks)]


def _sentinel(column: Vector) -> float:
    """The number of a column that may mark missing values, NaN if there is none."""
    levels, counts = np.unique(column[np.isfinite(column)], return_counts=True)
    if len(levels) < 3:  # of two values none is far from the others
        return np.nan
    if levels[0] in LOW and levels[1] - levels[0] > levels[-1] - levels[1]:
        return float(levels[0])
    far = levels[-1] - levels[-2] > levels[-2] - levels[0]
    if levels[-1] in HIGH and far and counts[-1] >= MIN_TIMES:
        return float(levels[-1])
    return np.nan
