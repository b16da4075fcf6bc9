"""Plants known effects into features: the target is handed out anew to rows by these effects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from ..data.covariates import no_covariates, normal_places
from ..data.study import Study, positions_of, with_target
from ..data.target import kind_of
from ..data.targets.protocol import Planting
from ..features.groups import Groups
from ..power.account import Cell
from ..problems import Problem, setting
from ..rows.repeats import distinct_rows
from ..types import Indices, Matrix, Vector

ROWS_PER_STRATUM = 5  # on average, from which on levels of covariates are strata
ALIKE = 0.5  # correlation above which two effects are not planted together
CONSTANT = 1e-6  # standard deviation below which an effect does not vary


@dataclass(frozen=True)
class Form:
    """A form of effects: of how many features, and what it is of their scores, (n, features)."""

    n_features: int
    act: Callable[[Matrix], Vector]


FORMS = {
    "line": Form(1, lambda z: z[:, 0]),
    "bend": Form(1, lambda z: np.abs(z[:, 0])),
    "pair": Form(2, lambda z: z[:, 0] * z[:, 1]),
}


def plant(study: Study, cell: Cell, candidates: Indices, rng: Generator) -> tuple[Study, Indices]:
    """The same features with a target of known effects, and which features these are of.

    Every effect is a function of the normal scores of its features. Scores and effects are adjusted
    for covariates and groups of rows, and have variance 1: an effect explains its share of what
    these leave of a latent score. The values of the target are handed out anew by that score, see
    `Planting`; without effects that shuffles them. Repeated rows get one value, as they had before.

    Parameters
    ----------
    study
        Checked data.
    cell
        Form, strength and number of the effects.
    candidates
        Features that may have an effect.
    rng
        Draws features, signs and noise.

    Returns
    -------
    tuple of Study and ndarray
        The data, and positions of the features with effects, (effects, features of each).
    """
    firsts, sets = distinct_rows(study)
    once = study if len(firsts) == len(sets) else study.take(firsts)
    kind, target, given = kind_of(once.target), once.target, once.adjustment.basis
    effects = _draw_effects(once, cell, candidates, rng)
    signal = np.zeros((len(kind.loadings(target, rng)), target.n_rows))
    for _, effect in effects:
        signal += np.sqrt(cell.share) * np.outer(kind.loadings(target, rng), effect)
    noise = float(np.sqrt(max(1 - len(effects) * cell.share, 0.0)))
    planted = kind.plant(target, Planting(signal, noise, given, strata_of(once)), rng)
    if once is not study:
        planted = kind.derive_values(kind.take(planted, sets), study.adjustment.basis)
    features = np.array([some for some, _ in effects] or np.empty((0, 1)), dtype=np.intp)
    return with_target(study, planted), features


def _draw_effects(
    study: Study, cell: Cell, candidates: Indices, rng: Generator
) -> list[tuple[Indices, Vector]]:
    """Features drawn at random, and the effect of each.

    Effects that do not vary are left out, and of those that correlate, which would add up or cancel
    out, the later ones, as long as there are others.
    """
    if not cell.n_effects:
        return []
    form = FORMS[cell.form]
    apart, alike = list[tuple[Indices, Vector]](), list[tuple[Indices, Vector]]()
    for features in _in_random_order(study, candidates, form.n_features, rng):
        effect = _adjusted(study, form.act(_scores(study, features, rng))[:, None])[:, 0]
        if effect.std() <= CONSTANT:
            continue
        near = any(abs(effect @ other) > ALIKE * len(effect) for _, other in apart)
        (alike if near else apart).append((features, effect))
        if len(apart) == cell.n_effects:
            return apart
    found = apart + alike
    if len(found) >= cell.n_effects:
        return found[: cell.n_effects]
    raise Problem(
        f"too few features to plant effects of form {cell.form!r} on: {len(candidates)}, which "
        f"allow {len(found)} that vary, and {setting('n_effects', cell.n_effects)}.",
        "Effects are adjusted for covariates and groups of rows.",
        f"Lower {setting('n_effects')}, name more features in {setting('plant_on')}, or leave out "
        "this form.",
    )


def _in_random_order(study: Study, candidates: Indices, size: int, rng: Generator) -> Indices:
    """Candidates, or pairs of them; where features have partners of their own, these pairs."""
    drawn = rng.permutation(candidates)
    if size == 1 or study.partners is None:
        return drawn[: len(drawn) // size * size].reshape(-1, size)
    partners = study.partners[study.partners < study.columns.n_columns]  # no covariates
    if not len(partners):
        return np.empty((0, size), np.intp)
    pairs = np.column_stack([drawn, rng.choice(partners, len(drawn))])
    return np.asarray(pairs[pairs[:, 0] != pairs[:, 1]])


def _scores(study: Study, features: Indices, rng: Generator) -> Matrix:
    """Normal scores of features adjusted for covariates, standardised; of a category, levels."""
    values = study.columns.read(features).astype(np.float64)
    for k in np.flatnonzero(study.columns.nominal[features]):  # whose levels have no order
        values[:, k] = rng.permutation(int(values[:, k].max()) + 1)[values[:, k].astype(np.intp)]
    return _adjusted(study, normal_places(values))


def _adjusted(study: Study, columns: Matrix) -> Matrix:
    """Residuals of columns given covariates and groups of rows, standardised; 0 if nothing is."""
    left = study.adjustment.residuals((columns - columns.mean(axis=0)).T).T
    spread = left.std(axis=0)
    return np.where(spread > CONSTANT, left / np.maximum(spread, CONSTANT), 0.0)


def strata_of(study: Study) -> Indices:
    """Rows among which values of the target may change places: those of one number.

    Rows that are compared within groups stay in their group. Levels of covariates are strata where
    there are enough rows of each; what other covariates predict is kept in another way.
    """
    n, codes = study.target.n_rows, study.row_groups.codes
    strata = np.zeros(n, np.intp) if codes is None else codes
    given = no_covariates(n) if study.covariates is None else study.covariates
    for k in given.categories.tolist():
        levels = given.design[:, given.owners == k]
        finer = np.unique(np.column_stack([strata, levels]), axis=0, return_inverse=True)[1].ravel()
        if n >= ROWS_PER_STRATUM * (finer.max() + 1):
            strata = finer
    return np.asarray(strata)


def candidates_of(study: Study, groups: Groups, plant_on: Any) -> Indices:
    """Features that effects may be planted on: those tested, copies counted once; or some of them.

    Parameters
    ----------
    study, groups
        Checked data, and which of its features are copies or look-alikes.
    plant_on
        ``"all"``, ``"clusters"`` (features with look-alikes), or names or positions of features.

    Returns
    -------
    ndarray
        Their positions.
    """
    tested = groups.of_interest.modelled
    if isinstance(plant_on, str) and plant_on == "all":
        return np.asarray(tested)
    if isinstance(plant_on, str) and plant_on == "clusters":
        labels = groups.partitions[-1][tested]
        found = tested[np.bincount(labels)[labels] > 1]
        if not len(found):
            raise Problem(
                f"{setting('plant_on', 'clusters')}: no feature has look-alikes.",
                cure=f"Use {setting('plant_on', 'all')}, or lower {setting('alike')}.",
            )
        return np.asarray(found)
    named = positions_of(study.columns, plant_on, "plant_on")
    if not len(named):
        raise Problem(
            f"{setting('plant_on', plant_on)} names no feature.",
            cure=f"Name one, or use {setting('plant_on', 'all')}.",
        )
    found = np.unique(groups.copies.leaders[named])
    if untested := [study.columns.name(k) for k in np.setdiff1d(found, tested)]:
        raise Problem(
            f"{setting('plant_on')} names {', '.join(untested[:5])}, which cannot be tested: "
            "constant, always kept, or not of interest.",
            cure="Name other features.",
        )
    return found
