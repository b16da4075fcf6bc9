"""Rows that belong together: of one patient, plate or family."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..problems import Problem, setting, warn
from ..types import Data, Indices, Mask, Matrix, pd
from .columns import Columns, codes_by_appearance
from .covariates import Covariates, category
from .frames import in_pandas
from .messages import refuse_missing, refuse_other_rows
from .ranks import settled

FEW_GROUPS = 10  # whose means are hardly enough to find anything
INFORMATIVE = 0.5  # share of groups within which the target should change


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Which rows belong together, and how they are compared.

    Attributes
    ----------
    comparison
        ``"rows"`` that are independent; ``"within"`` groups, what differs between them being
        adjusted for; or ``"means"``, one row per group.
    n_groups
        Number of groups that the data had; 0 without groups.
    codes
        The group of every row, where rows are compared within groups; else None.
    """

    comparison: str = "rows"
    n_groups: int = 0
    codes: Indices | None = None

    def take(self, rows: Indices) -> RowGroups:
        """The chosen rows."""
        return self if self.codes is None else replace(self, codes=self.codes[rows])

    def joined(self, covariates: Covariates) -> Covariates:
        """Covariates, and the groups that rows are compared within: all that is adjusted for."""
        if self.codes is None:
            return covariates
        return covariates.joined(category("groups of rows", self.codes))


INDEPENDENT_ROWS = RowGroups()


def read_row_groups(groups: Data, n_rows: int) -> Indices:
    """The group of every row, numbered in order of appearance."""
    if isinstance(groups, str):
        raise Problem(
            f"{setting('groups')} is {groups!r}.",
            f"Give the column itself, such as groups=table[{groups!r}], and leave it out of X.",
        )
    names = pd.Series(np.asarray(in_pandas(groups), dtype=object).ravel())
    refuse_other_rows(n_rows, setting("groups"), len(names))
    refuse_missing(names.isna().to_numpy(), setting("groups"))
    codes, n_groups = codes_by_appearance(names.astype(str).to_numpy())
    if n_groups == 1:
        raise Problem("all rows are in one group, so that none can be compared with another.")
    return codes.astype(np.intp)


def vary_within(values: NDArray[np.generic], codes: Indices) -> bool:
    """Whether a column, or any of several, takes more than one value in some group; ties do not."""
    return bool(_differ(values, codes).any() and _differ(settled(values, axis=0), codes).any())


def _differ(values: NDArray[np.generic], codes: Indices) -> Mask:
    """Which rows differ from the first of their group."""
    first = np.unique(codes, return_index=True)[1]
    return np.asarray((values != values[first][codes]).reshape(len(codes), -1).any(axis=1))


def features_vary_within(columns: Columns, codes: Indices) -> bool:
    """Whether any feature takes more than one value in some group."""
    return any(vary_within(values, codes) for _, values in columns.pieces())


def mean_columns(columns: Columns, codes: Indices) -> Columns:
    """Means of all features per group; categories must have two levels, or not vary within."""
    means = np.empty((codes.max() + 1, columns.n_columns))
    for start, values in columns.pieces():
        part = slice(start, start + values.shape[1])
        for k in np.flatnonzero(columns.nominal[part] & (values.max(axis=0) > 1)):
            if vary_within(values[:, k], codes):
                raise Problem(
                    f"feature {columns.name(start + int(k))} is a category of more than two levels "
                    "that changes within groups, so it has no mean.",
                    "Give it as 0/1 columns.",
                )
        means[:, part] = group_means(values, codes)
    names = tuple(columns.name(k) for k in range(columns.n_columns))
    whole = columns.nominal & (means == np.rint(means)).all(axis=0)
    return Columns(means, names, whole)


def group_means(values: NDArray[np.generic], codes: Indices) -> Matrix:
    """Means of columns per group, added up in the order of rows; ties are settled."""
    total = np.zeros((codes.max() + 1, values.shape[1]))
    np.add.at(total, codes, values.astype(np.float64))
    return settled(total / np.bincount(codes)[:, None], axis=0)


def warn_if_constant(values: NDArray[np.generic], codes: Indices) -> None:
    """Warn of a target that is the same for all rows of most groups, which are then of no use."""
    n_groups, n_used = codes.max() + 1, len(np.unique(codes[_differ(values, codes)]))
    if n_used < INFORMATIVE * n_groups:
        warn(
            f"y changes within {n_used} of {n_groups} groups, and the others add nothing where "
            "rows are compared within groups. If y belongs to groups, mend what differs, or "
            f"compare groups by their means: {setting('aggregate', 'mean')}."
        )


def warn_if_few(n_groups: int, n_rows: int) -> None:
    """Warn of so few groups that hardly anything can be found by their means."""
    if n_groups < FEW_GROUPS:
        warn(
            f"{n_rows} rows are in {n_groups} groups, whose means are too few to find much. More "
            "groups are needed, not more rows per group."
        )
