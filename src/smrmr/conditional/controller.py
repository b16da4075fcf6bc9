"""Defines ConditionalTests: every feature is tested given all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from ..data.study import Study
from ..features.groups import Groups
from ..measures import as_measure
from ..runs.blocks import one_blas_thread
from ..runs.work import Work
from ..settings import check_choice, nested_settings, write_setting
from ..types import Indices
from .evidence import ConditionalEvidence, Fit
from .inputs import Inputs, prepare_inputs
from .multiplicity import RULES
from .p_values import combine, combine_groups, over_parts
from .rank_statistics import STATISTICS
from .regressors import Regressors
from .target_fits import PROPOSALS, BestFitter, TargetFitter
from .two_passes import Results, first_pass, second_pass


@dataclass(frozen=True)
class ConditionalTests:
    r"""Test of every feature given all others, ``"tests"`` for short.

    The hypothesis is :math:`H_k: Y \perp X_k \mid X_{-k}`. What the other features leave of
    :math:`X_k` is compared with what they leave of :math:`Y`, by projection covariance and by
    correlations, whose nulls are known: a distilled conditional randomisation test (Liu,
    Katsevich, Janson and Ramdas 2022) without resampling. Not in the paper; docs/theory.md says
    what is done, step by step.

    Parameters
    ----------
    multiplicity
        How p-values become a selection: ``"bh"`` (Benjamini-Hochberg; that the level holds is
        empirical, see docs/power.md), ``"by"`` (Benjamini-Yekutieli; proven whatever the
        dependence of p-values) or ``"holm"`` (no false feature at all, with probability 1 - fdr).
        With the last two single features are asked about, and groups of look-alikes only if
        ``alike`` gives a cut.
    proposals
        What proposes features for the kernel ridge regression of y: ``"lasso"``, ``"mcp"`` or both,
        joined by ``+``.
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
        text = isinstance(self.proposals, str)
        for name in self.proposals.split("+") if text else [self.proposals]:
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
    ) -> ConditionalEvidence:
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
        ConditionalEvidence
            p-values and effects, before any level is set.
        """
        with one_blas_thread():
            with work.stage("scores", steps=True):
                inputs = prepare_inputs(study, groups, self.statistic, work)
            with work.stage("fits"):
                fitters = _fitters(inputs, self.proposals.split("+"))
            with work.stage("tests", steps=True):
                results = first_pass(inputs, fitters, work)
            with work.stage("fits without a feature", steps=True):
                guarded = second_pass(inputs, fitters, results, self.guard, work)
        settings = {name: write_setting(value) for name, value in nested_settings(self).items()}
        categories = np.flatnonzero(study.columns.nominal)
        return _evidence(
            inputs, fitters, results, guarded, groups, categories, self.multiplicity, settings
        )


def _fitters(inputs: Inputs, proposals: list[str]) -> list[BestFitter]:
    """One fitter per part of the target; they share what they can."""
    regressors = [Regressors(data.columns, inputs.covariate_basis) for data in inputs.fit_data]
    return [
        BestFitter(
            tuple(
                TargetFitter(regressors=own, part=data.parts[q], proposals=tuple(proposals))
                for own, data in zip(regressors, inputs.fit_data, strict=True)
            )
        )
        for q in range(len(inputs.parts))
    ]


def _evidence(
    inputs: Inputs,
    fitters: list[BestFitter],
    results: Results,
    guarded: Indices,
    groups: Groups,
    categories: Indices,
    multiplicity: str,
    settings: dict[str, Any],
) -> ConditionalEvidence:
    """Results by feature, and by position in X."""
    features, copies = inputs.features, groups.copies
    first = np.searchsorted(inputs.feature_of, np.arange(len(features)))

    def spread(values: Any, otherwise: Any) -> Any:
        values = np.asarray(values)
        out = np.full((*values.shape[:-1], len(copies.leaders)), otherwise, dtype=values.dtype)
        out[..., features] = values
        return np.where(copies.constant, otherwise, out[..., copies.leaders])

    n_hypotheses = max(int(numbers.max()) for numbers in groups.hypotheses) + 1
    p = np.ones(n_hypotheses)
    p[: len(results.whole)] = over_parts(results.whole)
    best, members, rests, effects = [], [], [], []
    for hypothesis_of in inputs.hypotheses:
        entry = np.empty(len(inputs.Z), np.intp)
        mine = results.hypothesis_of == hypothesis_of[results.rows]
        entry[results.rows[mine]] = np.flatnonzero(mine)
        smallest = results.p[entry].min(axis=1)  # of a feature's rows the most telling one
        best.append(entry[np.lexsort((smallest, inputs.feature_of))[first]])
        members.append(spread(over_parts(combine_groups(results.p[entry], inputs.feature_of)), 1.0))
        rests.append(spread(combine(results.rests[best[-1]].T), 1.0))
        effect = results.effects[best[-1]].T
        effect = np.where(np.isin(features, categories), np.abs(effect), effect)
        effects.append(spread(effect, 0.0))
    nearest = results.straight[best[0], 0]
    neighbour = np.where(nearest < 0, -1, features[inputs.feature_of[nearest]])
    return ConditionalEvidence(
        relevance=spread(np.maximum.reduceat(inputs.relevance, first), 0.0),
        marginal=spread(inputs.marginal, 1.0),
        hypotheses=groups.hypotheses,
        p_of_hypotheses=p,
        p_of_members=tuple(members),
        p_of_rest_of_group=tuple(rests),
        effects=tuple(effects),
        residual_variance=spread(results.left[best[0]], 0.0),
        neighbour=spread(neighbour, -1),
        similarity=spread(results.similarity[best[0]], 0.0),
        tested=np.sort(features),
        raised=np.unique(features[inputs.feature_of[results.rows[guarded]]]),
        categories=categories,
        fits=tuple(
            Fit(
                target=fitter.part.name,
                explained=fitter.whole.explained,
                uses_absolute_values=fitter.whole.bent,
                used=np.unique(features[inputs.feature_of[fitter.whole.used]]),
            )
            for fitter in fitters
        ),
        multiplicity=multiplicity,
        settings=settings,
    )
