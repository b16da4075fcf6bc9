"""Chooses s: how far each knockoff may be decorrelated from its own feature.

On the correlation scale a feature and its knockoff correlate by 1 - s, so a larger s means more
power; exchangeability allows it as long as ``2 Sigma - diag(s)`` has no negative eigenvalue.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, lapack

from ..types import Indices, Matrix, Vector

MAX_SWEEPS = 100
LEAST_GAIN = 1e-7  # relative gain of the mvr objective in the last sweep
BLOCK = 64  # coordinates of mvr whose changes are added to the inverse at once
GAP = 1e-5  # relative distance to the optimum at which sdp stops


def equi(sigma: Matrix) -> Vector:
    r"""Equicorrelated: the same :math:`s = \min(1, 2 \lambda_{\min}(\Sigma))` for every feature.

    Paper: section 4. One pair of similar features lowers it for all.
    """
    smallest = np.linalg.eigvalsh(sigma)[0]
    return np.full(len(sigma), min(1.0, 2 * max(smallest, 0.0)))


def group_equi(sigma: Matrix, groups: Indices) -> Matrix:
    r"""Equicorrelated for groups (Dai and Barber 2016): :math:`S = \gamma D`.

    D holds the correlations within groups alone, and :math:`\gamma = \min(1, 2 \lambda_{\min}(
    D^{-1/2} \Sigma D^{-1/2}))`. Features of one group may be as alike as they please.
    """
    within = np.where(groups[:, None] == groups, sigma, 0.0)
    smallest = eigh(sigma, within, eigvals_only=True, subset_by_index=(0, 0))[0]
    return np.asarray(min(1.0, 2 * max(float(smallest), 0.0)) * within)


def sdp(sigma: Matrix) -> Vector:
    r"""Semi-definite programme (Candes et al. 2018): largest sum of s in [0, 1].

    Newton steps on the logarithmic barrier, whose Hessian in s is the entrywise square of
    :math:`(2 \Sigma - \mathrm{diag}(s))^{-1}`; the sum ends within 1e-5 of the largest.
    """
    p = len(sigma)
    s = 0.5 * equi(sigma)
    barrier = 1.0
    while True:
        for _ in range(MAX_SWEEPS):
            inverse = _inverse(2 * sigma - np.diag(s))
            gradient = 1 - barrier * (np.diag(inverse) - 1 / s + 1 / (1 - s))
            curvature = barrier * (inverse**2 + np.diag(1 / s**2 + 1 / (1 - s) ** 2))
            step = cho_solve(cho_factor(curvature, overwrite_a=True), gradient)
            decrement = float(gradient @ step) / barrier
            s = s + step * _feasible(sigma, s, step, 1 / (1 + np.sqrt(decrement)))
            if decrement < 0.1:
                break
        if 3 * p * barrier <= GAP * s.sum():
            return s
        barrier *= 0.2


def mvr(sigma: Matrix) -> Vector:
    r"""Least reconstructible from the others: minimises :math:`\mathrm{tr}(G^{-1})` of the joint G.

    That is :math:`\mathrm{tr}((2 \Sigma - S)^{-1}) + \sum_j 1 / s_j` (Spector and Janson 2022). A
    change of one s_j has a closed form, and is a rank-one update of the inverse.
    """
    s = 0.5 * equi(sigma)
    before = np.inf
    for _ in range(MAX_SWEEPS):
        inverse = _inverse(2 * sigma - np.diag(s))
        objective = np.trace(inverse) + np.sum(1 / s)
        if before - objective <= LEAST_GAIN * objective:
            break
        before = objective
        _mvr_sweep(inverse, s)
    return s


def _feasible(sigma: Matrix, s: Vector, step: Vector, length: float) -> float:
    """Shorten a step until it stays strictly inside the constraints."""
    while True:
        trial = s + length * step
        inside = trial.min() > 0 and trial.max() < 1
        if inside and lapack.dpotrf(2 * sigma - np.diag(trial))[1] == 0:
            return length
        length *= 0.5


def _inverse(matrix: Matrix) -> Matrix:
    """Inverse of a positive definite matrix."""
    upper, info = lapack.dpotri(cho_factor(matrix)[0])
    if info != 0:
        raise np.linalg.LinAlgError("the matrix is singular")
    return np.asarray(np.triu(upper) + np.triu(upper, 1).T)


def _mvr_sweep(inverse: Matrix, s: Vector) -> None:
    """Minimise over each s_j in turn, a block of them at a time.

    `inverse` of 2 Sigma - diag(s) is kept up to date in the rows that are still to be visited: a
    block adds its scales times the outer products of its rows, each as it was when its turn came.
    """
    for start in range(0, len(s), BLOCK):
        rows = inverse[start : start + BLOCK].copy()
        scales = np.empty(len(rows))
        for a, row in enumerate(rows):
            j, root = start + a, np.sqrt(np.sum(row * row))
            change = (1 - root * s[j]) / (row[j] + root)
            s[j] += change
            scales[a] = change / (1 - change * row[j])
            rows[a + 1 :] += np.outer(scales[a] * row[j + 1 : start + len(rows)], row)
        later = start + len(rows)
        inverse[later:] += (rows[:, later:].T * scales) @ rows


DECORRELATIONS: dict[str, Callable[[Matrix], Vector]] = {"equi": equi, "sdp": sdp, "mvr": mvr}
