"""The one table of methods: what is compared, by the name that stored rows carry.

Every experiment picks from `METHODS` by name. A new method is one line there; list its name in an
experiment (`experiments/`) or a grid (`grids/`) if it should not run everywhere.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, Protocol, TypeAlias

import numpy as np

from smrmr import MRMR, SIS, HSICLasso, Selection, SmRMR
from smrmr.types import Indices, Matrix

SIZES = (5, 10, 15, 20, 25, 30)  # how many features a ranking may take
BLOCK = 20  # samples per block of HSIC-LASSO

Setting: TypeAlias = float | None
"""A level of the FDR, or a number of features, or None where there is nothing to set."""


class Problem(Protocol):
    """What methods are given: features, target, and its type, "classes" or "continuous"."""

    X: Matrix
    y: Any
    target: str


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
    """

    fit: Callable[..., Any]
    pick: Callable[[Any, Any], Indices]
    by: str
    package: str | None = None


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


def _lasso_knockoffs(data: Problem, seed: int) -> Any:
    """LASSO coefficient differences on Gaussian knockoffs, as knockpy does it by default."""
    from knockpy import KnockoffFilter

    if data.X.shape[1] > 1000:
        raise ValueError(
            "left out beyond 1000 features, where one fit takes minutes and gigabytes."
        )
    np.random.seed(seed)  # noqa: NPY002 knockpy draws from numpy's global generator
    found = KnockoffFilter(ksampler="gaussian", fstat="lasso")
    found.forward(X=data.X, y=data.y, shrinkage="ledoitwolf")
    return found


def _lasso_knockoffs_at(found: Any, level: float) -> Indices:
    return np.flatnonzero(found.make_selections(found.W, fdr=level))


METHODS: dict[str, Method] = {
    **_smrmr("default", SmRMR),
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
    "LASSO knockoffs": Method(_lasso_knockoffs, _lasso_knockoffs_at, "level", package="knockpy"),
    "all features": _constant(np.arange),
    "no features": _constant(lambda p: np.empty(0, dtype=np.intp)),
}
REFERENCES = tuple(name for name, method in METHODS.items() if method.by == "nothing")


def installed(names: Iterable[str]) -> tuple[str, ...]:
    """The methods whose packages are installed, in the order of the table; warns of the others."""
    wanted = [name for name in METHODS if name in set(names)]
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
