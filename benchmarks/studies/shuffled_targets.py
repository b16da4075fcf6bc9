"""Shuffled targets: the features of real tables, and targets that are associated with none.

    SMRMR_DATA=/data python -m benchmarks.studies.shuffled_targets [permutations] [first] [table]

Per table, with standard errors over permutations: the share of p-values up to 0.05 and 0.01, of the
default and of features alone; the same of p-values below 1, that is of features that can be tested
on their own; the share of permutations with any finding at level 0.1; and the share of variance
that the fits are said to explain on rows left out, whose truth is 0. Two processes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

import numpy as np
from joblib import Parallel, delayed

from smrmr import Recipe, Selection, select

from ..data.datasets import Dataset, load
from ..experiments.run import seed_of

TABLES = ("alon", "khan", "TOX_171", "gravier", "riboflavin", "cells")
LEVEL = 0.1
TITLES = ("p <= .05", "p <= .01", "alone .05", "alone .01", ".05 of p < 1", "any finding")


def tested(data: Dataset, y: np.ndarray) -> Selection:
    """The answer of the default with tests of single features."""
    labels = y.astype(str) if data.target == "classes" else y
    recipe = Recipe(fdr=LEVEL, target=data.target, alike=None, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return select(data.X, labels, recipe)


def explained(found: Selection) -> float:
    """Share of variance explained on rows left out, mean over the columns of y."""
    return float(np.mean([fit.share for fit in found.evidence.fits]))


def shuffled(data: Dataset, seed: np.random.SeedSequence) -> list[float]:
    """The values of a row of the table, from one permutation."""
    found = tested(data, np.random.default_rng(seed).permutation(data.y))
    p, alone = (values[found.evidence.tested] for values in (found.p_values, found.alone.p))
    shares = [np.mean(values <= level) for values in (p, alone) for level in (0.05, 0.01)]
    return [*shares, np.mean(p[p < 1] <= 0.05), len(found.selected) > 0, explained(found)]


def main(n_permutations: int = 20, first: int = 0, names: Sequence[str] = ()) -> None:
    """Print the table, a row per table of data."""
    print(f"| table | {' | '.join(TITLES)} | explained |\n|" + "---|" * (len(TITLES) + 2))
    for name in names or TABLES:
        data, seeds = load(name), range(first, first + n_permutations)
        rows = np.array(
            Parallel(n_jobs=2)(
                delayed(shuffled)(data, seed_of(f"shuffled {name}", seed)) for seed in seeds
            ),
            dtype=float,
        )
        errors = rows.std(axis=0, ddof=1) / np.sqrt(n_permutations)
        told = [f"{m:.4f} ({e:.4f})" for m, e in zip(rows.mean(axis=0), errors, strict=True)]
        print(f"| {name} | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    n, first = (int(one) for one in [*sys.argv[1:3], *("20", "0")[len(sys.argv[1:3]) :]])
    main(n, first, sys.argv[3:])
