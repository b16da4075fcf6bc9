"""Writes what asking about groups of look-alikes finds, and how many of the groups are false."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..experiments.groups import CONTROLS, CUTS, TABLES
from ..experiments.planted import RESPONSES
from .means import ENOUGH_SEEDS, above_level, aligned, cells, entries, markdown, number, shares
from .page import NOT_RUN

ORDER: dict[str, list[Any]] = {
    "dataset": list(TABLES),
    "response": list(RESPONSES),
    "method": list(CONTROLS),
    "alike": list(CUTS),
    "level": [0.1, 0.3],
}
ROWS = ("table", "target", "data sets")
NOTES = """\
TPR is the share of true columns within a group that was found; FDR, with its standard error, is the
share of groups found that hold no true column; in brackets the mean number of columns per group
found. "several" tests at cuts 1, 0.9, 0.7 and 0.5 at once and reports the smallest group."""


def groups_tables(stores: dict[str, Any]) -> str:
    """How many cells keep their level; then, per level, tables in rows and cuts in columns."""
    table = cells(stores["groups"], tuple(ORDER), ("tpr", "fdr", "n_selected", "size"))
    table = table[table["seeds"] > 0]
    if table.empty:
        return NOT_RUN
    table = table.sort_values(list(ORDER), key=lambda names: names.map(ORDER[names.name].index))
    table["groups"] = table["method"] + ", " + table["alike"]
    fewest = table.groupby(["dataset", "response"])["seeds"].transform("min")
    table = table.assign(table=table["dataset"], target=table["response"])
    table["data sets"] = fewest
    parts = [
        f"Level {level}:\n\n{aligned(entries(part, ROWS, _entry, 'groups'), ROWS, part['groups'])}"
        for level, part in table.groupby("level")
    ]
    return "\n\n".join([_judged(table), NOTES.replace("\n", " "), *parts])


def _judged(table: Any) -> str:
    """Per way to ask: how many cells have seeds enough, and how many exceed their level."""
    rows = [
        {
            "groups": kind,
            "TPR at 0.1": number(part.loc[part["level"] == 0.1, "tpr"].mean()),
            "TPR at 0.3": number(part.loc[part["level"] == 0.3, "tpr"].mean()),
            "columns per group": number(part["size"].mean()),
            "cells": int((part["seeds"] >= ENOUGH_SEEDS).sum()),
            "above by 2 SE": len(above_level(part, 2)),
            "by 3 SE": len(above_level(part, 3)),
        }
        for kind, part in table.groupby("groups", sort=False)
    ]
    return markdown(pd.DataFrame(rows))


def _entry(row: dict[str, Any]) -> str:
    size = "" if row["size"] != row["size"] else f" [{number(row['size'])}]"
    return shares(row) + size
