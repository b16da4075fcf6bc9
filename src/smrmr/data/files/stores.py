"""Reads stores of arrays, HDF5 and zarr, and AnnData in either of them; by columns where large."""

import warnings
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...problems import Problem, setting
from ...types import Indices, pd
from ..messages import did_you_mean, named, quoted
from ..sources import PickledByFields, Which, rows_and_columns
from .format import Format, Table, import_needed, reading
from .named_arrays import table_of

ENTRIES_AT_ONCE = 4_000_000  # of a sparse matrix stored by rows, which is read through


def hdf5(path: Path) -> Any:
    """Open an HDF5 file, for as long as it is read."""
    with reading(path, "AnnData or other HDF5"):
        return import_needed("h5py", "HDF5 files").File(path, "r")


def zarr(path: Path) -> Any:
    """Open a zarr store, which need not be closed."""
    with reading(path, "zarr"):
        return nullcontext(import_needed("zarr", "zarr stores").open(str(path), mode="r"))


Store: TypeAlias = Callable[[Path], Any]


@dataclass(frozen=True)
class StoredColumns(PickledByFields):
    """A matrix in an HDF5 file or zarr store: an array, or a sparse matrix as AnnData writes it.

    Sparse columns are dense once read. A matrix stored by rows (CSR) is read through for every
    block of columns; stored by columns (CSC) only the block itself is read.
    """

    path: Path
    key: str | None = None
    names: tuple[str, ...] | None = None
    store: Store = hdf5

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        with self.store(self.path) as root:
            matrix = self._matrix(root)
            shape = matrix.attrs.get("shape", getattr(matrix, "shape", ()))
            return rows_and_columns(shape, self.path)

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns requested."""
        with self.store(self.path) as root:
            matrix = self._matrix(root)
            if hasattr(matrix, "shape"):
                return _from_array(matrix, columns)
            order = np.arange(self.shape[1])[columns]
            if matrix.attrs.get("encoding-type") == "csc_matrix":
                return _from_csc(matrix, order, self.shape[0])
            return _from_csr(matrix, order, self.shape)

    def _matrix(self, root: Any) -> Any:
        if hasattr(root, "shape"):  # the store is one array
            return root
        key = self.key or "X"
        if key not in root:
            raise ValueError(f"{self.path} has no {key!r}. It holds {named(root)}.")
        return root[key]


def read_store(path: Path, layer: str | None = None, *, store: Store) -> Table:
    """Read an array, a group with X and y, AnnData or MuData; X is left where it lies.

    Of AnnData X, a layer or ``"raw"`` are the features, and the target is a column of obs. Of
    MuData the layer begins with the modality: ``"rna"``, ``"rna/counts"``.
    """
    with store(path) as root:
        if hasattr(root, "shape"):
            root = {"X": root}
        elif "mod" in root and "obs" in root:
            return _read_mudata(root, path, layer, store)
        elif "obs" in root and "var" in root:
            return _read_anndata(root, path, layer, store)
        if layer is not None:
            raise Problem(f"{setting('layer')} is for AnnData; {path.name} holds {named(root)}.")
        arrays = {name: root[name] for name in root if hasattr(root[name], "shape")}
        return table_of(arrays, path, partial(StoredColumns, path.absolute(), store=store))


def _read_mudata(root: Any, path: Path, layer: str | None, store: Store) -> Table:
    """Read one modality, and what all of them know of its samples together."""
    names, inside = list(root["mod"]), root["mod"]
    name, _, inner = (layer or "").partition("/")
    if not name and len(names) == 1:
        name = names[0]
    if name not in inside:
        missing = f" has no modality {name!r}" if name else f" holds modalities {quoted(names)}"
        cure = f"Name one, such as {setting('layer', names[0])}" if names else "It holds none"
        close = did_you_mean(name, names) if name else ""
        raise Problem(f"{path}{missing}.{close}", cure=f"{cure}.")
    table = _read_anndata(inside[name], path, inner or None, store, f"mod/{name}/")
    library = import_needed("anndata.io", "MuData files")
    with reading(path, "MuData"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_all = library.read_elem(root["obs"])
    new = [column for column in of_all if column not in table.about]
    of_all = of_all.loc[~of_all.index.duplicated(), new]
    return replace(table, about=table.about.join(of_all))


def _read_anndata(
    root: Any, path: Path, layer: str | None, store: Store, folder: str = ""
) -> Table:
    library = import_needed("anndata.io", "AnnData files")
    if not folder and root["obs"].attrs.get("encoding-type") != "dataframe":
        return _read_old_anndata(library, path, layer)
    place = {None: "X", "raw": "raw/X"}.get(layer, f"layers/{layer}")
    if place not in root:
        raise _no_matrix(path, layer, root.get("layers", ()))
    with reading(path, "AnnData"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks about files of older versions
        about = library.read_elem(root["obs"])
        known = library.read_elem(root["raw/var" if layer == "raw" else "var"])
    names = tuple(map(str, known.index))
    source = StoredColumns(path.absolute(), f"{folder}{place}", names, store)
    return Table(source, about, about_features=known.set_axis(list(names)))


def _read_old_anndata(library: Any, path: Path, layer: str | None) -> Table:
    """Read the whole of a file in the layout of AnnData before version 0.7."""
    with reading(path, "AnnData"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = (library.read_zarr if path.is_dir() else library.read_h5ad)(path)
    source = data.raw if layer == "raw" else data
    X = getattr(source, "X", None) if layer in (None, "raw") else data.layers.get(layer)
    if X is None:
        raise _no_matrix(path, layer, data.layers)
    values = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    names = source.var_names.astype(str)
    features = pd.DataFrame(values, index=data.obs_names, columns=names)
    return Table(features, data.obs, about_features=source.var.set_axis(names))


def _no_matrix(path: Path, layer: str | None, layers: Iterable[str]) -> Problem:
    what = {None: "X", "raw": "raw matrix"}.get(layer, f"layer {layer!r}")
    instead = "a layer" if layer is None else "another, or none for X,"
    cure = f"Name {instead} by {setting('layer')}."
    return Problem(f"{path} has no {what}.", cure=cure + did_you_mean(layer or "", layers))


def _from_array(array: Any, columns: Which) -> NDArray[Any]:
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
    """Go through the rows, a few million entries at a time, and keep the columns requested."""
    pointers = group["indptr"][:]
    columns, back = np.unique(columns, return_inverse=True)  # one may be requested twice
    place = np.full(shape[1], -1)
    place[columns] = np.arange(len(columns))
    out = np.zeros((shape[0], len(columns)), dtype=group["data"].dtype)
    for start in range(0, int(pointers[-1]), ENTRIES_AT_ONCE):
        stop = min(start + ENTRIES_AT_ONCE, int(pointers[-1]))
        where = place[group["indices"][start:stop]]
        wanted = np.flatnonzero(where >= 0)
        rows = np.searchsorted(pointers, start + wanted, side="right") - 1
        np.add.at(out, (rows, where[wanted]), group["data"][start:stop][wanted])
    return out[:, back]


def _format(store: Store, *extensions: str, folder: bool = False) -> Format:
    read, columns = partial(read_store, store=store), partial(StoredColumns, store=store)
    return Format(extensions, read, options=("layer",), open=columns, folder=folder)


HDF5 = _format(hdf5, "h5ad", "h5", "hdf5", "h5mu")
ZARR = _format(zarr, "zarr", folder=True)
