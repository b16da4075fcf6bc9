"""Defines what a distiller is given and what it hands back: FitProblem and Distilled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...data.targets.protocol import TargetColumns
from ...runs.blocks import map_on_threads
from ...types import Indices, Mask, Matrix, Vector
from ..scores import standardised
from .path_loops import SquaredLoss
from .paths import Path, fit_path
from .regressors import Regressors, absolute_values

MOST_VALUES = 2**24  # of features in sparse fits; of more, those most associated take part,
LEAST_IN_FIT = 1000  # which are so many in any case
MOST_JUDGED = 2000  # rows by which fits are judged
N_FOLDS = 5  # parts of them, each predicted from the others
MOST_COPIED = 2**25  # values of columns that folds fitted at the same time copy
NONE = np.empty(0, np.intp)  # no column left out


@dataclass(frozen=True)
class Shape:
    """What a fit says of the shape of effects, which statistics are weighted by.

    Parameters
    ----------
    uses_absolute_values
        Whether absolute values of features improved the fit.
    linear_share
        Share of the target that straight lines explain, going by an estimate of the error.
    uses_products
        Whether products of two features take part in the fit.

    Examples
    --------
    >>> from smrmr.conditional import Shape
    >>> Shape(linear_share=0.4).uses_absolute_values
    False
    """

    uses_absolute_values: bool = False
    linear_share: float = 0.0
    uses_products: bool = False


@dataclass(frozen=True, eq=False)
class Distilled:
    """A fit of all columns of the target to features, and its residuals.

    Attributes
    ----------
    residuals
        What the fit does not explain of the target, (q, n).
    used
        Columns that took part in the fit.
    depends_on
        Columns without which the fit may be another one, `used` among them; None if any may be.
    to_refit
        Columns without which the target is fitted again whatever their first p-value; None if that
        holds for all of `used`.
    shape
        What the fit says of the shape of effects.

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr.conditional import Distilled
    >>> Distilled(np.ones((1, 3)), np.array([0])).without([np.array([0])]).tolist()
    [[[1.0, 1.0, 1.0]]]
    """

    residuals: Matrix
    used: Indices
    depends_on: Indices | None = None
    to_refit: Indices | None = None
    shape: Shape = field(default_factory=Shape)
    exact: ClassVar[bool] = False
    """Whether `without` is a fit that never saw the columns, and not an approximation."""

    def without(self, sets: Sequence[Indices]) -> NDArray[np.float64]:
        """Residuals of fits without some columns, as far as they are known without a new fit.

        Parameters
        ----------
        sets
            Columns to leave out together.

        Returns
        -------
        ndarray
            Residuals for each set, (q, sets, n).
        """
        return np.repeat(self.residuals[:, None], len(sets), axis=1)


@dataclass(eq=False)
class FitProblem:
    r"""Features and the columns of the target, as distillers see them.

    Distillers share what is worked out once, paths of penalised fits above all.

    Attributes
    ----------
    regressors
        The columns Z, then \|Z\|, standardised and adjusted for covariates.
    target
        The q columns of the target, standardised and adjusted too.
    scores
        Normal scores of all features, of which those of `regressors` are the first.
    n_products
        Number of the first columns that are products of two features.
    cache
        What distillers have worked out, by keys of their own.
    n_jobs
        Threads that fits to parts of the rows are shared out to.

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr.conditional import FitProblem, Lasso
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> problem = FitProblem.of(X, X[:, 2])
    >>> bool(np.mean(Lasso().held_out(problem) ** 2) < 0.1)
    True
    """

    regressors: Regressors
    target: TargetColumns
    scores: Matrix
    n_products: int = 0
    cache: dict[Any, Any] = field(default_factory=dict)
    n_jobs: int | None = 1

    @classmethod
    def of(cls, X: Matrix, y: Vector | Matrix | Mask) -> FitProblem:
        """The problem of fitting y, numbers or classes, to the columns of X.

        Parameters
        ----------
        X
            Features, (n, p).
        y
            n numbers, or booleans that say which rows are in a class; or q columns of either.

        Returns
        -------
        FitProblem
            Standardised, without covariates.
        """
        Z = standardised(np.asarray(X, dtype=np.float64).T)
        columns = np.concatenate([Z, absolute_values(Z)])
        Y: Any = np.atleast_2d(np.asarray(y).T)
        names = tuple(f"target {i}" for i in range(len(Y)))
        is_class = Y if Y.dtype == np.bool_ else None
        target = TargetColumns(names, standardised(Y.astype(np.float64)), is_class)
        return cls(Regressors(columns, np.empty((0, Y.shape[1]))), target, Z)

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
        is_class = None if target.is_class is None else target.is_class[:, rows]
        return FitProblem(
            Regressors(held.columns[:, rows], held.covariate_basis[:, rows]),
            replace(target, values=target.values[:, rows], is_class=is_class),
            self.scores[:, rows],
            self.n_products,
            n_jobs=self.n_jobs,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Without losses, which hold the columns once more: workers make their own."""
        losses = {("loss", size) for size in self._sizes}
        kept = {key: value for key, value in self.cache.items() if key not in losses}
        return vars(self) | {"cache": kept}

    @property
    def judged(self) -> Indices:
        """Rows by which fits are judged: all, or 2,000 that are evenly spread."""
        n = self.regressors.n_rows
        return np.linspace(0, n - 1, min(n, MOST_JUDGED)).astype(np.intp)

    @property
    def folds(self) -> list[Indices]:
        """The rows `judged` in five parts, as positions among them; each has rows of all kinds.

        That is because rows are ordered by the target.
        """
        return [np.arange(k, len(self.judged), N_FOLDS) for k in range(N_FOLDS)]

    def predict_folds(self, residuals: Callable[[Indices, Indices], Matrix]) -> Matrix:
        """Residuals of the rows `judged`, each fold predicted from the other four.

        Parameters
        ----------
        residuals
            Of new rows under a fit to known ones, (q, new): a function of the positions of both.

        Returns
        -------
        ndarray
            Residuals, (q, rows).
        """
        rows, folds = self.judged, self.folds
        at_once = max(1, MOST_COPIED // (len(self.regressors.columns) * len(rows)))
        parts = map_on_threads(
            lambda fold: residuals(np.delete(rows, fold), rows[fold]), folds, self.n_jobs, at_once
        )
        found = np.empty((len(parts[0]), len(rows)))
        for fold, part in zip(folds, parts, strict=True):
            found[:, fold] = part
        return found

    @property
    def n_features(self) -> int:
        """Number of columns Z."""
        return len(self.regressors.features)

    def allowed(self, out: Indices, most: int | None = None) -> Mask:
        """Columns Z that may take part: the first ones but for some.

        Which ones these are does not depend on what the columns `out` hold: each column has its
        place by its own association with the target, and the next one takes the place of one that
        is left out.

        Parameters
        ----------
        out
            Columns to leave out.
        most
            How many there are at most; as many as sparse fits can take, if not given.

        Returns
        -------
        ndarray
            A mask of the columns.
        """
        kept = np.ones(self.n_features, np.bool_)
        kept[out[out < self.n_features]] = False
        most = most_in_fit(self.regressors.n_rows) if most is None else most
        return np.asarray(kept & (np.cumsum(kept) <= most))

    def lasso(self, out: Indices) -> Path:
        r"""The LASSO on Z, or on Z and \|Z\|, whichever has the smaller estimated error.

        Parameters
        ----------
        out
            Columns to leave out.

        Returns
        -------
        Path
            Coefficients at every lambda; its size says whether \|Z\| takes part.
        """
        for size in self._sizes:
            self._loss(size)  # what both share, once
        n_jobs = self.n_jobs if not len(out) else 1  # others are fitted on threads themselves
        linear, with_abs = map_on_threads(
            lambda size: self._path("LASSO", size, out), self._sizes, n_jobs
        )
        return with_abs if with_abs.least < linear.least else linear

    def mcp(self, out: Indices, lasso: Path) -> Path:
        """MCP on the columns of the LASSO, from which it starts at every lambda.

        Parameters
        ----------
        out
            Columns to leave out.
        lasso
            What `lasso` returned for the same columns.

        Returns
        -------
        Path
            Coefficients at every lambda.
        """
        return self._path("MCP", lasso.size, out, lasso)

    def shape(self, path: Path) -> Shape:
        """What a LASSO says of the shape of effects.

        Parameters
        ----------
        path
            What `lasso` returned.

        Returns
        -------
        Shape
            By its estimated error.
        """
        with_products = bool(path.chosen[:, : self.n_products].any())
        return Shape(path.size > self.n_features, max(0.0, 1 - path.least), with_products)

    def entered(self, path: Path) -> Indices:
        """Columns Z without which a path may be another one.

        Those that enter it at any lambda, themselves or their absolute values. All, if one that is
        beyond those `allowed` would enter it: leaving out any column lets that one in.

        Parameters
        ----------
        path
            A path of this problem.

        Returns
        -------
        ndarray
            Columns.
        """
        entered = np.unique(path.entered % self.n_features)
        let_in = ~self.allowed(NONE)[entered]
        return np.arange(self.n_features) if let_in.any() else entered

    @property
    def lassos(self) -> tuple[Path, Path]:
        r"""The LASSO of all columns, on Z and on Z and \|Z\|."""
        linear, with_abs = (self._path("LASSO", size, NONE) for size in self._sizes)
        return linear, with_abs

    @property
    def _sizes(self) -> tuple[int, int]:
        return self.n_features, len(self.regressors.columns)

    def _path(self, name: str, size: int, out: Indices, convex: Path | None = None) -> Path:
        """A path without some columns, of which that of all columns is remembered."""
        known = self.cache.get((name, size))
        if known is not None and not len(out):
            return known  # type: ignore[no-any-return]
        left_out = np.tile(~self.allowed(out), size // self.n_features)
        found = fit_path(self._loss(size), self.regressors.freedom, left_out, known, convex)
        if not len(out):
            self.cache[name, size] = found
        return found

    def _loss(self, size: int) -> SquaredLoss:
        if ("loss", size) not in self.cache:
            self.cache["loss", size] = self.regressors.loss(self.target.values, size)
        loss: SquaredLoss = self.cache["loss", size]
        return loss


def most_in_fit(n: int) -> int:
    """How many features sparse fits to n rows can take: bounded by memory."""
    return max(LEAST_IN_FIT, MOST_VALUES // n)


def largest(sizes: Vector, most: int) -> tuple[int, ...]:
    """Positions of the largest sizes other than 0, in order of position."""
    order = np.argsort(-sizes, kind="stable")[: min(most, np.count_nonzero(sizes))]
    return tuple(sorted(order.tolist()))
