"""Keeps tables and runs as folders, each with what is known of it as JSON."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

from ..data.files import format_of, is_packed
from ..runs.files import replacing

ABOUT = "about.json"
IDENTITY = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")
LONGEST_NAME = 100  # letters of a file name
BESIDE = (".bim", ".fam")  # that belong to a .bed


class NotThere(LookupError):  # noqa: N818 it says what is wrong
    """There is no such table, run or file."""


class Entry:
    """A folder of one table or run, with a file that says what is known of it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def id(self) -> str:
        """Its name, by which addresses of the page go."""
        return self.path.name

    @property
    def about(self) -> dict[str, Any]:
        """What is known of it."""
        try:
            about: dict[str, Any] = json.loads((self.path / ABOUT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise NotThere(self.id) from None
        return about

    def update(self, **changes: Any) -> None:
        """Change some of what is known, on disk too."""
        about = {**(self.about if (self.path / ABOUT).exists() else {}), **changes}
        with replacing(self.path / ABOUT) as unfinished:
            unfinished.write_text(json.dumps(about, indent=1), encoding="utf-8")

    def delete(self) -> None:
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.path)


class Entries:
    """All tables, or all runs: folders in a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True, mode=0o700)

    def new(self, **about: Any) -> Entry:
        """A new entry."""
        now = datetime.now().astimezone()
        entry = Entry(self.path / f"{now:%Y%m%d-%H%M%S}-{token_hex(3)}")
        entry.path.mkdir(mode=0o700)
        entry.update(created=now.isoformat(timespec="seconds"), **about)
        return entry

    def get(self, identity: str) -> Entry:
        """The entry of this name, which never leads out of the folder."""
        if not IDENTITY.fullmatch(identity) or not (self.path / identity / ABOUT).is_file():
            raise NotThere(identity)
        return Entry(self.path / identity)

    def __iter__(self) -> Iterator[Entry]:
        names = sorted((p.name for p in self.path.iterdir()), reverse=True)
        return (self.get(n) for n in names if (self.path / n / ABOUT).is_file())


def safe_name(name: str) -> str:
    """A name for an uploaded file: without folders, and one that every disk can keep.

    >>> safe_name("../../etc/my table (2).csv"), safe_name("C:/x/gènes?.h5ad"), safe_name("..")
    ('my table (2).csv', 'gènes_.h5ad', 'table')
    """
    plain = re.split(r"[/\\]", name)[-1]
    plain = re.sub(r"[^\w .()+=-]", "_", plain).strip(" .")
    if len(plain) > LONGEST_NAME:
        stem, dot, ending = plain.partition(".")
        plain = f"{stem[: LONGEST_NAME // 2]}{dot}{ending[-LONGEST_NAME // 2 :]}"
    return plain or "table"


def check_format(name: str) -> None:
    """Refuse a file that cannot be read, by its name, before it is sent."""
    path = Path(name)
    if path.suffix.lower() not in BESIDE and not is_packed(path):
        format_of(path)


def files_of(table: Entry) -> list[Path]:
    """The files of a table that may hold features: the largest first."""
    found = [p for p in (table.path / "files").iterdir() if p.suffix.lower() not in BESIDE]
    return sorted(found, key=lambda path: (-path.stat().st_size, path.name))


def size_of(entry: Entry) -> int:
    """Bytes of all files of an entry."""
    return sum(path.stat().st_size for path in entry.path.rglob("*") if path.is_file())
