r"""Offers Interaction: features whose effect depends on another feature, their partner.

If feature k has no effect given the others, its residual r is independent of the residual e of the
target and of every other feature, and so of their products :math:`e \, g(z_j)` for all partners j.
:math:`g(z) = \operatorname{sign}(z) \sqrt{2 \Phi(|z|) - 1}` lies between z and its sign, and so
serves products and thresholds alike. All pairs of features take one product of two matrices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, stdtr

from ...runs.stored_rows import row_blocks
from ...types import Indices, Matrix, Vector
from ..strongest import strongest
from .joint import f_tail
from .pairs import Interactions, ResidualPairs

MAX_DIRECTIONS = 10  # of the residuals of several classes or outputs; the widest
MIN_WIDTH = 1e-6  # of a direction, relative to the widest
N_KEPT = 10  # partners of each feature that are looked at again,
N_LISTED = 30  # and those that may be reported then


@dataclass(frozen=True)
class Interaction:
    """Correlation of r with products of e and another feature, ``"interaction"``.

    The smallest p-value over all partners counts, corrected for their number (Sidak 1967).
    Residuals of several classes or outputs are compared jointly. It finds features that matter only
    together with another one, and names that partner.

    Parameters
    ----------
    weight, weight_with_abs, weight_with_products
        Weight in the combination of p-values; the same where absolute values of features helped the
        fit of the target, and where products of features take part in it.

    Examples
    --------
    >>> from smrmr import ConditionalTests
    >>> from smrmr.conditional import Interaction
    >>> ConditionalTests(statistics="linear+interaction").statistics[1] == Interaction()
    True
    """

    weight: float = 0.1
    weight_with_abs: float = 0.05
    weight_with_products: float = 0.3
    alias: ClassVar[str] = "interaction"
    only_mean: ClassVar[bool] = True
    all_columns: ClassVar[bool] = True
    needs_partners: ClassVar[bool] = True

    def p_values(self, pairs: ResidualPairs) -> Vector:
        """One p-value for each feature.

        Parameters
        ----------
        pairs
            Residuals of features and target, and how features act together with partners.

        Returns
        -------
        ndarray
            p-values, (k,).
        """
        if pairs.interactions is None:
            return np.ones(len(pairs.features))
        return pairs.interactions.p


def partner_scores(Z: Matrix, precision: type[np.floating]) -> NDArray[np.floating]:
    """The function g of standardised rows."""
    values = Z.astype(precision, copy=False)
    sizes = np.sqrt(erf(np.abs(values) / np.sqrt(precision(2))))
    return np.asarray(np.copysign(sizes, values))


@dataclass(frozen=True, eq=False)
class PartnerProducts:
    """Products of the residuals of the target with partners.

    Attributes
    ----------
    values
        Rows of mean 0, those of one partner orthonormal, (d, partners, n): an array, or what is
        indexed like one by partners and read or made by need.
    n_directions
        Number of rows that each partner has; others are 0.
    partners
        Number of each partner.
    targets
        The residuals, (q, n).
    """

    values: Any
    n_directions: Indices
    partners: Indices
    targets: Matrix

    @classmethod
    def of(cls, E: Matrix, scores: NDArray[np.floating], partners: Indices) -> PartnerProducts:
        """Products of the rows of E, (q, n), with `scores` of partners, in their precision."""
        basis = widest_directions(E)
        products = basis.astype(scores.dtype)[:, None] * scores
        products -= products.mean(axis=2, keepdims=True)
        if len(basis) == 1:
            lengths = np.sqrt(np.einsum("dmn,dmn->dm", products, products))[:, :, None]
            is_any = lengths > MIN_WIDTH
            products /= np.where(is_any, lengths, np.inf)
            return cls(products, is_any[0, :, 0].astype(np.intp), partners, E)
        by_partner = np.moveaxis(products, 1, 0)
        among = np.matmul(by_partner, np.swapaxes(by_partner, 1, 2)).astype(np.float64)
        widths, vectors = np.linalg.eigh(among)
        kept = widths > MIN_WIDTH * np.maximum(widths[:, -1:], MIN_WIDTH)
        scale = np.where(kept, 1 / np.sqrt(np.where(kept, widths, 1.0)), 0.0)
        turned = np.swapaxes(vectors * scale[:, None], 1, 2).astype(scores.dtype)
        values = np.ascontiguousarray(np.moveaxis(np.matmul(turned, by_partner), 0, 1))
        return cls(values, kept.sum(axis=1), partners, E)

    def compare(
        self, R: Matrix, mine: Indices, hypothesis_of: Indices, n_outside: Indices, most: int
    ) -> Interactions:
        """How features with residuals R, (k, n), act together with their `most` best partners.

        `mine` are their hypotheses, and `hypothesis_of` are those of the partners: none is in that
        of its feature. `n_outside` is the number of all partners that each may have.
        """
        if not len(self.partners):
            return _without_partners(n_outside)
        lengths = np.linalg.norm(R, axis=1, keepdims=True)
        unit = (R / np.where(lengths > 0, lengths, np.inf)).astype(self.values.dtype)
        blocks = row_blocks((len(self.partners), R.shape[1]))
        sizes = np.concatenate([self._sizes(unit, some) for some in blocks], axis=1)
        single = sizes.astype(np.float32, copy=False)  # one kind of loop is enough to order them
        best = strongest(single, mine, hypothesis_of, 0.0, min(most, len(self.partners)))
        return self._of(np.take_along_axis(sizes, best, axis=1), best, n_outside, R.shape[1])

    def _sizes(self, unit: NDArray[np.floating], some: slice) -> NDArray[np.floating]:
        """Correlations with some partners, or shares of several directions."""
        first, *others = self.values[:, some]
        sizes: NDArray[np.floating] = unit @ first.T
        if others:
            sizes *= sizes
            for rows in others:
                sizes += (unit @ rows.T) ** 2
        return sizes

    def each_with_its_own(self, R: Matrix, partners: Indices, n_outside: Indices) -> Interactions:
        """How features with residuals R act together with one partner each, -1 for none."""
        if not len(self.partners):
            return _without_partners(n_outside)
        order = np.argsort(self.partners)
        place = order[np.searchsorted(self.partners, partners, sorter=order) % len(order)]
        lengths = np.maximum(np.linalg.norm(R, axis=1), 1e-300)
        sizes = np.einsum("kn,dkn->dk", R, self.values[:, place]) / lengths
        size = np.sum(sizes**2, axis=0) if len(sizes) > 1 else sizes[0]
        best = np.where(partners < 0, -1, place)[:, None]
        return self._of(size[:, None], best, n_outside, R.shape[1])

    def _of(self, sizes: Matrix, places: Indices, n_outside: Indices, n: int) -> Interactions:
        """What correlations, or shares of several directions, with partners at places say."""
        found, size = places >= 0, sizes.astype(np.float64)
        share = np.minimum(size if len(self.values) > 1 else size**2, 1 - 1e-7)
        d = np.maximum(self.n_directions[places], 1)
        left = np.maximum(n - 1.0 - d, 1.0)
        p = np.where(found, f_tail(share / d, (1 - share) / left, d, left), 1.0)
        effect = np.where(found, np.copysign(np.sqrt(share), size), 0.0)
        return Interactions(np.where(found, self.partners[places], -1), p, effect, n_outside)

    def robust(self, R: Matrix, found: Interactions) -> Interactions:
        """The same partners with p-values that allow for residuals of unequal spread.

        These are no smaller than before: the mean of r times a product over its own standard error,
        the generalised covariance measure of Shah and Peters (2020). Of several directions the
        largest counts, by Bonferroni's rule.
        """
        if not len(self.partners):
            return found
        place = {int(partner): j for j, partner in enumerate(self.partners)}
        places = np.array([[place.get(int(j), 0) for j in row] for row in found.partners])
        n, t = R.shape[1], np.empty((len(self.values), *places.shape))
        for k, r in enumerate(R):
            products = r * self.values[:, places[k]]  # (d, most, n)
            spread = products.std(axis=2) * np.sqrt(n / (n - 1))
            mean = np.abs(products.mean(axis=2))
            t[:, k] = mean * np.sqrt(n) / np.where(spread > 0, spread, np.inf)
        d = np.maximum(self.n_directions[places], 1)
        p = np.minimum(2 * d * stdtr(max(n - 2, 1), -t).min(axis=0), 1.0)
        return replace(found, p_of_partners=np.maximum(p, found.p_of_partners))


def _without_partners(n_outside: Indices) -> Interactions:
    none = np.full((len(n_outside), 1), -1)
    return Interactions(none, np.ones(none.shape), np.zeros(none.shape), n_outside)


def widest_directions(E: Matrix) -> Matrix:
    """Orthonormal rows that span those of E, without their means, or the widest of them."""
    centred = E - E.mean(axis=1, keepdims=True)
    if len(E) == 1:  # with its sign
        return np.asarray(centred / max(float(np.linalg.norm(centred)), MIN_WIDTH))
    _, widths, rows = np.linalg.svd(centred, full_matrices=False)
    n_wide = np.count_nonzero(widths > MIN_WIDTH * max(float(widths[0]), MIN_WIDTH))
    return np.asarray(rows[: max(1, min(n_wide, MAX_DIRECTIONS))])
