r"""Ranks features for a panel: the paper's problem (2.4) on features associated with the target.

The problem is minimised on a set that grows. With d the relevance and D the redundancy of the
features that are associated with the target alone, the next feature is that of the largest gain

.. math:: d_k - \sum_l D_{kl} \theta_l,

its association with the target less what the features before it already carry, and
:math:`\theta` is solved anew with it. No gain above :math:`\lambda` is the condition that no
feature enters a minimiser of (2.4), so there the ranking ends. Features come in the order in which
they enter, so a smaller panel is the beginning of a larger one. Only redundancies with features in
the panel are needed, never all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..association import Associations
from ..association.associator import Associator
from ..conditional.rules import BenjaminiHochberg
from ..data.columns import Columns
from ..data.study import Study, adjusted
from ..data.target import Target, as_outputs
from ..decision import ROUNDING
from ..features.copies import Copies
from ..features.marginal import MarginalTests
from ..measures import as_measure
from ..paper.solver import solve
from ..runs.work import Work
from ..types import Indices, Vector

MAX_SIZE = 20  # features of a panel, unless more are requested
MAX_CANDIDATES = 1000  # associated features that are considered, those of the smallest p-values
LAM = 0.02  # lambda of (2.4), the smallest gain with which a feature enters, at most;
LAM_SHARE = 0.1  # of the largest relevance, which is small for numbers and for bends
TIED = 1e-6  # gains this close are equal, since theta is known to 1e-8 only
DIGITS = 6  # of log p-values; closer ones are equal
SMALLEST = 1e-300  # p-values below count as this


def associated_alone(alone: MarginalTests, copies: Copies, fdr: float) -> Indices:
    """Features associated with the target alone, by Benjamini-Hochberg, smallest p-values first.

    Copies count once and constants not at all.
    """
    features = copies.modelled
    p = alone.p[features]
    q = BenjaminiHochberg().adjust(p, np.full(len(p), -1))
    found = features[(q <= fdr + ROUNDING) & (p < 1)]
    size = np.round(np.log(np.maximum(alone.p[found], SMALLEST)), DIGITS)
    return np.asarray(found[np.argsort(size, kind="stable")])


def rank_panel(
    study: Study, associated: Indices, work: Work, size: int | None = None
) -> tuple[Indices, Vector]:
    """The features of a panel, best first, and their theta.

    Parameters
    ----------
    study
        The data.
    associated
        Features associated with the target, best first; see `associated_alone`.
    work
        Threads and memory.
    size
        So many features, as long as any adds something; if None, up to 20 whose gain exceeds
        lambda.

    Returns
    -------
    tuple of ndarray
        Positions in X, and the coefficients of (2.4) with MCP.
    """
    candidates = associated[:MAX_CANDIDATES]
    if not len(candidates):
        return candidates, np.empty(0)
    growing = _Growing.of(study, candidates, work)
    growing.grow(growing.lam, MAX_SIZE if size is None else size)
    if size is not None:  # more than the penalty lets in
        growing.grow(0.0, size)
    return candidates[growing.chosen], growing.theta


def panel_theta(study: Study, features: Indices, work: Work) -> Vector:
    """Coefficients of (2.4) with MCP of a panel of these features and no others."""
    growing = _Growing.of(study, features, work)
    return growing.solution(np.arange(len(features)), growing.lam)


@dataclass
class _Growing:
    """A panel that grows: positions among the candidates, their theta and redundancies."""

    engine: Associator
    relevance: Vector
    kind: str
    chosen: list[int] = field(default_factory=list)
    theta: Vector = field(default_factory=lambda: np.empty(0))
    redundancy: dict[int, Vector] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Study, candidates: Indices, work: Work) -> _Growing:
        part = _given_covariates(study.take(None, candidates))
        one_by_one = Work(1, work.max_memory)  # few columns: threads would take longer to start
        engine = Associator(part.columns, as_measure("pc"), one_by_one, keep=True)
        relevance = np.mean([engine.with_target(one) for one in _outputs(part.target)], axis=0)
        return cls(engine, relevance, part.target.kind)

    @property
    def lam(self) -> float:
        """Lambda of these candidates."""
        return min(LAM, LAM_SHARE * float(self.relevance.max()))

    def grow(self, lam: float, most: int) -> None:
        """Add the feature of the largest gain until none exceeds lambda, or there are enough."""
        for _ in range(2 * most):  # since a feature whose theta becomes 0 leaves again
            gains = self.gains
            if len(self.chosen) >= most or gains.max() <= lam + TIED:
                return
            which = np.array([*self.chosen, np.flatnonzero(gains >= gains.max() - TIED)[0]])
            theta = self.solution(which, lam)
            self.chosen, self.theta = which[theta > 0].tolist(), theta[theta > 0]

    @property
    def gains(self) -> Vector:
        """Association with the target less what the panel carries; none of the chosen gains."""
        gains = self.relevance.copy()
        for k, theta in zip(self.chosen, self.theta, strict=True):
            gains -= theta * self._redundancy_with(k)
        gains[self.chosen] = -np.inf
        return gains

    def solution(self, which: Indices, lam: float) -> Vector:
        """Theta of (2.4) on some candidates."""
        among = np.stack([self._redundancy_with(int(k))[which] for k in which])
        np.fill_diagonal(among, 1.0)
        problem = Associations(self.relevance[which], among, self.kind)
        return solve(problem, penalty="mcp", lam=lam).theta

    def _redundancy_with(self, k: int) -> Vector:
        if k not in self.redundancy:
            self.redundancy[k] = self.engine.with_feature(k)
        return self.redundancy[k]


def _outputs(target: Target) -> list[Target]:
    """The target, or each of its outputs, whose mean relevance counts.

    That is the problem (2.3) added up over outputs. The projection correlation of all outputs
    together would take the cube of the rows.
    """
    return [as_outputs([values]) for values in target.values.T] if target.several else [target]


def _given_covariates(study: Study) -> Study:
    """Residuals given covariates and groups of rows; a category of many levels has none."""
    if not study.adjustment.names:
        return study
    found = adjusted(study, [np.arange(study.columns.n_rows)])
    as_given, values = study.columns.values, found.columns.values
    levels = study.columns.nominal & (as_given.max(axis=0) > 1)
    data = np.where(levels, as_given, values)
    return replace(found, columns=Columns(data, found.columns.names, levels))
