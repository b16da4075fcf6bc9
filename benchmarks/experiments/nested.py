"""Scores methods by the paper's nested cross-validation: accuracy, and number of features."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier

from smrmr.estimators.hsic_lasso import HSICLasso
from smrmr.estimators.rankings import MRMR, SIS
from smrmr.estimators.smrmr import SmRMR
from smrmr.types import Indices, Matrix

from .datasets import BenchmarkSet
from .methods import BLOCK, SIZES, ranked_features
from .store import Row, Store

FOLDS = 5
LEVELS = (0.2, 0.25, 0.3, 0.35, 0.4)
TREES = 100

Settings: TypeAlias = dict[str, Indices]
"""The features that a method selects with each of its settings."""


def real_store(folder: Path) -> Store:
    """The store of accuracies; a row is one method on one fold of one repeat.

    ``setting`` is the level or number of features chosen on validation rows, ``seconds`` the time
    of the selection alone.
    """
    return Store(
        folder / "real.csv",
        ("dataset", "method", "repeat", "fold"),
        ("status", "setting", "n_selected", "accuracy", "seconds"),
    )


def real_tasks(datasets: Iterable[str], repeats: int) -> list[list[Row]]:
    """Keys of the rows to compute, those of one fold together; repeat by repeat."""
    return [
        [{"dataset": name, "method": m, "repeat": repeat, "fold": fold} for m in METHODS]
        for repeat in range(repeats)
        for name in datasets
        for fold in range(FOLDS)
    ]


def real_row(data: BenchmarkSet, key: Row) -> Row:
    """Select on training rows, choose the setting on validation rows, score on test rows.

    Paper: section 6, "Real-world data".
    """
    fold = make_fold(data, key["dataset"], key["repeat"], key["fold"])
    start = perf_counter()
    settings = candidates(data, fold, key["method"])
    seconds = perf_counter() - start
    setting = _best(settings, lambda features: _accuracy(data, features, fold, final=False))
    features = settings[setting]
    return {
        "setting": setting,
        "n_selected": len(features),
        "accuracy": _accuracy(data, features, fold, final=True),
        "seconds": seconds,
    }


@dataclass(frozen=True)
class Fold:
    """Rows for training (64%), validation (16%) and testing (20%), and the seeds to use."""

    train: Indices
    validation: Indices
    test: Indices
    selector_seed: int
    forest_seed: int


def make_fold(data: BenchmarkSet, name: str, repeat: int, fold: int) -> Fold:
    """Share out the rows; every class goes to all parts alike, as far as it has rows."""
    named = crc32(name.encode())
    # numbered after the folds, since all of them share the outer split
    outer = _deal(data.y, np.random.SeedSequence([named, repeat, FOLDS]))
    inner_seed, *others = np.random.SeedSequence([named, repeat, fold]).spawn(3)
    rest = np.flatnonzero(outer != fold)
    inner = _deal(data.y[rest], inner_seed)
    seeds = [int(sequence.generate_state(1)[0]) for sequence in others]
    return Fold(rest[inner > 0], rest[inner == 0], np.flatnonzero(outer == fold), *seeds)


def _deal(y: Any, seed: np.random.SeedSequence) -> Indices:
    """A part for every row: class by class, shuffled, dealt round like cards.

    scikit-learn's stratified splits refuse classes that have fewer rows than there are parts.
    """
    order = np.lexsort((np.random.default_rng(seed).random(len(y)), y))
    parts = np.empty(len(y), dtype=np.intp)
    parts[order] = np.arange(len(y)) % FOLDS
    return parts


def candidates(data: BenchmarkSet, fold: Fold, method: str) -> Settings:
    """What a method selects on the training rows alone."""
    return METHODS[method](data.X[fold.train], data.y[fold.train], fold.selector_seed)


def _best(settings: Settings, score: Callable[[Indices], float]) -> str:
    """The setting of the highest score; of equals the first, which has the fewest features."""
    if len(settings) == 1:
        return next(iter(settings))
    scores: dict[bytes, float] = {}
    for features in settings.values():
        once = features.tobytes()  # settings often agree
        if once not in scores:
            scores[once] = score(features)
    return max(settings, key=lambda setting: scores[settings[setting].tobytes()])


def _accuracy(data: BenchmarkSet, features: Indices, fold: Fold, *, final: bool) -> float:
    """Accuracy of a random forest on the test rows if `final`, else on the validation rows."""
    train = np.concatenate([fold.train, fold.validation]) if final else fold.train
    test = fold.test if final else fold.validation
    forest = RandomForestClassifier(TREES, random_state=fold.forest_seed)
    model = forest if features.size else DummyClassifier()  # which predicts the largest class
    X = data.X[:, features]
    return float(model.fit(X[train], data.y[train]).score(X[test], data.y[test]))


def _by_level(build: Callable[..., SmRMR], X: Matrix, y: Any, seed: int) -> Settings:
    selection = build(target="classes", random_state=seed, n_jobs=1).fit(X, y).selection_
    return {f"fdr={x:g}": selection.at(x, on_empty="relax").selected for x in LEVELS}


def _by_size(build: Callable[..., Any], X: Matrix, y: Any, seed: int) -> Settings:
    order = ranked_features(build, X, y, "classes", seed)
    return {f"k={size}": order[:size] for size in SIZES}


METHODS: dict[str, Callable[[Matrix, Any, int], Settings]] = {
    "SmRMR2(default)": partial(_by_level, SmRMR),
    "SmRMR2(PC, SCAD)": partial(_by_level, partial(SmRMR.paper, penalty="scad")),
    "SmRMR2(PC, MCP)": partial(_by_level, SmRMR.paper),
    "SIS": partial(_by_size, SIS),
    "mRMR (MID)": partial(_by_size, partial(MRMR, scheme="difference")),
    "mRMR (MIQ)": partial(_by_size, partial(MRMR, scheme="quotient")),
    "HSIC-LASSO": partial(_by_size, HSICLasso),
    "HSIC-LASSO (blocks)": partial(_by_size, partial(HSICLasso, block_size=BLOCK)),
    "all features": lambda X, y, seed: {"": np.arange(X.shape[1])},
    "no features": lambda X, y, seed: {"": np.empty(0, dtype=np.intp)},
}
