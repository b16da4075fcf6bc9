"""Runs a measure over blocks of columns, with the jobs and the memory that the user allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, is_dataclass, replace
from functools import cached_property
from itertools import chain, product
from tempfile import TemporaryFile
from threading import Lock
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from ..data.columns import Columns
from ..data.target import Target, check_same_rows
from ..measures.protocol import ONCE, Measure, Part, Use
from ..runs.blocks import one_blas_thread, open_pool, run_blocks
from ..runs.work import Work
from ..types import Matrix, Vector

FEW_PARTNERS = 16  # expected of features that are asked for one at a time
LONGEST_SPAN = 4096  # columns of one task of a pass over all of them: some 20 ms of work
SPANS = 64  # tasks, at least, for workers to share


@dataclass
class Associator:
    """Associations of columns by a measure, worked out block by block.

    With `keep`, prepared columns are kept between calls where the memory budget allows it.
    """

    columns: Columns
    measure: Measure
    work: Work = field(default_factory=Work)
    keep: bool = False

    def with_target(self, target: Target) -> Vector:
        """Association of every feature with the target."""
        check_same_rows(self.columns, target)
        with open_pool(self.work.n_jobs) as pool:
            response = self.measure.prepare_target(target)
            if self.keep:
                return self._against(response, self._kept_tiles, pool)
            return self._pass_over(response, self._width(self.measure.tile(target), ONCE), pool)

    def with_feature(self, k: int) -> Vector:
        """Association of every feature with feature `k`."""
        with open_pool(self.work.n_jobs) as pool:
            feature = self._prepared(k)
            return self._against(feature, self._kept_tiles, pool)

    def with_each_other(self) -> Matrix:
        """Association of every pair of features."""
        n_columns = self.columns.n_columns
        out = _square(n_columns, self.work.max_memory)
        width = self.measure.tile(None)
        tiles = self._tiles(width, Use(n_columns, width))
        done, total = 0, len(tiles) * (len(tiles) + 1) // 2
        with open_pool(self.work.n_jobs) as pool:
            for pairs in self._shelf_pairs(tiles):
                tasks = [delayed(_redundancy)(a, b) for a, b in pairs]
                for arrays in run_blocks(pool, tasks):
                    for rows, others, values in zip(*[iter(arrays)] * 3, strict=True):
                        out[np.ix_(rows, others)] = values
                        out[np.ix_(others, rows)] = values.T
                    done += 1
                    self.work.report("redundancy", done, total)
        diagonal = np.einsum("kk->k", out)
        diagonal[diagonal > 0] = 1.0
        return out

    def _pass_over(self, response: Part, width: int, pool: Any) -> Vector:
        """Meet every column once: spans of columns are read at once, and worked on tile by tile."""
        n, p = self.columns.n_rows, self.columns.n_columns
        span = max(
            width, min(p // SPANS, LONGEST_SPAN, self.work.max_memory // (64 * n)) // width * width
        )
        starts = range(0, p, span)
        tasks = [
            delayed(_relevance_of_span)(
                self.measure, self.columns.span(start, start + span), width, response
            )
            for start in starts
        ]
        out = np.zeros(p)
        for start, (values,) in zip(starts, run_blocks(pool, tasks), strict=True):
            out[start : start + span] = values
            self.work.report("relevance", start // span + 1, len(starts))
        return out

    def _against(self, response: Part, tiles: list[_Tile], pool: Any) -> Vector:
        out = np.zeros(self.columns.n_columns)
        tasks = [delayed(_relevance)(tile, response) for tile in tiles]
        for done, arrays in enumerate(run_blocks(pool, tasks), 1):
            for part_columns, values in zip(arrays[::2], arrays[1::2], strict=True):
                out[part_columns] = values
            self.work.report("relevance", done, len(tiles))
        return out

    @cached_property
    def _kept_tiles(self) -> list[_Tile]:
        room = _Room(self.work.max_memory if self.keep else 0)
        tiles = self._tiles(self.measure.tile(None), Use(FEW_PARTNERS, 1))
        for tile in tiles:
            tile.room = room
        return tiles

    def _prepared(self, k: int) -> Part:
        (block,) = self.columns.span(k, k + 1).blocks(k)
        return self.measure.prepare(block, Use(FEW_PARTNERS, 1))[0]

    def _width(self, width: int, use: Use) -> int:
        """At most `width` columns, fewer where so many, prepared, would not fit the budget."""
        return max(1, min(width, self.work.max_memory // (2 * self._held(use))))

    def _held(self, use: Use) -> int:
        """Bytes that a prepared column takes, at most."""
        held = self.measure.bytes_per_column(self.columns.n_rows, use)
        return held + 16 * self.columns.most_classes * self.columns.n_rows

    def _tiles(self, width: int, use: Use) -> list[_Tile]:
        """Neighbouring columns together, as many as `_width` allows."""
        held, width = self._held(use), self._width(width, use)
        return [
            _Tile(self.measure, self.columns.span(start, start + width), start, use, held * width)
            for start in range(0, self.columns.n_columns, width)
        ]

    def _shelf_pairs(self, tiles: list[_Tile]) -> Iterator[list[tuple[_Tile, _Tile]]]:
        """Pairs of tiles, in groups that hold no more prepared tiles than the budget allows."""
        held = max(tile.n_bytes for tile in tiles)
        size = (
            len(tiles)
            if held * len(tiles) <= self.work.max_memory
            else self.work.max_memory // (2 * held)
        )
        shelves = [tiles[i : i + max(size, 1)] for i in range(0, len(tiles), max(size, 1))]
        for i, shelf in enumerate(shelves):
            yield _spread_pairs(shelf)
            for other in shelves[i + 1 :]:
                yield list(product(shelf, other))
                _release(other)
            _release(shelf)


class _Room:
    """Bytes left for prepared columns that wait for the next call."""

    def __init__(self, n_bytes: int) -> None:
        self._left = n_bytes
        self._lock = Lock()

    def take(self, n_bytes: int) -> bool:
        """Whether there was room, which is then taken."""
        with self._lock:
            fits = n_bytes <= self._left
            self._left -= n_bytes if fits else 0
            return fits


class _Tile:
    """Neighbouring columns, prepared by the first task that needs them and kept until released."""

    def __init__(
        self, measure: Measure, columns: Columns, first: int, use: Use, n_bytes: int
    ) -> None:
        self.measure = measure
        self.n_bytes = n_bytes
        self.room: _Room | None = None
        self._kept = False
        self._request = columns, first, use
        self._lock = Lock()
        self._parts: list[Part] | None = None

    def __reduce__(self) -> Any:
        return _Tile, (self.measure, *self._request, self.n_bytes)

    @property
    def parts(self) -> list[Part]:
        columns, first, use = self._request
        with self._lock:
            if self._parts is None:
                blocks = columns.blocks(first)
                self._parts = [p for block in blocks for p in self.measure.prepare(block, use)]
            return self._parts

    def release(self) -> None:
        self._parts = None

    def settle(self) -> None:
        """Stay prepared where there is room: estimates of `n_bytes` can be ten times too large."""
        if self.room and not self._kept:
            self._kept = self.room.take(_n_bytes(self.parts) or self.n_bytes)
        if not self._kept:
            self.release()


def _n_bytes(parts: list[Part]) -> int:
    """Bytes of the arrays in prepared parts, each once; 0 where parts are not dataclasses."""
    return sum({id(array): array.nbytes for array in _arrays(parts)}.values())


def _arrays(value: Any) -> Iterator[NDArray[Any]]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, list):
        yield from chain.from_iterable(map(_arrays, value))
    elif is_dataclass(value):
        yield from chain.from_iterable(map(_arrays, vars(value).values()))


def _square(size: int, memory: int) -> Matrix:
    """Zeros, in a file that vanishes with the array where they would not fit the budget."""
    if 8 * size * size <= memory:
        return np.zeros((size, size))
    with TemporaryFile() as file:
        return np.memmap(file, np.float64, "w+", shape=(size, size))


def _spread_pairs(tiles: list[_Tile]) -> list[tuple[_Tile, _Tile]]:
    """All pairs, first those far apart, which prepare different tiles; last the short (a, a)."""
    steps = sorted(range(len(tiles)), key=lambda step: abs(2 * step - len(tiles)))
    return [pair for step in steps for pair in zip(tiles, tiles[step:], strict=False)]


def _release(tiles: list[_Tile]) -> None:
    for tile in tiles:
        tile.release()


def _relevance_of_span(
    measure: Measure, columns: Columns, width: int, response: Part
) -> list[NDArray[Any]]:
    """Values of all columns of a span, which is read once."""
    loaded = replace(columns, data=columns.values)
    out = np.zeros(loaded.n_columns)
    with one_blas_thread():
        for start in range(0, len(out), width):
            for block in loaded.span(start, start + width).blocks(start):
                for part in measure.prepare(block, ONCE):
                    out[part.columns] = cosines(measure, part, response)[:, 0]
    return [out]


def _relevance(tile: _Tile, response: Part) -> list[NDArray[Any]]:
    """Columns and their values, part after part."""
    found: list[NDArray[Any]] = []
    with one_blas_thread():
        for part in tile.parts:
            found += [part.columns, cosines(tile.measure, part, response)[:, 0]]
    tile.settle()
    return found


def _redundancy(left: _Tile, right: _Tile) -> list[NDArray[Any]]:
    """Columns, columns and their values, part after part."""
    found: list[NDArray[Any]] = []
    with one_blas_thread():
        for i, a in enumerate(left.parts):
            for b in left.parts[i:] if left is right else right.parts:
                values = cosines(left.measure, a, b)
                if a is b:
                    values = np.triu(values) + np.triu(values, 1).T
                found += [a.columns, b.columns, values]
    return found


def cosines(measure: Measure, a: Part, b: Part) -> Matrix:
    """Inner products over norms; 0 where a column is constant."""
    norms = np.outer(np.sqrt(a.energies), np.sqrt(b.energies))
    products = measure.inner(a, b)
    out = np.divide(products, norms, out=np.zeros_like(products), where=norms != 0)
    return np.asarray(np.clip(out, 0.0, 1.0, out=out))
