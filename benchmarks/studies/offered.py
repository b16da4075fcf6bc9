"""What is lost where sparse fits of the target choose from fewer features than all.

    python -m benchmarks.studies.offered [DATA_SETS]

Of many rows fits choose from the features most associated with the target, 1,000 at least; all are
tested. Here 600 rows of 900 columns, neighbours alike, are fitted from all columns, a third and a
ninth of them. Ten columns matter; "masked" are five neighbours of these more, which nearly cancel
with them, so that the target hardly goes with them alone. Printed are the share of the true columns
found at level 0.1 and of false ones among those found, with standard errors over data sets.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

import smrmr
from smrmr.conditional.distillers import problem

N, P, N_TRUE, LEVEL = 600, 900, 10, 0.1
SLOPE, ALIKE = 0.25, 0.5
OFFERED = (P, P // 3, P // 9)


def table(masked, seed):
    """Columns, target and the numbers of the true columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, P))
    for k in range(1, P):
        X[:, k] = ALIKE * X[:, k - 1] + np.sqrt(1 - ALIKE**2) * X[:, k]
    true = np.arange(0, P, P // N_TRUE)[:N_TRUE]
    y = SLOPE * X[:, true].sum(axis=1) + rng.standard_normal(N)
    if not masked:
        return X, y, true
    beside = true[: N_TRUE // 2] + 1
    y -= SLOPE * ALIKE * X[:, beside].sum(axis=1)
    return X, y, np.concatenate([true, beside])


def rates(X, y, true):
    recipe = smrmr.Recipe(fdr=LEVEL, n_jobs=1, alike=None)
    found = smrmr.select(X, y, recipe).selected
    hits = np.isin(found, true).sum()
    return hits / len(true), (len(found) - hits) / max(1, len(found))


def main(n_sets=20):
    warnings.simplefilter("ignore")
    problem.MOST_VALUES = 0  # so that LEAST_IN_FIT decides
    for masked in (False, True):
        for offered in OFFERED:
            problem.LEAST_IN_FIT = offered
            each = np.array([rates(*table(masked, 7000 + seed)) for seed in range(n_sets)])
            (power, false), (se, se_false) = each.mean(0), each.std(0, ddof=1) / np.sqrt(n_sets)
            kind = "masked" if masked else "plain"
            print(
                f"{kind:<7} from {offered:>3} of {P}: found {power:.2f} ({se:.2f}), "
                f"false {false:.2f} ({se_false:.2f})",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
