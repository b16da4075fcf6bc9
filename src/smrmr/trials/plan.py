"""Plans a study: power against the number of rows, from a pilot table or from a few numbers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from ..pipeline import groups_from
from ..power.account import SamplePlan
from ..problems import Problem, setting
from ..recipe import Recipe, Settings, as_recipe
from ..types import Data, Progress
from .copula import Copula
from .effects import Effects
from .planting import candidates_of
from .run import Budget, run_trials
from .sources import Pilot, Simulated, read_table

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
    progress: Progress | bool | None = None,
    run_dir: str | os.PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> SamplePlan:
    """How many rows it takes to find effects: power against the number of rows.

    From a pilot table, of which rows are drawn; or, without one, from the number of features and
    their correlation. Effects are planted and found as in `check`.

    Parameters
    ----------
    X, y, covariates, groups, aggregate
        A pilot table, as in `select`; left out if there is none. Up to its own number, rows of it
        are drawn, of groups all rows; beyond, rows of a Gaussian copula with its marginal
        distributions, its principal components, and correlations of neighbours. Groups that come
        again are new ones.
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
    n_fits, minutes, precision, progress, run_dir, **settings
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
    recipe = as_recipe(recipe, settings)
    effects = Effects(forms, strengths, n_effects, plant_on)
    source: Pilot | Simulated
    if X is None:
        _refuse_without_pilot(recipe, effects, y, covariates, groups, aggregate)
        source = _simulated(p, correlation, class_shares, event_share)
        sizes = _sizes(n_rows, 0)
    else:
        refuse_both(p=p, class_shares=class_shares, event_share=event_share)
        refuse_both(correlation=correlation or None)
        if y is None:
            raise Problem("the pilot table has no target.", f"Give {setting('y')}.")
        study = read_table(X, y, recipe, covariates, groups, aggregate)
        sizes = _sizes(n_rows, study.target.n_rows)
        known = study.columns, study.adjustment.basis
        copula = Copula.of(known[0].values, known[1]) if sizes[-1] > study.target.n_rows else None
        on = candidates_of(study, groups_from(study, recipe), effects.plant_on)
        source = Pilot(study, on, copula)
    cells = [cell for n in sizes for cell in effects.cells(source.target, source.n_candidates, n)]
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


def _refuse_without_pilot(recipe: Recipe, effects: Effects, *of_rows: Any) -> None:
    """Refuse what is about a pilot table, where there is none."""
    given = dict(zip(("y", "covariates", "groups", "aggregate"), of_rows, strict=True))
    given |= {name: getattr(recipe, name) for name in ("only", "feature_groups")}
    given |= {"always_keep": recipe.always_keep or None}
    given |= {"partners": None if recipe.all_partners else recipe.partners}
    given |= {"target": None if recipe.target == "auto" else recipe.target}
    given |= {"plant_on": None if effects.on_all else effects.plant_on}
    for name, value in given.items():
        if value is not None:
            raise Problem(
                f"{setting(name)} is about a pilot table, and there is none.",
                cure="Give the table, or leave it out.",
            )


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
        whole = isinstance(n_rows, str) or sizes == sorted({*given})
    except (TypeError, ValueError):
        whole = False
    if not whole or not sizes or sizes[0] < FEWEST_ROWS:
        raise Problem(
            f"{setting('n_rows', n_rows)} are no numbers of rows.",
            f"Whole numbers from {FEWEST_ROWS} on are needed, such as 50, 100, 200.",
        )
    return sizes
