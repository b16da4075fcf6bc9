"""Reads AnnData files: a matrix of cells by genes with what is known of the cells."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .table import Table, did_you_mean


def read_h5ad(path: Path, layer: str | None = None) -> Table:
    """Read X, a layer, or ``"raw"``; the target is a column of obs."""
    return from_anndata(open_anndata(path), path, layer)


def open_anndata(path: Path) -> Any:
    """Open a .h5ad file or a zarr store."""
    try:
        import anndata
    except ImportError:
        raise ValueError(
            "AnnData files need anndata. Install it: pip install smrmr[files]"
        ) from None
    read = anndata.read_zarr if path.is_dir() else anndata.read_h5ad
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks about files of older versions
        try:
            return read(path)
        except Exception as error:  # anndata and h5py raise many kinds for one reason
            raise ValueError(f"{path} cannot be read as AnnData: {error}") from None


def from_anndata(data: Any, path: Path, layer: str | None) -> Table:
    """Take the chosen matrix, and obs."""
    import pandas as pd

    source = data
    if layer == "raw":
        if data.raw is None:
            raise ValueError(f"{path} has no raw matrix. Leave out --layer to read X.")
        source, X = data.raw, data.raw.X
    elif layer is not None:
        if layer not in data.layers:
            raise ValueError(f"{path} has no layer {layer!r}.{did_you_mean(layer, data.layers)}")
        X = data.layers[layer]
    else:
        X = data.X
    if X is None:
        raise ValueError(f"{path} has no X. Name a layer with --layer.")
    values = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    features = pd.DataFrame(values, index=data.obs_names, columns=source.var_names.astype(str))
    return Table(features, data.obs)
