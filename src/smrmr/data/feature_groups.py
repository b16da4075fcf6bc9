"""Reads groups of features from a table, or from what the data file knows of its features."""

from pathlib import Path
from typing import Any

import numpy as np

from ..problems import Problem, setting
from ..types import pd
from .dataset import Dataset
from .files.format import reading
from .messages import did_you_mean
from .sources import names_of


def groups_named(data: Dataset, text: str) -> tuple[dict[str, Any], str]:
    """Group by name of feature, and a note about names that did not match.

    `text` names a table of two columns, features and their groups, or else a column of the .bim or
    .var table of the data.
    """
    given = _from_table(Path(text)) if Path(text).is_file() else _from_column(data, text)
    names = set(data.X.columns.astype(str)) if hasattr(data.X, "columns") else set(names_of(data.X))
    known = {name: group for name, group in given.items() if name in names}
    if not known:
        example = next(iter(given), "")
        none = f"none of its names (such as {example!r}) is a feature."
        close = did_you_mean(example, list(names)[:1000])
        raise Problem(f"{setting('feature_groups', text)}: {none}{close}")
    n_groups = len(set(known.values()))
    note = f"{len(known):,} of {len(names):,} features are in {n_groups:,} groups of {text}"
    strangers = len(given) - len(known)
    return known, note + (f"; {strangers:,} of its names are no features" if strangers else "")


def _from_table(path: Path) -> dict[str, Any]:
    with reading(path, "a table of features and groups"):
        table = pd.read_csv(path, sep=None, engine="python", dtype=str, keep_default_na=False)
    if table.shape[1] != 2:
        raise ValueError(
            f"{path} has {table.shape[1]} columns. Two are needed: names of features and their "
            "groups, under a header."
        )
    return dict(zip(table.iloc[:, 0], table.iloc[:, 1], strict=True))


def _from_column(data: Dataset, name: str) -> dict[str, Any]:
    known = data.about_features
    if known is None or name not in known:
        close = did_you_mean(name, () if known is None else known.columns)
        given = setting("feature_groups", name)
        where = "" if known is not None else " of a table of features (.var, .bim)"
        raise Problem(f"{given}: neither a file nor a column{where}.{close}")
    column = known[name]
    return dict(zip(column.index.astype(str), np.asarray(column.astype(str)), strict=True))
