"""Finds products of two features that the target depends on, so that fits of it can hold them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from ..runs.blocks import map_on_threads
from ..runs.stored_rows import IN_MEMORY, Room, RowMatrix, inner_products, row_blocks, span
from ..types import Indices, Matrix
from .scores import standardised
from .statistics.interaction import partner_scores, widest_directions
from .strongest import strongest

ALPHA = 0.05  # of all products together, by Bonferroni's rule
MAX_PRODUCTS = 25
MAX_OF_SOME = 5
PER_FEATURE = 8  # products of a feature with later ones that come into question
MOST_ALIKE = 0.5  # correlation of two features from which on their product is nearly a square
ROUGHLY = 0.8  # of the bound, from which on a product is looked at exactly
BLOCK = 256  # features whose products are looked at together,
BLOCK_VALUES = 2**24  # or as many as have no more values

Floats = NDArray[np.floating]


def product_columns(Z: RowMatrix, pairs: Indices) -> Matrix:
    """Two columns for each pair of rows of Z: its product, and that of their scores as partners."""
    first, second = (Z[side].astype(np.float64, copy=False) for side in pairs.T)
    return np.concatenate([standardised(first * second), _scored_products(first, second)])


def _scored_products(first: Matrix, second: Matrix) -> Matrix:
    """Products of scores as partners."""
    return standardised(partner_scores(first, np.float64) * partner_scores(second, np.float64))


def all_scaled_scores(Z: RowMatrix, room: Room = IN_MEMORY, n_jobs: int | None = 1) -> RowMatrix:
    """Scores of rows of Z as partners, with a mean square of 1, in single precision."""
    found = room.rows(Z.shape, np.float32)

    def put(block: slice) -> None:
        found[block] = scaled_scores(Z[block])

    map_on_threads(put, row_blocks(Z.shape, _width(Z)), n_jobs)
    return found


def scaled_scores(Z: Matrix) -> Floats:
    """The same of a few rows."""
    scores = partner_scores(Z, np.float32)
    squares = np.einsum("ki,ki->k", scores, scores)
    scores *= np.sqrt(Z.shape[1] / np.maximum(squares, 1e-6)).astype(np.float32)[:, None]
    return scores


def find_products(
    Z: RowMatrix, Y: Matrix, scores: RowMatrix = None, n_jobs: int | None = 1
) -> Indices:
    """Pairs of rows of Z whose product correlates with the target beyond chance, best first.

    RowMatrix of Z are standardised, those of Y are the columns of the target; products are those of
    scores as partners, which have no long tails. Whether a pair is among them depends on these two
    features and the target alone, but for the 25 best of more: so the products that are left when a
    feature is left out are the same whatever it holds. `scores` are those of Z, scaled, where they
    are at hand.
    """
    p, basis = len(Z), widest_directions(Y)
    bound = _bound(Z.shape[1], len(basis), p * (p - 1) / 2)
    scores = all_scaled_scores(Z, n_jobs=n_jobs) if scores is None else scores
    width = _width(Z)

    def from_row(start: int) -> Indices:
        own = scores[start : start + width]
        return start + _candidates(own, span(scores, start), basis, bound)

    candidates = map_on_threads(from_row, range(0, p, width), n_jobs)
    return _beyond(Z, np.concatenate(candidates), basis, bound, n_jobs)[:MAX_PRODUCTS]


def products_with_partners(
    Z: RowMatrix, places: Indices, partners: Indices, scores: RowMatrix, out: Indices, R: Matrix
) -> Indices:
    """The same for residuals R: pairs of the partners at some places with all partners.

    `partners` are rows of Z, and `scores` are theirs, scaled. No pair has a row of `out`.
    """
    basis = widest_directions(R)
    bound = _bound(Z.shape[1], len(basis), len(places) * len(partners))
    found = [np.empty((0, 2), np.intp)]
    width = _width(Z)
    for start in range(0, len(places), width):
        some = places[start : start + width]
        pairs = _candidates(scores[some], scores, basis, bound)
        found.append(partners[np.stack([some[pairs[:, 0]], pairs[:, 1]], axis=1)])
    pairs = np.concatenate(found)
    pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & ~np.isin(pairs, out).any(axis=1)]
    return _beyond(Z, pairs, basis, bound)[:MAX_OF_SOME]


def _width(Z: RowMatrix) -> int:
    return max(1, min(BLOCK, BLOCK_VALUES // int(Z.shape[1])))


def _bound(n: int, d: int, n_pairs: float) -> float:
    """Share of d directions of the target in a product that chance exceeds in no pair."""
    if n - 1 - d < 3 or n_pairs < 1:
        return 1.0
    return float(1 - betaincinv((n - 1 - d) / 2, d / 2, ALPHA / n_pairs))


def _candidates(own: Floats, others: RowMatrix, basis: Matrix, bound: float) -> Indices:
    """Pairs of a row of each whose product may exceed the bound, going by single precision.

    RowMatrix have a mean square of 1, and so has their product, about.
    """
    inner = inner_products(own * basis[0].astype(np.float32), others)
    if len(basis) > 1:
        inner *= inner
        for direction in basis[1:].astype(np.float32):
            inner += inner_products(own * direction, others) ** 2
    least = (ROUGHLY * bound * own.shape[1]) ** (0.5 if len(basis) == 1 else 1.0)
    mine, all_others = np.full(len(own), -1), np.zeros(len(others), np.intp)
    best = strongest(inner, mine, all_others, least, PER_FEATURE)
    k, place = np.nonzero(best >= 0)
    return np.stack([k, best[k, place]], axis=1)


def _beyond(
    Z: RowMatrix, pairs: Indices, basis: Matrix, bound: float, n_jobs: int | None = 1
) -> Indices:
    """Pairs whose product exceeds the bound, best first, each once; no pairs of features alike."""
    pairs, n = np.unique(np.sort(pairs, axis=1), axis=0), Z.shape[1]

    def compare(some: slice) -> Matrix:
        first, second = (Z[side] for side in pairs[some].T)
        inner = np.einsum("ki,ki->k", first, second)
        first, second = (side.astype(np.float64, copy=False) for side in (first, second))
        shares = np.sum((_scored_products(first, second) @ basis.T) ** 2, axis=1) / n
        return np.stack([shares, inner])

    blocks = row_blocks((len(pairs), n), BLOCK)
    none = np.empty((2, 0))
    shares, inner = np.concatenate([none, *map_on_threads(compare, blocks, n_jobs)], axis=1)
    alike = np.abs(inner) > MOST_ALIKE * n
    order = np.lexsort((*pairs.T[::-1], -shares))
    return np.asarray(pairs[order[((shares > bound) & ~alike)[order]]])
