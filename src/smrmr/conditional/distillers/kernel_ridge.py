"""Kernel ridge regression on a few features, as seen from each row left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

from ...measures.kernel_loops import exponentiate
from ...runs.compiled import compiled
from ...types import Indices, Matrix, Vector
from .regressors import Regressors
from .tridiagonal import Tridiagonal

Array = NDArray[Any]
Mix: TypeAlias = tuple[float, float, float]

# weights of a linear kernel, a sum of Gaussians per feature, and one Gaussian of all of them
MIXES: tuple[Mix, ...] = ((1, 0, 0), (1, 1, 0), (1, 0, 1), (1, 1, 1), (0.3, 0.3, 1))
LINES = MIXES[0]
RIDGES = np.array([0.03, 0.1, 0.3, 1, 3, 10, 30, 100])
MOST_LANDMARKS = 200  # rows that stand for all, where there are more
KNOTS = np.linspace(-3, 3, 9)  # points that stand for all values of a feature
MOST_JUDGED = 2000  # rows from which mix and ridge are chosen, with half of the landmarks
ROWS_AT_ONCE = 2048  # whose kernels are held together
MOST_HELD = 20_000  # rows whose kernels are held between two passes
LEAST_LEFT = 1e-3  # of 1 less the leverage of a row
JITTER = 1e-9  # of the trace of a kernel, so that its Cholesky factor exists


@dataclass(eq=False)
class KernelRidge:
    r"""A fit of all columns of the target to a few features, seen from each row left out.

    With :math:`H = K (K + \rho I)^{-1}` and K a centred kernel, row i left out has the residual
    :math:`(y - Hy)_i / (1 - H_{ii} - 1/n)`. The mix of kernels and the ridge :math:`\rho` are those
    of least squared error left out, the same for all columns of the target. Above 200 rows the
    kernel goes through landmarks and knots; above 2,000 mix and ridge are chosen from so many rows.

    Parameters
    ----------
    regressors, columns
        The features, and which of them take part; if none does, the residual of a row is its
        deviation from the mean of the others.
    Y
        Columns of the target, of mean 0, (q, n).
    bumps
        Kernels of single features that other fits have worked out, where kernels are whole.
    """

    regressors: Regressors
    columns: tuple[int, ...]
    Y: Matrix
    bumps: dict[int, Matrix] = field(default_factory=dict)

    @cached_property
    def error(self) -> float:
        """Mean squared residual of rows left out."""
        if self.Y.shape[1] > MOST_JUDGED and self.columns:
            return self._choice[0]
        return float(np.mean(self.residuals**2))

    @cached_property
    def residuals(self) -> Matrix:
        """Residuals of every row under a fit to all others, (q, n)."""
        n = self.Y.shape[1]
        if not self.columns:
            return np.asarray(self.Y * n / (n - 1))
        if n <= MOST_LANDMARKS:
            return _from_whole_kernels(self._features(), self._own_bumps(), self.Y)
        _, mix, ridge = self._choice
        return _fit(self._features(), self.Y, mix, ridge)

    @cached_property
    def _choice(self) -> tuple[float, Mix, float]:
        features, n = self._features(), self.Y.shape[1]
        points = np.take(features, _spread(n, MOST_LANDMARKS // 2), axis=1)
        judged = _spread(n, MOST_JUDGED)
        Y = self.Y[:, judged]
        judged_features = np.take(features, judged, axis=1)
        return _choose(judged_features, Y - Y.mean(axis=1, keepdims=True), points)

    def _own_bumps(self) -> Matrix:
        """Sum of the centred kernels of single features."""
        for column in self.columns:
            if column not in self.bumps:
                row = np.asarray(self.regressors.features[column], np.float64)[None]
                self.bumps[column] = _centred(_bumps(row, row))
        return np.asarray(np.sum([self.bumps[column] for column in self.columns], axis=0))

    def _features(self) -> Matrix:
        return np.asarray(self.regressors.features[list(self.columns)], np.float64)


def _spread(n: int, most: int) -> Indices:
    """At most so many of n positions, evenly spread."""
    return np.linspace(0, n - 1, min(n, most)).astype(np.intp)


def _from_whole_kernels(features: Matrix, own_bumps: Matrix, Y: Matrix) -> Matrix:
    features = features - features.mean(axis=1, keepdims=True)
    kernels = features.T @ features, own_bumps, _centred(_bumps(features, features))
    best, least = Y, np.inf
    for mix in MIXES:
        kernel: Any = sum(w * k for w, k in zip(mix, kernels, strict=True) if w)
        inverse, solved = _of_lines(features, Y) if mix == LINES else _of_kernel(kernel, Y)
        left = np.maximum(RIDGES[:, None] * inverse - 1 / Y.shape[1], LEAST_LEFT)
        residuals = RIDGES[:, None, None] * solved / left[:, None]
        errors = np.mean(residuals**2, axis=(1, 2))
        if errors.min() < least:
            least, best = errors.min(), residuals[errors.argmin()]
    return np.asarray(best)


def _of_kernel(kernel: Matrix, Y: Matrix) -> tuple[Matrix, Array]:
    """Diagonal of the inverse of a kernel with each ridge, and Y times it."""
    return Tridiagonal.of(kernel).inverted(Y, RIDGES)


def _of_lines(features: Matrix, Y: Matrix) -> tuple[Matrix, Array]:
    """The same of the inner products of a few features."""
    values, vectors = np.linalg.eigh(features @ features.T)
    rows = vectors.T @ features
    shares = 1 / (np.maximum(values, 0.0) + RIDGES[:, None])
    fitted = np.matmul((Y @ rows.T) * shares[:, None], rows)
    return (1 - shares @ rows**2) / RIDGES[:, None], (Y - fitted) / RIDGES[:, None, None]


def _centred(kernel: Any) -> Matrix:
    """A kernel, of mean 0 along both axes."""
    kernel -= kernel.mean(axis=0)
    return np.asarray(kernel - kernel.mean(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class _Map:
    """Features as regressors, a row each, whose inner products are kernels.

    That is the features themselves, bumps of each around the knots, and bumps of all around points;
    `to_factor` makes them a factor of the kernels, `weights` are those of the rows in a mix.
    """

    points: Matrix
    mix: Mix = (1, 1, 1)

    @property
    def knots(self) -> Matrix:
        return KNOTS[None] if self.mix[1] else KNOTS[None, :0]

    @property
    def landmarks(self) -> Matrix:
        return self.points if self.mix[2] else self.points[:, :0]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Number of rows that are features, and bumps of one and of all."""
        size = len(self.points)
        return size, size * self.knots.shape[1], self.landmarks.shape[1]

    def regressors(self, features: Matrix) -> Matrix:
        size, of_one, _ = self.sizes
        found = np.empty((sum(self.sizes), features.shape[1]))
        found[:size] = features
        bumps = found[size : size + of_one].reshape(size, -1, features.shape[1])
        for k in range(size):
            _fill_bumps(self.knots, found[k : k + 1], bumps[k])
        _fill_bumps(np.ascontiguousarray(self.landmarks), found[:size], found[size + of_one :])
        return found

    def weights(self, mix: Mix) -> Vector:
        return np.repeat(np.sqrt(mix), self.sizes)

    @property
    def to_factor(self) -> Matrix:
        return self.factored(np.eye(sum(self.sizes))).T

    def factored(self, rows: Matrix) -> Matrix:
        """Sums of rows, one per regressor, as for the factor of the kernels in their place."""
        size, of_one, _ = self.sizes
        found, n = rows.copy(), rows.shape[1]
        found[:size] /= np.sqrt(1 + JITTER)  # as of a kernel of one row
        if self.mix[1]:
            held = rows[size : size + of_one].reshape(size, -1, n)
            found[size : size + of_one] = (_knots_to_factor().T @ held).reshape(of_one, n)
        if self.mix[2]:
            found[size + of_one :] = self._landmarks_to_factor.T @ rows[size + of_one :]
        return found

    @cached_property
    def _landmarks_to_factor(self) -> Matrix:
        return _factor(_bumps(self.landmarks, self.landmarks))


@cache
def _knots_to_factor() -> Matrix:
    return _factor(_bumps(KNOTS[None], KNOTS[None]))


def _factor(kernel: Matrix) -> Matrix:
    """The transposed inverse of the Cholesky factor of a kernel."""
    return _inverse_factor(kernel + JITTER * np.trace(kernel) * np.eye(len(kernel)))


def _inverse_factor(positive: Matrix) -> Matrix:
    """The transposed inverse of the Cholesky factor of a matrix."""
    return np.asarray(dtrtri(np.linalg.cholesky(positive).T)[0])


def _choose(features: Matrix, Y: Matrix, points: Matrix) -> tuple[float, Mix, float]:
    """Least mean squared error left out, by generalised cross-validation; its mix and ridge."""
    n, everything = Y.shape[1], _Map(points)
    regressors = everything.regressors(features)
    mean = regressors.mean(axis=1)
    product = regressors @ regressors.T - np.outer(n * mean, mean)
    product = everything.factored(everything.factored(product).T)
    gain = everything.factored(regressors @ Y.T).T  # Y has mean 0
    chosen = np.inf, MIXES[0], float(RIDGES[-1])
    for mix in MIXES:
        weights = everything.weights(mix)
        of_mix = np.flatnonzero(weights)
        weights = weights[of_mix]
        inside = product[of_mix][:, of_mix] if len(of_mix) < len(product) else product
        inside = inside * weights[:, None] * weights
        freedom, explained = Tridiagonal.of(inside).judged(weights * gain[:, of_mix], RIDGES)
        errors = (np.sum(Y**2) - explained) / Y.size / (1 - (1 + freedom) / n) ** 2
        if errors.min() < chosen[0]:
            chosen = float(errors.min()), mix, float(RIDGES[errors.argmin()])
    return chosen


def _fit(features: Matrix, Y: Matrix, mix: Mix, ridge: float) -> Matrix:
    """Residuals of all rows from inner products of regressors.

    Of many rows all have the same leverage, the mean.
    """
    n = Y.shape[1]
    of_mix = _Map(features[:, _spread(n, MOST_LANDMARKS)], mix)
    blocks = [slice(start, start + ROWS_AT_ONCE) for start in range(0, n, ROWS_AT_ONCE)]
    held = [of_mix.regressors(features[:, rows]) for rows in blocks if n <= MOST_HELD]

    def parts() -> Iterator[Matrix]:
        return iter(held) if held else (of_mix.regressors(features[:, rows]) for rows in blocks)

    to_factor = of_mix.to_factor * of_mix.weights(mix)
    size = len(to_factor)
    product, gain, mean = np.zeros((size, size)), np.zeros((size, len(Y))), np.zeros(size)
    for rows, part in zip(blocks, parts(), strict=True):
        product += part @ part.T
        gain += part @ Y[:, rows].T
        mean += part.sum(axis=1) / n
    product -= np.outer(mean, mean) * n
    inside = to_factor.T @ product @ to_factor
    to_fit = to_factor @ _inverse_factor(inside + ridge * np.eye(size))
    slopes = to_fit @ (to_fit.T @ (gain - np.outer(mean, Y.sum(axis=1))))
    leverage: Any = np.sum((product @ to_fit) * to_fit) / n
    residuals = np.empty_like(Y)
    for rows, part in zip(blocks, parts(), strict=True):
        part -= mean[:, None]
        if n <= MOST_JUDGED:
            leverage = np.sum((to_fit.T @ part) ** 2, axis=0)
        left = np.maximum(1 - leverage - 1 / n, LEAST_LEFT)
        residuals[:, rows] = (Y[:, rows] - slopes.T @ part) / left
    return residuals


def _bumps(features: Matrix, points: Matrix) -> Matrix:
    """Gaussians between rows and points; of several features as large as their sum."""
    if points.shape[1] < features.shape[1]:  # long rows are filled faster
        return _bumps(points, features).T
    out = np.empty((features.shape[1], points.shape[1]))
    _fill_bumps(np.ascontiguousarray(features), np.ascontiguousarray(points), out)
    return out


@compiled
def _fill_bumps(features: Array, points: Array, out: Array) -> None:
    size, n = features.shape
    for i in range(n):
        row = out[i]
        for j in range(len(row)):
            row[j] = 0.0
        for a in range(size):
            for j in range(len(row)):
                step = features[a, i] - points[a, j]
                row[j] -= 0.5 * step * step / size
        exponentiate(row)
        for j in range(len(row)):
            row[j] *= size
