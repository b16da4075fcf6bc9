"""Counts false associations under permuted targets of real tables: the layer of features alone.

    SMRMR_DATA=/data python -m benchmarks.studies.associated_null [permutations] [first seed]

With a permuted target no feature is associated, so that the FDR is the share of permutations with
any finding. Printed for each table, at levels 0.1 and 0.3, with standard errors; and the shares of
p-values up to .05 and .01. Numbers are those of `riboflavin`, all others are classes.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd

from smrmr.conditional.marginal import marginal_tests
from smrmr.conditional.rules import BenjaminiHochberg
from smrmr.conditional.statistics import DEFAULT_STATISTICS, as_statistics
from smrmr.data.study import read_study
from smrmr.features.copies import find_copies
from smrmr.features.rank_table import RankTable
from smrmr.runs.work import Work

from ..data.datasets import load
from ..experiments.run import seed_of
from ..report.means import markdown

TABLES = (
    *("alon", "khan", "gravier", "TOX_171", "GLIOMA", "Toxicity", "cells", "riboflavin"),
    *("warpAR10P", "orlraws10P"),
)
LEVELS = (0.1, 0.3)


def permuted(data, ranks, copies, seed):
    """Smallest q-value, and shares of p-values up to .05 and .01, under a permuted target."""
    y = np.random.default_rng(seed).permutation(data.y)
    y = y if data.target == "continuous" else y.astype(str)
    study = read_study(data.X, y, data.target)
    statistics, work = as_statistics(DEFAULT_STATISTICS), Work(1)
    p = marginal_tests(study, ranks, copies, statistics, work).p[copies.modelled]
    q = BenjaminiHochberg().adjust(p, np.full(len(p), -1))
    return q.min(), np.mean(p <= 0.05), np.mean(p <= 0.01)


def main(n_permutations=100, first=5000):
    warnings.simplefilter("ignore")
    rows = []
    for name in TABLES:
        try:
            data = load(name)
        except (OSError, ValueError) as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        columns = read_study(data.X, data.y, data.target).columns
        ranks = RankTable.of(columns, Work(1))
        copies = find_copies(columns, True, Work(1), ranks)
        seeds = (seed_of(name, first + i) for i in range(n_permutations))
        smallest, five, one = np.array([permuted(data, ranks, copies, seed) for seed in seeds]).T
        row = {"table": name, "features": len(copies.modelled)}
        for level in LEVELS:
            any_found = smallest <= level
            row[f"FDR at {level:g}"] = any_found.mean()
            row[f"FDR at {level:g}_se"] = np.sqrt(level * (1 - level) / n_permutations)
        row |= {"p <= .05": f"{five.mean():.4f}", "p <= .01": f"{one.mean():.4f}"}
        rows.append(row)
        print(row, file=sys.stderr)
    print(markdown(pd.DataFrame(rows)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
