"""Counts how often `smrmr.test` rejects, and how often its intervals hold the truth.

    python -m benchmarks.studies.one_question [data sets] [first seed]

Normal features, neighbours of which correlate by 0.5; the target is linear in six of them, both
next to the one in question, with noise. The partial correlation given all others is then known: 0,
0.15, 0.3 or 0.5. Printed: share of p-values up to 0.05 and 0.01, mean estimate, and share of 95%
intervals that hold the truth, each with its standard error over data sets. One process; with 200
data sets it takes five minutes.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import smrmr

from ..report.means import markdown

SIZES = ((200, 50), (150, 300))  # rows and features
PARTIALS = (0.0, 0.15, 0.3, 0.5)
CORRELATION = 0.5  # of neighbours
OWN = (1 - CORRELATION**2) / (1 + CORRELATION**2)  # variance given both neighbours
ASKED = 20  # the feature in question
OTHERS = (ASKED - 1, ASKED + 1, 5, 10, 35, 45)  # features that the target depends on


def features(n, p, rng):
    """Normal columns, a stationary chain."""
    X = rng.standard_normal((n, p))
    for k in range(1, p):
        X[:, k] = CORRELATION * X[:, k - 1] + np.sqrt(1 - CORRELATION**2) * X[:, k]
    return X


def target(X, partial, rng):
    """A linear target whose partial correlation with the feature in question is known."""
    slope = partial / np.sqrt((1 - partial**2) * OWN)
    noise = rng.standard_normal(len(X))
    return slope * X[:, ASKED] + X[:, list(OTHERS)].sum(axis=1) + noise


def one(n, p, partial, seed):
    """What the test finds in one data set."""
    rng = np.random.default_rng([n, p, int(100 * partial), seed])
    X = features(n, p, rng)
    y = target(X, partial, rng)
    found = smrmr.test(X[:, ASKED], y, given=np.delete(X, ASKED, axis=1))
    low, high = found.interval
    return {
        "p <= .05": found.p_value <= 0.05,
        "p <= .01": found.p_value <= 0.01,
        "estimate": found.effect,
        "interval holds it": low <= partial <= high,
    }


def main(n_sets=200, first=0):
    rows = []
    for n, p in SIZES:
        for partial in PARTIALS:
            found = pd.DataFrame([one(n, p, partial, first + i) for i in range(n_sets)])
            found = found.astype(float)
            mean, error = found.mean(), found.sem()
            shown = {name: f"{mean[name]:.3f} ± {error[name]:.3f}" for name in found}
            rows.append({"rows x features": f"{n} x {p}", "partial correlation": partial, **shown})
    print(markdown(pd.DataFrame(rows)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
