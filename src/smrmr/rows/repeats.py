"""Asks whether rows are repeated: more of them equal, or nearly so, than chance allows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.ranks import settled
from ..data.scaling import SAME, unit_columns
from ..data.study import Study
from ..types import Indices, Matrix
from .dependence import MATERIAL

MAX_VALUES = 2**22  # that are compared for equality
MAX_ROWS = 2000  # that are correlated with each other
MIN_COLUMNS, MAX_COLUMNS = 50, 500  # by which rows are correlated
MIN_ALIKE = 0.6  # correlation of two rows that may be of one sample
FAR = (
    5  # standard deviations from all others that it must be; and how far counts must be from chance
)
MANY_ALIKE = 0.2  # share of rows with such another one that is worth a warning
UNRELATED = 0.3  # correlation up to which columns agree in two rows independently of each other
CERTAIN = 1e-6  # expected number of equal pairs that no more columns need to lower


@dataclass(frozen=True, eq=False)
class Repeats:
    """How many rows look as if a sample was measured, or entered, more than once.

    Attributes
    ----------
    n_rows
        How many rows there were.
    n_equal
        Rows that are equal to another one, if these are more than chance allows; else 0.
    inflation
        Variance of the correlation of a feature with the target, if neither has to do with the
        other, over that of independent rows: 1 without equal rows, 2 with each row twice.
    n_alike
        Rows that correlate with another one far more than rows do, if these are many; else 0.
    """

    n_rows: int = 0
    n_equal: int = 0
    inflation: float = 1.0
    n_alike: int = 0

    @property
    def found(self) -> bool:
        """Whether there are so many that the level suffers."""
        return self.inflation >= MATERIAL or self.n_alike > 0


def repeated_rows(study: Study) -> Repeats:
    """Rows that are repeated: equal in all features, or in these and the target, or nearly so.

    Groups of rows are what the user knows to belong together, so nothing is asked then.
    """
    if study.row_groups.n_groups:
        return Repeats(study.columns.n_rows)
    columns, n = study.columns, study.columns.n_rows
    first = settled(np.asarray(columns.read(slice(1)), dtype=np.float64), axis=0)
    if n > MAX_ROWS and _all_differ(first):
        return Repeats(n)
    features = _features(study)
    tables = [_with_target(features, study)]
    if not _says_one_thing(features):  # else equal values are those of any rounded column
        tables.append(features)
    sizes = max(map(_sizes, tables), key=_n_pairs)
    return Repeats(
        n_rows=n,
        n_equal=int(sizes[sizes > 1].sum()),
        inflation=1 + 2 * _n_pairs(sizes) / n,
        n_alike=_n_alike(features),
    )


def distinct_rows(study: Study) -> tuple[Indices, Indices]:
    """First rows of the sets of repeated rows, and the number of the set of every row.

    Rows of a set are equal in features and target. Where equal rows are no more than chance allows,
    and where the user names groups of rows, every row is a set.
    """
    n = study.columns.n_rows
    if study.row_groups.n_groups:
        return np.arange(n), np.arange(n)
    sets = _repeated_sets(_with_target(_features(study), study))
    return np.unique(sets, return_index=True)[1], sets


def _features(study: Study) -> Matrix:
    """Features in which rows are compared, (n, some), ties settled."""
    columns = study.columns
    most = min(MAX_COLUMNS, max(2, MAX_VALUES // columns.n_rows))
    some = np.unique(np.linspace(0, columns.n_columns - 1, most).astype(np.intp))
    return settled(np.asarray(columns.read(some), dtype=np.float64), axis=0)


def _with_target(features: Matrix, study: Study) -> Matrix:
    return np.hstack([features, study.target.values.reshape(len(features), -1)])


def _says_one_thing(features: Matrix) -> bool:
    """Whether all columns are one, its copies and constants."""
    unit = unit_columns(features)
    unit = unit[:, unit.any(axis=0)]
    return bool((np.abs(unit[:, :1].T @ unit) > 1 - SAME).all())


def _sizes(values: Matrix) -> Indices:
    """Sizes of the sets of repeated rows."""
    return np.bincount(_repeated_sets(values))


def _repeated_sets(values: Matrix) -> Indices:
    """The number of the set of equal rows of each row, if these are far more than by chance.

    Else every row is a set.
    """
    if _all_differ(values):
        return np.arange(len(values))
    sets = np.unique(values, axis=0, return_inverse=True)[1].ravel()
    pairs = _n_pairs(np.bincount(sets))
    if not pairs:
        return sets
    expected = _expected_pairs(values, pairs)
    far = FAR * max(np.sqrt(expected), expected)
    return sets if pairs > 1 + expected + far else np.arange(len(values))


def _all_differ(values: Matrix) -> bool:
    """Whether the first column alone tells all rows apart."""
    return len(np.unique(values[:, 0])) == len(values)


def _expected_pairs(values: Matrix, n_equal: float) -> float:
    """Number of pairs of equal rows by chance; rare 0/1 columns repeat rows that way.

    Two rows agree in all columns at most as often as in some that are unrelated to each other, the
    product of how often they agree in each, of which those that differ most come first. How often
    is counted without the `n_equal` pairs in question. Where these are by chance, that makes the
    product at most e times too small.
    """
    n = len(values)
    others = n * (n - 1) / 2 - n_equal
    expected = n * (n - 1) / 2
    agree = np.array(
        [_n_pairs(np.unique(column, return_counts=True)[1]) - n_equal for column in values.T]
    ) / max(others, 1)
    unit, used = unit_columns(values), np.empty((n, 0))
    for k in np.argsort(agree, kind="stable"):
        if expected < CERTAIN:
            break
        if np.abs(unit[:, k] @ used).max(initial=0.0) <= UNRELATED:
            expected *= agree[k]
            used = np.column_stack([used, unit[:, k]])
    return float(expected)


def _n_pairs(sizes: Indices) -> float:
    """Number of pairs within sets of these sizes."""
    return float(np.sum(sizes * (sizes - 1)) / 2)


def _n_alike(values: NDArray[np.float64]) -> int:
    """Rows that correlate with another one far more than rows do by chance, if there are many."""
    n, p = values.shape
    if n > MAX_ROWS or p < MIN_COLUMNS:
        return 0
    columns = unit_columns(values)
    columns = columns[:, columns.any(axis=0)]
    if columns.shape[1] < MIN_COLUMNS:
        return 0
    rows = unit_columns(columns.T)
    likeness = rows.T @ rows
    np.fill_diagonal(likeness, 0.0)
    spread_of_pairs = 1.5 * np.median(np.abs(likeness))  # which repeated rows hardly change
    alike = int(np.sum(likeness.max(axis=1) > max(MIN_ALIKE, FAR * spread_of_pairs)))
    return alike if alike >= MANY_ALIKE * n else 0
