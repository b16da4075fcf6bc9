"""Takes fingerprints of columns, block by block, by which copies are found without all pairs."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..measures.compiled import compiled, compiled_reordering
from ..measures.contingency_loops import code_small_integers
from ..types import Mask, Matrix, Vector

CODED_LEVELS = 16  # columns of so few levels are compared level by level
PROBES = 4
DIGITS = 1e10  # columns that agree in ten digits have one digest


class Fingerprints(NamedTuple):
    """Of every column: whether it is constant or has few levels, and where its copies would lie.

    Copies have (nearly) the same `places`, the absolute projections of the unit column on a few
    directions, and mostly the same `digest`, by which many copies are merged at once. `ranked_...`
    are those of the ranks; they are NaN and 0 where ranks are not compared. Columns of few levels
    have a `ranked_digest` alone: that of their levels, in the order that comes first.
    """

    constant: Mask
    few: Mask
    places: Matrix
    digest: NDArray[np.uint64]
    ranked_places: Matrix
    ranked_digest: NDArray[np.uint64]


def directions(n: int) -> Matrix:
    """A few orthonormal directions; the answer does not depend on them."""
    rng = np.random.default_rng(0)
    return np.asarray(np.linalg.qr(rng.standard_normal((n, min(PROBES, n))))[0])


def fingerprints(values: NDArray[Any], probes: Matrix, by_rank: bool) -> Fingerprints:
    """Fingerprints of the columns of a block, (n, k); with `by_rank` ranks are compared too."""
    rows, codes, levels = _coded(values)
    few, k = levels > 0, values.shape[1]
    constant = levels == 1
    places, ranked_places = (np.full((k, probes.shape[1]), np.nan) for _ in range(2))
    digest, ranked_digest = (np.zeros((k, 2), dtype=np.uint64) for _ in range(2))
    if few.any():
        _hash_levels(codes, levels, ranked_digest)
    rest = np.flatnonzero(~few)
    if rest.size:
        rows = np.ascontiguousarray(rows[rest], dtype=np.float64)
        probes = np.ascontiguousarray(probes.T)
        places[rest], digest[rest], constant[rest] = _placed(rows, probes)
        if not by_rank:
            tied = have_ties(rows.T)
            rest, rows = rest[tied], rows[tied]
        ranked_places[rest], ranked_digest[rest] = _placed_by_rank(rows, probes)
    return Fingerprints(constant, few, places, digest, ranked_places, ranked_digest)


def have_ties(values: NDArray[Any]) -> Mask:
    """Which columns hold some value twice."""
    ordered = np.sort(values, axis=0)
    return np.asarray((ordered[1:] == ordered[:-1]).any(axis=0))


def _coded(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """One row per column, the levels of those of few levels, and their number, 0 for others."""
    dtype = np.int8 if values.dtype == np.int8 else np.float64  # as in Columns.blocks
    rows = np.ascontiguousarray(values.T, dtype=dtype)
    codes, _, levels = code_small_integers(rows, CODED_LEVELS)
    for k in np.flatnonzero((levels == 0) & ~_many_levels(rows, levels)):
        found, code = np.unique(rows[k], return_inverse=True)
        if len(found) <= CODED_LEVELS:
            codes[k], levels[k] = code, len(found)
    return rows, codes, levels


@compiled
def _many_levels(rows: NDArray[Any], levels: NDArray[Any]) -> Mask:
    """Which rows show more than a few levels among their first values, as most do.

    Rows whose levels are counted already are passed over.
    """
    many = np.zeros(len(rows), np.bool_)
    seen = np.empty(CODED_LEVELS + 1, rows.dtype)
    for k in range(len(rows)):
        found = 0
        for i in range(0 if levels[k] else min(rows.shape[1], 4 * CODED_LEVELS)):
            at = 0
            while at < found and seen[at] != rows[k, i]:
                at += 1
            if at == found:
                seen[at] = rows[k, i]
                found += 1
                if found > CODED_LEVELS:
                    many[k] = True
                    break
    return many


def _placed(rows: Matrix, probes: Matrix) -> tuple[Matrix, NDArray[np.uint64], Mask]:
    """Places and digests of columns, given as rows, and which of them are constant."""
    places = np.empty((len(rows), len(probes)))
    digest = np.empty((len(rows), 2), dtype=np.uint64)
    constant = np.empty(len(rows), dtype=bool)
    _place(rows, probes, places, digest, constant)
    return places, digest, constant


def _placed_by_rank(rows: Matrix, probes: Matrix) -> tuple[Matrix, NDArray[np.uint64]]:
    """Places and digests of the ranks of columns, given as rows."""
    places = np.empty((len(rows), len(probes)))
    digest = np.empty((len(rows), 2), dtype=np.uint64)
    _place_ranks(rows, np.argsort(rows, axis=1), probes, places, digest)
    return places, digest


@compiled
def _place(
    rows: Matrix, probes: Matrix, places: Matrix, digest: NDArray[Any], constant: Mask
) -> None:
    """Digests do not change with the sign of a column."""
    n = rows.shape[1]
    unit, digits = np.empty(n), np.empty(n, np.int64)
    for k in range(len(rows)):
        constant[k] = not _to_unit(rows[k], unit)
        _project(unit, probes, 1.0, places[k])
        for i in range(n):
            digits[i] = np.int64(np.rint(DIGITS * unit[i]))
        _mix(digits, 0 if places[k, 0] < 0 else -1, digest[k])
        places[k] = np.abs(places[k])


@compiled
def _place_ranks(
    rows: Matrix, order: NDArray[Any], probes: Matrix, places: Matrix, digest: NDArray[Any]
) -> None:
    """As `_place` for average ranks, which are whole numbers once doubled."""
    n = rows.shape[1]
    ranks = np.empty(n, np.int64)
    for k in range(len(rows)):
        row, turn = rows[k], order[k]
        start, squares = 0, 0.0
        while start < n:
            stop = start + 1
            while stop < n and row[turn[stop]] == row[turn[start]]:
                stop += 1
            centred = start + stop - n
            squares += float(stop - start) * float(centred) ** 2
            for i in range(start, stop):
                ranks[turn[i]] = centred
            start = stop
        _project(ranks, probes, 1.0 / np.sqrt(squares) if squares > 0 else 0.0, places[k])
        _mix(ranks, 0 if places[k, 0] < 0 else -1, digest[k])
        places[k] = np.abs(places[k])


@compiled_reordering
def _to_unit(row: Vector, unit: Vector) -> bool:
    """Centre a row and divide it by its norm, as `unit_columns` does; False for a constant."""
    n, top = len(row), 0.0
    for i in range(n):
        top = max(top, abs(row[i]))
    exponent = -math.frexp(top)[1]  # a power of two, in two steps, since one may be too large
    first = math.ldexp(1.0, exponent // 2)
    second = math.ldexp(1.0, exponent - exponent // 2)
    mean = 0.0
    for i in range(n):
        unit[i] = row[i] * first * second
        mean += unit[i]
    mean /= n
    rest = 0.0  # of the mean, which rounding left
    for i in range(n):
        unit[i] -= mean
        rest += unit[i]
    rest /= n
    squares = 0.0
    for i in range(n):
        unit[i] -= rest
        squares += unit[i] * unit[i]
    norm = math.sqrt(squares)
    varies = norm > 1e-13 * math.sqrt(n) * top * first * second
    for i in range(n):
        unit[i] = unit[i] / norm if varies else 0.0
    return varies


@compiled_reordering
def _project(row: NDArray[Any], probes: Matrix, scale: float, out: Vector) -> None:
    for j in range(len(probes)):
        total = 0.0
        for i in range(len(row)):
            total += row[i] * probes[j, i]
        out[j] = scale * total


@compiled
def _mix(row: NDArray[Any], mirror: int, out: NDArray[Any]) -> None:
    """128 bits of a row of whole numbers, or of `mirror` less each: every one is mixed in."""
    shift = np.uint64(29)
    one, two = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
    for i in range(len(row)):
        number = np.int64(row[i])
        word = np.uint64(mirror - number if mirror >= 0 else number)
        one = (one ^ word) * np.uint64(0xBF58476D1CE4E5B9)
        one ^= one >> shift
        two = (two + word) * np.uint64(0x94D049BB133111EB)
        two ^= two >> shift
    out[0], out[1] = one, two


@compiled
def _hash_levels(codes: NDArray[Any], levels: NDArray[Any], out: NDArray[Any]) -> None:
    """Digest of every row of levels or of its mirror image, whichever is first in dictionaries."""
    for k in range(len(codes)):
        if levels[k] == 0:
            continue
        top = levels[k] - 1
        mirror = -1
        for i in range(codes.shape[1]):
            if 2 * codes[k, i] != top:
                if 2 * codes[k, i] > top:
                    mirror = top
                break
        _mix(codes[k], mirror, out[k])
