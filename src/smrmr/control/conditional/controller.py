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
from ...groups.groups import Groups
from ...measures import as_measure
from ...runs.blocks import one_blas_thread, open_pool, run_blocks
from ...runs.work import Work
from ...settings import check_choice, nested_settings, write_setting
from ...types import Indices, Matrix, Vector
from .dependence import STATISTICS
from .distil import MOST_PROPOSED, PROPOSALS, Basis, BestOf, Distilled, Distiller
from .evidence import Fit, TestEvidence
from .guard import still_depends
from .layout import Layout, lay_out, most_of_one
from .multiplicity import RULES
from .residuals import Neighbours, compare, find_neighbours, residual
from .statistics import combine, combine_groups, p_values, second_opinion

COLUMNS_AT_ONCE = 256  # whose neighbours are looked for together
HYPOTHESES_AT_ONCE = 4  # without whose columns the target is fitted in one task
LOOKED_AT_AGAIN = 0.1  # p-value from which on a feature cannot be selected at any sensible level
ASKED_TWICE = 0.05  # p-value up to which the guard looks
MOST_RESOLVED = 100  # columns of a group of which each is asked whether it carries the group


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
        self, study: Study, groups: Groups, fdr: float, rng: Generator, work: Work
    ) -> TestEvidence:
        """p-values of all features or groups. No chance is involved: `rng` is not used."""
        with one_blas_thread():
            with work.stage("scores", steps=True):
                layout = lay_out(study, groups, self.statistic, work)
            with work.stage("fits"):
                distillers = _distillers(layout, self.proposals.split("+"), work)
            with work.stage("tests", steps=True):
                tests = _first_pass(layout, distillers, work)
            with work.stage("fits without a feature", steps=True):
                guarded = _second_pass(layout, distillers, tests, self.guard, work)
        settings = {name: write_setting(value) for name, value in nested_settings(self).items()}
        return _evidence(layout, distillers, tests, guarded, groups, self.multiplicity, settings)


@dataclass(eq=False)
class _Tests:
    """What is known of every row of Z as a part of a hypothesis, `owners`.

    That is p-values and effects by part, neighbours, what is left, and p-values of the rest of the
    hypothesis once the row is known. Where there are several partitions, a row has an entry for
    every hypothesis that it belongs to.
    """

    rows: Indices
    owners: Indices
    p: Matrix
    effects: Matrix
    straight: Indices
    bent: Indices
    left: Vector
    similarity: Vector
    rests: Matrix


def _distillers(layout: Layout, proposals: list[str], work: Work) -> list[BestOf]:
    """One per part of the target; they share what they can."""
    n_columns = len(layout.views[0].columns)
    relevance = layout.relevance[:n_columns]
    n_asked = MOST_PROPOSED + most_of_one(layout.owners[-1]) if "mrmr" in proposals else 0
    order = np.argsort(-relevance, kind="stable")[:n_asked]
    redundancy = np.empty((0, 0))
    if n_asked:
        asked = Associator(Columns.bare(layout.Z[order].T), as_measure("pc"), work.quietly())
        redundancy = asked.with_each_other()
    bases = [Basis(view.columns) for view in layout.views]
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
    tasks = []
    for owners, rows in zip(layout.owners, layout.new_rows, strict=True):
        tasks += [
            delayed(_examine)(layout, owners, rows[i : i + COLUMNS_AT_ONCE], E, bent)
            for i in range(0, len(rows), COLUMNS_AT_ONCE)
        ]
    blocks = []
    with open_pool(work.n_jobs) as pool:
        for done, found in enumerate(run_blocks(pool, tasks), 1):
            blocks.append(found)
            work.report("tests", done, len(tasks))
    return _Tests(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


def _examine(
    layout: Layout, owners: Indices, rows: Indices, E: Matrix, bent: NDArray[Any]
) -> list[NDArray[Any]]:
    near = find_neighbours(layout.light, layout.light_bows, owners, rows)
    found = compare(layout.Z, rows, near, E, layout.tiny, layout.statistic)
    strongest = near.straight[:, 0]
    similarity = np.sum(layout.Z[rows] * layout.Z[strongest], axis=1) / layout.n_rows
    return [
        rows,
        owners[rows],
        p_values(found, layout.n_rows, bent, layout.tied[rows]),
        found.correlation,
        near.straight,
        near.bent,
        found.left,
        np.where(strongest < 0, 0.0, similarity),
        np.ones((len(rows), len(E))),
    ]


def _second_pass(
    layout: Layout, distillers: list[BestOf], tests: _Tests, guard: bool, work: Work
) -> Indices:
    """Test again, without it, every hypothesis that took part in a fit or could be rejected.

    Fills in p-values and effects; returns the entries whose p-value the guard raised.
    """
    order = np.argsort(tests.owners, kind="stable")
    numbers, starts = np.unique(tests.owners[order], return_index=True)
    entries = dict(zip(numbers.tolist(), np.split(order, starts[1:]), strict=True))
    todo = []
    for q, distiller in enumerate(distillers):
        promising = tests.owners[tests.p[:, q] <= LOOKED_AT_AGAIN]
        used = [owners[distiller.whole.used] for owners in layout.owners]
        again = np.unique(np.concatenate([promising, *used])).tolist()
        todo += [
            (q, [entries[number] for number in again[i : i + HYPOTHESES_AT_ONCE]])
            for i in range(0, len(again), HYPOTHESES_AT_ONCE)
        ]
    tasks = [delayed(_examine_again)(layout, distillers[q], some, tests, guard) for q, some in todo]
    guarded: list[Indices] = []
    with open_pool(work.n_jobs) as pool:
        for done, ((q, some), found) in enumerate(
            zip(todo, run_blocks(pool, tasks), strict=True), 1
        ):
            which = np.concatenate(some)
            p, effects, rests, raised = found
            tests.p[which, q], tests.effects[which, q], tests.rests[which, q] = p, effects, rests
            guarded.append(which[raised])
            work.report("fits without a feature", done, len(tasks))
    return np.concatenate([np.empty(0, np.intp), *guarded])


def _examine_again(
    layout: Layout, distiller: BestOf, hypotheses: list[Indices], tests: _Tests, guard: bool
) -> list[NDArray[Any]]:
    """p-values and effects of the entries of hypotheses, each against a fit that never saw it.

    Also p-values of the rest of a hypothesis given each entry, and which ones the guard raised.
    """
    p: list[float] = []
    effects: list[float] = []
    rests: list[float] = []
    raised: list[int] = []
    for entries in hypotheses:
        own = tests.rows[entries]
        fit = distiller.without(own)
        near = Neighbours(tests.straight[entries], tests.bent[entries])
        E = fit.residual[None]
        found = compare(layout.Z, own, near, E, layout.tiny, layout.statistic)
        mine = p_values(found, layout.n_rows, fit.bent, layout.tied[own])[:, 0]
        second = second_opinion(found, layout.n_rows, fit.bent)[:, 0]
        for i in np.flatnonzero((mine <= ASKED_TWICE) & (second > mine)) if guard else ():
            r = residual(layout.Z, int(own[i]), near.straight[i], near.bent[i])
            if still_depends(layout, int(own[i]), own, r):
                raised.append(len(p) + int(i))
                mine[i] = second[i]
        p.extend(mine)
        effects.extend(found.correlation[:, 0])
        resolved = 1 < len(own) <= MOST_RESOLVED and combine(mine) <= LOOKED_AT_AGAIN
        rests.extend(_rests(layout, own, near, fit) if resolved else np.ones(len(own)))
    return [np.array(p), np.array(effects), np.array(rests), np.array(raised, dtype=np.intp)]


def _rests(layout: Layout, own: Indices, near: Neighbours, fit: Distilled) -> Vector:
    """p-value of all other rows of a hypothesis once each row is known.

    A row that is known is a neighbour of all others, first among the straight and the bent ones.
    """
    found = np.empty(len(own))
    for i, row in enumerate(own):
        others = np.arange(len(own)) != i
        known = np.full((len(own) - 1, 1), row)
        given = Neighbours(
            np.hstack([known, near.straight[others]])[:, : near.straight.shape[1]],
            np.hstack([known, near.bent[others]])[:, : near.bent.shape[1]],
        )
        rest = compare(
            layout.Z, own[others], given, fit.residual[None], layout.tiny, layout.statistic
        )
        found[i] = combine(p_values(rest, layout.n_rows, fit.bent, layout.tied[own[others]]))[0]
    return found


def _evidence(
    layout: Layout,
    distillers: list[BestOf],
    tests: _Tests,
    guarded: Indices,
    groups: Groups,
    multiplicity: str,
    settings: dict[str, Any],
) -> TestEvidence:
    """Results by feature, and by position in X."""
    features, copies = layout.features, groups.copies
    first = np.searchsorted(layout.whose, np.arange(len(features)))

    def spread(values: Any, otherwise: Any) -> Any:
        values = np.asarray(values)
        out = np.full((*values.shape[:-1], len(copies.leaders)), otherwise, dtype=values.dtype)
        out[..., features] = values
        return np.where(copies.constant, otherwise, out[..., copies.leaders])

    n_hypotheses = max(int(numbers.max()) for numbers in groups.hypotheses) + 1
    p, whole = np.ones(n_hypotheses), combine_groups(tests.p, tests.owners)
    p[: len(whole)] = whole
    best, members, rests, effects = [], [], [], []
    for owners in layout.owners:
        entry = np.empty(len(layout.Z), np.intp)
        mine = tests.owners == owners[tests.rows]
        entry[tests.rows[mine]] = np.flatnonzero(mine)
        smallest = tests.p[entry].min(axis=1)  # of a feature's rows the most telling one
        best.append(entry[np.lexsort((smallest, layout.whose))[first]])
        members.append(spread(combine_groups(tests.p[entry], layout.whose), 1.0))
        rests.append(spread(combine(tests.rests[best[-1]].T), 1.0))
        effects.append(spread(tests.effects[best[-1]].T, 0.0))
    nearest = tests.straight[best[0], 0]
    neighbour = np.where(nearest < 0, -1, features[layout.whose[nearest]])
    return TestEvidence(
        relevance=spread(np.maximum.reduceat(layout.relevance, first), 0.0),
        marginal=spread(layout.marginal, 1.0),
        hypotheses=groups.hypotheses,
        p_of_hypotheses=p,
        members=tuple(members),
        rests=tuple(rests),
        effects=tuple(effects),
        left=spread(tests.left[best[0]], 0.0),
        neighbour=spread(neighbour, -1),
        similarity=spread(tests.similarity[best[0]], 0.0),
        tested=np.sort(features),
        guarded=np.unique(features[layout.whose[tests.rows[guarded]]]),
        fits=tuple(
            Fit(
                part=distiller.part.name,
                explained=distiller.whole.explained,
                bent=distiller.whole.bent,
                used=np.unique(features[layout.whose[distiller.whole.used]]),
            )
            for distiller in distillers
        ),
        multiplicity=multiplicity,
        settings=settings,
    )
