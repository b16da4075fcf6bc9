"""Takes fingerprints of columns, block by block, by which copies are found without all pairs."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.ranks import begins_run
from ..data.scaling import unit_scale
from ..measures.coding_loops import code_small_integers
from ..types import Indices, Mask, Matrix

CODED_LEVELS = 16  # columns of so few levels are compared level by level
PROBES = 4
DIGITS = 1e10  # columns that agree in ten digits have one digest
AT_ONCE = 2**15  # values that are looked at together


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


def fingerprints(
    values: NDArray[Any],
    probes: Matrix,
    by_rank: bool,
    ranks: Callable[[Indices, Matrix], NDArray[np.int32]],
) -> Fingerprints:
    """Fingerprints of the columns of a block, (n, k); with `by_rank` ranks are compared too.

    `ranks` gives the doubled ranks of some columns, and gets their values, one row each.
    """
    dtype = np.int8 if values.dtype == np.int8 else np.float64  # as in Columns.blocks
    rows = np.ascontiguousarray(values.T, dtype=dtype)
    codes, _, levels = code_small_integers(rows, CODED_LEVELS)
    k, constant = len(rows), np.zeros(len(rows), np.bool_)
    places, ranked_places = (np.full((k, probes.shape[1]), np.nan) for _ in range(2))
    digest, ranked_digest = (np.zeros((k, 2), dtype=np.uint64) for _ in range(2))
    for which in _some(np.flatnonzero(levels == 0), len(values)):
        some = np.ascontiguousarray(rows[which], dtype=np.float64)
        ranked = np.flatnonzero(_are_ranked(some, by_rank))
        own, doubled = which[ranked], ranks(which[ranked], some[ranked])
        codes[own], levels[own] = _coded(doubled)
        own, doubled = own[levels[own] == 0], doubled[levels[own] == 0]
        ranked_places[own], ranked_digest[own] = _placed_by_rank(doubled, probes)
        which, some = which[levels[which] == 0], some[levels[which] == 0]
        places[which], digest[which], constant[which] = _placed(some, probes)
    few = levels > 0
    for which in _some(np.flatnonzero(few), len(values)):
        levels_from_middle = 2 * codes[which].astype(np.int64)
        levels_from_middle -= levels[which, None] - 1  # so that a mirror image is the negative
        ranked_digest[which] = _digests(levels_from_middle)
    constant |= levels == 1
    return Fingerprints(constant, few, places, digest, ranked_places, ranked_digest)


def _some(which: Indices, n: int) -> list[Indices]:
    """Columns of n values, as many at a time as stay in fast memory."""
    return np.split(which, range(max(1, AT_ONCE // n), len(which), max(1, AT_ONCE // n)))


def _are_ranked(rows: Matrix, by_rank: bool) -> Mask:
    """Which rows are compared by rank: all, or those with ties and those that are short."""
    if by_rank or rows.shape[1] <= CODED_LEVELS:
        return np.ones(len(rows), np.bool_)
    return np.asarray(~begins_run(np.sort(rows, axis=1)).all(axis=1))


def _coded(doubled: NDArray[np.int32]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Levels of rows of doubled ranks, and their number, 0 where there are more than a few."""
    codes, levels = np.zeros(doubled.shape, np.uint8), np.zeros(len(doubled), np.int64)
    for k in np.flatnonzero(~_many_levels(doubled)):
        found, code = np.unique(doubled[k], return_inverse=True)
        if len(found) <= CODED_LEVELS:
            codes[k], levels[k] = code, len(found)
    return codes, levels


def _many_levels(doubled: NDArray[np.int32]) -> Mask:
    """Which rows show more than a few levels among their first values, as most do."""
    many = np.zeros(len(doubled), dtype=bool)
    for looked_at in (CODED_LEVELS + 1, 4 * CODED_LEVELS):
        asked = np.flatnonzero(~many)
        first = np.sort(doubled[asked, :looked_at], axis=1)
        many[asked] = (first[:, 1:] != first[:, :-1]).sum(axis=1) >= CODED_LEVELS
    return many


def _placed(rows: Matrix, probes: Matrix) -> tuple[Matrix, NDArray[np.uint64], Mask]:
    """Places and digests of columns, given as rows, and which of them are constant."""
    unit = unit_scale(rows)
    noise = 1e-13 * np.sqrt(rows.shape[1]) * np.abs(unit).max(axis=1)  # as in `unit_columns`
    unit -= unit.mean(axis=1, keepdims=True)
    norms = np.sqrt(np.einsum("ki,ki->k", unit, unit))
    constant = norms <= noise
    unit *= np.where(constant, 0.0, 1 / np.where(constant, 1.0, norms))[:, None]
    places = np.abs(unit @ probes)
    unit *= DIGITS
    return places, _digests(np.rint(unit, out=unit)), constant


def _placed_by_rank(
    doubled: NDArray[np.int32], probes: Matrix
) -> tuple[Matrix, NDArray[np.uint64]]:
    """Places and digests of the ranks of columns, given doubled, as rows."""
    centred = doubled.astype(np.float64)
    centred -= doubled.shape[1] + 1
    norms = np.sqrt(np.einsum("ki,ki->k", centred, centred))
    places = np.abs(centred @ probes) / np.where(norms > 0, norms, 1.0)[:, None]
    return places, _digests(centred)


def _digests(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """128 bits of every row of whole numbers, the same for a row and its negative.

    Two sums of the numbers, weighted at random, modulo 2**64: those of the negative are negative.
    """
    sums = rows.astype(np.int64, copy=False).view(np.uint64) @ _weights(rows.shape[1])
    return np.where(sums[:, :1] > -sums[:, :1], -sums, sums)


@lru_cache(maxsize=1)
def _weights(n: int) -> NDArray[np.uint64]:
    return np.random.default_rng(0).integers(2**64, size=(n, 2), dtype=np.uint64)
