"""Defines ConditionalTests: every feature is tested given all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from joblib import delayed
from numpy.random import Generator
from numpy.typing import NDArray

from ...association.associator import Associator
from ...data.columns import Columns
from ...data.study import Study
from ...groups.copies import Copies
from ...measures import as_measure
from ...runs.blocks import one_blas_thread, open_pool, run_blocks
from ...runs.work import Work
from ...settings import check_choice, nested_settings, write_setting
from ...types import Indices, Matrix, Vector
from .dependence import STATISTICS
from .distil import MOST_PROPOSED, PROPOSALS, Basis, BestOf, Distiller
from .evidence import Fit, TestEvidence
from .guard import still_depends
from .layout import Layout, lay_out
from .multiplicity import RULES
from .residuals import Neighbours, compare, find_neighbours, residual
from .statistics import combine_groups, p_values, second_opinion

COLUMNS_AT_ONCE = 256  # whose neighbours are looked for together
FEATURES_AT_ONCE = 4  # without which the target is fitted in one task
LOOKED_AT_AGAIN = 0.1  # p-value from which on a feature cannot be selected at any sensible level
ASKED_TWICE = 0.05  # p-value up to which the guard looks


@dataclass(frozen=True)
class ConditionalTests:
    """Test of every feature given all others (a distilled conditional randomisation test).

    Parameters
    ----------
    multiplicity
        How p-values become a selection: ``"bh"`` (Benjamini-Hochberg; that the level holds is
        empirical, see docs/figures.md), ``"by"`` (Benjamini-Yekutieli; proven whatever the
        dependence of p-values) or ``"holm"`` (no false feature at all, with probability 1 - fdr).
    proposals
        What proposes features for the kernel ridge regression of y: one or more of ``"lasso"``,
        ``"mcp"`` and ``"mrmr"`` (the paper's problem), joined by ``+``.
    statistic
        Which statistic of dependence is compared with its null, beside correlations: ``"pc"``,
        ``"hsic"`` or ``"dcor"``. The last two are cautious below 100 rows.
    guard
        Ask for a second opinion where what is left of a feature still depends on another one.

    Examples
    --------
    >>> from smrmr import ConditionalTests, select, simulate, Recipe
    >>> data = simulate("1.d", n=100, p=100, random_state=0)
    >>> found = select(data.X, data.y, Recipe(fdr=0.1, control=ConditionalTests()))
    >>> len(set(found.selected.tolist()) & set(data.support.tolist()))
    10
    """

    multiplicity: str = "bh"
    proposals: str = "lasso+mcp"
    statistic: str = "pc"
    guard: bool = True
    alias: ClassVar[str] = "tests"
    by_rank: ClassVar[bool] = True
    repeatable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choice("multiplicity", self.multiplicity, RULES)
        for name in self.proposals.split("+"):
            check_choice("proposals", name, tuple(PROPOSALS))
        check_choice("statistic", self.statistic, STATISTICS)
        check_choice("guard", self.guard, (True, False))

    @property
    def measure(self) -> Any:
        """The association shown beside the tests."""
        return as_measure("pc")

    def prepare(self, study: Study) -> Study:
        """Take any study: numbers, and categories of any number of levels."""
        return study

    def weigh(
        self, study: Study, copies: Copies, fdr: float, rng: Generator, work: Work
    ) -> TestEvidence:
        """p-values of all features. No chance is involved: `rng` is not used."""
        with one_blas_thread():
            with work.stage("scores", steps=True):
                layout = lay_out(study, copies, self.statistic, work)
            with work.stage("fits"):
                distillers = _distillers(layout, self.proposals.split("+"), work)
            with work.stage("tests", steps=True):
                tests = _first_pass(layout, distillers, work)
            with work.stage("fits without a feature", steps=True):
                guarded = _second_pass(layout, distillers, tests, self.guard, work)
        settings = {name: write_setting(value) for name, value in nested_settings(self).items()}
        return _evidence(layout, distillers, tests, guarded, copies, self.multiplicity, settings)


@dataclass(eq=False)
class _Tests:
    """What is known of every row of Z: p-values and effects by part, neighbours, what is left."""

    p: Matrix
    effects: Matrix
    straight: Indices
    bent: Indices
    left: Vector
    similarity: Vector


def _distillers(layout: Layout, proposals: list[str], work: Work) -> list[BestOf]:
    """One per part of the target; they share what they can."""
    owners = layout.owners[: len(layout.views[0].columns)]
    relevance = layout.relevance[: len(owners)]
    n_asked = MOST_PROPOSED + int(np.bincount(owners).max()) if "mrmr" in proposals else 0
    order = np.argsort(-relevance, kind="stable")[:n_asked]
    redundancy = np.empty((0, 0))
    if n_asked:
        asked = Associator(Columns.bare(layout.Z[order].T), as_measure("pc"), work.quietly())
        redundancy = asked.with_each_other()
    bases = [Basis(view.columns, owners) for view in layout.views]
    return [
        BestOf(
            tuple(
                Distiller(
                    basis=basis,
                    part=view.parts[q],
                    proposals=tuple(proposals),
                    relevance=relevance,
                    candidates=order,
                    redundancy=redundancy,
                    target=layout.target,
                )
                for basis, view in zip(bases, layout.views, strict=True)
            )
        )
        for q in range(len(layout.parts))
    ]


def _first_pass(layout: Layout, distillers: list[BestOf], work: Work) -> _Tests:
    """Every column against the target as fitted to all features."""
    E = np.stack([distiller.whole.residual for distiller in distillers])
    bent = np.array([distiller.whole.bent for distiller in distillers])
    starts = range(0, len(layout.Z), COLUMNS_AT_ONCE)
    tasks = [
        delayed(_examine)(layout, slice(start, start + COLUMNS_AT_ONCE), E, bent)
        for start in starts
    ]
    blocks = []
    with open_pool(work.n_jobs) as pool:
        for done, found in enumerate(run_blocks(pool, tasks), 1):
            blocks.append(found)
            work.report("tests", done, len(tasks))
    return _Tests(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


def _examine(layout: Layout, columns: slice, E: Matrix, bent: NDArray[Any]) -> list[NDArray[Any]]:
    near = find_neighbours(layout.light, layout.light_bows, layout.owners, columns)
    which = np.arange(len(layout.Z))[columns]
    found = compare(layout.Z, which, near, E, layout.tiny, layout.statistic)
    strongest = near.straight[:, 0]
    similarity = np.sum(layout.Z[which] * layout.Z[strongest], axis=1) / layout.n_rows
    return [
        p_values(found, layout.n_rows, bent, layout.tied[columns]),
        found.correlation,
        near.straight,
        near.bent,
        found.left,
        np.where(strongest < 0, 0.0, similarity),
    ]


def _second_pass(
    layout: Layout, distillers: list[BestOf], tests: _Tests, guard: bool, work: Work
) -> Indices:
    """Test again, without it, every feature that took part in a fit or could be selected.

    Fills in p-values and effects; returns the features whose p-value the guard raised.
    """
    todo = []
    for q, distiller in enumerate(distillers):
        promising = layout.owners[tests.p[:, q] <= LOOKED_AT_AGAIN]
        features = np.union1d(promising, distiller.whole.used)
        todo += [
            (q, features[i : i + FEATURES_AT_ONCE])
            for i in range(0, len(features), FEATURES_AT_ONCE)
        ]
    tasks = [
        delayed(_examine_again)(layout, distillers[q], features, tests, guard)
        for q, features in todo
    ]
    guarded: list[Indices] = []
    with open_pool(work.n_jobs) as pool:
        for done, ((q, _), found) in enumerate(zip(todo, run_blocks(pool, tasks), strict=True), 1):
            columns, p, effects, raised = found
            tests.p[columns, q], tests.effects[columns, q] = p, effects
            guarded.append(layout.owners[columns[raised]])
            work.report("fits without a feature", done, len(tasks))
    return np.unique(np.concatenate([np.empty(0, np.intp), *guarded]))


def _examine_again(
    layout: Layout, distiller: BestOf, features: Indices, tests: _Tests, guard: bool
) -> list[NDArray[Any]]:
    """p-values and effects of the columns of features, each against a fit that never saw it."""
    columns: list[int] = []
    p: list[float] = []
    effects: list[float] = []
    raised: list[int] = []
    for feature in features:
        own = layout.columns_of(feature)
        fit = distiller.without(int(feature))
        near = Neighbours(tests.straight[own], tests.bent[own])
        E = fit.residual[None]
        found = compare(layout.Z, own, near, E, layout.tiny, layout.statistic)
        mine = p_values(found, layout.n_rows, fit.bent, layout.tied[own])[:, 0]
        second = second_opinion(found, layout.n_rows, fit.bent)[:, 0]
        for i in np.flatnonzero((mine <= ASKED_TWICE) & (second > mine)) if guard else ():
            r = residual(layout.Z, int(own[i]), near.straight[i], near.bent[i])
            if still_depends(layout, int(own[i]), r):
                raised.append(len(p) + int(i))
                mine[i] = second[i]
        columns.extend(own)
        p.extend(mine)
        effects.extend(found.correlation[:, 0])
    return [np.array(columns), np.array(p), np.array(effects), np.array(raised, dtype=np.intp)]


def _evidence(
    layout: Layout,
    distillers: list[BestOf],
    tests: _Tests,
    guarded: Indices,
    copies: Copies,
    multiplicity: str,
    settings: dict[str, Any],
) -> TestEvidence:
    """Results by feature, and by position in X."""
    n, features = len(copies.leaders), layout.features
    first = np.searchsorted(layout.owners, np.arange(len(features)))
    smallest = tests.p.min(axis=1)
    best = np.lexsort((smallest, layout.owners))[first]
    p = combine_groups(tests.p, first)

    def spread(values: Any, otherwise: Any) -> Any:
        values = np.asarray(values)
        out = np.full((*values.shape[:-1], n), otherwise, dtype=values.dtype)
        out[..., features] = values
        return np.where(copies.constant, otherwise, out[..., copies.leaders])

    nearest = tests.straight[best, 0]
    neighbour = np.where(nearest < 0, -1, features[layout.owners[nearest]])
    return TestEvidence(
        relevance=spread(np.maximum.reduceat(layout.relevance, first), 0.0),
        p_values=spread(p, 1.0),
        marginal=spread(layout.marginal, 1.0),
        effects=spread(tests.effects[best].T, 0.0),
        left=spread(tests.left[best], 0.0),
        neighbour=spread(neighbour, -1),
        similarity=spread(tests.similarity[best], 0.0),
        hypotheses=copies.modelled,
        tested=np.sort(features),
        guarded=np.sort(features[guarded]),
        fits=tuple(
            Fit(
                part=distiller.part.name,
                explained=distiller.whole.explained,
                bent=distiller.whole.bent,
                used=np.sort(features[distiller.whole.used]),
            )
            for distiller in distillers
        ),
        multiplicity=multiplicity,
        settings=settings,
    )
