"""Measures one cell of the yardstick again, on data sets that the yardstick has not seen.

    python -m benchmarks.studies.fresh_cell [design] [n] [p] [data sets] [first seed]

For a cell that stands out: with hundreds of cells some do by chance. Without arguments it is design
2.b at n=500, p=500, on 60 data sets, which take two minutes.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

import smrmr

from ..experiments.synthetic import null_shares

LEVELS = (0.1, 0.2, 0.3)


def one(design, n, p, seed):
    """Share of false features among the selected at every level, and of small null p-values."""
    data = smrmr.simulate(design, n, p, random_state=seed)
    found = smrmr.select(
        data.X, data.y, smrmr.Recipe(control="tests", target=data.target, alike=None)
    )
    false = {}
    for level in LEVELS:
        selected = found.at(level).selected
        false[f"FDR at {level}"] = np.mean(~np.isin(selected, data.support)) if len(selected) else 0
    return false | null_shares(found.p_values, data.support)


def main(design="2.b", n=500, p=500, seeds=60, first=9100):
    warnings.simplefilter("ignore")
    rows = [one(design, int(n), int(p), int(first) + i) for i in range(int(seeds))]
    for name in rows[0]:
        values = np.array([row[name] for row in rows])
        print(f"{name}: {values.mean():.4f} ({values.std() / np.sqrt(len(values)):.4f})")


if __name__ == "__main__":
    main(*sys.argv[1:])
