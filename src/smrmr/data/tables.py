"""Joins tables by sample ids, takes the target out of them, and checks columns of text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .formats import Table, load
from .messages import did_you_mean, quoted, refuse_commas, refuse_twice

if TYPE_CHECKING:
    import pandas as pd


def join(table: Table, pheno: Path, id: str | None) -> tuple[Table, list[str]]:
    """Keep samples that both tables know, in the order of the first."""
    if id is None:
        raise ValueError("--pheno needs --id, the column of ids that joins it to the data.")
    columns = _columns_by_id(pheno, id)
    if id in table.features:
        table = indexed(table, id, pheno)
    ids = table.features.index.astype(str)
    refuse_twice(ids, "the data: ids")
    common = ids.isin(columns.index)
    unmatched = int((~common).sum()), int((~columns.index.isin(ids)).sum())
    if not common.any():
        examples = f"(such as {columns.index[0]!r}) is one of the data (such as {ids[0]!r})"
        raise ValueError(f"no id of {pheno} {examples}. Is {id!r} the right column?")
    rows = np.flatnonzero(common)
    notes = [f"{len(rows)} samples joined by {id!r}"]
    if any(unmatched):
        samples = f"{unmatched[0]} samples of the data without a phenotype"
        notes.append(f"left out: {samples}, {unmatched[1]} phenotypes without a sample")
    features = table.features.iloc[rows].set_axis(ids[rows])
    return Table(features, columns.loc[ids[rows]]), notes


def _columns_by_id(path: Path, id: str) -> pd.DataFrame:
    """All that a file knows of its samples, by their ids; matrices read in blocks are left out."""
    other = load(path)
    known = other.features if hasattr(other.features, "iloc") else other.about.iloc[:, :0]
    renamed = {name: f"{name}_about" for name in other.about if name in known}
    columns = known.join(other.about.rename(columns=renamed))
    columns = indexed(Table(columns, columns), id, path).features
    refuse_twice(columns.index, f"{path}: ids")
    return columns


def indexed(table: Table, id: str, path: Path) -> Table:
    """Make a column of the features the sample ids."""
    if id not in table.features:
        raise ValueError(f"{path} has no column {id!r}.{did_you_mean(id, table.features)}")
    ids = table.features[id].astype(str).to_numpy()
    features = table.features.drop(columns=id).set_axis(ids)
    return Table(features, table.about.set_axis(ids), table.target, table.notes)


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
    table: Table, names: Sequence[str], path: Path, features: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Take columns by name out of what is known of the samples, or out of the features."""
    import pandas as pd

    found = {}
    for name in names:
        if name in table.about:
            found[name] = table.about[name].to_numpy()
        elif name in features:
            found[name] = features[name].to_numpy()
        else:
            close = did_you_mean(name, [*table.about, *features])
            raise ValueError(f"{path} has no column {name!r}.{close}")
    taken = [name for name in names if name in features]
    return pd.DataFrame(found, index=features.index), features.drop(columns=taken)


def split_target(
    table: Table, target: str | None, path: Path
) -> tuple[pd.Series[Any], pd.DataFrame]:
    """Take the target out of what is known of the samples, or out of the features."""
    name = target if target is not None else table.target
    if name is None:
        known = did_you_mean("", table.about)
        raise ValueError(f"name the column to predict: --target COLUMN.{known}")
    if name in table.about:
        return table.about[name], table.features
    if name in table.features:
        return table.features[name], table.features.drop(columns=name)
    close = did_you_mean(name, [*table.about, *table.features])
    raise ValueError(f"{path} has no column {name!r}.{close}")


def typed(features: pd.DataFrame) -> pd.DataFrame:
    """Refuse what is neither numbers nor two labels; turn two labels into a category."""
    features = features.copy(deep=False)
    for k, dtype in enumerate(features.dtypes):
        if getattr(dtype, "kind", "O") in "biuf":
            continue
        column = features.iloc[:, k]
        if str(column.dtype) != "category" or column.nunique() != 2:
            _check_text(column)
        features.isetitem(k, column.astype("category"))
    return features


def _check_text(column: pd.Series[Any]) -> None:
    import pandas as pd

    name, levels = column.name, column.nunique()
    refuse_commas(column, f"column {name!r}", f", or --drop {name}")
    strange = np.flatnonzero(pd.to_numeric(column.astype(object), errors="coerce").isna())
    if getattr(column.dtype, "kind", "O") in "mM":
        fault = "dates. Turn them into numbers"
    elif 0 < len(strange) < len(column) / 2:
        first = f"row {strange[0] + 1} is {column.iloc[strange[0]]!r}"
        fault = f"numbers and text: {first}. Correct the {len(strange)} such values"
    elif levels == len(column):
        fault = f"a different text in every row, so it looks like ids. Use --id {name}"
    elif levels > 2:
        fault = f"{levels} different labels, which have no knockoffs. Code them as 0/1 columns"
    else:
        return
    raise ValueError(f"column {name!r} holds {fault}, or --drop {name}")
