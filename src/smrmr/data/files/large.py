"""Opens files that are too large to read whole: samples as a table, features as a source."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...types import Indices
from ..sources import ColumnSource, subset
from ..sources.arrays import HDF5Columns, NpyColumns, ZarrColumns
from ..sources.filled import Filled
from ..sources.genotypes import MISSING_GENOTYPE, BedColumns
from .arrays import NAMES, TARGETS
from .genotypes import read_people
from .table import Table

LARGE = 500_000_000  # bytes of the matrix as float64
ROW = "row of the file"  # stands for all features of a sample until they are read


def open_large(path: Path, kind: str, layer: str | None) -> tuple[Table, ColumnSource] | None:
    """Samples by their row numbers and the source of their features; None if the file is small.

    The only column of ``features`` is the row number, so that joining and leaving out samples
    works as with features in memory.
    """
    opened = OPENERS[kind](path.absolute(), layer) if kind in OPENERS else None
    if opened is None:
        return None
    about, source = opened
    n, p = source.shape
    if 8 * n * p <= LARGE:
        return None
    import pandas as pd

    rows = pd.DataFrame({ROW: np.arange(n)}, index=about.index)
    target = "phenotype" if "phenotype" in about and about["phenotype"].notna().any() else None
    note = f"{n:,} x {p:,} values are read in blocks, not all at once"
    return Table(rows, about, target or _target(about), [note]), source


def _target(about: Any) -> str | None:
    return next((name for name in TARGETS if name in about), None)


def chosen_part(
    source: ColumnSource, rows: Indices, columns: Indices | None, missing: str
) -> ColumnSource:
    """Rows and columns of a source, their gaps filled by what is known of these rows."""
    if missing == "refuse":
        return subset(source, rows, columns)
    if isinstance(source, BedColumns):
        if missing != "impute-mode":
            raise ValueError(
                f"--missing {missing} would need all genotypes in memory. This file is read in "
                "blocks: use --missing impute-mode."
            )
        kept = replace(source, keep_gaps=True)
        return Filled(subset(kept, rows, columns), "mode", MISSING_GENOTYPE)
    if not missing.startswith("impute-"):
        raise ValueError(
            f"--missing {missing} would need the whole file in memory. This file is read in "
            "blocks: use --missing impute-median, impute-mean or impute-mode."
        )
    return Filled(subset(source, rows, columns), missing.removeprefix("impute-"))


def _open_bed(path: Path, layer: str | None) -> tuple[Any, ColumnSource]:
    return read_people(path), BedColumns.open(path)


def _open_npy(path: Path, layer: str | None) -> tuple[Any, ColumnSource] | None:
    import pandas as pd

    try:
        source = NpyColumns(path)
        n, _ = source.shape
    except (ValueError, OSError, EOFError):
        return None  # the plain reader says what is wrong
    return pd.DataFrame(index=range(n)), source


def _open_h5ad(path: Path, layer: str | None) -> tuple[Any, ColumnSource] | None:
    key = {None: "X", "raw": "raw/X"}.get(layer, f"layers/{layer}")
    try:
        import anndata

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks about files of older versions
            data = anndata.read_h5ad(path, backed="r")
        names = (data.raw if layer == "raw" else data).var_names
        source = HDF5Columns(path, key, tuple(map(str, names)))
        source.shape  # noqa: B018 to see whether it is there
        obs = data.obs
        data.file.close()
    except Exception:  # the plain reader says what is wrong
        return None
    return obs, source


def _open_zarr(path: Path, layer: str | None) -> tuple[Any, ColumnSource] | None:
    import pandas as pd

    try:
        import zarr

        store: Any = zarr.open(str(path), mode="r")
        if not hasattr(store, "keys"):
            source = ZarrColumns(path)
            return pd.DataFrame(index=range(source.shape[0])), source
        if "X" not in store or not hasattr(store["X"], "shape"):
            return None
        if store.attrs.get("encoding-type") == "anndata":
            return None
        n, p = store["X"].shape
        labels = next((store[k][:] for k in NAMES if k in store and store[k].size == p), None)
        names = None if labels is None else tuple(map(str, labels))
        source = ZarrColumns(path, "X", names)
        about = {
            name: np.ravel(store[name][:])
            for name in store.array_keys()
            if name != "X" and int(np.prod(store[name].shape)) == n
        }
    except Exception:  # the plain reader says what is wrong
        return None
    return pd.DataFrame(about, index=range(n)), source


OPENERS = {"bed": _open_bed, "npy": _open_npy, "h5ad": _open_h5ad, "zarr": _open_zarr}
