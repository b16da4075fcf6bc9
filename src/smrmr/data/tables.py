"""Joins tables by sample ids, and takes the target and other columns out of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..problems import Problem, setting
from ..types import pd
from .files import Table, load
from .frames import numeric_columns
from .messages import did_you_mean, named, quoted, refuse_all, refuse_repeated, say_repeated
from .number_texts import Marks

IN_COLUMNS = "Your samples seem to be columns"


def join(table: Table, pheno: Path, id: str | None, marks: Marks) -> Table:
    """The samples that both tables know, in the order of the first."""
    table, ids, other = _both_by_id(table, pheno, id, "pheno", marks)
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
    notes = [*table.notes, f"{len(rows)} samples joined by {id!r}"]
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
    table: Table, covar: Path, id: str | None, marks: Marks
) -> tuple[Table, list[str]]:
    """Add the columns of another table, joined by ids, to what is known of the samples.

    Every sample must be in it. Also returns the names of these columns.
    """
    table, ids, other = _both_by_id(table, covar, id, "covar", marks)
    unknown = ids[~ids.isin(other.features.index)]
    if len(unknown):
        raise Problem(
            f"{covar} has no row for {len(unknown)} of {len(ids)} samples ({quoted(unknown)}).",
            cure="Add them, or leave these samples out of the data.",
        )
    found = other.features.loc[ids]
    clash = [name for name in found if name in table.about]
    about = table.about.set_axis(ids).drop(columns=clash).join(found)
    checksums = table.checksums | other.checksums
    return replace(table, about=about, checksums=checksums), [str(name) for name in found]


def _both_by_id(
    table: Table, path: Path, id: str | None, option: str, marks: Marks
) -> tuple[Table, Any, Table]:
    """The data by ids, these ids, and all that another file knows of its samples by its own.

    Matrices that are read in blocks are left out of the latter.
    """
    if id is None:
        joins = "the column of ids that joins it to the data"
        raise Problem(f"{setting(option)} needs {setting('id')}, {joins}.", argument="id")
    other = load(path, marks=marks)
    known = other.features if hasattr(other.features, "iloc") else other.about.iloc[:, :0]
    renamed = {name: f"{name}_about" for name in other.about if name in known}
    refuse_all(other.problems)
    columns = known.join(other.about.rename(columns=renamed))
    other = indexed(replace(other, features=columns, about=columns), id, path)
    refuse_repeated(other.features.index, f"{path}: ids")
    if id in table.features:
        table = indexed(table, id, path)
    return table, table.features.index.astype(str), other


def indexed(table: Table, id: str, path: Path) -> Table:
    """Make a column of the features the sample ids."""
    if id not in table.features:
        raise Problem(f"{path} has no column {id!r}.{did_you_mean(id, table.features)}")
    ids = table.features[id].astype(str).to_numpy()
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


def take_columns(
    table: Table, names: Sequence[str], features: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, list[Problem]]:
    """Take columns by name out of what is known of the samples, or out of the features.

    Also returns what is wrong with names that are not found.
    """
    found, problems = {}, []
    for name in names:
        if name in table.about:
            found[name] = table.about[name].to_numpy()
        elif name in features:
            found[name] = features[name].to_numpy()
        else:
            close = did_you_mean(name, [*table.about, *features])
            problems.append(Problem(f"there is no column {name!r}.{close}"))
    taken = [name for name in names if name in features]
    return pd.DataFrame(found, index=features.index), features.drop(columns=taken), problems


def split_target(
    table: Table, target: str | None, path: Path, *, transpose: bool
) -> tuple[pd.Series[Any] | None, pd.DataFrame, list[Problem]]:
    """Take the target out of what is known of the samples, or out of the features.

    Without one it is None, and the last value says what is wrong.
    """
    name = target if target is not None else table.target
    if name is None:
        known = did_you_mean("", table.about) or _turned(table, "", transpose)
        asked = f"name the column to predict: {setting('read_data.target', ...)}."
        return None, table.features, [Problem(f"{asked}{known}", argument="target")]
    if name in table.about:
        return table.about[name], table.features, []
    if name in table.features:
        return table.features[name], table.features.drop(columns=name), []
    close = did_you_mean(name, [*table.about, *table.features])
    turned = _turned(table, name, transpose)
    mistyped = close.startswith(" Did you mean") and f"{name!r} is a" not in turned
    advice = close if mistyped else turned or close
    return (
        None,
        table.features,
        [Problem(f"{path} has no column {name!r}.{advice}{table.elsewhere}")],
    )


def _turned(table: Table, target: str, transpose: bool) -> str:
    """Say that samples seem to be columns, or that there is no header, where it looks so.

    That is if the target is the name of a row, or if the first column holds a name for every row,
    all others hold numbers, and there are more rows than columns.
    """
    features = table.features
    if features.shape[1] < 2 or table.about.shape[1]:
        return ""
    named_rows = getattr(features.index.dtype, "kind", "O") == "O"
    ids = features.index.to_series() if named_rows else features.iloc[:, 0]
    if target in set(map(str, ids)):
        if transpose:
            rows = f"Your samples seem to be rows: {target!r} is a column."
            return f" {rows} Leave out {setting('transpose')}."
        return f" {IN_COLUMNS}: {target!r} is a row. Use {setting('transpose', True)}."
    if all(_is_number(column) for column in features.columns):
        return f" Its first line holds numbers ({named(features.columns)}): add a line of names."
    values = features if named_rows else features.iloc[:, 1:]
    names = getattr(ids.dtype, "kind", "O") == "O" and ids.is_unique
    tall = names and numeric_columns(values).all() and len(features) > features.shape[1]
    if tall and not transpose:
        return (
            f" {IN_COLUMNS}, and your features rows ({named(ids)}): then use "
            f"{setting('transpose', True)}; a target in another table is joined by "
            f"{setting('pheno', ...)} and {setting('id', ...)}."
        )
    return ""


def _is_number(name: Any) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
