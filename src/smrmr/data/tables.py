"""Joins tables by sample ids, and takes the target and other columns out of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .files import Table, load
from .messages import did_you_mean, named, quoted, refuse_all, refuse_repeated, say_repeated

if TYPE_CHECKING:
    import pandas as pd

IN_COLUMNS = "Your samples seem to be columns"


def join(table: Table, pheno: Path, id: str | None) -> tuple[Table, list[str]]:
    """Keep samples that both tables know, in the order of the first."""
    if id is None:
        raise ValueError("--pheno needs --id, the column of ids that joins it to the data.")
    columns = _columns_by_id(pheno, id)
    if id in table.features:
        table = indexed(table, id, pheno)
    ids = table.features.index.astype(str)
    refuse_all(table.problems)
    refuse_repeated(ids, "the data: ids")
    common = ids.isin(columns.index)
    unmatched = int((~common).sum()), int((~columns.index.isin(ids)).sum())
    if not common.any():
        examples = f"(such as {columns.index[0]!r}) is one of the data (such as {ids[0]!r})"
        turned = columns.index.isin(table.features.columns.astype(str)).any()
        advice = f"{IN_COLUMNS}: add --transpose." if turned else f"Is {id!r} the right column?"
        raise ValueError(f"no id of {pheno} {examples}. {advice}")
    rows = np.flatnonzero(common)
    notes = [f"{len(rows)} samples joined by {id!r}"]
    if any(unmatched):
        samples = f"{unmatched[0]} samples of the data without a phenotype"
        notes.append(f"left out: {samples}, {unmatched[1]} phenotypes without a sample")
    features = table.features.iloc[rows].set_axis(ids[rows])
    return replace(table, features=features, about=columns.loc[ids[rows]], target=None), notes


def _columns_by_id(path: Path, id: str) -> pd.DataFrame:
    """All that a file knows of its samples, by their ids; matrices read in blocks are left out."""
    other = load(path)
    known = other.features if hasattr(other.features, "iloc") else other.about.iloc[:, :0]
    renamed = {name: f"{name}_about" for name in other.about if name in known}
    columns = known.join(other.about.rename(columns=renamed))
    refuse_all(other.problems)
    columns = indexed(Table(columns, columns), id, path).features
    refuse_repeated(columns.index, f"{path}: ids")
    return columns


def indexed(table: Table, id: str, path: Path) -> Table:
    """Make a column of the features the sample ids."""
    if id not in table.features:
        raise ValueError(f"{path} has no column {id!r}.{did_you_mean(id, table.features)}")
    ids = table.features[id].astype(str).to_numpy()
    features = table.features.drop(columns=id).set_axis(ids)
    return replace(table, features=features, about=table.about.set_axis(ids))


def with_different_ids(table: Table, path: Path) -> Table:
    """The table, or one that is wrong if ids are repeated."""
    repeated = say_repeated(table.features.index)
    if not repeated:
        return table
    advice = "If rows repeat a sample, say which belong together with --groups, not --id."
    return replace(table, problems=[*table.problems, f"{path}: ids {repeated} {advice}"])


def with_covariates(table: Table, path: Path, id: str | None) -> tuple[Table, list[str]]:
    """Add the columns of another table, joined by ids, to what is known of the samples.

    Every sample must be in it. Also returns the names of these columns.
    """
    if id is None:
        raise ValueError("--covar FILE needs --id, the column of ids that joins it to the data.")
    columns = _columns_by_id(path, id)
    if id in table.features:
        table = indexed(table, id, path)
    ids = table.features.index.astype(str)
    unknown = ids[~ids.isin(columns.index)]
    if len(unknown):
        raise ValueError(
            f"{path} has no row for {len(unknown)} of {len(ids)} samples ({quoted(unknown)}). Add "
            "them, or leave these samples out of the data."
        )
    found = columns.loc[ids]
    clash = [name for name in found if name in table.about]
    about = table.about.set_axis(ids).drop(columns=clash).join(found)
    return replace(table, about=about), [str(name) for name in found]


def take_columns(
    table: Table, names: Sequence[str], features: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Take columns by name out of what is known of the samples, or out of the features.

    Also returns what is wrong with names that are not found.
    """
    import pandas as pd

    found, problems = {}, []
    for name in names:
        if name in table.about:
            found[name] = table.about[name].to_numpy()
        elif name in features:
            found[name] = features[name].to_numpy()
        else:
            close = did_you_mean(name, [*table.about, *features])
            problems.append(f"there is no column {name!r}.{close}")
    taken = [name for name in names if name in features]
    return pd.DataFrame(found, index=features.index), features.drop(columns=taken), problems


def split_target(
    table: Table, target: str | None, path: Path, *, transpose: bool
) -> tuple[pd.Series[Any] | None, pd.DataFrame, str]:
    """Take the target out of what is known of the samples, or out of the features.

    Without one it is None, and the last value says what is wrong.
    """
    name = target if target is not None else table.target
    if name is None:
        known = did_you_mean("", table.about) or _turned(table, "", transpose)
        return None, table.features, f"name the column to predict: --target COLUMN.{known}"
    if name in table.about:
        return table.about[name], table.features, ""
    if name in table.features:
        return table.features[name], table.features.drop(columns=name), ""
    close = did_you_mean(name, [*table.about, *table.features])
    turned = _turned(table, name, transpose)
    mistyped = close.startswith(" Did you mean") and f"{name!r} is a" not in turned
    advice = close if mistyped else turned or close
    return None, table.features, f"{path} has no column {name!r}.{advice}"


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
            return f" Your samples seem to be rows: {target!r} is a column. Leave out --transpose."
        return f" {IN_COLUMNS}: {target!r} is a row. Add --transpose."
    if all(_is_number(column) for column in features.columns):
        return f" Its first line holds numbers ({named(features.columns)}): add a line of names."
    values = features if named_rows else features.iloc[:, 1:]
    numeric = all(getattr(dtype, "kind", "O") in "biuf" for dtype in values.dtypes)
    text = getattr(ids.dtype, "kind", "O") == "O" and ids.is_unique
    if not transpose and text and numeric and len(features) > features.shape[1]:
        return (
            f" {IN_COLUMNS}, and your features rows ({named(ids)}): then add --transpose; a target "
            "in another table is joined by --pheno FILE --id COLUMN."
        )
    return ""


def _is_number(name: Any) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
