"""Keeps large matrices in files, of which only the rows that are worked on are in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..problems import Problem, full_disk, setting
from ..types import Indices
from .checkpoints import SCRATCH, current_checkpoints

MAX_BLOCK_VALUES = 2**22  # of rows that are multiplied at a time, with others or with one another,
MIN_BLOCK = 8  # which are no fewer than these
AT_ONCE = 2**26  # bytes read or written by one call

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class StoredRows:
    """A matrix in a file, row after row, that is indexed by rows as an array is.

    What an index asks for is read into a new array: files are not mapped, so that memory in use is
    known and bounded. It is small when pickled: workers read for themselves.

    Attributes
    ----------
    path
        The file.
    first
        The row of the file at which the matrix begins.
    shape, dtype
        As of an array.
    """

    path: Path
    first: int
    shape: tuple[int, int]
    dtype: np.dtype[Any]

    def __len__(self) -> int:
        """Number of rows."""
        return self.shape[0]

    def __getitem__(self, which: Any) -> Any:
        """Rows by a number, a slice or positions; with a second index some columns of them."""
        rows, columns = which if isinstance(which, tuple) else (which, slice(None))
        if not isinstance(columns, slice) and not isinstance(rows, slice):
            raise TypeError("positions of rows and of columns at once are not read from a file")
        places = np.arange(len(self))[rows]
        n = self.shape[1]
        part = isinstance(columns, slice) and columns.step in (None, 1)
        start, stop, _ = columns.indices(n) if isinstance(columns, slice) and part else (0, n, 1)
        wanted = np.atleast_1d(places)
        width = max(stop - start, 0)
        found = np.empty((len(wanted), width if part else len(np.arange(n)[columns])), self.dtype)
        with self._open("rb") as file:
            if part and width == n:
                for run in _runs(wanted):
                    self._move(file.readinto, file.seek, found[run], int(wanted[run.start]), 0)
            elif part:
                for k, row in enumerate(wanted.tolist()):
                    self._move(file.readinto, file.seek, found[k : k + 1], row, start)
            else:
                whole = np.empty((1, n), self.dtype)
                for k, row in enumerate(wanted.tolist()):
                    self._move(file.readinto, file.seek, whole, row, 0)
                    found[k] = whole[0, columns]
        return found if np.ndim(places) else found[0]

    def __setitem__(self, rows: slice | Indices, values: Array | float) -> None:
        """Write rows, given by a slice or by positions."""
        places = np.arange(len(self))[rows]
        held = np.broadcast_to(values, (len(places), self.shape[1]))
        held = np.ascontiguousarray(held, dtype=self.dtype)
        with full_disk(self.path, _elsewhere()), self._open("r+b") as file:
            for run in _runs(places):
                self._move(file.write, file.seek, held[run], int(places[run.start]), 0)

    def __iter__(self) -> Iterator[Array]:
        """Every row in turn."""
        return (row for block in row_blocks(self.shape) for row in self[block])

    def span(self, start: int, stop: int) -> StoredRows:
        """Rows `start` to `stop`, of which nothing is read yet."""
        return StoredRows(self.path, self.first + start, (stop - start, self.shape[1]), self.dtype)

    def _open(self, mode: str) -> Any:
        try:
            return self.path.open(mode, buffering=0)
        except FileNotFoundError:
            raise Problem(
                f"{self.path.parent}, where the scores of this run lie, is not there, or this "
                "worker does not see it.",
                cure=f"Let {setting('run_dir', ...)} name a folder that all workers see, or raise "
                f"{setting('max_memory')}.",
            ) from None

    def _move(
        self, move: Callable[[Any], int], seek: Callable[[int], int], held: Array, row: int, at: int
    ) -> None:
        """Read or write an array as it lies in memory, from one row and column on."""
        seek(((self.first + row) * self.shape[1] + at) * self.dtype.itemsize)
        view, done = memoryview(held.reshape(-1).view(np.uint8).data), 0
        while done < len(view):
            moved = move(view[done : done + AT_ONCE])
            if not moved:
                raise OSError(f"{self.path} ends too early. Has it changed?")
            done += moved


@dataclass(frozen=True, eq=False)
class RowsView:
    """Rows of another matrix that are chosen when they are read.

    Attributes
    ----------
    rows
        The other matrix.
    dtype
        Type of the rows that are asked for.
    which
        Positions of these; None for all of them.
    """

    rows: Any
    dtype: np.dtype[Any]
    which: Indices | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """As of an array."""
        return len(self), int(self.rows.shape[1])

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.rows) if self.which is None else len(self.which)

    def __getitem__(self, which: Any) -> Any:
        """Rows by a number, a slice or positions."""
        if isinstance(which, int | np.integer):
            return self[np.array([which])][0]
        places = which if self.which is None else self.which[which]
        return np.asarray(self.rows[places], self.dtype)


RowMatrix: TypeAlias = Any
"""A matrix whose rows are read by need: an array, or one of those above."""


def take_columns(rows: RowMatrix, which: Any) -> Array:
    """Some columns by position: of an array far faster than by an index, and row by row."""
    if isinstance(rows, np.ndarray):
        return np.asarray(np.take(rows, which, axis=1))
    return np.ascontiguousarray(rows[:, which])


@dataclass(frozen=True)
class Room:
    """Where large matrices of a piece of work are put: into memory, or into files of a folder."""

    folder: Path | None = None
    names: Iterator[int] = field(default_factory=lambda: iter(range(10**9)), repr=False)

    def rows(self, shape: tuple[int, int], dtype: Any) -> RowMatrix:
        """A matrix to be filled in."""
        if self.folder is None:
            return np.empty(shape, dtype)
        made = StoredRows(self._new_file(), 0, shape, np.dtype(dtype))
        with full_disk(made.path, _elsewhere()), made.path.open("wb") as file:
            file.truncate(shape[0] * shape[1] * made.dtype.itemsize)
        return made

    def gather(self, blocks: Iterable[Array]) -> RowMatrix:
        """Blocks of rows, one below the other."""
        if self.folder is None:
            return np.concatenate(list(blocks))
        path, n_rows, blocks = self._new_file(), 0, iter(blocks)
        first = next(blocks)
        with full_disk(path, _elsewhere()), path.open("wb") as file:
            for block in chain([first], blocks):
                block.tofile(file)
                n_rows += len(block)
        return StoredRows(path, 0, (n_rows, first.shape[1]), first.dtype)

    def _new_file(self) -> Path:
        assert self.folder is not None
        return self.folder / f"rows-{next(self.names)}"


IN_MEMORY = Room()


@contextmanager
def room_for(n_bytes: int, max_memory: int) -> Iterator[Room]:
    """Room for matrices of so many bytes: files where these would not fit in memory.

    The files lie in the folder of the run, or in that for temporary files, and are gone at the end,
    also after an error.
    """
    if n_bytes <= max_memory:
        yield IN_MEMORY
        return
    checkpoints = current_checkpoints()
    parent = gettempdir() if checkpoints is None else checkpoints.folder
    with TemporaryDirectory(prefix=SCRATCH, dir=parent) as folder:
        yield Room(Path(folder))


def row_blocks(shape: tuple[int, ...], most: int | None = None) -> list[slice]:
    """Rows that are worked on at a time, at most so many.

    They are as many whether they lie in memory or in a file.
    """
    width = max(MIN_BLOCK, MAX_BLOCK_VALUES // max(shape[1], 1))
    width = width if most is None else min(width, most)
    return [slice(start, start + width) for start in range(0, shape[0], width)]


def column_blocks(shape: tuple[int, ...]) -> list[slice]:
    """The same of columns."""
    return row_blocks(shape[::-1])


def span(rows: RowMatrix, start: int, stop: int | None = None) -> RowMatrix:
    """Rows `start` to `stop` of a matrix, or to its end; nothing is read or copied."""
    stop = len(rows) if stop is None else min(stop, len(rows))
    return rows.span(start, stop) if isinstance(rows, StoredRows) else rows[start:stop]


def inner_products(values: Array, rows: RowMatrix) -> Array:
    """Inner products of the rows of an array with those of another matrix."""
    parts = [values @ rows[block].T for block in row_blocks(rows.shape)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts or [values[:, :0]], axis=1)


def products_of_rows(rows: RowMatrix, which: Indices) -> Array:
    """Inner products of some rows with one another, in double precision."""
    total = np.zeros((len(which), len(which)))
    for block in column_blocks((len(which), rows.shape[1])):
        some = rows[which, block].astype(np.float64, copy=False)
        total += some @ some.T
    return total


def products_of_columns(rows: RowMatrix, which: Indices) -> Array:
    """Inner products of all columns of some rows with one another, in double precision."""
    total = np.zeros((rows.shape[1], rows.shape[1]))
    for block in row_blocks((len(which), rows.shape[1])):
        some = rows[which[block]].astype(np.float64, copy=False)
        total += some.T @ some
    return total


def _runs(places: Indices) -> Iterator[slice]:
    """Successive positions of rows that lie one after the other."""
    ends = np.flatnonzero(np.diff(places) != 1) + 1
    edges = [0, *ends.tolist(), len(places)]
    return (slice(a, b) for a, b in pairwise(edges) if b > a)


def _elsewhere() -> str:
    return "let TMPDIR name a folder with more"
