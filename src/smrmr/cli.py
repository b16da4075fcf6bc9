"""Offers the command `smrmr`."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from .association import relevance
from .simulate import DESIGNS, Simulation, simulate

app = typer.Typer(
    help="Which features matter? Non-linear, non-redundant feature selection.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

SHOWN = 15


@app.command()
def demo(
    design: Annotated[str, typer.Option(help=f"One of {', '.join(DESIGNS)}.")] = "2.c",
    n: Annotated[int, typer.Option(help="Number of samples.")] = 200,
    p: Annotated[int, typer.Option(help="Number of features.")] = 2000,
    measure: Annotated[str, typer.Option(help="pc, hsic, dcor or pearson.")] = "pc",
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
) -> None:
    """Rank the features of a simulated data set by relevance and mark the true ones.

    Example: smrmr demo --design 3.a --measure hsic
    """
    try:
        data = simulate(design, n, p, random_state=seed)
        scores = relevance(data.X, data.y, measure=measure, target=data.target)
    except ValueError as error:
        typer.echo(f"smrmr: {error}", err=True)
        raise typer.Exit(2) from None
    _show(design, measure, data, [float(score) for score in scores])


@app.command()
def version() -> None:
    """Print the installed version.

    Example: smrmr version
    """
    typer.echo(installed_version("smrmr"))


def main() -> None:
    """Run the command line."""
    app()


def _show(design: str, measure: str, data: Simulation, scores: list[float]) -> None:
    n, p = data.X.shape
    true = set(data.support.tolist())
    ranking = sorted(range(p), key=lambda k: -scores[k])
    table = Table("rank", "feature", "relevance", "", title=f"Most relevant of {p:,} features")
    for rank, k in enumerate(ranking[:SHOWN], 1):
        mark = "[green]true[/green]" if k in true else ""
        table.add_row(str(rank), f"x{k}", f"{scores[k]:.4f}", mark)
    console = Console()
    console.print(f"Design {design}: {n} samples, {len(true)} true features, measure {measure}.")
    console.print(table)
    among = len(true.intersection(ranking[: len(true)]))
    console.print(f"{among} of the {len(true)} true features are among the first {len(true)}.")
