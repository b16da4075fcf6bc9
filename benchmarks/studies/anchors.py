"""Tells what few anchors change: associations, what is selected, and time.

    python -m benchmarks.studies.anchors [seeds]

First PC around 512 anchors against PC around all samples: root mean square of the differences of D
over all pairs of 60 features of design 2.b, how many of the ten features of largest relevance stay
among the ten, and CPU time of a pair, preparation left out. Then the knockoff filter at level 0.3
with few and with all anchors, on the same data and seeds: share of true features found and false
discovery rate, with standard errors, and those of the paired differences.
"""

from __future__ import annotations

import sys
import warnings
from time import process_time

import numpy as np

import smrmr
from smrmr.data.columns import Columns
from smrmr.measures import ProjectionCorrelation
from smrmr.measures.protocol import Use

CELLS = [(design, 500, 200, 128) for design in ("1.b", "1.d", "2.b")] + [("2.b", 5000, 100, 512)]


def pair_time(measure, X):
    """CPU seconds of a pair of prepared columns."""
    (block,) = Columns.bare(X).blocks(0)
    (part,) = measure.prepare(block, Use(1000, X.shape[1]))
    measure.inner(part, part)
    times = []
    for _ in range(5):
        start = process_time()
        measure.inner(part, part)
        times.append(process_time() - start)
    return min(times) / (X.shape[1] * (X.shape[1] + 1) / 2)


def compare_associations(n):
    data = smrmr.simulate("2.b", n, 60, random_state=1)
    few, exact = ProjectionCorrelation(512), ProjectionCorrelation("all")
    a, b = (smrmr.associate(data.X, data.y, measure=m) for m in (few, exact))
    pairs = np.triu_indices(60, 1)
    redundancy = np.sqrt(np.mean((a.redundancy - b.redundancy)[pairs] ** 2))
    relevance = np.sqrt(np.mean((a.relevance - b.relevance) ** 2))
    top = [set(np.argsort(-one.relevance)[:10]) for one in (a, b)]
    times = [1e6 * pair_time(m, data.X) for m in (few, exact)]
    print(
        f"n={n:<6} rms error of redundancy {redundancy:.1e}, of relevance {relevance:.1e}; "
        f"{len(top[0] & top[1])} of the top ten; {times[0]:.1f} us per pair against {times[1]:.1f}",
        flush=True,
    )


def outcome(data, anchors, seed):
    control = f"knockoffs(measure=pc(anchors={anchors}))"
    recipe = smrmr.Recipe(fdr=0.3, target=data.target, control=control)
    selected = smrmr.select(data.X, data.y, recipe, rng=seed).selected
    hits = np.isin(selected, data.support).sum()
    return hits / len(data.support), (len(selected) - hits) / max(len(selected), 1)


def compare_selections(design, n, p, anchors, seeds):
    runs = []
    for seed in range(seeds):
        data = smrmr.simulate(design, n, p, random_state=[11, seed])
        runs.append([outcome(data, count, seed) for count in (anchors, "all")])
    few, exact = np.array(runs).swapaxes(0, 1)
    cells = []
    for name, column in (("TPR", 0), ("FDR", 1)):
        sides = few[:, column], exact[:, column], few[:, column] - exact[:, column]
        told = [f"{one.mean():.3f} ({one.std() / np.sqrt(seeds):.3f})" for one in sides]
        cells.append(f"{name} {told[0]} against {told[1]}, difference {told[2]}")
    print(f"{design} n={n} p={p}, {anchors} against all: {'; '.join(cells)}", flush=True)


def main(seeds):
    warnings.simplefilter("ignore")  # one good draw in a hundred fails its diagnosis
    for n in (2600, 10_000):
        compare_associations(n)
    for cell in CELLS:
        compare_selections(*cell, seeds if cell[1] < 1000 else max(1, seeds // 3))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
