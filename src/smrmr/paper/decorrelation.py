"""Chooses s: how far each knockoff may be decorrelated from its own feature.

On the correlation scale a feature and its knockoff correlate by 1 - s, so a larger s means more
power; exchangeability allows it as long as ``2 Sigma - diag(s)`` has no negative eigenvalue.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, eigh, lapack

from ..types import Indices, Matrix, Vector

MAX_SWEEPS = 100
LEAST_GAIN = 1e-7  # relative gain of the mvr objective in the last sweep
BLOCK = 64  # coordinates of mvr whose changes are added to the inverse at once


def decorrelation(sigma: Matrix, method: str, groups: Indices) -> Matrix:
    """S by the method; of groups, where `groups` numbers some features alike, by `group_equi`."""
    if len(np.unique(groups)) < len(groups):
        return group_equi(sigma, groups)
    return np.diag(DECORRELATIONS[method](sigma))


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


def _inverse(matrix: Matrix) -> Matrix:
    """Inverse of a positive definite matrix."""
    upper, _ = lapack.dpotri(cho_factor(matrix)[0])
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


DECORRELATIONS: dict[str, Callable[[Matrix], Vector]] = {"equi": equi, "mvr": mvr}
