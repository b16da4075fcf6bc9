"""Defines what a distiller is given and what it hands back: FitProblem and Distilled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...data.targets.protocol import TargetColumn
from ...types import Indices, Mask, Matrix, Vector
from ..scores import standardised
from .paths import Path, fit_path
from .regressors import Regressors

MAX_IN_FIT = 1000  # features, those most associated with the target
NONE = np.empty(0, np.intp)  # no column left out


@dataclass(frozen=True, eq=False)
class Distilled:
    """A fit of one column of the target to features, and its residual.

    Attributes
    ----------
    residual
        What the fit does not explain of the target, (n,).
    held_out
        The same as seen from each row left out; its mean square is the error of the fit.
    used
        Columns that took part in the fit.
    depends_on
        Columns without which the fit may be another one, `used` among them; None if any may be.
    uses_absolute_values
        Whether absolute values of features took part.
    explained
        Share of the variance of rows left out that each kind of fit explains, by its name.

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr.conditional import Distilled
    >>> Distilled(np.ones(4), np.full(4, 2.0), np.array([0])).error
    4.0
    """

    residual: Vector
    held_out: Vector
    used: Indices
    depends_on: Indices | None = None
    uses_absolute_values: bool = False
    explained: dict[str, float] = field(default_factory=dict)

    @property
    def error(self) -> float:
        """Mean square of the residuals of rows left out."""
        return mean_square(self.held_out)


@dataclass(eq=False)
class FitProblem:
    r"""Features and one column of the target, as distillers see them.

    Distillers share what is worked out once, paths of penalised fits above all.

    Attributes
    ----------
    regressors
        The columns Z, then \|Z\|, standardised and adjusted for covariates.
    target
        The column of the target, standardised and adjusted too.
    cache
        What distillers have worked out, by keys of their own.

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr.conditional import FitProblem, Lasso
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> problem = FitProblem.of(X, X[:, 2])
    >>> Lasso().fit(problem, np.array([2])).error > 0.5 > Lasso().fit(problem, np.array([3])).error
    True
    """

    regressors: Regressors
    target: TargetColumn
    cache: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, X: Matrix, y: Vector | Mask) -> FitProblem:
        """The problem of fitting y, numbers or a class, to the columns of X.

        Parameters
        ----------
        X
            Features, (n, p).
        y
            n numbers, or booleans that say which rows are in a class.

        Returns
        -------
        FitProblem
            Standardised, without covariates.
        """
        Z = standardised(np.asarray(X, dtype=np.float64).T)
        columns = np.concatenate([Z, standardised(np.abs(Z))])
        is_class = np.asarray(y, dtype=np.bool_) if np.asarray(y).dtype == np.bool_ else None
        target = TargetColumn("target", standardised(np.asarray(y, dtype=np.float64)), is_class)
        return cls(Regressors(columns, np.empty((0, len(y)))), target)

    def take_rows(self, rows: Indices) -> FitProblem:
        """The same problem with rows in another order, to the last bit.

        Parameters
        ----------
        rows
            Every row once.

        Returns
        -------
        FitProblem
            With nothing in its cache.
        """
        held, target = self.regressors, self.target
        is_class = None if target.is_class is None else target.is_class[rows]
        return FitProblem(
            Regressors(held.columns[:, rows], held.covariate_basis[:, rows]),
            TargetColumn(target.name, target.values[rows], is_class),
        )

    @property
    def n_features(self) -> int:
        """Number of columns Z."""
        return len(self.regressors.features)

    def without(self, out: Indices) -> Mask:
        """Columns Z that may take part: all but some, and no more than 1,000.

        Parameters
        ----------
        out
            Columns to leave out.

        Returns
        -------
        ndarray
            A mask of the columns.
        """
        kept = ~np.isin(np.arange(self.n_features), out)
        return np.asarray(kept & (np.cumsum(kept) <= MAX_IN_FIT))

    def path(self, out: Indices, with_abs: bool, concave: bool) -> Path:
        r"""LASSO or MCP path on Z, or on Z and \|Z\|, without some columns.

        Parameters
        ----------
        out
            Columns to leave out.
        with_abs
            Whether absolute values take part.
        concave
            MCP instead of LASSO.

        Returns
        -------
        Path
            Coefficients at every lambda, and which is chosen.
        """
        key = "path", with_abs, concave
        if key not in self.cache:
            self.cache[key] = self._path(NONE, with_abs, concave, None)
        known: Path = self.cache[key]
        return self._path(out, with_abs, concave, known) if len(out) else known

    def _path(self, out: Indices, with_abs: bool, concave: bool, known: Path | None) -> Path:
        size = len(self.regressors.columns) if with_abs else self.n_features
        left_out = np.tile(~self.without(out), 2 if with_abs else 1)
        regressors = self.regressors
        return fit_path(
            regressors.gram, self._gain[:size], regressors.freedom, concave, left_out, known
        )

    def lasso(self, out: Indices) -> tuple[bool, Vector]:
        r"""Whether \|Z\| lowers the estimated error of the LASSO, and its coefficients.

        Parameters
        ----------
        out
            Columns to leave out.

        Returns
        -------
        tuple of bool and ndarray
            The coefficients are those of Z, then, if \|Z\| takes part, of \|Z\|.
        """
        linear, with_abs = (self.path(out, absolute, concave=False) for absolute in (False, True))
        better = with_abs.least < linear.least
        return better, (with_abs if better else linear).chosen

    def entered(self, with_abs: bool, concave: bool) -> Indices:
        """Columns Z that enter the path of all columns at any lambda.

        Parameters
        ----------
        with_abs, concave
            Which path, see `path`.

        Returns
        -------
        ndarray
            Columns.
        """
        key = "entered", with_abs, concave
        if key not in self.cache:
            nonzero = (self.path(NONE, with_abs, concave).coefficients != 0).any(axis=0)
            self.cache[key] = np.flatnonzero(nonzero.reshape(-1, self.n_features).any(axis=0))
        found: Indices = self.cache[key]
        return found

    @property
    def _gain(self) -> Vector:
        if "gain" not in self.cache:
            self.cache["gain"] = self.regressors.products(self.target.values)
        gain: Vector = self.cache["gain"]
        return gain


def mean_square(values: Vector) -> float:
    """Mean of squares."""
    return float(np.mean(values**2))


def largest(sizes: Vector, most: int) -> tuple[int, ...]:
    """Positions of the largest sizes other than 0, in order of position."""
    order = np.argsort(-sizes, kind="stable")[: min(most, np.count_nonzero(sizes))]
    return tuple(sorted(order.tolist()))
