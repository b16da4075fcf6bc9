"""Real data: accuracy and number of features by the paper's nested cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier

from smrmr.types import Indices

from ..data.datasets import Dataset
from ..methods import METHODS, SIZES, key_of
from ..stores import Row
from .run import as_integer, seed_of

COMPARED = (
    "panel",
    *("knockoffs, relaxed", "paper (PC, SCAD), relaxed", "paper (PC, MCP), relaxed"),
    *("SIS", "mRMR (MID)", "mRMR (MIQ)", "HSIC-LASSO", "HSIC-LASSO (blocks)"),
    *("all features", "no features"),
)
FOLDS = 5
TREES = 100
SETTINGS: dict[str, dict[str, Any]] = {  # one of them is chosen on validation rows
    "level": {f"fdr={level:g}": level for level in (0.2, 0.25, 0.3, 0.35, 0.4)},
    "size": {f"k={size}": size for size in SIZES},
    "nothing": {"": None},
}


def prediction_tasks(datasets: Iterable[str], repeats: int) -> list[list[Row]]:
    """Keys of the rows to compute, those of one fold together; repeat by repeat."""
    return [
        [{"dataset": name, **key_of(m), "repeat": repeat, "fold": fold} for m in COMPARED]
        for repeat in range(repeats)
        for name in datasets
        for fold in range(FOLDS)
    ]


def prediction_row(data: Dataset, key: Row) -> Row:
    """Select on training rows, choose the setting on validation rows, score on test rows.

    Paper: section 6, "Real-world data".
    """
    fold = make_fold(data, key["dataset"], key["repeat"], key["fold"])
    start = perf_counter()
    selected = select_by_setting(data, fold, key["method"])
    seconds = perf_counter() - start
    setting = _best(selected, lambda features: _accuracy(data, features, fold, final=False))
    features = selected[setting]
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
    method_seed: int
    forest_seed: int


def make_fold(data: Dataset, name: str, repeat: int, fold: int) -> Fold:
    """Share out the rows; every class goes to all parts alike, as far as it has rows."""
    # numbered after the folds, since all of them share the outer split
    outer = _deal(data.y, seed_of(name, repeat, FOLDS))
    inner_seed, *others = seed_of(name, repeat, fold).spawn(3)
    rest = np.flatnonzero(outer != fold)
    inner = _deal(data.y[rest], inner_seed)
    test = np.flatnonzero(outer == fold)
    return Fold(rest[inner > 0], rest[inner == 0], test, *map(as_integer, others))


def _deal(y: Any, seed: np.random.SeedSequence) -> Indices:
    """A part for every row: class by class, shuffled, dealt round like cards.

    scikit-learn's stratified splits refuse classes that have fewer rows than there are parts.
    """
    order = np.lexsort((np.random.default_rng(seed).random(len(y)), y))
    parts = np.empty(len(y), dtype=np.intp)
    parts[order] = np.arange(len(y)) % FOLDS
    return parts


def select_by_setting(data: Dataset, fold: Fold, name: str) -> dict[str, Indices]:
    """What a method selects with each of its settings, on the training rows alone."""
    method = METHODS[name]
    found = method.fit(replace(data, X=data.X[fold.train], y=data.y[fold.train]), fold.method_seed)
    return {text: method.pick(found, setting) for text, setting in SETTINGS[method.by].items()}


def _best(selected: dict[str, Indices], score: Callable[[Indices], float]) -> str:
    """The setting of the highest score; of equals the first, which has the fewest features."""
    if len(selected) == 1:
        return next(iter(selected))
    scores: dict[bytes, float] = {}
    for features in selected.values():
        once = features.tobytes()  # settings often agree
        if once not in scores:
            scores[once] = score(features)
    return max(selected, key=lambda setting: scores[selected[setting].tobytes()])


def _accuracy(data: Dataset, features: Indices, fold: Fold, *, final: bool) -> float:
    """Accuracy of a random forest on the test rows if `final`, else on the validation rows."""
    train = np.concatenate([fold.train, fold.validation]) if final else fold.train
    test = fold.test if final else fold.validation
    forest = RandomForestClassifier(TREES, random_state=fold.forest_seed)
    model = forest if features.size else DummyClassifier()  # which predicts the largest class
    X = data.X[:, features]
    return float(model.fit(X[train], data.y[train]).score(X[test], data.y[test]))
