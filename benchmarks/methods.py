"""The one table of methods: what is compared, by the name that stored rows carry.

Every experiment picks from `METHODS` by name. A new method is one line there; list its name in an
experiment (`experiments/`) or a grid (`grids/`) if it should not run everywhere.

Stored rows carry the version of their method. **Raise the number in `TESTS`, `KNOCKOFFS`, `PAPER`,
`RANKINGS`, `GCM` or `PANEL` when the answers of these methods change**: their rows are computed
again, and tables show the newest version alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np

from smrmr import Recipe, Selection, SmRMR, select
from smrmr.conditional.rules import as_rule
from smrmr.decision import ROUNDING
from smrmr.rivals import MRMR, SIS, HSICLasso
from smrmr.types import Indices, Vector

from .rivals import (
    Problem,
    boruta,
    crt_logit,
    d0crt,
    gcm,
    knockoffs_at,
    lasso_knockoffs,
    logistic_d0crt,
    mlr_knockoffs,
    trex,
)

SIZES = (5, 10, 15, 20, 25, 30)  # how many features a ranking may take
BLOCK = 20  # samples per block of HSIC-LASSO

TESTS = "tests 4"
KNOCKOFFS = "knockoffs 1"
PAPER = "paper 1"
RANKINGS = "rankings 1"
GCM = "GCM 1"
PANEL = "panel 1"
REFERENCE = "reference 1"
RELAXED = ", relaxed"  # how the names of relaxed rules end

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
    source
        The version of our code, as ``"tests 1"``; or the package, beyond those that smrmr needs,
        that has to be installed.
    p_values
        Takes what `fit` returned; returns the p-value of every feature. None if it has none.
    """

    fit: Callable[..., Any]
    pick: Callable[[Any, Any], Indices]
    by: str
    source: str
    p_values: Callable[[Any], Vector] | None = None

    @property
    def package(self) -> str | None:
        """The package that has to be installed; None for our own code."""
        return None if " " in self.source else self.source

    @property
    def version(self) -> str:
        """What does the work, with its version: part of the key of stored rows."""
        return f"{self.package} {_installed_version(self.package)}" if self.package else self.source


@cache
def _installed_version(package: str) -> str:
    return version(package)


def _knockoffs(name: str, source: str, build: Callable[..., SmRMR]) -> dict[str, Method]:
    """A knockoff method, and its relaxed rule (the paper's SmRMR2) from the same fit.

    The relaxed rule raises the level until something is selected, and promises nothing.
    """

    def fit(data: Problem, seed: int) -> Selection:
        selector = build(target=data.target, random_state=seed, n_jobs=1)
        return selector.fit(data.X, data.y).selection_

    def strict(found: Selection, level: float) -> Indices:
        return found.at(level).selected

    def relaxed(found: Selection, level: float) -> Indices:
        return found.at(level, on_empty="relax").selected

    return {
        name: Method(fit, strict, "level", source),
        f"{name}{RELAXED}": Method(fit, relaxed, "level", source),
    }


def _of_the_paper(measure: str, penalty: str) -> dict[str, Method]:
    build = partial(SmRMR.paper, measure=measure.lower(), penalty=penalty.lower())
    return _knockoffs(f"paper ({measure}, {penalty})", PAPER, build)


def _ranking(build: Callable[..., Any]) -> Method:
    """A rival that ranks features; `fit` returns the best `size` of them, best first."""

    def fit(data: Problem, seed: int, size: int = SIZES[-1]) -> Indices:
        selector = build(size, target=data.target, n_jobs=1)
        if "random_state" in selector.get_params():
            selector.set_params(random_state=seed)
        selector.fit(data.X, data.y)
        return np.argsort(selector.ranking_)[: np.count_nonzero(selector.support_)]

    return Method(fit, lambda order, size: order[:size], "size", RANKINGS)


def _constant(features: Callable[[int], Indices]) -> Method:
    """The same features whatever the data, for comparison."""

    def fit(data: Problem, seed: int) -> Indices:
        return features(data.X.shape[1])

    return Method(fit, lambda found, _: found, "nothing", REFERENCE)


def _tested(data: Problem, seed: int) -> Selection:
    """The conditional tests: one fit for all that is decided from it."""
    return select(
        data.X, data.y, Recipe(control="tests", target=data.target, alike=None, n_jobs=1), rng=seed
    )


def _panel(data: Problem, seed: int) -> Indices:
    """The panel, whose size is chosen on the same rows; best first."""
    selector = SmRMR(answer="panel", target=data.target, n_jobs=1)
    return selector.fit(data.X, data.y).selected_


def _p_values(found: Selection) -> Vector:
    return found.p_values


def _by_p_values(
    fit: Callable[..., Any],
    source: str,
    p_values: Callable[[Any], Vector] = np.asarray,
    rule: str = "bh",
) -> Method:
    """A method that gives p-values, from which a rule of multiplicity selects."""

    def pick(found: Any, level: float) -> Indices:
        p = p_values(found)
        q = as_rule(rule).adjust(p, np.full(len(p), -1))
        return np.flatnonzero((q <= level + ROUNDING) & (p < 1))

    return Method(fit, pick, "level", source, p_values)


METHODS: dict[str, Method] = {
    **_knockoffs("knockoffs", KNOCKOFFS, partial(SmRMR, control="knockoffs")),
    **_knockoffs("knockoffs (HSIC)", KNOCKOFFS, partial(SmRMR, control="knockoffs(measure=hsic)")),
    **_of_the_paper("PC", "none"),
    **_of_the_paper("PC", "L1"),
    **_of_the_paper("PC", "SCAD"),
    **_of_the_paper("PC", "MCP"),
    **_of_the_paper("HSIC", "none"),
    **_of_the_paper("HSIC", "L1"),
    **_of_the_paper("HSIC", "SCAD"),
    **_of_the_paper("HSIC", "MCP"),
    "SIS": _ranking(SIS),
    "mRMR (MID)": _ranking(partial(MRMR, scheme="difference")),
    "mRMR (MIQ)": _ranking(partial(MRMR, scheme="quotient")),
    "HSIC-LASSO": _ranking(HSICLasso),
    "HSIC-LASSO (blocks)": _ranking(partial(HSICLasso, block_size=BLOCK)),
    "LASSO knockoffs": Method(lasso_knockoffs, knockoffs_at, "level", "knockpy"),
    "smrmr": _by_p_values(_tested, TESTS, _p_values),
    "smrmr (BY)": _by_p_values(_tested, TESTS, _p_values, "by"),
    "SIS + BH": _by_p_values(_tested, TESTS, lambda found: found.alone.p),
    "MLR knockoffs": Method(mlr_knockoffs, knockoffs_at, "level", "knockpy"),
    "d0CRT": _by_p_values(d0crt, "hidimstat"),
    "d0CRT (logistic)": _by_p_values(logistic_d0crt, "hidimstat"),
    "CRT-logit": _by_p_values(crt_logit, "hidimstat"),
    "GCM": _by_p_values(gcm, GCM),
    "T-Rex": Method(trex, lambda found, level: found(level), "level", "trexselector"),
    "panel": Method(_panel, lambda found, _: found, "nothing", PANEL),
    "Boruta": Method(boruta, lambda found, _: found, "nothing", "boruta"),
    "all features": _constant(np.arange),
    "no features": _constant(lambda p: np.empty(0, dtype=np.intp)),
}
STRICT = tuple(name for name in METHODS if f"{name}{RELAXED}" in METHODS)
"""Knockoff methods of ours, which promise a level; each has a relaxed rule beside it."""
YARDSTICK = (
    "smrmr",
    "smrmr (BY)",
    "SIS + BH",
    "MLR knockoffs",
    "d0CRT",
    "d0CRT (logistic)",
    "CRT-logit",
    "GCM",
    "T-Rex",
)
ONLY_WHERE_NAMED = (*YARDSTICK, "Boruta", "panel")
"""The others are those of the paper's experiments."""
REFERENCES = ("all features", "no features")


def key_of(name: str) -> dict[str, str]:
    """What the key of a stored row says of its method: the name, and the version."""
    return {"method": name, "version": METHODS[name].version}


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
