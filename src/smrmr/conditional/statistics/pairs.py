r"""Defines ResidualPairs, what statistics are given, and the moments that several of them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runs.compiled import compiled_reordering
from ...types import Indices, Mask, Matrix, Vector
from .rank_covariances import covariance_of_ranks, in_order, rank_table, ranks_of, scores_by_rank

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Moments:
    r"""What is known of pairs (r, e) from sums over rows, one entry for each pair.

    `correlation_abs_r` and `correlation_abs_e` are correlations of \|r\| with normal scores of e,
    and of r with \|e\|: one side of each is close to normal, without which small p-values would be
    too small. `t_product` and `t_product_abs_r` are the means of r e and of \|r\| e, centred, over
    their own standard errors.
    """

    correlation_abs_r: Vector
    correlation_abs_e: Vector
    t_product: Vector
    t_product_abs_r: Vector


@dataclass(frozen=True, eq=False)
class Interactions:
    """How k features act together with their best partners, best first; -1 for none.

    `partners` are numbers of partners, `p_of_partners` their p-values and `effects` correlations
    of r with products of e and the partner, all (k, most); of several columns of the target the
    multiple correlation. `n_partners` is the number of all partners that each feature may have.
    """

    partners: Indices
    p_of_partners: Matrix
    effects: Matrix
    n_partners: Indices

    @property
    def p(self) -> Vector:
        """p-value of each feature: of its best partner, corrected for the number of partners.

        It is 1 without any partner.
        """
        smallest = np.minimum(self.p_of_partners.min(axis=1, initial=1.0), 1 - 1e-16)
        corrected = -np.expm1(self.n_partners * np.log1p(-smallest))
        return np.asarray(np.where(self.n_partners > 0, corrected, 1.0))

    @classmethod
    def joined(cls, parts: Sequence[Interactions]) -> Interactions:
        """Those of several lots of features, with as many partners as the longest list has."""
        k, most = zip(*(part.partners.shape for part in parts), strict=True)
        shape = sum(k), max(most)
        found = cls(np.full(shape, -1), np.ones(shape), np.zeros(shape), np.zeros(sum(k), np.intp))
        start = 0
        for part in parts:
            some = slice(start, start + len(part.partners)), slice(part.partners.shape[1])
            found.partners[some] = part.partners
            found.p_of_partners[some] = part.p_of_partners
            found.effects[some] = part.effects
            found.n_partners[some[0]] = part.n_partners
            start = some[0].stop
        return found

    def take(self, which: Any) -> Interactions:
        """Those of some features."""
        return Interactions(
            self.partners[which],
            self.p_of_partners[which],
            self.effects[which],
            self.n_partners[which],
        )


@dataclass(frozen=True, eq=False)
class ResidualPairs:
    """Residuals of features and of the target, adjusted for the same neighbours.

    Attributes
    ----------
    features
        Residual r of each of k features, (k, n).
    targets
        Residuals of the q columns of the target beside each of them, (q, k, n).
    rank
        Dimensions that neighbours and covariates take up, (k,).
    feature_order
        Samples by r, ties broken, (k, n).
    tie_breaker
        Tiny numbers that break ties of e.
    column
        The column of the target that e stands for.
    fitted
        What the neighbours predict of each feature, (k, n); nothing if left out.
    interactions
        How each feature acts together with others; nothing if that was not asked.

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr.conditional import Linear, ResidualPairs
    >>> r = np.array([[-1.5, -0.5, 0.5, 1.5]])
    >>> pairs = ResidualPairs(r, r[None], np.zeros(1, int), np.argsort(r), np.zeros(4))
    >>> pairs.correlation.round(6).tolist(), bool(Linear().p_values(pairs)[0] < 1e-6)
    ([1.0], True)
    """

    features: Matrix
    targets: NDArray[np.float64]
    rank: Indices
    feature_order: Indices
    tie_breaker: Vector
    column: int = 0
    fitted: Matrix | None = None
    interactions: Interactions | None = None

    def take(self, which: Mask) -> ResidualPairs:
        """Some of the features.

        Parameters
        ----------
        which
            A mask of the features.

        Returns
        -------
        ResidualPairs
            Theirs.
        """
        return ResidualPairs(
            self.features[which],
            self.targets[:, which],
            self.rank[which],
            self.feature_order[which],
            self.tie_breaker,
            self.column,
            None if self.fitted is None else self.fitted[which],
            None if self.interactions is None else self.interactions.take(which),
        )

    @property
    def target(self) -> Matrix:
        """Residual e of one column of the target beside each feature, (k, n)."""
        return np.asarray(self.targets[self.column])

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.features.shape[1])

    @property
    def freedom(self) -> Vector:
        """Degrees of freedom of a correlation."""
        return np.asarray(self.n_rows - 2 - self.rank, dtype=np.float64)

    @cached_property
    def target_ranks(self) -> Indices:
        """Rank of e from 0, ties broken."""
        different = self.target[:1] if _are_equal(self.target) else self.target
        ranks = ranks_of(np.argsort(different + self.tie_breaker))
        return np.repeat(ranks, len(self.target) // max(len(different), 1), axis=0)

    @cached_property
    def target_ranks_by_feature(self) -> Indices:
        """Rank of e of the sample of smallest r, of the next one, and so on."""
        return in_order(self.target_ranks, self.feature_order)

    @cached_property
    def projection_covariance(self) -> Vector:
        """Projection covariance of r and e, up to a factor that n fixes."""
        return covariance_of_ranks(self.target_ranks_by_feature, *rank_table("pc", self.n_rows))

    @cached_property
    def correlation(self) -> Vector:
        """Correlation of r with e."""
        squares = np.einsum("kn,kn->k", self.features, self.features)
        squares = squares * np.einsum("kn,kn->k", self.target, self.target)
        inner = np.einsum("kn,kn->k", self.features, self.target)
        return np.asarray(inner / np.sqrt(np.where(squares > 0, squares, np.inf)))

    @cached_property
    def moments(self) -> Moments:
        """Correlations of r, e and their absolute values."""
        found = np.empty((4, len(self.features)))
        scores = scores_by_rank(self.n_rows)[self.target_ranks]
        _correlate(self.features, self.target, scores, found)
        return Moments(*found)


def _are_equal(rows: Matrix) -> bool:
    """Whether all rows are one, as those of a target that is adjusted for nothing are."""
    return bool((rows[:, :1] == rows[:1, :1]).all() and (rows == rows[:1]).all())


@compiled_reordering
def _correlate(R: Array, E: Array, scored: Array, found: Array) -> None:
    """Fill in what `Moments` holds, in its order; rows of `scored` are normal scores of E."""
    n = R.shape[1]
    for k in range(len(R)):
        mean_abs_r, mean_abs_e, product = 0.0, 0.0, 0.0  # and the mean of r e
        for i in range(n):
            mean_abs_r += abs(R[k, i]) / n
            mean_abs_e += abs(E[k, i]) / n
            product += R[k, i] * E[k, i] / n
        rr, bb, ss, cc, bc, rs, be = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(n):
            r, e, c = R[k, i], E[k, i], scored[k, i]
            b, s = abs(r) - mean_abs_r, abs(e) - mean_abs_e
            rr += r * r
            bb += b * b
            ss += s * s
            cc += c * c
            bc += b * c
            rs += r * s
            be += b * e
        squares, squares_abs_r = 0.0, 0.0
        for i in range(n):
            apart = R[k, i] * E[k, i] - product
            squares += apart * apart
            apart = (abs(R[k, i]) - mean_abs_r) * E[k, i] - be / n
            squares_abs_r += apart * apart
        found[0, k] = bc / np.sqrt(bb * cc) if bb * cc > 0 else 0.0
        found[1, k] = rs / np.sqrt(rr * ss) if rr * ss > 0 else 0.0
        found[2, k] = product / np.sqrt(squares / (n - 1) / n) if squares > 0 else 0.0
        found[3, k] = be / n / np.sqrt(squares_abs_r / (n - 1) / n) if squares_abs_r > 0 else 0.0
