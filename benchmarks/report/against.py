"""Writes the README's tables of rivals: power, false discoveries, seconds and abilities."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..stores import newest
from .means import at_level, cells, markdown, number, pooled, shares
from .yardstick import DEFAULT_LEVEL, PAPER

SIZES = ((100, 100), (100, 500))  # n and p
FIRST = SIZES[0]
ABILITIES = (
    "keeps a set level",
    "curves",
    "pairs",
    "drops redundant",
    "layers",
    "own-table check",
    "covariates, survival",
)
RIVALS = {  # by the name of their rows: what readers call them, and ABILITIES
    "smrmr": ("**smrmr**", "yes", "yes", "yes", "yes, named", "yes", "yes", "yes"),
    "d0CRT": ("d0CRT", "yes", "no", "no", "yes", "no", "no", "no"),
    "LASSO knockoffs": ("LASSO knockoffs", "yes", "no", "no", "yes", "no", "no", "no"),
    "Boruta": ("Boruta", "no", "yes", "in part", "no", "no", "no", "no"),
    "HSIC-LASSO": ("HSIC-LASSO", "no", "yes", "no", "yes", "no", "no", "covariates"),
    "mRMR (MID)": ("mRMR", "no", "yes", "no", "yes", "no", "no", "no"),
}


def against(stores: dict[str, Any]) -> str:
    """What rivals find and what they can do, at one size. `stores` as from `read_stores`."""
    means = _means(stores)
    lines = []
    for method, (name, *abilities) in RIVALS.items():
        row = means.loc[(method, *FIRST)] if (method, *FIRST) in means.index else {}
        shown = {"found": number(row.get("tpr")), "false": number(row.get("fdr"))}
        lines.append({"": name, **shown, **dict(zip(ABILITIES, abilities, strict=True))})
    return markdown(pd.DataFrame(lines))


def rivals(stores: dict[str, Any]) -> str:
    """What rivals find at every size, with standard errors, and how long they take."""
    means = _means(stores)
    lines = []
    for method, (name, *_) in RIVALS.items():
        line = {"": name}
        for n, p in SIZES:
            known = (method, n, p) in means.index
            line[f"n={n}, p={p}"] = shares(means.loc[(method, n, p)]) if known else "-"
        lines.append(line | {"seconds": number(means["seconds"].get((method, *FIRST)))})
    return markdown(pd.DataFrame(lines))


def _means(stores: dict[str, Any]) -> Any:
    """Means over the ten designs of the paper, of methods that took all, by method, n and p."""
    rows = pd.concat([stores["yardstick"], stores["synthetic"]], ignore_index=True)
    rows = newest(rows).drop_duplicates(["design", "n", "p", "method", "level", "seed"])
    rows = rows[rows["method"].isin(RIVALS) & rows["design"].isin(PAPER)]
    measured = ("tpr", "fdr", "n_selected", "seconds")
    table = at_level(cells(rows, measured=measured), DEFAULT_LEVEL)
    means = pooled(table[table["seeds"] > 0], ["method", "n", "p"], ["tpr", "fdr", "seconds"])
    return means[means["cells"] == len(PAPER)].set_index(["method", "n", "p"])
