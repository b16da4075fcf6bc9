"""Asks how the power for groups of Toxicity depends on which of its columns make the target.

    python -m benchmarks.studies.planting [seeds] [first seed]

The linear rule of the planted benchmark, level 0.3, cuts 0.7 and 0.5. Ten columns are drawn evenly,
as in the benchmark, so that most lie in large clusters; or one from each of ten groups;
and they enter as they are or as normal scores. Printed: TPR / FDR of groups with standard errors.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

import smrmr
from smrmr.conditional.scores import doubled_ranks, normal_scores
from smrmr.data.columns import Columns
from smrmr.features.groups import find_groups
from smrmr.features.rank_table import RankTable

from ..experiments.groups import TABLES, scored
from ..experiments.planted import N_TRUE, RESPONSES, distinct_columns
from ..experiments.run import seed_of
from ..report.means import markdown

CUTS = (0.7, 0.5)
LEVEL = 0.3


def one(X, cut, drawn, entered, seed):
    """Share of true columns in groups found, and of groups found without one."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(seed_of(f"planting {cut} {drawn} {entered}", seed))
    support = rng.choice(X.shape[1], N_TRUE, replace=False)
    if drawn == "one per group":
        groups = find_groups(RankTable.of(Columns.bare(X)), True, (cut,)).hypotheses[0]
        chosen = rng.choice(np.unique(groups), N_TRUE, replace=False)
        support = np.array([rng.choice(np.flatnonzero(groups == g)) for g in chosen])
    x = X[:, support]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    if entered == "normal scores":
        x = normal_scores(doubled_ranks(x.T)).T
    y = RESPONSES["linear"][0](x, rng)
    recipe = smrmr.Recipe(fdr=LEVEL, control="tests", target="continuous", alike=cut, n_jobs=1)
    found = scored(smrmr.select(X, y, recipe, rng=0), support)
    return {
        "cut": cut,
        "drawn": drawn,
        "entered": entered,
        "tpr": found["tpr"],
        "fdr": found["fdr"],
    }


def main(seeds, first=0):
    X = TABLES["Toxicity"](np.random.default_rng(0))
    X = X[:, distinct_columns(X)]
    tasks = [
        delayed(one)(X, cut, drawn, entered, seed)
        for cut in CUTS
        for drawn in ("evenly", "one per group")
        for entered in ("as they are", "normal scores")
        for seed in range(first, first + seeds)
    ]
    rows = pd.DataFrame(Parallel(n_jobs=2)(tasks))
    cells = rows.groupby(["cut", "drawn", "entered"], sort=False)
    table = cells[["tpr", "fdr"]].mean().join(cells[["tpr", "fdr"]].sem().add_suffix("_se"))
    print(markdown(table.reset_index()))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:] or ["10"]))
