"""Runs the stages in the paper's order, from data to a Selection."""

from __future__ import annotations

import logging
import os
import platform
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from .association.associations import parse_bytes
from .control.knockoffs.covariance import check_covariance
from .control.knockoffs.diagnose import Diagnosis, diagnose, refuse_categories
from .control.knockoffs.draws import Draw, Shown
from .control.knockoffs.gaussian import check_nominal, draw_knockoffs
from .control.knockoffs.given import check_given
from .control.knockoffs.screening import Screening, engine_of, screen
from .control.knockoffs.tuning import Paired, associate_pairs, choose_lam
from .data.columns import Columns, as_columns
from .data.messages import outside
from .data.target import Target, as_target, check_same_rows, take_rows
from .groups.copies import find_copies, groups_of
from .measures import ProjectionCorrelation
from .recipe import Recipe
from .runs.blocks import one_blas_thread
from .runs.checkpoints import checkpoints_in
from .runs.identity import described, identity_of, settings_of
from .selection import Selection
from .settings import as_generator
from .solver.lla import solve
from .types import Data, Indices, Matrix, Progress, Vector

logger = logging.getLogger(__name__)

NEIGHBOURS = 5
SHOWN = 40  # features whose values a selection keeps for figures
SHOWN_ROWS = 500


def select(
    X: Data,
    y: Data,
    recipe: Recipe | None = None,
    rng: int | Generator | None = None,
    *,
    progress: Progress | None = None,
    run_dir: str | os.PathLike[str] | None = None,
) -> Selection:
    """Select features with a controlled false discovery rate.

    Paper: section 5.1. Screen on some rows, draw knockoffs of the kept features on the others,
    solve the penalised problem in features and knockoffs together, select by knockoff+.

    Parameters
    ----------
    X
        Features, (n, p): an array or DataFrame of numbers, whose categories must have two levels,
        or a source that is read by columns, see `open_columns`.
    y
        Target: n numbers or labels, or (n, q) numbers.
    recipe
        What to do; the defaults of `Recipe`.
    rng
        Seed or Generator; the only source of randomness.
    progress
        Called as ``progress(stage, done, total)``.
    run_dir
        Directory for finished blocks of work. A run that was killed goes on from them when it is
        started again with the same data and settings, and gives the same answer.

    Examples
    --------
    >>> from smrmr import Recipe, select, simulate
    >>> data = simulate("1.d", n=500, p=200, random_state=0)
    >>> found = select(data.X, data.y, Recipe(fdr=0.2), rng=0)
    >>> len(set(found.selected.tolist()) & set(data.support.tolist()))
    10
    """
    recipe = Recipe() if recipe is None else recipe
    columns, target = as_columns(X), as_target(y, recipe.target)
    check_same_rows(columns, target)
    folder = None if run_dir is None else Path(run_dir)
    with checkpoints_in(folder, identity_of(columns, target, recipe, rng) if folder else {}):
        return select_checked(columns, target, recipe, rng, progress=progress)


def select_checked(
    columns: Columns,
    target: Target,
    recipe: Recipe,
    rng: int | Generator | None,
    *,
    progress: Progress | None = None,
) -> Selection:
    """Select from checked data; see `select`."""
    check_nominal(columns)
    recipe = _check_given(columns, recipe)
    seconds: dict[str, float] = {}
    names = tuple(columns.name(k) for k in range(columns.n_columns))
    columns = replace(columns, nominal=np.zeros(columns.n_columns, bool))
    with _timed("copies", seconds):
        ranked = isinstance(recipe.measured_by, ProjectionCorrelation) and recipe.uses_copula
        leaders, constant = find_copies(
            columns, ranked, recipe.n_jobs, parse_bytes(recipe.memory), progress
        )
        candidates = np.flatnonzero((leaders == np.arange(len(leaders))) & ~constant)
    if candidates.size == 0:
        raise ValueError("every column of X is constant. Features that vary are needed.")

    relevance: Vector = np.zeros(columns.n_columns)
    draws = []
    for child in as_generator(rng).spawn(recipe.n_draws):
        with one_blas_thread():  # as in draw_knockoffs
            draw, of_candidates = _one_draw(
                columns, candidates, target, recipe, child, seconds, progress
            )
        relevance[candidates] += of_candidates / recipe.n_draws
        draws.append(draw)
    relevance = np.where(constant, 0.0, relevance[leaders])
    with _timed("figures", seconds):
        shown = _shown(columns, target, draws, recipe)
    _warn_if_failed([draw.diagnosis for draw in draws])
    return Selection(
        names=names,
        relevance=relevance,
        draws=tuple(draws),
        shown=shown,
        groups=groups_of(leaders),
        constants=np.flatnonzero(constant),
        fdr=recipe.fdr,
        inner_fdr=recipe.fdr / 2,
        on_empty=recipe.on_empty,
        target=target.kind,
        n_rows=columns.n_rows,
        settings=settings_of(recipe),
        versions={name: version(name) for name in ("smrmr", "numpy", "scipy", "numba")}
        | {"python": platform.python_version()},
        seed=int(rng) if isinstance(rng, int | np.integer) else None,
        seconds=seconds,
    )


def _one_draw(
    columns: Columns,
    candidates: Indices,
    target: Target,
    recipe: Recipe,
    rng: Generator,
    seconds: dict[str, float],
    progress: Progress | None,
) -> tuple[Draw, Vector]:
    """One split, one draw of knockoffs, one solution; and the relevance of every candidate."""
    split_rng, knockoff_rng, fold_rng, diagnosis_rng = rng.spawn(4)
    with _timed("screening", seconds):
        screening = screen(columns.take(columns=candidates), target, recipe, split_rng, progress)
        kept = candidates[screening.kept]
    with _timed("knockoffs", seconds, progress):
        twins, covariance, s = _knockoffs(
            columns, kept, screening.rows_select, recipe, knockoff_rng
        )
    with _timed("diagnosis", seconds):
        originals = columns.take(screening.rows_select, kept).values
        diagnosis = diagnose(originals, twins, diagnosis_rng)
    with _timed("associations", seconds, progress):
        paired = _pair(columns, target, kept, twins, screening, recipe)
        problem = associate_pairs(paired, recipe)
    with _timed("tuning", seconds):
        tuning = choose_lam(paired, problem, recipe, fold_rng, progress)
    with _timed("solving", seconds, progress):
        solution = solve(
            problem, penalty=tuning.penalty, lam=tuning.lam, lla_steps=recipe.lla_steps
        )
    theta, theta_knockoff = np.split(solution.theta, 2)
    same = (originals == twins).all(axis=0) | _coincide(originals, recipe.uses_copula)
    likeness = problem.redundancy[: len(kept), : len(kept)] - 2 * np.eye(len(kept))
    nearest = np.argsort(-likeness, axis=1, kind="stable")[:, : min(NEIGHBOURS, len(kept) - 1)]
    draw = Draw(
        n_screen=len(screening.rows_screen),
        n_select=len(screening.rows_select),
        shortlisted=candidates[screening.shortlisted],
        kept=kept,
        theta=theta,
        theta_knockoff=theta_knockoff,
        W=np.where(same, 0.0, theta - theta_knockoff),
        lam=tuning.lam,
        penalty=str(described(tuning.penalty)),
        lams=tuning.lams,
        losses=tuning.losses,
        at_floor=tuning.at_floor,
        covariance=covariance,
        s=s,
        diagnosis=diagnosis,
        neighbours=kept[nearest],
        likeness=np.take_along_axis(likeness, nearest, axis=1),
    )
    return draw, screening.relevance


def _knockoffs(
    columns: Columns, kept: Indices, rows: Indices, recipe: Recipe, rng: Generator
) -> tuple[NDArray[Any], str, Vector]:
    """Knockoffs of the kept features on the rows that select."""
    values = columns.take(rows, kept).values
    if recipe.knockoff_function is not None:
        twins = check_given(values, recipe.knockoff_function(values, rng))
        return twins, "given", np.empty(0)
    if not recipe.draws_from_sigma:
        return recipe.knockoffs[np.ix_(rows, kept)], "given", np.empty(0)
    covariance: str | Matrix = recipe.covariance
    if not isinstance(covariance, str):
        covariance = np.asarray(covariance, dtype=np.float64)[np.ix_(kept, kept)]
    drawn = draw_knockoffs(values, recipe.s, covariance, recipe.uses_copula, rng)
    return drawn.X_knockoff, drawn.covariance, drawn.s


def _pair(
    columns: Columns,
    target: Target,
    kept: Indices,
    twins: NDArray[Any],
    screening: Screening,
    recipe: Recipe,
) -> Paired:
    """Put knockoffs beside features; rows that screened come back as their own knockoffs."""
    rows = screening.rows_select
    pairs = np.hstack([columns.take(rows, kept).values, twins])
    part: Indices = np.ones(len(rows), dtype=np.intp)
    if recipe.recycle and len(screening.rows_screen):
        again = columns.take(screening.rows_screen, kept).values
        pairs = np.vstack([np.hstack([again, again]), pairs])
        part = np.concatenate([np.zeros(len(screening.rows_screen), dtype=np.intp), part])
        rows = np.concatenate([screening.rows_screen, rows])
    return Paired(Columns.bare(pairs), take_rows(target, rows), part)


def _shown(columns: Columns, target: Target, draws: list[Draw], recipe: Recipe) -> Shown:
    """Keep what figures need: features of largest W, on rows spread over the data."""
    W = np.zeros(columns.n_columns)
    for draw in draws:
        W[draw.kept] += draw.W
    features = np.argsort(-W, kind="stable")[: min(SHOWN, np.count_nonzero(W > 0))]
    rows = np.unique(np.linspace(0, columns.n_rows - 1, SHOWN_ROWS).astype(np.intp))
    return Shown(
        features=features,
        values=columns.take(rows, features).values.astype(np.float64),
        y=target.values[rows],
        labels=target.labels,
        redundancy=engine_of(columns.take(columns=features), recipe).with_each_other()
        if len(features)
        else np.empty((0, 0)),
    )


def _coincide(values: NDArray[Any], by_rank: bool) -> NDArray[np.bool_]:
    """Which features equal another on the rows that select, though not on all rows.

    Nothing on these rows tells them apart and their knockoffs are the same too, so a false one
    would win whenever a true one does: neither can be selected.
    """
    leaders, _ = find_copies(Columns.bare(values), by_rank)
    return np.asarray(np.bincount(leaders)[leaders] > 1)


def _check_given(columns: Columns, recipe: Recipe) -> Recipe:
    """Check knockoffs and covariance of the user against X before any work is done."""
    if not recipe.draws_from_sigma:
        refuse_categories(columns)
    if not recipe.draws_from_sigma and recipe.knockoff_function is None:
        if recipe.n_draws > 1:
            raise ValueError(
                f"n_draws={recipe.n_draws} needs fresh knockoffs each time, but one array was "
                "given. Pass a function that draws them, or n_draws=1."
            )
        recipe = replace(recipe, knockoffs=check_given(columns.values, recipe.knockoffs))
    if not isinstance(recipe.covariance, str):
        check_covariance(np.asarray(recipe.covariance, dtype=np.float64), columns.n_columns)
    return recipe


def _warn_if_failed(diagnoses: list[Diagnosis]) -> None:
    failed = [diagnosis for diagnosis in diagnoses if not diagnosis.passed]
    if len(failed) > 0.1 * len(diagnoses):
        count = f" (in {len(failed)} of {len(diagnoses)} draws)" if len(diagnoses) > 1 else ""
        warnings.warn(f"{failed[0]}{count}", UserWarning, stacklevel=outside())


@contextmanager
def _timed(
    stage: str, seconds: dict[str, float], progress: Progress | None = None
) -> Iterator[None]:
    """Add up the seconds of a stage; with `progress`, one that tells no steps of its own."""
    start = perf_counter()
    if progress is not None:
        progress(stage, 0, 1)
    yield
    if progress is not None:
        progress(stage, 1, 1)
    seconds[stage] = seconds.get(stage, 0.0) + perf_counter() - start
    logger.info("%s: %.2f s", stage, seconds[stage])
