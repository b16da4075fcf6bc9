"""Runs the experiments on real data, and keeps every row as soon as it is there."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

from joblib import Parallel, delayed

from smrmr.types import Progress

from .datasets import BenchmarkSet, load
from .grid import RealGrid
from .nested import real_row, real_store, real_tasks
from .store import Row, Store, failure
from .truth import truth_row, truth_store, truth_tasks


def run_real(
    grid: RealGrid, folder: Path, *, jobs: int | None = None, progress: Progress | None = None
) -> None:
    """Compute the rows of a grid that are not yet in the folder's stores.

    Data sets that cannot be loaded are named in a warning and left out.
    """
    real, truth = real_store(folder), truth_store(folder)
    for store in (real, truth):
        store.begin()  # what cannot be written is found now, not after the first fold
    real_due = _due(real, real_tasks(grid.datasets, grid.repeats))
    truth_due = _due(truth, truth_tasks(grid.truth, grid.seeds))
    names = dict.fromkeys(task[0]["dataset"] for task in (*real_due, *truth_due))
    data = _loaded(names, progress)
    _complete("real data", real, real_due, real_row, data, jobs, progress)
    _complete("known truth", truth, truth_due, truth_row, data, jobs, progress)


def _due(store: Store, tasks: list[list[Row]]) -> list[list[Row]]:
    done = store.done()
    left = ([key for key in task if store.key_of(key) not in done] for task in tasks)
    return [task for task in left if task]


def _loaded(names: Iterable[str], progress: Progress | None) -> dict[str, BenchmarkSet]:
    data, reasons = {}, []
    for name in names:
        try:
            data[name] = load(name, progress)
        except (OSError, ValueError) as error:
            reasons.append(f"{name}: {error}")
    if reasons:
        warnings.warn(f"data sets left out: {' '.join(reasons)}", stacklevel=3)
    return data


def _complete(
    stage: str,
    store: Store,
    tasks: list[list[Row]],
    compute: Callable[[BenchmarkSet, Row], Row],
    data: dict[str, BenchmarkSet],
    jobs: int | None,
    progress: Progress | None,
) -> None:
    """Compute rows, those of one task in one process, and keep them as tasks finish."""
    tasks = [task for task in tasks if task[0]["dataset"] in data]
    results = Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(_rows)(compute, data[task[0]["dataset"]], task) for task in tasks
    )
    if progress and tasks:
        progress(stage, 0, len(tasks))
    for count, rows in enumerate(results, start=1):
        store.append(rows)
        if progress:
            progress(stage, count, len(tasks))


def _rows(
    compute: Callable[[BenchmarkSet, Row], Row], data: BenchmarkSet, keys: list[Row]
) -> list[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of thousands of fits, nobody would read them
        return [_attempt(compute, data, key) for key in keys]


def _attempt(compute: Callable[[BenchmarkSet, Row], Row], data: BenchmarkSet, key: Row) -> Row:
    try:
        return {**key, "status": "ok", **compute(data, key)}
    except Exception as error:  # a method's failure is a result
        return {**key, "status": failure(error)}
