"""Turns what users pass as X into checked columns of numbers and of classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Data, Indices, Mask, Vector, pd
from .frames import in_pandas, is_frame, problems_of_gaps, read_frame
from .messages import refuse_all
from .sentinels import CONFIRMED
from .sources import ColumnSource, SparseColumns, as_source, subset
from .suspicious import Check, warn_about_columns, warn_about_names

MIN_ROWS = 4
COLUMNS_AT_ONCE = 4096  # whose values are looked at together, at most
BYTES_AT_ONCE = 2**23  # which they take up, at most


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


def class_count_band(n_classes: Any) -> Any:
    """Numbers of classes in bands, by powers of 4; columns of one band are prepared together."""
    return np.log2(n_classes + 1) // 2


@dataclass(frozen=True, eq=False)
class Columns:
    """Features: numbers in memory or in a source, names, and which columns are nominal.

    What is in memory has been checked as a whole; columns of files are checked when they are read.
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
        """Whether the numbers are an array or a sparse matrix, not in a file."""
        return isinstance(self.data, np.ndarray | SparseColumns)

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
            shapes = f"shape {values.shape} where {asked} was requested"
            raise ValueError(f"the source of X gave {shapes}. Has the file changed?")
        _check_numeric(values)
        _refuse_gaps(values, lambda k: self.name(order[k]))
        return values

    def pieces(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """All columns in order, some at a time: the number of the first, and an (n, k) array."""
        width = max(1, min(COLUMNS_AT_ONCE, BYTES_AT_ONCE // (8 * max(self.n_rows, 1))))
        for start in range(0, self.n_columns, width):
            yield start, self.read(slice(start, start + width))

    def found_by(self, check: Check) -> list[str]:
        """Names of the columns that a check finds, some columns at a time."""
        parts = ((slice(i, i + values.shape[1]), values) for i, values in self.pieces())
        found = (part.start + check(values, self.nominal[part]) for part, values in parts)
        return [self.name(int(k)) for some in found for k in some]

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
        which, array = slice(start, stop), isinstance(self.data, np.ndarray)
        columns = which if array else np.arange(self.n_columns)[which]
        return Columns(subset(self.data, None, columns), None, self.nominal[which])

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
        size = np.where(self.nominal, class_count_band(values.max(axis=1) + 1), -1)
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

    X may be an array, a sparse matrix, a table of pandas, polars or pyarrow, or a source. Numbers
    and booleans are taken as they are, ordered categories by the places of their levels, other
    categories are nominal; see `read_frame`. Everything else, and missing or infinite values, is
    refused with a message that names the columns. Columns stand for themselves.
    """
    if isinstance(X, Columns):
        return X
    X = in_pandas(X)
    source = as_source(X)
    refuse_sparse_or_masked(X if source is None else None, "X")
    if source is not None:
        columns = Columns.bare(source)
    elif is_frame(X) and hasattr(X, "columns"):
        values, nominal = read_frame(X)
        columns = Columns(_plain(values), tuple(map(str, X.columns)), nominal)
        warn_about_names(columns.names or ())
    else:
        columns = _from_array(X)
    n, p = columns.n_rows, columns.n_columns
    if p == 0 or n < MIN_ROWS:
        shape = f"X has {n} rows and {p} columns (n_samples={n})"
        raise ValueError(f"{shape}. At least {MIN_ROWS} rows and one column are needed.")
    if columns.in_memory:
        _refuse_gaps(columns.data, columns.name)  # before anything else is said
        warn_about_columns(columns.found_by, p, CONFIRMED in getattr(X, "attrs", ()))
    return columns


def refuse_sparse_or_masked(data: Data, name: str) -> None:
    """Refuse arrays that NumPy would read wrongly without a word."""
    if hasattr(data, "toarray"):
        raise ValueError(f"{name} is a sparse matrix. Pass {name}.toarray() if it fits in memory.")
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        raise ValueError(f"{name} has masked values. Drop these samples everywhere, or fill them.")


def codes_by_appearance(labels: NDArray[Any]) -> tuple[Vector, int]:
    """Number the labels in the order in which they appear; renaming them changes nothing."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first))
    number[np.argsort(first)] = np.arange(len(first))
    return number[inverse], len(first)


def refuse_text(X: Data) -> None:
    """Refuse columns of an array of objects that hold text, by name."""
    values = X if isinstance(X, np.ndarray) and X.dtype.kind == "O" else np.empty((0, 0))
    if values.ndim != 2:
        return
    if any(isinstance(value, str) for value in values.flat):
        _from_objects(values, [f"x{k}" for k in range(values.shape[1])])


def _from_array(X: Data) -> Columns:
    values = np.asarray(X)
    if values.ndim != 2:
        advice = " Use X.reshape(-1, 1) for a single feature." if values.ndim == 1 else ""
        raise ValueError(f"X has shape {values.shape}. Rows and columns are needed.{advice}")
    names = tuple(map(str, X.columns)) if hasattr(X, "columns") else None  # polars and the like
    if values.dtype.kind == "O":
        values = _from_objects(values, names or [f"x{k}" for k in range(values.shape[1])])
    _check_numeric(values)
    return Columns(_plain(values), names, np.zeros(values.shape[1], dtype=bool))


def _from_objects(values: NDArray[Any], names: Sequence[str]) -> NDArray[Any]:
    """Objects that are numbers as numbers; columns of others are refused by name."""
    return read_frame(pd.DataFrame(values, columns=list(names), dtype=object))[0]


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


def _refuse_gaps(data: NDArray[Any] | ColumnSource, name: Callable[[int], str]) -> None:
    """Refuse columns of an array or a sparse matrix that have missing or infinite values."""
    gaps = np.zeros(data.shape[1], dtype=np.intp)
    if isinstance(data, SparseColumns):
        _check_numeric(data.matrix.data)
        before = np.concatenate([[0], np.cumsum(~np.isfinite(data.matrix.data))])
        gaps = np.diff(before[data.matrix.indptr])
    elif isinstance(data, np.ndarray) and data.dtype.kind == "f":
        for start, values in Columns.bare(data).pieces():
            gaps[start : start + values.shape[1]] = (~np.isfinite(values)).sum(axis=0)
    refuse_all(problems_of_gaps(gaps, name))
