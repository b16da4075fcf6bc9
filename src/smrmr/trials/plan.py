"""Plans a study: power against the number of rows, from a pilot table or from a few numbers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.study import read_study
from ..pipeline import groups_from
from ..power.account import SamplePlan
from ..problems import Problem, setting
from ..recipe import Recipe, as_recipe
from ..types import Data, Progress
from .effects import Effects
from .planting import candidates_of
from .run import Budget, run_trials
from .sources import Pilot, Simulated

OF_PILOT = (0.5, 1, 2, 4)  # numbers of rows that are tried, times those of the pilot
WITHOUT_PILOT = (50, 100, 200, 400)
FEWEST_ROWS = 10  # of a study worth planning
STRENGTH = 0.1  # share of variance that is planted by default


def plan(
    X: Data = None,
    y: Data = None,
    recipe: Recipe | None = None,
    rng: int = 0,
    *,
    covariates: Data = None,
    groups: Data = None,
    aggregate: str | None = None,
    p: int | None = None,
    correlation: float = 0.0,
    class_shares: str | Sequence[float] | None = None,
    event_share: float | None = None,
    n_rows: str | Sequence[int] | int | None = None,
    forms: str | Sequence[str] = "line",
    strengths: Any = STRENGTH,
    n_effects: int | None = None,
    plant_on: Any = "all",
    n_fits: int = 60,
    minutes: float | None = None,
    precision: float = 0.1,
    progress: Progress | None = None,
    run_dir: str | os.PathLike[str] | None = None,
) -> SamplePlan:
    """How many rows it takes to find effects: power against the number of rows.

    From a pilot table, of which rows are drawn; or, without one, from the number of features and
    their correlation. Effects are planted and found as in `check`.

    Parameters
    ----------
    X, y, covariates, groups, aggregate
        A pilot table, as in `select`; left out if there is none. Up to its own number, rows of it
        are drawn; beyond, rows of a Gaussian copula with its marginal distributions, its
        principal components, and correlations of neighbours.
    recipe
        As in `select`.
    rng
        Seed, a whole number.
    p
        Number of features, without a pilot.
    correlation
        Correlation of neighbouring features, without a pilot; that of others is its powers.
    class_shares
        Share of each class, without a pilot: the target is then classes.
    event_share
        Share of rows with an event, without a pilot: the target is then survival.
    n_rows
        Numbers of rows to try; by default half, once, twice and four times those of the pilot, or
        50, 100, 200 and 400.
    forms, strengths, n_effects, plant_on
        Effects to plant, as in `check`.
    n_fits, minutes, precision, progress, run_dir
        As in `check`.

    Returns
    -------
    SamplePlan
        Power with intervals for every number of rows; ``str()`` says how many are needed.

    Raises
    ------
    ValueError
        As `check`; and if there is neither a pilot nor a number of features, or both.

    Examples
    --------
    >>> import smrmr
    >>> found = smrmr.plan(p=50, correlation=0.3, strengths=0.3, n_rows=(30, 60), n_fits=6)
    >>> found.to_frame()["n_rows"].unique().tolist()
    [30, 60]
    """
    recipe = as_recipe(recipe)
    effects = Effects(forms, strengths, n_effects, plant_on)
    source: Pilot | Simulated
    if X is None:
        source = _simulated(p, correlation, class_shares, event_share)
    else:
        refuse_both(p=p, class_shares=class_shares, event_share=event_share)
        study = read_study(
            X,
            y,
            recipe.target,
            covariates=covariates,
            groups=groups,
            aggregate=aggregate,
            always_keep=recipe.always_keep,
            only=recipe.only,
            partners=recipe.partners,
        )
        source = Pilot(study, candidates_of(study, groups_from(study, recipe), effects.plant_on))
    cells = [
        cell
        for n in _sizes(n_rows, source.n_rows)
        for cell in effects.cells(source.target, source.n_candidates, n)
    ]
    budget = Budget(n_fits, minutes, precision)
    about = {"drawn_from": "pilot" if source.n_rows else "correlation", "n_pilot": source.n_rows}
    found: SamplePlan = run_trials(
        SamplePlan, source, cells, recipe, rng, budget, progress, run_dir, **about
    )
    return found


def _simulated(p: Any, correlation: float, class_shares: Any, event_share: Any) -> Simulated:
    if p is None:
        raise Problem(
            "there is no pilot table.",
            f"Give one, or the number of features: {setting('p', 2000)}.",
        )
    if class_shares is not None and event_share is not None:
        raise Problem(
            f"{setting('class_shares')} makes the target classes, {setting('event_share')} "
            "survival.",
            cure="Leave out one.",
        )
    if class_shares is not None:
        return Simulated(p, correlation, "classes", class_shares=class_shares)
    if event_share is not None:
        return Simulated(p, correlation, "survival", event_share=event_share)
    return Simulated(p, correlation)


def refuse_both(**given: Any) -> None:
    """Refuse what takes the place of a pilot table, where there is one."""
    for name, value in given.items():
        if value is not None:
            raise Problem(
                f"{setting(name, value)} is for plans without a pilot table, and there is one.",
                cure="Leave it out.",
            )


def _sizes(n_rows: Any, n_pilot: int) -> list[int]:
    """Numbers of rows to try, in increasing order."""
    if n_rows is None:
        n_rows = [round(n_pilot * times) for times in OF_PILOT] if n_pilot else WITHOUT_PILOT
    given = n_rows.split(",") if isinstance(n_rows, str) else np.atleast_1d(n_rows)
    try:
        sizes = sorted({int(n) for n in given})
    except (TypeError, ValueError):
        sizes = []
    if not sizes or sizes[0] < FEWEST_ROWS:
        raise Problem(
            f"{setting('n_rows', n_rows)} are no numbers of rows.",
            f"Whole numbers from {FEWEST_ROWS} on are needed, such as 50, 100, 200.",
        )
    return sizes
