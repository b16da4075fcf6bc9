"""Means of stored rows with their standard errors, and tables of them as markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import pandas as pd

from smrmr.designs import DESIGNS

from ..data.datasets import SOURCES
from ..methods import METHODS, STRICT

CELL = ("design", "n", "p", "method", "level")
MEASURED = ("tpr", "fpr", "fdr", "n_selected", "recall", "score", "seconds", "megabytes")
ENOUGH_SEEDS = 5
ROUNDING = 1e-9


def cells(frame: Any, by: Sequence[str] = CELL, measured: Sequence[str] = MEASURED) -> Any:
    """Means over seeds, one row per design, n, p, method and level, or by other columns.

    Beside every mean ``x`` stands its standard error ``x_se``, the standard deviation over the root
    of the number of values. ``seeds`` counts the draws that went well, ``failures`` the others,
    which enter no mean; ``empty`` is the share of draws without a selected feature.
    """
    ok = frame["status"] == "ok"
    rows = frame[[*by, *measured]].copy()
    rows[list(measured)] = rows[list(measured)].where(ok)  # seconds until a failure are no result
    rows["empty"] = (rows["n_selected"] == 0).where(ok).astype(float)
    rows["seeds"], rows["failures"] = ok.astype(int), (~ok).astype(int)
    groups = rows.groupby(list(by), dropna=False)
    table = groups[[*measured, "empty"]].mean()
    for name in measured:
        table[f"{name}_se"] = groups[name].sem()
    for name in ("seeds", "failures"):
        table[name] = groups[name].sum()
    return in_order(table.reset_index())


def in_order(table: Any) -> Any:
    """Rows by data set, design, n, p, method and level, as far as there are such columns.

    Names come in the order in which the package lists them.
    """
    known = {"dataset": list(SOURCES), "design": list(DESIGNS), "method": list(METHODS)}
    by = [name for name in ("dataset", "response", *CELL) if name in table]

    def places(column: Any) -> Any:
        if column.name not in known:
            return column
        listed = known[column.name]
        names = listed + sorted(set(column) - set(listed))
        return column.map({name: place for place, name in enumerate(names)})

    return table.sort_values(by, key=places, kind="stable", ignore_index=True)


def at_level(table: Any, level: float) -> Any:
    """Rows at one level, and those of methods that have none."""
    return table[table["level"].isna() | (table["level"] == level)]


def strict(table: Any) -> Any:
    """Those of `cells` that are of our knockoff methods, which promise FDR control."""
    return table[table["method"].isin(STRICT)]


def violations(table: Any, k: float) -> Any:
    """Those of `strict` whose mean FDR is above the level by more than k standard errors.

    Cells of fewer seeds than `ENOUGH_SEEDS` are not judged. A standard error of 0 means that all
    draws agree: then the mean itself must be above the level.
    """
    return above_level(strict(table), k)


def above_level(table: Any, k: float) -> Any:
    """The rows of any methods, as `violations` judges our knockoff methods."""
    above = table["fdr"] > table["level"] + k * table["fdr_se"] + ROUNDING
    return table[above & (table["seeds"] >= ENOUGH_SEEDS)]


def failures(frame: Any) -> Any:
    """How often each method failed, and why; reasons that differ in numbers alone are one."""
    failed = frame[frame["status"] != "ok"]
    reason = failed["status"].astype(str).str.replace(r"\d+", "#", regex=True)
    groups = failed.groupby(["method", reason.rename("kind")], sort=False)
    table = groups.agg(rows=("status", "size"), reason=("status", "min")).reset_index()
    return in_order(table)[["method", "rows", "reason"]]


def fold_means(frame: Any) -> Any:
    """Mean accuracy and number of features, one row per data set and method.

    The standard error is the standard deviation over the root of the number of folds: repeats share
    out the same samples anew, so they bring no new evidence and do not make it smaller.
    """
    good = frame[frame["status"] == "ok"]
    groups = good.groupby(["dataset", "method"])
    table = groups[["accuracy", "n_selected"]].mean()
    for name in ("accuracy", "n_selected"):
        table[f"{name}_se"] = groups[name].std() / groups["fold"].nunique() ** 0.5
    table["fits"] = groups.size()
    return in_order(table.reset_index())


def pooled(table: Any, by: Sequence[str], names: Sequence[str]) -> Any:
    """Means of independent means with their standard errors, one row per group in `by`.

    Where a mean has no standard error, the mean of the group has none either.
    """
    groups = table.groupby(list(by), dropna=False)
    result = groups[list(names)].mean()
    for name in names:
        result[f"{name}_se"] = groups[f"{name}_se"].agg(
            lambda se: (se**2).sum(skipna=False) ** 0.5 / len(se)
        )
    return result.assign(cells=groups.size()).reset_index()


def markdown(table: Any) -> str:
    """A GitHub table; a column ``x_se`` goes in brackets after ``x``.

    Examples
    --------
    >>> import pandas as pd
    >>> print(markdown(pd.DataFrame({"method": ["SIS"], "fdr": [0.581], "fdr_se": [0.034]})))
    | method | fdr |
    |---|---|
    | SIS | 0.58 (0.03) |
    """
    names = [str(name) for name in table.columns]
    shown = [name for name in names if not name.endswith("_se")]
    lines = [_line(shown), "|" + "---|" * len(shown)]
    for values in table.to_numpy(dtype=object).tolist():
        row = dict(zip(names, values, strict=True))
        lines.append(_line([_entry(row[name], row.get(f"{name}_se")) for name in shown]))
    return "\n".join(lines)


def number(mean: Any, se: Any = None) -> str:
    """A number as people read it, its standard error in brackets; "-" where there is none."""
    if mean is None or mean != mean:
        return "-"
    if isinstance(mean, Integral):
        return str(mean)
    places = {10: ".2f", 1000: ".1f", 100_000: ".0f"}
    form = next((form for below, form in places.items() if abs(mean) < below), ".3g")
    text = format(mean, form)
    return text if se is None or se != se else f"{text} ({format(se, form)})"


def across(table: Any, rows: Sequence[str], entry: Any, column: str = "method") -> str:
    """A table as markdown, one entry per row: some columns go down, another one goes across."""
    ordered = in_order(table)
    return aligned(entries(ordered, rows, entry, column), rows, ordered[column])


def entries(table: Any, rows: Sequence[str], entry: Any, column: str) -> list[dict[str, Any]]:
    """Lines of such a table, each with the values of `rows` and the entries of its cells."""
    wide: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in table.to_dict("records"):
        place = tuple(row[name] for name in rows)
        line = wide.setdefault(place, dict(zip(rows, place, strict=True)))
        line[row[column]] = entry(row)
    return list(wide.values())


def aligned(lines: list[dict[str, Any]], rows: Sequence[str], columns: Any) -> str:
    """Lines as markdown, columns in the order given; "-" where a line has no entry."""
    return markdown(pd.DataFrame(lines, columns=[*rows, *dict.fromkeys(columns)]).fillna("-"))


def shares(row: dict[str, Any]) -> str:
    """TPR, and FDR with its standard error."""
    return f"{number(row['tpr'])} / {number(row['fdr'], row['fdr_se'])}"


def _entry(value: Any, se: Any) -> str:
    if not isinstance(value, str):
        return number(value, se)
    return " ".join(value.split()).replace("|", "\\|")  # else a bar would end the column


def _line(entries: Iterable[str]) -> str:
    return f"| {' | '.join(entries)} |"
