"""Runs a measure over blocks of columns, with the jobs and the memory that the user allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, is_dataclass
from functools import cached_property
from itertools import combinations_with_replacement, product
from tempfile import TemporaryFile
from threading import Lock
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from ..data.columns import Columns
from ..data.messages import refuse_other_rows
from ..data.target import Target
from ..measures.protocol import ONCE, Measure, Part, Use
from ..runs.blocks import one_blas_thread, open_pool, run_blocks
from ..runs.work import Work
from ..types import Matrix, Vector

SINGLY = Use(partners=16, at_once=1)  # of features that are asked for one at a time
VALUES_AT_ONCE = 2**22  # of columns that are prepared together, whatever the budget


@dataclass
class Associator:
    """Associations of columns by a measure, worked out block by block.

    With `keep`, prepared columns are kept between calls where the memory budget allows it.
    """

    columns: Columns
    measure: Measure
    work: Work = field(default_factory=Work)
    keep: bool = False
    _kept_bytes: int = field(default=0, init=False)

    def with_target(self, target: Target) -> Vector:
        """Association of every feature with the target."""
        refuse_other_rows(self.columns.n_rows, "y", target.n_rows)
        with open_pool(self.work.n_jobs) as pool:
            response, width = self.measure.prepare_target(target), self.measure.target_tile
            tiles = self._kept_tiles if self.keep else self._tiles(width, ONCE)
            return self._against(response, tiles, pool)

    def with_feature(self, k: int) -> Vector:
        """Association of every feature with feature `k`."""
        with open_pool(self.work.n_jobs) as pool:
            (block,) = self.columns.span(k, k + 1).blocks(k)
            (feature,) = self.measure.prepare(block, SINGLY)
            return self._against(feature, self._kept_tiles, pool)

    def with_each_other(self) -> Matrix:
        """Association of every pair of features."""
        n_columns = self.columns.n_columns
        out = _square(n_columns, self.work.max_memory)
        width = self.measure.pair_tile
        tiles = self._tiles(width, Use(n_columns, width))
        done, total = 0, len(tiles) * (len(tiles) + 1) // 2
        with open_pool(self.work.n_jobs) as pool:
            for pairs in self._pair_groups(tiles):
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

    def _against(self, response: Part, tiles: list[_Tile], pool: Any) -> Vector:
        """Meet every column, prepared in an earlier call where there was memory to keep it."""
        out = np.zeros(self.columns.n_columns)
        tasks = [delayed(_relevance)(tile, response) for tile in tiles]
        for done, arrays in enumerate(run_blocks(pool, tasks), 1):
            for part_columns, values in zip(arrays[::2], arrays[1::2], strict=True):
                out[part_columns] = values
            self._keep_or_release(tiles[done - 1])
            self.work.report("relevance", done, len(tasks))
        return out

    @cached_property
    def _kept_tiles(self) -> list[_Tile]:
        return self._tiles(self.measure.pair_tile, SINGLY)

    def _keep_or_release(self, tile: _Tile) -> None:
        """Keep a tile where there is memory left; estimates can be ten times too large."""
        if tile.prepared is not None and not tile.kept:
            n_bytes = sum(_array_sizes(tile.prepared).values()) or tile.n_bytes
            tile.kept = self.keep and self._kept_bytes + n_bytes <= self.work.max_memory
            if tile.kept:
                self._kept_bytes += n_bytes
            else:
                tile.prepared = None

    def _tiles(self, width: int, use: Use) -> list[_Tile]:
        """At most `width` neighbouring columns together, fewer of many rows or in little memory."""
        n = self.columns.n_rows
        held = self.measure.bytes_per_column(n, use) + 16 * self.columns.most_classes * n
        width = max(1, min(width, self.work.max_memory // (2 * held), VALUES_AT_ONCE // n))
        return [
            _Tile(self.measure, self.columns.span(start, start + width), start, use, held * width)
            for start in range(0, self.columns.n_columns, width)
        ]

    def _pair_groups(self, tiles: list[_Tile]) -> Iterator[list[tuple[_Tile, _Tile]]]:
        """Pairs of tiles, in groups that hold no more prepared tiles than the budget allows."""
        fitting = self.work.max_memory // tiles[0].n_bytes
        size = max(1, fitting if fitting >= len(tiles) else fitting // 2)
        groups = [tiles[i : i + size] for i in range(0, len(tiles), size)]
        for i, group in enumerate(groups):
            yield list(combinations_with_replacement(group, 2))
            for other in groups[i + 1 :]:
                yield list(product(group, other))
                _release(other)
            _release(group)


@dataclass(eq=False)
class _Tile:
    """Neighbouring columns, prepared by the first task that needs them and kept until released."""

    measure: Measure
    columns: Columns
    first: int
    use: Use
    n_bytes: int
    kept: bool = False
    prepared: list[Part] | None = None

    def __post_init__(self) -> None:
        self._lock = Lock()

    def __reduce__(self) -> Any:  # for workers that are processes
        return _Tile, (self.measure, self.columns, self.first, self.use, self.n_bytes)

    @property
    def parts(self) -> list[Part]:
        with self._lock:
            if self.prepared is None:
                measure, use, blocks = self.measure, self.use, self.columns.blocks(self.first)
                self.prepared = [part for block in blocks for part in measure.prepare(block, use)]
            return self.prepared


def _array_sizes(value: Any) -> dict[int, int]:
    """Bytes of every array in prepared parts, by its id; none where parts are not dataclasses."""
    if isinstance(value, np.ndarray):
        return {id(value): value.nbytes}
    if is_dataclass(value):
        value = [*vars(value).values()]
    inner = value if isinstance(value, list) else []
    return {key: size for one in inner for key, size in _array_sizes(one).items()}


def _square(size: int, memory: int) -> Matrix:
    """Zeros, in a file that vanishes with the array where they would not fit the budget."""
    if 8 * size * size <= memory:
        return np.zeros((size, size))
    with TemporaryFile() as file:
        return np.memmap(file, np.float64, "w+", shape=(size, size))


def _release(tiles: list[_Tile]) -> None:
    for tile in tiles:
        tile.prepared = None


def _relevance(tile: _Tile, response: Part) -> list[NDArray[Any]]:
    """Columns and their values, part after part."""
    found: list[NDArray[Any]] = []
    with one_blas_thread():
        for part in tile.parts:
            found += [part.columns, cosines(tile.measure, part, response)[:, 0]]
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
