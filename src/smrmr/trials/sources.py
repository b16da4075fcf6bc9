"""Where data of trials come from: a table, a pilot of a larger study, or a few numbers.

Up to the rows of a pilot some of its rows are drawn. Beyond, features come from a Gaussian copula
with the marginal distributions of the pilot, see `copula`.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..data.columns import Columns
from ..data.study import Study, read_study, with_target
from ..data.targets.protocol import Target
from ..designs import autoregressive
from ..problems import Problem, setting
from ..recipe import Recipe
from ..runs.identity import identity_of
from ..settings import check_count, check_level
from ..types import Indices, Matrix, pd
from .copula import Copula


@dataclass(frozen=True, eq=False)
class Table:
    """A user's own table as it is; effects may be planted on `candidates`."""

    study: Study
    candidates: Indices

    @property
    def target(self) -> str:
        """Kind of the target."""
        return self.study.target.kind

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.study.target.n_rows

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.study.columns.n_columns

    @property
    def n_candidates(self) -> int:
        """Number of features that may have an effect."""
        return len(self.candidates)

    def identity(self, recipe: Recipe, seed: Any) -> dict[str, Any]:
        """What fits depend on besides the effects."""
        return identity_of(self.study, recipe.settings, recipe.controller.repeatable, seed)

    def draw(self, n_rows: int, rng: Generator) -> tuple[Study, Indices]:
        """The same data for every trial."""
        return self.study, self.candidates


class Pilot(Table):
    """A pilot table, of which rows are drawn."""

    def draw(self, n_rows: int, rng: Generator) -> tuple[Study, Indices]:
        """Rows of the pilot, as alike in the target as those of the pilot, or of its copula.

        Parameters
        ----------
        n_rows
            How many.
        rng
            Draws them.

        Returns
        -------
        tuple of Study and ndarray
            The data, and the features that effects may be planted on.
        """
        study, n = self.study, self.study.target.n_rows
        rows = _spread_over(study, n_rows, rng)
        drawn = study.take(rows)
        target = drawn.target
        if n_rows > n:
            drawn = replace(drawn, columns=self._simulated(rows, rng))
            target = _apart(target, study.target, rng)
        return with_target(drawn, target), self._varying(drawn.columns)

    def _varying(self, columns: Columns) -> Indices:
        """Candidates that are not constant in the rows drawn."""
        values = columns.read(self.candidates)
        return np.asarray(self.candidates[np.ptp(values, axis=0) > 0])

    def _simulated(self, rows: Indices, rng: Generator) -> Columns:
        """Columns of the copula, for rows whose covariates are those of the pilot's rows."""
        columns, scores = self.study.columns, self._copula.draw(rows, rng)
        return Columns(quantiles(columns.values, _places(scores)), columns.names, columns.nominal)

    @cached_property
    def _copula(self) -> Copula:
        return Copula.of(self.study.columns.values, self.study.adjustment.basis)


@dataclass(frozen=True)
class Simulated:
    """Gaussian features, each correlated with the one before it, and a target of some kind.

    Parameters
    ----------
    p
        Number of features.
    correlation
        Of neighbours; features further apart correlate by its powers.
    target
        ``"continuous"``, ``"classes"`` or ``"survival"``.
    class_shares
        Share of each class, as numbers, or as text in which commas part them.
    event_share
        Share of rows with an event.
    """

    p: int
    correlation: float = 0.0
    target: str = "continuous"
    class_shares: Any = (0.5, 0.5)
    event_share: float = 0.5

    def __post_init__(self) -> None:
        check_count("p", self.p, least=2)
        if not 0 <= self.correlation < 1:
            raise Problem(
                f"{setting('correlation', self.correlation)} is no correlation of neighbours.",
                "Give a number from 0 to below 1.",
            )
        given: Any = self.class_shares
        try:
            given = given.split(",") if isinstance(given, str) else given
            shares = np.atleast_1d(np.asarray(given, dtype=np.float64))
        except (TypeError, ValueError):
            shares = np.empty(0)
        if len(shares) < 2 or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-6:
            raise Problem(
                f"{setting('class_shares', self.class_shares)} are no shares of classes.",
                "Give two or more numbers above 0 that add up to 1, such as 0.3, 0.7.",
            )
        object.__setattr__(self, "class_shares", tuple(shares.tolist()))
        if self.event_share != 1:
            check_level(self.event_share, "event_share")

    @property
    def n_rows(self) -> int:
        """None: there is no table."""
        return 0

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.p

    @property
    def n_candidates(self) -> int:
        """Number of features that may have an effect: all."""
        return self.p

    def identity(self, recipe: Recipe, seed: Any) -> dict[str, Any]:
        """What fits depend on besides the effects."""
        settings = {name: value for name, value in recipe.settings.items() if name != "n_jobs"}
        return {"simulated": list(map(str, astuple(self))), "seed": seed, **settings}

    def draw(self, n_rows: int, rng: Generator) -> tuple[Study, Indices]:
        """New features, and a target that does not depend on them.

        Parameters
        ----------
        n_rows
            How many rows.
        rng
            Draws them.

        Returns
        -------
        tuple of Study and ndarray
            The data, and the features that effects may be planted on: all.
        """
        X = autoregressive(n_rows, self.p, rng, self.correlation)
        return read_study(X, self._target(n_rows, rng), self.target), np.arange(self.p)

    def _target(self, n: int, rng: Generator) -> Any:
        if self.target == "classes":
            ends = np.rint(np.cumsum(self.class_shares) * n).astype(np.intp)
            return np.searchsorted(ends, rng.permutation(n), side="right").astype(str)
        if self.target == "survival":
            time = rng.exponential(1.0, n)  # in any unit
            happened = rng.permutation(n) < max(round(self.event_share * n), 1)
            return pd.DataFrame({"event": happened, "time": time})
        return rng.standard_normal(n)


def _places(scores: NDArray[Any]) -> Matrix:
    """Ranks down every column as places in (0, 1)."""
    return np.asarray((np.argsort(np.argsort(scores, axis=0), axis=0) + 0.5) / len(scores))


def _apart(drawn: Target, pilot: Target, rng: Generator) -> Target:
    """The target of rows that come more than once, with numbers between those of the pilot."""
    if drawn.nominal:
        return drawn
    if drawn.derived_from is not None and pilot.derived_from is not None:
        return replace(
            drawn, derived_from=_between(drawn.derived_from.T, pilot.derived_from.T, rng).T
        )
    few, many = (one.values.reshape(one.n_rows, -1) for one in (pilot, drawn))
    return replace(drawn, values=_between(many, few, rng).reshape(drawn.values.shape))


def _between(many: Matrix, few: Matrix, rng: Generator) -> Matrix:
    """Quantiles of few values in the order of many, equal ones of these in any order."""
    order = np.lexsort((rng.random(many.shape), many), axis=0)
    return quantiles(few, _places(np.argsort(order, axis=0)))


def quantiles(values: NDArray[Any], places: Matrix) -> NDArray[Any]:
    """Quantiles of each column at places in (0, 1), linear between values that come once.

    A value that comes more often, such as a count or a class, has neighbours of its own kind only,
    and whole numbers stay whole.

    >>> values = np.array([[0.0, 10.0], [0.0, 20.0], [1.0, 30.0], [1.0, 50.0]])
    >>> quantiles(values, np.array([[0.1, 0.25], [0.49, 0.5], [0.51, 0.75]])).T.tolist()
    [[0.0, 0.0, 1.0], [15.0, 25.0, 40.0]]
    """
    known, n = np.sort(values, axis=0), len(values)
    again = np.zeros((n + 1, *known.shape[1:]), np.bool_)
    again[1:-1] = known[1:] == known[:-1]
    single = ~(again[1:] | again[:-1])
    at = np.clip(places * n - 0.5, 0, n - 1)
    low = np.minimum(at.astype(np.intp), n - 2)
    first, second = (np.take_along_axis(known, low + i, axis=0) for i in (0, 1))
    between = [np.take_along_axis(single, low + i, axis=0) for i in (0, 1)]
    share = at - low
    share = np.where(between[0] & between[1], share, np.rint(share))
    found = first + share * (second.astype(np.float64) - first)
    whole = (known == np.rint(known)).all(axis=0)
    return np.asarray(np.where(whole, np.rint(found), found), dtype=values.dtype)


def _spread_over(study: Study, n_rows: int, rng: Generator) -> Indices:
    """Rows whose targets are spread as those of all rows: each as often as any other, but one."""
    n = study.target.n_rows
    values = study.target.values.reshape(n, -1)[:, 0]
    order = np.lexsort((rng.random(n), values))
    whole = np.repeat(order, n_rows // n)
    ends = np.linspace(0, n, n_rows % n + 1)
    places = ends[:-1] + rng.random(len(ends) - 1) * np.diff(ends)
    return rng.permutation(np.concatenate([whole, order[places.astype(np.intp)]]))
