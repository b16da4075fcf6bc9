r"""Defines ResidualPairs, what statistics are given, and the moments that several of them share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runs.compiled import compiled_reordering
from ...types import Indices, Matrix, Vector
from .rank_covariances import covariance_of_ranks, in_order, rank_table, ranks_of, scores_by_rank

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Moments:
    r"""What is known of pairs (r, e) from sums over rows, one entry for each pair.

    `correlation`, `correlation_abs_r` and `correlation_abs_e` are correlations of r with e, of
    \|r\| with normal scores of e and of r with \|e\|: one side of each is close to normal, without
    which small p-values would be too small. `t_product` and `t_product_abs_r` are the means of r e
    and of \|r\| e, centred, over their own standard errors.
    """

    correlation: Vector
    correlation_abs_r: Vector
    correlation_abs_e: Vector
    t_product: Vector
    t_product_abs_r: Vector


@dataclass(frozen=True, eq=False)
class ResidualPairs:
    """Residuals of features and of one column of the target, adjusted for the same neighbours.

    Attributes
    ----------
    features
        Residual r of each of k features, (k, n).
    target
        Residual e of the target beside each of them, (k, n).
    rank
        Dimensions that neighbours and covariates take up, (k,).
    feature_order
        Samples by r, ties broken, (k, n).
    tie_breaker
        Tiny numbers that break ties of e.

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr.conditional import Linear, ResidualPairs
    >>> r = np.array([[-1.5, -0.5, 0.5, 1.5]])
    >>> pairs = ResidualPairs(r, r, np.zeros(1, int), np.argsort(r), np.zeros(4))
    >>> pairs.moments.correlation.round(6).tolist(), bool(Linear().p_values(pairs)[0] < 1e-6)
    ([1.0], True)
    """

    features: Matrix
    target: Matrix
    rank: Indices
    feature_order: Indices
    tie_breaker: Vector

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
        return ranks_of(np.argsort(self.target + self.tie_breaker))

    @cached_property
    def target_ranks_by_feature(self) -> Indices:
        """Rank of e of the sample of smallest r, of the next one, and so on."""
        return in_order(self.target_ranks, self.feature_order)

    @cached_property
    def projection_covariance(self) -> Vector:
        """Projection covariance of r and e, up to a factor that n fixes."""
        return covariance_of_ranks(self.target_ranks_by_feature, *rank_table("pc", self.n_rows))

    @cached_property
    def moments(self) -> Moments:
        """Correlations of r, e and their absolute values."""
        found = np.empty((5, len(self.features)))
        scores = scores_by_rank(self.n_rows)[self.target_ranks]
        _correlate(self.features, self.target, scores, found)
        return Moments(*found)


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
        rr, ee, bb, ss, cc, bc, rs, be = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(n):
            r, e, c = R[k, i], E[k, i], scored[k, i]
            b, s = abs(r) - mean_abs_r, abs(e) - mean_abs_e
            rr += r * r
            ee += e * e
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
        found[0, k] = n * product / np.sqrt(rr * ee) if rr * ee > 0 else 0.0
        found[1, k] = bc / np.sqrt(bb * cc) if bb * cc > 0 else 0.0
        found[2, k] = rs / np.sqrt(rr * ss) if rr * ss > 0 else 0.0
        found[3, k] = product / np.sqrt(squares / (n - 1) / n) if squares > 0 else 0.0
        found[4, k] = be / n / np.sqrt(squares_abs_r / (n - 1) / n) if squares_abs_r > 0 else 0.0
