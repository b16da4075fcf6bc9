"""Columns of few levels and classes, whose sums come from contingency tables."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.columns import class_count_band
from ..types import Indices, Matrix, Vector
from .level_loops import count_together, cross_coded_ranked
from .projection_parts import Ranked, anchor_mask, bracket, product_on_slice

MOST_COUNTED = 16  # entries of a table that are counted one by one, of one column with others,
MANY_VALUES = 2**18  # if these have so many values that the loop is worth compiling
TABLE_ENTRIES = 2**20  # of the contingency tables of a column with all others, at a time


@dataclass(eq=False)
class Coded:
    """Columns with few levels, ordered, or with classes, nominal: the level of every sample.

    `counts` are the samples of every level, (columns, levels), worked out if they are not at hand.
    """

    columns: Indices
    codes: NDArray[np.integer[Any]]
    nominal: bool
    anchors: Indices
    counts: NDArray[np.int64] = None  # type: ignore[assignment]
    u: Vector = field(init=False)
    energies: Vector = field(init=False)

    def __post_init__(self) -> None:
        n = self.n_rows
        if self.counts is None:
            self.counts = _level_counts(self.codes, int(self.codes.max()) + 1)
        held, n_levels = self.counts, self.counts.shape[1]
        if len(self.anchors) < n:
            held = _level_counts(self.codes.take(self.anchors, axis=1), n_levels)
        counts = self.counts.astype(np.float64)
        if self.nominal:
            others = (counts**2).sum(axis=1, keepdims=True) - counts**2
            self.u = (held * (2 * others + (n - counts) ** 2)).sum(axis=1) / 3
            own = _self_terms(self, held)
        else:
            squares = (n + counts - 2 * np.cumsum(counts, axis=1)) ** 2  # of the sums of signs
            self.u = (held * squares).sum(axis=1)
            own = (held * (n * (n - counts) - squares) ** 2).sum(axis=1)
        energies = bracket(own, self.u, self.u, n, len(self.anchors))
        self.energies = np.where(counts.max(axis=1) == n, 0.0, energies)

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.codes.shape[1])

    @property
    def key(self) -> tuple[int, int]:
        """Order of the kinds of parts; nominal blocks differ by their numbers of classes."""
        return (0, int(class_count_band(self.counts.shape[1]))) if self.nominal else (1, 0)

    def cross(self, other: "Coded | Ranked", out: Matrix) -> None:
        """Fill `out` with the sums over anchors, of every pair of columns of two parts."""
        if isinstance(other, Coded):
            _cross_coded(self, other, out)
        else:
            order, _, through = other.ranks
            levels = self.codes, self.counts, self.nominal
            cross_coded_ranked(*levels, order, through, anchor_mask(self.anchors, self.n_rows), out)

    def on_slice(self, slice_: Matrix, anchor: int) -> Vector:
        """Inner product of every column's own slice, over pi/2, with a centred `slice_`."""
        if not self.nominal:
            return product_on_slice(self.codes.astype(np.int32), slice_, anchor)
        values = np.empty(len(self.codes))
        for k, codes in enumerate(self.codes):
            members = (codes == np.arange(self.counts.shape[1])[:, None]).astype(np.float64)
            within = np.einsum("ai,ai->a", members @ slice_, members)
            values[k] = slice_[anchor, anchor] - (2 * within.sum() - within[codes[anchor]]) / 3
        return values


def _level_counts(codes: NDArray[np.integer[Any]], n_levels: int) -> NDArray[np.int64]:
    """How many samples of every column have each level."""
    numbers = codes + n_levels * np.arange(len(codes))[:, None]
    return np.bincount(numbers.ravel(), minlength=n_levels * len(codes)).reshape(-1, n_levels)


def _cross_coded(a: Coded, b: Coded, out: Matrix) -> None:
    """Fill `out` for all pairs of coded columns; contingency tables are products of indicators."""
    n, anchors = a.n_rows, a.anchors
    for rows in _some(a, b):
        for others in _some(b, a):
            parts = (a.codes[rows], a.counts[rows]), (b.codes[others], b.counts[others])
            tables = held = _tables(*parts)
            if len(anchors) < n:
                held = _tables(*(_at(anchors, *part) for part in parts))
            counts = a.counts[rows].T[:, :, None, None] * b.counts[others].T.astype(np.float64)
            out[rows, others] = _cross_terms(n * tables - counts, held, a.nominal, b.nominal)


def _self_terms(coded: Coded, held: NDArray[np.int64]) -> Vector:
    """Cross term of every column of classes with itself; `held` counts anchors of each class."""
    out, diagonal = np.empty(len(held)), np.eye(held.shape[1])[:, None, :, None]
    step = max(1, TABLE_ENTRIES // diagonal.size)
    for start in range(0, len(out), step):
        some = slice(start, start + step)
        counts = coded.counts[some, :, None].astype(np.float64)
        v = coded.n_rows * diagonal * counts - coded.counts[some].T[:, :, None, None] * counts
        anchors = diagonal * held[some, :, None]
        out[some] = _cross_terms(v, anchors, True, True)[:, 0]
    return out


def _some(levels: Coded, others: Coded) -> Iterator[slice]:
    """Columns, as many at a time as their indicators and tables with all the others allow."""
    (n_columns, n_levels), n_rows = levels.counts.shape, levels.n_rows
    step = max(1, TABLE_ENTRIES // max(n_levels * others.counts.size, n_levels * n_rows // 4))
    return (slice(start, start + step) for start in range(0, n_columns, step))


def _tables(
    a: tuple[NDArray[Any], NDArray[Any]], b: tuple[NDArray[Any], NDArray[Any]]
) -> NDArray[np.float64]:
    """Contingency tables of all pairs, by level, column, level and column."""
    shape = *a[1].shape[::-1], *b[1].shape[::-1]
    if shape[1] == 1 and shape[0] * shape[2] <= MOST_COUNTED and b[0].size >= MANY_VALUES:
        tables = np.empty((shape[3], shape[0], shape[2]))
        codes, other = (np.ascontiguousarray(one, np.uint8) for one in (b[0], a[0][0]))
        count_together(codes, b[1], other, a[1][0], tables)
        return tables.transpose(1, 2, 0)[:, None]
    left, right = (_indicators(codes, counts.shape[1]) for codes, counts in (a, b))
    return (left @ right.T).astype(np.float64).reshape(shape)


def _at(
    anchors: Indices, codes: NDArray[Any], counts: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Levels and their counts at some samples alone."""
    codes = codes[:, anchors]
    return codes, _level_counts(codes, counts.shape[1])


def _indicators(codes: NDArray[Any], n_levels: int) -> NDArray[np.float32]:
    """1 where a sample has a level: a row for each level and column."""
    levels = np.arange(n_levels, dtype=codes.dtype)[:, None, None]
    return np.asarray(codes == levels, np.float32).reshape(-1, codes.shape[1])


def _cross_terms(
    v: NDArray[np.float64], held: NDArray[np.float64], nominal_a: bool, nominal_b: bool
) -> Matrix:
    """Sums over anchors, of which the tables `held` say where they are, from centred tables."""
    if not nominal_a:
        v = np.tensordot(_signs(len(v)), v, 1)
    if not nominal_b:
        v = _signs(v.shape[2]) @ v
    v *= v
    parts = 1.0  # whole numbers are divided in the end, so that no rounding depends on the tables
    for axis, nominal in ((0, nominal_a), (2, nominal_b)):
        if nominal:
            v, parts = 2.0 * v.sum(axis=axis, keepdims=True) - v, 3.0 * parts
    return np.asarray((held * v).sum(axis=0).sum(axis=1) / parts)


def _signs(n_levels: int) -> Matrix:
    """Sign of every level less every other."""
    levels = np.arange(n_levels, dtype=np.float64)
    return np.sign(levels - levels[:, None])
