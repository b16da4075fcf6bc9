"""Estimates the correlations of features, when there may be more features than rows."""

import logging
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from ..problems import setting, warn
from ..runs.compiled import compiled
from ..types import Matrix

logger = logging.getLogger(__name__)

SINGULAR = 1e-6  # smallest eigenvalue that is left as it is
SPARSITY = 0.2  # penalty in units of sqrt(log p / n): light, so that FDR holds; see the benchmarks
MAX_SWEEPS = 50
LEAST_MOVE = 1e-3  # mean movement of the last sweep, relative to the mean correlation


def estimate(scores: Matrix, covariance: str | Matrix) -> tuple[Matrix, str]:
    """Correlations of standardised columns, and the name of the estimate used.

    ``"auto"`` is the sample correlations when there are 20 rows per feature, and a graphical lasso
    else. It never shrinks all correlations alike (as Ledoit and Wolf do): for p > n / 2 that breaks
    the FDR, see benchmarks/studies/covariance.py.
    """
    n, p = scores.shape
    if not isinstance(covariance, str):
        return _definite(_unit_diagonal((covariance + covariance.T) / 2), "given"), "given"
    if covariance == "auto":
        covariance = "sample" if p <= n / 20 else "graphical-lasso"
    logger.info("covariance of %d features from %d rows: %s", p, n, covariance)
    return _definite(ESTIMATES[covariance](scores), covariance), covariance


def sample(scores: Matrix) -> Matrix:
    """Sample correlations; nearly singular, hence nearly useless, unless n is well above p."""
    sigma = scores.T @ scores / len(scores)
    np.fill_diagonal(sigma, 1.0)
    return np.asarray(sigma)


def graphical_lasso(scores: Matrix) -> Matrix:
    r"""Correlations whose inverse is sparse: close to the sample's, yet far from singular.

    Maximises the Gaussian likelihood less an L1 penalty on the inverse, diagonal free, by the
    blockwise descent of Friedman, Hastie and Tibshirani (2008). The penalty
    :math:`0.2 \sqrt{\log p / n}` moves no correlation by more than itself.
    """
    (n, p), observed = scores.shape, sample(scores)
    if p == 1:
        return observed
    penalty = SPARSITY * np.sqrt(np.log(p) / n)
    sigma = 0.95 * observed + 0.05 * np.eye(p)  # positive definite even when p > n
    weights = np.zeros((p, p))
    enough = LEAST_MOVE * (np.abs(observed).sum() - p)
    for _ in range(MAX_SWEEPS):
        if _sweep(observed, sigma, weights, penalty) <= enough:
            break
    return sigma


@compiled
def _sweep(observed: Matrix, sigma: Matrix, weights: Matrix, penalty: float) -> float:
    """Refit each feature on all others by a lasso in their current correlations.

    Returns how much the correlations moved, summed.
    """
    p = len(observed)
    moved = 0.0
    fitted = np.empty(p)
    for j in range(p):
        weight, wanted = weights[j], observed[j]
        fitted[:] = 0.0
        for k in range(p):
            factor, row = weight[k], sigma[k]
            if factor != 0:
                for i in range(p):
                    fitted[i] += factor * row[i]
        for _ in range(100):
            largest = 0.0
            for k in range(p):
                if k == j:
                    continue
                pull = wanted[k] - fitted[k] + weight[k]  # the diagonal of sigma is 1
                new = max(pull - penalty, 0.0) + min(pull + penalty, 0.0)
                change = new - weight[k]
                if change != 0:
                    weight[k], row = new, sigma[k]
                    for i in range(p):
                        fitted[i] += change * row[i]
                    largest = max(largest, abs(change))
            if largest < 1e-4:
                break
        for k in range(p):
            if k != j:
                moved += 2 * abs(sigma[k, j] - fitted[k])
                sigma[k, j] = fitted[k]
                sigma[j, k] = fitted[k]
    return moved


ESTIMATES: dict[str, Callable[[Matrix], Matrix]] = {
    "sample": sample,
    "graphical-lasso": graphical_lasso,
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


def _definite(sigma: Matrix, name: str) -> Matrix:
    """Raise eigenvalues that are zero or negative, with a warning."""
    if lapack.dpotrf(sigma - SINGULAR * np.eye(len(sigma)))[1] == 0:  # no eigenvalue is smaller
        return sigma
    values, vectors = np.linalg.eigh(sigma)
    warn(
        f"the {name} covariance of {len(sigma)} features is singular (smallest eigenvalue "
        f"{values[0]:.1e}); its eigenvalues were raised to {SINGULAR}. Knockoffs will nearly copy "
        f"their features and find little: use {setting('covariance', 'auto')}, or fewer features."
    )
    return _unit_diagonal((vectors * np.maximum(values, SINGULAR)) @ vectors.T)


def _unit_diagonal(sigma: Matrix) -> Matrix:
    sd = np.sqrt(np.diag(sigma))
    sigma = sigma / np.where(sd > 0, sd, 1.0) / np.where(sd > 0, sd, 1.0)[:, None]
    np.fill_diagonal(sigma, 1.0)
    return sigma
