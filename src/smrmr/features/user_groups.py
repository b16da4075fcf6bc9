"""Reads groups of features that the user names: pathways, bands, blocks, levels of a category."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..data.columns import Columns
from ..data.messages import did_you_mean, named
from ..problems import Problem, setting, warn
from ..types import Data, Indices
from .copies import Copies


def read_feature_groups(given: Data, columns: Columns, copies: Copies) -> Indices:
    """For each column the first column of its group.

    Parameters
    ----------
    given
        One name or number of a group per column, or a mapping (a dict, a Series) from names of
        columns to groups. Columns without a group (missing, None or empty) are on their own.
    """
    names = _by_column(given, columns)
    first: dict[Any, int] = {}
    labels = np.arange(columns.n_columns)
    for k, name in enumerate(names):
        if not _is_missing(name):
            labels[k] = first.setdefault(name, k)
    return _with_copies_together(labels, copies, columns)


def _by_column(given: Data, columns: Columns) -> list[Any]:
    p = columns.n_columns
    if hasattr(given, "to_dict") and hasattr(given, "index"):
        plain = list(given.index) == list(range(len(given)))
        given = np.asarray(given) if plain else given.to_dict()
    if isinstance(given, Mapping):
        place = {columns.name(k): k for k in range(p)}
        found: list[Any] = [None] * p
        for name, group in given.items():
            if str(name) not in place:
                raise Problem(
                    f"{setting('feature_groups')} names {name!r}, which is no feature."
                    f"{did_you_mean(str(name), place)}"
                )
            found[place[str(name)]] = group
        return found
    found = list(given) if np.ndim(given) == 1 else []
    if len(found) != p:
        raise Problem(
            f"{setting('feature_groups')} has shape {np.shape(given)}.",
            f"One group per feature is needed, which makes {p:,}, or a mapping from names of "
            "features to groups.",
        )
    return found


def _is_missing(name: Any) -> bool:
    return name is None or name == "" or name != name


def _with_copies_together(labels: Indices, copies: Copies, columns: Columns) -> Indices:
    """Join groups that hold copies of one another, which no test can distinguish."""
    torn = [same for same in copies.groups if len(np.unique(labels[same])) > 1]
    if not torn:
        return labels
    for same in torn:
        mine = np.unique(labels[same])
        labels = np.where(np.isin(labels, mine), mine[0], labels)
    examples = named(f"{columns.name(same[0])} and {columns.name(same[1])}" for same in torn)
    warn(
        f"{setting('feature_groups')} has copies in different groups ({examples}). Copies carry "
        "the same information, so these groups became one."
    )
    return labels
