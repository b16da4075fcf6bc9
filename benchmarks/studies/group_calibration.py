"""Counts how often p-values of groups without a true feature are small; a ratio of 1 is fair.

    python -m benchmarks.studies.group_calibration [seeds] [first seed]

Conditional tests of given groups of 2, 10 and 100 columns, 200 rows, 400, 800 and 1,000 columns
that correlate by 0.3, 0.7 or 0.9 within a group and by 0.2 beyond; the target comes from one column
of each of three groups, or of ten (not of a hundred columns), by the rules of the planted
benchmark.
Printed: share of null groups with p-values up to 0.05, 0.01 and 0.001 over those levels, with
standard errors over data sets; how often the credible sets of a group hold the member that carries
it; and the same ratios of Cauchy's rule alone, uncorrected, for members without effect. Two
processes; with 20 seeds it takes a quarter of an hour.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import norm

import smrmr
from smrmr.conditional.combine import combine

from ..experiments.planted import RESPONSES
from ..experiments.run import seed_of
from ..experiments.synthetic import null_shares
from ..report.means import markdown
from ..report.yardstick import ratios

SIZES = {2: 400, 10: 800, 100: 1000}  # of a group, and columns of the table
LIKENESS = (0.3, 0.7, 0.9)
ROWS = 200
BEYOND = 0.2
N_TRUE = {2: (3, 10), 10: (3, 10), 100: (3,)}
LEVELS = (0.05, 0.01, 0.001)
SELECTED_AT = 0.3  # groups whose carriers are counted


def one(size, n_true, likeness, response, seed):
    """Shares of small p-values among the null groups of one data set, and of carriers in sets."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(
        seed_of(f"groups of {size}, {n_true}, {likeness}, {response}", seed)
    )
    n_columns = SIZES[size]
    groups = np.arange(n_columns) // size
    shares = np.sqrt([BEYOND, likeness - BEYOND, 1 - likeness])
    X = (
        shares[0] * rng.standard_normal((ROWS, 1))
        + shares[1] * rng.standard_normal((ROWS, n_columns // size))[:, groups]
        + shares[2] * rng.standard_normal((ROWS, n_columns))
    )
    true = size * rng.choice(n_columns // size, n_true, replace=False)
    respond, target = RESPONSES[response]
    recipe = smrmr.Recipe(
        fdr=SELECTED_AT, control="tests", target=target, feature_groups=groups.tolist(), n_jobs=1
    )
    found = smrmr.select(X, respond(X[:, true], rng), recipe, rng=0)
    p = found.evidence.p_values[::size]
    named = [
        carriers
        for lead, carriers in zip(found.selected, found.carriers, strict=True)
        if groups[lead] in groups[true]
    ]
    hits = [np.isin(np.concatenate(carriers.sets), true).any() for carriers in named]
    return {
        "size": size,
        "true": n_true,
        "likeness": likeness,
        "response": response,
        "named": len(named),
        "right": sum(hits),
        **null_shares(p, true // size),
    }


def rule_alone(size, likeness, draws=50_000):
    """Ratios of Cauchy's rule for members whose correlations with the target are normal."""
    rng = np.random.default_rng(0)
    shared = np.sqrt(likeness) * rng.standard_normal((1, draws))
    z = shared + np.sqrt(1 - likeness) * rng.standard_normal((size, draws))
    p = combine(2 * norm.sf(np.abs(z)))
    ratios_at = {f"{level:g}": np.mean(p <= level) / level for level in LEVELS}
    return {"size": size, "likeness": likeness, **ratios_at}


def main(seeds, first=0):
    tasks = [
        delayed(one)(size, n_true, likeness, response, seed)
        for seed in range(first, first + seeds)
        for size in SIZES
        for n_true in N_TRUE[size]
        for likeness in LIKENESS
        for response in RESPONSES
    ]
    rows = pd.DataFrame(Parallel(n_jobs=2)(tasks))
    for by in (["size"], ["size", "true"], ["size", "likeness"], ["size", "response"]):
        print(markdown(ratios(rows, by)), "\n")
    named = rows.groupby("size")[["named", "right"]].sum()
    print("carrier in a credible set\n")
    print((named["right"] / named["named"]).round(2).to_string())
    print("\nCauchy's rule alone\n")
    print(markdown(pd.DataFrame([rule_alone(s, r) for s in SIZES for r in (0.3, 0.5, 0.7, 0.9)])))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:] or ["30"]))
