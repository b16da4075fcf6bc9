"""Writes the table of the law of the projection covariance where there is nothing to find.

``python -m benchmarks.studies.null`` takes some 15 minutes on one core and prints the table that is
kept as ``src/smrmr/conditional/null.csv``: a row per tail probability, a column per number
of rows, then one for infinitely many, and one for the grid that counts where there are many rows.
``python -m benchmarks.studies.null grid`` prints the last column alone, which takes seconds.
"""

from __future__ import annotations

import sys

import numpy as np

from smrmr.conditional.statistics.null import TAILS, points_of
from smrmr.conditional.statistics.rank_covariances import GRID, projection_covariances
from smrmr.runs.compiled import compiled
from smrmr.types import Indices, Vector

SIZES = (8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200)
WORK = 2e10  # steps of the loop over points, for every number of rows
MOST = 30_000_000  # permutations
BINS, LARGEST = 20_000, 9.0  # of the covariance over n^2


def main() -> None:
    """Print the table."""
    print("tail," + ",".join(map(str, SIZES)) + ",inf,grid")
    columns = [simulated(n) for n in SIZES] + [limit(), on_grid()]
    for tail, row in zip(TAILS, np.transpose(columns), strict=True):
        print(f"{tail:.6g}," + ",".join(f"{point:.5f}" for point in row), flush=True)


def simulated(n: int) -> Vector:
    """Points that the covariance over n^2 exceeds with the wanted probabilities."""
    n_draws = int(min(MOST, WORK / n / (7 + np.log2(n))))
    counts = np.zeros(BINS, np.int64)
    _count(n, n_draws, counts)
    above = np.concatenate([counts[::-1].cumsum()[::-1], [0]]) / n_draws
    edges = (np.linspace(0, 1, BINS + 1)) ** 2 * LARGEST
    return np.interp(-TAILS, -above, edges)


@compiled
def _count(n: int, n_draws: int, counts: Indices) -> None:
    np.random.seed(n)  # noqa: NPY002 of numba's own generator
    ranks, tree, found = np.arange(n).reshape(1, n), np.empty(n + 1, np.int64), np.empty(1)
    for _ in range(n_draws):
        for a in range(n - 1, 0, -1):
            b = np.random.randint(0, a + 1)  # noqa: NPY002
            ranks[0, a], ranks[0, b] = ranks[0, b], ranks[0, a]
        projection_covariances(ranks, tree, found)
        root = np.sqrt(max(found[0], 0.0) / (n * n * LARGEST))
        counts[min(int(root * BINS), BINS - 1)] += 1


def limit() -> Vector:
    """The same points for infinitely many rows."""
    squares = np.arange(1.0, 400.0) ** 2
    terms = 16 / np.pi**4 / np.multiply.outer(squares, squares).ravel()
    return points_of(terms, TAILS) + 16 / 36 - terms.sum()  # the many that remain, by their mean


def on_grid() -> Vector:
    """The same points for many rows, where a grid takes the place of samples."""
    angles = np.arange(1, GRID + 1) * np.pi / (2 * (GRID + 1))
    bridge = 1 / (4 * GRID * (GRID + 1) * np.sin(angles) ** 2)
    return points_of(16 * np.multiply.outer(bridge, bridge).ravel(), TAILS)


if __name__ == "__main__":
    print(*[f"{point:.5f}" for point in on_grid()], sep="\n") if "grid" in sys.argv else main()
