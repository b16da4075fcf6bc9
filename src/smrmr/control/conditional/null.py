r"""The law of the projection covariance where there is nothing to find: one table for all data.

The statistic goes by ranks, so its null depends on the number of rows alone. `null.csv` holds the
points that :math:`n^{-2}` times the covariance exceeds with probability 0.95 down to 1e-6, for some
numbers of rows (tens of millions of permutations each) and for infinitely many, where the law is
that of :math:`16 \sum_{jk} \chi^2_{jk} / (\pi^4 j^2 k^2)` (Blum, Kiefer and Rosenblatt 1961).
``python -m benchmarks.studies.null`` wrote it.
"""

from functools import cache
from importlib.resources import files

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.optimize import brentq
from scipy.special import log_ndtr

from ...types import Matrix, Vector


def covariance_tail(covariance: Matrix, n: int) -> Matrix:
    """p-value of projection covariances of n distinct pairs, in the units of `concordance`."""
    points, log_tail, rate = _law(n)
    root = np.sqrt(np.maximum(np.asarray(covariance) / n**2, 0.0))
    inside = log_tail(np.clip(root, points[0], points[-1]))
    # beyond the table its largest term rules: chi-square with one degree of freedom
    beyond = _log_chi(rate * np.maximum(root, points[-1])) - _log_chi(rate * points[-1])
    return np.asarray(np.exp(inside + beyond) * (root > points[0]) + 1.0 * (root <= points[0]))


@cache
def _law(n: int) -> tuple[Vector, PchipInterpolator, float]:
    """Roots of the table's points for n rows, the log tail between them, the rate beyond."""
    text = files(__package__).joinpath("null.csv").read_text(encoding="utf-8").splitlines()
    sizes = np.array([float(word) for word in text[0].split(",")[1:]])
    table = np.array([[float(word) for word in line.split(",")] for line in text[1:]])
    tails, points = table[:, 0], table[:, 1:]
    order = np.argsort(1 / sizes)
    at = np.clip(1 / n, 0.0, 1 / sizes.min())
    row = np.array([np.interp(at, 1 / sizes[order], line[order]) for line in points])
    distinct = np.append(True, np.diff(row) > 0)  # few rows have few values of the statistic
    roots, tails = np.sqrt(row[distinct]), tails[distinct]
    far = int(np.argmin(np.abs(np.log(tails / 1e-4))))

    def gap(rate: float) -> float:
        slope = _log_chi(rate * roots[-1]) - _log_chi(rate * roots[far])
        return float(slope - np.log(tails[-1] / tails[far]))

    return roots, PchipInterpolator(roots, np.log(tails)), float(brentq(gap, 0.1, 50.0))


def _log_chi(root: Vector) -> Vector:
    """Log of the chance that a chi-square with one degree of freedom exceeds root squared."""
    return np.asarray(np.log(2) + log_ndtr(-root))
