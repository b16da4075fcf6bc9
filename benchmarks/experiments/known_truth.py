"""Real data whose true features are known from elsewhere: counts true and false findings."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from ..data.datasets import Dataset
from ..methods import METHODS, installed, key_of
from ..stores import Row
from .run import as_integer, seed_of

COMPARED = ("smrmr", "knockoffs", "paper (PC, MCP)", "LASSO knockoffs")
PUBLISHED_LEVEL = 0.2  # of the published results on the HIV data


def truth_tasks(datasets: Sequence[str], seeds: int) -> list[list[Row]]:
    """Keys of the rows to compute, those of one data set and seed together."""
    names = installed(COMPARED) if datasets else ()
    return [
        [
            {"dataset": dataset, **key_of(name), "level": PUBLISHED_LEVEL, "seed": seed}
            for name in names
        ]
        for dataset in datasets
        for seed in range(seeds)
    ]


def truth_row(data: Dataset, key: Row) -> Row:
    """Select features by the method of `key` and count the units they stand for."""
    method, seed = METHODS[key["method"]], as_integer(seed_of(key["dataset"], key["seed"]))
    start = perf_counter()
    selected = method.pick(method.fit(data, seed), key["level"])
    seconds = perf_counter() - start
    units = set(data.units[selected].tolist())
    return {
        "n_selected": len(selected),
        "n_true": len(units & data.truth),
        "n_false": len(units - data.truth),
        "seconds": seconds,
    }
