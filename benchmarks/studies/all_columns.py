"""Prints what fits to all columns find on real features, and what fits to the best 1,000 find.

    SMRMR_DATA=/data python -m benchmarks.studies.all_columns [seeds] [first seed] [response] [data]

Ten columns of a real table make the target (`benchmarks.experiments.planted`). Single features are
tested. Printed for both kinds of fit: true features in the fit of the target, of ten, then TPR /
FDR at levels 0.1 and 0.3, with standard errors over targets, and processor seconds a target.
"""

from __future__ import annotations

import sys
import warnings
from time import process_time

import numpy as np

import smrmr.conditional.distillers.problem as problem
from smrmr import Recipe, select

from ..data.datasets import load
from ..experiments.planted import N_TRUE, distinct_columns, plant

LEVELS = (0.1, 0.3)
KINDS = {"all columns": problem.MOST_VALUES, "best 1,000": 0}  # values in sparse fits


def scores(data):
    """True features in the fit, TPR and FDR at each level, and seconds."""
    start = process_time()
    recipe = Recipe(fdr=LEVELS[0], alike=None, target=data.target, n_jobs=1)
    found = select(data.X, data.y, recipe)
    seconds = process_time() - start
    used = np.unique(np.concatenate([fit.used for fit in found.evidence.fits]))
    row = [np.isin(data.support, used).sum()]
    for level in LEVELS:
        selected = found.at(level).selected
        hits = np.isin(selected, data.support).sum()
        row += [hits / N_TRUE, (len(selected) - hits) / max(len(selected), 1)]
    return [*row, seconds]


def main(seeds=10, first=0, response="linear", dataset="TOX_171"):
    warnings.simplefilter("ignore")  # of bounded fits, which are meant here
    X = load(dataset).X
    X = X[:, distinct_columns(X)]
    print(
        f"{dataset}, {X.shape[0]} x {X.shape[1]:,}, {response}, {seeds} targets from seed {first}"
    )
    data = [plant(X, dataset, response, seed) for seed in range(first, first + seeds)]
    scores(data[0])  # compiles
    for kind, most in KINDS.items():
        problem.MOST_VALUES = most
        rows = np.array([scores(one) for one in data])
        error = rows.std(axis=0, ddof=1) / np.sqrt(len(rows))
        said = [f"{m:.2f} ({e:.2f})" for m, e in zip(rows.mean(axis=0), error, strict=True)]
        used, tpr, fdr, tpr_3, fdr_3, seconds = said
        print(f"{kind}: {used} in fits; {tpr} / {fdr}; {tpr_3} / {fdr_3}; {seconds} s", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
