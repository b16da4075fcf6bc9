"""Real features and a target made from ten of them, so that the truth is known."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

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

Response: TypeAlias = Callable[[Matrix, Generator], Vector]


def _signed_sum(x: Matrix, rng: Generator) -> Vector:
    return np.asarray(x @ rng.choice([-1.0, 1.0], x.shape[1]))


def _half_bent(x: Matrix, rng: Generator) -> Vector:
    half = x.shape[1] // 2
    return np.asarray(
        2 * np.tanh(2 * x[:, :half]).sum(axis=1) + 2 * np.abs(x[:, half:]).sum(axis=1)
    )


def _noisy(signal: Response, r2: float | None = None) -> Response:
    """A signal and noise of standard deviation 1, or so much that the signal has a share `r2`."""

    def respond(x: Matrix, rng: Generator) -> Vector:
        mean = signal(x, rng)
        scale = 1.0 if r2 is None else mean.std() * np.sqrt(1 / r2 - 1)
        return np.asarray(mean + scale * rng.standard_normal(len(x)))

    return respond


def _above_median(latent: Response) -> Response:
    def respond(x: Matrix, rng: Generator) -> Vector:
        total = latent(x, rng)
        return np.asarray(total > np.median(total), dtype=np.float64)

    return respond


RESPONSES: dict[str, tuple[Response, str]] = {
    "linear": (_noisy(_signed_sum), "continuous"),  # R2 about 0.9
    "non-linear": (_noisy(_half_bent), "continuous"),  # half 2 tanh(2x), half 2|x|; about 0.95
    "binary": (_above_median(_signed_sum), "classes"),  # no noise
}
"""Those of strong signals, with noise of standard deviation 1."""
PLANTED: dict[str, tuple[Response, str]] = RESPONSES | {
    **{f"linear, R2 {r2}": (_noisy(_signed_sum, r2), "continuous") for r2 in (0.3, 0.5, 0.7)},
    **{f"non-linear, R2 {r2}": (_noisy(_half_bent, r2), "continuous") for r2 in (0.3, 0.5, 0.7)},
    **{
        f"binary, R2 {r2}": (_above_median(_noisy(_signed_sum, r2)), "classes")
        for r2 in (0.3, 0.5, 0.7, 0.9)  # of the sum whose median divides the classes
    },
}
"""All of them: the share R2 of the variance that is signal is part of the name."""


def run_planted(
    folder: Path,
    seeds: int,
    datasets: Sequence[str] = (),
    methods: Sequence[str] = (),
    responses: Sequence[str] = (),
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Compute the rows that are not yet in the folder's store.

    All data sets, all methods and all responses, if none is named.

    Data sets that cannot be loaded, and methods whose packages are not installed, are named in a
    warning and left out.
    """
    for kind, named, known in (
        ("data set", datasets, DATASETS),
        ("method", methods, COMPARED),
        ("response", responses, tuple(PLANTED)),
    ):
        if unknown := set(named) - set(known):
            raise ValueError(
                f"there is no {kind} {', '.join(sorted(unknown))} for planted targets. Use "
                f"{'; '.join(known)}."
            )
    if seeds < 1:
        raise ValueError(f"seeds={seeds} must be a positive integer.")
    store = open_store(folder, "planted")
    store.begin()
    wanted = (datasets or DATASETS, methods or COMPARED, responses or tuple(PLANTED))
    due = store.due(planted_tasks(*wanted, seeds))
    data = loaded((task[0]["dataset"] for task in due), progress)
    distinct = {name: data[name].X[:, distinct_columns(data[name].X)] for name in data}
    calls = [
        delayed(planted_rows)(distinct[dataset], task)
        for task in due
        if (dataset := task[0]["dataset"]) in data
    ]
    keep_rows("planted targets", store, calls, jobs, progress)


def planted_tasks(
    datasets: Sequence[str], methods: Sequence[str], responses: Sequence[str], seeds: int
) -> list[list[Row]]:
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
            for response in responses
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
    respond, target = PLANTED[response]
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
