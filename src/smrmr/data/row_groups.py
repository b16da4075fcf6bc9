"""Rows that belong together: of one patient, plate or family."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..problems import warn
from ..types import Data, Indices, Matrix
from .columns import Columns, codes_by_appearance
from .covariates import Covariates
from .frames import in_pandas
from .target import Target, take_rows

ROW_GROUPS = "groups of rows"  # what they are called among covariates
FEW_GROUPS = 10  # whose means are hardly enough to find anything
TELLING = 0.5  # share of groups within which the target should change
COLUMNS_AT_ONCE = 1024  # that are averaged together


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


INDEPENDENT_ROWS = RowGroups()


def read_row_groups(groups: Data, n_rows: int) -> Indices:
    """The group of every row, numbered in order of appearance."""
    import pandas as pd

    if isinstance(groups, str):
        raise ValueError(
            f"groups is {groups!r}. Give the column itself, such as groups=table[{groups!r}], and "
            "leave it out of X."
        )
    names = pd.Series(np.asarray(in_pandas(groups), dtype=object).ravel())
    if len(names) != n_rows:
        raise ValueError(f"groups has {len(names)} values and X has {n_rows} rows. One each.")
    if names.isna().any():
        raise ValueError(
            f"groups has {int(names.isna().sum())} missing values. Give these rows a group of "
            "their own, or leave them out everywhere."
        )
    codes, n_groups = codes_by_appearance(names.astype(str).to_numpy())
    if n_groups == 1:
        raise ValueError("all rows are in one group, so that none can be compared with another.")
    return codes.astype(np.intp)


def vary_within(values: NDArray[np.generic], codes: Indices) -> bool:
    """Whether a column, or any of several, takes more than one value in some group."""
    first = np.unique(codes, return_index=True)[1]
    return bool((values != values[first][codes]).any())


def features_vary_within(columns: Columns, codes: Indices) -> bool:
    """Whether any feature takes more than one value in some group."""
    starts = range(0, columns.n_columns, COLUMNS_AT_ONCE)
    return any(vary_within(columns.span(s, s + COLUMNS_AT_ONCE).values, codes) for s in starts)


def mean_columns(columns: Columns, codes: Indices) -> Columns:
    """Means of all features per group; categories must have two levels, or not vary within."""
    means = np.empty((codes.max() + 1, columns.n_columns))
    for start in range(0, columns.n_columns, COLUMNS_AT_ONCE):
        part = columns.span(start, start + COLUMNS_AT_ONCE)
        values = part.values
        for k in np.flatnonzero(part.nominal & (values.max(axis=0) > 1)):
            if vary_within(values[:, k], codes):
                raise ValueError(
                    f"feature {columns.name(start + int(k))} is a category of more than two levels "
                    "that changes within groups, so it has no mean. Give it as 0/1 columns."
                )
        means[:, start : start + values.shape[1]] = group_means(values, codes)
    names = tuple(columns.name(k) for k in range(columns.n_columns))
    whole = columns.nominal & (means == np.rint(means)).all(axis=0)
    return Columns(means, names, whole)


def mean_target(target: Target, codes: Indices) -> Target:
    """The target per group: its class, which must not vary within groups, or its mean."""
    if target.survival is not None:
        if vary_within(target.survival.T, codes):
            raise ValueError(
                "survival times change within groups. One time and event per group is needed."
            )
        first = np.unique(codes, return_index=True)[1]
        return take_rows(target, first)
    if target.kind != "classes":
        values = target.values.reshape(len(codes), -1)
        means = group_means(values, codes).reshape(-1, *target.values.shape[1:])
        return replace(target, values=means)
    if vary_within(target.values, codes):
        raise ValueError(
            "y has classes that change within groups, so that groups have no mean of it. Leave out "
            "aggregate: rows are then compared within groups. Features that never change within a "
            "group need a target per group."
        )
    first = np.unique(codes, return_index=True)[1]
    return replace(target, values=target.values[first])


def mean_covariates(covariates: Covariates, codes: Indices) -> Covariates:
    """Means of the columns of covariates per group."""
    return replace(covariates, design=group_means(covariates.design, codes))


def group_means(values: NDArray[np.generic], codes: Indices) -> Matrix:
    """Means of columns per group, added up in the order of rows."""
    total = np.zeros((codes.max() + 1, values.shape[1]))
    np.add.at(total, codes, values.astype(np.float64))
    return total / np.bincount(codes)[:, None]


def warn_if_constant(values: NDArray[np.generic], codes: Indices) -> None:
    """Warn of a target that is the same for all rows of most groups, which then tell nothing."""
    first = np.unique(codes, return_index=True)[1]
    differs = (values != values[first][codes]).reshape(len(codes), -1).any(axis=1)
    n_groups, n_telling = len(first), len(np.unique(codes[differs]))
    if n_telling < TELLING * n_groups:
        warn(
            f"y changes within {n_telling} of {n_groups} groups, and the others tell nothing where "
            "rows are compared within groups. If y belongs to groups, mend what differs, or "
            "compare groups by their means: aggregate='mean' (--aggregate mean)."
        )


def warn_if_few(n_groups: int, n_rows: int) -> None:
    """Warn of so few groups that their means can hardly tell anything."""
    if n_groups < FEW_GROUPS:
        warn(
            f"{n_rows} rows are in {n_groups} groups, whose means are too few to find much. More "
            "groups are needed, not more rows per group."
        )
