"""Joins tables by sample ids, takes the target out of them, and checks columns of text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .formats import Table, load
from .messages import did_you_mean, refuse_commas, refuse_twice

if TYPE_CHECKING:
    import pandas as pd


def join(table: Table, pheno: Path, id: str | None) -> tuple[Table, list[str]]:
    """Keep samples that both tables know, in the order of the first."""
    if id is None:
        raise ValueError("--pheno needs --id, the column of ids that joins it to the data.")
    other = load(pheno)
    known = other.features if hasattr(other.features, "iloc") else other.about.iloc[:, :0]
    renamed = {name: f"{name}_about" for name in other.about if name in known}
    columns = known.join(other.about.rename(columns=renamed))
    if id not in columns:
        raise ValueError(f"{pheno} has no column {id!r}.{did_you_mean(id, columns)}")
    keys = columns[id].astype(str)
    refuse_twice(keys, f"{pheno}: ids")
    columns = columns.drop(columns=id).set_index(keys.to_numpy())
    if id in table.features:
        table = indexed(table, id, pheno)
    ids = table.features.index.astype(str)
    refuse_twice(ids, "the data: ids")
    common = ids.isin(columns.index)
    unmatched = int((~common).sum()), int((~columns.index.isin(ids)).sum())
    if not common.any():
        raise ValueError(
            f"no id of {pheno} (such as {columns.index[0]!r}) is an id of the data (such as "
            f"{ids[0]!r}). Is {id!r} the right column?"
        )
    rows = np.flatnonzero(common)
    features = table.features.iloc[rows].set_axis(ids[rows])
    about = columns.loc[ids[rows]]
    notes = [f"{len(rows)} samples joined by {id!r}"]
    if any(unmatched):
        notes.append(
            f"{unmatched[0]} samples of the data have no phenotype and {unmatched[1]} phenotypes "
            "no sample; they are left out"
        )
    return Table(features, about, None), notes


def indexed(table: Table, id: str, path: Path) -> Table:
    """Make a column of the features the sample ids."""
    if id not in table.features:
        raise ValueError(f"{path} has no column {id!r}.{did_you_mean(id, table.features)}")
    ids = table.features[id].astype(str).to_numpy()
    features = table.features.drop(columns=id).set_axis(ids)
    return Table(features, table.about.set_axis(ids), table.target, table.notes)


def split_target(
    table: Table, target: str | None, path: Path
) -> tuple[pd.Series[Any], pd.DataFrame]:
    """Take the target out of what is known of the samples, or out of the features."""
    name = target if target is not None else table.target
    if name is None:
        raise ValueError(
            f"name the column to predict: --target COLUMN.{did_you_mean('', table.about)}"
        )
    if name in table.about:
        return table.about[name], table.features
    if name in table.features:
        return table.features[name], table.features.drop(columns=name)
    known = [*table.about.columns, *table.features.columns]
    raise ValueError(f"{path} has no column {name!r}.{did_you_mean(name, known)}")


def typed(features: pd.DataFrame) -> pd.DataFrame:
    """Refuse what is neither numbers nor two labels; turn two labels into a category."""
    text = [
        k for k, dtype in enumerate(features.dtypes) if getattr(dtype, "kind", "O") not in "biuf"
    ]
    if not text:
        return features
    features = features.copy()
    for k in text:
        column = features.iloc[:, k]
        if str(column.dtype) != "category" or column.nunique() != 2:
            _check_text(column)
        features.isetitem(k, column.astype("category"))
    return features


def _check_text(column: pd.Series[Any]) -> None:
    import pandas as pd

    name, levels = column.name, column.nunique()
    if getattr(column.dtype, "kind", "O") in "mM":
        raise ValueError(f"column {name!r} holds dates. Turn them into numbers, or --drop {name}")
    refuse_commas(column, f"column {name!r}", f", or --drop {name}")
    numeric = pd.to_numeric(column.astype(object), errors="coerce")
    strange = numeric.isna()
    if 0 < strange.sum() < len(column) / 2:
        row = int(np.flatnonzero(strange)[0])
        raise ValueError(
            f"column {name!r} holds numbers and text: row {row + 1} is {column.iloc[row]!r}. "
            f"Correct the {int(strange.sum())} such values, or --drop {name}"
        )
    if levels == len(column):
        raise ValueError(
            f"column {name!r} holds a different text in every row, so it looks like ids. Use "
            f"--id {name}, or --drop {name}"
        )
    if levels > 2:
        raise ValueError(
            f"column {name!r} holds {levels} different labels, for which there are no knockoffs. "
            f"Code them as 0/1 columns, or --drop {name}"
        )
