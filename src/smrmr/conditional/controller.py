"""Defines ConditionalTests: every feature is tested given all others."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.random import Generator

from ..data.study import Study
from ..features.groups import Groups
from ..features.marginal import MarginalTests
from ..features.rank_table import RankTable
from ..measures import as_measure
from ..measures.protocol import Measure
from ..problems import Problem, setting, warn
from ..runs.blocks import one_blas_thread
from ..runs.stored_rows import room_for
from ..runs.work import Work
from ..settings import check_choice, nested_settings, write_setting
from ..types import Indices, Vector
from .combine import combine_groups
from .distillers import DISTILLERS, Distillation, Distiller, as_distillers
from .evidence import ConditionalEvidence, Fit
from .feature_pairs import FeaturePairs, pair_up
from .first_pass import first_pass
from .inputs import Inputs
from .marginal import unadjusted_relevance
from .preparing import bytes_of_scores, prepare_inputs
from .results import Results
from .rules import Rule, as_rule
from .second_pass import refits, second_pass
from .statistics import DEFAULT_STATISTICS, STATISTICS, Statistic, as_statistics, needs_partners

logger = logging.getLogger(__name__)

SECONDS_WARNED_OF = 60.0  # that fits without a feature are expected to take


@dataclass(frozen=True)
class ConditionalTests:
    r"""Test of every feature given all others, ``"tests"`` for short.

    The hypothesis is :math:`H_k: Y \perp X_k \mid X_{-k}`. The residual of :math:`X_k` given the
    other features is compared with the residual of :math:`Y` given the other features by several
    statistics whose nulls are known: a distilled conditional randomisation test (Liu, Katsevich,
    Janson and Ramdas 2022) without resampling. Not in the paper; docs/formulas.md says what is
    done, step by step.

    Parameters
    ----------
    distillers
        Fits of the target to the other features: ``"logistic"`` (LASSO in logistic regression, for
        two classes alone), ``"blend"`` (LASSO and kernel ridge regression), ``"ridge"`` (on all
        features), ``"lasso"``, ``"kernel"``, a `FromEstimator` with any
        regressor or classifier of scikit-learn, or an object with ``fit(problem, out)`` and
        ``held_out(problem)``. Of several, joined by ``+`` or in a list, the first is taken unless
        another one predicts rows left out clearly better.
    statistics
        How residuals are compared: any of ``"pc"``, ``"hsic"``, ``"dcor"``, ``"linear"``,
        ``"spread"`` and ``"absolute"``, for several classes or outputs together ``"joint"`` and
        ``"joint_absolute"``, and for features that act together with others ``"interaction"``,
        joined by ``+``, or a list that may hold a `Permutation` or objects with
        ``p_values(pairs)``. ``"hsic"`` and ``"dcor"`` are cautious below 100 rows.
    rule
        How p-values become a selection: ``"bh"`` (Benjamini-Hochberg; that the level holds is
        empirical, see docs/power.md), ``"by"`` (Benjamini-Yekutieli; proven whatever the
        dependence of p-values), ``"holm"`` (no false feature at all, with probability 1 - fdr), or
        an object with ``adjust(p, parents)``. With rules other than ``"bh"`` single features are
        tested, and groups of look-alikes only if ``alike`` gives a cut.
    check_residuals
        Where the residual of a feature still depends on another one, the generalised covariance
        measure, which does not need that independence, must agree.

    Raises
    ------
    ValueError
        If a setting is none of its choices, which the message lists.

    Examples
    --------
    Holm's rule, for when a single false feature would be one too many. The true ones are 0 and 5:

    >>> from smrmr import ConditionalTests, Recipe, select, simulate
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> strict = ConditionalTests(rule="holm")
    >>> found = select(data.X, data.y, Recipe(fdr=0.05, control=strict))
    >>> sorted(found.selected.tolist()), found.decision.rule
    ([0, 5], 'holm')
    """

    distillers: tuple[Distiller, ...] = "logistic+blend+ridge"  # type: ignore[assignment]
    statistics: tuple[Statistic, ...] = DEFAULT_STATISTICS  # type: ignore[assignment]
    rule: Rule = "bh"  # type: ignore[assignment]
    check_residuals: bool = True
    alias: ClassVar[str] = "tests"
    by_rank: ClassVar[bool] = True
    by_chance: ClassVar[bool] = False
    nested_groups: ClassVar[bool] = True
    tests_some: ClassVar[bool] = True

    if TYPE_CHECKING:

        def __init__(
            self,
            distillers: str | Distiller | Sequence[str | Distiller] = "logistic+blend+ridge",
            statistics: str | Statistic | Sequence[str | Statistic] = DEFAULT_STATISTICS,
            rule: str | Rule = "bh",
            check_residuals: bool = True,
        ) -> None:
            """What a user may give: strategies, or their names."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "distillers", as_distillers(self.distillers))
        object.__setattr__(self, "statistics", as_statistics(self.statistics))
        object.__setattr__(self, "rule", as_rule(self.rule))
        if all(one.all_columns and not needs_partners(one) for one in self.statistics):
            raise Problem(
                f"{setting('statistics', self.statistics)} compares all columns of the target at "
                "once, and a target may have one.",
                cure=f"Add another, as in {setting('statistics', 'linear+joint')}.",
                argument="statistics",
            )
        check_choice("check_residuals", self.check_residuals, (True, False))

    @property
    def repeatable(self) -> bool:
        """Whether the settings say all there is to say: not so for objects of the user's."""
        known = {*DISTILLERS, *STATISTICS} - {"estimator", "permutation"}
        used = {one.alias for one in self.distillers} | {one.alias for one in self.statistics}
        return used <= known

    @property
    def measure(self) -> Measure:
        """The association shown beside the tests."""
        return as_measure("pc")

    @property
    def cuts(self) -> tuple[float, ...]:
        """Cuts on look-alikes unless the user gives others; several are for ``"bh"`` alone."""
        return (1.0, 0.9, 0.7, 0.5) if self.rule.alias == "bh" else (1.0,)

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

    def relevance(self, study: Study, ranks: RankTable, work: Work) -> Vector:
        """Squared projection correlation of every feature with the target, adjusted for nothing.

        Parameters
        ----------
        study, ranks
            Checked data, and the ranks of its columns.
        work
            Threads, memory and progress.

        Returns
        -------
        ndarray
            One association for each feature; of several classes or outputs the largest.
        """
        return unadjusted_relevance(study, ranks, np.arange(study.columns.n_columns), work)

    def weigh(
        self,
        study: Study,
        ranks: RankTable,
        groups: Groups,
        alone: MarginalTests,
        fdr: float,
        rng: Generator,
        work: Work,
    ) -> ConditionalEvidence:
        """p-values of all features or groups.

        Parameters
        ----------
        study, ranks
            Checked data, and the ranks of its columns.
        groups
            Which features are copies, and which are tested together.
        alone
            What is known of every feature alone.
        fdr
            The level; evidence does not depend on it.
        rng
            Not used: no chance is involved.
        work
            Threads, memory and progress.

        Returns
        -------
        ConditionalEvidence
            p-values and effects, before any level is set.
        """
        n_bytes = bytes_of_scores(study.columns.n_rows, len(groups.copies.modelled))
        with one_blas_thread(), room_for(n_bytes, work.max_memory) as room:
            with work.stage("scores", steps=True):
                inputs = prepare_inputs(study, ranks, groups, alone, self.statistics, work, room)
            _tell_limit(inputs)
            with work.stage("fits"):
                start = perf_counter()
                fitted = Distillation.of(inputs.problems, self.distillers)
                logger.info("fitted by %s", type(fitted.full_fit).__name__)
                fitted.forget_others()
                seconds = perf_counter() - start
            with work.stage("tests", steps=True):
                results = first_pass(inputs, fitted, work)
            with work.stage("fits without a feature", steps=True):
                todo = refits(inputs, fitted, results)
                if not self.repeatable:
                    _tell_cost(sum(map(len, todo)), seconds)
                results = second_pass(inputs, fitted, results, todo, self.check_residuals, work)
        settings = {name: write_setting(value) for name, value in nested_settings(self).items()}
        categories = np.flatnonzero(study.columns.nominal)
        return _evidence(inputs, fitted, results, groups, alone, categories, self.rule, settings)


def _tell_limit(inputs: Inputs) -> None:
    """Say so if memory does not allow sparse fits to choose from all features."""
    if inputs.n_offered < len(inputs.features):
        warn(
            f"Of {len(inputs.features):,} features sparse fits of the target choose from the "
            f"{inputs.n_offered:,} most associated with it: with {inputs.n_rows:,} rows more would "
            "take too much memory. All are tested."
        )


def _tell_cost(n_fits: int, seconds: float) -> None:
    """Say how long fits of the user's own distillers without a feature will take."""
    cost = f"{n_fits} fits without a feature, {seconds:.2g} s each: about {n_fits * seconds:.0f} s"
    logger.info(cost)
    if n_fits * seconds > SECONDS_WARNED_OF:
        warn(f"{cost} of one core. Fewer folds or a faster estimator would cost less.")


def _pairs(inputs: Inputs, results: Results, tested: Indices, n_features: int) -> FeaturePairs:
    """Pairs of features, by position in X; covariates follow after the last."""
    found, n = results.pairs, n_features + inputs.n_covariates
    is_tested, is_partner = np.zeros((2, n), np.bool_)
    is_tested[tested] = True
    is_partner[inputs.positions(inputs.partners, n_features)] = inputs.interacting
    rows = inputs.positions(found.rows, n_features)
    partners = inputs.positions(found.partners, n_features)
    every = np.arange(len(inputs.products), len(inputs.Z))
    n_columns = np.bincount(inputs.positions(every, n_features), minlength=n)
    n_columns = np.maximum(n_columns, 1)  # of levels of categories the best, by Bonferroni's rule
    p = np.minimum(found.p * n_columns[rows] * n_columns[partners], 1.0)
    return pair_up(rows, partners, p, found.effects, is_tested, is_partner)


def _evidence(
    inputs: Inputs,
    fitted: Distillation,
    results: Results,
    groups: Groups,
    alone: MarginalTests,
    categories: Indices,
    rule: Rule,
    settings: dict[str, Any],
) -> ConditionalEvidence:
    """Results by feature, and by position in X."""
    rows = np.flatnonzero(inputs.hypotheses[0] >= 0)
    tested, feature_of = np.unique(inputs.feature_of[rows], return_inverse=True)
    features, copies, fit = inputs.features[tested], groups.of_interest, fitted.full_fit
    explained = fitted.explained
    taken = [*explained][fitted.chosen[0]] if fitted.explains else ""
    first = np.searchsorted(feature_of, np.arange(len(features)))

    def spread(values: Any, otherwise: Any) -> Any:
        return copies.spread(features, np.asarray(values), otherwise)

    n_hypotheses = max(int(numbers.max()) for numbers in groups.hypotheses) + 1
    p = np.ones(n_hypotheses)
    p[: len(results.p_of_hypotheses)] = results.p_of_hypotheses
    best, members, effects, by_target = [], [], [], []
    for hypothesis_of in inputs.hypotheses:
        entry = np.empty(len(inputs.Z), np.intp)
        mine = results.hypothesis_of == hypothesis_of[results.rows]
        entry[results.rows[mine]] = np.flatnonzero(mine)
        entry = entry[rows]
        best.append(entry[np.lexsort((results.p[entry], feature_of))[first]])
        members.append(spread(combine_groups(results.p[entry], feature_of), 1.0))
        by_target.append(spread(results.p_by_target[best[-1]].T, 1.0))
        effect = results.effects[best[-1]].T
        effect = np.where(np.isin(features, categories), np.abs(effect), effect)
        effects.append(spread(effect, 0.0))
    similarity = results.similarity[best[0]].T
    nearest = results.most_similar[best[0]].T
    neighbours = np.where(nearest < 0, -1, inputs.features[inputs.feature_of[nearest]])
    return ConditionalEvidence(
        relevance=alone.relevance,
        hypotheses=groups.hypotheses,
        p_of_hypotheses=p,
        p_of_members=tuple(members),
        p_by_target=tuple(by_target),
        effects=tuple(effects),
        freedom=spread(results.freedom[best[0]], 0.0),
        residual_variance=spread(results.residual_variance[best[0]], 0.0),
        neighbours=spread(neighbours, -1),
        similarity=spread(similarity, 0.0),
        tested=np.sort(features),
        p_of_interaction=spread(results.p_of_interaction[best[0]], 1.0),
        pairs=_pairs(inputs, results, features, len(alone.relevance)),
        spread_share=float(results.goes_with_spread.mean()),
        excess=spread(results.excess[best[0]], 0.0),
        raised=np.unique(inputs.features[inputs.feature_of[results.rows[results.dependent]]]),
        categories=categories,
        fits=tuple(
            Fit(
                target=name,
                explained={kind: float(share[q]) for kind, (share, _) in explained.items()},
                errors={kind: float(error[q]) for kind, (_, error) in explained.items()},
                taken=taken,
                uses_absolute_values=fit.shape.uses_absolute_values,
                used=np.unique(inputs.features[inputs.feature_of[inputs.behind(fit.used)]]),
                n_offered=inputs.n_offered,
            )
            for q, name in enumerate(fitted.target.names)
        ),
        rule=rule,
        settings=settings,
    )
