"""Kernel ridge regression on a few features, as seen from each row left out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...measures.compiled import compiled
from ...types import Indices, Matrix, Vector

Array = NDArray[Any]

# weights of a linear kernel, a sum of Gaussians per feature, and one Gaussian of all of them
MIXES = ((1, 0, 0), (1, 1, 0), (1, 0, 1), (1, 1, 1), (0.3, 0.3, 1))
RIDGES = np.array([0.03, 0.1, 0.3, 1, 3, 10, 30, 100])
MOST_LANDMARKS = 200  # rows that stand for all, where there are more
LEAST_LEFT = 1e-3  # of a row's own weight in its residual


def leave_one_out(features: Matrix, y: Vector) -> Vector:
    r"""Residual of every row under a fit to all other rows.

    With :math:`H = K (K + \rho I)^{-1}` and K a centred kernel, row i left out has the residual
    :math:`(y - Hy)_i / (1 - H_{ii} - 1/n)`. The mix of kernels and the ridge :math:`\rho` are those
    of least squared error left out. Above 200 rows the kernel goes through landmarks.

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
    landmarks = np.unique(np.linspace(0, n - 1, min(n, MOST_LANDMARKS)).astype(np.intp))
    kernels = _kernels(features, np.ascontiguousarray(features[:, landmarks]))
    best, least = y, np.inf
    for mix in MIXES:
        kernel = sum(w * k for w, k in zip(mix, kernels, strict=True) if w)
        values, vectors = _decompose(np.asarray(kernel), landmarks)
        shrunk = values[:, None] / (values[:, None] + RIDGES)
        left = np.maximum(1 - vectors**2 @ shrunk - 1 / n, LEAST_LEFT)
        residuals = (y[:, None] - vectors @ (shrunk * (vectors.T @ y)[:, None])) / left
        errors = np.mean(residuals**2, axis=0)
        if errors.min() < least:
            least, best = errors.min(), residuals[:, errors.argmin()]
    return np.asarray(best)


@compiled
def _kernels(features: Array, landmarks: Array) -> Any:
    """Three kernels between all rows and the landmarks, each about as large as the first."""
    size, n = features.shape
    linear = np.zeros((n, landmarks.shape[1]))
    additive, joint = np.zeros_like(linear), np.zeros_like(linear)
    for i in range(n):
        for j in range(landmarks.shape[1]):
            distance = 0.0
            for a in range(size):
                squared = (features[a, i] - landmarks[a, j]) ** 2
                distance += squared
                linear[i, j] += features[a, i] * landmarks[a, j]
                additive[i, j] += np.exp(-squared / 2)
            joint[i, j] = size * np.exp(-distance / (2 * size))
    return linear, additive, joint


def _decompose(kernel: Matrix, landmarks: Indices) -> tuple[Vector, Matrix]:
    """Eigenvalues and eigenvectors of the centred kernel that the landmarks span."""
    if kernel.shape[0] == kernel.shape[1]:
        centred = kernel - kernel.mean(axis=0)
        values, vectors = np.linalg.eigh(centred - centred.mean(axis=1, keepdims=True))
        return np.maximum(values, 0.0), vectors
    inner, basis = np.linalg.eigh(kernel[landmarks])
    kept = inner > 1e-10 * inner[-1]
    factor = kernel @ (basis[:, kept] / np.sqrt(inner[kept]))
    factor -= factor.mean(axis=0)
    values, right = np.linalg.eigh(factor.T @ factor)
    kept = values > 1e-12 * values[-1]
    return values[kept], factor @ (right[:, kept] / np.sqrt(values[kept]))
