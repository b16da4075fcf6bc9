"""Simulated data: runs methods on draws from designs, and scores what they select."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import groupby, product, zip_longest
from typing import Any

import numpy as np
from joblib import delayed
from sklearn.linear_model import LassoCV, LinearRegression, LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smrmr.designs import Simulation, simulate
from smrmr.types import Indices, Progress, Vector

from ..grids.read import Grid
from ..methods import METHODS, SIZES, Method, installed, key_of
from ..stores import NULL, Row, Store
from .cost import measured
from .run import failure, keep_rows, seed_of

MAIN_LEVEL = 0.3  # of the tables and figures, run with every method that has a level
ALL_LEVELS = (0.1, 0.2, MAIN_LEVEL, 0.4, 0.5)
WITH_ALL_LEVELS = ("knockoffs", "paper (PC, MCP)")
FRESH_ROWS = 10_000
VALIDATION_SHARE = 0.2


def run_grid(
    grid: Grid,
    store: Store,
    *,
    jobs: int | None = None,
    predict: bool = True,
    progress: Progress | None = None,
) -> None:
    """Compute the rows of a grid that are not yet in the store.

    Methods whose packages are not installed are named in a warning and left out. With `predict`,
    predictions from the selected features are scored on fresh rows too.
    """
    draws = list(grid.draws())
    names = installed(name for cell, _ in draws for name in cell.methods)
    store.begin()  # what cannot be written is found now, not after the first draw
    tasks = (
        [
            {**cell.key, **key_of(name), "level": level, "seed": seed}
            for name in names
            if name in cell.methods
            for level in levels_of(name, grid.levels)
        ]
        for cell, seed in draws
    )
    calls = [delayed(run_draw)(task, predict) for task in store.due(tasks)]
    keep_rows("draws", store, calls, jobs, progress)


def levels_of(name: str, wanted: tuple[float, ...] = ()) -> tuple[float | None, ...]:
    """The levels at which a method is run; None for a method that has no level."""
    if METHODS[name].by != "level":
        return (None,)
    if wanted:
        return wanted
    return ALL_LEVELS if name in WITH_ALL_LEVELS else (MAIN_LEVEL,)


def run_draw(keys: Sequence[Row], predict: bool) -> list[Row]:
    """Draw the data that keys share, run their methods, and score what each finds."""
    design, n, p, seed = (keys[0][name] for name in ("design", "n", "p", "seed"))
    first, second = map(np.random.default_rng, seed_of(f"{design} {n} {p}", seed).spawn(2))
    data = simulate(design, n, p, random_state=first)
    fresh = simulate(design, FRESH_ROWS, p, random_state=second) if predict else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of thousands of fits, nobody would read them
        warm_up(tuple(dict.fromkeys(key["method"] for key in keys)))
        return list(scored_rows(keys, data, fresh))


@cache
def warm_up(names: tuple[str, ...]) -> None:
    """Let every process load and compile before anything is timed."""
    fits = {METHODS[name].fit: name for name in names}
    for design, name in product(("1.a", "3.a"), fits.values()):
        with suppress(Exception):
            data = simulate(design, 60, 20, random_state=0)
            select(data, [{"method": name, "level": MAIN_LEVEL, "seed": 0}])


def scored_rows(
    keys: Sequence[Row], data: Simulation, fresh: Simulation | None = None
) -> Iterator[dict[str, Any]]:
    """One row per key; a failure is a row that says so. Keys that share a fit share its cost."""
    scores: dict[bytes, float] = {}
    for _, same_fit in groupby(keys, lambda key: METHODS[key["method"]].fit):
        group, kept, status = list(same_fit), None, "ok"
        selected: list[Indices] = []
        p_values: list[Vector | None] = []
        with measured() as cost:
            try:
                selected, kept, p_values = select(data, group)
            except Exception as error:  # a method's failure is a result
                status = failure(error)
        for key, features, p in zip_longest(group, selected, p_values):
            row = {**key, "status": status, **cost}
            if p is not None:
                row |= null_shares(p, data.support)
            if features is not None:
                row |= shares(features, kept, data)
                if fresh is not None and key["level"] in (None, MAIN_LEVEL):
                    once = np.sort(features).tobytes()  # many methods agree, often on none
                    try:
                        if once not in scores:
                            scores[once] = prediction_score(features, data, fresh)
                        row["score"] = scores[once]
                    except ValueError as error:  # fewer rows in a class than folds
                        row["status"] = failure(error)
            yield row


def select(
    data: Simulation, keys: Sequence[Row]
) -> tuple[list[Indices], Indices | None, list[Vector | None]]:
    """The features of each key, all from one fit, those that a screen kept, and p-values.

    Where there is no screen, or a method has no p-values, there is None.
    """
    methods, seed = [METHODS[key["method"]] for key in keys], keys[0]["seed"]
    if methods[0].by == "size":
        return [methods[0].fit(data, seed, _best_size(methods[0], data, seed))], None, [None]
    found = methods[0].fit(data, seed)
    picked = [method.pick(found, key["level"]) for method, key in zip(methods, keys, strict=True)]
    p_values = [method.p_values(found) if method.p_values else None for method in methods]
    return picked, getattr(found, "kept", None), p_values


def _best_size(method: Method, data: Simulation, seed: int) -> int:
    """How many features of a ranking of most rows predict the others best.

    All rows are ranked then, so that rivals select from as many as ours do.
    """
    classes = data.y if data.target == "classes" else None
    train, held_out = train_test_split(
        np.arange(len(data.y)), test_size=VALIDATION_SHARE, random_state=seed, stratify=classes
    )
    order = method.fit(replace(data, X=data.X[train], y=data.y[train]), seed)

    def score(size: int) -> float:
        X = data.X[:, method.pick(order, size)]
        model = LinearRegression() if classes is None else LogisticRegression(max_iter=1000)
        return float(model.fit(X[train], data.y[train]).score(X[held_out], data.y[held_out]))

    return max(SIZES, key=score)


def shares(features: Indices, kept: Indices | None, data: Simulation) -> dict[str, Any]:
    """Shares of true, false and missed features; without true features no TPR and no recall."""
    n_true, p = len(data.support), data.X.shape[1]
    hits = int(np.isin(features, data.support).sum())
    false = len(features) - hits
    row: dict[str, Any] = {
        "n_selected": len(features),
        "fpr": false / (p - n_true),
        "fdr": false / max(1, len(features)),
    }
    if n_true:
        row["tpr"] = hits / n_true
        if kept is not None:
            row["recall"] = float(np.isin(data.support, kept).mean())
    return row


def null_shares(p_values: Vector, support: Indices) -> dict[str, float]:
    """Shares of false features with p-values up to each nominal level, by the name of a column."""
    false = np.delete(p_values, support)
    return {name: float(np.mean(false <= level)) for level, name in NULL.items()}


def prediction_score(features: Indices, data: Simulation, fresh: Simulation) -> float:
    """Error of a LASSO (or accuracy of a logistic regression) on selected features, fresh rows.

    Without features the mean of y, or its largest class, is predicted.
    """
    X, X_fresh = data.X[:, features], fresh.X[:, features]
    if data.target == "classes":
        values, counts = np.unique(data.y, return_counts=True)
        if not features.size or len(values) == 1:
            return float(np.mean(fresh.y == values[counts.argmax()]))
        model = make_pipeline(StandardScaler(), LogisticRegressionCV(cv=5, max_iter=1000))
        return float(model.fit(X, data.y).score(X_fresh, fresh.y))
    if not features.size:
        return float(np.mean((fresh.y - data.y.mean()) ** 2))
    model = make_pipeline(StandardScaler(), LassoCV(cv=5))
    return float(np.mean((fresh.y - model.fit(X, data.y).predict(X_fresh)) ** 2))
