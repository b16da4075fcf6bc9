"""Counts true and false findings in real data whose true features are known from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from zlib import crc32

import numpy as np

from smrmr.estimators.smrmr import SmRMR
from smrmr.types import Indices

from .datasets import BenchmarkSet
from .methods import lasso_knockoffs, runnable
from .store import Row, Store

LEVEL = 0.2  # of the published results on the HIV data


def truth_store(folder: Path) -> Store:
    """The store of findings; a row is one method with one seed on one data set.

    ``n_selected`` counts features; ``n_true`` and ``n_false`` count units, see `BenchmarkSet`, each
    once.
    """
    return Store(
        folder / "truth.csv",
        ("dataset", "method", "level", "seed"),
        ("status", "n_selected", "n_true", "n_false", "seconds"),
    )


def truth_tasks(datasets: Sequence[str], seeds: int) -> list[list[Row]]:
    """Keys of the rows to compute, those of one data set and seed together."""
    methods = runnable(METHODS) if datasets else ()
    return [
        [{"dataset": name, "method": method, "level": LEVEL, "seed": seed} for method in methods]
        for name in datasets
        for seed in range(seeds)
    ]


def truth_row(data: BenchmarkSet, key: Row) -> Row:
    """Select features by the method of `key` and count the units they stand for."""
    sequence = np.random.SeedSequence([crc32(key["dataset"].encode()), key["seed"]])
    seed = int(sequence.generate_state(1)[0])
    start = perf_counter()
    selected = METHODS[key["method"]](data, key["level"], seed)
    seconds = perf_counter() - start
    units = set(data.units[selected].tolist())
    return {
        "n_selected": len(selected),
        "n_true": len(units & data.truth),
        "n_false": len(units - data.truth),
        "seconds": seconds,
    }


def _smrmr(build: Callable[..., SmRMR], data: BenchmarkSet, level: float, seed: int) -> Indices:
    selector = build(level, target=data.kind, random_state=seed, n_jobs=1)
    return selector.fit(data.X, data.y).selected_


METHODS: dict[str, Callable[[BenchmarkSet, float, int], Indices]] = {
    "SmRMR(default)": partial(_smrmr, SmRMR),
    "SmRMR(PC, MCP)": partial(_smrmr, SmRMR.paper),
    "LASSO knockoffs": lambda data, level, seed: lasso_knockoffs(data.X, data.y, level, seed),
}
