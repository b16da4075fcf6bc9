"""Joins what other tables know of samples, by ids: phenotypes and covariates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..problems import Problem, setting
from ..types import pd
from .files import Table, format_of, load
from .ids import as_ids, is_called_ids
from .messages import did_you_mean, quoted, refuse_all, refuse_repeated, say_repeated
from .number_texts import Marks, text_columns

IN_COLUMNS = "Your samples seem to be columns"
LEAST_SHARED = 0.5  # of the ids of the smaller table, where nobody said which columns join both


def join(table: Table, path: Path, pheno: str | Path, id: str | None, marks: Marks) -> Table:
    """The samples that both tables know, in the order of the first."""
    table, ids, other, joined_by = _both_by_id(table, path, pheno, id, "pheno", marks)
    refuse_all(table.problems)
    refuse_repeated(ids, "the data: ids")
    columns = other.features
    common = ids.isin(columns.index)
    if not common.any():
        turned = columns.index.isin(table.features.columns.astype(str)).any()
        cure = f"{IN_COLUMNS}: use {setting('transpose', True)}."
        raise Problem(
            f"no id of {pheno} (such as {columns.index[0]!r}) is one of the data (such as "
            f"{ids[0]!r}).",
            cure=cure if turned else f"Is {id!r} the right column?",
        )
    rows = np.flatnonzero(common)
    notes = [*table.notes, f"{len(rows)} samples joined by {joined_by}"]
    unmatched = len(ids) - len(rows), int((~columns.index.isin(ids)).sum())
    if any(unmatched):
        samples = f"{unmatched[0]} samples of the data without a phenotype"
        notes.append(f"left out: {samples}, {unmatched[1]} phenotypes without a sample")
    return replace(
        table,
        features=table.features.iloc[rows].set_axis(ids[rows]),
        about=columns.loc[ids[rows]],
        target=None,
        notes=notes,
        checksums=table.checksums | other.checksums,
    )


def with_covariates(
    table: Table, path: Path, covar: str | Path, id: str | None, marks: Marks
) -> tuple[Table, list[str]]:
    """Add the columns of another table, joined by ids, to what is known of the samples.

    Every sample must be in it. Also returns the names of these columns.
    """
    table, ids, other, joined_by = _both_by_id(table, path, covar, id, "covar", marks)
    unknown = ids[~ids.isin(other.features.index)]
    if len(unknown):
        raise Problem(
            f"{covar} has no row for {len(unknown)} of {len(ids)} samples ({quoted(unknown)}).",
            cure="Add them, or leave these samples out of the data.",
        )
    found = other.features.loc[ids]
    clash = [name for name in found if name in table.about]
    about = table.about.set_axis(ids).drop(columns=clash).join(found)
    notes = [*table.notes, f"covariates joined by {joined_by}"] if id is None else table.notes
    checksums = table.checksums | other.checksums
    added = replace(table, about=about, notes=notes, checksums=checksums)
    return added, [str(name) for name in found]


def place_of(given: str | Path, data: Path) -> tuple[Path, str | None]:
    """File and sheet of another table: a file, FILE:SHEET, or a sheet of the book of the data."""
    path = Path(given)
    file, _, sheet = str(given).rpartition(":")
    if path.exists() or not (file or data.exists()):
        return path, None
    if file and Path(file).exists():
        return Path(file), sheet
    in_book = data.exists() and not path.suffix and "sheet" in format_of(data).options
    return (data, str(given)) if in_book else (path, None)


def _both_by_id(
    table: Table, path: Path, given: str | Path, id: str | None, option: str, marks: Marks
) -> tuple[Table, Any, Table, str]:
    """The data by ids, these ids, all that another table knows of its samples by its own.

    Matrices that are read in blocks are left out of the latter. Also says what joins both.
    """
    place, sheet = place_of(given, path)
    other = load(place, marks=marks, sheet=sheet)
    known = other.features if hasattr(other.features, "iloc") else other.about.iloc[:, :0]
    renamed = {name: f"{name}_about" for name in other.about if name in known}
    refuse_all(other.problems)
    columns = known.join(other.about.rename(columns=renamed))
    other = replace(other, features=columns, about=columns)
    mine: str | None = id
    if id is None:
        mine, theirs, joined_by = _columns_that_join(table, other, option)
    else:
        theirs, joined_by = id, repr(id)
    other = other if theirs is None else indexed(other, theirs, place)
    refuse_repeated(other.features.index, f"{place}: ids")
    if mine in table.features:
        table = indexed(table, str(mine), path)
    ids = pd.Index(as_ids(table.features.index))
    return table, ids, other, joined_by


def _columns_that_join(
    table: Table, other: Table, option: str
) -> tuple[str | None, str | None, str]:
    """Ids of the data and of the other table, if only one pair of them agrees; None for an index.

    Also says what joins both.
    """
    pairs = [
        (mine, theirs, len(ours & others), min(len(ours), len(others)))
        for mine, ours in _ids_of(table).items()
        for theirs, others in _ids_of(other).items()
    ]
    agreeing = [pair for pair in pairs if 1 < pair[2] >= LEAST_SHARED * pair[3]]
    if len(agreeing) != 1:
        joins = "the column of ids that joins it to the data"
        several = ", for several may be meant" if agreeing else ""
        needed = f"{setting(option)} needs {setting('id')}, {joins}{several}."
        raise Problem(needed, argument="id")
    mine, theirs = agreeing[0][:2]
    names = [repr(name) for name in dict.fromkeys((mine, theirs)) if name is not None]
    return mine, theirs, " and ".join(names) or "their names"


def _ids_of(table: Table) -> dict[str | None, set[str]]:
    """Columns of a table that may hold ids of its rows, each with these; None for its index."""
    features = table.features
    found: dict[str | None, set[str]] = {}
    if not isinstance(features.index, pd.RangeIndex):
        found[None] = set(as_ids(features.index))
    texts = set(text_columns(features))
    for k, name in enumerate(features):
        if k in texts or is_called_ids(str(name)):
            ids = as_ids(features.iloc[:, k])
            if len(set(ids)) == len(ids):
                found[str(name)] = set(ids)
    return found


def indexed(table: Table, id: str, path: Path) -> Table:
    """Make a column of the features the sample ids."""
    if id not in table.features:
        raise Problem(f"{path} has no column {id!r}.{did_you_mean(id, table.features)}")
    ids = as_ids(table.features[id])
    features = table.features.drop(columns=id).set_axis(ids)
    return replace(table, features=features, about=table.about.set_axis(ids))


def with_different_ids(table: Table, path: Path) -> Table:
    """The table, or one that is wrong if ids are repeated."""
    repeated = say_repeated(table.features.index)
    if not repeated:
        return table
    groups = f"say which belong together with {setting('groups')}, not {setting('id')}."
    problem = Problem(f"{path}: ids {repeated}", cure=f"If rows repeat a sample, {groups}")
    return replace(table, problems=[*table.problems, problem])
