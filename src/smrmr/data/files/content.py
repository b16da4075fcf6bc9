"""Tells from its first bytes what a file is that has the ending of another format."""

import codecs
from pathlib import Path

from ...problems import setting

HEAD = 4096  # bytes that are looked at
WEB_PAGE = "a web page or XML, such as one for logging in. Download the file itself"
OLD_EXCEL = "an Excel file that is old or locked by a password. Open it and save it as .xlsx or CSV"
TEXT = f"text. Use {setting('format', 'csv')}, or rename it to .csv"
READ_AS = (  # what has a reader of its own
    (
        b"PK\x03\x04",
        f"an Excel or zip file. Use {setting('format', 'xlsx')}, or rename it to .xlsx or .zip",
    ),
    (b"\x1f\x8b", "a gzip file. Rename it so that its name ends in .gz"),
    (b"\x89HDF", f"an HDF5 file. Use {setting('format', 'h5')}"),
    (b"PAR1", f"a Parquet file. Use {setting('format', 'parquet')}"),
)
NOT_READ = (
    (b"%PDF", "a PDF. Export its table as CSV"),
    (b"\xd0\xcf\x11\xe0", OLD_EXCEL),
    *((tag, WEB_PAGE) for tag in (b"<!doctype", b"<html", b"<?xml", b"<head", b"<table")),
    (b'{"', "JSON. Export its table as CSV"),
)


def content_of(start: bytes) -> str:
    """What a file with these first bytes is, and what to do about it; empty for text."""
    return _named(start, READ_AS + NOT_READ)


def not_what_it_is_called(path: Path) -> str:
    """What a file is that a reader of other files than text failed at; empty if unclear."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        start = file.read(HEAD)
    return _named(start, NOT_READ) or (TEXT if b"," in start and _is_text(start) else "")


def _named(start: bytes, known: tuple[tuple[bytes, str], ...]) -> str:
    start = start.removeprefix(codecs.BOM_UTF8).lstrip().lower()
    return next((kind for tag, kind in known if start.startswith(tag.lower())), "")


def _is_text(start: bytes) -> bool:
    """Whether these bytes can be read as text, of which the last character may be cut."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
    return b"\x00" not in start
