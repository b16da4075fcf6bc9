"""Offers the command `smrmr`: its commands and their options.

What they do is in `actions`, which is imported when a command runs, so that help is quick.
"""

from pathlib import Path
from typing import Annotated, get_type_hints

import typer
from typer import Argument, Option

from .options import EachOptionOnce, configured, resumed
from .terminal import clear_errors

# Those of `smrmr.designs`, which takes long to load.
DESIGNS = (
    "1.a, 1.b, 1.c, 1.d, 2.a, 2.b, 2.c, 3.a, 3.b, 3.c, interactions, heavy, skewed, "
    "equicorrelated, blocks, curved, genotypes, null, even, mixed, cos, variance, proxy, "
    "many classes"
)

# How a table is read, and what every command that computes takes
Target = Annotated[str | None, Option(help="Column to predict.")]
TargetType = Annotated[str, Option(help="auto, continuous, classes or ordinal.")]
Time = Annotated[str | None, Option(help="Survival: column of times, instead of target.")]
Event = Annotated[str | None, Option(help="Survival: column of events, 1 or 0.")]
Drop = Annotated[list[str] | None, Option(help="Column that is no feature.")]
Transpose = Annotated[bool, Option("--transpose", help="Features are in rows.")]
Pheno = Annotated[Path | None, Option(help="Table that holds the target.")]
Id = Annotated[str | None, Option(help="Column of sample ids.")]
Missing = Annotated[
    str, Option(help="refuse, drop-columns, drop-rows, impute-median, -mean or -mode.")
]
MissingTarget = Annotated[str, Option(help="Rows without a target: refuse or drop.")]
Layer = Annotated[str | None, Option(help="AnnData: a layer, or raw.")]
Sheet = Annotated[str | None, Option(help="Excel: a sheet; R: an object.")]
Sep = Annotated[
    str | None, Option(help="Text: what separates columns (, ; tab space); else guessed.")
]
Decimal = Annotated[str | None, Option(help="Text: decimal mark, . or , and else guessed.")]
Encoding = Annotated[
    str | None, Option(help="Text: encoding, such as latin-1, if it is not UTF-8.")
]
Comment = Annotated[str | None, Option(help="Text: what begins a comment (#).")]
Format = Annotated[str | None, Option(help="Format, if the extension misleads.")]
Jobs = Annotated[int | None, Option(help="Threads; -1 for all cores.")]
MaxMemory = Annotated[str, Option(help="Budget for work besides the data.")]
Json = Annotated[bool, Option("--json", help="Print JSON alone.")]

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
def select(
    context: typer.Context,
    file: Annotated[
        Path | None,
        Argument(help="CSV, TSV, Excel, Parquet, NPY, NPZ, MAT, h5ad, bed, zarr, R; - for stdin."),
    ] = None,
    target: Target = None,
    fdr: Annotated[float, Option(help="Largest expected share of false features.")] = 0.3,
    control: Annotated[
        str, Option(help="auto, tests, knockoffs, paper, or tests(guard=false).")
    ] = "auto",
    measure: Annotated[
        str | None, Option(help="pc, pc(anchors=all), hsic, dcor or pearson.")
    ] = None,
    penalty: Annotated[str | None, Option(help="mcp, scad, l1, none or mcp(b=3).")] = None,
    lam: Annotated[str | None, Option(help="auto, smallest, cv, bayes, a number.")] = None,
    screening: Annotated[str | None, Option(help="split, split(share=0.3), none.")] = None,
    knockoffs: Annotated[str | None, Option(help="gaussian or gaussian(s=mvr).")] = None,
    draws: Annotated[int | None, Option(help="Splits and knockoffs to combine.")] = None,
    multiplicity: Annotated[
        str | None, Option(help="With tests: bh, by (proven) or holm (no false one); see --alike.")
    ] = None,
    target_type: TargetType = "auto",
    on_empty: Annotated[
        str, Option(help="none; best (the best one) or relax, without guarantee.")
    ] = "none",
    n_features: Annotated[
        int | None, Option(help="The best so many, whatever the level, without guarantee.")
    ] = None,
    alike: Annotated[
        str,
        Option(
            help="Cuts from which on features are one group: auto (none with by and holm), 0.7, "
            "1,0.9 or none."
        ),
    ] = "auto",
    feature_groups: Annotated[
        str | None, Option(help="Table of features and groups, or a column of .bim or .var.")
    ] = None,
    covar: Annotated[
        Path | None, Option(help="Table of covariates to adjust for, joined by --id.")
    ] = None,
    covar_name: Annotated[
        str | None, Option(help="Columns to adjust for, such as age,batch; never selected.")
    ] = None,
    groups: Annotated[
        str | None, Option(help="Column that says which rows belong together (patient).")
    ] = None,
    aggregate: Annotated[
        str | None, Option(help="mean: compare groups of rows by their means.")
    ] = None,
    time: Time = None,
    event: Event = None,
    always_keep: Annotated[
        list[str] | None, Option(help="Feature that is adjusted for and always kept.")
    ] = None,
    keep_data: Annotated[
        bool, Option("--keep-data", help="Keep values of single rows in the result.")
    ] = False,
    drop: Drop = None,
    transpose: Transpose = False,
    pheno: Pheno = None,
    id: Id = None,
    missing: Missing = "refuse",
    missing_target: MissingTarget = "refuse",
    layer: Layer = None,
    sheet: Sheet = None,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    comment: Comment = None,
    format: Format = None,
    seed: Annotated[int, Option(help="Seed; the same seed gives the same answer.")] = 0,
    jobs: Jobs = None,
    max_memory: MaxMemory = "1GB",
    scheduler: Annotated[
        str | None, Option(help="Address of a Dask scheduler whose workers do the work.")
    ] = None,
    run_dir: Annotated[
        Path | None, Option(help="Folder for finished blocks, to go on after a kill.")
    ] = None,
    resume: Annotated[Path | None, Option(help="Run folder of a run to finish.")] = None,
    out: Annotated[Path | None, Option(help="Folder to write; smrmr-FILE if left out.")] = None,
    overwrite: Annotated[
        bool, Option("--overwrite", help="Replace an earlier answer in that folder.")
    ] = False,
    config: Annotated[Path | None, Option(help="TOML file with any of these options.")] = None,
    json: Json = False,
    quiet: Annotated[
        bool, Option("--quiet", help="Print errors and the path of the report alone.")
    ] = False,
) -> None:
    """Select the features of a table that tell about its target.

    Writes selected.csv, groups.csv, features.csv, selection.json and report.html.

    Example: smrmr example > table.csv && smrmr select table.csv --target response --fdr 0.1
    """
    with clear_errors():
        from .actions import select_features

        if resume is None:
            options = configured(context, config, get_type_hints(select))
        else:
            options = resumed(context, resume)
        select_features(context, options)


@app.command(cls=EachOptionOnce)
def rank(
    context: typer.Context,
    file: Annotated[Path, Argument(help="A table, as for smrmr select.")],
    target: Target = None,
    method: Annotated[str, Option(help="mrmr, sis, hsic-lasso or smrmr.")] = "mrmr",
    k: Annotated[int, Option("-k", help="How many features.")] = 20,
    target_type: TargetType = "auto",
    time: Time = None,
    event: Event = None,
    drop: Drop = None,
    transpose: Transpose = False,
    pheno: Pheno = None,
    id: Id = None,
    missing: Missing = "refuse",
    missing_target: MissingTarget = "refuse",
    layer: Layer = None,
    sheet: Sheet = None,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    comment: Comment = None,
    format: Format = None,
    seed: Annotated[int, Option(help="Seed of what is random in a method.")] = 0,
    jobs: Jobs = None,
    max_memory: MaxMemory = "1GB",
    out: Annotated[Path | None, Option(help="CSV file to write.")] = None,
    json: Json = False,
) -> None:
    """Rank features and keep the best, without guarantee.

    Prints rank, feature and score: of mrmr relevance less redundancy, of sis relevance, of
    hsic-lasso the coefficient, of smrmr the p-value given all other features.

    Example: smrmr rank table.csv --target response --method mrmr -k 20
    """
    with clear_errors():
        from .ranking import rank_features

        rank_features(dict(context.params))


@app.command(cls=EachOptionOnce)
def explain(
    file: Annotated[Path, Argument(help="selection.json of an earlier run, or its folder.")],
    feature: Annotated[str, Argument(help="Name of a feature.")],
) -> None:
    """Say what became of a feature, and why.

    Example: smrmr explain smrmr-table gene010
    """
    with clear_errors():
        from .actions import saved_selection

        typer.echo(saved_selection(file).explain(feature))


@app.command(cls=EachOptionOnce)
def report(
    file: Annotated[Path, Argument(help="selection.json of an earlier run, or its folder.")],
    out: Annotated[Path | None, Option(help="Where to write it.")] = None,
) -> None:
    """Draw the report of an earlier run again, without computing.

    Example: smrmr report smrmr-table --out report.html
    """
    with clear_errors():
        from .actions import draw_report

        draw_report(file, out)


@app.command(cls=EachOptionOnce)
def example(
    study: Annotated[str, Argument(help="response, disease, survival or toxicity.")] = "response",
) -> None:
    """Print a small table to try things on, as CSV: 120 simulated patients, 150 genes.

    Example: smrmr example > table.csv
    """
    with clear_errors():
        from .actions import print_example

        print_example(study)


@app.command(cls=EachOptionOnce)
def simulate(
    design: Annotated[str, Argument(help=f"One of {DESIGNS}.")],
    n: Annotated[int, Option("-n", help="Number of samples.")] = 200,
    p: Annotated[int, Option("-p", help="Number of features.")] = 500,
    seed: Annotated[int, Option(help="Seed of the draw.")] = 0,
    out: Annotated[Path | None, Option(help="CSV file to write.")] = None,
) -> None:
    """Write a data set of the paper as CSV: features x0, x1, ... and the target y.

    Example: smrmr simulate 1.d -n 200 -p 500 --out demo.csv
    """
    with clear_errors():
        from .actions import simulate_table

        simulate_table(design, n, p, seed, out or Path(f"{design}.csv"))


@app.command(cls=EachOptionOnce)
def demo(
    design: Annotated[str, Option(help=f"One of {DESIGNS}.")] = "2.c",
    n: Annotated[int, Option(help="Number of samples.")] = 500,
    p: Annotated[int, Option(help="Number of features.")] = 2000,
    fdr: Annotated[float, Option(help="Largest expected share of false features.")] = 0.3,
    control: Annotated[str, Option(help="auto, tests, knockoffs or paper.")] = "auto",
    seed: Annotated[int, Option(help="Seed of the draw.")] = 0,
    out: Annotated[Path, Option(help="Folder to write.")] = Path("smrmr-demo"),
    quiet: Annotated[
        bool, Option("--quiet", help="Print errors and the path of the report alone.")
    ] = False,
) -> None:
    """Select features of a simulated data set and count true, false and missed ones.

    Example: smrmr demo --design 3.b --n 200 --p 200
    """
    with clear_errors():
        from .actions import demonstrate

        demonstrate(design, n, p, fdr, control, seed, out, quiet)


def main() -> None:
    """Run the command line."""
    app()
