"""Writes what methods that promise a level of the FDR keep of it, and what power it costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..stores import NULL, read_stores
from .means import (
    CELL,
    ENOUGH_SEEDS,
    above_level,
    across,
    aligned,
    cells,
    entries,
    in_order,
    markdown,
    number,
    pooled,
    shares,
)
from .page import NOT_RUN, write_page

PAPER = ("1.a", "1.b", "1.c", "1.d", "2.a", "2.b", "2.c", "3.a", "3.b", "3.c")
OURS = "smrmr"
BY = "smrmr (BY)"
ALONE = "SIS + BH"
SETTINGS = (OURS, BY, "knockoffs", "paper (PC, MCP)")  # what one package offers
DEFAULT_LEVEL = 0.1
SHARED = ["design", "n", "p", "level"]
MUCH = 0.1  # of the power, that is worth a line
EMPTY_COLUMNS = {"size": "data sets where a rival finds a true feature", "mean": "smrmr is empty"}
MEASURED = ("tpr", "fdr", "n_selected", "seconds")
PLANTED = ("dataset", "response", "method", "level")
NOTES = """\
A cell is a design at a size and a level. Rivals have fewer seeds, so that fewer of their cells can
stand out. What a method could not take is "not taken", and means over part of the designs say so:
compare them with care. SIS + BH comes with the fit of smrmr, whose seconds it shows, and tests
features alone: neighbours of true features are no nulls to it, so that its ratio is not to be 1.
The seconds of T-Rex are those of all levels, since it has to be run again for each."""


def write_yardstick(folder: Path, to: Path | None = None) -> Path | None:
    """The file ``yardstick.md`` of the rows in a folder, written there or into `to`.

    None if there are no rows.
    """
    stores = read_stores(folder)
    if stores["yardstick"].empty and stores["planted"].empty:
        return None
    table = cells(stores["yardstick"], measured=MEASURED)
    sections = {
        "Methods": methods_table(stores["yardstick"], table),
        "TPR / FDR, means over the ten designs of the paper": ten_designs(table),
        "Where a rival finds more": beaten(table),
        "Empty answers where a rival finds a true feature": left_empty(stores["yardstick"]),
        "Null p-values": calibration(stores["yardstick"]),
        "TPR / FDR by design": "\n\n".join(
            f"### n={n}, p={p}, level {level}\n\n{designs_table(part)}"
            for (n, p, level), part in table.groupby(["n", "p", "level"])
        ),
        "Planted targets: TPR / FDR": planted_table(stores["planted"]),
    }
    return write_page((to or folder) / "yardstick.md", "Yardstick", sections, NOTES)


def yardstick(stores: dict[str, Any]) -> str:
    """The part of it that goes into the docs. `stores` are what `read_stores` returns."""
    table = cells(stores["yardstick"], measured=MEASURED)
    ours = table[table["method"] == OURS]
    sections = {
        "Methods": methods_table(stores["yardstick"], table),
        "Means over the ten designs of the paper": ten_designs(table),
        "Where a rival finds more": beaten(table),
        "Empty answers where a rival finds a true feature": left_empty(stores["yardstick"]),
        **{
            f"Designs at level {level}, `{OURS}`": _by_size(part)
            for level, part in ours.groupby("level")
        },
        "Null p-values over nominal": calibration(stores["yardstick"]),
        "Targets planted in real tables": planted_table(stores["planted"]),
    }
    said = [f"### {title}\n\n{part}" for title, part in sections.items() if part]
    return "\n\n".join([NOTES.replace("\n", " "), *said]) if said else NOT_RUN


def methods_table(frame: Any, table: Any) -> str:
    """One row per method: its version, how many cells exceed their level, empty answers, time."""
    if table.empty:
        return ""
    versions = frame.groupby("method")["version"].agg(
        lambda names: ", ".join(sorted({name for name in names if name}))
    )
    rows = []
    smallest = table[["n", "p"]].drop_duplicates().sort_values(["n", "p"]).head(2)
    for method, part in table.groupby("method", sort=False):
        row = {"method": method, "version": versions[method], **_judged(part)}
        for n, p in smallest.to_numpy().tolist():
            here = part[(part["n"] == n) & (part["p"] == p)]
            row[f"seconds at n={n}, p={p}"] = number(here["seconds"].mean())
        rows.append(row)
    return markdown(in_order(pd.DataFrame(rows).fillna("-")))


def _judged(part: Any) -> dict[str, Any]:
    """How many cells have seeds enough, are above their level, and are empty; how many failed."""
    return {
        "cells": int((part["seeds"] >= ENOUGH_SEEDS).sum()),
        "above by 2 SE": len(above_level(part, 2)),
        "by 3 SE": len(above_level(part, 3)),
        "empty": number(part["empty"].mean()),
        "cells not taken": int((part["seeds"] == 0).sum()),
    }


def ten_designs(table: Any) -> str:
    """Sizes and levels in rows, methods in columns; how many designs, where not all ten."""
    means = _over_designs(table)
    return "" if means.empty else across(means, ("n", "p", "level"), _mean_of_designs)


def sizes(stores: dict[str, Any]) -> str:
    """Both rules of ours beside knockoffs by size, at the default level, means of ten designs."""
    means = _over_designs(cells(stores["yardstick"], measured=MEASURED))
    chosen = means["method"].isin(SETTINGS) & (means["level"] == DEFAULT_LEVEL)
    return across(means[chosen], ("n", "p"), _mean_of_designs) if chosen.any() else NOT_RUN


def ten_means(table: Any) -> Any:
    """Means over the ten designs of the paper, where a method took them all."""
    means = _over_designs(table)
    return in_order(means[means["cells"] == len(PAPER)])


def _over_designs(table: Any) -> Any:
    listed = table[table["design"].isin(PAPER) & (table["seeds"] > 0)]
    return pooled(listed, ["n", "p", "level", "method"], ["tpr", "fdr"])


def _mean_of_designs(row: dict[str, Any]) -> str:
    some = "" if row["cells"] == len(PAPER) else f", {row['cells']} of {len(PAPER)}"
    return shares(row) + some


def designs_table(part: Any) -> str:
    """Designs in rows and methods in columns, of one size and level; sums of them at its end."""
    lines = entries(part, ("design",), shares, "method")
    titles = ("mean of the paper's", "cells above by 2 SE, 3 SE", "empty answers")
    means, above, empty = ends = [{"design": title} for title in titles]
    for method, own in part.groupby("method", sort=False):
        judged = _judged(own)
        listed = own[own["design"].isin(PAPER) & (own["seeds"] > 0)]
        for row in pooled(listed, ["n"], ["tpr", "fdr"]).to_dict("records"):
            means[method] = _mean_of_designs(row)
        counts = f"{judged['above by 2 SE']}, {judged['by 3 SE']} of {judged['cells']}"
        above[method], empty[method] = counts, judged["empty"]
    return aligned([*lines, *ends], ("design",), part["method"])


def beaten(table: Any) -> str:
    """Cells in which a rival that keeps its level finds more, by over 0.1; the best one of them."""
    ours = table[table["method"] == OURS]
    above = above_level(table, 2).index
    rivals = table[_is_rival(table) & ~table.index.isin(above) & (table["seeds"] >= ENOUGH_SEEDS)]
    rivals = rivals.sort_values("tpr").groupby(SHARED, sort=False).tail(1)
    both = ours.merge(rivals, on=SHARED, suffixes=("", " of the rival"))
    worse = both[both["tpr of the rival"] > both["tpr"] + MUCH]
    if worse.empty:
        return "" if both.empty else "No rival that keeps its level finds more by over 0.1."
    shown = [*SHARED, "tpr", "method of the rival", "tpr of the rival", "fdr of the rival"]
    return markdown(worse[shown])


def left_empty(frame: Any) -> str:
    """Share of data sets without an answer of ours among those where a rival names a true one."""
    good = frame[frame["status"] == "ok"]
    key = [*SHARED, "seed"]
    found = good[_is_rival(good) & (good["tpr"] > 0)][key].drop_duplicates()
    ours = good[good["method"] == OURS].merge(found, on=key)
    if ours.empty:
        return ""
    ours = ours.assign(empty=(ours["n_selected"] == 0).astype(float))
    groups = ours.groupby(["n", "p", "level"])["empty"]
    return markdown(groups.agg(["size", "mean"]).rename(columns=EMPTY_COLUMNS).reset_index())


def _is_rival(table: Any) -> Any:
    """Those that ask the question of smrmr: whether a feature adds to all others."""
    return ~table["method"].isin([OURS, BY, ALONE])


def calibration(frame: Any) -> str:
    """Share of null p-values up to a nominal level, over that level; errors over data sets."""
    names = list(NULL.values())
    good = frame[(frame["status"] == "ok") & frame[names].notna().all(axis=1)]
    fits = good.drop_duplicates([name for name in (*CELL, "seed") if name != "level"])
    fits = fits[fits["method"] != BY]  # another rule for the same p-values
    if fits.empty:
        return ""
    return markdown(in_order(ratios(fits, ["method", "n"])))


def ratios(fits: Any, by: Sequence[str]) -> Any:
    """Ratios to nominal with standard errors, one row per group of data sets, each one fit."""
    groups = fits.groupby(list(by), sort=False)
    table = pd.DataFrame({"data sets": groups.size()})
    for level, name in NULL.items():
        table[f"{level:g}"] = groups[name].mean() / level
        table[f"{level:g}_se"] = groups[name].sem() / level
    return table.reset_index()


def planted_table(frame: Any) -> str:
    """Data sets, responses and levels in rows, methods in columns."""
    table = cells(frame, PLANTED, MEASURED)
    table = table[table["seeds"] > 0]
    return "" if table.empty else across(table, ("dataset", "response", "level"), shares)


def _by_size(part: Any) -> str:
    sizes = [f"n={n}, p={p}" for n, p in part[["n", "p"]].to_numpy().tolist()]
    return across(part.assign(size=sizes), ("design",), shares, column="size")
