"""Says what a source of columns must offer, and takes rows and columns of one."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..types import Indices

Which: TypeAlias = "slice | Indices"

MAX_VALUES_READ = 2**24  # at a time, where some rows of them are kept


@runtime_checkable
class ColumnSource(Protocol):
    """Columns that are read when they are needed, so that X need not fit in memory.

    A source is small when pickled: workers get it instead of the data, and read for themselves.
    Anything with these three members can be given as X; `smrmr.data.open_columns` makes one of a
    file.

    Examples
    --------
    Columns that are made while they are read:

    >>> import numpy as np
    >>> from smrmr import relevance
    >>> class Powers:
    ...     shape, names = (50, 3), ("x", "x2", "x3")
    ...
    ...     def read(self, columns):
    ...         x = np.linspace(-1, 1, 50)
    ...         return np.stack([x, x**2, x**3], axis=1)[:, columns]
    >>> relevance(Powers(), np.linspace(-1, 1, 50)).round(1).tolist()
    [1.0, 0.2, 1.0]
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have any."""

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns requested, as an array of all rows.

        Parameters
        ----------
        columns
            A slice, or an array of positions.

        Returns
        -------
        ndarray
            Of shape (n, number of columns requested).
        """


class PickledByFields:
    """A dataclass that is pickled as its fields alone, without what it has opened or read."""

    def __reduce__(self) -> Any:
        own: Any = self
        return type(self), tuple(getattr(own, field.name) for field in fields(own))


@dataclass(frozen=True, eq=False)
class Subset(PickledByFields):
    """Some rows and columns of a source; None for all of them."""

    source: ColumnSource
    rows: Indices | None
    columns: Indices | None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        n, p = self.source.shape
        rows, columns = self.rows, self.columns
        return n if rows is None else len(rows), p if columns is None else len(columns)

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have any."""
        names = self.source.names
        if names is None or self.columns is None:
            return names
        return tuple(names[k] for k in self.columns)

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns requested, on the chosen rows: of all rows a few columns at a time."""
        wanted = columns if self.columns is None else self.columns[columns]
        if self.rows is None:
            return self.source.read(wanted)
        n, p = self.source.shape
        places, width = np.arange(p)[wanted], max(1, MAX_VALUES_READ // n)
        if len(places) <= width:
            return self.source.read(wanted)[self.rows]
        some = [places[start : start + width] for start in range(0, len(places), width)]
        return np.concatenate([self.source.read(part)[self.rows] for part in some], axis=1)


@dataclass(frozen=True, eq=False)
class SparseColumns:
    """A sparse matrix in memory, by columns (CSC); a block of columns is dense once it is read."""

    matrix: Any
    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, X: Any, names: tuple[str, ...] | None = None) -> SparseColumns:
        """Any sparse matrix or array, turned to columns once."""
        rows_and_columns(X.shape, "X")
        return cls(X.tocsc(), names)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns requested."""
        return np.asarray(self.matrix[:, columns].toarray())

    def take(self, rows: Indices | None, columns: Indices | None) -> SparseColumns:
        """Some rows and columns; neighbouring columns are not copied, so that spans cost nothing.

        Unlike a file the matrix itself is sent to workers, and so it is cut to what they need.
        """
        matrix, names = self.matrix, self.names
        if columns is not None:
            names = None if names is None else tuple(names[k] for k in columns)
            together = len(columns) > 0 and bool((np.diff(columns) == 1).all())
            matrix = _neighbours(matrix, columns) if together else matrix[:, columns]
        return SparseColumns(matrix if rows is None else matrix[rows].tocsc(), names)


def _neighbours(matrix: Any, columns: Indices) -> Any:
    """Columns that follow each other, as a view of the whole."""
    pointers = matrix.indptr[columns[0] : columns[-1] + 2]
    inside = slice(int(pointers[0]), int(pointers[-1]))
    view = type(matrix)((matrix.shape[0], len(columns)), dtype=matrix.dtype)
    view.data, view.indices = matrix.data[inside], matrix.indices[inside]  # scipy would copy them
    view.indptr = pointers - pointers[0]
    return view


@dataclass(frozen=True)
class DaskColumns:
    """A dask array; its blocks are computed where they are needed."""

    array: Any
    names: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        if np.isnan(self.array.shape).any():
            raise ValueError("the Dask array does not know its rows. Call X.compute_chunk_sizes().")
        return rows_and_columns(self.array.shape, "the Dask array")

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns requested."""
        found = self.array[:, columns].compute(scheduler="synchronous")
        return np.asarray(found.toarray() if is_sparse(found) else found)


def as_source(X: Any) -> ColumnSource | None:
    """X as a source if it is one, or something that is read in parts; None for arrays and tables.

    Sparse matrices are read by columns. HDF5 data sets, also those that AnnData has not read, are
    opened again by their path, which is small to send to workers.
    """
    # not by isinstance, which would ask for the names: a million of them take seconds to read
    if callable(getattr(X, "read", None)) and hasattr(X, "shape"):
        return cast(ColumnSource, X)
    if is_sparse(X):
        return SparseColumns.of(X)
    package = type(X).__module__.split(".")[0]
    if hasattr(X, "to_dask_array"):
        raise ValueError("X is a Dask DataFrame. Pass X.to_dask_array(lengths=True).")
    if package == "dask" and hasattr(X, "compute") and hasattr(X, "shape"):
        return DaskColumns(X)
    stored = getattr(X, "group", X) if package == "anndata" else X  # of a sparse matrix
    if type(stored).__module__.split(".")[0] == "h5py" and hasattr(X, "shape"):
        from .files.stores import StoredColumns

        return StoredColumns(Path(stored.file.filename).absolute(), stored.name)
    return None


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of scipy, or of a kind that scipy can be given."""
    return hasattr(X, "tocsc") and hasattr(X, "toarray")


def subset(source: Any, rows: Indices | None, columns: Any) -> Any:
    """Some rows and columns of an array or of a source; of a file nothing is read yet."""
    if isinstance(source, np.ndarray):
        values = source if columns is None else source[:, columns]
        return values if rows is None else values[rows]
    if isinstance(source, SparseColumns):
        return source.take(rows, columns)
    if isinstance(source, Subset):
        rows, columns = _chosen(source.rows, rows), _chosen(source.columns, columns)
        source = source.source
    return Subset(source, rows, columns)


def _chosen(before: Indices | None, now: Indices | None) -> Indices | None:
    if before is None or now is None:
        return now if before is None else before
    return before[now]


def rows_and_columns(shape: Any, where: Any) -> tuple[int, int]:
    """A shape of two sides that are not empty; any other is refused."""
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"{where} has shape {tuple(shape)}. Rows and columns are needed.")
    return int(shape[0]), int(shape[1])


def names_of(source: ColumnSource) -> list[str]:
    """Names of the columns of a source; ``x0``, ``x1``, ... if it has none."""
    return list(source.names or (f"x{k}" for k in range(source.shape[1])))
