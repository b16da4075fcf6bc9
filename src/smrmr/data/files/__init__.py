"""The formats of files, one module for each family; a new format is one more line of the table."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...problems import Problem, setting
from ...types import pd
from ..messages import did_you_mean
from ..number_texts import PLAIN, Marks, numbers_in_texts
from ..sources import names_of
from .delimited import CSV, TSV
from .excel import XLSX
from .format import APART, Format, Table
from .genotypes import BED
from .limits import fits_whole
from .matlab import MAT
from .named_arrays import check_size
from .numpy import NPY, NPZ
from .packed import is_packed, unpacked
from .parquet import PARQUET
from .r_objects import RDS
from .stores import HDF5, ZARR

__all__ = ["FORMATS", "Format", "Table", "format_of", "is_packed", "load", "read_in_blocks"]

FORMATS = (CSV, TSV, XLSX, PARQUET, NPY, NPZ, MAT, HDF5, BED, ZARR, RDS)
SAVE = "Open it where it was made and save it as .csv or .xlsx."
ADVICE = dict.fromkeys(("xls", "ods", "numbers", "sav", "dta", "sas7bdat", "doc", "docx"), SAVE)


def format_of(path: Path, name: str | None = None) -> Format:
    """The format that `name` or else the extension of the file says."""
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    ending = (name or plain.name.rsplit(".", 1)[-1]).lower().removeprefix(".")
    for format in FORMATS:
        if ending in format.extensions:
            return format
    known = ", ".join(format.name for format in FORMATS)
    advice = ADVICE.get(ending, f"Give {setting('format')} one of {known}.")
    unknown = f"the format {ending!r} is not known."
    if name is None and "." not in plain.name:
        unknown = "its name has no ending that says its format."
    raise Problem(f"{path}: {unknown}", cure=advice)


def load(
    path: Path,
    name: str | None = None,
    *,
    whole: bool = False,
    marks: Marks = PLAIN,
    **options: Any,
) -> Table:
    """Read a file that is there, with options that make sense for its format.

    Packed files are unpacked first and, like all that is requested `whole`, read into memory.
    """
    if path.is_symlink() and not path.exists():
        raise Problem(f"{path} is a link that leads to no file.", cure="Name the file itself.")
    if not path.exists():
        beside = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        raise Problem(f"there is no file {path}.{did_you_mean(path.name, beside)}")
    endings = [ending for format in FORMATS if format.folder for ending in format.extensions]
    if path.is_dir() and (name or path.suffix.removeprefix(".")).lower() not in endings:
        raise ValueError(f"{path} is a folder. A file is needed.")
    try:
        with unpacked(path) as plain:
            if whole or plain is not path:
                options.pop(APART, None)
            table = _read(plain, format_of(plain, name), options)
            if not hasattr(table.features, "iloc"):
                table = _in_memory(table, whole=whole or plain is not path)
    except MemoryError as error:
        raise Problem(
            f"{path} does not fit in memory: {error}.",
            cure=f"Raise {setting('max_memory')}, or save X in a format that is read in blocks: "
            f"{read_in_blocks(but=PARQUET)}.",
        ) from None
    except ImportError as error:
        raise ValueError(str(error)) from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None
    if plain is not path or not table.checksums:  # of the file, not of its unpacked copy
        table = replace(table, checksums={path.name: _checksum(path)})
    if not hasattr(table.features, "iloc") or options.get("transpose"):  # its types are by rows
        return table
    features, notes = numbers_in_texts(table.features, replace(marks, decimal=table.decimal))
    return replace(table, features=features, notes=table.notes + notes, changes=notes)


def _read(path: Path, format: Format, options: dict[str, Any]) -> Table:
    for option, value in options.items():
        if value and option not in (*format.options, APART):
            able = ", ".join(f".{other.name}" for other in FORMATS if option in other.options)
            files = f"is for {able} files; {path.name} is {format.name}."
            raise Problem(f"{setting(option)} {files}")
    return format.read(path, **{k: options[k] for k in format.options if k in options})


def read_in_blocks(but: Format | None = None) -> str:
    """Extensions of the formats that can be read by columns, but for one."""
    able = (format for format in FORMATS if format.open is not None and format is not but)
    return ", ".join(f".{format.name}" for format in able)


def _in_memory(table: Table, *, whole: bool) -> Table:
    """Read features by their source, unless they are many and may stay where they are."""
    source: Any = table.features
    n, p = source.shape
    if whole:
        check_size(8 * n * p)
    elif not fits_whole(n, p):
        return table
    values, gap = np.array(source.read(slice(None))), getattr(source, "gap", None)
    if gap is not None and (values == gap).any():
        values = np.where(values == gap, np.nan, values)
    features = pd.DataFrame(values, index=table.about.index, columns=names_of(source))
    return replace(table, features=features)


def _checksum(path: Path) -> str:
    """SHA-256 of a file, or of all files of a folder in order."""
    digest = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]:
        with file.open("rb") as stream:
            for chunk in iter(lambda: stream.read(1 << 20), b""):
                digest.update(chunk)
    return digest.hexdigest()
