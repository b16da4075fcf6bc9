"""Fits correlations whose inverse is sparse: the graphical lasso."""

import numpy as np

from ..runs.compiled import compiled
from ..types import Matrix

SPARSITY = 0.2  # penalty in units of sqrt(log p / n): light, so that FDR holds; see the benchmarks
MAX_SWEEPS = 50
LEAST_MOVE = 1e-3  # mean movement of the last sweep, relative to the mean correlation


def fit_graphical_lasso(observed: Matrix, n_rows: int) -> Matrix:
    r"""Maximise the Gaussian likelihood less an L1 penalty on the inverse, diagonal free.

    Blockwise descent of Friedman, Hastie and Tibshirani (2008). The penalty
    :math:`0.2 \sqrt{\log p / n}` moves no correlation by more than itself.
    """
    p = len(observed)
    if p == 1:
        return observed
    penalty = SPARSITY * np.sqrt(np.log(p) / n_rows)
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
