"""Chooses a panel: few features that predict the target together, none of them redundant."""

from __future__ import annotations

from dataclasses import dataclass

from ..conditional.statistics import DEFAULT_STATISTICS, Statistic, as_statistics
from ..data.messages import named
from ..data.study import Study
from ..features.copies import Copies
from ..features.marginal import MarginalTests
from ..features.rank_table import RankTable
from ..runs.work import Work
from ..settings import check_count
from ..types import Indices, Vector
from .panel_accuracy import Accuracy, panel_accuracy
from .panel_ranking import associated_alone, panel_theta, rank_panel


@dataclass(frozen=True, eq=False)
class Panel:
    """Few features, associated with the target and not redundant, that predict it together.

    A panel is for prediction. It makes no statement about any of its features: another one that is
    as good may do as well in its place.

    Attributes
    ----------
    features
        Positions in X, in the order in which they enter: each adds most to those before it.
    theta
        Their coefficients in the paper's problem (2.4) with MCP.
    accuracy
        How well it predicts rows left out; None if that was not requested, or no feature is
        associated with the target.
    """

    features: Indices
    theta: Vector
    accuracy: Accuracy | None = None

    def __repr__(self) -> str:
        return f"Panel of {len(self.features)} features, by position: {named(self.features)}"


def choose_panel(
    study: Study,
    ranks: RankTable,
    copies: Copies,
    alone: MarginalTests,
    fdr: float,
    work: Work,
    *,
    size: int | None = None,
    accuracy: bool = False,
    statistics: tuple[Statistic, ...] | None = None,
) -> Panel:
    """A panel of the features that are associated with the target alone.

    Parameters
    ----------
    study, ranks, copies
        The data, their ranks and copies.
    alone
        Tests of every feature alone.
    fdr
        Level at which features are associated, by Benjamini-Hochberg.
    work
        Threads and memory, which change no result.
    size
        Number of features, fewer if no other adds anything; up to 20 by default.
    accuracy
        Measure how well it predicts rows left out, and take the smallest size that is as good as
        any, unless `size` is given.
    statistics
        How features are tested alone in training rows; the default ones if None.

    Returns
    -------
    Panel
        Without features if none is associated.
    """
    if size is not None:
        check_count("size", size)
    tests = as_statistics(DEFAULT_STATISTICS) if statistics is None else statistics
    with work.stage("panel", steps=True):
        associated = associated_alone(alone, copies, fdr)
        features, theta = rank_panel(study, associated, work, size)
        if not (accuracy and len(features)):
            work.report("panel", 1, 1)
            return Panel(features, theta)
        found = panel_accuracy(study, ranks, copies, features, fdr, size, tests, work)
        features = features[: found.size]
        theta = panel_theta(study, features, work)
    return Panel(features, theta, found)
