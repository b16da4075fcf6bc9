"""Holds correlations in independent blocks, from which knockoffs are drawn block by block."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.linalg import cho_factor, cho_solve, lapack

from ...types import Indices, Matrix, Vector
from .decorrelation import DECORRELATIONS


@dataclass(frozen=True, eq=False)
class Correlations:
    """Features in independent blocks, each with its matrix of correlations; often a single one."""

    members: tuple[Indices, ...]
    matrices: tuple[Matrix, ...]

    def decorrelation(self, method: str) -> Vector:
        """Choose s block by block; "equi" is then one value per block."""
        s = np.empty(sum(map(len, self.members)))
        for columns, sigma in zip(self.members, self.matrices, strict=True):
            s[columns] = DECORRELATIONS[method](sigma)
        return s

    def draw(self, scores: Matrix, s: Vector, rng: Generator) -> Matrix:
        r"""Draw from :math:`N(x - x \Sigma^{-1} S,\; 2 S - S \Sigma^{-1} S)`, block by block."""
        drawn = rng.standard_normal(scores.shape)
        for columns, sigma in zip(self.members, self.matrices, strict=True):
            spread = np.diag(s[columns])
            pull = cho_solve(cho_factor(sigma), spread)
            noise = drawn[:, columns] @ _root(2 * spread - spread @ pull)
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
