"""Offers the command `smrmr`."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from time import perf_counter
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from .association import Associations, associate
from .comparators import MRMR, SIS, HSICLasso
from .simulate import DESIGNS, Simulation, simulate
from .solvers import solution_path
from .types import Indices

app = typer.Typer(
    help="Which features matter? Non-linear, non-redundant feature selection.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def demo(
    design: Annotated[str, typer.Option(help=f"One of {', '.join(DESIGNS)}.")] = "2.c",
    n: Annotated[int, typer.Option(help="Number of samples.")] = 200,
    p: Annotated[int, typer.Option(help="Number of features.")] = 1000,
    measure: Annotated[str, typer.Option(help="pc, hsic, dcor or pearson.")] = "pc",
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
) -> None:
    """Let four methods pick features of a simulated data set and count true and false picks.

    Every method picks as many features as are true. Example: smrmr demo --design 3.b --p 500
    """
    try:
        data = simulate(design, n, p, random_state=seed)
        associate(data.X[:, :20], data.y, measure=measure, target=data.target)  # compiles
        start = perf_counter()
        found = associate(data.X, data.y, measure=measure, target=data.target)
        seconds = perf_counter() - start
    except ValueError as error:
        typer.echo(f"smrmr: {error}", err=True)
        raise typer.Exit(2) from None
    count, target = len(data.support), data.target
    picks = {
        f"SIS ({measure})": SIS(count, measure=measure, target=target).fit(data.X, data.y),
        f"MRMR ({measure})": MRMR(count, measure=measure, target=target).fit(data.X, data.y),
        "HSICLasso": HSICLasso(count, target=target).fit(data.X, data.y),
    }
    table = Table("method", "true", "false", "features, best first")
    for name, selector in picks.items():
        _add(table, name, np.argsort(selector.ranking_)[:count], data)
    _add(table, f"penalised mRMR ({measure}, MCP)", _largest(found, count), data)
    console = Console()
    console.print(
        f"Design {design}: {n} samples of {p:,} features, {count} of them true. All associations "
        f"({p * (p + 1) // 2:,} pairs) took {seconds:.2f} s."
    )
    console.print(table)


@app.command()
def version() -> None:
    """Print the installed version.

    Example: smrmr version
    """
    typer.echo(installed_version("smrmr"))


def main() -> None:
    """Run the command line."""
    app()


def _largest(found: Associations, count: int) -> Indices:
    """Largest coefficients at the first lambda of the path that leaves enough of them."""
    thetas = solution_path(found, penalty="mcp").thetas
    enough = np.flatnonzero((thetas > 0).sum(axis=1) >= count)
    theta = thetas[enough[0] if len(enough) else -1]
    return np.argsort(-theta, kind="stable")[:count]


def _add(table: Table, name: str, features: Indices, data: Simulation) -> None:
    hits = np.isin(features, data.support)
    shown = [
        f"[green]x{k}[/green]" if hit else f"x{k}" for k, hit in zip(features, hits, strict=True)
    ]
    table.add_row(name, str(hits.sum()), str((~hits).sum()), " ".join(shown))
