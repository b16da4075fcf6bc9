"""Takes the target and other columns out of tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..problems import Problem, setting
from ..types import pd
from .files import Table
from .frames import numeric_columns
from .joining import IN_COLUMNS
from .messages import did_you_mean, named

LEAST_DIFFERENT = 0.5  # share of different texts in a column that describes features


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
    elsewhere = table.elsewhere
    if not (mistyped or turned or elsewhere or table.about.shape[1]):
        elsewhere = f" A target in another table is joined by {setting('pheno', ...)}."
    advice = close if mistyped else turned or close
    return None, table.features, [Problem(f"{path} has no column {name!r}.{advice}{elsewhere}")]


def _turned(table: Table, target: str, transpose: bool) -> str:
    """Say that samples seem to be columns, or that there is no header, where it looks so.

    That is if the target is the name of a row, or if the first column holds a name for every row,
    all others hold numbers or labels of features, and there are more rows than columns.
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
    numbers = numeric_columns(values)
    others = values.loc[:, ~numbers]
    labels = all(_describes_features(others.iloc[:, k]) for k in range(others.shape[1]))
    samples = np.count_nonzero(numbers) > others.shape[1]
    if names and labels and samples and len(features) > features.shape[1] and not transpose:
        return (
            f" {IN_COLUMNS}, and your features rows ({named(ids)}): then use "
            f"{setting('transpose', True)}; a target in another table is joined by "
            f"{setting('pheno', ...)} and {setting('id', ...)}."
        )
    return ""


def _describes_features(column: pd.Series[Any]) -> bool:
    """Whether a column holds symbols and the like; labels of samples repeat, limits are numbers."""
    words = column.astype(str).str.match("[A-Za-z]")
    return bool(column.nunique() > LEAST_DIFFERENT * len(column) < words.sum())


def _is_number(name: Any) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
