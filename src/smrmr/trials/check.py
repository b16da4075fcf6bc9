"""Checks level and power of the method on a user's own table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any, Unpack

from ..data.messages import did_you_mean, named
from ..data.study import Study
from ..pipeline import groups_from
from ..power.account import Cell, TableCheck
from ..problems import Problem
from ..recipe import Recipe, Settings, as_recipe
from ..selection import Selection
from ..types import Data, Progress
from .effects import STRENGTHS, Effects
from .planting import candidates_of
from .run import Budget, run_trials
from .sources import Table, read_table


def check(
    X: Data,
    y: Data,
    recipe: Recipe | None = None,
    rng: int = 0,
    *,
    covariates: Data = None,
    groups: Data = None,
    aggregate: str | None = None,
    forms: str | Sequence[str] = "line",
    strengths: Any = STRENGTHS,
    n_effects: int | None = None,
    plant_on: Any = "all",
    n_fits: int = 60,
    minutes: float | None = None,
    precision: float = 0.1,
    progress: Progress | bool | None = None,
    run_dir: str | os.PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> TableCheck:
    """Measure, on your own features, how many findings are false and which effects are found.

    The values of the target are handed out anew to the rows: at random, so that every finding is
    false, or so that some features have effects of known form and strength. Each such data set is
    fitted as `select` would. Covariates keep what they predict of the target, and values stay in
    their group of rows, and in their level of covariates that have few.

    Parameters
    ----------
    X, y, recipe, covariates, groups, aggregate
        As in `select`.
    rng
        Seed, a whole number.
    forms
        Forms of the planted effects: ``"line"``, ``"bend"`` (the target is high where the feature
        is low or high) or ``"pair"`` (the product of two features); several as a list, or joined by
        commas.
    strengths
        Share of the variance of the target that an effect explains; of classes and survival that of
        a latent score, and numbers above 1 are odds or hazard ratios per standard deviation.
    n_effects
        How many effects of one strength are planted at once; by default as many of five as explain
        half of the variance together, at least one.
    plant_on
        Features with an effect: drawn at random from ``"all"``, from those with look-alikes
        (``"clusters"``), or from these names.
    n_fits
        Number of fits, at most.
    minutes
        Time, at most.
    precision
        Half the length of a confidence interval from which on a rate needs no more fits.
    progress
        True draws a bar; a function is called as ``progress("trials", done, total)``.
    run_dir
        Directory for finished fits: a check that was interrupted goes on from them when it is
        started again with the same data and settings, and gives the same numbers.
    **settings
        Settings of `Recipe`, such as ``fdr=0.2``; they win over those of `recipe`.

    Returns
    -------
    TableCheck
        Rates of false findings and power, with intervals; ``str()`` says it in sentences.

    Raises
    ------
    ValueError
        As `select`; and if a form, strength or feature to plant on is not possible.

    Examples
    --------
    >>> import smrmr
    >>> data = smrmr.simulate("1.d", n=60, p=100, random_state=0)
    >>> found = smrmr.check(data.X, data.y, n_fits=6, strengths=(0.5,))
    >>> found.any_false().n, found.power(1).n
    (3, 3)
    """
    recipe = as_recipe(recipe, settings)
    study = read_table(X, y, recipe, covariates, groups, aggregate)
    effects = Effects(forms, strengths, n_effects, plant_on)
    budget = Budget(n_fits, minutes, precision)
    return check_from(study, recipe, rng, effects, budget, progress, run_dir)


def check_selection(
    selection: Selection,
    X: Data,
    y: Data,
    recipe: Recipe | None,
    rng: int,
    *,
    covariates: Data = None,
    groups: Data = None,
    aggregate: str | None = None,
    progress: Progress | bool | None = None,
    run_dir: str | os.PathLike[str] | None = None,
    **how: Any,
) -> TableCheck:
    """Check the table that a selection is of, by its own settings; see `Selection.check`."""
    known = [f.name for kind in (Effects, Budget) for f in fields(kind)]
    for name in set(how) - {*known}:
        advice = did_you_mean(name, known)
        if name in {f.name for f in fields(Recipe)}:
            advice = " Settings are those of the selection; .at(0.2) gives another level."
        raise TypeError(f"check has no argument {name!r}.{advice}")
    recipe = replace(_recipe_of(selection) if recipe is None else recipe, fdr=selection.fdr)
    study = read_table(X, y, recipe, covariates, groups, aggregate)
    _refuse_other(selection, study)
    effects = Effects(**{f.name: how.pop(f.name) for f in fields(Effects) if f.name in how})
    return check_from(study, recipe, rng, effects, Budget(**how), progress, run_dir)


def _refuse_other(selection: Selection, study: Study) -> None:
    """Refuse data that a selection is not of, as far as it knows these."""
    columns, groups = study.columns, study.row_groups
    names = [columns.name(k) for k in range(columns.n_columns)]
    adjusted_for = study.covariates.names if study.covariates else ()
    both = zip(names, selection.names, strict=False)
    name, its_name = next((pair for pair in both if len({*pair}) > 1), ("", ""))
    for mine, its in (
        (f"{len(names):,} features", f"{selection.n_features:,} features"),
        (f"a feature {name}", f"a feature {its_name}"),
        (f"{columns.n_rows:,} rows", f"{selection.n_rows:,} rows"),
        (f"a {study.target.kind} target", f"a {selection.target} target"),
        (_adjusted_for(adjusted_for), _adjusted_for(selection.covariates)),
        (f"{groups.n_groups} groups of rows", f"{selection.n_groups_of_rows} groups of rows"),
        (f"{groups.comparison!r} compared", f"{selection.row_comparison!r} compared"),
    ):
        if mine != its:
            raise Problem(
                f"these data are not those of the selection: they have {mine}, and it has {its}.",
                cure="Give the data that it was made from, with their covariates and groups.",
            )


def _adjusted_for(covariates: Sequence[str]) -> str:
    return f"covariates {named(covariates)}" if covariates else "no covariates"


def _recipe_of(selection: Selection) -> Recipe:
    """The recipe that the settings of a selection describe."""
    with suppress(ValueError, KeyError):
        recipe = Recipe(**{f.name: selection.settings[f.name] for f in fields(Recipe)})
        if recipe.feature_groups is None and recipe.settings == selection.settings:
            return recipe
    raise Problem(
        "the settings of this selection cannot be read back: they hold groups of features, or "
        "objects of your own.",
        cure="Give the recipe that it was made by: check(X, y, recipe).",
    )


def check_from(
    study: Study,
    recipe: Recipe,
    seed: int,
    effects: Effects,
    budget: Budget,
    progress: Progress | bool | None = None,
    run_dir: str | os.PathLike[str] | None = None,
) -> TableCheck:
    """Check a table of checked data; see `check`."""
    table = Table(study, candidates_of(study, groups_from(study, recipe), effects.plant_on))
    nothing = Cell("", 0.0, 0, table.n_rows)
    cells = (nothing, *effects.cells(table.target, table.n_candidates, table.n_rows))
    about = {"planted_on": effects.said_of_features}
    found: TableCheck = run_trials(
        TableCheck, table, cells, recipe, seed, budget, progress, run_dir, **about
    )
    return found
