"""The one table of methods: what is compared, by the name that stored rows carry.

Every experiment picks from `METHODS` by name. A new method is one line there; list its name in an
experiment (`experiments/`) or a grid (`grids/`) if it should not run everywhere.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np

from smrmr import Recipe, Selection, SmRMR, select
from smrmr import __version__ as OURS  # noqa: N812
from smrmr.conditional.multiplicity import adjust
from smrmr.decision import ROUNDING
from smrmr.rivals import MRMR, SIS, HSICLasso
from smrmr.types import Indices, Vector

from .rivals import Problem, boruta, d0crt, gcm, knockoffs_at, lasso_knockoffs, mlr_knockoffs, trex

SIZES = (5, 10, 15, 20, 25, 30)  # how many features a ranking may take
BLOCK = 20  # samples per block of HSIC-LASSO

Setting: TypeAlias = float | None
"""A level of the FDR, or a number of features, or None where there is nothing to set."""


@dataclass(frozen=True)
class Method:
    """A way to select features.

    Attributes
    ----------
    fit
        Takes a problem and a seed. Methods that share a `fit` share its result and its cost.
    pick
        Takes what `fit` returned and a setting; returns the features selected.
    by
        What the setting is: ``"level"``, ``"size"`` or ``"nothing"``.
    package
        The package, beyond those that smrmr needs, that has to be installed.
    p_values
        Takes what `fit` returned; returns the p-value of every feature. None if it has none.
    """

    fit: Callable[..., Any]
    pick: Callable[[Any, Any], Indices]
    by: str
    package: str | None = None
    p_values: Callable[[Any], Vector] | None = None

    @property
    def version(self) -> str:
        """The package that does the work, with its version."""
        return f"{self.package} {version(self.package)}" if self.package else f"smrmr {OURS}"


def _smrmr(variant: str, build: Callable[..., SmRMR]) -> dict[str, Method]:
    """SmRMR, and SmRMR2, which raises the level until something is selected; from the same fit."""

    def fit(data: Problem, seed: int) -> Selection:
        selector = build(target=data.target, random_state=seed, n_jobs=1)
        return selector.fit(data.X, data.y).selection_

    return {
        f"SmRMR({variant})": Method(fit, lambda found, level: found.at(level).selected, "level"),
        f"SmRMR2({variant})": Method(
            fit, lambda found, level: found.at(level, on_empty="relax").selected, "level"
        ),
    }


def _ranking(build: Callable[..., Any]) -> Method:
    """A rival that ranks features; `fit` returns the best `size` of them, best first."""

    def fit(data: Problem, seed: int, size: int = SIZES[-1]) -> Indices:
        selector = build(size, target=data.target, n_jobs=1)
        if "random_state" in selector.get_params():
            selector.set_params(random_state=seed)
        selector.fit(data.X, data.y)
        return np.argsort(selector.ranking_)[: np.count_nonzero(selector.support_)]

    return Method(fit, lambda order, size: order[:size], "size")


def _constant(features: Callable[[int], Indices]) -> Method:
    """The same features whatever the data, for comparison."""
    return Method(lambda data, seed: features(data.X.shape[1]), lambda found, _: found, "nothing")


def _tested(data: Problem, seed: int) -> Selection:
    """The conditional tests: one fit for all that is decided from it."""
    return select(
        data.X, data.y, Recipe(control="tests", target=data.target, alike=None, n_jobs=1), rng=seed
    )


def _p_values(found: Selection) -> Vector:
    return found.p_values


def _by_p_values(
    fit: Callable[..., Any],
    p_values: Callable[[Any], Vector] = np.asarray,
    rule: str = "bh",
    package: str | None = None,
) -> Method:
    """A method that gives p-values, from which a rule of multiplicity selects."""

    def pick(found: Any, level: float) -> Indices:
        p = p_values(found)
        return np.flatnonzero((adjust(p, rule) <= level + ROUNDING) & (p < 1))

    return Method(fit, pick, "level", package, p_values)


METHODS: dict[str, Method] = {
    **_smrmr("default", partial(SmRMR, control="knockoffs")),
    **_smrmr("default, HSIC", partial(SmRMR, control="knockoffs(measure=hsic)")),
    **_smrmr("PC, none", partial(SmRMR.paper, measure="pc", penalty="none")),
    **_smrmr("PC, L1", partial(SmRMR.paper, measure="pc", penalty="l1")),
    **_smrmr("PC, SCAD", partial(SmRMR.paper, measure="pc", penalty="scad")),
    **_smrmr("PC, MCP", partial(SmRMR.paper, measure="pc", penalty="mcp")),
    **_smrmr("HSIC, none", partial(SmRMR.paper, measure="hsic", penalty="none")),
    **_smrmr("HSIC, L1", partial(SmRMR.paper, measure="hsic", penalty="l1")),
    **_smrmr("HSIC, SCAD", partial(SmRMR.paper, measure="hsic", penalty="scad")),
    **_smrmr("HSIC, MCP", partial(SmRMR.paper, measure="hsic", penalty="mcp")),
    "SIS": _ranking(SIS),
    "mRMR (MID)": _ranking(partial(MRMR, scheme="difference")),
    "mRMR (MIQ)": _ranking(partial(MRMR, scheme="quotient")),
    "HSIC-LASSO": _ranking(HSICLasso),
    "HSIC-LASSO (blocks)": _ranking(partial(HSICLasso, block_size=BLOCK)),
    "LASSO knockoffs": Method(lasso_knockoffs, knockoffs_at, "level", package="knockpy"),
    "tests": _by_p_values(_tested, _p_values),
    "tests, BY": _by_p_values(_tested, _p_values, "by"),
    "SIS + BH": _by_p_values(_tested, lambda found: found.evidence.marginal),
    "MLR knockoffs": Method(mlr_knockoffs, knockoffs_at, "level", package="knockpy"),
    "d0CRT": _by_p_values(d0crt, package="hidimstat"),
    "GCM": _by_p_values(gcm),
    "T-Rex": Method(trex, lambda found, level: found(level), "level", package="trexselector"),
    "Boruta": Method(boruta, lambda found, _: found, "nothing", package="boruta"),
    "all features": _constant(np.arange),
    "no features": _constant(lambda p: np.empty(0, dtype=np.intp)),
}
YARDSTICK = ("tests", "tests, BY", "SIS + BH", "MLR knockoffs", "d0CRT", "GCM", "T-Rex")
ONLY_WHERE_NAMED = (*YARDSTICK, "Boruta")
"""The others are those of the paper's experiments."""
REFERENCES = ("all features", "no features")


def installed(names: Iterable[str]) -> tuple[str, ...]:
    """The methods whose packages are installed, in the order of the table; warns of the others."""
    asked = set(names)
    wanted = [name for name in METHODS if name in asked]
    lacking = {
        name: package
        for name in wanted
        if (package := METHODS[name].package) and find_spec(package) is None
    }
    for name, package in lacking.items():
        warnings.warn(
            f"{name} is left out: {package} is not installed (pip install smrmr[bench]).",
            stacklevel=3,
        )
    return tuple(name for name in wanted if name not in lacking)
