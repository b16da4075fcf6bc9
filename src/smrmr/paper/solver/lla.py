r"""Minimises the penalised mRMR loss (2.4) on relevance and redundancy, with a certificate."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from reprlib import repr as short_repr
from typing import Any

import numpy as np

from ...association import Associations
from ...settings import as_numbers, check_count, check_lambda, check_number
from ...types import Indices, Matrix, Vector
from .descent import minimise
from .penalties import Penalty, as_penalty

MAX_ROUNDS = 1000
LLA_CHANGE = 1e-6  # LLA stops once theta moves less than this, in L2
COPIES = 1e-8  # features this close to redundancy 1, with rows as close, share their theta


@dataclass(frozen=True, eq=False)
class Solution:
    """A minimiser of the penalised loss and what proves it.

    Attributes
    ----------
    theta
        Coefficients, at least 0; zeros are exact.
    objective
        Penalised loss at `theta`.
    kkt
        Largest violation of the optimality conditions of the last convex problem solved.
    n_iter
        Rounds of the solver, over all LLA steps.
    converged
        Whether `kkt` reached the tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr.association import Associations
    >>> from smrmr.paper import solve
    >>> one = solve(Associations(np.array([0.5]), np.eye(1), "continuous"), penalty="none")
    >>> one.theta.tolist(), one.objective, one.converged
    ([0.5], 0.375, True)
    """

    theta: Vector
    objective: float
    kkt: float
    n_iter: int
    converged: bool


@dataclass(frozen=True, eq=False)
class SolutionPath:
    """Solutions along decreasing lambdas.

    Attributes
    ----------
    lams
        The lambdas, largest first.
    thetas
        Coefficients: row i belongs to ``lams[i]``.
    objectives
        Penalised loss of each solution.
    kkts
        Largest violation of the optimality conditions of each.
    converged
        Whether all of them reached the tolerance.

    Examples
    --------
    How many features are in the model at each lambda:

    >>> import numpy as np
    >>> from smrmr.association import Associations
    >>> from smrmr.paper import solution_path
    >>> apart = Associations(np.array([0.5, 0.2]), np.eye(2), "continuous")
    >>> path = solution_path(apart, lams=[0.5, 0.3, 0.1])
    >>> (path.thetas > 0).sum(axis=1).tolist(), path.converged
    ([0, 1, 2], True)
    """

    lams: Vector
    thetas: Matrix
    objectives: Vector
    kkts: Vector
    converged: bool


def loss(associations: Associations, theta: Vector) -> float:
    r"""Loss without penalty, :math:`\tfrac12 - d'\theta + \tfrac12 \theta' D \theta`.

    Paper: eq. (2.3), label ``unpen_loss``, with D(Y, Y) = 1.
    """
    support = np.flatnonzero(theta)
    theta, relevance = theta[support], associations.relevance[support]
    pull = associations.redundancy[np.ix_(support, support)] @ theta
    return float(0.5 - relevance @ theta + 0.5 * theta @ pull)


def lambda_max(associations: Associations) -> float:
    """Smallest lambda at which every coefficient is zero: the largest relevance."""
    return float(associations.relevance.max(initial=0.0))


def solve(
    associations: Associations,
    *,
    penalty: str | Penalty | None = "mcp",
    lam: float = 0.01,
    tol: float = 1e-8,
) -> Solution:
    r"""Coefficients of the penalised mRMR problem.

    .. math:: \min_{\theta \ge 0} \; \tfrac12 - d'\theta + \tfrac12 \theta' D \theta
              + \sum_k p(\lambda, \theta_k)

    with d the relevance and D the redundancy. Paper: eq. (2.4), label ``penalized_mrmr``. SCAD and
    MCP are solved by local linear approximation (Algorithm 1): a LASSO, then LASSOs weighted by the
    slope of the penalty at the last solution, as many as the penalty's ``lla_steps`` in all or
    until theta moves less than 1e-6. On :math:`\theta \ge 0` each of them is a convex quadratic
    problem, solved by coordinate descent on an active set with exact steps.

    Parameters
    ----------
    associations
        From `smrmr.associate`.
    penalty
        ``"none"``, ``"l1"``, ``"scad"``, ``"mcp"``, or an instance such as ``MCP(b=3.0)``.
    lam
        The penalty's lambda, at least 0.
    tol
        Largest KKT residual allowed.

    Returns
    -------
    Solution
        Coefficients, and what proves them.

    Raises
    ------
    ValueError
        If `penalty`, `lam` or `tol` is not possible, or relevance and redundancy do not fit each
        other or have missing values: measure them again.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If `tol` is not reached, as the field ``converged`` says too: raise `tol` or `lam`.

    Notes
    -----
    Features identical to 1e-8 share their coefficient evenly, and ``kkt`` is then that of the
    problem with each such group as one feature; constant features get 0.

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr.association import Associations
    >>> from smrmr.paper import solve
    >>> apart = Associations(np.array([0.5, 0.2]), np.eye(2), "continuous")
    >>> solve(apart, penalty="l1", lam=0.3).theta.tolist()
    [0.2, 0.0]
    """
    problem = _Problem.of(associations)
    check_lambda("lam", lam)
    return problem.solved(penalty, [lam], tol)[0]


def solution_path(
    associations: Associations,
    *,
    penalty: str | Penalty | None = "mcp",
    lams: Sequence[float] | Vector | None = None,
    n_lams: int = 50,
    floor: float = 1e-3,
    tol: float = 1e-8,
) -> SolutionPath:
    r"""Solutions of `solve` along decreasing lambdas.

    From :math:`\lambda_{\max} = \max_k d_k`, the largest relevance, where all coefficients are 0,
    down to `floor` times that. Paper: section 5.1.2, where lambda is chosen on such a path.

    Parameters
    ----------
    associations, penalty, tol
        As in `solve`.
    lams
        Lambdas to use instead, in decreasing order.
    n_lams, floor
        Number of lambdas, evenly spaced on a logarithmic scale, and the last as a share of the
        first.

    Returns
    -------
    SolutionPath
        Lambdas, and a row of coefficients for each.

    Raises
    ------
    ValueError
        As in `solve`; and if `lams` do not decrease, or `n_lams` and `floor` make no path.

    Notes
    -----
    Each solution starts from the last, so that a path costs little more than its last point.

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr.association import Associations
    >>> from smrmr.paper import solution_path
    >>> apart = Associations(np.array([0.5, 0.2]), np.eye(2), "continuous")
    >>> path = solution_path(apart, penalty="l1", lams=[0.5, 0.1])
    >>> path.thetas.round(12).tolist()
    [[0.0, 0.0], [0.4, 0.1]]
    """
    problem = _Problem.of(associations)
    lams = _lambdas(associations, lams, n_lams, floor)
    found = problem.solved(penalty, lams, tol)
    return SolutionPath(
        lams,
        np.array([solution.theta for solution in found]),
        np.array([solution.objective for solution in found]),
        np.array([solution.kkt for solution in found]),
        all(solution.converged for solution in found),
    )


@dataclass(frozen=True, eq=False)
class _Problem:
    """Relevance and redundancy, with every set of identical features taken as one."""

    relevance: Vector
    redundancy: Matrix
    group: Indices
    sizes: Vector

    @classmethod
    def of(cls, associations: Associations) -> _Problem:
        """Check the associations; features count as different until they are `merged`."""
        if not hasattr(associations, "relevance") or not hasattr(associations, "redundancy"):
            raise ValueError(
                f"associations={short_repr(associations)} has no relevance and redundancy. Give "
                "what smrmr.associate returns, or an Associations(relevance, redundancy, target)."
            )
        needed = "One number per feature, and per pair of features, is needed."
        relevance, redundancy = (
            np.ascontiguousarray(as_numbers(name, getattr(associations, name), needed))
            for name in ("relevance", "redundancy")
        )
        p = len(relevance)
        if relevance.ndim != 1 or p == 0 or redundancy.shape != (p, p):
            raise ValueError(
                f"relevance has shape {relevance.shape} and redundancy {redundancy.shape}. One "
                "relevance per feature and one redundancy per pair of features are needed."
            )
        if not np.isfinite(relevance).all():
            raise ValueError("relevance has missing or infinite values. Measure it again.")
        return cls(relevance, redundancy, np.arange(p), np.ones(p))

    def solved(
        self, penalty: str | Penalty | None, lams: Sequence[float] | Vector, tol: float
    ) -> list[Solution]:
        """Solutions along the lambdas; identical features that are used share their theta."""
        check_number("tol", tol, above=0)
        rule = as_penalty(penalty)
        if not (np.isfinite(lams).all() and min(lams) >= 0):
            raise ValueError(f"lams={lams!r} are no lambdas. Give numbers of at least 0.")
        found = self.along(rule, lams, tol)
        used = np.any([solution.theta > 0 for solution in found], axis=0)
        if np.count_nonzero(self.redundancy[used] > 1 - COPIES) > used.sum():  # not the diagonal
            found = self.merged().along(rule, lams, tol)
        kkt = float(np.max([solution.kkt for solution in found]))  # NaN if one is
        if not np.isfinite(kkt):
            raise ValueError("redundancy has missing or infinite values. Measure it again.")
        if kkt > tol:
            _warn(kkt, tol)
        return found

    def along(self, penalty: Penalty, lams: Sequence[float] | Vector, tol: float) -> list[Solution]:
        """Solutions along the lambdas, each started from the last."""
        starts = np.zeros((2, len(self.relevance)))
        return [_lla(self, penalty, float(lam), tol, starts) for lam in lams]

    def merged(self) -> _Problem:
        """Take identical features as one: the solver pays whichever comes first."""
        group = self.group.copy()
        for k, m in np.argwhere(np.triu(self.redundancy > 1 - COPIES, 1)):
            same = abs(self.relevance[k] - self.relevance[m]) <= COPIES
            if same and np.abs(self.redundancy[k] - self.redundancy[m]).max() <= 2 * COPIES:
                group[m] = min(group[m], group[k])
        _, first, group = np.unique(group, return_index=True, return_inverse=True)
        redundancy = np.ascontiguousarray(self.redundancy[np.ix_(first, first)])
        return _Problem(self.relevance[first], redundancy, group, np.bincount(group).astype(float))


def _lla(problem: _Problem, penalty: Penalty, lam: float, tol: float, starts: Matrix) -> Solution:
    """Solve the LASSO, then LASSOs weighted by the slopes at the last solution.

    `starts` are the last LASSO solution and the last of the second steps; they are replaced.
    """
    relevance, gradient = problem.relevance, np.empty_like(problem.relevance)
    weights = penalty.slope(lam, np.zeros_like(relevance))
    theta, n_iter = starts[0], 0
    for step in range(penalty.lla_steps):
        if step > 0:
            slopes = penalty.slope(lam, theta / problem.sizes)
            if np.array_equal(slopes, weights):  # the LASSO, no penalty, or nothing to change
                break
            last, weights = theta, slopes
            theta = starts[1] if step == 1 else theta.copy()
        gain = relevance - weights
        kkt, rounds = minimise(problem.redundancy, gain, theta, gradient, tol, MAX_ROUNDS)
        n_iter += rounds
        if step > 0 and np.linalg.norm(theta - last) < LLA_CHANGE:
            break
    if not np.isfinite(gradient).all():
        kkt = np.nan
    spread = (theta / problem.sizes)[problem.group]  # a group's total in equal parts
    pull = gradient + relevance - weights  # redundancy times theta
    objective = 0.5 - relevance @ theta + 0.5 * theta @ pull + penalty.value(lam, spread).sum()
    return Solution(spread, float(objective), float(kkt), int(n_iter), bool(kkt <= tol))


def _lambdas(associations: Associations, lams: Any, n_lams: int, floor: float) -> Vector:
    if lams is not None:
        needed = "Give a list of lambdas in decreasing order."
        lams = as_numbers("lams", lams, needed)
        if lams.ndim != 1 or lams.size == 0 or (np.diff(lams) > 0).any():
            raise ValueError(f"lams={lams!r} make no path. {needed}")
        return np.asarray(lams)
    check_count("n_lams", n_lams)
    check_number("floor", floor, above=0)
    if floor > 1:
        raise ValueError(
            f"floor={floor!r} is above 1. Give the last lambda as a share of the first."
        )
    return np.asarray(lambda_max(associations) * np.geomspace(1.0, floor, n_lams))


def _warn(kkt: float, tol: float) -> None:
    from sklearn.exceptions import ConvergenceWarning  # takes long to import, and rarely needed

    warnings.warn(
        f"the solver stopped at a KKT residual of {kkt:.1e}, above tol={tol:.1e}. Raise tol, or "
        "lam: nearly identical features make the problem hard when the penalty is weak.",
        ConvergenceWarning,
        stacklevel=4,
    )
