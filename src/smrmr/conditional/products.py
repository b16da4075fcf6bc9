"""Finds products of two features that the target depends on, so that fits of it can hold them."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

from ..types import Indices, Matrix
from .scores import standardised
from .statistics.interaction import partner_scores, widest_directions
from .strongest import strongest

ALPHA = 0.05  # of all products together, by Bonferroni's rule
MAX_PRODUCTS = 25
PER_FEATURE = 8  # products of a feature with later ones that come into question
MOST_ALIKE = 0.5  # correlation of two features from which on their product is nearly a square
ROUGHLY = 0.8  # of the bound, from which on a product is looked at exactly
BLOCK = 256  # features whose products are looked at together


def product_columns(Z: Matrix, pairs: Indices) -> Matrix:
    """Two columns for each pair of rows of Z: its product, and that of their scores as partners."""
    first, second = (Z[side].astype(np.float64, copy=False) for side in pairs.T)
    scored = partner_scores(first, np.float64) * partner_scores(second, np.float64)
    return standardised(np.concatenate([first * second, scored]))


def find_products(Z: Matrix, Y: Matrix) -> Indices:
    """Pairs of rows of Z whose product correlates with the target beyond chance, best first.

    Rows of Z are standardised, those of Y are the columns of the target; products are those of
    scores as partners, which have no long tails. Whether a pair is among them depends on these two
    features and the target alone, but for the 25 best of more: so the products that are left when a
    feature is left out are the same whatever it holds.
    """
    (p, n), basis = Z.shape, widest_directions(Y)
    d, n_pairs = len(basis), p * (p - 1) / 2
    if n - 1 - d < 3 or p < 3:
        return np.empty((0, 2), np.intp)
    bound = 1 - betaincinv((n - 1 - d) / 2, d / 2, ALPHA / n_pairs)
    rows, scores = np.arange(p), partner_scores(Z, np.float32)
    lengths = np.sqrt(np.einsum("ki,ki->k", scores, scores) / n)
    scores /= np.where(lengths > 0, lengths, np.inf)[:, None]
    candidates = []
    for start in range(0, p, BLOCK):
        own, others = scores[start : start + BLOCK], scores[start:]
        shares = np.zeros((len(own), len(others)), np.float32)
        for direction in basis.astype(np.float32):
            shares += ((own * direction) @ others.T) ** 2
        mine = rows[start : start + len(own)]
        best = strongest(shares, mine, rows[start:], ROUGHLY * bound * n, PER_FEATURE)
        k, place = np.nonzero(best >= 0)
        candidates.append(np.sort(np.stack([mine[k], start + best[k, place]], axis=1), axis=1))
    pairs = np.unique(np.concatenate(candidates), axis=0)
    exact = np.sum((product_columns(Z, pairs)[len(pairs) :] @ basis.T) ** 2, axis=1) / n
    alike = np.abs(np.einsum("ki,ki->k", *Z[pairs.T])) > MOST_ALIKE * n
    order = np.lexsort((*pairs.T[::-1], -exact))
    return np.asarray(pairs[order[(exact > bound)[order] & ~alike[order]]][:MAX_PRODUCTS])
