"""Finds products of two features that the target depends on, so that fits of it can hold them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

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
BLOCK = 256  # features whose products are looked at together

Floats = NDArray[np.floating]


def product_columns(Z: Matrix, pairs: Indices) -> Matrix:
    """Two columns for each pair of rows of Z: its product, and that of their scores as partners."""
    first, second = (Z[side].astype(np.float64, copy=False) for side in pairs.T)
    scored = partner_scores(first, np.float64) * partner_scores(second, np.float64)
    return standardised(np.concatenate([first * second, scored]))


def scaled_scores(Z: Matrix) -> Floats:
    """Scores of rows of Z as partners, with a mean square of 1, in single precision."""
    scores = partner_scores(Z, np.float32)
    squares = np.einsum("ki,ki->k", scores, scores)
    scores *= np.sqrt(Z.shape[1] / np.maximum(squares, 1e-6)).astype(np.float32)[:, None]
    return scores


def find_products(Z: Matrix, Y: Matrix) -> Indices:
    """Pairs of rows of Z whose product correlates with the target beyond chance, best first.

    Rows of Z are standardised, those of Y are the columns of the target; products are those of
    scores as partners, which have no long tails. Whether a pair is among them depends on these two
    features and the target alone, but for the 25 best of more: so the products that are left when a
    feature is left out are the same whatever it holds.
    """
    p, basis = len(Z), widest_directions(Y)
    bound = _bound(Z.shape[1], len(basis), p * (p - 1) / 2)
    scores = scaled_scores(Z)
    candidates = [
        start + _candidates(scores[start : start + BLOCK], scores[start:], basis, bound)
        for start in range(0, p, BLOCK)
    ]
    return _beyond(Z, np.concatenate(candidates), basis, bound)[:MAX_PRODUCTS]


def products_with_partners(
    Z: Matrix, places: Indices, partners: Indices, scores: Floats, out: Indices, R: Matrix
) -> Indices:
    """The same for residuals R: pairs of the partners at some places with all partners.

    `partners` are rows of Z, and `scores` are theirs, scaled. No pair has a row of `out`.
    """
    basis = widest_directions(R)
    bound = _bound(Z.shape[1], len(basis), len(places) * len(partners))
    found = [np.empty((0, 2), np.intp)]
    for start in range(0, len(places), BLOCK):
        some = places[start : start + BLOCK]
        pairs = _candidates(scores[some], scores, basis, bound)
        found.append(partners[np.stack([some[pairs[:, 0]], pairs[:, 1]], axis=1)])
    pairs = np.concatenate(found)
    pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & ~np.isin(pairs, out).any(axis=1)]
    return _beyond(Z, pairs, basis, bound)[:MAX_OF_SOME]


def _bound(n: int, d: int, n_pairs: float) -> float:
    """Share of d directions of the target in a product that chance exceeds in no pair."""
    if n - 1 - d < 3 or n_pairs < 1:
        return 1.0
    return float(1 - betaincinv((n - 1 - d) / 2, d / 2, ALPHA / n_pairs))


def _candidates(own: Floats, others: Floats, basis: Matrix, bound: float) -> Indices:
    """Pairs of a row of each whose product may exceed the bound, going by single precision.

    Rows have a mean square of 1, and so has their product, about.
    """
    inner = (own * basis[0].astype(np.float32)) @ others.T
    if len(basis) > 1:
        inner *= inner
        for direction in basis[1:].astype(np.float32):
            inner += ((own * direction) @ others.T) ** 2
    least = (ROUGHLY * bound * own.shape[1]) ** (0.5 if len(basis) == 1 else 1.0)
    mine, all_others = np.full(len(own), -1), np.zeros(len(others), np.intp)
    best = strongest(inner, mine, all_others, least, PER_FEATURE)
    k, place = np.nonzero(best >= 0)
    return np.stack([k, best[k, place]], axis=1)


def _beyond(Z: Matrix, pairs: Indices, basis: Matrix, bound: float) -> Indices:
    """Pairs whose product exceeds the bound, best first, each once; no pairs of features alike."""
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    n, columns = Z.shape[1], product_columns(Z, pairs)[len(pairs) :]
    shares = np.sum((columns @ basis.T) ** 2, axis=1) / n
    alike = np.abs(np.einsum("ki,ki->k", *Z[pairs.T])) > MOST_ALIKE * n
    order = np.lexsort((*pairs.T[::-1], -shares))
    return np.asarray(pairs[order[((shares > bound) & ~alike)[order]]])
