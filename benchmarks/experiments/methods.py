"""Lists the methods that are compared, each behind one signature."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import train_test_split

from smrmr.estimators.hsic_lasso import HSICLasso
from smrmr.estimators.rankings import MRMR, SIS
from smrmr.estimators.smrmr import SmRMR
from smrmr.selection import Selection
from smrmr.simulate import Simulation
from smrmr.types import Indices, Matrix

LEVEL = 0.3
LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5)
SIZES = (5, 10, 15, 20, 25, 30)
VALIDATION_SHARE = 0.2
BLOCK = 20


@dataclass(frozen=True)
class Found:
    """Features that a method selected; `level` if it has one, `kept` if it screens."""

    method: str
    features: Indices
    level: float | None = None
    kept: Indices | None = None


@dataclass(frozen=True)
class Method:
    """A fit that gives one or more results, named beforehand by method and level."""

    results: tuple[tuple[str, float | None], ...]
    fit: Callable[[Simulation, int], list[Found]]


def smrmr_method(variant: str, build: Callable[..., SmRMR], levels: tuple[float, ...]) -> Method:
    """SmRMR at each level, and SmRMR2, which relaxes the level, from the same fit."""

    def fit(data: Simulation, seed: int) -> list[Found]:
        selector = build(LEVEL, target=data.target, random_state=seed, n_jobs=1)
        selection: Selection = selector.fit(data.X, data.y).selection_
        strict = [(f"SmRMR({variant})", level, selection.at(level)) for level in levels]
        relaxed = (f"SmRMR2({variant})", LEVEL, selection.at(LEVEL, on_empty="relax"))
        return [
            Found(name, result.selected, level, selection.kept)
            for name, level, result in [*strict, relaxed]
        ]

    names = [(f"SmRMR({variant})", level) for level in levels]
    return Method((*names, (f"SmRMR2({variant})", LEVEL)), fit)


def ranked_method(name: str, build: Callable[..., Any]) -> Method:
    """A rival that ranks features.

    How many of them to take is chosen by ranking most rows and predicting the others; then all rows
    are ranked, so that rivals select from as many as SmRMR does.
    """

    def fit(data: Simulation, seed: int) -> list[Found]:
        rows = np.arange(len(data.y))
        classes = data.y if data.target == "classes" else None
        train, held_out = train_test_split(
            rows, test_size=VALIDATION_SHARE, random_state=seed, stratify=classes
        )
        order = ranked_features(build, data.X[train], data.y[train], data.target, seed)

        def held_out_score(size: int) -> float:
            columns = order[:size]
            model = LogisticRegression(max_iter=1000) if classes is not None else LinearRegression()
            model.fit(data.X[np.ix_(train, columns)], data.y[train])
            return float(model.score(data.X[np.ix_(held_out, columns)], data.y[held_out]))

        size = max(SIZES, key=held_out_score)
        return [Found(name, ranked_features(build, data.X, data.y, data.target, seed, size))]

    return Method(((name, None),), fit)


def ranked_features(
    build: Callable[..., Any], X: Matrix, y: Any, target: str, seed: int, size: int = SIZES[-1]
) -> Indices:
    """The best features by a rival's ranking, best first; `size` of them if it finds so many."""
    selector = build(size, target=target, n_jobs=1)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=seed)
    selector.fit(X, y)
    return np.argsort(selector.ranking_)[: np.count_nonzero(selector.support_)]


def lasso_knockoffs(X: Matrix, y: Any, level: float, seed: int) -> Indices:
    """LASSO coefficient differences on Gaussian knockoffs, as knockpy does it by default."""
    from knockpy import KnockoffFilter

    if X.shape[1] > 1000:
        raise ValueError(
            "left out beyond 1000 features, where one fit takes minutes and gigabytes."
        )
    np.random.seed(seed)  # noqa: NPY002 knockpy draws from numpy's global generator
    rule = KnockoffFilter(ksampler="gaussian", fstat="lasso")
    return np.flatnonzero(rule.forward(X=X, y=y, fdr=level, shrinkage="ledoitwolf"))


def _lasso_knockoffs(data: Simulation, seed: int) -> list[Found]:
    return [Found("LASSO knockoffs", lasso_knockoffs(data.X, data.y, LEVEL, seed), LEVEL)]


def everything(data: Simulation, seed: int) -> list[Found]:
    """Every feature."""
    return [Found("all features", np.arange(data.X.shape[1]))]


def nothing(data: Simulation, seed: int) -> list[Found]:
    """No feature, so that predictions are the mean or the largest class."""
    return [Found("no features", np.empty(0, dtype=np.intp))]


def _paper_methods() -> list[Method]:
    penalties = {"none": "none", "l1": "L1", "scad": "SCAD", "mcp": "MCP"}
    return [
        smrmr_method(
            f"{measure.upper()}, {label}",
            partial(SmRMR.paper, measure=measure, penalty=penalty),
            LEVELS if (measure, penalty) == ("pc", "mcp") else (LEVEL,),
        )
        for measure in ("pc", "hsic")
        for penalty, label in penalties.items()
    ]


METHODS: tuple[Method, ...] = (
    smrmr_method("default", SmRMR, LEVELS),
    smrmr_method("default, HSIC", partial(SmRMR, measure="hsic"), (LEVEL,)),
    *_paper_methods(),
    ranked_method("SIS", SIS),
    ranked_method("mRMR (MID)", partial(MRMR, scheme="difference")),
    ranked_method("mRMR (MIQ)", partial(MRMR, scheme="quotient")),
    ranked_method("HSIC-LASSO", HSICLasso),
    ranked_method("HSIC-LASSO (blocks)", partial(HSICLasso, block_size=BLOCK)),
    Method((("LASSO knockoffs", LEVEL),), _lasso_knockoffs),
    Method((("all features", None),), everything),
    Method((("no features", None),), nothing),
)

NEEDS = {"LASSO knockoffs": "knockpy"}


def runnable(names: Iterable[str]) -> tuple[str, ...]:
    """The methods whose packages are installed; the others are named in a warning."""
    names = tuple(names)
    lacking = [name for name in names if name in NEEDS and find_spec(NEEDS[name]) is None]
    for name in lacking:
        warnings.warn(
            f"{name} left out: {NEEDS[name]} is not installed (pip install smrmr[bench]).",
            stacklevel=3,
        )
    return tuple(name for name in names if name not in lacking)
