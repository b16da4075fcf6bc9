"""Runs the two experiments on real data: prediction, and known truth."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from joblib import delayed

from smrmr.types import Progress

from ..data.datasets import Dataset, load
from ..grids.read import RealGrid
from ..stores import Row, open_store
from .known_truth import truth_row, truth_tasks
from .prediction import prediction_row, prediction_tasks
from .run import failure, keep_rows


def run_real(
    grid: RealGrid, folder: Path, *, jobs: int | None = None, progress: Progress | None = None
) -> None:
    """Compute the rows of a grid that are not yet in the folder's stores.

    Data sets that cannot be loaded are named in a warning and left out.
    """
    parts = [
        ("real data", "real", prediction_row, prediction_tasks(grid.datasets, grid.repeats)),
        ("known truth", "truth", truth_row, truth_tasks(grid.truth, grid.seeds)),
    ]
    stores = {name: open_store(folder, name) for _, name, *_ in parts}
    for store in stores.values():
        store.begin()  # what cannot be written is found now, not after the first fold
    due = {name: stores[name].due(tasks) for _, name, _, tasks in parts}
    data = loaded((task[0]["dataset"] for tasks in due.values() for task in tasks), progress)
    for stage, name, compute, _ in parts:
        calls = [
            delayed(run_task)(compute, data[dataset], task)
            for task in due[name]
            if (dataset := task[0]["dataset"]) in data
        ]
        keep_rows(stage, stores[name], calls, jobs, progress)


def loaded(names: Iterable[str], progress: Progress | None) -> dict[str, Dataset]:
    """Data sets by name, each once; a warning names those that cannot be loaded."""
    data, reasons = {}, []
    for name in dict.fromkeys(names):
        try:
            data[name] = load(name, progress)
        except (OSError, ValueError) as error:
            reasons.append(f"{name}: {error}")
    if reasons:
        warnings.warn(f"data sets left out: {' '.join(reasons)}", stacklevel=3)
    return data


def run_task(
    compute: Callable[[Dataset, Row], Row], data: Dataset, keys: Sequence[Row]
) -> list[Row]:
    """One row per key; a failure is a row that says so."""
    rows: list[Row] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of thousands of fits, nobody would read them
        for key in keys:
            try:
                rows.append({**key, "status": "ok", **compute(data, key)})
            except Exception as error:  # a method's failure is a result
                rows.append({**key, "status": failure(error)})
    return rows
