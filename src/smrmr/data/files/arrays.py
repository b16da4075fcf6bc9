"""Reads arrays: NPY, NPZ, MAT and zarr."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from .table import Table, did_you_mean

TARGETS = ("y", "Y", "target", "labels", "label")
NAMES = ("feature_names", "names", "features", "columns")


def read_npy(path: Path) -> Table:
    """Read one array, samples in rows."""
    _check_magic(path, b"\x93NUMPY")
    try:
        found = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(_unreadable(path, error)) from None
    return from_arrays({"X": found}, path)


def read_npz(path: Path) -> Table:
    """Read arrays X and y, or a sparse matrix saved by scipy."""
    _check_magic(path, b"PK")
    try:
        with np.load(path, allow_pickle=False) as archive:
            found = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, KeyError, BadZipFile) as error:
        raise ValueError(_unreadable(path, error)) from None
    if {"data", "indices", "indptr", "shape"} <= set(found):
        from scipy.sparse import load_npz

        return from_arrays({"X": load_npz(path).toarray()}, path)
    return from_arrays(found, path)


def read_mat(path: Path) -> Table:
    """Read a MATLAB file with X and Y."""
    from scipy.io import loadmat

    try:
        found = loadmat(path)
    except NotImplementedError:
        raise ValueError(
            f"{path} is a MATLAB 7.3 file. Save it with the option '-v7', or as .npz."
        ) from None
    except Exception as error:  # scipy raises many kinds for one reason
        raise ValueError(f"{path} cannot be read as a MATLAB file: {error}") from None
    return from_arrays({k: v for k, v in found.items() if not k.startswith("__")}, path)


def read_zarr(path: Path) -> Table:
    """Read a zarr array, a group with X and y, or an AnnData store."""
    try:
        import zarr
    except ImportError:
        raise ValueError("zarr stores need zarr. Install it: pip install smrmr[files]") from None
    try:
        store: Any = zarr.open(str(path), mode="r")
    except Exception as error:  # zarr raises many kinds for one reason
        raise ValueError(f"{path} cannot be read as zarr: {error}") from None
    if not hasattr(store, "keys"):
        return from_arrays({"X": np.asarray(store[:])}, path)
    if store.attrs.get("encoding-type") == "anndata":
        from .annotated import from_anndata, open_anndata

        return from_anndata(open_anndata(path), path, None)
    return from_arrays({name: np.asarray(store[name][:]) for name in store.array_keys()}, path)


def from_arrays(found: dict[str, Any], path: Path) -> Table:
    """Take X, the target and the names out of named arrays."""
    import pandas as pd

    name = next((k for k in ("X", "x", "data", "features") if k in found), None)
    if name is None:
        raise ValueError(f"{path} has no array 'X'.{did_you_mean('X', found)}")
    X = found[name].toarray() if hasattr(found[name], "toarray") else np.asarray(found[name])
    if X.ndim != 2 or X.size == 0:
        raise ValueError(f"{path}: {name} has shape {X.shape}. Rows and columns are needed.")
    labels = next((found[k] for k in NAMES if k in found and k != name), None)
    names = [f"x{k}" for k in range(X.shape[1])]
    if labels is not None and np.size(labels) == X.shape[1]:
        names = [str(label) for label in np.ravel(labels)]
    about = {
        key: np.ravel(value)
        for key, value in found.items()
        if key != name and not hasattr(value, "toarray") and np.size(value) == len(X)
    }
    wrong = next((k for k in TARGETS if k in found and k not in about and k not in NAMES), None)
    if wrong is not None and np.ndim(found[wrong]) <= 2 and np.shape(found[wrong])[:1] != (len(X),):
        raise ValueError(
            f"{path}: {name} has {len(X)} rows and {wrong} has {np.size(found[wrong])} values. "
            "One value a row is needed."
        )
    target = next((k for k in TARGETS if k in about), None)
    return Table(pd.DataFrame(X, columns=names), pd.DataFrame(about), target)


def _check_magic(path: Path, start: bytes) -> None:
    with path.open("rb") as file:
        if not file.read(len(start)) == start:
            raise ValueError(f"{path} cannot be read: it is not a NumPy file.")


def _unreadable(path: Path, error: Exception) -> str:
    if "pickle" in str(error):
        return f"{path} holds Python objects, which are not read for safety. Save plain arrays."
    return f"{path} cannot be read: {error}"
