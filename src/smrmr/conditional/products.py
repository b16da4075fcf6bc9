"""Finds products of two features that the target depends on, so that fits of it can hold them."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

from ..types import Indices, Matrix
from .statistics.interaction import widest_directions
from .strongest import strongest

ALPHA = 0.05  # of all products together, by Bonferroni's rule
MAX_PRODUCTS = 50
PER_FEATURE = 8  # products of a feature with later ones that come into question
MOST_ALIKE = 0.5  # correlation of two features from which on their product is nearly a square
ROUGHLY = 0.8  # of the bound, from which on a product is looked at exactly
BLOCK = 256  # features whose products are looked at together


def find_products(Z: Matrix, scores32: Matrix, Y: Matrix) -> Indices:
    """Pairs of rows of Z whose product correlates with the target beyond chance, best first.

    Rows of Z are standardised, those of Y are the columns of the target. Whether a pair is among
    them depends on these two features and the target alone, but for the 50 best of more: so the
    products that are left when a feature is left out are the same whatever it holds.
    """
    (p, n), basis = Z.shape, widest_directions(Y)
    d, n_pairs = len(basis), p * (p - 1) / 2
    if n - 1 - d < 3 or p < 3:
        return np.empty((0, 2), np.intp)
    bound = 1 - betaincinv((n - 1 - d) / 2, d / 2, ALPHA / n_pairs)
    rows = np.arange(p)
    candidates = []
    for start in range(0, p, BLOCK):
        own, others = scores32[start : start + BLOCK], scores32[start:]
        shares = np.zeros((len(own), len(others)), np.float32)
        for direction in basis.astype(np.float32):
            shares += ((own * direction) @ others.T) ** 2
        mine = rows[start : start + len(own)]
        best = strongest(shares, mine, rows[start:], ROUGHLY * bound * n, PER_FEATURE)
        k, place = np.nonzero(best >= 0)
        candidates.append(np.sort(np.stack([mine[k], start + best[k, place]], axis=1), axis=1))
    pairs = np.unique(np.concatenate(candidates), axis=0)
    first, second = (Z[side].astype(np.float64, copy=False) for side in pairs.T)
    products = first * second
    products -= products.mean(axis=1, keepdims=True)
    squares = np.maximum(np.einsum("ki,ki->k", products, products), 1e-300)
    exact = np.sum((products @ basis.T) ** 2, axis=1) / squares
    alike = np.abs(np.einsum("ki,ki->k", first, second)) > MOST_ALIKE * n
    order = np.lexsort((*pairs.T[::-1], -exact))
    return np.asarray(pairs[order[(exact > bound)[order] & ~alike[order]]][:MAX_PRODUCTS])
