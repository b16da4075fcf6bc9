"""Runs trials: round after round, until rates are known well enough, or fits or time run out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, field, replace
from numbers import Real
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from joblib import delayed
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray

from ..data.study import Study
from ..pipeline import decide_from, groups_from
from ..power.account import LAYERS, UNKNOWN, Cell, Trials
from ..problems import Problem, setting
from ..recipe import Recipe
from ..runs.blocks import open_pool, run_blocks
from ..runs.checkpoints import checkpoints_in, without_checkpoints
from ..runs.progress import shown
from ..runs.work import Work
from ..selection import Selection
from ..selection.pairs import n_selected_pairs, pairs_of
from ..settings import check_count, check_level, parse_bytes
from ..types import Indices, Progress
from .planting import plant

FEWEST_FITS = 5  # of a cell before its rate can be known well enough


class Source(Protocol):
    """Where the data of trials come from; see `sources`."""

    @property
    def target(self) -> str:
        """Kind of the target."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    def identity(self, recipe: Recipe, seed: Any) -> dict[str, Any]:
        """What fits depend on besides the effects."""

    def draw(self, n_rows: int, rng: Generator) -> tuple[Study, Indices]:
        """Data of so many rows, and the features that effects may be planted on."""


@dataclass(frozen=True)
class Budget:
    """When to stop: after so many fits, or minutes, or once rates are known to a precision.

    Attributes
    ----------
    n_fits
        Number of fits, at most.
    minutes
        Time, at most; None for any.
    precision
        Half the length of the confidence interval of a rate from which on no more fits are needed.
    """

    n_fits: int = 60
    minutes: float | None = None
    precision: float = 0.1

    def __post_init__(self) -> None:
        check_count("n_fits", self.n_fits)
        check_level(self.precision, "precision")
        minutes = self.minutes
        if minutes is not None and not (isinstance(minutes, Real) and minutes > 0):
            raise Problem(f"{setting('minutes', minutes)} is no time.", "Give more than 0.")


@dataclass
class _Clock:
    """Knows whether there is time for one more fit."""

    minutes: float | None
    start: float = field(default_factory=perf_counter)
    n_done: int = 0

    @property
    def seconds(self) -> float:
        return perf_counter() - self.start

    def count(self) -> None:
        self.n_done += 1

    @property
    def over(self) -> bool:
        each = self.seconds / max(self.n_done, 1)
        return self.minutes is not None and self.seconds + each > 60 * self.minutes


def run_trials(
    kind: type[Trials],
    source: Source,
    cells: Iterable[Cell],
    recipe: Recipe,
    seed: int,
    budget: Budget,
    progress: Progress | bool | None = None,
    run_dir: str | os.PathLike[str] | None = None,
    **about: Any,
) -> Any:
    """Trials of all cells, as far as the budget goes; `about` are other fields of that kind."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise Problem(f"{setting('rng', seed)} is no seed.", "A whole number from 0 on is needed.")
    empty = kind(
        level=recipe.fdr,
        target=source.target,
        n_features=source.n_features,
        cells=tuple(cells),
        cell_of=np.empty(0, np.intp),
        outcomes=np.empty((0, len(LAYERS), 4), np.intp),
        stopped="",
        seconds=0.0,
        **about,
    )
    identity: dict[str, Any] = {}
    if run_dir is not None:
        planted = [list(astuple(cell)) for cell in empty.cells]
        identity = source.identity(recipe, seed) | about
        identity |= {"planted": planted, "precision": budget.precision}
    folder = None if run_dir is None else Path(run_dir)
    with checkpoints_in(folder, identity), shown(progress) as told:
        work = Work(recipe.n_jobs, parse_bytes(recipe.max_memory), told)
        return _run(empty, source, recipe, int(seed), budget, work)


def _run(
    empty: Trials, source: Source, recipe: Recipe, seed: int, budget: Budget, work: Work
) -> Trials:
    """Fill in the outcomes of trials whose cells are given.

    Every round runs each cell that is not known well enough once, that without effects half as
    often as all others together. The seed of a trial goes by its cell and its number within, so
    that numbers of jobs, time and interruptions change nothing but how many trials there are.
    """
    recipe = replace(recipe, accuracy=False, keep_data=False, on_empty="none", n_features=None)
    recipe = replace(recipe, n_jobs=1)
    cell_of, outcomes = list[int](), list[NDArray[Any]]()
    clock, stopped = _Clock(budget.minutes), ""
    work.report("trials", 0, budget.n_fits)
    with warnings.catch_warnings(), open_pool(work.n_jobs, "processes") as pool:
        while not stopped:
            done = _filled(empty, cell_of, outcomes)
            due = _round(done, budget)[: budget.n_fits - len(cell_of)]
            if not due:
                stopped = "fits" if len(cell_of) >= budget.n_fits else "precision"
                break
            seen = {c: cell_of.count(c) for c in due}
            tasks = []
            for c in due:
                at = SeedSequence(seed, spawn_key=(c, seen[c]))
                tasks.append(delayed(run_trial)(source, recipe, empty.cells[c], at))
                seen[c] += 1
            for c, found in zip(due, run_blocks(pool, tasks), strict=False):
                cell_of.append(c)
                outcomes.append(found[0])
                clock.count()
                work.report("trials", len(cell_of), budget.n_fits)
                if clock.over:
                    stopped = "time"
                    break
    work.report("trials", len(cell_of), len(cell_of))  # which may be fewer
    return replace(_filled(empty, cell_of, outcomes), stopped=stopped, seconds=clock.seconds)


def _filled(empty: Trials, cell_of: Sequence[int], outcomes: Sequence[NDArray[Any]]) -> Trials:
    found = np.array(outcomes, dtype=np.intp).reshape(len(cell_of), len(LAYERS), 4)
    return replace(empty, cell_of=np.array(cell_of, dtype=np.intp), outcomes=found)


def _round(done: Trials, budget: Budget) -> list[int]:
    """Cells of the next round."""
    n_done = np.bincount(done.cell_of, minlength=len(done.cells))
    due = [
        c
        for c in range(len(done.cells))
        if n_done[c] < FEWEST_FITS or done.rate(c).half_width > budget.precision
    ]
    planted = [c for c in due if done.cells[c].form]
    nulls = [c for c in due if not done.cells[c].form]
    return nulls * max(1, len(planted) // 2) + planted


@without_checkpoints()
def run_trial(source: Source, recipe: Recipe, cell: Cell, seed: SeedSequence) -> list[NDArray[Any]]:
    """The counts of one fit, see `Trials.outcomes`."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the table, which its own fit tells
        study, candidates = source.draw(cell.n_rows, rng)
        study, features = plant(study, cell, candidates, rng)
        found = decide_from(study, recipe, rng)
        any_pair = n_selected_pairs(found) > 0
        partners = groups_from(study, recipe).nearly_same if any_pair else found.leaders
        return [counted(found, features, partners)]


def counted(found: Selection, features: Indices, partners: Indices) -> NDArray[np.intp]:
    """How many were planted, found, named and false in every layer.

    `features` are those with effects, a row for each effect; of two features if it is a pair.
    `partners` are for each feature the one that stands for it as a partner.
    """
    planted = np.unique(found.leaders[features.ravel()])
    pairs = {frozenset(partners[some].tolist()) for some in features if len(some) == 2}
    alone, own = (found.layer(name).features for name in ("associated", "own"))
    members = [found.leaders[group] for group in found.members]
    together = _pairs_named(found, partners)
    counts = {
        # all that correlates with planted features is associated
        "associated": (*_counted(planted, alone), UNKNOWN if len(planted) else len(alone)),
        "signals": (
            len(planted),
            np.isin(planted, np.concatenate([np.empty(0, np.intp), *members])).sum(),
            len(members),
            sum(not np.isin(group, planted).any() for group in members),
        ),
        "own": (*_counted(planted, own), (~np.isin(own, planted)).sum()),
        "pairs": (len(pairs), len(pairs & together), len(together), len(together - pairs)),
    }
    return np.array([counts[name] for name in LAYERS], dtype=np.intp)


def _counted(planted: Indices, named: Indices) -> tuple[int, int, int]:
    """How many were planted, found and named."""
    return len(planted), int(np.isin(planted, named).sum()), len(named)


def _pairs_named(found: Selection, partners: Indices) -> set[frozenset[int]]:
    """Pairs that the level selects, by what stands for features as partners."""
    partners = np.concatenate([partners, found.n_features + np.arange(len(found.covariates))])
    chosen = pairs_of(found).features[: n_selected_pairs(found)]
    return {frozenset(partners[pair].tolist()) for pair in chosen}
