"""Warns about data that are likely to mislead: rare values, ids, other indices."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..problems import setting, warn
from ..types import Data, Indices, Mask, Matrix, Vector, pd
from .frames import is_frame
from .messages import named, quoted, repeated
from .scaling import SAME, unit_columns
from .sentinels import sentinels

MIN_OTHER_VALUES = 5  # with fewer values off the most frequent one, chance associations are large
MIN_ROWS_OF_IDS = 20  # with fewer rows, counts are consecutive numbers by chance
MAX_COLUMNS_OF_IDS = 5  # more columns like ids are ranks, or were made by a machine
FEWEST_REPEATED_IDS = 10  # different values of a column that may name patients or plates
MOST_PER_ID = 10  # rows per patient or plate, on average; with more it may be a class
MAX_COLUMNS_OF_TARGETS = 5  # more columns that tell the classes apart do so by chance
ROWS_AT_FIRST = 16  # that a column is compared with the target on
ROWS_APART = 5  # which tell most columns of few values
ROWS_OF_RARE = 64  # in which most columns differ often enough from their most frequent value


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
            "of a range once. They are tested as features now. If they are ids, drop the columns "
            f"(of a file: {setting('id', ids[0])} names the rows by one, {setting('drop', ids)} "
            "leaves all out)."
        )


def warn_about_names(names: Sequence[str]) -> None:
    """Name the columns that answers cannot tell apart."""
    if found := repeated(names):
        warn(
            f"names {quoted(found)} of columns of X appear more than once, and an answer cannot "
            "tell such columns apart. Give each a name of its own."
        )


def warn_about_repeated_ids(find: Find) -> None:
    """Name the columns that look like ids of patients or plates of several rows each."""
    if 0 < len(ids := find(_repeated_ids)) <= MAX_COLUMNS_OF_IDS:
        warn(
            f"columns {named(ids)} look like ids of patients, plates or the like, of several rows "
            "each. If they are, rows are not independent: leave the columns out of X and say which "
            f"rows belong together, {setting('groups', ...)}."
        )


def warn_about_target(find: Find, target: Matrix, nominal: bool) -> None:
    """Name the columns that are the target itself: one of its rows of numbers, or its classes."""
    kinds = [_same_classes(target[0])] if nominal else [_multiples(numbers) for numbers in target]
    same = dict.fromkeys(name for check in kinds for name in find(check))
    if 0 < len(same) <= MAX_COLUMNS_OF_TARGETS:
        warn(
            f"columns {named(same)} of X say the same as y. If y is among the features, leave it "
            f"out of X (of a file by {setting('drop')}): given these columns, no other feature is "
            "associated with y."
        )


def _same_classes(codes: Vector) -> Check:
    """Finds columns that have a value of their own for every class."""
    n = len(codes)
    _, first, places = np.unique(codes, return_index=True, return_inverse=True)
    last = n - 1 - np.unique(codes[::-1], return_index=True)[1]

    def check(values: NDArray[Any], _: Mask) -> Indices:
        heads = values[first]  # of every class
        apart = (np.sort(heads, axis=0)[1:] != np.sort(heads, axis=0)[:-1]).all(axis=0)
        likely = np.flatnonzero(apart & (heads == values[last]).all(axis=0))
        same: Mask = (values[:, likely] == heads[places][:, likely]).all(axis=0)
        return likely[same]

    return check


def _multiples(numbers: Vector) -> Check:
    """Finds columns of numbers that are these up to scale; few rows rule out nearly all columns."""
    n = len(numbers)
    some = np.argsort(numbers)[np.linspace(0, n - 1, min(n, ROWS_AT_FIRST)).astype(np.intp)]

    def like(values: NDArray[Any], rows: Indices) -> Mask:
        mine = unit_columns(numbers[rows, None])[:, 0]
        return np.abs(mine @ unit_columns(values[rows])) > 1 - SAME

    def check(values: NDArray[Any], nominal: Mask) -> Indices:
        likely = np.flatnonzero(like(values, some) & ~nominal)
        return likely[like(values[:, likely], np.arange(n))]

    return check


def _rare(values: NDArray[Any], _: Mask) -> Indices:
    """Columns that are constant but for fewer than 5 values."""
    if len(values) < 2 * MIN_OTHER_VALUES:
        off_mode = len(values) - (values[:, None] == values).sum(axis=0).max(axis=0)
    else:  # if at most 4 values differ from the most frequent one, it is the median of any 9
        mode = np.sort(values[: 2 * MIN_OTHER_VALUES - 1], axis=0)[MIN_OTHER_VALUES - 1]
        off_mode = (values[:ROWS_OF_RARE] != mode).sum(axis=0)
        likely = np.flatnonzero(off_mode < MIN_OTHER_VALUES)  # few rows rule out nearly all
        off_mode[likely] = (values[:, likely] != mode[likely]).sum(axis=0)
    return np.flatnonzero((off_mode > 0) & (off_mode < min(MIN_OTHER_VALUES, len(values) - 1)))


def _ids(values: NDArray[Any], _: Mask) -> Indices:
    """Columns that look like sample ids: with sorted rows they are related to the target.

    Such a column holds whole numbers that go up or down by the same step from row to row, or
    every number of a range once, in any order. Numbers that are merely all different are not
    named, for read counts of a gene often are. The first rows rule out nearly all columns.
    """
    if len(values) < MIN_ROWS_OF_IDS:
        return np.empty(0, np.intp)
    first = np.sort(values[:ROWS_APART], axis=0)  # all different in ids, in few genotypes
    some = np.flatnonzero((first[1:] != first[:-1]).all(axis=0))
    head = values[:MIN_ROWS_OF_IDS, some].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers that are no ids
        steps, ordered = np.diff(head, axis=0), np.sort(head, axis=0)
        whole = (head == np.rint(head)).all(axis=0) & (np.diff(ordered, axis=0) > 0).all(axis=0)
        near = ordered[-1] - ordered[0] < len(values)
    likely = some[whole & ((steps == steps[0]).all(axis=0) | near)]
    return np.asarray(likely[[_counts(values[:, k]) for k in likely]])


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
    classes = np.zeros(values.shape[1])
    classes[nominal] = values[:, nominal].max(axis=0) + 1.0
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
