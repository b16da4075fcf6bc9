r"""What is left of the target once all features but one have spoken.

Features Z go in as plain values or as normal scores, see `layout.View`. Two kinds of fit: LASSO on
Z, or on Z and |Z|, whichever has the smaller estimated error; and kernel ridge regression on at
most twelve features, which sees bends and interactions.
What proposes those features is a setting:

- **lasso**: the largest coefficients of the LASSO;
- **mcp**: MCP on the same columns, which finds fewer and sharper;
- **mrmr**: penalised mRMR with projection correlation, problem (2.4) of the paper.

The kernel fit of least error on rows left out wins. It and the LASSO share in the residual by their
errors; for classes their joint prediction goes through a logistic link. Every fit and every choice
can be had again `without` a feature, so that nothing that saw it is left.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...association.associations import Associations
from ...solver import solve
from ...types import Indices, Mask, Matrix, Vector
from .paths import Path, follow
from .ridge import leave_one_out
from .scores import Part, standardised

MOST_IN_FIT = 1000  # features, those most associated with the target
MOST_IN_KERNEL = 12
MOST_PROPOSED = 150  # features among which mRMR proposes
MRMR_LAMBDA = 0.01
LINK_RIDGE = 0.05
LEAST_LEFT = 0.05  # of a row's own weight in its residual
PROPOSALS = {"lasso": "LASSO", "mcp": "MCP", "mrmr": "mRMR"}
SHARPNESS = 2  # with which fits are weighed by their errors


@dataclass(frozen=True, eq=False)
class Distilled:
    """Residual of the target, and how it came about.

    `error` is its mean square as seen from rows left out; `bent` says that |Z| helped; `used` are
    the features that took part; `explained` is the share of variance of rows left out that each fit
    explains.
    """

    residual: Vector
    error: float
    bent: bool
    used: Indices
    explained: dict[str, float]


@dataclass(frozen=True, eq=False)
class Basis:
    r"""Columns that fits of the target are made of, shared by all its parts: Z, then bows \|Z\|.

    Features are given in the order of their association with the target, and `owners` number them:
    columns of one feature come and go together.
    """

    Z: Matrix
    owners: Indices

    @cached_property
    def columns(self) -> Matrix:
        r"""Z and standardised \|Z\|, (2 p, n)."""
        return np.concatenate([self.Z, standardised(np.abs(self.Z))])

    @cached_property
    def gram(self) -> Matrix:
        """Inner products of all columns, over n."""
        return np.asarray(self.columns @ self.columns.T / self.n_rows)

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.Z.shape[1])

    def leverage(self, support: Indices) -> Vector:
        """Weight of every row in its own least squares fit to some columns and a constant."""
        if len(support) == 0:
            return np.full(self.n_rows, 1 / self.n_rows)
        orthonormal = np.linalg.qr(self.columns[support].T)[0]
        return np.asarray(np.sum(orthonormal**2, axis=1) + 1 / self.n_rows)


@dataclass(eq=False)
class Distiller:
    """Fits of one part of the target to features, with and without any one of them.

    mRMR, if it is among the `proposals`, chooses from the columns `candidates`, most relevant
    first, whose associations with each other are the `redundancy`.
    """

    basis: Basis
    part: Part
    proposals: tuple[str, ...]
    relevance: Vector
    candidates: Indices
    redundancy: Matrix
    target: str
    whole: Distilled = field(init=False)  # the fit that leaves out nothing
    _whole_paths: dict[tuple[bool, bool], Path] = field(default_factory=dict, init=False)
    _kernel_fits: dict[tuple[int, ...], Vector] = field(default_factory=dict, init=False)
    _matter: set[int] = field(init=False)

    def __post_init__(self) -> None:
        self.whole = self._fit(-1)
        self._matter = self._find_what_matters()

    def without(self, feature: int) -> Distilled:
        """The fit that never saw a feature; that of the whole where it is the same."""
        return self._fit(feature) if feature in self._matter else self.whole

    def _fit(self, feature: int) -> Distilled:
        y = self.part.y
        straight, bent = (self._path(feature, bows, concave=False) for bows in (False, True))
        bows = bent.least < straight.least
        lasso = (bent if bows else straight).chosen
        support = np.flatnonzero(lasso)
        own = y - lasso[support] @ self.basis.columns[support]
        left_out = own / np.maximum(1 - self.basis.leverage(support), LEAST_LEFT)
        chosen = {name: self._propose(name, feature, lasso, bows) for name in self.proposals}
        kernel = {name: self._kernel_fit(columns) for name, columns in chosen.items()}
        better = min(kernel.values(), key=_error)
        trust = _error(left_out) ** SHARPNESS
        trust = trust / (trust + _error(better) ** SHARPNESS)
        together = (1 - trust) * left_out + trust * better
        error = _error(together)
        if self.part.binary:
            together = through_link(y, y - together)
        residual = (1 - trust) * own + trust * together
        used = np.concatenate([support % len(self.basis.Z), *map(np.array, chosen.values())])
        return Distilled(
            residual=residual - residual.mean(),
            error=error,
            bent=bows,
            used=np.unique(self.basis.owners[used.astype(np.intp)]),
            explained={"LASSO": 1 - _error(left_out)}
            | {
                f"kernel ridge after {PROPOSALS[name]}": 1 - _error(kernel[name]) for name in kernel
            },
        )

    @cached_property
    def _gain(self) -> Vector:
        return np.asarray(self.basis.columns @ self.part.y / self.basis.n_rows)

    def _find_what_matters(self) -> set[int]:
        """Features without which something may change: those that enter a path."""
        kinds = [(False, False), (True, False)]
        kinds += [(self.whole.bent, True)] if "mcp" in self.proposals else []
        entered = [
            (self._path(-1, *kind).coefficients != 0).any(axis=0).nonzero()[0] % len(self.basis.Z)
            for kind in kinds
        ]
        columns = np.concatenate([self.candidates[:MOST_PROPOSED], *entered])
        return set(self.basis.owners[columns].tolist())

    def _out(self, feature: int) -> Mask:
        """Columns left out: those of the feature, and those beyond the number that take part."""
        mine = self.basis.owners == feature
        return np.asarray(mine | (np.cumsum(~mine) > MOST_IN_FIT))

    def _path(self, feature: int, bows: bool, concave: bool) -> Path:
        key = bows, concave
        if feature >= 0 and key not in self._whole_paths:
            self._path(-1, bows, concave)
        known = self._whole_paths.get(key)
        if feature < 0 and known is not None:
            return known
        size = len(self.basis.columns) if bows else len(self.basis.Z)
        out = np.tile(self._out(feature), 2 if bows else 1)
        path = follow(
            self.basis.gram[:size, :size], self._gain[:size], self.basis.n_rows, concave, out, known
        )
        if feature < 0:
            self._whole_paths[key] = path
        return path

    def _propose(self, name: str, feature: int, lasso: Vector, bows: bool) -> tuple[int, ...]:
        """Columns for the kernel fit, without those of the feature."""
        if name == "mrmr":
            return self._by_mrmr(feature)
        found = lasso if name == "lasso" else self._path(feature, bows, concave=True).chosen
        return _first(np.abs(found).reshape(-1, len(self.basis.Z)).max(axis=0))

    def _by_mrmr(self, feature: int) -> tuple[int, ...]:
        """Columns that mRMR gives most weight among the most relevant."""
        owners = self.basis.owners[self.candidates]
        if feature >= 0 and feature not in owners[:MOST_PROPOSED]:
            return self._by_mrmr_whole
        asked = np.flatnonzero(owners != feature)[:MOST_PROPOSED]
        if not asked.size:
            return ()
        columns = self.candidates[asked]
        problem = Associations(
            self.relevance[columns], self.redundancy[np.ix_(asked, asked)], self.target
        )
        theta = np.zeros(len(self.basis.Z))
        theta[columns] = solve(problem, penalty="mcp", lam=MRMR_LAMBDA).theta
        return _first(theta)

    @cached_property
    def _by_mrmr_whole(self) -> tuple[int, ...]:
        return self._by_mrmr(-1)

    def _kernel_fit(self, columns: tuple[int, ...]) -> Vector:
        if columns not in self._kernel_fits:
            self._kernel_fits[columns] = leave_one_out(self.basis.Z[list(columns)], self.part.y)
        return self._kernel_fits[columns]


@dataclass(frozen=True, eq=False)
class BestOf:
    """Of several distillers, for every fit, the one of least error."""

    distillers: tuple[Distiller, ...]

    @cached_property
    def whole(self) -> Distilled:
        """The fit that leaves out nothing."""
        return self._best([one.whole for one in self.distillers])

    def without(self, feature: int) -> Distilled:
        """The fit that never saw a feature."""
        return self._best([one.without(feature) for one in self.distillers])

    @property
    def part(self) -> Part:
        """What is fitted."""
        return self.distillers[0].part

    def _best(self, fits: list[Distilled]) -> Distilled:
        return min(fits, key=lambda fit: fit.error)


def through_link(y: Vector, prediction: Vector) -> Vector:
    """Residual of a 0/1 target under a logistic regression on one prediction, in units of y."""
    high = y > 0
    inputs = np.stack([np.ones_like(y), prediction])
    weights, ridge = np.array([0.0, 1.0]), np.diag([1e-6, LINK_RIDGE])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-np.clip(weights @ inputs, -30, 30)))
        slope = inputs @ (high - chance) - ridge @ weights
        step = np.linalg.solve((inputs * (chance * (1 - chance))) @ inputs.T + ridge, slope)
        weights = weights + step
        if np.abs(step).max() < 1e-8:
            break
    chance = 1 / (1 + np.exp(-np.clip(weights @ inputs, -30, 30)))
    return np.asarray((high - chance) / np.std(high))


def _error(residual: Vector) -> float:
    return float(np.mean(residual**2))


def _first(size: Vector) -> tuple[int, ...]:
    order = np.argsort(-size, kind="stable")[: min(MOST_IN_KERNEL, np.count_nonzero(size))]
    return tuple(sorted(order.tolist()))
