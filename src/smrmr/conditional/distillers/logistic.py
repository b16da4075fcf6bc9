"""Offers Logistic: a sparse logistic regression of two classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ...runs.stored_rows import RowMatrix, row_blocks
from ...types import Indices, Mask, Matrix, Vector
from .logistic_loops import find_gradient, minimise
from .problem import NONE, Distilled, FitProblem, Shape

ROWS_PER_COVARIATE = 10  # at least, so that covariates do not separate classes by chance
N_LAMBDAS = 30
LAMBDAS = np.geomspace(0.999, 0.03, N_LAMBDAS)  # as shares of the largest
VIOLATION = 1e-6  # of the conditions of a minimum, relative to lambda
PATIENCE = 6  # lambdas without a smaller deviance, after which the path ends
LEAST_LEFT = 0.05  # of 1 less the leverage of a row
SURE = 1e-4  # probabilities beyond count as this, so that no row outweighs all
JITTER = 1e-9  # of the trace of a Hessian, so that its Cholesky factor exists


@dataclass(frozen=True)
class Logistic:
    r"""LASSO in logistic regression, ``"logistic"``: for two classes.

    With :math:`\pi_i` the probability of row i it minimises :math:`-\tfrac1n \sum_i \log \pi_i +
    \lambda \|b\|_1`, covariates and a constant without penalty. Lambda is that of least deviance on
    rows left out one at a time, to first order (Rad and Maleki 2020). The residual is
    :math:`y - \pi`.

    Examples
    --------
    >>> from smrmr import ConditionalTests
    >>> from smrmr.conditional import Logistic
    >>> ConditionalTests(distillers="logistic").distillers == (Logistic(),)
    True
    """

    alias: ClassVar[str] = "logistic"

    def applies(self, problem: FitProblem) -> bool:
        """Whether it can fit a target: two classes, and not too many covariates for them.

        Parameters
        ----------
        problem
            Features and target.

        Returns
        -------
        bool
            True for two classes, with ten rows per covariate.
        """
        target, n_covariates = problem.target, len(problem.regressors.covariate_basis)
        one = target.is_class is not None and len(target.values) == 1
        return one and ROWS_PER_COVARIATE * n_covariates <= problem.regressors.n_rows

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
            Residuals of the target.
        """
        path, regressors, is_class = _path(problem, out), problem.regressors, _classes(problem)
        scores = path.scores(regressors.features, regressors.covariate_basis)
        used = np.flatnonzero(path.best.coefficients)
        of_mean = _deviance(is_class, np.full(len(scores), is_class.mean()))
        return LogisticFit(
            residuals=_residuals(is_class, scores)[None],
            used=used,
            depends_on=_path(problem, NONE).columns if problem.allowed(NONE).all() else None,
            to_refit=NONE,
            shape=Shape(
                linear_share=max(0.0, 1 - path.best.deviance / of_mean),
                uses_products=bool((used < problem.n_products).any()),
            ),
            is_class=is_class,
            scores=scores,
            coefficients=path.best.coefficients[used],
            columns=regressors.features[used],
        )

    def held_out(self, problem: FitProblem) -> Matrix:
        """Residuals of rows left out, as seen from fits to the others.

        Features and lambda are chosen anew.

        Parameters
        ----------
        problem
            Features and target.

        Returns
        -------
        ndarray
            Residuals of the rows `FitProblem.judged`, (1, rows).
        """
        columns, is_class = problem.regressors.features, _classes(problem)
        covariates, allowed = problem.regressors.covariate_basis, problem.allowed(NONE)

        def residuals(known: Indices, new: Indices) -> Matrix:
            path = follow_path(columns[:, known], is_class[known], covariates[:, known], allowed)
            scores = path.scores(columns[:, new], covariates[:, new])
            return _residuals(is_class[new], scores, float(np.std(is_class)))[None]

        return problem.predict_folds(residuals)


class Step(NamedTuple):
    """A fit at one lambda: coefficients of all columns, and of what has no penalty.

    Also log odds of the rows, and the mean deviance of rows left out, half of it.
    """

    coefficients: Vector
    unpenalised: Vector
    scores: Vector
    deviance: float


@dataclass(frozen=True, eq=False)
class LogisticPath:
    """Fits down a path of lambdas.

    Attributes
    ----------
    lams
        Lambdas, at the first of which there are `steps`.
    steps
        Fits, up to the one after which deviance does not fall any more.
    allowed
        Columns that may take part.
    in_question
        For each column the first step at which it comes into question, or would if it were allowed;
        that after the last lambda if never.
    """

    lams: Vector
    steps: tuple[Step, ...]
    allowed: Mask
    in_question: Indices

    @cached_property
    def columns(self) -> Indices:
        """Columns that take part at any lambda."""
        return np.flatnonzero(np.any([step.coefficients for step in self.steps], axis=0))

    @cached_property
    def best(self) -> Step:
        """The step of least deviance."""
        return min(self.steps, key=lambda step: step.deviance)

    def scores(self, columns: Matrix, covariates: Matrix) -> Vector:
        """Log odds at that step, of rows with these columns and covariates."""
        constant, *slopes = self.best.unpenalised
        used, root = np.flatnonzero(self.best.coefficients), np.sqrt(len(self.best.scores))
        found = self.best.coefficients[used] @ columns[used] + constant
        return np.asarray(found + (root * np.array(slopes)) @ covariates)


@dataclass(frozen=True, eq=False, kw_only=True)
class LogisticFit(Distilled):
    """A logistic regression out of which columns can be taken, all else being equal.

    `scores` are log odds of the rows that `is_class` says the class of; `coefficients` those of the
    columns `used`, `columns` their values.
    """

    is_class: Mask
    scores: Vector
    coefficients: Vector
    columns: Matrix

    def without(self, sets: Sequence[Indices]) -> NDArray[np.float64]:
        """Residuals without what some columns contributed to the log odds."""
        found = super().without(sets)
        for i, out in enumerate(sets):
            inside = np.isin(self.used, out)
            if inside.any():
                scores = self.scores - self.coefficients[inside] @ self.columns[inside]
                found[0, i] = _residuals(self.is_class, scores)
        return found


def follow_path(
    columns: RowMatrix,
    is_class: Mask,
    covariates: Matrix,
    allowed: Mask,
    known: LogisticPath | None = None,
) -> LogisticPath:
    """The path of a LASSO of classes on the columns allowed; rows of covariates are orthonormal.

    A `known` path with other columns allowed is taken over as far as these had not come into
    question, which changes nothing but the time.
    """
    n, done = len(is_class), 0
    if known is not None:
        done = int(known.in_question[allowed != known.allowed].min(initial=N_LAMBDAS))
        if done > len(known.steps):
            return known
    X = columns
    if isinstance(columns, np.ndarray):
        X = np.ascontiguousarray(columns, dtype=np.float64)
    free = np.concatenate([np.ones((1, n)), np.sqrt(n) * covariates])
    y, gradient = is_class.astype(np.float64), np.empty(len(X))
    if known is not None and done > 0:
        steps, lams = list(known.steps[:done]), known.lams
        b, b_free, scores = (values.copy() for values in steps[-1][:3])
        _find_gradient(X, y, scores, gradient)
        in_question = np.where(known.in_question < done, known.in_question, N_LAMBDAS)
    else:
        b, b_free, scores = np.zeros(len(X)), np.zeros(len(free)), np.zeros(n)
        minimise(free, len(free), y, np.inf, b_free, scores)  # constant and covariates alone
        _find_gradient(X, y, scores, gradient)
        steps, lams = [], np.abs(gradient[allowed]).max(initial=0.0) * LAMBDAS
        in_question = np.full(len(X), N_LAMBDAS)
    for step in range(done, N_LAMBDAS):
        lam, last = lams[step], lams[max(step - 1, 0)]
        joining = np.abs(gradient) >= 2 * lam - last  # the strong rule (Tibshirani and others 2012)
        while True:
            in_question[joining & (in_question > step)] = step
            working = np.flatnonzero((in_question <= step) & allowed)
            inputs, both = np.concatenate([free, X[working]]), np.concatenate([b_free, b[working]])
            minimise(inputs, len(free), y, lam, both, scores)
            b_free, b[working] = both[: len(free)], both[len(free) :]
            _find_gradient(X, y, scores, gradient)
            joining = (np.abs(gradient) > lam * (1 + VIOLATION)) & (in_question > step)
            if not joining[allowed].any():
                break
        in_question[joining] = step
        support = np.flatnonzero(b)
        if steps and 2 * len(support) > n:
            break
        deviance = _deviance_left_out(np.concatenate([free, X[support]]), y, scores)
        steps.append(Step(b.copy(), b_free.copy(), scores.copy(), deviance))
        best = min(range(len(steps)), key=lambda i: steps[i].deviance)
        if len(steps) - best > PATIENCE:
            break
    return LogisticPath(lams, tuple(steps), allowed, in_question)


def _find_gradient(X: RowMatrix, y: Vector, scores: Vector, gradient: Vector) -> None:
    """The gradient of all columns; of those in a file a few at a time."""
    if isinstance(X, np.ndarray):
        find_gradient(X, y, scores, gradient)
        return
    for some in row_blocks(X.shape):
        find_gradient(X[some].astype(np.float64), y, scores, gradient[some])


def _path(problem: FitProblem, out: Indices) -> LogisticPath:
    """The path without some columns, of which that of all columns is remembered."""
    key, regressors = "logistic", problem.regressors
    known: LogisticPath | None = problem.cache.get(key)
    if known is not None and not len(out):
        return known
    found = follow_path(
        regressors.features,
        _classes(problem),
        regressors.covariate_basis,
        problem.allowed(out),
        known,
    )
    if not len(out):
        problem.cache[key] = found
    return found


def _classes(problem: FitProblem) -> Mask:
    assert problem.target.is_class is not None
    return np.asarray(problem.target.is_class[0])


def _residuals(is_class: Mask, scores: Vector, spread: float | None = None) -> Vector:
    """Residuals in units of the standardised class."""
    return np.asarray((is_class - _probabilities(scores)) / (spread or np.std(is_class)))


def _probabilities(scores: Vector) -> Vector:
    return np.asarray(1 / (1 + np.exp(-np.clip(scores, -30, 30))))


def _deviance_left_out(inputs: Matrix, y: Vector, scores: Vector) -> float:
    r"""Half of the mean deviance of rows, each under the fit without it, to first order.

    Without row i its log odds are less by :math:`h_i (y_i - \pi_i) / (1 - w_i h_i)`, with
    :math:`h_i = x_i' H^{-1} x_i` and the Hessian H of the columns that take part.
    """
    chances = _probabilities(scores)
    weights = np.maximum(chances * (1 - chances), SURE)
    hessian = (inputs * weights) @ inputs.T
    hessian += JITTER * np.trace(hessian) * np.eye(len(inputs))
    h = np.sum(solve_triangular(np.linalg.cholesky(hessian), inputs, lower=True) ** 2, axis=0)
    left_out = scores - h * (y - chances) / np.maximum(1 - weights * h, LEAST_LEFT)
    return _deviance(y, _probabilities(left_out))


def _deviance(y: Vector | Mask, chances: Vector) -> float:
    chances = np.clip(chances, SURE, 1 - SURE)
    return float(-np.mean(np.where(y, np.log(chances), np.log(1 - chances))))
