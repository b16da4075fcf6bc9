"""Splits the rows and keeps the features that may enter the selection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from ...association.associations import Associations, parse_bytes
from ...association.associator import Associator
from ...data.columns import MIN_ROWS, Columns
from ...data.target import Target, take_rows
from ...recipe import Recipe
from ...solver.lla import solve
from ...types import Indices, Progress, Vector

SHORTLIST = 4  # features kept by relevance for each one kept in the end


@dataclass(frozen=True)
class Screening:
    """Which rows screen and which select, and which features got how far.

    `relevance` is that of every feature on the screening rows (on all rows if nothing is screened);
    `shortlisted` features passed the step by relevance, `kept` ones both.
    """

    rows_screen: Indices
    rows_select: Indices
    relevance: Vector
    shortlisted: Indices
    kept: Indices


def screen(
    columns: Columns,
    target: Target,
    recipe: Recipe,
    rng: Generator,
    progress: Progress | None = None,
) -> Screening:
    """Keep ``floor((n_1 - 1) / 2)`` features by looking at 0.4 n rows alone.

    Paper: section 5.1.1. First the 4 times as many features of largest relevance, then those of
    largest coefficient in the penalised problem at ``screen_lam``; ties and zeros are broken by
    relevance. The other n_1 rows must not influence what is kept, or the FDR is not controlled.
    """
    n, p = columns.n_rows, columns.n_columns
    everything = np.arange(p)
    if recipe.screening == "none" or (recipe.screening == "auto" and 2 * p < n):
        if recipe.n_keep is not None:
            raise ValueError(
                f"n_keep={recipe.n_keep} needs a screen, but all {p} features are kept (2 p < n "
                "or screening='none'). Leave it out, or set screening='split'."
            )
        engine = engine_of(columns, recipe, progress)
        return Screening(
            np.arange(0), np.arange(n), engine.with_target(target), everything, everything
        )
    rows_screen, rows_select = split_rows(target, recipe.screen_share, rng)
    n_keep = _number_to_keep(len(rows_screen), len(rows_select), p, recipe)
    part, response = columns.take(rows_screen), take_rows(target, rows_screen)
    if (response.values == response.values[:1]).all():
        raise ValueError(
            f"the target has a single value on the {len(rows_screen)} rows drawn to screen, so "
            "nothing can be screened. More rows of its rare values are needed, or screening='none'."
        )
    relevance = engine_of(part, recipe, progress).with_target(response)
    order = np.argsort(-relevance, kind="stable")
    if recipe.screen_steps == "relevance":
        kept = order[:n_keep]
        return Screening(rows_screen, rows_select, relevance, np.sort(kept), np.sort(kept))
    shortlisted = np.sort(order[: SHORTLIST * n_keep])
    redundancy = engine_of(part.take(columns=shortlisted), recipe).with_each_other()
    problem = Associations(relevance[shortlisted], redundancy, target.kind)
    penalty = recipe.penalty[0] if isinstance(recipe.penalty, list | tuple) else recipe.penalty
    theta = solve(problem, penalty=penalty, lam=recipe.screen_lam, lla_steps=recipe.lla_steps).theta
    best = np.lexsort((-problem.relevance, -theta))[:n_keep]
    return Screening(rows_screen, rows_select, relevance, shortlisted, np.sort(shortlisted[best]))


def engine_of(columns: Columns, recipe: Recipe, progress: Progress | None = None) -> Associator:
    """Associations of these columns by the recipe's measure."""
    memory = parse_bytes(recipe.memory)
    return Associator(columns, recipe.measured_by, recipe.n_jobs, memory, progress)


def split_rows(target: Target, share: float, rng: Generator) -> tuple[Indices, Indices]:
    """Draw ``floor(share n)`` rows to screen, of every class its share, and the rest to select."""
    n = target.n_rows
    n_screen = int(np.floor(share * n + 1e-9))
    if target.kind != "classes":
        order = rng.permutation(n)
        return np.sort(order[:n_screen]), np.sort(order[n_screen:])
    labels = target.values.astype(np.intp)
    exact = share * np.bincount(labels)
    counts = np.floor(exact + 1e-9).astype(np.intp)
    largest = np.argsort(-(exact - counts), kind="stable")
    counts[largest[: n_screen - counts.sum()]] += 1
    chosen = [
        rng.permutation(np.flatnonzero(labels == label))[:count]
        for label, count in enumerate(counts)
    ]
    rows = np.sort(np.concatenate(chosen))
    return rows, np.setdiff1d(np.arange(n), rows)


def _number_to_keep(n_screen: int, n_select: int, p: int, recipe: Recipe) -> int:
    most = (n_select - 1) // 2
    if n_screen < MIN_ROWS or n_select < MIN_ROWS:
        share = recipe.screen_share
        needed = int(np.ceil(max(MIN_ROWS / share, MIN_ROWS / (1 - share))))
        raise ValueError(
            f"{n_screen + n_select} rows (n_samples={n_screen + n_select}) are too few to split: "
            f"{n_screen} would screen and {n_select} select. At least {needed} rows are needed "
            f"with screen_share={share}, or screening='none'."
        )
    if recipe.n_keep is None:
        return min(most, p)
    if recipe.n_keep > min(most, p):
        raise ValueError(
            f"n_keep={recipe.n_keep} features cannot be kept: {n_select} rows select, and "
            f"knockoffs need 2 n_keep < {n_select}; X has {p} features that vary. Set n_keep <= "
            f"{min(most, p)}, or lower screen_share (now {recipe.screen_share})."
        )
    return int(recipe.n_keep)
