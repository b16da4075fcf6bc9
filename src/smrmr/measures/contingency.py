"""Sums of `projection_loops` for columns of few levels and classes, from contingency tables.

Such columns come coded: ``codes`` (level of each sample) and ``counts`` (samples of each level),
ordered or nominal.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..types import Indices, Matrix, Vector

TABLE_ENTRIES = 2**20  # of the contingency tables of a column with all others, at a time


class Levels(NamedTuple):
    """Coded columns, ordered or nominal."""

    codes: NDArray[np.integer[Any]]
    counts: NDArray[np.int64]
    nominal: bool


def cross_coded(a: Levels, b: Levels, anchors: Indices, out: Matrix) -> None:
    """Fill `out` for all pairs of coded columns; contingency tables are products of indicators."""
    n = a.codes.shape[1]
    for rows in _some(a, b):
        for others in _some(b, a):
            parts = (a.codes[rows], a.counts[rows]), (b.codes[others], b.counts[others])
            tables = held = _tables(*parts)
            if len(anchors) < n:
                held = _tables(*((codes[:, anchors], counts) for codes, counts in parts))
            counts = a.counts[rows].T[:, :, None, None] * b.counts[others].T.astype(np.float64)
            out[rows, others] = _cross_terms(n * tables - counts, held, a.nominal, b.nominal)


def self_coded(levels: Levels, held: NDArray[np.int64], n: int) -> Vector:
    """Cross term of every coded column with itself; `held` counts the anchors of each level."""
    out, diagonal = np.empty(len(held)), np.eye(held.shape[1])[:, None, :, None]
    step = max(1, TABLE_ENTRIES // diagonal.size)
    for start in range(0, len(out), step):
        some = slice(start, start + step)
        counts = levels.counts[some, :, None].astype(np.float64)
        v = n * diagonal * counts - levels.counts[some].T[:, :, None, None] * counts
        anchors = diagonal * held[some, :, None]
        out[some] = _cross_terms(v, anchors, levels.nominal, levels.nominal)[:, 0]
    return out


def _some(levels: Levels, others: Levels) -> Iterator[slice]:
    """Columns, as many at a time as their indicators and tables with all the others allow."""
    (n_columns, n_levels), n_rows = levels.counts.shape, levels.codes.shape[1]
    step = max(1, TABLE_ENTRIES // max(n_levels * others.counts.size, n_levels * n_rows // 4))
    return (slice(start, start + step) for start in range(0, n_columns, step))


def _tables(
    a: tuple[NDArray[Any], NDArray[Any]], b: tuple[NDArray[Any], NDArray[Any]]
) -> NDArray[np.float64]:
    """Contingency tables of all pairs, by level, column, level and column."""
    left, right = (_indicators(codes, counts.shape[1]) for codes, counts in (a, b))
    shape = *a[1].shape[::-1], *b[1].shape[::-1]
    return (left @ right.T).astype(np.float64).reshape(shape)


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
