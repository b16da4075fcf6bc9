r"""Predicts rows that were left out from a few features or many: kernel ridge on normal scores.

The kernel is :math:`\langle z, z' \rangle + k \exp(-\|z - z'\|^2 / 2k)` for k normal scores, a line
and a bend in all of them. Its ridge is that of least squared error of training rows left out one
at a time. Above 200 training rows the kernel goes through so many of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ..conditional.model_columns import rank_columns
from ..data.row_groups import group_means
from ..features.rank_table import RankTable
from ..runs.work import Work
from ..types import Indices, Matrix, Vector

MAX_LANDMARKS = 200  # training rows that stand for all
RIDGES = np.geomspace(1e-3, 30, 10)  # as shares of the mean of the kernel's diagonal
MAX_BLOCK_VALUES = 2**22  # bounds the memory of features that are scored together
LEAST_LEFT = 1e-3  # of 1 less the leverage of a row
JITTER = 1e-9  # of the trace of a kernel, so that its Cholesky factor exists
RANK = 1e-7  # relative size from which on directions of covariates count


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to learn from and rows to predict, and what every row is known by besides features.

    Attributes
    ----------
    train, test
        Positions of rows.
    covariates
        Columns that are adjusted for, (n, c); none if c is 0.
    groups
        The group of every row, where features count as deviations from the mean of their group;
        else None. A group is all in training or all left out.
    """

    train: Indices
    test: Indices
    covariates: Matrix
    groups: Indices | None = None

    @classmethod
    def of(cls, train: Indices, test: Indices, design: Matrix, groups: Indices | None) -> Rows:
        """Rows with covariates as deviations from the mean of their group, as features are."""
        if groups is not None:
            design = within_groups(design.T, groups).T
        return cls(train, test, design, groups)

    def coefficients(self, values: Matrix) -> Matrix:
        """Least squares of rows of values on the covariates in training rows, (k, c)."""
        design = self.covariates[self.train]
        design = design - design.mean(axis=0)
        centred = values[:, self.train] - values[:, self.train].mean(axis=1, keepdims=True)
        return np.asarray(np.linalg.lstsq(design, centred.T, rcond=RANK)[0].T)

    def fitted(self, values: Matrix) -> Matrix:
        """What training rows say of every row by their mean and the covariates alone, (k, n)."""
        mean = values[:, self.train].mean(axis=1, keepdims=True)
        if not self.covariates.shape[1]:
            return np.repeat(mean, values.shape[1], axis=1)
        design = self.covariates - self.covariates[self.train].mean(axis=0)
        return np.asarray(mean + self.coefficients(values) @ design.T)


def predict_rows(
    ranks: RankTable, features: Indices, target: Matrix, rows: Rows, given: bool = True
) -> Matrix:
    """Predictions of the columns of the target, (q, n), for the test rows, (q, n_test).

    Without features, or without any that vary, by the mean and the covariates alone; these are
    part of the prediction where the target is `given` them.
    """
    base = rows if given else Rows(rows.train, rows.test, np.empty((target.shape[1], 0)))
    fitted = base.fitted(target)
    inner, squares, n_scores = _inner_products(ranks, features, rows)
    if not n_scores:
        return fitted[:, rows.test]
    distances = np.maximum(squares[:, None] + squares[rows.train][_spread(rows)] - 2 * inner, 0)
    kernel = inner + n_scores * np.exp(-distances / (2 * n_scores))
    residuals = (target - fitted)[:, rows.train]
    return np.asarray(fitted[:, rows.test] + _ridge(kernel, rows, residuals))


def _ridge(kernel: Matrix, rows: Rows, residuals: Matrix) -> Matrix:
    """Ridge on the columns whose inner products are the kernel with landmarks, (n, m)."""
    n, among = len(rows.train), kernel[rows.train][_spread(rows)]
    with_jitter = among + JITTER * np.trace(among) * np.eye(len(among))
    factor = np.linalg.cholesky(with_jitter)
    columns = np.linalg.solve(factor, kernel.T).T
    columns -= columns[rows.train].mean(axis=0)
    train = columns[rows.train]
    values, vectors = np.linalg.eigh(train.T @ train)
    values = np.maximum(values, 0.0)
    inside = train @ vectors
    gain = residuals @ inside  # (q, m)
    ridges = RIDGES * np.trace(among) / len(among)
    shrunk = 1 / (values[:, None] + ridges)
    left = np.maximum(1 - inside**2 @ shrunk - 1 / n, LEAST_LEFT)  # (n, ridges)
    errors = [
        np.mean(((residuals - (gain * shrunk[:, i]) @ inside.T) / left[:, i]) ** 2)
        for i in range(len(ridges))
    ]
    slopes = vectors @ (gain * shrunk[:, int(np.argmin(errors))]).T
    return np.asarray((columns[rows.test] @ slopes).T)


def _spread(rows: Rows) -> Indices:
    """Landmarks: training rows, or some that are evenly spread, as positions among these."""
    n = len(rows.train)
    return np.unique(np.linspace(0, n - 1, min(n, MAX_LANDMARKS)).astype(np.intp))


def _inner_products(ranks: RankTable, features: Indices, rows: Rows) -> tuple[Matrix, Vector, int]:
    """Inner products of scores of all rows with landmarks, squares, and the number of scores."""
    n = ranks.columns.n_rows
    landmarks = rows.train[_spread(rows)]
    inner, squares, n_scores = np.zeros((n, len(landmarks))), np.zeros(n), 0
    width = max(1, MAX_BLOCK_VALUES // n)
    for start in range(0, len(features), width):
        found = rank_columns(ranks, features[start : start + width], Work(n_jobs=1))
        Z = _adjusted(normal_scores_of(found.ranks, rows.train), rows)
        inner += Z.T @ Z[:, landmarks]
        squares += np.einsum("kn,kn->n", Z, Z)
        n_scores += int(np.count_nonzero(Z.any(axis=1)))
    return inner, squares, n_scores


def normal_scores_of(ranks: NDArray[np.int32], train: Indices) -> Matrix:
    """Normal scores of all rows among the training rows, which have mean 0 and variance 1.

    A row has the normal quantile of the share of training rows below it, ties by half; beyond them
    all it has that of the outermost. Columns that are constant in training rows are 0.

    Parameters
    ----------
    ranks
        Twice the ranks of every column, (k, n): only their order counts.
    train
        Training rows.
    """
    k, n, n_train = *ranks.shape, len(train)
    size = 2 * n + 1
    place = ranks + size * np.arange(k)[:, None]
    here = np.bincount(place[:, train].ravel(), minlength=k * size).reshape(k, size)
    through = np.cumsum(here, axis=1)
    twice_below = (2 * through - here).ravel()[place]
    quantiles = ndtri(np.clip(np.arange(2 * n_train + 1), 1, 2 * n_train - 1) / (2 * n_train))
    scores = np.asarray(quantiles[twice_below])
    scores -= scores[:, train].mean(axis=1, keepdims=True)
    spread = scores[:, train].std(axis=1, keepdims=True)
    return np.asarray(np.where(spread > RANK, scores / np.where(spread > RANK, spread, 1), 0.0))


def _adjusted(scores: Matrix, rows: Rows) -> Matrix:
    """Scores less what covariates explain of them, or as deviations from their group's mean."""
    if rows.groups is not None:
        scores = within_groups(scores, rows.groups)
    if rows.covariates.shape[1]:
        scores = scores - (rows.fitted(scores) - scores[:, rows.train].mean(axis=1, keepdims=True))
    return scores


def within_groups(values: Matrix, groups: Indices) -> Matrix:
    """Rows of values as deviations from the mean of their group."""
    means = group_means(values.T, groups).T
    return np.asarray(values - means[:, groups])
