"""Real features and a target made from ten of them, so that the truth is known."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from joblib import delayed
from numpy.random import Generator

from smrmr.designs import Simulation
from smrmr.types import Indices, Matrix, Progress, Vector

from ..methods import installed, key_of
from ..stores import Row, open_store
from .real import loaded
from .run import keep_rows, seed_of
from .synthetic import scored_rows, warm_up

DATASETS = ("TOX_171", "GLIOMA", "Toxicity", "riboflavin", "mouse genotypes")
COMPARED = ("smrmr", "smrmr (BY)", "SIS + BH", "knockoffs", "paper (PC, MCP)", "T-Rex")
LEVELS = (0.1, 0.2, 0.3)
N_TRUE = 10


def _signed_sum(x: Matrix, rng: Generator) -> Vector:
    return np.asarray(x @ rng.choice([-1.0, 1.0], x.shape[1]))


def _linear(x: Matrix, rng: Generator) -> Vector:
    return np.asarray(_signed_sum(x, rng) + rng.standard_normal(len(x)))


def _non_linear(x: Matrix, rng: Generator) -> Vector:
    half = x.shape[1] // 2
    signal = 2 * np.tanh(2 * x[:, :half]).sum(axis=1) + 2 * np.abs(x[:, half:]).sum(axis=1)
    return np.asarray(signal + rng.standard_normal(len(x)))


def _binary(x: Matrix, rng: Generator) -> Vector:
    total = _signed_sum(x, rng)
    return np.asarray(total > np.median(total), dtype=np.float64)


RESPONSES: dict[str, tuple[Callable[[Matrix, Generator], Vector], str]] = {
    "linear": (_linear, "continuous"),  # random signs, and noise of standard deviation 1
    "non-linear": (_non_linear, "continuous"),  # half 2 tanh(2x), half 2|x|, and the same noise
    "binary": (_binary, "classes"),  # whether the signed sum is above its median
}


def run_planted(
    folder: Path,
    seeds: int,
    datasets: Sequence[str] = (),
    methods: Sequence[str] = (),
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Compute the rows that are not yet in the folder's store.

    All data sets and all methods, if none is named.

    Data sets that cannot be loaded, and methods whose packages are not installed, are named in a
    warning and left out.
    """
    for kind, named, known in (("data set", datasets, DATASETS), ("method", methods, COMPARED)):
        if unknown := set(named) - set(known):
            raise ValueError(
                f"there is no {kind} {', '.join(sorted(unknown))} for planted targets. Use "
                f"{', '.join(known)}."
            )
    if seeds < 1:
        raise ValueError(f"seeds={seeds} must be a positive integer.")
    store = open_store(folder, "planted")
    store.begin()
    due = store.due(planted_tasks(datasets or DATASETS, methods or COMPARED, seeds))
    data = loaded((task[0]["dataset"] for task in due), progress)
    distinct = {name: data[name].X[:, distinct_columns(data[name].X)] for name in data}
    calls = [
        delayed(planted_rows)(distinct[dataset], task)
        for task in due
        if (dataset := task[0]["dataset"]) in data
    ]
    keep_rows("planted targets", store, calls, jobs, progress)


def planted_tasks(datasets: Sequence[str], methods: Sequence[str], seeds: int) -> list[list[Row]]:
    """Keys of the rows to compute, those of one target together; seed by seed."""
    names = installed(methods)
    return [
        [
            {**about, **key_of(name), "level": level, "seed": seed}
            for name in names
            for level in LEVELS
        ]
        for seed in range(seeds)
        for about in (
            {"dataset": dataset, "response": response}
            for dataset in datasets
            for response in RESPONSES
        )
    ]


def planted_rows(X: Matrix, keys: Sequence[Row]) -> list[Row]:
    """Make the target that keys share, run their methods, and score what each finds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of thousands of fits, nobody would read them
        warm_up(tuple(dict.fromkeys(key["method"] for key in keys)))
        first = keys[0]
        data = plant(X, first["dataset"], first["response"], first["seed"])
        return list(scored_rows(keys, data))


def plant(X: Matrix, dataset: str, response: str, seed: int) -> Simulation:
    """A target from ten columns of X, drawn by the seed and standardised."""
    rng = np.random.default_rng(seed_of(f"{dataset}, {response}", seed))
    support = np.sort(rng.choice(X.shape[1], N_TRUE, replace=False))
    respond, target = RESPONSES[response]
    order = rng.permutation(support)  # which of them bend is left to chance
    x = X[:, order]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return Simulation(X, respond(x, rng), support, target)


def distinct_columns(X: Matrix) -> Indices:
    """Columns that vary, and of those that are the same up to shift and scale the first.

    Nobody can tell which one of two such columns a target was made from.
    """
    spread = X.std(axis=0)
    varying = np.flatnonzero(spread > 1e-12 * np.abs(X).max(axis=0))
    Z = (X[:, varying] - X[:, varying].mean(axis=0)) / spread[varying]
    Z = np.round(Z, 6)
    far = np.abs(Z).argmax(axis=0)  # the same row in a column and in its mirror image
    Z = Z * np.sign(Z[far, np.arange(len(varying))]) + 0.0  # and no -0.0, which has other bytes
    seen: dict[bytes, int] = {}
    for k, column in zip(varying, np.ascontiguousarray(Z.T), strict=True):
        seen.setdefault(column.tobytes(), int(k))
    return np.array(sorted(seen.values()), dtype=np.intp)
