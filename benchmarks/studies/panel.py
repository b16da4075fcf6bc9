"""Panels against rankings of 20 features: accuracy of a random forest on rows left out.

    SMRMR_DATA=/data python -m benchmarks.studies.panel [first seed] [repeats]

For each table with classes five folds, dealt anew in every repeat. Whatever a method does, the size
of our panel included, is done on training rows alone. Printed: accuracy (mean number of features)
for each table, and means over tables; then the same for the panel's own predictor, beside the
accuracy that the panel itself reports from the training rows.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold

from smrmr.conditional.marginal import marginal_tests
from smrmr.conditional.statistics import DEFAULT_STATISTICS, as_statistics
from smrmr.data.study import read_study
from smrmr.features.copies import find_copies
from smrmr.features.rank_table import RankTable
from smrmr.layers.panel import choose_panel
from smrmr.layers.prediction import Rows, predict_rows
from smrmr.rivals import MRMR, SIS, HSICLasso
from smrmr.runs.work import Work

from ..data.datasets import load

TABLES = (
    *("GLIOMA", "TOX_171", "orlraws10P", "pixraw10P", "warpAR10P"),
    *("Toxicity", "alon", "khan", "gravier", "cells"),
)
RIVALS = {"HSIC-LASSO 20": HSICLasso, "mRMR 20": MRMR, "SIS 20": SIS}
FIRST_SEED = 300  # constants of the panel were chosen with seeds below
LEVEL = 0.1
TREES = 200


def panel_of(X, y):
    """The panel of some rows with its accuracy, and the 20 features that it is the start of."""
    work = Work(n_jobs=1)
    study = read_study(X, y, "classes")
    ranks = RankTable.of(study.columns, work)
    copies = find_copies(study.columns, True, work, ranks)
    alone = marginal_tests(study, ranks, copies, as_statistics(DEFAULT_STATISTICS), work)
    data = study, ranks, copies, alone, LEVEL, work
    return choose_panel(*data, accuracy=True), choose_panel(*data).features


def forest_accuracy(X, y, features, train, test):
    """Accuracy on test rows of a random forest, or of the largest class without features."""
    model = RandomForestClassifier(TREES, random_state=0) if len(features) else DummyClassifier()
    X = X[:, features]
    return model.fit(X[train], y[train]).score(X[test], y[test])


def own_accuracy(X, y, features, train, test):
    """Accuracy on test rows of the panel's own predictor."""
    classes = np.unique(y)
    rows = Rows(train, test, np.empty((len(y), 0)))
    ranks = RankTable.of(read_study(X, y, "classes").columns)
    predicted = predict_rows(ranks, features, np.equal.outer(classes, y).astype(float), rows)
    return np.mean(classes[predicted.argmax(axis=0)] == y[test])


def one_fold(X, y, train, test):
    """For each method the accuracy of a forest and the number of features; then our own."""
    warnings.simplefilter("ignore")
    panel, largest = panel_of(X[train], y[train])
    sets = {"panel": panel.features, "panel, at most 20": largest}
    for name, rival in RIVALS.items():
        found = rival(20, target="classes", n_jobs=1).fit(X[train], y[train])
        sets[name] = np.flatnonzero(found.get_support())
    forests = {
        name: (forest_accuracy(X, y, features, train, test), len(features))
        for name, features in sets.items()
    }
    largest_class = np.unique(y[train], return_counts=True)[1].max() / len(train)
    reported = panel.accuracy.score if panel.accuracy else largest_class
    return forests, (own_accuracy(X, y, panel.features, train, test), reported)


def main(first_seed, repeats):
    methods = ("panel", "panel, at most 20", *RIVALS)
    print(f"| table | {' | '.join(methods)} | own predictor | as reported |")
    print("|---|" + "---|" * (len(methods) + 2))
    means = []
    for name in TABLES:
        data = load(name)
        y = data.y.astype(str)
        folds = [
            fold
            for seed in range(first_seed, first_seed + repeats)
            for fold in StratifiedKFold(5, shuffle=True, random_state=seed).split(data.X, y)
        ]
        found = Parallel(n_jobs=2)(delayed(one_fold)(data.X, y, *fold) for fold in folds)
        forests = [np.mean([fold[method] for fold, _ in found], axis=0) for method in methods]
        own = np.mean([both for _, both in found], axis=0)
        means.append([*(accuracy for accuracy, _ in forests), *own])
        cells = [f"{accuracy:.3f} ({size:.1f})" for accuracy, size in forests]
        print(f"| {name} | {' | '.join([*cells, *(f'{v:.3f}' for v in own)])} |", flush=True)
    print(f"| mean | {' | '.join(f'{value:.4f}' for value in np.mean(means, axis=0))} |")


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:3]]
    main(*given, *(FIRST_SEED, 2)[len(given) :])
