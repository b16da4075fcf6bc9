"""Takes fingerprints of columns, block by block, by which copies are found without all pairs."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.ranks import average_ranks
from ..data.scaling import unit_columns
from ..measures.coding_loops import code_small_integers
from ..measures.compiled import compiled
from ..types import Mask, Matrix

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
    codes, levels = _coded(values)
    few, k = levels > 0, values.shape[1]
    constant = levels == 1
    places, ranked_places = (np.full((k, probes.shape[1]), np.nan) for _ in range(2))
    digest, ranked_digest = (np.zeros((k, 2), dtype=np.uint64) for _ in range(2))
    _hash_levels(codes, levels, ranked_digest)
    rest = np.flatnonzero(~few)
    if rest.size:
        plain = unit_columns(values[:, rest])
        constant[rest] = np.abs(plain).max(axis=0) == 0
        places[rest], digest[rest] = _placed(plain, probes)
        rest = rest if by_rank else rest[have_ties(values[:, rest])]
        ranks = unit_columns(average_ranks(values[:, rest], axis=0))
        ranked_places[rest], ranked_digest[rest] = _placed(ranks, probes)
    return Fingerprints(constant, few, places, digest, ranked_places, ranked_digest)


def have_ties(values: NDArray[Any]) -> Mask:
    """Which columns hold some value twice."""
    ordered = np.sort(values, axis=0)
    return np.asarray((ordered[1:] == ordered[:-1]).any(axis=0))


def _placed(unit: Matrix, probes: Matrix) -> tuple[Matrix, NDArray[np.uint64]]:
    """Absolute projections, and a digest that the sign of the column does not change."""
    places = unit.T @ probes
    turned = np.where(places[:, 0] < 0, -unit, unit)
    digits = np.ascontiguousarray(np.rint(DIGITS * turned).T.astype(np.int64))
    digest = np.empty((len(digits), 2), dtype=np.uint64)
    _hash_rows(digits, digest)
    return np.abs(places), digest


def _coded(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Levels of the columns of few levels, one row per column, and their number, 0 for others."""
    dtype = np.int8 if values.dtype == np.int8 else np.float64  # as in Columns.blocks
    rows = np.ascontiguousarray(values.T, dtype=dtype)
    codes, _, levels = code_small_integers(rows, CODED_LEVELS)
    for k in np.flatnonzero(levels == 0):
        if len(np.unique(rows[k, : 4 * CODED_LEVELS])) > CODED_LEVELS:
            continue  # most columns have many levels, which a few rows show
        found, code = np.unique(rows[k], return_inverse=True)
        if len(found) <= CODED_LEVELS:
            codes[k], levels[k] = code, len(found)
    return codes, levels


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
def _hash_rows(rows: NDArray[Any], out: NDArray[Any]) -> None:
    """Digest of every row: that of equal rows is equal, that of others is not."""
    for k in range(len(rows)):
        _mix(rows[k], -1, out[k])


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
