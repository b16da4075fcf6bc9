"""Finds public files in the user's folder or the cache, else downloads them; checks them all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from smrmr.runs.files import replacing
from smrmr.types import Progress

FOLDER = "SMRMR_DATA"  # the environment variable that names the user's own folder
CHUNK = 1 << 16
PATIENCE = 60  # seconds without a byte


@dataclass(frozen=True)
class File:
    """A public file: where it is, and the SHA-256 of the original where it is known."""

    name: str
    url: str = ""
    sha256: str | None = None


def find(forms: Sequence[File]) -> tuple[Path, File] | None:
    """The first of several forms of a file that is there, without the network."""
    found = ((path, form) for form in forms for path in sorted(_folder().rglob(form.name)))
    return next(((path, form) for path, form in found if path.is_file()), None)


def fetch(forms: Sequence[File], progress: Progress | None = None) -> Path:
    """The path of a file in one of several forms; downloaded if it is nowhere.

    With SMRMR_DATA set, files are looked for below that folder and nothing is downloaded. Every
    file is checked against its pinned SHA-256, or else against that of the first download, which
    is kept beside it.
    """
    if found := find(forms):
        path, form = found
        _check(path, form, path)
        return path
    names = " or ".join(form.name for form in forms)
    if given := os.environ.get(FOLDER):
        raise FileNotFoundError(
            f"there is no {names} below {FOLDER}={given}. Put it there, or unset {FOLDER} to "
            "download it."
        )
    if not any(form.url for form in forms):
        raise FileNotFoundError(
            f"{names} has no address to be downloaded from. Put it into a folder and name that in "
            f"{FOLDER}."
        )
    form = next(form for form in forms if form.url)
    path = _folder() / form.name
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as unfinished:
        _download(form, unfinished, progress)
        checksum = _check(unfinished, form, path)
        if form.sha256 is None:
            _record(path).write_text(checksum, encoding="ascii")
    return path


def _folder() -> Path:
    """The user's own folder if there is one, else the cache."""
    if given := os.environ.get(FOLDER):
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "smrmr"


def _record(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _check(content: Path, form: File, path: Path) -> str:
    """The SHA-256 of what is, or is to become, `path`; an error if it is not the right one."""
    found = sha256(content.read_bytes()).hexdigest()
    record = _record(path)
    recorded = record.read_text(encoding="ascii").strip() if record.is_file() else None
    expected = form.sha256 or recorded or found
    if found == expected:
        return found
    origin = "of the original" if form.sha256 else f"of the first download, in {record.name}"
    advice = (
        f"It was changed or damaged: delete it to download it from {form.url or 'its source'}."
        if content == path
        else f"The download was damaged, or {form.url} holds another file now: try again, or put "
        f"the original into a folder and name that in {FOLDER}."
    )
    if not form.sha256:
        advice += f" Delete {record} too if you trust the new file."
    raise ValueError(f"{path} has SHA-256 {found}; expected {expected} ({origin}). {advice}")


def _download(form: File, path: Path, progress: Progress | None) -> None:
    done = 0
    try:
        with urlopen(form.url, timeout=PATIENCE) as response, path.open("wb") as file:
            total = int(response.headers.get("Content-Length") or 0)
            while chunk := response.read(CHUNK):
                file.write(chunk)
                done += len(chunk)
                if progress:
                    progress(f"download {form.name}", done, total or done + 1)
        if done < total:  # urllib takes a connection that ends early for the end of the file
            raise OSError(f"it ended after {done:,} of {total:,} bytes")
    except (OSError, HTTPException) as error:
        raise OSError(
            f"{form.url} could not be downloaded: {error}. Try again later, or put {form.name} "
            f"into a folder and name that in {FOLDER}."
        ) from error
