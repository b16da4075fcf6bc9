"""Tables full of look-alikes, a target made from ten of their columns, and groups to be found."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from joblib import delayed
from numpy.random import Generator
from scipy.ndimage import gaussian_filter1d
from scipy.special import ndtri

from smrmr import Recipe, Selection, select
from smrmr.types import Matrix, Progress

from ..methods import key_of
from ..stores import Row, open_store
from .planted import RESPONSES, distinct_columns, plant
from .real import loaded
from .run import failure, keep_rows, seed_of

MOUSE_ROWS = 400
LEVELS = (0.1, 0.3)
CUTS = {"none": None, "0.9": 0.9, "0.7": 0.7, "0.5": 0.5, "several": (1, 0.9, 0.7, 0.5)}
CONTROLS = {"smrmr": "tests", "knockoffs": "knockoffs"}  # by the name of the method
ASKED = {"smrmr": tuple(CUTS), "knockoffs": ("none", "0.7")}


def _real(name: str, rng: Generator) -> Matrix:
    return np.asarray(loaded([name], None)[name].X)


def _mouse(rng: Generator) -> Matrix:
    return _real("mouse genotypes", rng)[:MOUSE_ROWS]


def _linked_genotypes(rng: Generator) -> Matrix:
    """Counts of the rarer allele at 1,000 places, in blocks of 20 that are inherited together."""
    n_blocks, size = 50, 20
    places = np.arange(size)
    likeness = 0.97 ** np.abs(np.subtract.outer(places, places))
    latent = rng.standard_normal((2, 200, n_blocks, size)) @ np.linalg.cholesky(likeness).T
    rare = ndtri(rng.uniform(0.1, 0.5, (n_blocks, size)))
    return np.asarray((latent < rare).sum(axis=0).reshape(200, -1), dtype=np.float64)


def _blocks(correlation: float, rng: Generator) -> Matrix:
    """Blocks of ten columns that share a factor."""
    factors = rng.standard_normal((200, 80)).repeat(10, axis=1)
    own = rng.standard_normal((200, 800))
    return np.asarray(np.sqrt(correlation) * factors + np.sqrt(1 - correlation) * own)


def _spectrum(rng: Generator) -> Matrix:
    """Smooth curves at 500 bands, and a little noise."""
    curves = gaussian_filter1d(rng.standard_normal((200, 500)), sigma=6, axis=1)
    curves /= curves.std()
    return np.asarray(curves + 0.1 * rng.standard_normal((200, 500)))


TABLES: dict[str, Callable[[Generator], Matrix]] = {
    "mouse genotypes": _mouse,
    "Toxicity": partial(_real, "Toxicity"),
    "TOX_171": partial(_real, "TOX_171"),
    "linked genotypes": _linked_genotypes,
    "blocks, r = 0.9": partial(_blocks, 0.9),
    "blocks, r = 0.7": partial(_blocks, 0.7),
    "spectrum": _spectrum,
}


def run_groups(
    folder: Path,
    seeds: int,
    tables: Sequence[str] = (),
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Compute the rows that are not yet in the folder's store; all tables, if none is named."""
    if unknown := set(tables) - set(TABLES):
        raise ValueError(
            f"there is no table {', '.join(sorted(unknown))}. Use {', '.join(TABLES)}."
        )
    if seeds < 1:
        raise ValueError(f"seeds={seeds} must be a positive integer.")
    store = open_store(folder, "groups")
    store.begin()
    due = store.due(group_tasks(tables or tuple(TABLES), seeds))
    keep_rows("groups", store, [delayed(group_rows)(task) for task in due], jobs, progress)


def group_tasks(tables: Sequence[str], seeds: int) -> list[list[Row]]:
    """Keys of the rows to compute, those of one fit together; seed by seed."""
    return [
        [{**about, "level": level, "seed": seed} for level in LEVELS]
        for seed in range(seeds)
        for about in (
            {"dataset": table, "response": response, **key_of(method), "alike": alike}
            for table in tables
            for response in RESPONSES
            for method, cuts in ASKED.items()
            for alike in cuts
        )
    ]


def group_rows(keys: Sequence[Row]) -> list[Row]:
    """Make the table and the target that keys share, select, and score what was found."""
    first = keys[0]
    X = TABLES[first["dataset"]](np.random.default_rng(seed_of(first["dataset"], first["seed"])))
    X = X[:, distinct_columns(X)]
    data = plant(X, f"groups of {first['dataset']}", first["response"], first["seed"])
    control, cut = CONTROLS[first["method"]], CUTS[first["alike"]]
    recipe = Recipe(control=control, target=data.target, alike=cut)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of thousands of fits, nobody would read them
        try:
            start = perf_counter()
            found = select(data.X, data.y, recipe, first["seed"])
            seconds = perf_counter() - start
        except Exception as error:  # a row says so, and the run goes on
            return [{**key, "status": failure(error)} for key in keys]
    return [
        {**key, "status": "ok", "seconds": seconds, **scored(found.at(key["level"]), data.support)}
        for key in keys
    ]


def scored(found: Selection, support: Any) -> Row:
    """Share of true features within a group found, and of groups found without a true feature."""
    groups = found.members
    covered = np.isin(support, np.concatenate([np.empty(0, np.intp), *groups]))
    false = [not np.isin(group, support).any() for group in groups]
    return {
        "tpr": float(covered.mean()),
        "fdr": float(np.mean(false)) if false else 0.0,
        "n_selected": len(groups),
        "size": float(np.mean([len(group) for group in groups])) if groups else None,
    }
