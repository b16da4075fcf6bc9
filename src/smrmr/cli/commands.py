"""Offers the command `smrmr`: its commands and their options.

What they do is in `actions`, `checking` and others, imported when a command runs, so that help is
quick. Options without a help text are described by docstrings: settings where they belong, others
in the bundles of `shared` and in `select_features`.
"""

from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer import Argument, Option

from .options import EachOptionOnce, configured, resumed
from .shared import (
    Column,
    Quiet,
    answering,
    computing,
    controlling,
    knowing,
    planting,
    reading,
    running,
    taking,
)

# Those of `smrmr.designs`, which takes long to load.
DESIGNS = (
    "1.a, 1.b, 1.c, 1.d, 2.a, 2.b, 2.c, 3.a, 3.b, 3.c, interactions, heavy, skewed, "
    "equicorrelated, blocks, curved, genotypes, null, even, mixed, cos, variance, proxy, "
    "many classes, three classes, six classes, products, xor, xor classes, lines and product, "
    "weak, logistic"
)

Table = Annotated[
    Path | None,
    Argument(help="CSV, TSV, Excel, Parquet, NPY, NPZ, MAT, h5ad, bed, zarr, R; - for stdin."),
]
Answer = Annotated[Path, Argument(help="selection.json of an earlier run, or its folder.")]
DrawSeed = Annotated[int, Option(help="Seed of the draw.")]

app = typer.Typer(
    help="Which features matter, and how many of those are false?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:
    from importlib.metadata import version

    if asked:
        typer.echo(version("smrmr"))
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool, Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Take the options that come before a command."""


@app.command(cls=EachOptionOnce)
@taking(controlling, knowing, answering, running, reading, computing)
def select(
    context: typer.Context,
    file: Table = None,
    target: Column = None,
    fdr: float = 0.1,
    on_empty: str = "none",
    n_features: int | None = None,
    resume: Path | None = None,
    out: Annotated[Path | None, Option(help="Folder to write; smrmr-FILE if left out.")] = None,
    **shared: Any,
) -> None:
    """Select the features of a table that are associated with its target.

    Writes report.html, selected.csv, associated.csv, own.csv, pairs.csv, panel.csv,
    groups.csv, features.csv and selection.json.

    Example: smrmr example > table.csv && smrmr select table.csv --target response
    """
    from .actions import select_features

    hints = get_type_hints(select)
    options = resumed(context, resume) if resume else configured(context, hints)
    select_features(context, options)


@app.command(cls=EachOptionOnce)
@taking(planting, controlling, knowing, answering, running, reading, computing)
def check(
    context: typer.Context,
    file: Table = None,
    target: Column = None,
    fdr: float = 0.1,
    out: Annotated[
        Path | None, Option(help="Folder to write; smrmr-FILE-check if left out.")
    ] = None,
    **shared: Any,
) -> None:
    """Measure on your own table how many findings are false, and which effects are found.

    Known effects are planted into the features, and each such table is fitted. Writes what
    smrmr select writes, the report with what this table can tell, and check.csv (power) and
    levels.csv (false findings).

    Example: smrmr check table.csv --target response --strengths 0.1,0.3 --fits 12
    """
    from .checking import check_table

    check_table(configured(context, get_type_hints(check)))


@app.command(cls=EachOptionOnce)
@taking(planting, controlling, knowing, running, reading, computing)
def plan(
    context: typer.Context,
    file: Table = None,
    target: Column = None,
    p: Annotated[int | None, Option("--p")] = None,
    correlation: float | None = None,
    class_shares: str | None = None,
    event_share: float | None = None,
    n_rows: str | None = None,
    fdr: float = 0.1,
    out: Annotated[
        Path | None, Option(help="Folder to write; smrmr-FILE-plan or smrmr-plan if left out.")
    ] = None,
    **shared: Any,
) -> None:
    """Say how many rows it takes to find effects, from a pilot table or from a few numbers.

    Writes plan.csv, plan.json and plan.png. A pilot is read as by smrmr select.

    Example: smrmr plan --p 50 --correlation 0.3 --n-rows 40,80 --strengths 0.2 --fits 12
    """
    from .checking import plan_rows

    plan_rows(configured(context, get_type_hints(plan)))


@app.command(cls=EachOptionOnce)
@taking(reading, computing)
def rank(
    context: typer.Context,
    file: Annotated[Path, Argument(help="A table, as for smrmr select.")],
    target: Column = None,
    method: Annotated[str, Option(help="mrmr, sis, hsic-lasso or smrmr.")] = "mrmr",
    k: Annotated[int, Option("-k", help="How many features.")] = 20,
    out: Annotated[Path | None, Option(help="CSV file to write.")] = None,
    **shared: Any,
) -> None:
    """Rank features and keep the best, without guarantee.

    Prints rank, feature and score: of mrmr relevance less redundancy, of sis relevance, of
    hsic-lasso the coefficient, of smrmr the p-value given all other features.

    Example: smrmr rank table.csv --target response --method mrmr -k 20
    """
    from .ranking import rank_features

    rank_features(dict(context.params))


@app.command(cls=EachOptionOnce)
def explain(file: Answer, feature: Annotated[str, Argument(help="Name of a feature.")]) -> None:
    """Say what became of a feature, and why.

    Example: smrmr explain smrmr-table gene010
    """
    from .actions import saved_selection

    typer.echo(saved_selection(file).explain(feature))


@app.command(cls=EachOptionOnce)
def bound(
    file: Answer,
    features: Annotated[list[str] | None, Argument(help="Names of features.")] = None,
    sets: Annotated[
        Path | None, Option(metavar="FILE", help="Sets of features: GMT, or CSV of set, feature.")
    ] = None,
    layer: Annotated[
        str, Option(help="associated (alone) or own (adds to all others).")
    ] = "associated",
    confidence: Annotated[float, Option(help="With which all bounds hold together.")] = 0.9,
    out: Annotated[Path | None, Option(help="CSV file to write.")] = None,
) -> None:
    """Say at least how many features of any set are true, chosen after looking or not.

    Without features it is about the answer itself, layer by layer.

    Example: smrmr bound smrmr-table gene010 gene011 gene030
    """
    from .bounds import show_bounds

    show_bounds(file, features or [], sets, layer, confidence, out)


@app.command(cls=EachOptionOnce)
def report(
    file: Answer, out: Annotated[Path | None, Option(help="Where to write it.")] = None
) -> None:
    """Draw the report of an earlier run again, without computing.

    Example: smrmr report smrmr-table --out report.html
    """
    from .actions import draw_report

    draw_report(file, out)


@app.command("app", cls=EachOptionOnce)
def serve(
    folder: Annotated[Path, Option(help="Where tables and runs are kept.")] = Path("smrmr-runs"),
    port: Annotated[int, Option(help="Port to listen at; 0 takes a free one.")] = 0,
    host: Annotated[
        str, Option(help="Address to listen at; any but the default lets others in.")
    ] = "127.0.0.1",
    browser: Annotated[bool, Option("--browser/--no-browser", help="Open the browser.")] = True,
    max_upload: Annotated[str, Option(help="Size of a file, at most.")] = "4GB",
) -> None:
    """Open a page in the browser to drop a table on; nothing leaves this computer.

    The page runs smrmr select and shows its report. It needs the extra "app" of the package, and
    ends with Ctrl+C.

    Example: smrmr app --folder my-study
    """
    from ..app.serve import serve

    serve(folder, port, host, browser, max_upload, typer.echo)


@app.command(cls=EachOptionOnce)
def example(
    study: Annotated[str, Argument(help="response, disease, survival or toxicity.")] = "response",
) -> None:
    """Print a small table to try things on, as CSV: 120 simulated patients, 150 genes.

    Example: smrmr example > table.csv
    """
    from ..example_table import load_example

    typer.echo(load_example(study).to_csv(index=False, lineterminator="\n"), nl=False)


@app.command(cls=EachOptionOnce)
def simulate(
    design: Annotated[str, Argument(help=f"One of {DESIGNS}.")],
    n: Annotated[int, Option("-n", help="Number of samples.")] = 200,
    p: Annotated[int, Option("-p", help="Number of features.")] = 500,
    seed: DrawSeed = 0,
    out: Annotated[Path | None, Option(help="CSV file to write.")] = None,
) -> None:
    """Write a data set of the paper as CSV: features x0, x1, ... and the target y.

    Example: smrmr simulate 1.d -n 200 -p 500 --out demo.csv
    """
    from .actions import simulate_table

    simulate_table(design, n, p, seed, out or Path(f"{design}.csv"))


@app.command(cls=EachOptionOnce)
def demo(
    design: Annotated[str, Option(help=f"One of {DESIGNS}.")] = "2.c",
    n: Annotated[int, Option(help="Number of samples.")] = 500,
    p: Annotated[int, Option(help="Number of features.")] = 2000,
    fdr: float = 0.1,
    control: str = "auto",
    seed: DrawSeed = 0,
    out: Annotated[Path, Option(help="Folder to write.")] = Path("smrmr-demo"),
    quiet: Quiet = False,
) -> None:
    """Select features of a simulated data set and count true, false and missed ones.

    Example: smrmr demo --design 3.b --n 200 --p 200
    """
    from .actions import demonstrate

    demonstrate(design, n, p, fdr, control, seed, out, quiet)


def main() -> None:
    """Run the command line."""
    app()
