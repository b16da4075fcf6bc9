"""Where data of trials come from: a table, a pilot of a larger study, or a few numbers.

Up to the rows of a pilot some of its rows are drawn. Beyond, features come from its `Copula`, with
values between those of the pilot.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.random import Generator

from ..data.columns import Columns
from ..data.study import Study, read_study, with_target
from ..data.targets.protocol import Target
from ..designs import autoregressive
from ..problems import Problem, setting
from ..recipe import Recipe
from ..runs.identity import identity_of
from ..settings import check_count, check_level, checksum
from ..types import Data, Indices, pd
from .copula import Copula
from .quantiles import values_between, values_by_rank


def read_table(
    X: Data, y: Data, recipe: Recipe, covariates: Data, groups: Data, aggregate: str | None
) -> Study:
    """Check a table, as `select` does."""
    return read_study(
        X,
        y,
        recipe.target,
        covariates=covariates,
        groups=groups,
        aggregate=aggregate,
        always_keep=recipe.always_keep,
        only=recipe.only,
        partners=recipe.partners,
    )


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
        about = identity_of(self.study, recipe.settings, recipe.controller.repeatable, seed)
        return about | {"features to plant on": checksum(self.candidates)}

    def draw(self, n_rows: int, rng: Generator) -> tuple[Study, Indices]:
        """The same data for every trial."""
        return self.study, self.candidates


@dataclass(frozen=True, eq=False)
class Pilot(Table):
    """A pilot table, of which rows are drawn; beyond its own number from its copula."""

    copula: Copula | None = None

    def draw(self, n_rows: int, rng: Generator) -> tuple[Study, Indices]:
        """Rows of the pilot, as alike in the target as those of the pilot, or of its copula.

        Rows that are compared within groups come with their group.

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
        study, groups = self.study, self.study.row_groups
        if groups.codes is None:
            rows = _spread_over(study, n_rows, rng)
        else:
            rows, codes = _in_whole_groups(groups.codes, n_rows, rng)
            groups = replace(groups, codes=codes, n_groups=int(codes.max()) + 1)
        drawn = replace(study.take(rows), row_groups=groups)
        if n_rows > study.target.n_rows:
            assert self.copula is not None
            values = values_by_rank(study.columns.values, self.copula.draw(rows, rng))
            drawn = replace(
                drawn,
                columns=replace(study.columns, data=values),
                target=_values_apart(drawn.target, study.target, rng),
            )
        return with_target(drawn, drawn.target), self._varying(drawn.columns)

    def _varying(self, columns: Columns) -> Indices:
        """Candidates that are not constant in the rows drawn."""
        vary = np.concatenate([np.ptp(values, axis=0) > 0 for _, values in columns.pieces()])
        return np.asarray(self.candidates[vary[self.candidates]])


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
        if not (isinstance(self.correlation, Real) and 0 <= self.correlation < 1):
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
        try:
            return read_study(X, self._target(n_rows, rng), self.target), np.arange(self.p)
        except Problem as error:
            found = f"{setting('n_rows', n_rows)}: {error.found}"
            raise Problem(
                found, error.needed, f"Try more rows: raise {setting('n_rows')}."
            ) from None

    def _target(self, n: int, rng: Generator) -> Any:
        if self.target == "classes":
            ends = np.rint(np.cumsum(self.class_shares) * n).astype(np.intp)
            return np.searchsorted(ends, rng.permutation(n), side="right").astype(str)
        if self.target == "survival":
            time = rng.exponential(1.0, n)  # in any unit
            happened = rng.permutation(n) < max(round(self.event_share * n), 1)
            return pd.DataFrame({"event": happened, "time": time})
        return rng.standard_normal(n)


def _values_apart(drawn: Target, pilot: Target, rng: Generator) -> Target:
    """The target of rows that come more than once, with numbers between those of the pilot."""
    if drawn.nominal:
        return drawn
    if drawn.derived_from is not None and pilot.derived_from is not None:
        given = values_between(pilot.derived_from.T, drawn.derived_from.T, rng)
        return replace(drawn, derived_from=given.T)
    few, many = (one.values.reshape(one.n_rows, -1) for one in (pilot, drawn))
    return replace(drawn, values=values_between(few, many, rng).reshape(drawn.values.shape))


def _spread_over(study: Study, n_rows: int, rng: Generator) -> Indices:
    """Rows whose targets are spread as those of all rows: each as often as any other, but one."""
    n, left = study.target.n_rows, n_rows % study.target.n_rows
    values = study.target.values.reshape(n, -1)[:, 0]
    order = np.lexsort((rng.random(n), values))
    ends = np.floor(np.linspace(0, n, left + 1) + rng.random()).astype(np.intp)
    places = ends[:-1] + np.floor(rng.random(left) * np.diff(ends)).astype(np.intp)
    return rng.permutation(np.concatenate([np.repeat(order, n_rows // n), order[places]]))


def _in_whole_groups(codes: Indices, n_rows: int, rng: Generator) -> tuple[Indices, Indices]:
    """Rows of groups in random order, and which group each is of; the last one may be cut off.

    Groups that are drawn again are new groups.
    """
    n, n_groups = len(codes), int(codes.max()) + 1
    turns = [rng.permutation(n_groups)[codes] + turn * n_groups for turn in range(-(-n_rows // n))]
    drawn = np.concatenate(turns)
    order = np.argsort(drawn, kind="stable")[:n_rows]
    return order % n, np.unique(drawn[order], return_inverse=True)[1].ravel()
