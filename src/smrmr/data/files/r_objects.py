"""Reads what R saves: .rds, .RData and .rda."""

from __future__ import annotations

import bz2
import gzip
import lzma
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...problems import Problem, setting
from ...types import pd
from ..messages import did_you_mean
from .format import Format, Table, import_needed, reading
from .grid import named_by_text
from .limits import most_bytes
from .named_arrays import FEATURES, check_size, table_of

OPENERS = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}  # by their first bytes
ADVICE = 'In R, save a table that can be read: write.csv(NAME, "table.csv")'


def read_r(path: Path, *, sheet: str | None = None, transpose: bool = False) -> Table:
    """Read a data.frame, a matrix, or a list with x and y; `sheet` names the object."""
    library = import_needed("rdata", "R files")
    with reading(path, "what R saves"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks about encodings, and classes that are unknown
        content = library.parser.parse_data(_unpacked(path))
        makers = {**library.conversion.DEFAULT_CLASS_MAP, "data.frame": _data_frame}
        found = library.conversion.convert(content, makers)
    several = isinstance(found, Mapping)  # an .rds holds one object
    objects = {str(name): thing for name, thing in (found if several else {"": found}).items()}
    table = _table(_chosen(objects, sheet, path), path)
    if not transpose:
        return table
    frame = named_by_text(table.features)
    return Table(frame, frame.iloc[:, :0])


def _unpacked(path: Path) -> bytes:
    """The bytes of a file that is usually compressed; no more than may be read."""
    with path.open("rb") as file:
        opener: Any = OPENERS.get(file.read(2), open)
    with opener(path, "rb") as file:
        content: bytes = file.read(most_bytes() + 1)
    check_size(len(content))
    return content


def _data_frame(columns: Any, attributes: Mapping[str, Any]) -> Any:
    """A data.frame as a DataFrame; a matrix in it gives a column for each of its own."""
    rows = attributes["row.names"]
    counted = len(rows) == 2 and np.ma.is_masked(rows)  # how R writes 1, 2, ..., n
    index = range(1, abs(int(rows[1])) + 1) if counted else [str(row) for row in rows]
    parts = []
    for name, values in columns.items():
        part = _frame(values)
        if part is None:
            raise ValueError(f"the column {name!r} is no vector and no matrix. {ADVICE}")
        single = np.ndim(values) == 1
        part.columns = [str(name)] if single else [f"{name}.{inner}" for inner in part]
        parts.append(part.set_axis(pd.Index(index)))
    return pd.concat(parts, axis=1) if parts else pd.DataFrame(index=index)


def _frame(thing: Any) -> pd.DataFrame | None:
    """What R calls a data.frame, a matrix or a vector as a DataFrame; None for anything else."""
    if isinstance(thing, pd.DataFrame):
        return thing
    if hasattr(thing, "dims") and thing.ndim == 2:  # a matrix with names
        rows, columns = (
            thing.coords[dim].values.astype(str) if dim in thing.coords else range(size)
            for dim, size in zip(thing.dims, thing.shape, strict=True)
        )
        named = columns if not isinstance(columns, range) else [f"x{k}" for k in columns]
        return pd.DataFrame(np.asarray(thing.values), index=rows, columns=named)
    if isinstance(thing, np.ma.MaskedArray):  # whole numbers or logicals, some of them NA
        thing = np.where(thing.mask, np.nan, thing.astype(np.float64))
    if isinstance(thing, np.ndarray) and thing.ndim == 2:
        return pd.DataFrame(thing, columns=[f"x{k}" for k in range(thing.shape[1])])
    if isinstance(thing, (np.ndarray, pd.Categorical, pd.Series)) and thing.ndim == 1:
        return pd.DataFrame({"x0": np.asarray(thing) if isinstance(thing, pd.Series) else thing})
    return None


def _chosen(objects: dict[str, Any], name: str | None, path: Path) -> Any:
    """The object requested, or the only one that is a table, or x with y."""
    if name is not None:
        if name not in objects:
            raise ValueError(f"{path} has no object {name!r}.{did_you_mean(name, objects)}")
        return objects[name]
    if any(key in objects for key in FEATURES):
        return objects
    tables = {key: thing for key, thing in objects.items() if _is_table(thing)}
    if len(tables) == 1:
        return next(iter(tables.values()))
    listed = ", ".join(f"{key} ({_kind_of(thing)})" for key, thing in objects.items())
    if not tables:
        raise ValueError(f"{path} holds no table: {listed or 'nothing'}. {ADVICE}")
    raise Problem(f"{path} holds {listed}.", cure=f"Choose one: {setting('sheet', ...)}.")


def _is_table(thing: Any) -> bool:
    if isinstance(thing, Mapping):
        return any(key in thing for key in FEATURES) or any(map(_is_table, thing.values()))
    frame = _frame(thing)
    return frame is not None and frame.shape[1] > 1


def _kind_of(thing: Any) -> str:
    frame = _frame(thing)
    if frame is not None:
        return f"{frame.shape[0]} x {frame.shape[1]}"
    return "a list" if isinstance(thing, (Mapping, list)) else f"a {type(thing).__name__}"


def _table(thing: Any, path: Path) -> Table:
    """A table of features, or features and what is known of the samples."""
    if isinstance(thing, Mapping):
        parts = {str(key): part for key, part in thing.items()}
        name = next((key for key in FEATURES if key in parts), None)
        if name is None:
            return _table(_chosen(parts, None, path), path)
        features = _frame(parts[name])
        if features is None:
            raise ValueError(f"{path}: {name!r} is no matrix. {ADVICE}")
        others = {key: np.asarray(part) for key, part in parts.items() if np.ndim(part) == 1}
        about = table_of({**others, name: features.to_numpy()}, path)
        known = about.about.set_axis(features.index)
        return Table(features, known, about.target)
    frame = _frame(thing)
    if frame is None:
        raise ValueError(f"{path} holds {_kind_of(thing)}, which is no table. {ADVICE}")
    return Table(frame, frame.iloc[:, :0])


RDS = Format(("rds", "rdata", "rda"), read_r, options=("transpose", "sheet"))
