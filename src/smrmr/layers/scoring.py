r"""Scores predictions of rows that were left out: accuracy, R2 or concordance, by row.

Every score is a ratio of sums over rows, :math:`S = \sum_i a_i / \sum_i w_i`, so that it has a
standard error over rows, :math:`\sqrt{\sum_i (a_i - S w_i)^2} / \sum_i w_i`, and so has the
difference of two scores of the same rows. Concordance is a ratio over pairs; a pair counts in both
of its rows, which doubles the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from ..data.study import Study
from ..data.target import columns_of
from ..types import Indices, Matrix, Vector
from .prediction import Rows, within_groups

MAX_BLOCK_VALUES = 2**22  # bounds the memory of pairs that are compared together


@dataclass(frozen=True, eq=False)
class RowScores:
    """Sums of which scores are ratios.

    Attributes
    ----------
    gains
        For each predictor and row, (s, n).
    weights
        For each row.
    units
        What is independent: a number for each row, that of its group or its own.
    by_pairs
        Whether sums are over pairs of rows, each counted in both.
    """

    gains: Matrix
    weights: Vector
    units: Indices
    by_pairs: bool = False

    def take(self, rows: Indices) -> RowScores:
        """The chosen rows."""
        return RowScores(self.gains[:, rows], self.weights[rows], self.units[rows], self.by_pairs)

    def of(self, n_predictors: int) -> RowScores:
        """The first predictors."""
        return RowScores(self.gains[:n_predictors], self.weights, self.units, self.by_pairs)

    @property
    def scores(self) -> Vector:
        """Score of each predictor."""
        return np.asarray(self.gains.sum(axis=1) / max(self.weights.sum(), 1e-300))

    @property
    def errors(self) -> Vector:
        """Standard error of each score."""
        return self._errors_of(self.gains - self.scores[:, None] * self.weights)

    def errors_against(self, k: int) -> Vector:
        """Standard error of the difference of each score and that of predictor k."""
        deviations = self.gains - self.scores[:, None] * self.weights
        return self._errors_of(deviations - deviations[k])

    def _errors_of(self, deviations: Matrix) -> Vector:
        of_unit = np.stack([np.bincount(self.units, weights=row) for row in deviations])
        n = len(np.unique(self.units))
        size = np.sqrt(np.sum(of_unit**2, axis=1) * n / max(n - 1, 1))
        return np.asarray((2 if self.by_pairs else 1) * size / max(self.weights.sum(), 1e-300))


def pooled(repeats: Sequence[RowScores]) -> RowScores:
    """Scores of several predictions of the same rows, added up."""
    gains = np.sum([one.gains for one in repeats], axis=0)
    weights = np.sum([one.weights for one in repeats], axis=0)
    return RowScores(gains, weights, repeats[0].units, repeats[0].by_pairs)


def errors_of(repeats: Sequence[RowScores]) -> Vector:
    """Standard errors of pooled scores: those of one repeat, since rows are no more for it."""
    return np.asarray(np.sqrt(np.mean([one.errors**2 for one in repeats], axis=0)))


class Scoring(Protocol):
    """How predictions of one kind of target are made and scored."""

    measure: ClassVar[str]
    by_pairs: ClassVar[bool]
    given: ClassVar[bool]  # whether covariates and training means are part of the prediction

    def columns(self, study: Study, train: Indices) -> Matrix:
        """The columns to predict, (q, n); what test rows hold is never read."""

    def score(self, study: Study, rows: Rows, predicted: Matrix) -> tuple[Matrix, Vector]:
        """Gains (s, n_test) and weights (n_test,) of predictions (s, q, n_test)."""

    def chance(self, study: Study) -> float:
        """Score without any feature."""


@dataclass(frozen=True)
class OfClasses:
    """Share of rows whose class is predicted: that of the largest fitted indicator."""

    measure: ClassVar[str] = "accuracy"
    by_pairs: ClassVar[bool] = False
    given: ClassVar[bool] = True

    def columns(self, study: Study, train: Indices) -> Matrix:
        """An indicator per class."""
        classes = np.arange(len(study.target.labels))
        return np.equal.outer(classes, study.target.values).astype(np.float64)

    def score(self, study: Study, rows: Rows, predicted: Matrix) -> tuple[Matrix, Vector]:
        """1 for every row whose class is right."""
        right = predicted.argmax(axis=1) == study.target.values[rows.test]
        return right.astype(np.float64), np.ones(len(rows.test))

    def chance(self, study: Study) -> float:
        """Share of the largest class."""
        return float(np.bincount(study.target.values.astype(np.intp)).max() / study.target.n_rows)


@dataclass(frozen=True)
class OfNumbers:
    """Share of the squared deviations from the training mean that is predicted, R2.

    Outputs count alike, by their variance. Within groups of rows numbers are deviations from the
    mean of their group.
    """

    measure: ClassVar[str] = "R2"
    by_pairs: ClassVar[bool] = False
    given: ClassVar[bool] = True

    def columns(self, study: Study, train: Indices) -> Matrix:
        """The outputs, each of variance 1 over all rows."""
        values = columns_of(study.target).values
        if study.row_groups.codes is not None:
            values = within_groups(values, study.row_groups.codes)
        spread = values.std(axis=1, keepdims=True)
        return np.asarray(values / np.where(spread > 0, spread, 1.0))

    def score(self, study: Study, rows: Rows, predicted: Matrix) -> tuple[Matrix, Vector]:
        """Squared deviations less squared errors, and squared deviations."""
        values = self.columns(study, rows.train)
        mean = values[:, rows.train].mean(axis=1, keepdims=True)
        truth = values[:, rows.test]
        weights = np.sum((truth - mean) ** 2, axis=0)
        return weights - np.sum((predicted - truth) ** 2, axis=1), weights

    def chance(self, study: Study) -> float:
        """The mean predicts nothing."""
        return 0.0


@dataclass(frozen=True)
class OfSurvival:
    """Harrell's concordance within the rows left out together.

    Of pairs of which one is known to have had the event first, the share in which it has the
    larger predicted risk; equal risks count half. Risks are predicted deviance residuals, which
    covariates are no part of: it is what features add to these.
    """

    measure: ClassVar[str] = "concordance"
    by_pairs: ClassVar[bool] = True
    given: ClassVar[bool] = False

    def columns(self, study: Study, train: Indices) -> Matrix:
        """Deviance residuals of the training rows among themselves."""
        values = np.zeros((1, study.target.n_rows))
        values[0, train] = study.take(train).derived_target.values
        return values

    def score(self, study: Study, rows: Rows, predicted: Matrix) -> tuple[Matrix, Vector]:
        """Concordant and comparable pairs of every row."""
        assert study.target.derived_from is not None
        time, event = study.target.derived_from[:, rows.test]
        return concordant_pairs(time, event, predicted[:, 0])

    def chance(self, study: Study) -> float:
        """Half of the pairs."""
        return 0.5


def concordant_pairs(time: Vector, event: Vector, risks: Matrix) -> tuple[Matrix, Vector]:
    """Concordant pairs of every row for each predictor, (s, n), and its comparable pairs, (n,).

    A pair is comparable if one of its rows had the event before the time of the other, or at that
    time and the other did not have it.
    """
    n = len(time)
    gains, weights = np.zeros((len(risks), n)), np.zeros(n)
    width = max(1, MAX_BLOCK_VALUES // n)
    for some in (slice(start, start + width) for start in range(0, n, width)):
        before, at_once = time[some, None] < time, time[some, None] == time
        comparable = (event[some, None] == 1) & (before | at_once & (event == 0))
        weights[some] += comparable.sum(axis=1)
        weights += comparable.sum(axis=0)
        for gain, risk in zip(gains, risks, strict=True):
            concordant = comparable * (np.sign(risk[some, None] - risk) + 1) / 2
            gain[some] += concordant.sum(axis=1)
            gain += concordant.sum(axis=0)
    return gains, weights


def scoring_of(study: Study) -> Scoring:
    """How predictions of the target of a study are scored."""
    if study.target.nominal:
        return OfClasses()
    return OfSurvival() if study.target.kind == "survival" else OfNumbers()
