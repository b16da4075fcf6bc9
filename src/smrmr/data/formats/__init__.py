"""The formats of files, one module for each family; a new format is one more line of the table."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..messages import did_you_mean
from ..sources import names_of
from .delimited import CSV, TSV
from .format import Format, Table
from .genotypes import BED
from .matlab import MAT
from .numpy import NPY, NPZ
from .parquet import PARQUET
from .stores import HDF5, ZARR

__all__ = ["FORMATS", "Format", "Table", "format_of", "load", "read_in_blocks"]

FORMATS = (CSV, TSV, PARQUET, NPY, NPZ, MAT, HDF5, BED, ZARR)
MAX_BYTES_WHOLE = 500_000_000  # of the features as float64; larger ones are read in blocks


def format_of(path: Path, name: str | None = None) -> Format:
    """The format that `name` or else the extension of the file says."""
    ending = (name or path.name.removesuffix(".gz").rsplit(".", 1)[-1]).lower()
    for format in FORMATS:
        if ending in format.extensions:
            return format
    known = ", ".join(format.name for format in FORMATS)
    raise ValueError(f"{path}: the format {ending!r} is not known. Give --format one of {known}.")


def load(path: Path, name: str | None = None, **options: Any) -> Table:
    """Read a file that is there, with options that make sense for its format."""
    if not path.exists():
        beside = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        raise ValueError(f"there is no file {path}.{did_you_mean(path.name, beside)}")
    format = format_of(path, name)
    if path.is_dir() and not format.folder:
        raise ValueError(f"{path} is a folder. A file is needed.")
    for option, value in options.items():
        if value and option not in format.options:
            able = ", ".join(f".{other.name}" for other in FORMATS if option in other.options)
            raise ValueError(f"--{option} is for {able} files; {path.name} is {format.name}.")
    try:
        table = format.read(path, **{k: options[k] for k in format.options if k in options})
        return table if hasattr(table.features, "iloc") else _whole_if_small(table)
    except MemoryError as error:
        advice = f"Save X in a format that is read in blocks: {read_in_blocks()}."
        raise ValueError(f"{path} does not fit in memory: {error}. {advice}") from None
    except ImportError as error:
        raise ValueError(str(error)) from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None


def read_in_blocks() -> str:
    """Extensions of the formats that can be read by columns."""
    return ", ".join(f".{format.name}" for format in FORMATS if format.open is not None)


def _whole_if_small(table: Table) -> Table:
    """Read features by their source, unless they are many."""
    import pandas as pd

    source: Any = table.features
    n, p = source.shape
    if 8 * n * p > MAX_BYTES_WHOLE:
        return table
    values, gap = np.array(source.read(slice(None))), getattr(source, "gap", None)
    if gap is not None and (values == gap).any():
        values = np.where(values == gap, np.nan, values)
    features = pd.DataFrame(values, index=table.about.index, columns=names_of(source))
    return replace(table, features=features)
