"""Shows at least how many features of an answer, or of any sets of features, are true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from ..data.feature_sets import read_feature_sets
from ..runs.files import replacing
from .actions import saved_selection
from .display import drawn
from .outputs import write_csv

MOST_SETS = 20  # that the terminal shows


def show_bounds(
    file: Path,
    features: list[str],
    sets: Path | None,
    layer: str,
    confidence: float,
    out: Path | None,
) -> None:
    """Print the bound of some features, of sets in a file, or of every layer of an answer."""
    found = saved_selection(file)
    if features and sets is not None:
        raise ValueError("give names of features or --sets FILE, not both.")
    if sets is not None:
        given, unknown = read_feature_sets(Path(sets), found.names)
        if unknown:
            typer.echo(
                f"Note: {unknown:,} names of {sets} are no features and are left out.", err=True
            )
        _show_table(found.at_least(given, confidence, layer), confidence, out)
    elif features:
        least = found.at_least(features, confidence, layer)
        typer.echo(_sentence(least, len(set(features)), layer, confidence))
    else:
        for name in ("associated", "signals", "own"):
            if found.evidence.kind == "tests" or name == "associated":
                least = found.at_least(None, confidence, name)
                typer.echo(_sentence(least, len(found.layer(name).features), name, confidence))


def _sentence(least: int, n: int, layer: str, confidence: float) -> str:
    what = {"associated": "associated", "signals": "signals", "own": "true on their own"}[layer]
    return f"At least {least:,} of {n:,} are {what}, with confidence {confidence:g}."


def _show_table(table: Any, confidence: float, out: Path | None) -> None:
    said = Console()
    said.print(drawn(table[:MOST_SETS]))
    if len(table) > MOST_SETS:
        said.print(f"and {len(table) - MOST_SETS:,} more sets; --out FILE writes all of them.")
    said.print(f"All bounds hold together with confidence {confidence:g}.", highlight=False)
    if out is not None:
        with replacing(Path(out)) as unfinished:
            write_csv(table, unfinished)
        said.print(f"Table: {out}", highlight=False, soft_wrap=True)
