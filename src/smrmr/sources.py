"""Reads columns where they lie: what a source of columns must offer, and those that we know."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .types import Indices

Which: TypeAlias = "slice | Indices"
CHUNK = 4_000_000  # entries of a sparse matrix that are read at a time
BED_HEADER = bytes([0x6C, 0x1B, 0x01])
MISSING_GENOTYPE = -1
FOUR_GENOTYPES = (  # of every byte, the lowest two bits first
    np.array(
        [[(2, MISSING_GENOTYPE, 1, 0)[byte >> k & 3] for k in (0, 2, 4, 6)] for byte in range(256)],
        dtype=np.int8,
    )
    .view(np.uint32)
    .ravel()
)
HAS_GAP = (FOUR_GENOTYPES.view(np.int8).reshape(256, 4) == MISSING_GENOTYPE).any(axis=1)


@runtime_checkable
class ColumnSource(Protocol):
    """Columns that are read when they are needed, so that X need not fit in memory.

    A source is small when pickled: workers get it instead of the data, and read for themselves.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have any."""

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns asked for, as an array of all rows."""


@dataclass(frozen=True)
class Subset:
    """Some rows and columns of a source; None for all of them."""

    source: ColumnSource
    rows: Indices | None
    columns: Indices | None

    def __reduce__(self) -> Any:
        return Subset, (self.source, self.rows, self.columns)  # without the names

    def take(self, rows: Indices | None, columns: Indices | None) -> Subset:
        """Some rows and columns of these."""
        return Subset(self.source, _chosen(self.rows, rows), _chosen(self.columns, columns))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        n, p = self.source.shape
        return (
            n if self.rows is None else len(self.rows),
            p if self.columns is None else len(self.columns),
        )

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have any."""
        names = self.source.names
        if names is None or self.columns is None:
            return names
        return tuple(names[k] for k in self.columns)

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns asked for, on the chosen rows."""
        values = self.source.read(columns if self.columns is None else self.columns[columns])
        return values if self.rows is None else values[self.rows]


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
        return _two_sides(self._array.shape, self.path)

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
        import zarr

        found: Any = zarr.open(str(self.path), mode="r")
        return found if self.key is None else found[self.key]

    def __reduce__(self) -> Any:
        return ZarrColumns, (self.path, self.key, self.names)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return _two_sides(self._array.shape, self.path)

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
        import h5py

        with h5py.File(self.path, "r") as file:
            found = self._found(file)
            return _two_sides(found.attrs.get("shape", getattr(found, "shape", ())), self.path)

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns asked for."""
        import h5py

        with h5py.File(self.path, "r") as file:
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
class BedColumns:
    """Genotypes of a PLINK .bed file, counts 0, 1, 2 of the first allele as int8.

    `missing` is ``"refuse"``, or ``"impute-mode"``, which puts the commonest genotype of its SNP
    in the place of each missing one.
    """

    path: Path
    missing: str = "refuse"
    shape: tuple[int, int] = (0, 0)

    @classmethod
    def open(cls, path: Path, missing: str = "refuse") -> BedColumns:
        """Check the file against the .fam and .bim beside it."""
        n, p = (_count_lines(path.with_suffix(ending)) for ending in (".fam", ".bim"))
        with path.open("rb") as file:
            if file.read(3) != BED_HEADER:
                raise ValueError(f"{path} is not a PLINK .bed file with one SNP after the other.")
        found, wanted = path.stat().st_size, len(BED_HEADER) + p * -(-n // 4)
        if found != wanted:
            raise ValueError(
                f"{path} has {found:,} bytes; {n:,} samples of {p:,} SNPs take {wanted:,}. It is "
                "truncated, or the .fam or .bim beside it belongs to another file."
            )
        return cls(path, missing, (n, p))

    def __reduce__(self) -> Any:
        return BedColumns, (self.path, self.missing, self.shape)

    @cached_property
    def _packed(self) -> NDArray[np.uint8]:
        n, p = self.shape
        return np.memmap(self.path, np.uint8, "r", len(BED_HEADER), (p, -(-n // 4)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the SNPs."""
        with self.path.with_suffix(".bim").open(encoding="utf-8") as file:
            return tuple(line.split(maxsplit=2)[1] for line in file)

    def read(self, columns: Which) -> NDArray[Any]:
        """The SNPs asked for."""
        packed = self._packed[columns]
        values = FOUR_GENOTYPES[packed].view(np.int8)[:, : self.shape[0]]
        bad = np.flatnonzero(HAS_GAP[packed].any(axis=1))
        if bad.size:
            if self.missing != "impute-mode":
                self._refuse(np.arange(self.shape[1])[columns], bad)
            rows = values[bad]
            counts = np.stack([(rows == level).sum(axis=1) for level in (0, 1, 2)])
            mode = counts.argmax(axis=0)[:, None].astype(np.int8)
            values[bad] = np.where(rows == MISSING_GENOTYPE, mode, rows)
        return values.T

    def _refuse(self, columns: Indices, bad: Indices) -> None:
        where = columns[bad[0]]
        raise ValueError(
            f"{self.path} has missing genotypes in {len(bad)} of {len(columns)} SNPs read, first "
            f"{self.names[where]}. Use --missing impute-mode on the command line, or "
            "open_columns(path, missing='impute-mode')."
        )


@dataclass(frozen=True)
class DaskColumns:
    """A dask array; its blocks are computed where they are needed."""

    array: Any
    names: tuple[str, ...] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return _two_sides(self.array.shape, "the dask array")

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns asked for."""
        return np.asarray(self.array[:, columns].compute(scheduler="synchronous"))


def open_columns(
    path: str | Path, key: str | None = None, *, missing: str = "refuse"
) -> ColumnSource:
    """Open a file whose columns are read when they are needed.

    Parameters
    ----------
    path
        .npy, .h5ad, .h5 or .hdf5, .zarr, .bed.
    key
        Which matrix of an HDF5 file (``"X"`` if left out) or a zarr group.
    missing
        What to do about missing genotypes: ``"refuse"`` or ``"impute-mode"``, the commonest one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from smrmr import open_columns, relevance, simulate
    >>> data = simulate("1.a", n=100, p=20, random_state=0)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "X.npy"
    >>> np.save(path, data.X)
    >>> source = open_columns(path)
    >>> bool((relevance(source, data.y) == relevance(data.X, data.y)).all())
    True
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    ending = path.suffix.lower()
    if ending == ".npy":
        return NpyColumns(path)
    if ending in (".h5ad", ".h5", ".hdf5"):
        return HDF5Columns(path, key or "X")
    if ending == ".zarr":
        return ZarrColumns(path, key)
    if ending == ".bed":
        return BedColumns.open(path, missing)
    raise ValueError(f"{path} cannot be read by columns. Use .npy, .h5ad, .h5, .zarr or .bed.")


def as_source(X: Any) -> ColumnSource | None:
    """X as a source if it is one, or something that is read in parts; None for what is in memory.

    Memory maps, HDF5 data sets and zarr arrays are opened again by their path, which is small to
    send to workers.
    """
    if isinstance(X, ColumnSource):
        return X
    kind = type(X).__module__.split(".")[0]
    if kind == "dask" and hasattr(X, "compute") and hasattr(X, "shape"):
        return DaskColumns(X)
    if kind == "h5py" and hasattr(X, "shape"):
        return HDF5Columns(Path(X.file.filename), X.name)
    return None


def subset(source: ColumnSource, rows: Indices | None, columns: Indices | None) -> Subset:
    """Some rows and columns of a source."""
    whole = source if isinstance(source, Subset) else Subset(source, None, None)
    return whole.take(rows, columns)


def _chosen(before: Indices | None, now: Indices | None) -> Indices | None:
    if before is None or now is None:
        return now if before is None else before
    return before[now]


def _count_lines(path: Path) -> int:
    if not path.exists():
        raise FileNotFoundError(
            f"there is no file {path.name} beside the .bed file in {path.parent}."
        )
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def _two_sides(shape: Any, where: Any) -> tuple[int, int]:
    if len(shape) != 2:
        raise ValueError(f"{where} has shape {tuple(shape)}. Rows and columns are needed.")
    return int(shape[0]), int(shape[1])


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
        out[group["indices"][start:stop], place] = group["data"][start:stop]
    return out


def _from_csr(group: Any, columns: Indices, shape: tuple[int, int]) -> NDArray[Any]:
    """Go through the rows, a few million entries at a time, and keep the columns asked for."""
    pointers = group["indptr"][:]
    place = np.full(shape[1], -1)
    place[columns] = np.arange(len(columns))
    out = np.zeros((shape[0], len(columns)), dtype=group["data"].dtype)
    for start in range(0, int(pointers[-1]), CHUNK):
        stop = min(start + CHUNK, int(pointers[-1]))
        where = place[group["indices"][start:stop]]
        wanted = np.flatnonzero(where >= 0)
        rows = np.searchsorted(pointers, start + wanted, side="right") - 1
        out[rows, where[wanted]] = group["data"][start:stop][wanted]
    return out
