"""Estimates the correlations of features, when there may be more features than rows."""

import logging
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ..features.disjoint_sets import all_roots, root_of
from ..problems import setting, warn
from ..runs.compiled import compiled
from ..types import Indices, Matrix
from .correlations import Correlations
from .graphical_lasso import fit_graphical_lasso

logger = logging.getLogger(__name__)

MAX_BLOCK = 200
MAX_DENSE = 1000  # beyond it "auto" works in blocks
SINGULAR = 1e-6  # smallest eigenvalue that is left as it is
STRIP = 512  # columns that are correlated with all others at a time


def estimate(scores: Matrix, covariance: str | Matrix) -> tuple[Correlations, str]:
    """Correlations of standardised columns, and the name of the estimate used.

    ``"auto"`` is the sample correlations when there are 20 rows per feature, a graphical lasso
    up to 1,000 features, and blocks beyond. It never shrinks all correlations alike (as Ledoit and
    Wolf do): for p > n / 2 that breaks the FDR, see benchmarks/studies/covariance.py.
    """
    n, p = scores.shape
    if not isinstance(covariance, str):
        check_covariance(covariance, p)
        sigma = _unit_diagonal((covariance + covariance.T) / 2)
        return _whole(sigma, "the covariance given"), "given"
    if covariance == "auto":
        covariance = "sample" if p <= n / 20 else "graphical-lasso" if p <= MAX_DENSE else "blocks"
    logger.info("covariance of %d features from %d rows: %s", p, n, covariance)
    return ESTIMATES[covariance](scores), covariance


def sample(scores: Matrix) -> Correlations:
    """Sample correlations; nearly singular, hence nearly useless, unless n is well above p."""
    return _whole(_correlations(scores), "the sample covariance")


def graphical_lasso(scores: Matrix) -> Correlations:
    """Correlations whose inverse is sparse: close to the sample's, yet far from singular."""
    return _whole(_sparse(scores))


def threshold(scores: Matrix) -> Correlations:
    r"""Sample correlations with those below :math:`\sqrt{2 \log p / n}` set to 0.

    The cut is on Fisher's scale, so it adapts to the variance of each entry. Negative eigenvalues
    are raised to 0.05, which is the repair that hard thresholding needs.
    """
    sigma = _correlations(scores)
    sigma[~_stands_out(sigma, *scores.shape)] = 0.0
    np.fill_diagonal(sigma, 1.0)
    return _whole(_raised(sigma, 0.05))


def blocks(scores: Matrix) -> Correlations:
    """Features clustered by correlation into blocks of at most 200, a graphical lasso in each."""
    members = clusters(scores)
    matrices = (_definite(_sparse(scores[:, columns])) for columns in members)
    return Correlations(members, tuple(matrices))


ESTIMATES: dict[str, Callable[[Matrix], Correlations]] = {
    "sample": sample,
    "graphical-lasso": graphical_lasso,
    "threshold": threshold,
    "blocks": blocks,
}


def check_covariance(sigma: NDArray[np.float64], p: int) -> None:
    """Refuse what cannot be the covariance matrix of p features."""
    need = f"A symmetric ({p}, {p}) matrix with positive variances is needed."
    if sigma.shape != (p, p):
        raise ValueError(f"covariance has shape {sigma.shape}. {need}")
    if not np.isfinite(sigma).all():
        raise ValueError(f"covariance has missing or infinite entries. {need}")
    if not (np.diag(sigma) >= 0).all():
        raise ValueError(f"covariance has a negative variance on its diagonal. {need}")
    if not np.allclose(sigma, sigma.T, rtol=1e-8, atol=1e-8 * np.abs(sigma).max(initial=0.0)):
        raise ValueError(f"covariance is not symmetric. {need}")


def _whole(sigma: Matrix, name: str | None = None) -> Correlations:
    return Correlations((np.arange(len(sigma)),), (_definite(sigma, name),))


def _definite(sigma: Matrix, name: str | None = None) -> Matrix:
    """Raise eigenvalues that are zero or negative, and say so for a matrix that has a name."""
    if lapack.dpotrf(sigma - SINGULAR * np.eye(len(sigma)))[1] == 0:  # no eigenvalue is smaller
        return sigma
    smallest = float(np.linalg.eigvalsh(sigma)[0])
    if name:
        warn(
            f"{name} of {len(sigma)} features is singular (smallest eigenvalue {smallest:.1e}); "
            f"its eigenvalues were raised to {SINGULAR}. Knockoffs will nearly copy their features "
            f"and find little: use {setting('covariance', 'auto')}, or fewer features."
        )
    return _raised(sigma, SINGULAR)


def _raised(sigma: Matrix, floor: float) -> Matrix:
    values, vectors = np.linalg.eigh(sigma)
    if values[0] >= floor:
        return sigma
    return _unit_diagonal((vectors * np.maximum(values, floor)) @ vectors.T)


def _unit_diagonal(sigma: Matrix) -> Matrix:
    sd = np.sqrt(np.diag(sigma))
    sigma = sigma / np.where(sd > 0, sd, 1.0) / np.where(sd > 0, sd, 1.0)[:, None]
    np.fill_diagonal(sigma, 1.0)
    return sigma


def _sparse(scores: Matrix) -> Matrix:
    return fit_graphical_lasso(_correlations(scores), len(scores))


def _correlations(scores: Matrix) -> Matrix:
    sigma = scores.T @ scores / len(scores)
    np.fill_diagonal(sigma, 1.0)
    return np.asarray(sigma)


def _stands_out(correlations: Matrix, n: int, p: int) -> NDArray[np.bool_]:
    cut = np.tanh(np.sqrt(2 * np.log(max(p, 2)) / n))
    return np.asarray(np.abs(correlations) > cut)


def clusters(scores: Matrix) -> tuple[Indices, ...]:
    """Join features by their strongest correlations as long as no cluster grows too large."""
    n, p = scores.shape
    edges = []
    for start in range(0, p, STRIP):
        strip = scores[:, start : start + STRIP].T @ scores[:, start:] / n
        a, b = np.nonzero(np.triu(_stands_out(strip, n, p), 1))
        edges.append((a + start, b + start, np.abs(strip[a, b])))
    first, second, strength = (np.concatenate(parts) for parts in zip(*edges, strict=True))
    order = np.argsort(-strength, kind="stable")
    root = np.arange(p)
    _join(root, first[order], second[order], MAX_BLOCK)
    root = all_roots(root)
    by_root = np.argsort(root, kind="stable")
    starts = np.flatnonzero(np.diff(root[by_root])) + 1
    return tuple(np.split(by_root, starts))


@compiled
def _join(root: Indices, first: Indices, second: Indices, limit: int) -> None:
    """Join the clusters of each pair in turn, unless they would exceed the limit together."""
    size = np.ones(len(root), np.int64)
    for e in range(len(first)):
        a, b = root_of(root, first[e]), root_of(root, second[e])
        if a != b and size[a] + size[b] <= limit:
            root[max(a, b)] = min(a, b)
            size[min(a, b)] += size[max(a, b)]
