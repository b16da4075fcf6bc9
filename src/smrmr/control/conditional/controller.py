"""Defines ConditionalTests: every feature is tested given all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from ...association.associator import Associator
from ...data.columns import Columns
from ...data.study import Study
from ...groups.groups import Groups
from ...measures import as_measure
from ...runs.blocks import one_blas_thread
from ...runs.work import Work
from ...settings import check_choice, nested_settings, write_setting
from ...types import Indices
from .basis import Basis
from .dependence import STATISTICS
from .distil import MOST_PROPOSED, PROPOSALS, BestOf, Distiller
from .evidence import Fit, TestEvidence
from .layout import Layout, lay_out, most_of_one
from .multiplicity import RULES
from .passes import Tests, first_pass, second_pass
from .statistics import combine, combine_groups, over_parts


@dataclass(frozen=True)
class ConditionalTests:
    r"""Test of every feature given all others, ``"tests"`` for short.

    The hypothesis is :math:`H_k: Y \perp X_k \mid X_{-k}`. What the other features leave of X_k is
    compared with what they leave of Y, by PC^2 and by correlations, whose nulls are known: a
    distilled conditional randomisation test (Liu, Katsevich, Janson and Ramdas 2022) without
    resampling. Not in the paper; docs/theory.md says what is done, step by step.

    Parameters
    ----------
    multiplicity
        How p-values become a selection: ``"bh"`` (Benjamini-Hochberg; that the level holds is
        empirical, see docs/power.md), ``"by"`` (Benjamini-Yekutieli; proven whatever the
        dependence of p-values) or ``"holm"`` (no false feature at all, with probability 1 - fdr).
        With the last two single features are asked about, and groups of look-alikes only if
        ``alike`` gives a cut.
    proposals
        What proposes features for the kernel ridge regression of y: one or more of ``"lasso"``,
        ``"mcp"`` and ``"mrmr"`` (the paper's problem), joined by ``+``.
    statistic
        Which statistic of dependence is compared with its null, beside correlations: ``"pc"``,
        ``"hsic"`` or ``"dcor"``. The last two are cautious below 100 rows.
    guard
        Ask for a second opinion where what is left of a feature still depends on another one.

    Raises
    ------
    ValueError
        If a setting is none of its choices, which the message lists.

    Examples
    --------
    Holm's rule, for when a single false feature would be one too many. The true ones are 0 and 5:

    >>> from smrmr import ConditionalTests, Recipe, select, simulate
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> strict = ConditionalTests(multiplicity="holm")
    >>> found = select(data.X, data.y, Recipe(fdr=0.05, control=strict))
    >>> sorted(found.selected.tolist()), found.decision.rule
    ([0, 5], 'holm')
    """

    multiplicity: str = "bh"
    proposals: str = "lasso+mcp"
    statistic: str = "pc"
    guard: bool = True
    alias: ClassVar[str] = "tests"
    by_rank: ClassVar[bool] = True
    repeatable: ClassVar[bool] = True
    by_chance: ClassVar[bool] = False
    nested_groups: ClassVar[bool] = True

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

    @property
    def cuts(self) -> tuple[float, ...]:
        """Cuts on look-alikes unless the user gives others; several are for ``"bh"`` alone."""
        return (1.0, 0.9, 0.7, 0.5) if self.multiplicity == "bh" else (1.0,)

    def prepare(self, study: Study) -> Study:
        """Take any study: numbers, and categories of any number of levels.

        Parameters
        ----------
        study
            Checked data.

        Returns
        -------
        Study
            The same.
        """
        return study

    def weigh(
        self, study: Study, groups: Groups, fdr: float, rng: Generator, work: Work
    ) -> TestEvidence:
        """p-values of all features or groups.

        Parameters
        ----------
        study
            Checked data.
        groups
            Which features are copies, and which are asked about together.
        fdr
            The level asked for; evidence does not depend on it.
        rng
            Not used: no chance is involved.
        work
            Threads, memory and progress.

        Returns
        -------
        TestEvidence
            p-values and effects, before any level is set.
        """
        with one_blas_thread():
            with work.stage("scores", steps=True):
                layout = lay_out(study, groups, self.statistic, work)
            with work.stage("fits"):
                distillers = _distillers(layout, self.proposals.split("+"), work)
            with work.stage("tests", steps=True):
                tests = first_pass(layout, distillers, work)
            with work.stage("fits without a feature", steps=True):
                guarded = second_pass(layout, distillers, tests, self.guard, work)
        settings = {name: write_setting(value) for name, value in nested_settings(self).items()}
        categories = np.flatnonzero(study.columns.nominal)
        return _evidence(
            layout, distillers, tests, guarded, groups, categories, self.multiplicity, settings
        )


def _distillers(layout: Layout, proposals: list[str], work: Work) -> list[BestOf]:
    """One per part of the target; they share what they can."""
    n_columns = len(layout.views[0].columns) // 2
    relevance = layout.relevance[:n_columns]
    n_asked = MOST_PROPOSED + most_of_one(layout.owners[-1]) if "mrmr" in proposals else 0
    order = np.argsort(-relevance, kind="stable")[:n_asked]
    redundancy = np.empty((0, 0))
    if n_asked:
        asked = Associator(Columns.bare(layout.Z[order].T), as_measure("pc"), work.quietly())
        redundancy = asked.with_each_other()
    bases = [Basis(view.columns, layout.given) for view in layout.views]
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


def _evidence(
    layout: Layout,
    distillers: list[BestOf],
    tests: Tests,
    guarded: Indices,
    groups: Groups,
    categories: Indices,
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
    p = np.ones(n_hypotheses)
    p[: len(tests.whole)] = over_parts(tests.whole)
    best, members, rests, effects = [], [], [], []
    for owners in layout.owners:
        entry = np.empty(len(layout.Z), np.intp)
        mine = tests.owners == owners[tests.rows]
        entry[tests.rows[mine]] = np.flatnonzero(mine)
        smallest = tests.p[entry].min(axis=1)  # of a feature's rows the most telling one
        best.append(entry[np.lexsort((smallest, layout.whose))[first]])
        members.append(spread(over_parts(combine_groups(tests.p[entry], layout.whose)), 1.0))
        rests.append(spread(combine(tests.rests[best[-1]].T), 1.0))
        effect = tests.effects[best[-1]].T
        effect = np.where(np.isin(features, categories), np.abs(effect), effect)
        effects.append(spread(effect, 0.0))
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
        categories=categories,
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
