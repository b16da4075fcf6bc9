"""Reads NumPy files: one array (.npy), by columns where it is large, or named arrays (.npz)."""

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ...types import pd
from ..sources import PickledByFields, Which, rows_and_columns
from .format import Format, Table, reading
from .named_arrays import check_size, table_of

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


@dataclass(frozen=True)
class NpyColumns(PickledByFields):
    """A matrix in a .npy file."""

    path: Path
    names: tuple[str, ...] | None = None

    @cached_property
    def _array(self) -> Any:
        return np.load(self.path, mmap_mode="r", allow_pickle=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return rows_and_columns(self._array.shape, self.path)

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns requested."""
        return np.asarray(self._array[:, columns])


def read_npy(path: Path) -> Table:
    """Read one array, samples in rows."""
    with reading(path, "a NumPy matrix"), path.open("rb") as file:
        _array_size(file, path.stat().st_size)
        source = NpyColumns(path.absolute())
        return Table(source, pd.DataFrame(index=range(source.shape[0])))


def read_npz(path: Path) -> Table:
    """Read arrays X and y, or a sparse matrix saved by scipy; too large ones are not unpacked."""
    with reading(path, "NumPy arrays"):
        with ZipFile(path) as archive:
            check_size(sum(_size_of(archive, member) for member in archive.infolist()))
        with np.load(path, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in arrays.files}
    if {"data", "indices", "indptr", "shape"} <= set(found):
        from scipy.sparse import load_npz

        found = {"X": load_npz(path)}
    return table_of(found, path)


def _size_of(archive: ZipFile, member: ZipInfo) -> int:
    with archive.open(member) as file:
        return _array_size(file, member.file_size) if member.filename.endswith(".npy") else 0


def _array_size(file: IO[bytes], n_bytes: int) -> int:
    """Bytes of the array in a .npy file; refuse a file that is shorter than its header says."""
    version = npy.read_magic(file)
    if version not in HEADERS:  # of structured arrays alone
        return n_bytes
    shape, _, dtype = HEADERS[version](file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are not read for safety. Save numbers.")
    size = math.prod(shape) * dtype.itemsize
    if size > n_bytes:
        found = f"its header promises {size:,} bytes and the file has {n_bytes:,}"
        raise ValueError(f"{found}. It is truncated: copy it again.")
    return size


NPY = Format(("npy",), read_npy, open=lambda path, key: NpyColumns(path))
NPZ = Format(("npz",), read_npz)
