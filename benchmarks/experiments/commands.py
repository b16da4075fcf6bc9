"""Offers `smrmr benchmark`: experiments that can be stopped and taken up again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smrmr.cli.terminal import clear_errors, terminal_progress

benchmark = typer.Typer(
    help="Run the paper's experiments and ours; finished rows are kept and not computed again.",
    no_args_is_help=True,
)
Out = Annotated[Path, typer.Option(help="Folder of the results; they are added to.")]
Jobs = Annotated[int | None, typer.Option(help="Draws at a time; -1 for all cores.")]
GridName = Annotated[str, typer.Option(help="quick, full or a TOML file.")]
KEPT = "finished rows are kept, and the same command goes on from there"


@benchmark.command()
def synthetic(grid: GridName = "quick", out: Out = Path("results"), jobs: Jobs = None) -> None:
    """Simulated data: who finds the true features, how many false ones, at what cost.

    Example: smrmr benchmark synthetic --grid quick --out results --jobs 2
    """
    _run_grid(grid, out, jobs, "synthetic")


@benchmark.command()
def speed(
    grid: Annotated[str, typer.Option(help="speed or a TOML file.")] = "speed",
    out: Out = Path("results"),
) -> None:
    """Seconds and memory against the number of features, one fit at a time.

    Example: smrmr benchmark speed --out results
    """
    _run_grid(grid, out, 1, "speed")


@benchmark.command()
def real(
    grid: GridName = "quick",
    out: Out = Path("results"),
    jobs: Jobs = None,
) -> None:
    """Real data: accuracy and number of features by the paper's protocol.

    Data are downloaded once, or read from the folder that the variable SMRMR_DATA names.

    Example: smrmr benchmark real --grid quick --out results
    """
    from .grid import read_real_grid
    from .real import run_real

    with clear_errors(KEPT):
        wanted = read_real_grid(grid)
        with terminal_progress() as progress:
            run_real(wanted, out, jobs=jobs, progress=progress)
        _show(out)


def _run_grid(grid: str, out: Path, jobs: int | None, name: str) -> None:
    # what follows loads scikit-learn, which other commands need not wait for
    from .grid import read_grid
    from .synthetic import run_grid, store_in

    with clear_errors(KEPT):
        wanted, store = read_grid(grid), store_in(out, name)
        with terminal_progress() as progress:
            run_grid(wanted, store, jobs=jobs, predict=name == "synthetic", progress=progress)
        _show(out)


def _show(out: Path) -> None:
    from .figures import draw_figures
    from .tables import write_tables

    typer.echo(f"Tables: {write_tables(out)}")
    for path in draw_figures(out):
        typer.echo(f"Figure: {path}")
