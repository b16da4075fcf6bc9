"""Offers the command `smrmr`."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from time import perf_counter
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from .bars import progress_bars
from .pipeline import select
from .recipe import Recipe
from .selection import Selection
from .simulate import DESIGNS, simulate
from .types import Indices

app = typer.Typer(
    help="Which features matter, and how many of those are false?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def demo(
    design: Annotated[str, typer.Option(help=f"One of {', '.join(DESIGNS)}.")] = "2.c",
    n: Annotated[int, typer.Option(help="Number of samples.")] = 500,
    p: Annotated[int, typer.Option(help="Number of features.")] = 2000,
    fdr: Annotated[float, typer.Option(help="Largest expected share of false features.")] = 0.3,
    measure: Annotated[str, typer.Option(help="pc, hsic, dcor or pearson.")] = "pc",
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
) -> None:
    """Select features of a simulated data set and count true, false and missed ones.

    Example: smrmr demo --design 3.b --p 500
    """
    try:
        data = simulate(design, n, p, random_state=seed)
        recipe = Recipe(fdr=fdr, measure=measure, target=data.target)
        start = perf_counter()
        with progress_bars() as progress:
            found = select(data.X, data.y, recipe, seed, progress=progress)
        seconds = perf_counter() - start
    except ValueError as error:
        typer.echo(f"smrmr: {error}", err=True)
        raise typer.Exit(2) from None
    console = Console()
    console.print(
        f"Design {design}: {n} samples of {p:,} features, {len(data.support)} of them true. "
        f"{found} ({seconds:.1f} s)"
    )
    if found.selected.size:
        console.print(_table(found, data.support))
    hits = np.isin(found.selected, data.support).sum()
    console.print(
        f"{hits} true features found, {len(found.selected) - hits} false, "
        f"{len(data.support) - hits} missed."
    )


@app.command()
def version() -> None:
    """Print the installed version.

    Example: smrmr version
    """
    typer.echo(installed_version("smrmr"))


def main() -> None:
    """Run the command line."""
    app()


def _table(found: Selection, true: Indices) -> Table:
    table = Table("feature", "W", "q-value", "relevance", "truth")
    for k in found.selected:
        table.add_row(
            found.names[k],
            f"{found.W[k]:.4f}",
            f"{found.q_values[k]:.3f}",
            f"{found.relevance[k]:.3f}",
            "[green]true[/green]" if k in true else "false",
        )
    return table
