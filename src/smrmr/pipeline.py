"""Runs the stages in order: data, copies, evidence, decision, and a Selection of it all."""

import os
import platform
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from pickle import PicklingError
from typing import Any, Unpack

import numpy as np
from numpy.random import Generator

from .conditional.marginal import marginal_tests
from .conditional.preparing import MAX_TESTED, bytes_of_scores
from .conditional.statistics import DEFAULT_STATISTICS, Statistic, as_statistics
from .controllers import Evidence
from .data.study import Study, read_study
from .decision import LEVELS, Decision, decide_with_fallback
from .features.alike import likeness_to
from .features.copies import Copies
from .features.groups import Groups, find_groups
from .features.marginal import MarginalTests
from .features.rank_table import RankTable
from .layers.carriers import find_carriers
from .layers.panel import Panel, choose_panel
from .layers.panel_ranking import associated_alone
from .problems import Problem, setting
from .recipe import Recipe, Settings, as_recipe
from .rows.checks import check_rows
from .runs.checkpoints import checkpoints_in
from .runs.identity import identity_of
from .runs.progress import shown
from .runs.stored_rows import IN_MEMORY, Room, room_for
from .runs.work import Work
from .selection import Selection, find_pair_grids, find_trends, summarise_for_plots
from .selection.plot_data import MOST_FEATURES, PlotData, Shapes
from .settings import as_generator, parse_bytes
from .types import Data, Indices, Progress

MOST_OF_PANEL = 8  # features of the panel that are drawn
DECIDING = (
    "fdr",
    "on_empty",
    "n_features",
    "accuracy",
    "panel_size",
    "n_jobs",
)  # settings that no evidence depends on


def select(
    X: Data,
    y: Data,
    recipe: Recipe | None = None,
    rng: int | Generator | None = None,
    *,
    covariates: Data = None,
    groups: Data = None,
    aggregate: str | None = None,
    coordinates: Data = None,
    progress: Progress | bool | None = None,
    run_dir: str | os.PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> Selection:
    """Select features with a controlled false discovery rate.

    By default every feature is tested given all others (`ConditionalTests`);
    ``Recipe(control="paper")`` is the paper's SmRMR (section 5.1, Theorem 3).

    Parameters
    ----------
    X
        Features, (n, p): an array, a sparse matrix, a table of pandas, polars or pyarrow, whose
        categories must have two levels for knockoffs, or a source that is read by columns, see
        `smrmr.data.open_columns`.
    y
        Target: n numbers or labels, (n, q) numbers, or events and times of survival.
    recipe
        What to do, as a `Recipe`. Single settings may be given by their names instead.
    rng
        Seed or Generator; the only source of randomness. Draws depend on the positions of rows and
        columns: the same seed on rows or columns in another order is another draw.
    covariates
        What to adjust for and never select: a DataFrame, a mapping of names to columns or an array,
        of numbers and labels. A feature is then tested given all others and these.
    groups
        What rows belong to, such as a patient, plate or family: rows of one group are not taken for
        independent. Where y or X is the same for all rows of a group, groups are compared by their
        means; elsewhere rows are compared within groups.
    aggregate
        ``"mean"``: compare groups by their means whatever y and X are.
    coordinates
        Where rows are, in time or space: one or more columns of numbers. A check then asks whether
        rows are alike that are close to each other, as it does in row order anyway; nothing else
        depends on them.
    progress
        True draws a bar per stage; a function is called as ``progress(stage, done, total)``.
    run_dir
        Directory for finished blocks of work. A run that was killed goes on from them when it is
        started again with the same data and settings, and gives the same answer.
    **settings
        Settings of `Recipe`, such as ``fdr=0.2`` or ``target="survival"``. They win over those of
        `recipe`; the defaults are those of `Recipe`.

    Returns
    -------
    Selection
        What was selected and what became of every other feature.

    Raises
    ------
    ValueError
        If X or y has missing values, X has text, or rows of X, y, covariates, groups and
        coordinates do not match; if the target is constant, or all features are; if covariates
        explain the target; if `recipe` is no `Recipe`, or `run_dir` holds another run. The message
        names columns and says what to change.
    TypeError
        If there is no such setting.

    Examples
    --------
    Of these 12 features 0 and 5 are true:

    >>> from smrmr import select, simulate
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y, fdr=0.1)
    >>> sorted(found.selected.tolist())
    [0, 5]
    """
    recipe = as_recipe(recipe, settings)
    study = read_study(
        X,
        y,
        recipe.target,
        covariates=covariates,
        groups=groups,
        aggregate=aggregate,
        coordinates=coordinates,
        always_keep=recipe.always_keep,
        only=recipe.only,
        partners=recipe.partners,
    )
    folder = None if run_dir is None else Path(run_dir)
    about = identity_of(study, recipe.settings, recipe.controller.repeatable, rng) if folder else {}
    with checkpoints_in(folder, about), shown(progress) as told:
        return select_from(study, recipe, rng, told)


@dataclass(frozen=True, eq=False)
class Weighed:
    """What no level changes: tests of features alone, evidence, copies, and how long they took."""

    alone: MarginalTests
    evidence: Evidence
    copies: Copies
    of_interest: Copies  # the same of features that are tested
    seconds: dict[str, float]


def select_from(
    study: Study, recipe: Recipe, rng: int | Generator | None, progress: Progress | None = None
) -> Selection:
    """Select from checked data; see `select`."""
    work = _work(recipe, progress)
    with _room_for_ranks(study, work) as room:
        prepared, ranks = _prepared(study, recipe, work, room)
        return _answer(study, ranks, _weigh(prepared, ranks, recipe, rng, work), recipe, rng, work)


def weigh_from(
    study: Study, recipe: Recipe, rng: int | Generator | None, progress: Progress | None = None
) -> Weighed:
    """Test features of checked data, and decide nothing."""
    work = _work(recipe, progress)
    with _room_for_ranks(study, work) as room:
        return _weigh(*_prepared(study, recipe, work, room), recipe, rng, work)


def _work(recipe: Recipe, progress: Progress | None) -> Work:
    return Work(recipe.n_jobs, parse_bytes(recipe.max_memory), progress)


def _room_for_ranks(study: Study, work: Work) -> AbstractContextManager[Room]:
    """Files, if scores are to lie in files, for the ranks of no more features than are tested."""
    n, p = study.columns.n_rows, study.columns.n_columns
    return room_for(bytes_of_scores(n, p) if p <= MAX_TESTED else 0, work.max_memory)


def _prepared(
    study: Study, recipe: Recipe, work: Work, room: Room = IN_MEMORY
) -> tuple[Study, RankTable]:
    """The data as the controller takes them, and the table of their ranks."""
    prepared, keep = recipe.controller.prepare(study), recipe.controller.by_rank
    return prepared, RankTable.of(prepared.columns, work, keep=keep, room=room)


def _statistics(recipe: Recipe) -> tuple[Statistic, ...]:
    """What features are tested alone by: what the controller tests by, or the default."""
    default = as_statistics(DEFAULT_STATISTICS)
    return tuple(getattr(recipe.controller, "statistics", default))


def groups_from(study: Study, recipe: Recipe) -> Groups:
    """Which features of checked data are copies, and which are tested together."""
    work = _work(recipe, None)
    return _groups(*_prepared(study, recipe, work), recipe, work)


def _groups(study: Study, ranks: RankTable, recipe: Recipe, work: Work) -> Groups:
    only, n = study.of_interest, study.columns.n_columns
    groups = find_groups(
        ranks,
        recipe.controller.by_rank,
        recipe.cuts_for(study.columns.n_rows, n if only is None else len(only)),
        recipe.feature_groups,
        work,
        study.always_kept,
        only,
    )
    if groups.of_interest.modelled.size == 0:
        which = "every column of X" if only is None else f"every feature of {setting('only')}"
        raise Problem(f"{which} is constant or always kept. Features that vary are needed.")
    return groups


def _weigh(
    study: Study, ranks: RankTable, recipe: Recipe, rng: int | Generator | None, work: Work
) -> Weighed:
    """Copies and groups, features alone, and the evidence of the controller."""
    control, groups = recipe.controller, _groups(study, ranks, recipe, work)
    copies, of_interest = groups.copies, groups.of_interest
    alone = marginal_tests(study, ranks, copies, _statistics(recipe), work)
    evidence = control.weigh(study, ranks, groups, alone, recipe.fdr, as_generator(rng), work)
    alone = alone.without(of_interest.constant)
    return Weighed(alone, evidence, copies, of_interest, work.seconds)


def _answer(
    study: Study,
    ranks: RankTable,
    weighed: Weighed,
    recipe: Recipe,
    rng: int | Generator | None,
    work: Work,
) -> Selection:
    """The decision at a level, the layers, and what figures show; `ranks` are those prepared."""
    control, nominal = recipe.controller, study.columns.nominal
    row_checks = check_rows(study, work)
    study = control.prepare(study)
    alone, evidence, copies = weighed.alone, weighed.evidence, weighed.copies
    of_interest = weighed.of_interest
    decision = decide_with_fallback(evidence, recipe.fdr, recipe.on_empty, recipe.n_features)
    with work.stage("credible sets"):
        levels = {decision.fdr, *LEVELS}
        at_levels = [decision, *(evidence.decide(level) for level in levels)]
        selectable = np.unique(np.concatenate([made.selected for made in at_levels])).tolist()
        carriers = find_carriers(
            study, ranks, evidence, selectable, decision.selected, copies.leaders, work
        )
    panel = choose_panel(
        study,
        ranks,
        of_interest,
        alone,
        recipe.fdr,
        work,
        size=recipe.panel_size,
        accuracy=recipe.accuracy,
        statistics=_statistics(recipe),
    )
    with work.stage("figures", steps=True):
        shapes, keep_data = Shapes(study.target), recipe.keep_data
        ranking = evidence.ranking
        if not decision.selected.size:  # near misses: those associated alone come first
            near = np.isin(ranking, associated_alone(alone, of_interest, recipe.fdr))
            ranking = ranking[np.argsort(~near, kind="stable")]
        first, others = np.split(ranking, [MOST_FEATURES - MOST_OF_PANEL])
        drawn = _once(first, panel.features[:MOST_OF_PANEL], others)
        plot_data = summarise_for_plots(study, drawn, control.measure, keep_data, work, shapes)
        plot_data = replace(plot_data, pairs=find_pair_grids(study, evidence, decision.fdr))
        shown_by, q_values = evidence.representatives, np.ones(study.columns.n_columns)
        np.minimum.at(q_values, shown_by, decision.q_values)
        best = _once(shown_by[evidence.order], panel.features)
        selected = np.concatenate([shown_by[decision.selected], panel.features])
        trends = find_trends(study, ranks, best, selected, q_values, nominal, shapes)
        unadjusted = np.empty(0)
        if study.adjustment.names:
            unadjusted = control.relevance(study, ranks, work.quietly())
    representatives = [
        np.where(n < 0, np.arange(len(n)), evidence.representatives[n]) for n in evidence.hypotheses
    ]
    return replace(
        _decided(study, weighed, decision, recipe, rng, work),
        groups_carried=carriers,
        panel=panel,
        plot_data=plot_data,
        trends=trends,
        likeness=tuple(likeness_to(ranks, each) for each in representatives),
        unadjusted=unadjusted,
        row_checks=row_checks,
    )


def decide_from(study: Study, recipe: Recipe, rng: int | Generator | None) -> Selection:
    """The decision alone: without credible sets, panel, figures and checks of rows."""
    work = _work(recipe, None)
    study, ranks = _prepared(study, recipe, work)
    weighed = _weigh(study, ranks, recipe, rng, work)
    decision = decide_with_fallback(
        weighed.evidence, recipe.fdr, recipe.on_empty, recipe.n_features
    )
    return _decided(study, weighed, decision, recipe, rng, work)


def _decided(
    study: Study,
    weighed: Weighed,
    decision: Decision,
    recipe: Recipe,
    rng: int | Generator | None,
    work: Work,
) -> Selection:
    """A selection that says nothing of the data but what the evidence does."""
    columns, copies, only = study.columns, weighed.copies, study.of_interest
    none = np.empty(0, np.intp)
    adjusted_for = () if study.covariates is None else study.covariates.names
    same_as_kept = np.flatnonzero(copies.same_as(study.always_kept))
    return Selection(
        names=tuple(columns.name(k) for k in range(columns.n_columns)),
        alone=weighed.alone,
        evidence=weighed.evidence,
        decision=decision,
        groups_carried=(),
        panel=Panel(none, np.empty(0)),
        plot_data=PlotData(none, np.empty(0), study.target.labels, ()),
        likeness=(),
        copies=copies.groups,
        constants=np.setdiff1d(np.flatnonzero(copies.constant), same_as_kept),
        always_kept=study.always_kept,
        of_interest=None if only is None else np.flatnonzero(copies.same_as(only)),
        covariates=adjusted_for,
        covariate_categories=_by_level(study),
        covariate_form="" if study.covariates is None else study.covariates.form,
        n_groups_of_rows=study.row_groups.n_groups,
        row_comparison=study.row_groups.comparison,
        on_empty=recipe.on_empty,
        n_features_requested=recipe.n_features,
        target=study.target.kind,
        n_rows=columns.n_rows,
        settings=recipe.settings,
        versions={name: _version(name) for name in ("smrmr", "numpy", "scipy", "numba")}
        | {"python": platform.python_version()},
        seed=int(rng) if isinstance(rng, int | np.integer) else None,
        seconds=weighed.seconds | work.seconds,
        source={"target column": study.target.name} if study.target.name else {},
    )


_version = cache(version)  # which reads files


def _by_level(study: Study) -> Indices:
    """Numbers of the covariates that are taken level by level."""
    return np.empty(0, np.intp) if study.covariates is None else study.covariates.categories


def _once(*parts: Indices) -> Indices:
    """All features of these parts in order, each where it stands first."""
    every = np.concatenate(parts)
    return np.asarray(every[np.sort(np.unique(every, return_index=True)[1])])


def select_cached(
    study: Study,
    recipe: Recipe,
    rng: int | Generator | None,
    progress: Progress | None = None,
    memory: Any = None,
) -> Selection:
    """The same by way of a `joblib.Memory`, or its folder, that keeps what no level changes.

    A recipe with another level of the same data finds the fit there.
    """
    key = "" if memory is None else _cache_key(study, recipe, rng)
    if not key:
        return select_from(study, recipe, rng, progress)
    from sklearn.utils.validation import check_memory  # takes long to load

    cached = check_memory(memory).cache(
        _weigh_for_cache, ignore=["study", "recipe", "rng", "progress"]
    )
    weighed: Weighed = cached(key, study, recipe, rng, progress)
    weighed = replace(weighed, evidence=weighed.evidence.at_level(recipe.fdr))
    work = _work(recipe, progress)
    _, ranks = _prepared(study, recipe, work)
    return _answer(study, ranks, weighed, recipe, rng, work)


def _cache_key(study: Study, recipe: Recipe, rng: int | Generator | None) -> str:
    """Checksum of all that the evidence depends on; nothing if that is unknown.

    It cannot where a seed matters that cannot be drawn again, where data are read from a source,
    and where a function of the user's has no name of its own.
    """
    import joblib

    control, seed = recipe.controller, int(rng) if isinstance(rng, int | np.integer) else None
    if (seed is None and control.by_chance) or not study.columns.in_memory:
        return ""
    settings = {name: value for name, value in recipe.settings.items() if name not in DECIDING}
    try:
        return str(joblib.hash((study, control, settings, seed, version("smrmr"))))
    except PicklingError:
        return ""


def _weigh_for_cache(
    key: str, study: Study, recipe: Recipe, rng: int | Generator | None, progress: Progress | None
) -> Weighed:
    """Evidence for a memory, which goes by the key alone and so writes no data down."""
    return weigh_from(study, recipe, rng, progress)
