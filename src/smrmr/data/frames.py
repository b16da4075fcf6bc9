"""Reads tables: what other libraries hand over by Arrow as pandas has it, and columns as numbers.

Arrow tells what is a category, whether it is ordered, and what is missing, and pandas keeps all of
it, so there is one way to read every table.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problems import Problem
from ..types import Data, Mask, Vector, pd
from .messages import named, refuse_all, worst


def in_pandas(data: Data) -> Data:
    """A table or a column of polars, pyarrow and the like as pandas has it; all else as it is.

    Without pyarrow it stays what it is, as tables of nothing but numbers are arrays to NumPy.

    Examples
    --------
    >>> import polars as pl
    >>> stages = pl.Series(["late", "early"], dtype=pl.Enum(["early", "late"]))
    >>> in_pandas(stages).cat.codes.tolist(), in_pandas([3, 4])
    ([1, 0], [3, 4])
    """
    if is_frame(data):
        return data
    if type(data).__name__ == "LazyFrame":
        raise ValueError("a LazyFrame holds no data yet. Call its collect() first.")
    if not hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__arrow_c_array__"):
        return data
    try:
        import pyarrow as pa
    except ImportError:
        if hasattr(data, "columns") and np.asarray(data).dtype.kind not in "biuf":
            raise ImportError(
                "this table holds more than numbers, and pyarrow is needed to read it: "
                'pip install "smrmr[files]"'
            ) from None
        return data
    if hasattr(data, "columns"):
        table = pa.table(data)
        kinds = getattr(data, "dtypes", [None] * table.num_columns)
        columns = [_for_pandas(*pair) for pair in zip(table.columns, kinds, strict=True)]
        return pa.table(columns, names=table.column_names).to_pandas()
    whole = pa.chunked_array if hasattr(data, "__arrow_c_stream__") else pa.array
    return _for_pandas(whole(data), getattr(data, "dtype", None)).to_pandas()


def _for_pandas(column: Any, kind: Any) -> Any:
    """A column of Arrow with categories as pandas takes them, by the `kind` it had in its library.

    Polars numbers categories without a sign, which older pyarrow cannot hand to pandas, and older
    polars does not tell Arrow that an Enum is ordered.
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column
    ordered = column.type.ordered or type(kind).__name__ == "Enum"
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    signed = [
        pa.DictionaryArray.from_arrays(
            chunk.indices.cast(pa.int64()), chunk.dictionary, ordered=ordered
        )
        for chunk in chunks
    ]
    return pa.chunked_array(signed, pa.dictionary(pa.int64(), column.type.value_type, ordered))


def is_frame(data: Data) -> bool:
    """Whether data are a pandas DataFrame or Series, or look like one."""
    return hasattr(data, "iloc")


def numeric_columns(frame: pd.DataFrame) -> Mask:
    """Which columns of a DataFrame hold numbers or booleans."""
    return np.array([getattr(dtype, "kind", "O") in "biuf" for dtype in frame.dtypes], dtype=bool)


def read_frame(frame: pd.DataFrame) -> tuple[NDArray[Any], Mask]:
    """Columns of a DataFrame as numbers, and which of them are nominal.

    Numbers and booleans are what they are, also where missing values are marked apart (as in
    ``Int64``) and where columns hold objects. An ordered category is the places of its levels, 0
    for the first, 1 for the second and so on: its order counts, and so does the step between
    levels in the few places where plain values do. Any other category is nominal, numbered in the
    order in which levels appear. Missing values are NaN. Text is refused by name.

    Examples
    --------
    >>> import pandas as pd
    >>> stage = pd.Categorical(["II", "I", "III"], ["I", "II", "III"], ordered=True)
    >>> values, nominal = read_frame(pd.DataFrame({"stage": stage, "ill": [True, False, True]}))
    >>> values.tolist(), nominal.tolist()
    ([[1.0, 1.0], [0.0, 0.0], [2.0, 1.0]], [False, False])
    """
    labelled = np.array([str(dtype) == "category" for dtype in frame.dtypes], dtype=bool)
    numeric = numeric_columns(frame)
    if numeric.all():
        # what is small stays so; nullable columns need a float for their missing values
        plain = len(set(frame.dtypes)) == 1 and isinstance(frame.dtypes.iloc[0], np.dtype)
        return frame.to_numpy() if plain else _floats(frame), ~numeric
    values, wrong = np.empty(frame.shape), []
    values[:, numeric] = _floats(frame.iloc[:, np.flatnonzero(numeric)])
    nominal = np.zeros(len(labelled), dtype=bool)
    for k in np.flatnonzero(~numeric):
        column = frame.iloc[:, k]
        if labelled[k]:
            nominal[k] = not column.cat.ordered
            values[:, k] = _levels(column)
        elif (numbers := _numbers(column)) is not None:
            values[:, k] = numbers
        else:
            wrong.append(int(k))
    if wrong:
        text = Problem(
            f"columns {named(frame.columns[wrong])} of X hold neither numbers nor categories.",
            cure="Make labels categories: X[c].astype('category') in pandas, cast(pl.Categorical) "
            "in polars, dictionary_encode() in pyarrow; and text that means numbers numbers: "
            f"pandas.to_numeric(X[c]).{_dates_among(frame.iloc[:, wrong])}"
            f"{_ids_among(frame.iloc[:, wrong])}",
        )
        values[:, wrong] = np.where(frame.iloc[:, wrong].isna(), np.nan, 0.0)
        gaps = (~np.isfinite(values)).sum(axis=0)
        refuse_all([text, *problems_of_gaps(gaps, frame.columns.__getitem__)])
    return values, nominal


def _dates_among(columns: pd.DataFrame) -> str:
    """What to do about dates and durations, if there are any."""
    times = any(getattr(dtype, "kind", "O") in "mM" for dtype in columns.dtypes)
    return " Make dates numbers, such as days from a start." if times else ""


def _ids_among(texts: pd.DataFrame) -> str:
    """What to do about the first column of text that is different in every row, if there is one."""
    for k, name in enumerate(texts):
        column = texts.iloc[:, k].astype(str)
        if column.is_unique:
            return f" If {name} names the rows, leave it out of X, or X.set_index({name!r})."
    return ""


def problems_of_gaps(gaps: NDArray[Any], name: Callable[[int], Any]) -> list[Problem]:
    """What is wrong with X if columns have so many missing or infinite values."""
    if not gaps.any():
        return []
    found = f"{np.count_nonzero(gaps)} of {len(gaps)} columns of X have missing or infinite values"
    cure = "Impute them, or drop these columns or rows."
    return [Problem(f"{found} ({worst(gaps, name)}).", cure=cure)]


def _floats(frame: pd.DataFrame) -> NDArray[Any]:
    return np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))


def _levels(column: pd.Series[Any]) -> Vector:
    """Levels by their order, or in the order in which they appear; NaN where missing."""
    codes = column.cat.codes.to_numpy() if column.cat.ordered else pd.factorize(column)[0]
    return np.where(codes < 0, np.nan, codes)


def _numbers(column: pd.Series[Any]) -> Vector | None:
    """A column of objects as numbers, NaN where missing; None if some are not numbers."""
    if column.dtype.kind != "O":
        return None
    values = column.to_numpy(dtype=object)
    known = ~pd.isna(values)
    if not all(isinstance(value, (Real, Decimal)) for value in values[known]):
        return None
    numbers = np.full(len(values), np.nan)
    numbers[known] = values[known].astype(np.float64)
    return numbers


def frame_of(columns: dict[str, Any]) -> Any:
    """A DataFrame; text as objects, since names may hold what text of pandas 3 cannot."""
    for name, values in columns.items():
        if np.asarray(values).dtype.kind in "OU":
            columns[name] = pd.Series(list(values), dtype=object)
    return pd.DataFrame(columns)
