"""Writes the README's table: power, false discoveries, seconds and abilities beside rivals."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..stores import newest
from .means import at_level, cells, markdown, number, pooled, shares
from .yardstick import PAPER

LEVEL = 0.1
SIZES = ((100, 100), (100, 500))  # n and p
TIMED = (100, 100)
ABILITIES = (
    "keeps a level you choose",
    "sees curves",
    "sees pairs",
    "leaves out repeats",
    "covariates, repeated rows, survival",
)
RIVALS = {  # by the name of their rows: what readers call them, and ABILITIES
    "smrmr": ("**smrmr**", "yes", "yes", "yes", "yes, and names them", "yes"),
    "d0CRT": ("d0CRT (hidimstat)", "yes", "no", "no", "yes", "no"),
    "LASSO knockoffs": ("LASSO knockoffs (knockpy)", "yes", "no", "no", "yes", "no"),
    "Boruta": ("Boruta", "no", "yes", "in part (forests)", "no", "no"),
    "HSIC-LASSO": ("HSIC-LASSO", "no", "yes", "no", "yes", "covariates"),
    "mRMR (MID)": ("mRMR", "no", "yes", "no", "yes", "no"),
}


def against(stores: dict[str, Any]) -> str:
    """Rivals in rows; means over the ten designs of the paper. `stores` as from `read_stores`."""
    rows = pd.concat([stores["yardstick"], stores["synthetic"]], ignore_index=True)
    rows = newest(rows).drop_duplicates(["design", "n", "p", "method", "level", "seed"])
    rows = rows[rows["method"].isin(RIVALS) & rows["design"].isin(PAPER)]
    measured = ("tpr", "fdr", "n_selected", "seconds")
    table = at_level(cells(rows, measured=measured), LEVEL)
    means = pooled(table[table["seeds"] > 0], ["method", "n", "p"], ["tpr", "fdr", "seconds"])
    whole = means[means["cells"] == len(PAPER)].set_index(["method", "n", "p"])
    return markdown(pd.DataFrame([_line(method, whole) for method in RIVALS]))


def _line(method: str, means: Any) -> dict[str, str]:
    """What a rival finds at every size, how long it takes, and what it can do."""
    name, *abilities = RIVALS[method]
    line = {"": name}
    for n, p in SIZES:
        known = (method, n, p) in means.index
        line[f"n={n}, p={p}"] = shares(means.loc[(method, n, p)]) if known else "-"
    seconds = means["seconds"].get((method, *TIMED))
    return line | {"seconds": number(seconds)} | dict(zip(ABILITIES, abilities, strict=True))
