"""Warns about data that are likely to mislead: rare values, ids, other indices."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..problems import setting, warn
from ..types import Data, Indices, Mask, pd
from .frames import is_frame
from .messages import named
from .sentinels import sentinels

MIN_OTHER_VALUES = 5  # with fewer values off the most frequent one, chance associations are large
MIN_ROWS_OF_IDS = 20  # with fewer rows, counts are consecutive numbers by chance
MAX_COLUMNS_OF_IDS = 5  # more columns like ids are ranks, or were made by a machine
FEWEST_REPEATED_IDS = 10  # different values of a column that may name patients or plates
MOST_PER_ID = 10  # rows per patient or plate, on average; with more it may be a class


Check: TypeAlias = Callable[[NDArray[Any], Mask], Indices]
"""Finds some of a few columns by their values, and by which of them are nominal."""
Find: TypeAlias = Callable[[Check], list[str]]
"""Names of all columns that a check finds."""


def warn_about_columns(find: Find, n_columns: int, confirmed: bool = False) -> None:
    """Name the columns that are constant but for a few values, and those that look like ids.

    Also those that hold marks of missing values, unless they are `confirmed` to be values.
    """
    if rare := find(_rare):
        warn(
            f"columns {named(rare)} have fewer than {MIN_OTHER_VALUES} values that differ from "
            "their most frequent one, so their association is large even by chance. Read them "
            "with care, or drop the columns."
        )
    if not confirmed and (marked := find(lambda values, _: sentinels(values)[0])):
        warn(
            f"columns {named(marked)} hold a number such as -999 that stands out from all their "
            "other values. If it marks missing values, replace it by NaN; it counts as a value now."
        )
    if 0 < len(ids := find(_ids)) <= min(MAX_COLUMNS_OF_IDS, n_columns / 2):
        warn(
            f"columns {named(ids)} look like sample ids: they count the rows, or hold every number "
            "of a range once. If they are ids, drop the columns (of a file by "
            f"{setting('id')} or {setting('drop', ids)}), for ids of sorted rows pass for features."
        )


def warn_about_repeated_ids(find: Find) -> None:
    """Name the columns that look like ids of patients or plates of several rows each."""
    if 0 < len(ids := find(_repeated_ids)) <= MAX_COLUMNS_OF_IDS:
        warn(
            f"columns {named(ids)} look like ids of patients, plates or the like, of several rows "
            "each. If they are, rows are not independent: leave the columns out of X and say which "
            f"rows belong together, {setting('groups', ...)}."
        )


def _rare(values: NDArray[Any], _: Mask) -> Indices:
    """Columns that are constant but for fewer than 5 values."""
    if len(values) < 2 * MIN_OTHER_VALUES:
        off_mode = len(values) - (values[:, None] == values).sum(axis=0).max(axis=0)
    else:  # if at most 4 values differ from the most frequent one, it is the median of any 9
        mode = np.sort(values[: 2 * MIN_OTHER_VALUES - 1], axis=0)[MIN_OTHER_VALUES - 1]
        off_mode = (values != mode).sum(axis=0)
    return np.flatnonzero((off_mode > 0) & (off_mode < min(MIN_OTHER_VALUES, len(values) - 1)))


def _ids(values: NDArray[Any], _: Mask) -> Indices:
    """Columns that look like sample ids: with sorted rows they are related to the target.

    Such a column holds whole numbers that go up or down by the same step from row to row, or
    every number of a range once, in any order. Numbers that are merely all different are not
    named, for read counts of a gene often are. The first rows rule out nearly all columns.
    """
    head = values[:MIN_ROWS_OF_IDS].astype(np.float64)
    if len(head) < MIN_ROWS_OF_IDS:
        return np.empty(0, np.intp)
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers that are no ids
        steps, ordered = np.diff(head, axis=0), np.sort(head, axis=0)
        whole = (head == np.rint(head)).all(axis=0) & (np.diff(ordered, axis=0) > 0).all(axis=0)
        near = ordered[-1] - ordered[0] < len(values)
    likely = np.flatnonzero(whole & ((steps == steps[0]).all(axis=0) | near))
    return likely[[_counts(values[:, k]) for k in likely]]


def _counts(column: NDArray[Any]) -> bool:
    """Whether a column goes by equal steps, or is made of consecutive numbers in any order."""
    with np.errstate(over="ignore"):
        steps = np.diff(column)
    return bool((steps == steps[0]).all() or (np.diff(np.sort(column)) == 1).all())


def _repeated_ids(values: NDArray[Any], nominal: Mask) -> Indices:
    """Columns that look like ids of patients or plates of several rows each.

    Such a column holds ten different whole numbers or more, each of them on two rows or more that
    follow one another; or it is nominal, with so many classes of ten rows or fewer on average.
    """
    classes = np.where(nominal, values.max(axis=0) + 1, 0)
    many = (classes >= FEWEST_REPEATED_IDS) & (classes * MOST_PER_ID >= len(values))
    likely = np.flatnonzero(many | ((values[0] == values[1]) & (values[-1] == values[-2])))
    return likely[[many[k] or _names_runs(values[:, k]) for k in likely]]


def _names_runs(column: NDArray[Any]) -> bool:
    """Whether equal values follow one another, twice at least, and are whole numbers."""
    starts = np.flatnonzero(np.diff(column)) + 1
    lengths = np.diff(np.concatenate([[0], starts, [len(column)]]))
    n_values = len(np.unique(column))
    whole = bool((column == np.rint(column)).all())
    return whole and len(lengths) == n_values >= FEWEST_REPEATED_IDS and lengths.min() > 1


def warn_about_index(X: Data, beside: Mapping[str, Data]) -> None:
    """Warn of tables whose rows have other labels than those of X: rows are matched by position.

    Labels are compared as text. Numbers that pandas gives rows by itself are no labels.
    """
    for name, data in beside.items():
        if not (_is_labelled(X) and _is_labelled(data)) or X.index.equals(data.index):
            continue
        ours, theirs = ([str(label) for label in table.index] for table in (X, data))
        differ = [pair for pair in zip(ours, theirs, strict=False) if pair[0] != pair[1]]
        if not differ:
            continue
        advice = f"If their order is right, use {name}.reset_index(drop=True)."
        if sorted(ours) == sorted(theirs):
            advice = f"They are the same labels in another order: use {name}.loc[X.index]."
        warn(
            f"rows of X and {name} are matched by position, not by index, and their labels differ, "
            f"such as {differ[0][0]!r} in X and {differ[0][1]!r} in {name}. {advice}"
        )


def _is_labelled(data: Data) -> bool:
    """Whether data are a pandas table or column whose rows were given labels."""
    if not is_frame(data):
        return False
    index = data.index
    return not (isinstance(index, pd.RangeIndex) or index.equals(pd.RangeIndex(len(index))))
