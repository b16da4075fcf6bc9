"""Finds features that are copies of one another, without comparing all pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from ..data.columns import Columns
from ..data.scaling import unit_columns
from ..runs.blocks import one_blas_thread, open_pool, run_blocks
from ..runs.work import Work
from ..types import Indices, Mask, Matrix, Vector
from .disjoint_sets import larger_sets
from .fingerprints import Fingerprints, directions, fingerprints
from .near import near_pairs
from .rank_table import RankTable

WIDEST = 1024  # columns that are read and compared at a time
COPY = 1e-8  # columns with |r| above 1 - COPY are copies
REACH = 1.01 * np.sqrt(2 * COPY)  # how far apart the places of copies can be

Links: TypeAlias = tuple[Indices, Indices]


@dataclass(frozen=True, eq=False)
class Copies:
    """Which columns are copies of one another, and which are constant.

    `leaders` holds for each column the first of its copies, which is itself if it has none before.
    """

    leaders: Indices
    constant: Mask

    @cached_property
    def modelled(self) -> Indices:
        """Columns that stand for themselves and their copies; no constants."""
        own = self.leaders == np.arange(len(self.leaders))
        return np.flatnonzero(own & ~self.constant)

    def spread(self, features: Indices, values: NDArray[Any], otherwise: Any) -> NDArray[Any]:
        """Values of some features, along the last axis, by position: copies have their leader's.

        All others, and constants, have the value `otherwise`.
        """
        out = np.full((*values.shape[:-1], len(self.leaders)), otherwise, dtype=values.dtype)
        out[..., features] = values
        return np.where(self.constant, otherwise, out[..., self.leaders])

    def same_as(self, columns: Indices) -> Mask:
        """Which columns are these, or copies of these."""
        return np.isin(self.leaders, self.leaders[columns])

    def without(self, columns: Mask) -> Copies:
        """The same with more columns that stand for nothing, as constants do."""
        return replace(self, constant=self.constant | columns)

    @cached_property
    def followers(self) -> Indices:
        """Columns that copy one before them."""
        return np.flatnonzero(self.leaders != np.arange(len(self.leaders)))

    @cached_property
    def groups(self) -> tuple[Indices, ...]:
        """The groups of two or more copies, each in order."""
        return larger_sets(self.leaders)


def find_copies(
    columns: Columns, by_rank: bool, work: Work | None = None, table: RankTable | None = None
) -> Copies:
    """Find columns that copy one another and columns without variance.

    Columns with ties, and with `by_rank` all others, also copy their monotone transforms: these
    have the same normal scores. Columns are read block by block; later only those in doubt. Ranks
    are those of the table, which keeps them for others to read.
    """
    table = RankTable.of(columns, work, keep=False) if table is None else table

    def plain(which: Indices) -> Matrix:
        return unit_columns(columns.read(which))

    def ranked(which: Indices) -> Matrix:
        return unit_columns(table.ranks(which).T)

    work = Work(n_jobs=1) if work is None else work
    # by which 64 bytes per value fit
    width = max(1, min(WIDEST, work.max_memory // (128 * columns.n_rows)))
    found = _fingerprints(table, by_rank, width, work)
    varied = np.flatnonzero(~found.constant)
    few, many = varied[found.few[varied]], varied[~found.few[varied]]
    compared = many[np.isfinite(found.ranked_places[many, 0])]
    links = [
        _same_digest(few, found.ranked_digest)[1],
        _alike_in_rank(_link(many, found.places, found.digest, plain, width), ranked, width),
        _link(compared, found.ranked_places, found.ranked_digest, ranked, width),
    ]
    return Copies(_representatives(links, columns.n_columns), found.constant)


def tiles(p: int, width: int = WIDEST) -> list[slice]:
    """Slices of 1,024 columns or fewer, so that sorting needs little memory."""
    return [slice(start, min(start + width, p)) for start in range(0, p, width)]


def _fingerprints(table: RankTable, by_rank: bool, width: int, work: Work) -> Fingerprints:
    """Fingerprints of all columns, read block by block."""
    spans = [table.span(tile.start, tile.stop) for tile in tiles(table.columns.n_columns, width)]
    parts = []
    with open_pool(work.n_jobs if len(spans) > 1 else 1) as pool:
        tasks = [delayed(_of_span)(span, by_rank) for span in spans]
        for done, arrays in enumerate(run_blocks(pool, tasks), 1):
            parts.append(arrays)
            work.report("copies", done, len(spans))
    return Fingerprints(*(np.concatenate(same) for same in zip(*parts, strict=True)))


def _of_span(table: RankTable, by_rank: bool) -> list[NDArray[Any]]:
    columns = table.columns
    with one_blas_thread():
        return [*fingerprints(columns.values, directions(columns.n_rows), by_rank, table.ranks)]


def _same_digest(which: Indices, digest: NDArray[np.uint64]) -> tuple[Indices, Links]:
    """One column of every digest, and links of the others to it."""
    words = np.ascontiguousarray(digest[which]).view(np.dtype((np.void, 16))).ravel()
    _, first, group = np.unique(words, return_index=True, return_inverse=True)
    copies = np.arange(len(which)) != first[group]
    return which[np.sort(first)], (which[copies], which[first[group[copies]]])


def _link(
    which: Indices,
    places: Matrix,
    digest: NDArray[np.uint64],
    fetch: Callable[[Indices], Matrix],
    width: int,
) -> Links:
    """Pairs that tie together all columns that correlate by more than 1 - 1e-8 in size.

    Copies lie within 1.5e-4 of each other, up to sign, and so do their projections on any
    direction; columns that are near in all of them are fetched and compared.
    """
    alone, (first, second) = _same_digest(which, digest)
    if len(alone) < 2:
        return first, second
    a, b = (alone[ends] for ends in near_pairs(places[alone], REACH))
    same = _correlations(a, b, fetch, width) > 1 - COPY
    return np.concatenate([first, a[same]]), np.concatenate([second, b[same]])


def _alike_in_rank(links: Links, fetch: Callable[[Indices], Matrix], width: int) -> Links:
    """Drop links that one far row makes: where it is far in both, any two columns correlate."""
    first, second = links
    alike = _correlations(first, second, fetch, width) > 0.99
    return first[alike], second[alike]


def _correlations(
    first: Indices, second: Indices, fetch: Callable[[Indices], Matrix], width: int
) -> Vector:
    """Absolute correlations of pairs of columns, a few pairs at a time."""
    found = np.empty(len(first))
    for tile in tiles(len(first), width):
        a, b = fetch(first[tile]), fetch(second[tile])
        found[tile] = np.abs(np.einsum("ij,ij->j", a, b))
    return found


def _representatives(links: list[Links], p: int) -> Indices:
    """For each of p columns the first column of its group of linked ones."""
    from scipy.sparse import coo_array  # takes long to load
    from scipy.sparse.csgraph import connected_components

    first, second = (np.concatenate(ends) for ends in zip(*links, strict=True))
    graph = coo_array((np.ones(len(first), bool), (first, second)), shape=(p, p))
    n_groups, group = connected_components(graph, directed=False)
    leaders = np.full(n_groups, p)
    np.minimum.at(leaders, group, np.arange(p))
    return np.asarray(leaders[group], dtype=np.intp)


def signs_against(columns: Matrix, leaders: Indices) -> Vector:
    """Sign of the correlation of each column with its leader; 1 for leaders."""
    followers = np.flatnonzero(leaders != np.arange(len(leaders)))
    signs = np.ones(columns.shape[1])
    inner = np.einsum("ij,ij->j", columns[:, followers], columns[:, leaders[followers]])
    signs[followers] = np.where(inner < 0, -1.0, 1.0)
    return signs
