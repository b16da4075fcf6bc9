r"""Fits of the target to all features but one, or one group, and what they leave of it.

Features Z go in as plain values or as normal scores, see `model_columns.FitData`. Two kinds of fit:
LASSO on Z, or on Z and |Z|, whichever has the smaller estimated error; and kernel ridge regression
on at most twelve features, which sees bends and interactions. A setting says what proposes these:

- **lasso**: the largest coefficients of the LASSO;
- **mcp**: MCP on the same columns, which finds fewer and sharper.

The kernel fit of least error on rows left out wins. It and the LASSO share in the residual by their
errors; for classes their joint prediction goes through a logistic link. Every fit and every choice
can be had again `without` some columns, so that nothing that saw them is left.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..types import Indices, Mask, Matrix, Vector
from .paths import Path, fit_path
from .regressors import Regressors
from .ridge import KernelRidge
from .scores import Part

MOST_IN_FIT = 1000  # features, those most associated with the target
MOST_IN_KERNEL = 12
LINK_RIDGE = 0.05
LEAST_LEFT = 0.05  # of 1 less the leverage of a row
PROPOSALS = {"lasso": "LASSO", "mcp": "MCP"}
SHARPNESS = 2  # with which fits are weighed by their errors
NONE = np.empty(0, np.intp)  # no column left out


@dataclass(frozen=True, eq=False)
class TargetFit:
    """Residual of the target, and how it came about.

    `error` is its mean square as seen from rows left out; `bent` says that |Z| helped; `used` are
    the columns of Z that took part; `explained` is the share of variance of rows left out that each
    fit explains.
    """

    residual: Vector
    error: float
    bent: bool
    used: Indices
    explained: dict[str, float]


@dataclass(eq=False)
class TargetFitter:
    """Fits of one part of the target to features, with and without any of them."""

    regressors: Regressors
    part: Part
    proposals: tuple[str, ...]
    whole: TargetFit = field(init=False)  # the fit that leaves out nothing
    _whole_paths: dict[tuple[bool, bool], Path] = field(default_factory=dict, init=False)
    _kernel_fits: dict[tuple[int, ...], KernelRidge] = field(default_factory=dict, init=False)
    _matter: Mask = field(init=False)

    def __post_init__(self) -> None:
        self.whole = self._fit(NONE)
        self._matter = self._find_what_matters()

    def without(self, columns: Indices) -> TargetFit:
        """The fit that never saw some columns; that of the whole where it is the same."""
        columns = columns[columns < len(self.regressors.features)]
        return self._fit(columns) if self._matter[columns].any() else self.whole

    def _fit(self, out: Indices) -> TargetFit:
        y = self.part.y
        straight, bent = (self._path(out, with_abs, concave=False) for with_abs in (False, True))
        with_abs = bent.least < straight.least
        lasso = (bent if with_abs else straight).chosen
        support = np.flatnonzero(lasso)
        own = self.regressors.residual(y, lasso)
        left_out = own / np.maximum(1 - self.regressors.leverage(support), LEAST_LEFT)
        chosen = {name: self._propose(name, out, lasso, with_abs) for name in self.proposals}
        kernel = {name: self._kernel_fit(columns) for name, columns in chosen.items()}
        better = min(kernel.values(), key=lambda fit: fit.error).residual
        trust = _error(left_out) ** SHARPNESS
        trust = trust / (trust + _error(better) ** SHARPNESS)
        together = (1 - trust) * left_out + trust * better
        error = _error(together)
        if self.part.inside is not None:
            together = through_link(self.part.inside, y - together, self.regressors.covariate_basis)
        residual = (1 - trust) * own + trust * together
        used = np.concatenate(
            [support % len(self.regressors.features), *map(np.array, chosen.values())]
        )
        return TargetFit(
            residual=residual - residual.mean(),
            error=error,
            bent=with_abs,
            used=np.unique(used.astype(np.intp)),
            explained={"LASSO": 1 - _error(left_out)}
            | {f"kernel ridge after {PROPOSALS[name]}": 1 - kernel[name].error for name in kernel},
        )

    @cached_property
    def _gain(self) -> Vector:
        return self.regressors.products(self.part.y)

    def _find_what_matters(self) -> Mask:
        """Columns without which something may change: those that enter a path."""
        kinds = [(False, False), (True, False)]
        kinds += [(self.whole.bent, True)] if "mcp" in self.proposals else []
        matter = np.zeros(len(self.regressors.features), np.bool_)
        for kind in kinds:
            entered = (self._path(NONE, *kind).coefficients != 0).any(axis=0)
            matter |= entered.reshape(-1, len(matter)).any(axis=0)
        return matter

    def _path(self, out: Indices, with_abs: bool, concave: bool) -> Path:
        key = with_abs, concave
        if len(out) and key not in self._whole_paths:
            self._path(NONE, with_abs, concave)
        known = self._whole_paths.get(key)
        if not len(out) and known is not None:
            return known
        size = len(self.regressors.columns) if with_abs else len(self.regressors.features)
        left_out = np.isin(np.arange(len(self.regressors.features)), out)
        left_out |= np.cumsum(~left_out) > MOST_IN_FIT  # no more than so many take part
        path = fit_path(
            self.regressors.gram,
            self._gain[:size],
            self.regressors.freedom,
            concave,
            np.tile(left_out, 2 if with_abs else 1),
            known,
        )
        if not len(out):
            self._whole_paths[key] = path
        return path

    def _propose(self, name: str, out: Indices, lasso: Vector, with_abs: bool) -> tuple[int, ...]:
        """Columns for the kernel fit, without those left out."""
        found = lasso if name == "lasso" else self._path(out, with_abs, concave=True).chosen
        return _first(np.abs(found).reshape(-1, len(self.regressors.features)).max(axis=0))

    def _kernel_fit(self, columns: tuple[int, ...]) -> KernelRidge:
        if columns not in self._kernel_fits:
            self._kernel_fits[columns] = KernelRidge(self.regressors, columns, self.part.y)
        return self._kernel_fits[columns]


@dataclass(frozen=True, eq=False)
class BestFitter:
    """Of several distillers, for every fit, the one of least error."""

    fitters: tuple[TargetFitter, ...]

    @cached_property
    def whole(self) -> TargetFit:
        """The fit that leaves out nothing."""
        return self._best([one.whole for one in self.fitters])

    def without(self, columns: Indices) -> TargetFit:
        """The fit that never saw some columns."""
        return self._best([one.without(columns) for one in self.fitters])

    @property
    def part(self) -> Part:
        """What is fitted."""
        return self.fitters[0].part

    def _best(self, fits: list[TargetFit]) -> TargetFit:
        return min(fits, key=lambda fit: fit.error)


def through_link(high: Mask, prediction: Vector, covariate_basis: Matrix) -> Vector:
    """Residual of a class under a logistic regression on one prediction and covariates.

    In units of the standardised class; covariates are orthonormal rows.
    """
    covariates = np.sqrt(len(high)) * covariate_basis
    inputs = np.concatenate([np.ones((1, len(high))), prediction[None], covariates])
    weights = np.zeros(len(inputs))
    weights[1] = 1.0
    ridge = np.diag([1e-6, *[LINK_RIDGE] * (len(inputs) - 1)])
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
