"""Offers the knockoff filter: features compete with knockoffs of themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.random import Generator

from ..association.associator import Associator
from ..data.columns import Columns, as_columns
from ..data.messages import named
from ..data.study import Study, adjusted
from ..features.copies import Copies, find_copies
from ..features.groups import Groups
from ..features.marginal import MarginalTests
from ..features.rank_table import RankTable
from ..measures import as_measure
from ..measures.protocol import Measure
from ..problems import Problem, setting, warn
from ..runs.blocks import one_blas_thread
from ..runs.progress import DRAWS
from ..runs.work import Work
from ..settings import (
    as_generator,
    check_choice,
    check_count,
    nested_settings,
    read_strategy,
    write_setting,
)
from ..types import Data, Indices, Mask, Vector
from .diagnose import diagnose
from .evidence import Draw, KnockoffEvidence
from .gaussian import Gaussian, Knockoffs, KnockoffSampler
from .given import Given
from .pairs import associate_pairs, pair_with_knockoffs
from .screening import Screener, as_screening
from .solver import Penalty, as_penalty, solve
from .tuning import Tuner, TuningProblem, as_tuning

N_NEIGHBOURS = 5
MANY_CLASSES = 10  # beyond which the level was seen to fail


@dataclass(frozen=True)
class KnockoffFilter:
    r"""Select features that beat their knockoffs; ``"knockoffs"`` for short.

    Paper: sections 4 and 5.1. Screen on some rows, draw knockoffs of the kept features on the
    others, solve the penalised problem in features and knockoffs together, eq. (4.1), label
    ``theta_norm_knockoff``. The importance of a feature is :math:`W_k = \theta_k - \tilde\theta_k`,
    its coefficient less that of its knockoff. Knockoff+ then selects at a level, see `decide`; at
    least 1 / level features are selected, or none.

    Each setting may be a strategy, its name, or text such as ``"split(share=0.3)"``.

    Parameters
    ----------
    measure
        Association: ``"pc"``, ``"hsic"``, ``"dcor"``, ``"pearson"`` or an instance.
    penalty
        ``"mcp"``, ``"scad"``, ``"l1"``, ``"none"`` or an instance.
    lam
        How lambda is chosen: ``"smallest"`` (0.001 of the largest relevance), ``"cv"``
        (`CrossValidation`), or a number; ``"auto"`` is the first with ``"pc"`` and else the second.
    screening
        ``"split"`` (`Split`), or ``"none"`` to keep every feature and use all rows.
    knockoffs
        ``"gaussian"`` (`Gaussian`), an array like X that holds them, or a function
        ``knockoffs(X, rng)`` that is given the kept features on the selecting rows.
    n_draws
        Splits and draws of knockoffs to combine by e-values: slower, but the answer no longer
        depends on one draw.
    cross_terms
        Count redundancy between features and knockoffs. Without it, problem (4.1) as the paper
        prints it; swapping a feature with its knockoff then changes more than a sign.

    Raises
    ------
    ValueError
        If a setting is not known or not possible; the message lists what is.

    Examples
    --------
    Ten of these 91 features are true:

    >>> from smrmr import Recipe, select, simulate
    >>> from smrmr.paper import KnockoffFilter
    >>> data = simulate("1.d", n=200, p=91, random_state=0)
    >>> found = select(data.X, data.y, Recipe(fdr=0.3, control=KnockoffFilter()), rng=0)
    >>> len(set(found.selected.tolist()) & set(data.support.tolist())) > 5
    True
    """

    measure: Measure = "pc"  # type: ignore[assignment]
    penalty: Penalty = "mcp"  # type: ignore[assignment]
    lam: Tuner = "auto"  # type: ignore[assignment]
    screening: Screener = "split"  # type: ignore[assignment]
    knockoffs: KnockoffSampler = "gaussian"  # type: ignore[assignment]
    n_draws: int = 1
    cross_terms: bool = True
    alias: ClassVar[str] = "knockoffs"
    by_chance: ClassVar[bool] = True
    nested_groups: ClassVar[bool] = False
    tests_some: ClassVar[bool] = False
    cuts: ClassVar[tuple[float, ...]] = (1.0,)

    if TYPE_CHECKING:

        def __init__(
            self,
            measure: str | Measure = "pc",
            penalty: str | Penalty | None = "mcp",
            lam: float | str | Tuner = "auto",
            screening: str | Screener | None = "split",
            knockoffs: Data = "gaussian",
            n_draws: int = 1,
            cross_terms: bool = True,
        ) -> None:
            """What a user may give: strategies, or their names."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", as_measure(self.measure))
        object.__setattr__(self, "penalty", as_penalty(self.penalty))
        object.__setattr__(self, "lam", as_tuning(self.lam))
        object.__setattr__(self, "screening", as_screening(self.screening))
        object.__setattr__(self, "knockoffs", as_knockoffs(self.knockoffs))
        check_count("n_draws", self.n_draws)
        check_choice("cross_terms", self.cross_terms, (True, False))

    @classmethod
    def paper(cls, **changes: Any) -> KnockoffFilter:
        """The paper's pipeline, whatever the defaults become.

        Projection correlation around all samples, MCP, lambda by cross-validation, rows split 0.4
        to 0.6, both screening steps, recycled rows, Gaussian knockoffs from the sample covariance
        of the selecting rows, equicorrelated. Cross terms are kept, see `cross_terms`.

        Parameters
        ----------
        **changes
            Settings that are to differ, such as ``measure="hsic"``.

        Returns
        -------
        KnockoffFilter
            The filter with these settings.
        """
        choices: dict[str, Any] = {
            "measure": "pc(anchors=all)",
            "penalty": "mcp(b=3.5, lla_steps=2)",
            "lam": "cv(folds=5, debiased=false)",
            "screening": "split(share=0.4, lam=0.01, recycle=true)",
            "knockoffs": "gaussian(s=equi, covariance=sample, copula=false)",
            "n_draws": 1,
            "cross_terms": True,
        }
        return cls(**(choices | changes))

    @property
    def by_rank(self) -> bool:
        """Whether only the order of values counts, so that monotone transforms are copies."""
        return self.measure.by_rank and self.knockoffs.by_rank

    @property
    def repeatable(self) -> bool:
        """Whether the settings say all there is to say: not so for a function of the user's."""
        return self.knockoffs.repeatable

    def prepare(self, study: Study) -> Study:
        """Refuse what has no knockoffs; categories of two levels become 0/1 numbers.

        Parameters
        ----------
        study
            Checked data.

        Returns
        -------
        Study
            Data whose features are all numbers.

        Raises
        ------
        ValueError
            If a category has more than two levels: use tests, or a 0/1 column for each level.
        """
        columns = _without_categories(study.columns)
        self.knockoffs.check(study.columns, self.n_draws)
        n_classes = len(study.target.labels)
        if n_classes > MANY_CLASSES:
            warn(
                f"y has {n_classes} classes. With so many of them relevance says little and more "
                "false features than the level allows may be selected (docs/ablation_tables.md has "
                "figures). Merge classes if you can."
            )
        return replace(study, columns=columns)

    def relevance(self, study: Study, ranks: RankTable, work: Work) -> Vector:
        """Association of every feature with the target, adjusted for nothing.

        Parameters
        ----------
        study, ranks
            Checked data, and the ranks of its columns.
        work
            Threads, memory and progress.

        Returns
        -------
        ndarray
            One association for each feature.
        """
        return Associator(study.columns, self.measure, work).with_target(study.target)

    def weigh(
        self,
        study: Study,
        ranks: RankTable,
        groups: Groups,
        alone: MarginalTests,
        fdr: float,
        rng: Generator,
        work: Work,
    ) -> KnockoffEvidence:
        """Importances of all features, draw by draw; of what covariates leave of them, if any.

        Parameters
        ----------
        study
            Checked data, as `prepare` left them.
        ranks, alone
            Not used: measures have ranks and relevance of their own.
        groups
            Which features are copies, and which are tested together.
        fdr
            The level; each of several draws is cut at half of it.
        rng
            Splits rows, draws knockoffs and deals folds.
        work
            Threads, memory and progress.

        Returns
        -------
        KnockoffEvidence
            W, lambda and the diagnosis of each draw, before any level is set.
        """
        copies = groups.copies
        relevance: Vector = np.zeros(study.columns.n_columns)
        draws: list[Draw] = []
        counted = work if self.n_draws > 1 else work.quietly()
        for child in rng.spawn(self.n_draws):
            counted.report(DRAWS, len(draws), self.n_draws)
            # BLAS threads pay little for such matrices, and stall when other work has the cores
            with one_blas_thread():
                draw, found = self._draw(study, groups, child, work)
            relevance[copies.modelled] += found / self.n_draws
            draws.append(draw)
        counted.report(DRAWS, len(draws), self.n_draws)
        relevance = np.where(copies.constant, 0.0, relevance[copies.leaders])
        settings = {name: write_setting(value) for name, value in nested_settings(self).items()}
        hypotheses = groups.hypotheses
        evidence = KnockoffEvidence(relevance, hypotheses, tuple(draws), fdr / 2, settings)
        if evidence.failed:
            many = f" (in {len(evidence.failed)} of {len(draws)} draws)" if len(draws) > 1 else ""
            warn(f"{evidence.failed[0]}{many}")
        return evidence

    def _draw(
        self, study: Study, groups: Groups, rng: Generator, work: Work
    ) -> tuple[Draw, Vector]:
        """One split, one draw of knockoffs, one solution; and the relevance of what is modelled."""
        copies = groups.copies
        split_rng, knockoff_rng, fold_rng, diagnosis_rng = rng.spawn(4)
        study = study.take(columns=copies.modelled)
        with work.stage("screening", steps=True):
            parts = self.screening.split(study, split_rng)
            study = adjusted(study, parts)
            screening = self.screening.screen(study, parts, self.measure, self.penalty, work)
        with work.stage("knockoffs"):
            kept, rows = copies.modelled[screening.kept], screening.rows_select
            values = study.columns.read(screening.kept)
            originals = values[rows]
            alike = find_copies(Columns.bare(originals), self.knockoffs.by_rank)
            group = np.unique(groups.hypotheses[0][kept], return_inverse=True)[1]
            drawn = self.knockoffs.draw(originals, alike, kept, rows, knockoff_rng, group)
        with work.stage("diagnosis", steps=True):
            diagnosis = diagnose(originals, drawn.X_knockoff, diagnosis_rng, group)
        with work.stage("associations"):
            pairs = pair_with_knockoffs(values, drawn.X_knockoff, study, screening)
            associations = associate_pairs(pairs, self.measure, self.cross_terms, work)
        with work.stage("tuning", steps=True):
            settings = self.measure, self.cross_terms, associations, self.penalty
            tuning = self.lam.choose(TuningProblem(pairs, *settings), fold_rng, work)
        with work.stage("solving"):
            solution = solve(associations, penalty=self.penalty, lam=tuning.lam)
        theta, theta_knockoff = np.split(solution.theta, 2)
        undecided = (originals == drawn.X_knockoff).all(axis=0) | _in_two_groups(alike, group)
        among = associations.redundancy[: len(kept), : len(kept)] - 2 * np.eye(len(kept))
        n_nearest = min(N_NEIGHBOURS, len(kept) - 1)
        nearest = np.argsort(-among, axis=1, kind="stable")[:, :n_nearest]
        draw = Draw(
            n_screen=len(screening.rows_screen),
            n_select=len(rows),
            shortlisted=copies.modelled[screening.shortlisted],
            kept=kept,
            theta=theta,
            theta_knockoff=theta_knockoff,
            W=np.where(undecided, 0.0, theta - theta_knockoff),
            lam=tuning.lam,
            lams=tuning.lams,
            losses=tuning.losses,
            at_floor=tuning.at_floor,
            covariance=drawn.covariance,
            s=drawn.s,
            diagnosis=diagnosis,
            neighbours=kept[nearest],
            association=np.take_along_axis(among, nearest, axis=1),
        )
        return draw, screening.relevance


def as_knockoffs(knockoffs: Data) -> KnockoffSampler:
    """The way to make knockoffs that a name stands for; arrays and functions are `Given`."""
    if not isinstance(knockoffs, str | Gaussian | Given):
        return Given(knockoffs)
    found: KnockoffSampler = read_strategy("knockoffs", knockoffs, {"gaussian": Gaussian}, "draw")
    return found


def draw_knockoffs(
    X: Data, knockoffs: Data = "gaussian", *, random_state: int | Generator | None = None
) -> Knockoffs:
    """Knockoffs of features: false ones that relate to all others as the originals do.

    Paper: section 4; the distribution they are drawn from is that of `Gaussian`.

    Parameters
    ----------
    X
        Features, (n, p): an array or DataFrame of numbers without missing values. Categories must
        have two levels.
    knockoffs
        ``"gaussian"``, a `Gaussian` with its settings, or a function ``knockoffs(X, rng)``.
    random_state
        Seed or Generator. The same seed gives the same knockoffs.

    Returns
    -------
    Knockoffs
        The array ``X_knockoff``, and what was assumed to draw it.

    Raises
    ------
    ValueError
        If X has missing values, text, or categories of more than two levels; if `knockoffs` is not
        known, or returns what does not fit X.

    Examples
    --------
    By default each knockoff has the values of its feature, in another order:

    >>> import numpy as np
    >>> from smrmr import simulate
    >>> from smrmr.paper import draw_knockoffs
    >>> X = simulate("1.a", n=200, p=20, random_state=0).X
    >>> made = draw_knockoffs(X, "gaussian(s=mvr)", random_state=0).X_knockoff
    >>> bool((made == X).all()), bool((np.sort(made, axis=0) == np.sort(X, axis=0)).all())
    (False, True)
    """
    way = as_knockoffs(knockoffs)
    columns = as_columns(X)
    way.check(columns, n_draws=1)
    columns = _without_categories(columns)
    copies = find_copies(columns, way.by_rank)
    everything, rows = np.arange(columns.n_columns), np.arange(columns.n_rows)
    with one_blas_thread():
        return way.draw(columns.values, copies, everything, rows, as_generator(random_state))


def _in_two_groups(alike: Copies, group: Indices) -> Mask:
    """Features of a group that has a feature which equals one of another group on these rows.

    Such features have one knockoff too: a false one would win whenever a true one does, so neither
    group can be selected.
    """
    torn = np.zeros(len(group), np.bool_)
    for copies in alike.groups:
        torn[copies] = len(np.unique(group[copies])) > 1
    return np.isin(group, group[torn])


def _without_categories(columns: Columns) -> Columns:
    """Categories of two levels as numbers; those of more levels are refused."""
    many = np.flatnonzero(columns.nominal)
    many = many[columns.read(many).max(axis=0, initial=0) > 1]
    if many.size:
        raise Problem(
            f"columns {named([columns.name(int(k)) for k in many])} are categories with more than "
            "two levels, for which there are no knockoffs here.",
            cure=f"Take {setting('control', 'tests')}, code them as one 0/1 column per level "
            "(pandas.get_dummies), or leave them out.",
        )
    return replace(columns, nominal=np.zeros(columns.n_columns, dtype=bool))
