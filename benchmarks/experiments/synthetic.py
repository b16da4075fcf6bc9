"""Runs methods on simulated data and scores what they select, one draw at a time."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from smrmr.simulate import Simulation, simulate
from smrmr.types import Indices, Progress

from .grid import Cell, Grid
from .measured import measured
from .methods import LEVEL, METHODS, Found, Method, runnable
from .store import Store, failure

KEY = ("design", "n", "p", "method", "level", "seed")
VALUES = (
    "status",
    "tpr",
    "fpr",
    "fdr",
    "n_selected",
    "recall",
    "score",
    "seconds",
    "megabytes",
)
TEST_ROWS = 10_000


def store_in(folder: Path, name: str) -> Store:
    """The store of one kind of run; a row is one method at one level on one draw.

    ``tpr``, ``fpr``, ``fdr`` are shares of the one list selected, ``recall`` the share of true
    features that passed a screen, ``score`` the mean squared error or, with classes, the accuracy.
    """
    return Store(folder / f"{name}.csv", KEY, VALUES)


def run_grid(
    grid: Grid,
    store: Store,
    *,
    jobs: int | None = None,
    predict: bool = True,
    progress: Progress | None = None,
) -> None:
    """Compute the rows of a grid that are not yet in the store.

    Methods whose packages are not installed are named in a warning and left out.

    Parameters
    ----------
    grid
        What to run, see `read_grid`.
    store
        Where rows are kept; those already there are not computed again.
    jobs
        Draws at a time, as joblib's `n_jobs`; the backend is joblib's.
    predict
        Score predictions on fresh rows too.
    progress
        Called with the stage, draws done and draws to do.
    """
    names = runnable(grid.methods)
    store.begin()  # what cannot be written is found now, not after the first draw
    done = store.done()
    due = []
    for cell, seed in grid.draws():
        missing = [
            i
            for i, method in enumerate(METHODS)
            if any(
                name in names and store.key_of(_key(cell, seed, name, level)) not in done
                for name, level in method.results
            )
        ]
        if missing:
            due.append((cell, seed, tuple(missing)))
    work = Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(run_draw)(cell, seed, which, predict) for cell, seed, which in due
    )
    if progress and due:
        progress("draws", 0, len(due))
    for count, rows in enumerate(work, start=1):
        store.append(r for r in rows if r["method"] in names and store.key_of(r) not in done)
        if progress:
            progress("draws", count, len(due))


def run_draw(cell: Cell, seed: int, which: tuple[int, ...], predict: bool) -> list[dict[str, Any]]:
    """Draw data, run methods on them, and score what each finds."""
    name = crc32(f"{cell.design} {cell.n} {cell.p}".encode())
    train, test = np.random.SeedSequence([name, seed]).spawn(2)
    data = simulate(cell.design, cell.n, cell.p, random_state=np.random.default_rng(train))
    fresh = (
        simulate(cell.design, TEST_ROWS, cell.p, random_state=np.random.default_rng(test))
        if predict
        else None
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of thousands of fits, nobody would read them
        _warm_up(which)
        return _scored_rows(cell, seed, which, data, fresh)


def _scored_rows(
    cell: Cell, seed: int, which: tuple[int, ...], data: Simulation, fresh: Simulation | None
) -> list[dict[str, Any]]:
    scores: dict[bytes, float] = {}
    rows = []
    for method in (METHODS[i] for i in which):
        results, found = _attempt(method, data, seed)
        for result in results:
            row = _key(cell, seed, result["method"], result["level"]) | result
            rows.append(row)
            chosen = found.get((result["method"], result["level"]))
            if chosen is None:
                continue
            row |= accuracy_of_selection(chosen, data)
            if fresh is not None and chosen.level in (None, LEVEL):
                once = np.sort(chosen.features).tobytes()  # many methods agree, often on none
                try:
                    if once not in scores:
                        scores[once] = prediction_score(chosen.features, data, fresh)
                    row["score"] = scores[once]
                except ValueError as error:  # fewer rows in a class than folds
                    row["status"] = failure(error)
    return rows


def _attempt(
    method: Method, data: Simulation, seed: int
) -> tuple[list[dict[str, Any]], dict[tuple[str, float | None], Found]]:
    """One row for each result, and what was found; a failure is a row that says so."""
    found: dict[tuple[str, float | None], Found] = {}
    status = "ok"
    with measured() as cost:
        try:
            found = {(one.method, one.level): one for one in method.fit(data, seed)}
        except Exception as error:  # a rival's failure is a result
            status = failure(error)
    rows = [
        {
            "method": name,
            "level": level,
            "status": status,
            "seconds": cost.seconds,
            "megabytes": cost.megabytes,
        }
        for name, level in method.results
    ]
    return rows, found


def accuracy_of_selection(found: Found, data: Simulation) -> dict[str, Any]:
    """Shares of true, false and missed features; without true features no TPR and no recall."""
    n_true, p = len(data.support), data.X.shape[1]
    hits = int(np.isin(found.features, data.support).sum())
    false = len(found.features) - hits
    row: dict[str, Any] = {
        "n_selected": len(found.features),
        "fpr": false / (p - n_true),
        "fdr": false / max(1, len(found.features)),
    }
    if n_true:
        row["tpr"] = hits / n_true
        if found.kept is not None:
            row["recall"] = float(np.isin(data.support, found.kept).mean())
    return row


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


@cache
def _warm_up(which: tuple[int, ...]) -> None:
    """Let every process load and compile before anything is timed."""
    for design in ("1.a", "3.a"):
        data = simulate(design, 60, 20, random_state=0)
        for i in which:
            _attempt(METHODS[i], data, 0)


def _key(cell: Cell, seed: int, method: str, level: float | None) -> dict[str, Any]:
    return {
        "design": cell.design,
        "n": cell.n,
        "p": cell.p,
        "method": method,
        "level": level,
        "seed": seed,
    }
