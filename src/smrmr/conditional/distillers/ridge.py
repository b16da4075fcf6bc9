r"""Offers Ridge: a linear fit of the target to all features, without any of them in closed form.

With :math:`K = Z'Z / n`, Z one row per feature, the residuals are :math:`\lambda (K + \lambda)^{-1}
Y`. Leaving out the features G takes :math:`Z_G'Z_G / n` away from K, which is a change of rank
\|G\|: residuals, degrees of freedom and so the choice of lambda follow from one decomposition for
every G (Sherman, Morrison and Woodbury).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...runs.stored_rows import (
    RowMatrix,
    column_blocks,
    products_of_columns,
    products_of_rows,
    span,
)
from ...types import Indices, Matrix, Vector
from .problem import NONE, Distilled, FitProblem, Shape

Array = NDArray[np.float64]

LAMBDAS = np.geomspace(1e-3, 1e3, 25)  # times the mean eigenvalue of K
LEAST_EIGENVALUE = 1e-9  # relative to the largest
MOST_VALUES = 2**25  # of the features in the fit; of more, those most associated take part


@dataclass(frozen=True)
class Ridge:
    """Ridge regression on all features, ``"ridge"``: for effects that many features share.

    All columns of the target have one lambda, that of least generalised cross-validation, which is
    chosen anew without each feature. No feature is chosen, so that the error needs no correction.

    Examples
    --------
    >>> from smrmr import ConditionalTests
    >>> from smrmr.conditional import Ridge
    >>> ConditionalTests(distillers="ridge").distillers == (Ridge(),)
    True
    """

    alias: ClassVar[str] = "ridge"

    def fit(self, problem: FitProblem, out: Indices) -> Distilled:
        """The fit that never sees the columns `out`.

        Parameters
        ----------
        problem
            Features and target.
        out
            Columns to leave out.

        Returns
        -------
        Distilled
            Residuals of the target; those without other columns follow from it.
        """
        return RidgeFit(
            residuals=_spectrum(problem).without([out])[:, 0],
            used=NONE if len(out) else np.arange(len(problem.scores)),
            to_refit=NONE,
            shape=Shape(linear_share=1.0),
            spectrum=_spectrum(problem),
            out=out,
        )

    def forget(self, problem: FitProblem) -> None:
        """Drop what was worked out for the problem: the largest part of what its cache holds.

        Parameters
        ----------
        problem
            Features and target.
        """
        problem.cache.pop("ridge", None)

    def held_out(self, problem: FitProblem) -> Matrix:
        """Residuals of rows left out, as seen from fits to the others.

        With lambda as it is chosen from all rows.

        Parameters
        ----------
        problem
            Features and target.

        Returns
        -------
        ndarray
            Residuals of the rows `FitProblem.judged`, (q, rows).
        """
        return _spectrum(problem).held_out()


def _spectrum(problem: FitProblem) -> Spectrum:
    if "ridge" not in problem.cache:
        problem.cache["ridge"] = Spectrum(problem)
    found: Spectrum = problem.cache["ridge"]
    return found


@dataclass(eq=False)
class Spectrum:
    r"""Features and target of a problem by the eigenvectors U of K.

    `loadings` are :math:`C = U'Z' / \sqrt n`, (rank, features), and `inside` is U'Y', (rank, q).
    Of more samples than features U is Z'W, and only W is held.
    """

    problem: FitProblem

    @property
    def scores(self) -> RowMatrix:
        """The features that take part."""
        scores = self.problem.scores
        return span(scores, 0, max(1, MOST_VALUES // scores.shape[1]))

    @cached_property
    def _eigen(self) -> tuple[Vector, Matrix]:
        """Eigenvalues of K other than 0, and its eigenvectors, (n, rank), or W, (p, rank)."""
        p, n = self.scores.shape
        products = products_of_columns if n <= p else products_of_rows
        values, vectors = np.linalg.eigh(products(self.scores, np.arange(p)) / n)
        kept = values > LEAST_EIGENVALUE * max(values[-1], 1.0)
        values, vectors = values[kept], vectors[:, kept]
        return values, vectors if n <= p else vectors / np.sqrt(n * values)

    @property
    def _is_tall(self) -> bool:
        """Whether W is held, not eigenvectors."""
        p, n = self.scores.shape
        return bool(n > p)

    def _parts(self) -> Iterator[tuple[slice, Matrix]]:
        """Scores of some samples after the other, in double precision."""
        for rows in column_blocks(self.scores.shape):
            yield rows, self.scores[:, rows].astype(np.float64, copy=False)

    @property
    def values(self) -> Vector:
        """Eigenvalues of K."""
        return self._eigen[0]

    @cached_property
    def loadings(self) -> Matrix:
        """Features by eigenvectors."""
        n = self.scores.shape[1]
        if self._is_tall:
            return np.asarray((self._eigen[1] * (self.values * np.sqrt(n))).T)
        total = np.zeros((len(self.values), len(self.scores)))
        for rows, Z in self._parts():
            total += self._eigen[1][rows].T @ Z.T
        return np.asarray(total / np.sqrt(n))

    @cached_property
    def inside(self) -> Matrix:
        """Target by eigenvectors, (rank, q)."""
        Y = self.problem.target.values
        if not self._is_tall:
            return np.asarray(self._eigen[1].T @ Y.T)
        total = np.zeros((len(self.scores), len(Y)))
        for rows, Z in self._parts():
            total += Z @ Y[:, rows].T
        return np.asarray(self._eigen[1].T @ total)

    @cached_property
    def outside(self) -> Matrix:
        """What no eigenvector explains of the target, (q, n)."""
        return np.asarray(self.problem.target.values - self.expanded(self.inside))

    def expanded(self, inside: Matrix) -> Matrix:
        """Rows of samples from coordinates in the eigenvectors."""
        weights = (self._eigen[1] @ inside).T
        if not self._is_tall:
            return np.asarray(weights)
        found = np.empty((len(weights), self.scores.shape[1]))
        for rows, Z in self._parts():
            found[:, rows] = weights @ Z
        return found

    @cached_property
    def lams(self) -> Vector:
        """Lambdas to choose from: every feature has variance 1, whatever it holds."""
        p, n = self.scores.shape
        return np.asarray(LAMBDAS * p / min(p, n))

    @cached_property
    def weights(self) -> Matrix:
        """Inverse W of K + lambda in its eigenvectors, (lambdas, rank)."""
        return np.asarray(1 / (self.values + self.lams[:, None]))

    @cached_property
    def _of_all(self) -> tuple[Array, Array, Matrix]:
        """W Y and W² Y, (lambdas, rank, q), and the squares of the former, (lambdas, q)."""
        once = self.weights[:, :, None] * self.inside
        return once, self.weights[:, :, None] * once, np.sum(once**2, axis=1)

    @cached_property
    def _outside_squares(self) -> Vector:
        return np.asarray(np.sum(self.outside**2, axis=1))

    def choose(self, squares: Array, trace: Matrix) -> Indices:
        """Lambda of least generalised cross-validation, for each of k fits.

        A fit may take up half of the degrees of freedom, as the LASSO may: what is left of the
        target by one that nearly interpolates lies where features hardly vary.

        `squares` are those of W Y, (lambdas, k, q), `trace` is that of W, (lambdas, k).
        """
        lams = self.lams[:, None]
        errors = np.sum(lams[:, :, None] ** 2 * squares + self._outside_squares, axis=2)
        freedom = len(self.values) - lams * trace
        left = 1 - (freedom + 1) / self.problem.regressors.freedom
        return np.asarray(np.argmin(np.where(left < 0.5, np.inf, errors / left**2), axis=0))

    @cached_property
    def chosen(self) -> int:
        """Number of the lambda that is chosen where nothing is left out."""
        return int(self.choose(self._of_all[2][:, None], self.weights.sum(axis=1)[:, None])[0])

    @cached_property
    def _known_residuals(self) -> dict[int, Matrix]:
        return {}

    def _residuals(self, step: int) -> Matrix:
        """Residuals of the fit to all features by one of the lambdas, (q, n); remembered."""
        if step not in self._known_residuals:
            inside = self.lams[step] * self._of_all[0][step]
            self._known_residuals[step] = self.outside + self.expanded(inside)
        return self._known_residuals[step]

    def without(self, outs: Sequence[Indices]) -> Array:
        """Residuals of the fits without some sets of features, (q, sets, n)."""
        found = np.empty((len(self.outside), len(outs), self.outside.shape[1]))
        sets = [out[out < len(self.scores)] for out in outs]
        single = [i for i, out in enumerate(sets) if len(out) == 1]
        if single:
            found[:, single] = self._without_singles(np.concatenate([sets[i] for i in single]))
        for i, out in enumerate(sets):
            if len(out) == 0:
                found[:, i] = self._residuals(self.chosen)
            elif len(out) > 1:
                found[:, i] = self._without_group(out)
        return found

    def _without_singles(self, features: Indices) -> Array:
        """Without each of some features: a change of rank one."""
        C, (once, twice, squares) = self.loadings[:, features], self._of_all
        gone = 1 - self.weights @ C**2  # (lambdas, k)
        length = self.weights**2 @ C**2
        own = np.matmul(C.T, once) / gone[:, :, None]  # (lambdas, k, q)
        squares = squares[:, None] + own * (2 * np.matmul(C.T, twice) + length[:, :, None] * own)
        best = self.choose(squares, self.weights.sum(axis=1)[:, None] + length / gone)
        found = np.empty((len(self.outside), len(features), self.outside.shape[1]))
        for step in np.unique(best):
            those = np.flatnonzero(best == step)
            base = self._residuals(int(step))
            change = self.expanded(self.lams[step] * self.weights[step][:, None] * C[:, those])
            found[:, those] = base[:, None] + own[step, those].T[:, :, None] * change
        return found

    def _without_group(self, features: Indices) -> Matrix:
        """Without several features at once: a change of as large a rank, or K anew."""
        C, (once, twice, squares) = self.loadings[:, features], self._of_all
        if 2 * len(features) > len(C):
            values, turned = np.linalg.eigh(np.diag(self.values) - C @ C.T)
            weights = 1 / (np.maximum(values, 0.0) + self.lams[:, None])
            once = weights[:, :, None] * (turned.T @ self.inside)
            step = self._chosen_alone(np.sum(once**2, axis=1), weights.sum(axis=1))
            return self.outside + self.expanded(self.lams[step] * turned @ once[step])
        scaled = self.weights[:, :, None] * C  # (lambdas, rank, m)
        change = np.linalg.inv(np.eye(len(features)) - np.matmul(C.T, scaled))
        among = np.matmul(np.swapaxes(scaled, 1, 2), scaled)
        own = np.matmul(change, np.matmul(C.T, once))  # (lambdas, m, q)
        squares = squares + np.sum(
            own * (2 * np.matmul(C.T, twice) + np.matmul(among, own)), axis=1
        )
        trace = self.weights.sum(axis=1) + np.einsum("lij,lji->l", change, among)
        step = self._chosen_alone(squares, trace)
        return self.outside + self.expanded(
            self.lams[step] * (once[step] + scaled[step] @ own[step])
        )

    def _chosen_alone(self, squares: Matrix, trace: Vector) -> int:
        return int(self.choose(squares[:, None], trace[:, None])[0])

    def held_out(self) -> Matrix:
        r"""Residuals of the rows that judge, each predicted from the other folds.

        With H the matrix that makes fitted values of the target, those of a fold F that is left out
        are :math:`(I - H_{FF})^{-1} e_F`. What covariates explain was taken from features and
        target beforehand, as for all distillers. Of many rows all have the same leverage, the mean.
        """
        residuals, shrunk = self.without([NONE])[:, 0], self.values * self.weights[self.chosen]
        rows, n = self.problem.judged, residuals.shape[1]
        if n > len(rows):
            return np.asarray(residuals[:, rows] / (1 - (shrunk.sum() + 1) / n))
        found = np.empty_like(residuals)
        for fold in self.problem.folds:
            U = self.scores[:, fold].T @ self._eigen[1] if self._is_tall else self._eigen[1][fold]
            left = np.eye(len(fold)) - (U * shrunk) @ U.T - 1 / n
            found[:, fold] = np.linalg.solve(left, residuals[:, fold].T).T
        return found


@dataclass(frozen=True, eq=False, kw_only=True)
class RidgeFit(Distilled):
    """A ridge fit without some features, `out`, from which others can be left out as well."""

    spectrum: Spectrum
    out: Indices
    exact: ClassVar[bool] = True

    def without(self, sets: Sequence[Indices]) -> Array:
        """Residuals of the fit without some more columns, exactly."""
        return self.spectrum.without([np.union1d(self.out, columns) for columns in sets])
