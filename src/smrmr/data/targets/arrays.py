"""Turns what users pass as y, or as a variable, into an array of numbers or of labels."""

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...problems import Problem, setting
from ...types import Data, Vector, pd
from ..columns import refuse_sparse_or_masked
from ..messages import number_with_comma, refuse_missing
from ..ranks import settled


def read_array(y: Data, name: str = "y") -> tuple[NDArray[Any], bool]:
    """The array behind y, one column as a vector, and whether it holds labels, not numbers."""
    if y is None or isinstance(y, str):
        column = f", such as {name}=table[{y!r}], and leave it out of X" if y else ""
        raise Problem(f"{name} is {y!r}.", f"Give the column itself, a value per row{column}.")
    refuse_sparse_or_masked(y, name)
    if hasattr(y, "iloc") and y.ndim == 2 and y.shape[1] == 1:
        y = y.iloc[:, 0]
    if is_category(y):
        return category_codes(y, name), True
    try:
        values = np.asarray(y)
    except ValueError:
        raise Problem(f"the rows of {name} differ in length.", "Give each one value.") from None
    if values.dtype.names:
        raise Problem(
            f"{name} is a table of fields ({', '.join(values.dtype.names)}), as used for survival "
            "times, which is no number and no class.",
            cure=f"Use {setting('target', 'survival')}, or pass one field.",
        )
    kind = values.dtype.kind
    if kind == "c":
        raise Problem(f"Complex data not supported: {name} must be real numbers or classes.")
    if kind in "mM" or (kind == "O" and any(hasattr(v, "strftime") for v in values.flat)):
        raise Problem(f"{name} holds dates.", "Convert them to numbers, such as days from a start.")
    if kind == "O":
        values = _from_objects(values, name)
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            values = values.astype(np.float64)
        refuse_missing(~np.isfinite(values), name)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim not in (1, 2) or values.size == 0:
        raise Problem(
            f"{name} has shape {values.shape}.",
            "One value per row is needed, or one row of values each.",
        )
    return values, values.dtype.kind not in "iuf"


def read_numbers(y: Data) -> Vector:
    """Numbers that vary, in one column or in several, ties settled."""
    values, labelled = read_array(y)
    refuse_text_of_numbers(values)
    if labelled and values.ndim == 2:
        refuse_columns_of_labels(values)
    if labelled and values.dtype.kind != "b":
        raise Problem("y holds labels.", f"Give numbers, or use {setting('target', 'classes')}.")
    numbers = settled(np.ascontiguousarray(values, dtype=np.float64), axis=0)
    if (numbers == numbers[0]).all():
        one = values.ndim == 1
        what = f"the single value {numbers[0]:g}" if one else "a single value in every column"
        raise Problem(f"y has {what}.", "It must vary.")
    return numbers


def refuse_text_of_numbers(values: NDArray[Any]) -> None:
    """Refuse text that holds numbers with commas, which would become classes."""
    texts = map(str.strip, np.unique(values).tolist()) if values.dtype.kind == "U" else ()
    if example := number_with_comma(texts):
        raise Problem(
            f"y holds text such as {example!r}, which looks like a number with a decimal comma or "
            "with separators of thousands.",
            "Write numbers with a decimal point and nothing between the thousands, such as 3.5 and "
            f"1234; if they are labels, use {setting('target', 'classes')}.",
        )


def refuse_columns_of_labels(values: NDArray[Any]) -> None:
    """Refuse several columns that are meant as classes."""
    raise Problem(
        f"y has {values.shape[1]} columns and is meant as classes.",
        "Encode them as numbers, or join them into one label per row.",
    )


def is_category(y: Data) -> bool:
    """Whether y is a category of pandas."""
    return str(getattr(y, "dtype", "")) == "category"


def category_codes(y: Data, name: str = "y") -> NDArray[Any]:
    """Places of the levels of a category."""
    codes = np.asarray(y.cat.codes if hasattr(y, "cat") else y.codes)
    refuse_missing(codes < 0, name)
    return codes


def _from_objects(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Numbers if all objects are, else labels; 1 and "1" are different labels."""
    refuse_missing(pd.isna(values), name)
    objects = values.ravel().tolist()
    if all(isinstance(v, (Real, Decimal)) and not isinstance(v, bool) for v in objects):
        try:
            return np.array([float(v) for v in objects]).reshape(values.shape)
        except OverflowError:
            raise Problem(f"{name} holds numbers too large for float64.", "Scale them.") from None
    labels = [v if isinstance(v, str) else f"{type(v).__name__}\0{v}" for v in objects]
    return np.array(labels).reshape(values.shape)
