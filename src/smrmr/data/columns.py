"""Turns what users pass as X into checked columns of numbers and of classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Data, Indices, Mask, Vector
from .messages import named, worst
from .oddities import warn_about_ids, warn_about_rare
from .sources import ColumnSource, as_source, subset

MIN_ROWS = 4
COLUMNS_AT_ONCE = 1024  # whose values are checked together, to bound memory


@dataclass(frozen=True, eq=False)
class Block:
    """A few columns of one kind, one row of `values` each, ready for a measure.

    Numbers are float64, or int8 where the data came that small. Nominal columns hold class numbers
    in order of first appearance, so renaming classes cannot change anything downstream.
    """

    values: NDArray[Any]
    columns: Indices
    nominal: bool

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.values.shape[1])

    def take(self, rows: Mask | Indices) -> Block:
        """Return the block of the chosen columns."""
        return Block(self.values[rows], self.columns[rows], self.nominal)


def class_size(n_classes: Any) -> Any:
    """Group numbers of classes by powers of 4: columns of like numbers are prepared together."""
    return np.log2(n_classes + 1) // 2


@dataclass(frozen=True, eq=False)
class Columns:
    """Features: numbers in memory or in a source, names, and which columns are nominal.

    An array has been checked as a whole; the columns of a source are checked when they are read.
    """

    data: NDArray[Any] | ColumnSource
    names: tuple[str, ...] | None
    nominal: Mask

    @classmethod
    def bare(cls, data: NDArray[Any] | ColumnSource) -> Columns:
        """Numbers, named by their source if it names them."""
        return cls(data, None, np.zeros(data.shape[1], dtype=np.bool_))

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.data.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of features."""
        return int(self.data.shape[1])

    @property
    def in_memory(self) -> bool:
        """Whether the numbers are an array, not a source."""
        return isinstance(self.data, np.ndarray)

    @property
    def values(self) -> NDArray[Any]:
        """All of it as one array: for few columns, or for what is in memory anyway."""
        return self.data if isinstance(self.data, np.ndarray) else self.read(slice(None))

    def read(self, columns: slice | Indices) -> NDArray[Any]:
        """Some columns as an (n, k) array."""
        if isinstance(self.data, np.ndarray):
            return self.data[:, columns]
        values = _plain(np.asarray(self.data.read(columns)))
        order = np.arange(self.n_columns)[columns]
        asked = self.n_rows, len(order)
        if values.shape != asked:  # compiled loops would read beyond the end
            shapes = f"shape {values.shape} where {asked} was asked for"
            raise ValueError(f"the source of X gave {shapes}. Has the file changed?")
        _check_numeric(values)
        _check_finite(values, lambda k: self.name(order[k]))
        return values

    def take(self, rows: Indices | None = None, columns: Indices | None = None) -> Columns:
        """Return the chosen rows and columns; of a source nothing is read yet."""
        names, nominal = self.names, self.nominal
        if columns is not None:
            nominal = nominal[columns]
            names = None if names is None else tuple(names[k] for k in columns)
        return Columns(subset(self.data, rows, columns), names, nominal)

    def name(self, k: int) -> str:
        """Name of feature k; ``x0``, ``x1``, ... in an array."""
        # a source is asked late: a million names take seconds to read
        names = self.names or getattr(self.data, "names", None)
        return f"x{k}" if names is None else names[k]

    def span(self, start: int, stop: int) -> Columns:
        """Columns `start` to `stop`; nothing is copied, and nothing else goes to a worker."""
        if isinstance(self.data, np.ndarray):
            return Columns(self.data[:, start:stop], None, self.nominal[start:stop])
        which = np.arange(start, min(stop, self.n_columns))
        return Columns(subset(self.data, None, which), None, self.nominal[start:stop])

    def blocks(self, first: int = 0) -> list[Block]:
        """All columns as rows: the numbers, then nominal ones by number of classes.

        Numbers are float64 unless they are int8. The first column is said to be number `first`.
        """
        values = self.values
        dtype = np.int8 if values.dtype == np.int8 else np.float64
        values = np.ascontiguousarray(values.T, dtype=dtype)
        columns = np.arange(first, first + len(values))
        if not self.nominal.any():
            return [Block(values, columns, nominal=False)]
        size = np.where(self.nominal, class_size(values.max(axis=1) + 1), -1)
        return [
            Block(values[size == group], columns[size == group], nominal=group >= 0)
            for group in np.unique(size)
        ]

    @cached_property
    def most_classes(self) -> int:
        """Classes of the nominal column that has most of them."""
        return int(self.values[:, self.nominal].max()) + 1 if self.nominal.any() else 0


def as_columns(X: Data) -> Columns:
    """Check the features, and decide which are numbers and which are classes.

    Numbers and booleans are taken as they are, pandas categoricals are nominal, or numbered by
    their order if they have one. Everything else, and missing or infinite values, is refused with a
    message that names the columns.
    """
    refuse_sparse_or_masked(X, "X")
    source = as_source(X)
    if source is not None:
        columns = Columns.bare(source)
    elif hasattr(X, "iloc") and hasattr(X, "columns"):
        columns = _from_frame(X)
    else:
        columns = _from_array(X)
    n, p = columns.n_rows, columns.n_columns
    if p == 0 or n < MIN_ROWS:
        shape = f"X has {n} rows and {p} columns (n_samples={n})"
        raise ValueError(f"{shape}. At least {MIN_ROWS} rows and one column are needed.")
    if source is None:
        _check_finite(columns.values, columns.name)
        warn_about_rare(columns.values, columns.name)
        warn_about_ids(columns.values, columns.name)
    return columns


def refuse_sparse_or_masked(data: Data, name: str) -> None:
    """Refuse arrays that NumPy would read wrongly without a word."""
    if hasattr(data, "toarray"):
        raise ValueError(f"{name} is a sparse matrix. Pass {name}.toarray() if it fits in memory.")
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        raise ValueError(f"{name} has masked values. Drop these samples everywhere, or fill them.")


def first_appearance(labels: NDArray[Any]) -> tuple[Vector, int]:
    """Number the labels in the order in which they appear; renaming them changes nothing."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first))
    number[np.argsort(first)] = np.arange(len(first))
    return number[inverse], len(first)


def _from_array(X: Data) -> Columns:
    values = np.asarray(X)
    if values.ndim != 2:
        advice = " Use X.reshape(-1, 1) for a single feature." if values.ndim == 1 else ""
        raise ValueError(f"X has shape {values.shape}. Rows and columns are needed.{advice}")
    _check_numeric(values)
    names = tuple(map(str, X.columns)) if hasattr(X, "columns") else None  # polars and the like
    return Columns(_plain(values), names, np.zeros(values.shape[1], dtype=bool))


def _from_frame(X: Any) -> Columns:
    names = tuple(map(str, X.columns))
    labelled = np.array([str(dtype) == "category" for dtype in X.dtypes], dtype=bool)
    nominal = labelled & ~np.array([getattr(t, "ordered", None) is True for t in X.dtypes], bool)
    numeric = np.array([getattr(dtype, "kind", "O") in "biuf" for dtype in X.dtypes], dtype=bool)
    wrong = [names[k] for k in np.flatnonzero(~labelled & ~numeric)]
    if wrong:
        raise ValueError(
            f"columns {named(wrong)} of X hold neither numbers nor categories. Convert them: "
            "X[c].astype('category') for labels, pandas.to_numeric(X[c]) for numbers."
        )
    if not labelled.any():
        # what is small stays so; nullable columns need a float for their missing values
        plain = len(set(X.dtypes)) == 1 and isinstance(X.dtypes.iloc[0], np.dtype)
        return Columns(_plain(X.to_numpy(dtype=None if plain else np.float64)), names, nominal)
    values = np.empty(X.shape, dtype=np.float64)
    for k in range(len(names)):
        column = X.iloc[:, k]
        if labelled[k]:
            codes = column.cat.codes.to_numpy()
            numbers = first_appearance(codes)[0] if nominal[k] else codes
            values[:, k] = np.where(codes < 0, np.nan, numbers)
        else:
            values[:, k] = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return Columns(values, names, nominal)


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Booleans as int8, very long floats as float64, bytes in this machine's order.

    Others are converted block by block.
    """
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if values.dtype == np.bool_:
        return values.view(np.int8)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        with np.errstate(over="ignore"):  # what does not fit is found to be infinite later
            return values.astype(np.float64)
    return values


def _check_numeric(values: NDArray[Any]) -> None:
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported: give X real numbers, such as the modulus.")
    if values.dtype.kind not in "biuf":
        example = values.flat[0] if values.size else ""
        raise ValueError(
            f"X has dtype {values.dtype} (first value {example!r}). Numbers are needed: use "
            "X.astype(float), or a pandas DataFrame whose labels are categories."
        )


def _check_finite(values: NDArray[Any], name: Callable[[int], str]) -> None:
    if values.dtype.kind != "f":
        return
    bad = np.zeros(values.shape[1], dtype=np.int64)
    for start in range(0, len(bad), COLUMNS_AT_ONCE):
        part = slice(start, start + COLUMNS_AT_ONCE)
        bad[part] = (~np.isfinite(values[:, part])).sum(axis=0)
    if bad.any():
        raise ValueError(
            f"{np.count_nonzero(bad)} of {len(bad)} columns of X have missing or infinite values "
            f"({worst(bad, name)}). Impute them, or drop these columns or rows."
        )
