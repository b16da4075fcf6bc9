"""Counts how often p-values of false features are small; a ratio of 1 to nominal is fair.

    python -m benchmarks.studies.calibration [seeds] [first seed]

Conditional tests (control="tests"), p=100, on the ten designs of the paper and three more. Printed:
share of false features with p-values up to 0.05, 0.01 and 0.001 over those levels, with standard
errors over data sets, since p-values of one data set depend on each other; per n, then per design.
Two processes. With 30 seeds it takes about an hour.
"""

from __future__ import annotations

import sys
import warnings

import pandas as pd
from joblib import Parallel, delayed

import smrmr

from ..experiments.run import seed_of
from ..experiments.synthetic import null_shares
from ..report.means import in_order, markdown
from ..report.yardstick import PAPER, ratios

DESIGNS = (*PAPER, "null", "genotypes", "heavy")
ROWS = (50, 100, 200, 500, 1000)
P = 100


def one(design, n, seed, p=P):
    """Shares of small p-values among the false features of one data set."""
    warnings.simplefilter("ignore")
    data = smrmr.simulate(
        design, n, p, random_state=seed_of(f"calibration {design} {n} {p}", seed).generate_state(4)
    )
    recipe = smrmr.Recipe(control="tests", target=data.target, n_jobs=1)
    found = smrmr.select(data.X, data.y, recipe, rng=0)
    return {"design": design, "n": n, **null_shares(found.evidence.p_values, data.support)}


def study(seeds, designs=DESIGNS, rows=ROWS, jobs=2):
    """One row per data set; small ones first, so that an early end still says something."""
    return pd.DataFrame(
        Parallel(n_jobs=jobs)(
            delayed(one)(design, n, seed) for n in rows for design in designs for seed in seeds
        )
    )


def main(seeds, first=0):
    parts = []
    for n in ROWS:
        parts.append(study(range(first, first + seeds), rows=(n,)))
        print(f"n={n}, {seeds} data sets a design\n", flush=True)
        print(markdown(in_order(ratios(parts[-1], ["design"]))), "\n", flush=True)
    print("all designs\n")
    print(markdown(ratios(pd.concat(parts), ["n"])))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:] or ["30"]))
