"""Sources in the files of arrays: NPY, zarr, HDF5 with AnnData's sparse matrices, and Dask."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...types import Indices
from .protocol import Which, two_sides

CHUNK = 4_000_000  # entries of a sparse matrix that are read at a time


@dataclass(frozen=True)
class NpyColumns:
    """A matrix in a .npy file."""

    path: Path
    names: tuple[str, ...] | None = None

    @cached_property
    def _array(self) -> Any:
        return np.load(self.path, mmap_mode="r", allow_pickle=False)

    def __reduce__(self) -> Any:
        return NpyColumns, (self.path, self.names)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return two_sides(self._array.shape, self.path)

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns asked for."""
        return np.asarray(self._array[:, columns])


@dataclass(frozen=True)
class ZarrColumns:
    """A matrix in a zarr store; `key` is its name where the store is a group."""

    path: Path
    key: str | None = None
    names: tuple[str, ...] | None = None

    @cached_property
    def _array(self) -> Any:
        found: Any = _needed("zarr").open(str(self.path), mode="r")
        return found if self.key is None else found[self.key]

    def __reduce__(self) -> Any:
        return ZarrColumns, (self.path, self.key, self.names)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return two_sides(self._array.shape, self.path)

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns asked for."""
        return np.asarray(_spanned(self._array, columns))


@dataclass(frozen=True)
class HDF5Columns:
    """A matrix in an HDF5 file: a data set, or a sparse matrix as AnnData writes it.

    Sparse columns are dense once read. A matrix stored by rows (CSR) is read through for every
    block of columns; stored by columns (CSC) only the block itself is read.
    """

    path: Path
    key: str = "X"
    names: tuple[str, ...] | None = None

    def __reduce__(self) -> Any:
        return HDF5Columns, (self.path, self.key, self.names)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        with _needed("h5py").File(self.path, "r") as file:
            found = self._found(file)
            return two_sides(found.attrs.get("shape", getattr(found, "shape", ())), self.path)

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns asked for."""
        with _needed("h5py").File(self.path, "r") as file:
            found = self._found(file)
            if hasattr(found, "shape"):
                return np.asarray(_spanned(found, columns))
            order = np.arange(self.shape[1])[columns]
            if found.attrs.get("encoding-type") == "csc_matrix":
                return _from_csc(found, order, self.shape[0])
            return _from_csr(found, order, self.shape)

    def _found(self, file: Any) -> Any:
        if self.key not in file:
            raise ValueError(f"{self.path} has no {self.key!r}. It holds {', '.join(file)}.")
        return file[self.key]


@dataclass(frozen=True)
class DaskColumns:
    """A dask array; its blocks are computed where they are needed."""

    array: Any
    names: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return two_sides(self.array.shape, "the dask array")

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns asked for."""
        return np.asarray(self.array[:, columns].compute(scheduler="synchronous"))


def _needed(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"this file needs {name}. Install it: pip install smrmr[files]") from None


def _spanned(array: Any, columns: Which) -> NDArray[Any]:
    """Columns of an array on disk, read in one span where they lie close together."""
    if isinstance(columns, slice):
        return np.asarray(array[:, columns])
    if not len(columns):
        return np.asarray(array[:, :0])
    low, high = int(columns.min()), int(columns.max()) + 1
    if high - low <= 4 * len(columns):
        return np.asarray(array[:, low:high])[:, columns - low]
    return np.column_stack([np.asarray(array[:, int(k)]) for k in columns])


def _from_csc(group: Any, columns: Indices, n_rows: int) -> NDArray[Any]:
    pointers = group["indptr"][:]
    out = np.zeros((n_rows, len(columns)), dtype=group["data"].dtype)
    for place, k in enumerate(columns):
        start, stop = int(pointers[k]), int(pointers[k + 1])
        np.add.at(out[:, place], group["indices"][start:stop], group["data"][start:stop])
    return out


def _from_csr(group: Any, columns: Indices, shape: tuple[int, int]) -> NDArray[Any]:
    """Go through the rows, a few million entries at a time, and keep the columns asked for."""
    pointers = group["indptr"][:]
    columns, back = np.unique(columns, return_inverse=True)  # one may be asked for twice
    place = np.full(shape[1], -1)
    place[columns] = np.arange(len(columns))
    out = np.zeros((shape[0], len(columns)), dtype=group["data"].dtype)
    for start in range(0, int(pointers[-1]), CHUNK):
        stop = min(start + CHUNK, int(pointers[-1]))
        where = place[group["indices"][start:stop]]
        wanted = np.flatnonzero(where >= 0)
        rows = np.searchsorted(pointers, start + wanted, side="right") - 1
        np.add.at(out, (rows, where[wanted]), group["data"][start:stop][wanted])
    return out[:, back]
