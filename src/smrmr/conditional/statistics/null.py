r"""Null distributions of the statistics of `rank_covariances`.

The statistics use ranks alone, so their nulls depend on the number of rows alone. For projection
covariance `null.csv` holds the points that :math:`n^{-2}` times it exceeds with probability 0.95
down to 1e-6: for some numbers of rows up to 200, by 7 to 30 million permutations each, and for
infinitely many, where the law is that of :math:`16 \sum_{jk} \chi^2_{jk} / (\pi^4 j^2 k^2)` (Blum,
Kiefer and Rosenblatt 1961); between them points are taken to be linear in 1/n. The last column is
for the grid that takes the place of samples where there are many: the same sum with the eigenvalues
of a Brownian bridge seen at its points.
``python -m benchmarks.studies.null`` prints it.

For the other two the law is the limit :math:`\sum_{jk} w_j w_k \chi^2_{jk}` of their own
eigenvalues w, times their mean over all permutations.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import log_ndtr

from ...types import Matrix, Vector
from .rank_covariances import MOST_COUNTED, kernel_eigenvalues, mean_covariance

if TYPE_CHECKING:
    from scipy.interpolate import PchipInterpolator

TAILS = np.concatenate([np.linspace(0.95, 0.1, 18), np.geomspace(0.08, 1e-6, 50)])
MOST_TERMS = 4000  # of a sum of chi-squares; the small ones that remain count by their mean
FARTHEST = 66.0  # frequency, in units of the largest term, up to which the inversion goes


def covariance_tail(covariance: Matrix, n: int, statistic: str = "pc") -> Matrix:
    """p-value of dependences of n distinct pairs, in the units of `rank_covariances`."""
    points, log_tail, rate = _law(n, statistic)
    scale = n**2 if statistic == "pc" else mean_covariance(statistic, n)
    root = np.sqrt(np.maximum(np.asarray(covariance) / scale, 0.0))
    inside = log_tail(np.clip(root, points[0], points[-1]))
    # beyond the table its largest term rules: chi-square with one degree of freedom
    beyond = _log_chi(rate * np.maximum(root, points[-1])) - _log_chi(rate * points[-1])
    return np.asarray(np.exp(inside + beyond) * (root > points[0]) + 1.0 * (root <= points[0]))


def points_of(terms: Vector, tails: Vector) -> Vector:
    """Points that a sum of chi-squares of one degree of freedom exceeds with some probabilities.

    `terms` are their weights. By inversion of the characteristic function (Imhof 1961).
    """
    from scipy.optimize import brentq  # takes long to load

    terms = np.sort(terms)[::-1]
    rest = terms[MOST_TERMS:].sum()
    terms = terms[:MOST_TERMS]
    nodes, node_weights = leggauss(40)
    width = 0.3 / terms[0]  # of panels; only the phase of the integrand depends on x
    starts = np.arange(0.0, FARTHEST / terms[0], width)
    u = np.add.outer(starts, width / 2 * (nodes + 1)).ravel()
    half_angle = np.array([0.5 * np.arctan(terms * v).sum() for v in u])
    size = np.array([np.exp(-0.25 * np.log1p((terms * v) ** 2).sum()) for v in u])
    amplitude = np.tile(width / 2 * node_weights, len(starts)) * size / u

    def exceeds(x: float) -> float:
        return float(0.5 + amplitude @ np.sin(half_angle - 0.5 * (x - rest) * u) / np.pi)

    far = rest + terms.sum() + 40 * terms[0]
    return np.array([brentq(lambda x, t=tail: exceeds(x) - t, rest, far) for tail in tails])


@cache
def _law(n: int, statistic: str) -> tuple[Vector, PchipInterpolator, float]:
    """Roots of the points for n rows, the log tail between them, the rate beyond."""
    from scipy.interpolate import PchipInterpolator  # takes long to load
    from scipy.optimize import brentq

    if statistic == "pc":
        tails, points = _from_table(n)
    else:
        share = kernel_eigenvalues(statistic, n)
        tails, points = TAILS, points_of(np.multiply.outer(share, share).ravel(), TAILS)
    distinct = np.append(True, np.diff(points) > 0)  # few rows have few values of the statistic
    roots, tails = np.sqrt(points[distinct]), tails[distinct]
    far = int(np.argmin(np.abs(np.log(tails / 1e-4))))

    def gap(rate: float) -> float:
        slope = _log_chi(rate * roots[-1]) - _log_chi(rate * roots[far])
        return float(slope - np.log(tails[-1] / tails[far]))

    return roots, PchipInterpolator(roots, np.log(tails)), float(brentq(gap, 0.1, 50.0))


def _from_table(n: int) -> tuple[Vector, Vector]:
    """Tail probabilities, and points of projection covariance for n rows."""
    text = files(__package__).joinpath("null.csv").read_text(encoding="utf-8").splitlines()
    sizes = np.array([float(word) for word in text[0].split(",")[1:-1]])
    table = np.array([[float(word) for word in line.split(",")] for line in text[1:]])
    if n > MOST_COUNTED:
        return table[:, 0], table[:, -1]
    order = np.argsort(1 / sizes)
    at = np.clip(1 / n, 0.0, 1 / sizes.min())
    points = np.array([np.interp(at, 1 / sizes[order], row[order]) for row in table[:, 1:-1]])
    return table[:, 0], points


def _log_chi(root: Vector) -> Vector:
    """Log of the chance that a chi-square with one degree of freedom exceeds root squared."""
    return np.asarray(np.log(2) + log_ndtr(-root))
