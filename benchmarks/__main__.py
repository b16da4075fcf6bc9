"""The commands: ``python -m benchmarks synthetic | real | speed | ... | report``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from smrmr.cli.terminal import clear_errors, terminal_progress

app = typer.Typer(
    help="Run the paper's experiments and ours. Finished rows are kept and not computed again.",
    no_args_is_help=True,
)
Out = Annotated[Path, typer.Option(help="Folder of the results; new rows are added to it.")]
Jobs = Annotated[int | None, typer.Option(help="Draws or folds at a time; -1 for all cores.")]
Methods = Annotated[
    list[str] | None, typer.Option(help="A method to run; may be repeated. All if left out.")
]
GridName = Annotated[str, typer.Option(help="quick, full or a TOML file.")]


@app.command()
def synthetic(grid: GridName = "quick", out: Out = Path("results"), jobs: Jobs = None) -> None:
    """Simulated data: who finds the true features, how many false ones, at what cost.

    Example: python -m benchmarks synthetic --grid quick --out results --jobs 2
    """
    _run(out, lambda progress: _run_grid(grid, out, "synthetic", jobs, progress))


@app.command()
def speed(
    grid: Annotated[str, typer.Option(help="speed or a TOML file.")] = "speed",
    out: Out = Path("results"),
) -> None:
    """Seconds and memory against the number of features, one fit at a time.

    Example: python -m benchmarks speed --out results
    """
    _run(out, lambda progress: _run_grid(grid, out, "speed", 1, progress))


@app.command()
def real(grid: GridName = "quick", out: Out = Path("results"), jobs: Jobs = None) -> None:
    """Real data: accuracy and number of features by the paper's protocol, and known truth.

    Data are downloaded once, or read from the folder that the variable SMRMR_DATA names.

    Example: python -m benchmarks real --grid quick --out results
    """
    from .experiments.real import run_real
    from .grids.read import read_real_grid

    _run(out, lambda progress: run_real(read_real_grid(grid), out, jobs=jobs, progress=progress))


@app.command()
def yardstick(
    grid: Annotated[str, typer.Option(help="yardstick or a TOML file.")] = "yardstick",
    method: Methods = None,
    out: Out = Path("results"),
    jobs: Jobs = None,
) -> None:
    """Conditional tests and rivals on every design: power, FDR, and what null p-values do.

    Example: python -m benchmarks yardstick --out results --jobs 2
    """
    _run(out, lambda progress: _run_grid(grid, out, "yardstick", jobs, progress, method or ()))


@app.command()
def planted(
    seeds: Annotated[int, typer.Option(help="Responses of each kind on each data set.")] = 10,
    dataset: Annotated[
        list[str] | None, typer.Option(help="A data set to use; may be repeated. All if left out.")
    ] = None,
    method: Methods = None,
    response: Annotated[
        list[str] | None,
        typer.Option(help='A response to plant, as "linear, R2 0.5"; may be repeated.'),
    ] = None,
    out: Out = Path("results"),
    jobs: Jobs = None,
) -> None:
    """Real features, and a target made from ten of them: power and FDR on true correlations.

    Data are downloaded once, or read from the folder that the variable SMRMR_DATA names.

    Example: python -m benchmarks planted --seeds 10 --out results --jobs 2
    """
    from .experiments.planted import run_planted

    _run(
        out,
        lambda progress: run_planted(
            out, seeds, dataset or (), method or (), response or (), jobs=jobs, progress=progress
        ),
    )


@app.command()
def groups(
    seeds: Annotated[int, typer.Option(help="Responses of each kind on each table.")] = 10,
    table: Annotated[
        list[str] | None, typer.Option(help="A table to use; may be repeated. All if left out.")
    ] = None,
    out: Out = Path("results"),
    jobs: Jobs = None,
) -> None:
    """Plant targets in tables full of look-alikes, and ask about groups.

    Real tables are downloaded once, or read from the folder that the variable SMRMR_DATA names.

    Example: python -m benchmarks groups --seeds 10 --out results --jobs 2
    """
    from .experiments.groups import run_groups

    _run(out, lambda progress: run_groups(out, seeds, table or (), jobs=jobs, progress=progress))


@app.command()
def report(
    out: Out = Path("results"),
    to: Annotated[
        Path | None, typer.Option(help="Folder to write to; that of the results if left out.")
    ] = None,
) -> None:
    """Write the tables and draw the figures of the rows that there are.

    Example: python -m benchmarks report --out results --to docs/_static
    """
    with clear_errors():
        _report(out, to)


def _run_grid(
    grid: str, out: Path, store: str, jobs: int | None, progress: Any, methods: Sequence[str] = ()
) -> None:
    from .experiments.synthetic import run_grid  # loads scikit-learn, which help need not wait for
    from .grids.read import read_grid
    from .stores import open_store

    whole, predict = read_grid(grid), store == "synthetic"
    wanted = whole.only(methods) if methods else whole
    run_grid(wanted, open_store(out, store), jobs=jobs, predict=predict, progress=progress)


def _run(out: Path, experiment: Callable[[Any], None]) -> None:
    """Run an experiment, then report what the rows say."""
    with clear_errors("finished rows are kept, and the same command goes on from there"):
        with terminal_progress() as progress:
            experiment(progress)
        _report(out)


def _report(out: Path, to: Path | None = None) -> None:
    from .report.figures import draw_figures
    from .report.tables import write_tables
    from .report.yardstick import write_yardstick

    typer.echo(f"Tables: {write_tables(out, to)}")
    if path := write_yardstick(out, to):
        typer.echo(f"Yardstick: {path}")
    for path in draw_figures(out, to):
        typer.echo(f"Figure: {path}")


if __name__ == "__main__":
    app(prog_name="python -m benchmarks")
