"""Settles missing values the way the user chose; nothing is dropped without being asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

CHOICES = ("refuse", "drop-columns", "drop-rows", "impute-median", "impute-mean", "impute-mode")


def settle_missing(X: Any, how: str = "refuse") -> tuple[pd.DataFrame, list[str]]:
    """Drop or fill missing values of a DataFrame, and say what was done.

    Parameters
    ----------
    X
        DataFrame, or an array.
    how
        ``"refuse"``: an error that names the worst columns; ``"drop-columns"``, ``"drop-rows"``:
        those that hold any; ``"impute-median"``, ``"impute-mean"`` (numbers only),
        ``"impute-mode"``: fill each column with its own. Infinite values count as missing.

    Returns
    -------
    The settled DataFrame (the index says which rows are left), and what was done, in words.

    Examples
    --------
    >>> from smrmr import settle_missing
    >>> X, notes = settle_missing([[1.0, 2.0], [np.nan, 4.0], [5.0, 6.0]], "impute-median")
    >>> X[0].tolist(), notes
    ([1.0, 3.0, 5.0], ['1 missing value in 1 column filled with the column median'])
    """
    import pandas as pd

    if how not in CHOICES:
        raise ValueError(f"missing={how!r} is not known. Use {', '.join(map(repr, CHOICES))}.")
    frame = X if hasattr(X, "iloc") else pd.DataFrame(X)
    holes = _holes(frame)
    per_column = holes.sum(axis=0)
    bad = np.flatnonzero(per_column)
    if bad.size == 0:
        return frame, []
    total = int(per_column.sum())
    values = (
        f"{total} missing value{'s' * (total != 1)} in {bad.size} column{'s' * (bad.size != 1)}"
    )
    if how == "refuse":
        worst = bad[np.argsort(-per_column[bad], kind="stable")][:5]
        counts = ", ".join(f"{frame.columns[k]}: {per_column[k]}" for k in worst)
        raise ValueError(
            f"{values} of {frame.shape[1]} ({counts}{', ...' if bad.size > 5 else ''}), in "
            f"{int(holes.any(axis=1).sum())} of {len(frame)} rows. Choose --missing drop-columns, "
            "drop-rows, impute-median, impute-mean or impute-mode (missing=... in Python)."
        )
    if how == "drop-columns":
        if bad.size == frame.shape[1]:
            raise ValueError(f"{values}: every column has one. Use --missing impute-median.")
        left = frame.iloc[:, np.flatnonzero(per_column == 0)]
        return left, [f"{bad.size} of {frame.shape[1]} columns with missing values dropped"]
    if how == "drop-rows":
        full = ~holes.any(axis=1)
        if not full.any():
            raise ValueError(f"{values}: every row has one. Use --missing impute-median.")
        note = f"{int((~full).sum())} of {len(frame)} rows with missing values dropped"
        return frame.iloc[np.flatnonzero(full)], [note]
    kind = how.removeprefix("impute-")
    filled = frame.copy()
    for k in bad:
        filled.isetitem(k, _filled(frame.iloc[:, k], holes[:, k], kind))
    return filled, [f"{values} filled with the column {kind}"]


def _holes(frame: pd.DataFrame) -> Any:
    holes = np.array(frame.isna())  # a copy: what pandas gives may be read-only
    for k, dtype in enumerate(frame.dtypes):
        if getattr(dtype, "kind", "") == "f":
            holes[:, k] |= np.isinf(frame.iloc[:, k].to_numpy(dtype=np.float64, na_value=np.nan))
    return holes


def _filled(column: pd.Series[Any], hole: Any, kind: str) -> Any:
    known = column[~hole]
    if known.empty:
        raise ValueError(f"column {column.name} has no value at all. Drop it: --drop {column.name}")
    if kind == "mode":
        value = known.mode().iloc[0]
    elif getattr(column.dtype, "kind", "O") not in "biuf":
        raise ValueError(
            f"column {column.name} holds labels, which have no {kind}. Use --missing impute-mode."
        )
    else:
        value = getattr(known.astype(float), kind)()
    return column.where(~hole, value)
