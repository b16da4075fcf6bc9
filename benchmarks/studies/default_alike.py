"""Compares the default, groups at several cuts, with single features where few are look-alikes.

    python -m benchmarks.studies.default_alike [seeds] [first seed]

Conditional tests on the paper's ten designs and four more at (100, 100) and (200, 600). Printed:
TPR / FDR at levels 0.1 and 0.3 with alike=None and with the default, and mean sizes of its groups.
A true feature counts as found within a group, a group as false without one. Two processes; with 10
seeds it takes ten minutes.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import smrmr

from ..experiments.groups import scored
from ..experiments.run import seed_of
from ..report.means import markdown, number
from ..report.yardstick import PAPER

DESIGNS = (*PAPER, "blocks", "equicorrelated", "genotypes", "mixed")
SIZES = ((100, 100), (200, 600))
LEVELS = (0.1, 0.3)
ASKED = {"single": None, "default": "auto"}


def one(design, n, p, seed):
    """One row per way to ask and level."""
    warnings.simplefilter("ignore")
    state = seed_of(f"default {design} {n} {p}", seed).generate_state(4)
    data = smrmr.simulate(design, n, p, random_state=state)
    rows = []
    for asked, alike in ASKED.items():
        recipe = smrmr.Recipe(control="tests", target=data.target, alike=alike, n_jobs=1)
        found = smrmr.select(data.X, data.y, recipe, rng=0)
        for level in LEVELS:
            about = {"n": n, "p": p, "design": design, "asked": asked, "level": level}
            rows.append({**about, **scored(found.at(level), data.support)})
    return rows


def table(rows):
    """Designs down, ways to ask and levels across."""
    lines = []
    for (n, p, design), part in rows.groupby(["n", "p", "design"], sort=False):
        line = {"n": n, "p": p, "design": design}
        for (asked, level), cell in part.groupby(["asked", "level"], sort=False):
            line[f"{asked}, {level}"] = f"{number(cell['tpr'].mean())} / " + number(
                cell["fdr"].mean(), cell["fdr"].sem()
            )
        line["size"] = number(part.loc[part["asked"] == "default", "size"].mean())
        lines.append(line)
    return markdown(pd.DataFrame(lines))


def main(seeds, first=0):
    tasks = [
        delayed(one)(design, n, p, seed)
        for n, p in SIZES
        for design in DESIGNS
        for seed in range(first, first + seeds)
    ]
    rows = pd.DataFrame([row for part in Parallel(n_jobs=2)(tasks) for row in part])
    print(table(rows), "\n")
    means = rows[rows["design"].isin(PAPER)].groupby(["n", "p", "level", "asked"])[["tpr", "fdr"]]
    print(np.round(means.mean(), 3).to_string())


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:] or ["10"]))
