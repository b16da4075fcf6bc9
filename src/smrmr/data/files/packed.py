"""Unpacks what cannot be read where it lies: standard input, gzip and zip."""

import gzip
import shutil
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO
from zipfile import BadZipFile, ZipFile, ZipInfo

from ...problems import Problem, full_disk, message_of
from ..messages import quoted
from .limits import most_bytes
from .named_arrays import check_size

STANDARD_INPUT = "-"
GZIP = b"\x1f\x8b"
BYTES_AT_ONCE = 1 << 20
COMPANIONS = {".bed": (".bim", ".fam")}  # files that belong to one of this ending


def is_packed(path: Path) -> bool:
    """Whether a file is read from its unpacked copy."""
    return path.suffix.lower() in UNPACK


def standard_input(path: Path, format: str | None) -> AbstractContextManager[Path]:
    """The file itself, or for ``-`` a copy of standard input, for as long as it is read."""
    if str(path) != STANDARD_INPUT:
        return nullcontext(path)
    return _copied(lambda folder: _from_stdin(folder, format), "standard input")


def unpacked(path: Path) -> AbstractContextManager[Path]:
    """The file itself, or what is in a .gz or .zip file, for as long as it is read."""
    if not is_packed(path):
        return nullcontext(path)
    return _copied(lambda folder: UNPACK[path.suffix.lower()](path, folder), str(path))


@contextmanager
def _copied(make: Callable[[Path], Path], name: str) -> Iterator[Path]:
    """A copy in a folder that is removed; messages name the file that the user knows."""
    with TemporaryDirectory(prefix="smrmr-") as folder:
        try:
            with full_disk(folder, "unpack it yourself where there is room"):
                copy = make(Path(folder))
        except (EOFError, gzip.BadGzipFile, BadZipFile, zlib.error) as error:
            kind = "gzip" if name.lower().endswith(".gz") else "zip"
            raise ValueError(
                f"{name} is truncated or not {kind}: {error}. Copy it again."
            ) from None
        try:
            yield copy
        except ValueError as error:
            raise Problem(message_of(error).replace(str(copy), name)) from None


def _from_stdin(folder: Path, format: str | None) -> Path:
    stream = sys.stdin.buffer
    first = stream.read(len(GZIP))
    packed = ".gz" if first == GZIP and format is None else ""
    copy = folder / f"standard input.{format or 'csv'}{packed}"
    with copy.open("wb") as file:
        file.write(first)
        _copy(stream, file)
    return copy


def _from_gzip(path: Path, folder: Path) -> Path:
    """Unpack a file and those that belong to it."""
    copy = folder / path.with_suffix("").name
    _unzip(path, copy)
    for ending in COMPANIONS.get(copy.suffix.lower(), ()):
        plain = path.with_suffix("").with_suffix(ending)
        if plain.exists():
            shutil.copy(plain, copy.with_suffix(ending))
        elif plain.with_name(f"{plain.name}.gz").exists():
            _unzip(plain.with_name(f"{plain.name}.gz"), copy.with_suffix(ending))
    return copy


def _unzip(path: Path, copy: Path) -> None:
    with gzip.open(path, "rb") as packed, copy.open("wb") as file:
        _copy(packed, file)


def _copy(source: IO[bytes] | gzip.GzipFile, file: IO[bytes]) -> None:
    """Copy no more than may be read, however much a small archive says it holds."""
    n_bytes, most = 0, most_bytes()
    while chunk := source.read(BYTES_AT_ONCE):
        n_bytes += len(chunk)
        if n_bytes > most:
            raise MemoryError(f"it unpacks to more than {most / 1e9:g} GB")
        file.write(chunk)


def _from_zip(path: Path, folder: Path) -> Path:
    """Unpack the one table of an archive; several are listed."""
    with ZipFile(path) as archive:
        members = [member for member in archive.infolist() if not _is_clutter(member)]
        tables = _tables([member.filename for member in members])
        if len(tables) != 1:
            what = f"holds {len(tables)} files: {quoted(tables)}" if tables else "holds no file"
            raise ValueError(f"{path} {what}. One is needed: unpack it and name the file itself.")
        if outside := [name for name in tables if _leads_out(PurePosixPath(name))]:
            raise ValueError(
                f"{path} would be unpacked outside of its folder: it holds {quoted(outside)}. "
                "Unpack it yourself if you trust it, and name the file itself."
            )
        check_size(sum(member.file_size for member in members))
        for member in members:
            if member.flag_bits & 1:
                raise ValueError(f"{path} has a password. Unpack it and name the file itself.")
            archive.extract(member, folder)
    return folder / tables[0]


def _leads_out(name: PurePosixPath) -> bool:
    return name.is_absolute() or ".." in name.parts


def _is_clutter(member: ZipInfo) -> bool:
    """Folders, and what systems leave beside the files."""
    name = PurePosixPath(member.filename).name
    return member.is_dir() or name.startswith("._") or name == ".DS_Store"


def _tables(names: list[str]) -> list[str]:
    """Files of an archive that are tables: a zarr store is one, .bim and .fam belong to one."""
    stores = {str(parent) for name in names for parent in _stores_around(name)}
    inside = {name for name in names if any(_stores_around(name))}
    owned = {
        str(PurePosixPath(name).with_suffix(ending))
        for name in names
        for ending in COMPANIONS.get(PurePosixPath(name).suffix.lower(), ())
    }
    return sorted(stores | (set(names) - inside - owned))


def _stores_around(name: str) -> list[PurePosixPath]:
    return [parent for parent in PurePosixPath(name).parents if parent.suffix == ".zarr"]


UNPACK = {".gz": _from_gzip, ".zip": _from_zip}
