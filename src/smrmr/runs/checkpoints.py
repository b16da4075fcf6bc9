"""Keeps the finished blocks of a run in a directory, so that a killed run can go on."""

import io
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .files import replacing

logger = logging.getLogger(__name__)

ABOUT = "run.json"
COMMAND = "command.json"  # what started the run, if a command did
SCRATCH = ".smrmr-scores-"  # begins the names of folders that a run removes at its end
DIGEST = 32  # bytes of SHA-256 before the content of a block


@dataclass
class Checkpoints:
    """Blocks of one run: its stages are counted as they come, which is the same every time."""

    folder: Path
    stages: int = field(default=0, init=False)

    def next_stage(self) -> int:
        """Number of the stage that begins."""
        self.stages += 1
        return self.stages

    def holds(self, stage: int, block: int) -> bool:
        """Whether a block is there, whole or not."""
        return self._path(stage, block).exists()

    def load(self, stage: int, block: int) -> list[NDArray[Any]] | None:
        """The arrays of a block; None if it is not there or was damaged."""
        try:
            content = self._path(stage, block).read_bytes()
        except FileNotFoundError:
            return None
        digest, body = content[:DIGEST], content[DIGEST:]
        if sha256(body).digest() != digest:
            logger.warning("block %s is damaged and is computed again", self._path(stage, block))
            return None
        with np.load(io.BytesIO(body), allow_pickle=False) as arrays:
            return [arrays[f"arr_{i}"] for i in range(len(arrays.files))]

    def save(self, stage: int, block: int, arrays: list[NDArray[Any]]) -> None:
        """Write a block whole, with its checksum."""
        body = io.BytesIO()
        np.savez(body, *arrays)
        with replacing(self._path(stage, block)) as unfinished:
            unfinished.write_bytes(sha256(body.getvalue()).digest() + body.getvalue())

    def _path(self, stage: int, block: int) -> Path:
        return self.folder / f"stage-{stage:03}-block-{block:06}"


_current: ContextVar[Checkpoints | None] = ContextVar("checkpoints", default=None)


def current_checkpoints() -> Checkpoints | None:
    """Where the run that this code is part of keeps its blocks, if anywhere."""
    return _current.get()


@contextmanager
def checkpoints_in(folder: Path | None, about: Mapping[str, Any]) -> Iterator[None]:
    """Keep blocks of the work done inside in a folder, and take those already there.

    `about` says what the blocks depend on. A folder of another run is refused; what differs is
    named.
    """
    if folder is None:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    _check_same_run(folder, json.loads(json.dumps(about)))
    for left in folder.glob(f"{SCRATCH}*"):  # by a run that was killed
        rmtree(left, ignore_errors=True)
    token = _current.set(Checkpoints(folder))
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def without_checkpoints() -> Iterator[None]:
    """Keep nothing of the work done inside: it is part of one block, which is kept as a whole."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


def check_free(folder: Path) -> None:
    """Refuse a folder that holds anything but what a killed start may have left."""
    for path in folder.iterdir():
        if path.name != COMMAND and not path.name.startswith(".smrmr-"):
            raise ValueError(f"{folder} is not empty and holds no run. Name another directory.")


def _check_same_run(folder: Path, about: dict[str, Any]) -> None:
    path = folder / ABOUT
    if not path.exists():
        check_free(folder)
        with replacing(path) as unfinished:
            unfinished.write_text(json.dumps(about, indent=1), encoding="utf-8")
        return
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(f"{path} cannot be read. Name another directory.") from None
    names = [name for name in {**before, **about} if before.get(name) != about.get(name)]
    if names:
        changes = "; ".join(
            f"{name} was {before.get(name)!r} and is {about.get(name)!r}" for name in names[:3]
        )
        raise ValueError(
            f"{folder} holds another run: {changes}. Name another directory, or the same input "
            "and settings."
        )
