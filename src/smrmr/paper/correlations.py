"""Holds correlations in independent blocks, from which knockoffs are drawn block by block."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.linalg import cho_factor, cho_solve, lapack

from ..types import Indices, Matrix
from .decorrelation import DECORRELATIONS, group_equi


@dataclass(frozen=True, eq=False)
class Correlations:
    """Features in independent blocks, each with its matrix of correlations; often a single one."""

    members: tuple[Indices, ...]
    matrices: tuple[Matrix, ...]

    def decorrelation(self, method: str, groups: Indices | None = None) -> tuple[Matrix, ...]:
        """Choose S block by block; "equi" is then one value per block.

        Where `groups` numbers some features alike, these are decorrelated from their knockoffs as
        groups.
        """
        return tuple(
            group_equi(sigma, groups[columns])
            if groups is not None and len(np.unique(groups[columns])) < len(columns)
            else np.diag(DECORRELATIONS[method](sigma))
            for columns, sigma in zip(self.members, self.matrices, strict=True)
        )

    def draw(self, scores: Matrix, S_blocks: tuple[Matrix, ...], rng: Generator) -> Matrix:
        r"""Draw from :math:`N(x - x \Sigma^{-1} S,\; 2 S - S \Sigma^{-1} S)`, block by block."""
        drawn = rng.standard_normal(scores.shape)
        blocks = zip(self.members, self.matrices, S_blocks, strict=True)
        for columns, sigma, S in blocks:
            pull = cho_solve(cho_factor(sigma), S)
            noise = drawn[:, columns] @ _root(2 * S - S @ pull)
            drawn[:, columns] = scores[:, columns] - scores[:, columns] @ pull + noise
        return drawn

    def matrix(self) -> Matrix:
        """The correlations written out."""
        p = sum(map(len, self.members))
        whole = np.zeros((p, p))
        for columns, sigma in zip(self.members, self.matrices, strict=True):
            whole[np.ix_(columns, columns)] = sigma
        return whole


def _root(covariance: Matrix) -> Matrix:
    """R with R'R = covariance, which may be singular: s is often as large as it can be."""
    factor, pivots, rank, _ = lapack.dpstrf(covariance, lower=0)
    root = np.zeros_like(covariance)
    root[:rank, pivots - 1] = np.triu(factor)[:rank]
    return root
