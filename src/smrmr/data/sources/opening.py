"""Opens the source for a file, or for an object that is read in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from .arrays import DaskColumns, HDF5Columns, NpyColumns, ZarrColumns
from .filled import Filled
from .genotypes import MISSING_GENOTYPE, BedColumns
from .protocol import ColumnSource


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
    path = Path(path).absolute()  # workers may start elsewhere
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}.")
    ending = path.suffix.lower()
    if missing not in ("refuse", "impute-mode") or (missing != "refuse" and ending != ".bed"):
        raise ValueError(
            f"missing={missing!r} is not possible for {path.name}. Use 'refuse', or for a .bed "
            "file 'impute-mode'."
        )
    if ending == ".npy":
        return NpyColumns(path)
    if ending in (".h5ad", ".h5", ".hdf5"):
        return HDF5Columns(path, key or "X")
    if ending == ".zarr":
        return ZarrColumns(path, key)
    if ending == ".bed":
        if missing == "refuse":
            return BedColumns.open(path)
        return Filled(BedColumns.open(path, keep_gaps=True), "mode", MISSING_GENOTYPE)
    raise ValueError(f"{path} cannot be read by columns. Use .npy, .h5ad, .h5, .zarr or .bed.")


def as_source(X: Any) -> ColumnSource | None:
    """X as a source if it is one, or something that is read in parts; None for what is in memory.

    HDF5 data sets are opened again by their path, which is small to send to workers.
    """
    # not by isinstance, which would ask for the names: a million of them take seconds to read
    if callable(getattr(X, "read", None)) and hasattr(X, "shape"):
        return cast(ColumnSource, X)
    kind = type(X).__module__.split(".")[0]
    if kind == "dask" and hasattr(X, "compute") and hasattr(X, "shape"):
        return DaskColumns(X)
    if kind == "h5py" and hasattr(X, "shape"):
        return HDF5Columns(Path(X.file.filename).absolute(), X.name)
    return None
