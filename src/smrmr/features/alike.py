"""Finds clusters of columns, the look-alikes, from fine to coarse.

Columns are compared by the absolute value of Spearman's correlation, and clusters are those of
average linkage: two become one as long as their columns correlate by at least the cut on average.
Then some two of them do, so columns that no chain of such pairs connects are never in one cluster,
and linkage has to look only at connected columns.
"""

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.columns import Columns
from ..data.scaling import unit_columns
from ..problems import setting, warn
from ..runs.blocks import map_on_threads
from ..runs.compiled import compiled
from ..runs.stored_rows import IN_MEMORY, Room, RowMatrix, column_blocks, room_for, span
from ..runs.work import Work
from ..types import Indices, Matrix, Vector
from .disjoint_sets import all_roots, larger_sets, root_of
from .rank_table import RankTable

TIMES_RANKS = 3  # what comparing ranks takes up beside them, at most
TILE = 1024  # columns that are compared with as many others at a time
VALUES_RANKED = 2**22  # at a time, so that tall tables need not fit in memory several times over
FEWEST_RANKED = 16  # columns at a time
ALL_PAIRS = 30_000  # columns; of more, only those near each other in the table are compared
WINDOW = 2_000  # how many columns apart they may be
ROUNDING = 1e-4  # of correlations in single precision
MOST_LINKED = 5_000  # columns whose pairs are held in memory
DIGITS = 9  # to which correlations are compared, so that equal ones are
LIKENESS_DIGITS = 4  # of those that are reported
STEP = 0.05  # by which the cut is raised where too many columns form one cluster
LARGE = 0.05  # share of all columns in one cluster that is worth a warning
FEW = 20  # columns in a cluster that never are


def find_alike(
    table: RankTable,
    which: Indices,
    cuts: tuple[float, ...],
    work: Work,
    leaders: Indices | None = None,
) -> list[Indices]:
    """For every cut, from the largest on, the first column of each column's group.

    Only the columns `which` are compared; all others, and categories, are in groups of their own.
    Warnings count their copies too: `leaders` are the first column of each set of copies.
    """
    columns = table.columns
    found = [np.arange(columns.n_columns) for _ in cuts]
    which = which[~columns.nominal[which]]
    n_copies = np.bincount(found[0] if leaders is None else leaders, minlength=columns.n_columns)
    with room_for(TIMES_RANKS * 4 * len(which) * columns.n_rows, work.max_memory) as room:
        ranks = _unit_ranks(table, which, work, room)
        sets = _connected(ranks, min(cuts), work.n_jobs)
        _warn_if_raised(sets, min(cuts), n_copies[which])
        large: list[tuple[int, float]] = []
        for members, _ in sets:
            tree, order = _linked(ranks[members].astype(np.float64))
            mine = which[members[order]]
            for partition, cut in zip(found, cuts, strict=True):
                label = _numbered(tree, cut)
                first = np.full(len(label) + len(tree), columns.n_columns)
                np.minimum.at(first, label, mine)
                partition[mine] = first[label]
            large += _large(tree, min(cuts), n_copies[mine], columns.n_columns)
    if large:
        _warn_of_large(large, min(cuts), columns.n_columns)
    work.report("look-alikes", len(which) + 1, len(which) + 1)
    return found


def likeness_to(table: RankTable, leads: Indices) -> Vector:
    """Spearman's correlation of each column with its representative; 0 for categories."""
    columns = table.columns
    found = np.ones(columns.n_columns)
    led = np.flatnonzero(leads != np.arange(columns.n_columns))
    width = _width(columns)
    for start in range(0, len(led), width):
        some = led[start : start + width]
        read, place = np.unique(np.concatenate([some, leads[some]]), return_inverse=True)
        ranks = unit_columns(table.ranks(read).T).T
        mine, lead = np.split(ranks[place], 2)
        nominal = columns.nominal[some] | columns.nominal[leads[some]]
        found[some] = np.where(nominal, 0.0, np.sum(mine * lead, axis=1))
    return np.round(found, LIKENESS_DIGITS)


def _unit_ranks(table: RankTable, which: Indices, work: Work, room: Room = IN_MEMORY) -> RowMatrix:
    """Ranks of the columns as rows of mean 0 and length 1."""
    ranks = room.rows((len(which), table.columns.n_rows), np.float32)
    width = _width(table.columns)
    for start in range(0, len(which), width):
        some = which[start : start + width]
        ranks[start : start + width] = unit_columns(table.ranks(some).T).T
        work.report("look-alikes", min(start + width, len(which)), len(which) + 1)  # and linking
    return ranks


def _width(columns: Columns) -> int:
    """How many columns are ranked at a time; it depends on the data alone, and so do groups."""
    return max(FEWEST_RANKED, min(TILE, VALUES_RANKED // columns.n_rows))


def _connected(ranks: RowMatrix, cut: float, n_jobs: int | None = 1) -> list[tuple[Indices, float]]:
    """Sets of two or more rows that chains of pairs beyond the cut connect, and that cut.

    A set that is too large to be linked is taken apart by a higher cut.
    """
    p = len(ranks)
    tiles = [
        (start, other)
        for start in range(0, p, TILE)
        for other in range(start, p if p <= ALL_PAIRS else min(p, start + TILE + WINDOW), TILE)
    ]
    parents = np.arange(p)
    one_at_a_time = Lock()

    def unite(tile: tuple[int, int]) -> None:
        start, other = tile
        found = _inner_products(span(ranks, start, start + TILE), span(ranks, other, other + TILE))
        if start == other:
            np.fill_diagonal(found, 0)
        if max(found.max(), -found.min()) >= cut - ROUNDING:
            with one_at_a_time:  # in any order sets are the same
                _unite(found, start, other, cut - ROUNDING, parents)

    map_on_threads(unite, tiles, n_jobs)
    found = []
    for members in larger_sets(all_roots(parents)):
        if len(members) > MOST_LINKED and cut + STEP < 1:
            inner = _connected(ranks[members], cut + STEP, n_jobs)
            found += [(members[part], raised) for part, raised in inner]
        else:
            found.append((members, cut))
    return found


def _inner_products(first: RowMatrix, second: RowMatrix) -> NDArray[np.float32]:
    """Inner products of rows, a part of their columns at a time."""
    total = np.zeros((len(first), len(second)), np.float32)
    for some in column_blocks((max(len(first), len(second)), first.shape[1])):
        total += first[:, some] @ second[:, some].T
    return total


@compiled
def _unite(tile: NDArray[Any], first: int, second: int, cut: float, parents: NDArray[Any]) -> None:
    """Unite the sets of all pairs beyond the cut; each set is known by a root among its members."""
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            if abs(tile[i, j]) < cut:
                continue
            a, b = root_of(parents, first + i), root_of(parents, second + j)
            if a < b:
                parents[b] = a
            else:
                parents[a] = b


def _linked(ranks: Matrix) -> tuple[Matrix, Indices]:
    """Merges of average linkage in the order of their heights, and the rows that it numbers."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    likeness = np.round(np.abs(ranks @ ranks.T), DIGITS)
    # in an order of their own, so that ties do not go by where columns stand
    powers = (("ij->i", 1), ("ij,ij->i", 2), ("ij,ij,ij->i", 3))
    sums = [np.round(np.einsum(sum_of, *[likeness] * k), DIGITS - 2) for sum_of, k in powers]
    order = np.lexsort(sums)
    pairs = squareform(likeness[np.ix_(order, order)], checks=False)
    return linkage(1 - pairs, "average"), order


def _numbered(tree: Matrix, cut: float) -> Indices:
    """Number of the group of every row once all merges up to the cut are made."""
    n = len(tree) + 1
    root = list(range(2 * n - 1))
    first, second = tree[:, :2].astype(np.intp).T.tolist()
    joined = tree[:, 2] <= 1 - cut + 1e-9
    for k in np.flatnonzero(joined)[::-1].tolist():  # from the last merge back to the first
        root[first[k]] = root[second[k]] = root[n + k]
    return np.array(root[:n])


def _warn_if_raised(sets: list[tuple[Indices, float]], cut: float, n_copies: Indices) -> None:
    """Warn of clusters that were split by a higher cut than was requested."""
    highest = max((raised for _, raised in sets), default=cut)
    if highest > cut:
        n_columns = sum(n_copies[members].sum() for members, raised in sets if raised > cut)
        warn(
            f"{n_columns:,} columns form one cluster at a correlation of {cut:g}, more than the "
            f"{MOST_LINKED:,} that can be clustered at once. They were clustered at higher cuts, "
            f"up to {highest:.2g}."
        )


def _large(tree: Matrix, cut: float, n_copies: Indices, p: int) -> list[tuple[int, float]]:
    """Size of the largest group if it holds much of the table, and the cut at which it would not.

    `n_copies` is how many columns each that is compared stands for, itself among them.
    """
    most = max(LARGE * p, FEW)

    def largest(at: float) -> int:
        return int(np.bincount(_numbered(tree, at), n_copies).max())

    if largest(cut) <= most:
        return []
    better = next((at for at in np.arange(cut, 0.99, STEP) if largest(at) <= most), 0.99)
    return [(largest(cut), round(float(better), 2))]


def _warn_of_large(large: list[tuple[int, float]], cut: float, p: int) -> None:
    """Warn of groups of these sizes, and say at which cut they would be smaller."""
    sizes = sorted((size for size, _ in large), reverse=True)
    form = f"{sizes[0]:,} of {p:,} columns form one cluster"
    if len(sizes) > 1:
        form = (
            f"{len(sizes)} clusters hold {sum(sizes):,} of {p:,} columns, the largest {sizes[0]:,}"
        )
    alike = setting("alike", max(better for _, better in large))
    warn(
        f"at a correlation of {cut:g}, {form}, and a finding about such a cluster says little. If "
        "a batch, depth or a baseline is behind that, adjust for it; "
        f"{alike} makes clusters smaller."
    )
