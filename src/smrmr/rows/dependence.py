"""Asks whether rows that are near each other, in order or in space, are alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from ..conditional.scores import adjusted_for, doubled_ranks, normal_scores, target_columns
from ..data.study import Study
from ..data.targets.protocol import Target, TargetColumns
from ..layers.credible_sets import orthonormal
from ..types import Indices, Matrix
from .sample import sampled
from .similarity import RowSimilarity, chance_of_product, permutation_moments, smooth

MAX_ROWS, MAX_COLUMNS = 1000, 500  # rows and columns that are looked at
MIN_ROWS = 20  # with fewer there is nothing to see
MAX_ADJUSTED = 1 / 5  # share of the rows that may be adjusted for
MAX_SORTED = 3  # features that rows may be sorted by
POWERS = 4  # of normal scores, by which the effect of a target or of an order is removed
ALPHA = 0.01  # of each of two tests, of which both must reject
MATERIAL = 1.1  # variance of a correlation times n from which on the level suffers
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Dependence:
    """How much alike rows are that are near each other.

    Attributes
    ----------
    along
        ``"order"`` of the rows, or ``"coordinates"``.
    target, features
        Correlation of nearest rows, in the target, and on average over the features given the
        target.
    inflation
        Variance of the correlation of a feature with the target, if neither has to do with the
        other, over that of independent rows.
    p_target, p_features
        Chance of such an inflation if the rows of the target, or of the features, are independent.
    """

    along: str
    target: float
    features: float
    inflation: float
    p_target: float
    p_features: float

    @property
    def found(self) -> bool:
        """Whether nearest rows are alike in both, so that the level suffers.

        Rows that alternate, such as cases and controls in turn, are a design and no dependence.
        """
        alike = min(self.target, self.features) > 0
        clear = max(self.p_target, self.p_features) <= ALPHA
        return alike and clear and self.inflation >= MATERIAL


def below_05(inflation: float) -> float:
    """Share of null p-values up to 0.05 if correlations vary more than they should."""
    return float(2 * ndtr(ndtri(0.025) / np.sqrt(inflation)))


def row_dependence(study: Study) -> tuple[Dependence, ...]:
    """Dependence along the order of rows and along coordinates; none where it cannot be asked.

    The order of rows that are sorted by the target is no time or place: samples of one class that
    follow one another may well be sorted further, by what was known of them.
    """
    order = np.arange(study.columns.n_rows, dtype=np.float64)[:, None]
    places = {
        "order": None if _sorted_by_target(study.target) else order,
        "coordinates": study.coordinates,
    }
    asked = {name: place for name, place in places.items() if place is not None}
    found = (_along(name, study, place) for name, place in asked.items())
    return tuple(one for one in found if one is not None)


def _along(name: str, study: Study, places: Matrix) -> Dependence | None:
    rows = _near_the_middle(places)
    n = len(rows)
    if n < MIN_ROWS or study.row_groups.comparison == "within":
        return None
    study, Z = sampled(study, rows, MAX_COLUMNS)
    covariates = study.adjustment.basis
    target = target_columns(study.target, covariates)
    known = np.vstack([covariates, *(_curve(z) for z in _sorted(Z)[:MAX_SORTED])])
    of_target = orthonormal(_centred(known))
    of_features = orthonormal(_centred(np.vstack([known, _effects_of(target, n)])))
    if len(of_features) > MAX_ADJUSTED * n:
        return None
    E, Z = (
        values[values.any(axis=1)]
        for values in (adjusted_for(target.values, of_target), adjusted_for(Z, of_features))
    )
    if not (len(E) and len(Z)):
        return None
    similar = RowSimilarity.of(E, of_target), RowSimilarity.of(Z, of_features)
    return _compared(name, *similar, places[rows])


def _compared(
    name: str, of_target: RowSimilarity, of_features: RowSimilarity, places: Matrix
) -> Dependence:
    smooth_target, smooth_features = smooth(of_target, places), smooth(of_features, places)
    by_chance = permutation_moments(smooth_features.sums, of_target.sums)[0]
    product = smooth_features.times(of_target) - by_chance
    return Dependence(
        along=name,
        target=smooth_target.nearest,
        features=smooth_features.nearest,
        inflation=max(1 + product / len(places), ROUNDING),
        p_target=chance_of_product(smooth_features, of_target),
        p_features=chance_of_product(smooth_target, of_features),
    )


def _near_the_middle(places: Matrix) -> Indices:
    """Rows that are near each other: of many those nearest to the middle, in order."""
    distance = np.linalg.norm(places - np.median(places, axis=0), axis=1)
    return np.sort(np.argsort(distance, kind="stable")[:MAX_ROWS])


def _sorted_by_target(target: Target) -> bool:
    """Whether every class is one run of rows, or numbers never go down, or never up."""
    steps = np.diff(target.values.reshape(target.n_rows, -1), axis=0)
    if target.nominal:
        return int(np.count_nonzero(steps)) == len(target.labels) - 1
    return bool(((steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)).any())


def _sorted(Z: Matrix) -> Matrix:
    """Columns that rows are sorted by."""
    steps = np.diff(Z, axis=1)
    never_back = (steps >= 0).all(axis=1) | (steps <= 0).all(axis=1)
    return np.asarray(Z[never_back & Z.any(axis=1)])


def _effects_of(target: TargetColumns, n: int) -> Matrix:
    """Rows that span what may follow from the target: rows sorted by it are no dependence."""
    if target.is_class is not None:
        return target.values
    scores = normal_scores(doubled_ranks(target.values).astype(np.intp))
    if (POWERS + 1) * len(scores) > MAX_ADJUSTED * n / 2:
        return scores
    return np.vstack([target.values, *(_curve(row) for row in scores)])


def _curve(scores: Matrix) -> Matrix:
    """Powers of normal scores, one row each."""
    return np.asarray(np.vander(scores, POWERS + 1)[:, :-1].T)


def _centred(rows: Matrix) -> Matrix:
    return np.asarray(rows - rows.mean(axis=1, keepdims=True))
