"""Holds a correlation matrix in a form that draws knockoffs cheaply: blocks, or factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator
from scipy.linalg import cho_factor, cho_solve, lapack, solve_triangular

from ...types import Indices, Matrix, Vector
from .decorrelation import equi, mvr, mvr_factors, sdp

DECORRELATIONS = {"equi": equi, "sdp": sdp, "mvr": mvr}


class Model(Protocol):
    """A correlation matrix of features that knows how to draw their knockoffs."""

    def decorrelation(self, method: str) -> Vector:
        """Choose s by "equi", "sdp" or "mvr"."""

    def draw(self, scores: Matrix, s: Vector, rng: Generator) -> Matrix:
        """Knockoffs of standardised rows: mean given X, plus noise."""

    def matrix(self) -> Matrix:
        """The correlations written out."""


@dataclass(frozen=True)
class Blocks:
    """Features in independent blocks, each with its correlation matrix; often one block of all."""

    members: tuple[Indices, ...]
    matrices: tuple[Matrix, ...]

    def decorrelation(self, method: str) -> Vector:
        """Choose s block by block; "equi" is then one value a block."""
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


@dataclass(frozen=True)
class Factors:
    """Correlations ``loadings @ loadings.T + diag(diagonal)``; no p x p matrix is ever written.

    s stays at or below 2 `diagonal`, so that the noise of the knockoffs is again k factors plus
    independent terms. Only as many features as there are factors could go beyond that.
    """

    loadings: Matrix
    diagonal: Vector

    def decorrelation(self, method: str) -> Vector:
        """Choose s at or below 2 `diagonal`."""
        if method == "mvr":
            return mvr_factors(self.loadings, self.diagonal)
        allowed = np.minimum(1.0, 2 * self.diagonal)
        return allowed if method == "sdp" else np.full_like(allowed, allowed.min())

    def draw(self, scores: Matrix, s: Vector, rng: Generator) -> Matrix:
        """Draw as `Blocks.draw` does, through the k x k matrices of the Woodbury identity."""
        k = self.loadings.shape[1]
        pull = s / self.diagonal
        scaled = self.loadings / self.diagonal[:, None]
        core = cho_factor(np.eye(k) + self.loadings.T @ scaled)
        turned = cho_solve(core, (self.loadings * pull[:, None]).T)
        drawn = rng.standard_normal(scores.shape)
        drawn *= np.sqrt(s * (2 - pull))
        drawn += rng.standard_normal((len(scores), k)) @ solve_triangular(
            core[0], (self.loadings * pull[:, None]).T, trans="T"
        )
        drawn += scores * (1 - pull)
        drawn += (scores @ scaled) @ turned
        return drawn

    def matrix(self) -> Matrix:
        """The correlations written out."""
        return np.asarray(self.loadings @ self.loadings.T + np.diag(self.diagonal))


def _root(covariance: Matrix) -> Matrix:
    """R with R'R = covariance, which may be singular: s is often as large as it can be."""
    factor, pivots, rank, _ = lapack.dpstrf(covariance, lower=0)
    root = np.zeros_like(covariance)
    root[:rank, pivots - 1] = np.triu(factor)[:rank]
    return root
