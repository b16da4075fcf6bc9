"""Real labels, and features that are null by construction: tests of features of few values.

    SMRMR_DATA=/data python -m benchmarks.studies.null_copies [copies] [table] [step]

Every gene of the table (cells), or one of so many, is replaced by a copy that is independent of the
labels given all other genes: its fitted value from its neighbours, and its residual permuted among
50 cells of similar fitted values (34 rows of other tables). Mean and variance of the copy given the
others are those of the gene. Shares of p-values up to each level, of the joint tests against the
residuals of the labels.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from smrmr import ConditionalTests, Recipe
from smrmr.conditional.distillers import Distillation
from smrmr.conditional.first_pass import first_pass
from smrmr.conditional.marginal import marginal_tests
from smrmr.conditional.preparing import prepare_inputs
from smrmr.conditional.residuals import residuals_of
from smrmr.conditional.statistics import Joint, joint_gcm_p_values
from smrmr.conditional.statistics.tied import tied_p_values
from smrmr.data.study import read_study
from smrmr.features.groups import find_groups
from smrmr.features.rank_table import RankTable
from smrmr.runs.work import Work

from ..data.datasets import load

LEVELS = (0.05, 0.01, 0.001)
SIMILAR = {"cells": 50}  # rows among which residuals are permuted,
OF_OTHERS = 34  # and of other tables
TESTS = {
    "F test": lambda pairs: Joint().p_values(pairs),
    "generalised covariance measure": joint_gcm_p_values,
    "permutations in strata (ours)": lambda pairs: tied_p_values(pairs)[1],
}


def copied(found, similar, rng):
    """Null copies of the columns whose residuals were found, standardised."""
    n = found.values.shape[1]
    order = np.argsort(found.fitted, axis=1)
    free = found.rank == 0  # nothing is known of these
    order[free] = rng.permuted(np.tile(np.arange(n), (free.sum(), 1)), axis=1)
    r = np.take_along_axis(found.values, order, axis=1)
    for start in range(0, n, similar):
        r[:, start : start + similar] = rng.permuted(r[:, start : start + similar], axis=1)
    copies = found.fitted.copy()
    for copy, place, value in zip(copies, order, r, strict=True):
        copy[place] += value
    copies -= copies.mean(axis=1, keepdims=True)
    return copies / copies.std(axis=1, keepdims=True)


def main(n_copies=4, table="cells", step=1):
    warnings.simplefilter("ignore")
    data, control, work = load(table), ConditionalTests(), Work(1, 10**9, None)
    study = read_study(data.X, data.y.astype(str), "classes")
    ranks = RankTable.of(study.columns, work, keep=True)
    groups = find_groups(ranks, True, Recipe(alike="none").cuts_for(*data.X.shape), None, work)
    alone = marginal_tests(study, ranks, groups.copies, control.statistics, work)
    inputs = prepare_inputs(study, ranks, groups, alone, control.statistics, work)
    distillation = Distillation(inputs.problems, control.distillers)
    results = first_pass(inputs, distillation, work)
    rng, p, Z = np.random.default_rng(0), {name: [] for name in TESTS}, inputs.Z.copy()
    similar = SIMILAR.get(table, OF_OTHERS)
    chosen = range(0, len(results.rows), step)
    for _ in range(n_copies):
        for i in chosen:
            row = results.rows[i]
            near = results.neighbours.take([i])
            E = distillation.without(np.array([row])).residuals
            given = inputs.Z, np.array([row]), near, E, [inputs.covariate_basis]
            ((_, found),) = residuals_of(*given)
            Z[row] = copied(found, similar, rng)[0]
            ((_, again),) = residuals_of(Z, *given[1:])
            Z[row] = inputs.Z[row]
            (pairs, *_) = again.pairs(inputs.tie_breakers)
            for name, test in TESTS.items():
                p[name].append(test(pairs)[0])
    few = np.tile(inputs.tied[results.rows[list(chosen)]], n_copies)
    print("| test | genes | " + " | ".join(f"p <= {level}" for level in LEVELS) + " |")
    print("|---|---|" + "---|" * len(LEVELS))
    for name, values in p.items():
        for kind, which in (("of few values", few), ("others", ~few)):
            if not which.any():
                continue
            shares = [f"{np.mean(np.array(values)[which] <= level):.4f}" for level in LEVELS]
            print(f"| {name} | {kind}, {which.sum()} copies | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    copies, table, step = [*sys.argv[1:], *("4", "cells", "1")[len(sys.argv) - 1 :]]
    main(int(copies), table, int(step))
