"""Kernel ridge regression on a few features, as seen from each row left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...measures.compiled import compiled
from ...measures.kernel_loops import exponentiate
from ...types import Indices, Matrix, Vector

Array = NDArray[Any]
Mix: TypeAlias = tuple[float, float, float]

# weights of a linear kernel, a sum of Gaussians per feature, and one Gaussian of all of them
MIXES: tuple[Mix, ...] = ((1, 0, 0), (1, 1, 0), (1, 0, 1), (1, 1, 1), (0.3, 0.3, 1))
RIDGES = np.array([0.03, 0.1, 0.3, 1, 3, 10, 30, 100])
MOST_LANDMARKS = 200  # rows that stand for all, where there are more
MOST_JUDGED = 2000  # rows from which mix and ridge are chosen, by half of the landmarks
ROWS_AT_ONCE = 2048  # whose kernels are held together
MOST_HELD = 20_000  # rows whose kernels are held between two passes
LEAST_LEFT = 1e-3  # of a row's own weight in its residual
JITTER = 1e-9  # of the trace of a kernel, so that its Cholesky factor exists


def leave_one_out(features: Matrix, y: Vector) -> Vector:
    r"""Residual of every row under a fit to all other rows.

    With :math:`H = K (K + \rho I)^{-1}` and K a centred kernel, row i left out has the residual
    :math:`(y - Hy)_i / (1 - H_{ii} - 1/n)`. The mix of kernels and the ridge :math:`\rho` are those
    of least squared error left out. Above 200 rows the kernel goes through landmarks; above 2,000
    mix and ridge are chosen from so many rows.

    Parameters
    ----------
    features
        Standardised features, (s, n), one row each; none gives the deviation from the mean.
    y
        Target of mean 0.
    """
    n = len(y)
    if len(features) == 0:
        return y * n / (n - 1)
    if n <= MOST_LANDMARKS:
        return _from_whole_kernels(features, y)
    points = features[:, _spread(n, MOST_LANDMARKS)]
    if n <= MOST_JUDGED:
        return _fit(features, y, points, *_choose(features, y, points))
    judged = _spread(n, MOST_JUDGED)
    choice = _choose(features[:, judged], y[judged] - y[judged].mean(), points[:, ::2].copy())
    return _fit(features, y, points, *choice)


def _spread(n: int, most: int) -> Indices:
    """At most so many of n positions, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.intp))


def _from_whole_kernels(features: Matrix, y: Vector) -> Vector:
    n = len(y)
    additive, joint = _gaussians(features, features)
    kernels = features.T @ features, additive, joint
    best, least = y, np.inf
    for mix in MIXES:
        kernel = np.asarray(sum(w * k for w, k in zip(mix, kernels, strict=True) if w))
        kernel -= kernel.mean(axis=0)
        values, vectors = np.linalg.eigh(kernel - kernel.mean(axis=1, keepdims=True))
        values = np.maximum(values, 0.0)[:, None]
        shrunk = values / (values + RIDGES)
        left = np.maximum(1 - vectors**2 @ shrunk - 1 / n, LEAST_LEFT)
        residuals = (y[:, None] - vectors @ (shrunk * (vectors.T @ y)[:, None])) / left
        errors = np.mean(residuals**2, axis=0)
        if errors.min() < least:
            least, best = errors.min(), residuals[:, errors.argmin()]
    return np.asarray(best)


def _choose(features: Matrix, y: Vector, points: Matrix) -> tuple[Mix, float]:
    r"""Mix and ridge of least error left out, as estimated by generalised cross-validation.

    The kernel is :math:`K_{nm} K_{mm}^{-1} K_{mn}`, m the landmarks `points`.
    """
    n, n_points = len(y), points.shape[1]
    kernels = np.concatenate([features.T @ points, *_gaussians(features, points)], axis=1)
    kernels -= kernels.mean(axis=0)
    products = (kernels.T @ kernels).reshape(3, n_points, 3, n_points)
    gains = (kernels.T @ y).reshape(3, n_points)
    among = np.stack([points.T @ points, *_gaussians(points, points)])
    least, chosen = np.inf, (MIXES[0], float(RIDGES[-1]))
    for mix in MIXES:
        kernel = np.tensordot(mix, among, 1)
        to_factor = np.linalg.inv(np.linalg.cholesky(_with_jitter(kernel))).T
        product = np.einsum("a,b,aibj->ij", mix, mix, products)
        values, vectors = np.linalg.eigh(to_factor.T @ product @ to_factor)
        gain = vectors.T @ (to_factor.T @ np.tensordot(mix, gains, 1))
        values, squared = np.maximum(values, 0.0)[:, None], gain[:, None] ** 2
        explained = np.sum(squared * (values + 2 * RIDGES) / (values + RIDGES) ** 2, axis=0)
        freedom = 1 + np.sum(values / (values + RIDGES), axis=0)
        errors = (y @ y - explained) / (1 - freedom / n) ** 2
        if errors.min() < least:
            least, chosen = errors.min(), (mix, float(RIDGES[errors.argmin()]))
    return chosen


def _fit(features: Matrix, y: Vector, points: Matrix, mix: Mix, ridge: float) -> Vector:
    """Residuals of all rows from inner products of the kernel with the landmarks.

    Of many rows each counts as much in its own fit as the others do in theirs.
    """
    n = len(y)
    blocks = [slice(start, start + ROWS_AT_ONCE) for start in range(0, n, ROWS_AT_ONCE)]
    held = [_kernel(features[:, rows], points, mix) for rows in blocks if n <= MOST_HELD]

    def kernels() -> Iterator[Matrix]:
        return iter(held) if held else (_kernel(features[:, rows], points, mix) for rows in blocks)

    n_points = points.shape[1]
    product, gain, mean = np.zeros((n_points, n_points)), np.zeros(n_points), np.zeros(n_points)
    for rows, kernel in zip(blocks, kernels(), strict=True):
        product += kernel.T @ kernel
        gain += kernel.T @ y[rows]
        mean += kernel.sum(axis=0) / n
    product -= np.outer(mean, mean) * n
    among = _with_jitter(_kernel(points, points, mix))
    to_factor = np.linalg.inv(np.linalg.cholesky(product + ridge * among)).T
    slopes = to_factor @ (to_factor.T @ (gain - mean * y.sum()))
    weight: Any = np.sum((product @ to_factor) * to_factor) / n
    residual = np.empty(n)
    for rows, kernel in zip(blocks, kernels(), strict=True):
        kernel = kernel - mean
        if n <= MOST_JUDGED:
            weight = np.sum((kernel @ to_factor) ** 2, axis=1)
        residual[rows] = (y[rows] - kernel @ slopes) / np.maximum(1 - weight - 1 / n, LEAST_LEFT)
    return residual


def _kernel(features: Matrix, points: Matrix, mix: Mix) -> Matrix:
    """A mix of kernels between some rows and the landmarks."""
    kernel = mix[0] * features.T @ points
    if mix != (1, 0, 0):
        additive, joint = _gaussians(features, points)
        kernel += mix[1] * additive + mix[2] * joint
    return np.asarray(kernel)


def _with_jitter(kernel: Matrix) -> Matrix:
    return np.asarray(kernel + JITTER * np.trace(kernel) * np.eye(len(kernel)))


@compiled
def _gaussians(features: Array, points: Array) -> Any:
    """Sums of Gaussians per feature, and Gaussians of all features, each as large as the sums."""
    size, n = features.shape
    additive = np.zeros((n, points.shape[1]))
    joint = np.zeros_like(additive)
    row = np.empty(points.shape[1])
    for i in range(n):
        for a in range(size):
            for j in range(len(row)):
                step = features[a, i] - points[a, j]
                row[j] = -0.5 * step * step
                joint[i, j] += row[j] / size
            exponentiate(row)
            for j in range(len(row)):
                additive[i, j] += row[j]
        exponentiate(joint[i])
        for j in range(len(row)):
            joint[i, j] *= size
    return additive, joint
