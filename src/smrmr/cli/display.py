"""Shows a selection on the terminal."""

from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from ..data.messages import named
from ..report.words import counts_by_level, say, statement
from ..selection import Selection
from ..types import Indices

MOST_IN_DEMO = 12  # findings, with which a demo fits a screen of 24 lines
MOST_IN_GROUP = 2  # names beside the representative


def show_answer(found: Selection, next_steps: list[str]) -> None:
    """What was selected, or near misses; what other levels would select; what to do next."""
    said = Console()
    said.print(statement(found, name_near_misses=False), highlight=False, markup=False)
    if found.selected.size:
        notes = _groups(found) if found.n_groups else _neighbours(found)
        last = "in one group with" if found.n_groups else "most similar"
        said.print(_table(found, last, notes))
    elif len(near_misses := found.near_misses()):
        title = "Near misses, to be tested on new data, not findings"
        said.print(drawn(near_misses.drop(columns="status"), title=title, title_justify="left"))
    said.print(say(found, "levels", counts=counts_by_level(found)), highlight=False)
    for line in next_steps:
        said.print(line, highlight=False, markup=False, soft_wrap=True)


def show_demo(found: Selection, true: Indices, design: str, seconds: float) -> None:
    """What was selected from a simulation, and how much of it is true; on one screen."""
    said = Console()
    said.print(
        f"Design {design}: {found.n_rows} samples of {found.n_features:,} features, {len(true)} of "
        f"them true. {statement(found)} ({seconds:.1f} s)"
    )
    hits = [bool(np.isin(group, true).any()) for group in found.members]
    if hits:
        truth = ["[green]true[/green]" if hit else "false" for hit in hits]
        said.print(_table(found, "truth", truth[:MOST_IN_DEMO]))
    if len(hits) > MOST_IN_DEMO:
        said.print(f"and {len(hits) - MOST_IN_DEMO} more, in selected.csv.")
    members = np.concatenate([np.empty(0, np.intp), *found.members])
    missed = np.count_nonzero(~np.isin(true, members))
    said.print(
        f"{len(true) - missed} true features found, {hits.count(False)} false, {missed} missed."
    )


def show_report(path: Path, quiet: bool) -> None:
    """Say where the report is; to be quiet, with nothing around it."""
    typer.echo(f"{path}" if quiet else f"Report: {path}")


def _table(found: Selection, last: str, notes: list[str]) -> Table:
    """The first findings, one per note, with what the controller shows of them."""
    findings, shown = found.findings(), found.presentation.SHOWN
    table = Table("feature", *(name.replace("_", "-") for name in shown), last, show_edge=False)
    for i, note in enumerate(notes):
        cells = (findings[name][i] for name in shown)
        table.add_row(_cut(found.names[found.selected[i]]), *map(_written, cells), note)
    return table


def drawn(frame: Any, **title: Any) -> Table:
    """A DataFrame for the terminal."""
    table = Table(*(name.replace("_", "-") for name in frame), show_edge=False, **title)
    for row in frame.itertuples(index=False):
        table.add_row(*map(_written, row))
    return table


def _groups(found: Selection) -> list[str]:
    """Who else is in the group of each finding."""
    several = ((_cut(found.names[j]) for j in others) for others in found.look_alikes)
    return [named(names, MOST_IN_GROUP) for names in several]


def _neighbours(found: Selection) -> list[str]:
    """The features most associated with each finding."""
    near = [found.presentation.neighbours(found, int(k))[:2] for k in found.selected]
    return [", ".join(f"{_cut(found.names[j])} ({r:.2f})" for j, r in some) for some in near]


def _written(cell: Any) -> str:
    return _cut(cell) if isinstance(cell, str) else f"{cell:.3g}" if cell % 1 else f"{cell:.0f}"


def _cut(name: str) -> str:
    """Short and safe in a terminal: no markup, no control characters."""
    shown = "".join(c if c.isprintable() else "?" for c in name)
    shown = shown if len(shown) <= 30 else shown[:29] + "…"
    return shown.replace("[", r"\[")
