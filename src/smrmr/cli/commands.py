"""Offers the command `smrmr`."""

import sys
from dataclasses import replace
from importlib.metadata import version as installed_version
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, get_type_hints

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from typer import Argument, Option

from ..data.feature_groups import groups_named
from ..designs import DESIGNS
from ..designs import simulate as draw
from ..pipeline import select as run
from ..recipe import Recipe
from ..report import write_report
from ..report.words import counts_by_level, reach, say, statement
from ..runs.files import replacing
from ..selection import Selection
from ..types import Indices
from .next_steps import next_steps
from .options import EachOptionOnce, configured, keep_command, recipe_of, resumed
from .outputs import check_folder, write_csv, write_outputs
from .ranking import rank
from .tables import beside, read_asked, survival_of
from .terminal import clear_errors, console, terminal_progress
from .workers import workers_of

app = typer.Typer(
    help="Which features matter, and how many of those are false?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command(cls=EachOptionOnce)
def select(
    context: typer.Context,
    file: Annotated[
        Path | None, Argument(help="CSV, TSV, Parquet, NPY, NPZ, MAT, h5ad, bed, zarr.")
    ] = None,
    target: Annotated[str | None, Option(help="Column to predict.")] = None,
    fdr: Annotated[float, Option(help="Largest expected share of false features.")] = 0.3,
    control: Annotated[
        str, Option(help="auto, tests, knockoffs, paper, or tests(guard=false).")
    ] = "auto",
    measure: Annotated[str | None, Option(help="pc, hsic, dcor or pearson.")] = None,
    penalty: Annotated[str | None, Option(help="mcp, scad, l1, none or mcp(b=3).")] = None,
    lam: Annotated[str | None, Option(help="cv, cv(debiased=true), bayes, a number.")] = None,
    screening: Annotated[str | None, Option(help="split, split(share=0.3), none.")] = None,
    knockoffs: Annotated[str | None, Option(help="gaussian or gaussian(s=mvr).")] = None,
    draws: Annotated[int | None, Option(help="Splits and knockoffs to combine.")] = None,
    multiplicity: Annotated[
        str | None, Option(help="With tests: bh, by (proven) or holm (no false one).")
    ] = None,
    target_type: Annotated[str, Option(help="auto, continuous, classes or ordinal.")] = "auto",
    on_empty: Annotated[
        str, Option(help="none; lead (the best one) or relax, without guarantee.")
    ] = "none",
    n_features: Annotated[
        int | None, Option(help="The best so many, whatever the level, without guarantee.")
    ] = None,
    alike: Annotated[
        str, Option(help="Cuts from which on features are one group: auto, 0.7, 1,0.9 or none.")
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
    time: Annotated[
        str | None, Option(help="Survival: column of times, instead of target.")
    ] = None,
    event: Annotated[str | None, Option(help="Survival: column of events, 1 or 0.")] = None,
    always_keep: Annotated[
        list[str] | None, Option(help="Feature that is adjusted for and always kept.")
    ] = None,
    keep_data: Annotated[
        bool, Option("--keep-data", help="Keep values of single rows in the result.")
    ] = False,
    drop: Annotated[list[str] | None, Option(help="Column that is no feature.")] = None,
    transpose: Annotated[bool, Option("--transpose", help="Features are in rows.")] = False,
    pheno: Annotated[Path | None, Option(help="Table that holds the target.")] = None,
    id: Annotated[str | None, Option(help="Column of sample ids.")] = None,
    missing: Annotated[
        str, Option(help="refuse, drop-columns, drop-rows, impute-median, -mean or -mode.")
    ] = "refuse",
    layer: Annotated[str | None, Option(help="AnnData: a layer, or raw.")] = None,
    format: Annotated[str | None, Option(help="Format, if the extension misleads.")] = None,
    seed: Annotated[int, Option(help="Seed; the same seed gives the same answer.")] = 0,
    jobs: Annotated[int | None, Option(help="Threads; -1 for all cores.")] = None,
    max_memory: Annotated[str, Option(help="Budget for work besides the data.")] = "1GB",
    scheduler: Annotated[
        str | None, Option(help="Address of a Dask scheduler whose workers do the work.")
    ] = None,
    run_dir: Annotated[
        Path | None, Option(help="Folder for finished blocks, to go on after a kill.")
    ] = None,
    resume: Annotated[Path | None, Option(help="Run folder of a run to finish.")] = None,
    out: Annotated[Path | None, Option(help="Folder to write; smrmr-FILE if left out.")] = None,
    config: Annotated[Path | None, Option(help="TOML file with any of these options.")] = None,
    json: Annotated[bool, Option("--json", help="Print JSON alone.")] = False,
) -> None:
    """Select the features of a table that tell about its target.

    Writes selected.csv, groups.csv, features.csv, selection.json and report.html.

    Example: smrmr simulate 2.c -n 300 -p 500 --out demo.csv && smrmr select demo.csv --target y
    """
    with clear_errors():
        if resume is None:
            options = configured(context, config, get_type_hints(select))
        else:
            options = resumed(context, resume)
        if options["file"] is None:
            raise ValueError("name the file to read: smrmr select FILE --target COLUMN.")
        if options["run_dir"] is not None and resume is None:
            keep_command(options)
        file = Path(options["file"])
        folder = Path(options["out"] or f"smrmr-{file.name.split('.')[0]}")
        recipe = recipe_of(options)
        check_folder(folder)
        data = read_asked(file, options)
        for note in data.notes:
            console.print(f"Note: {note}.", highlight=False, markup=False)
        if options["feature_groups"] is not None:
            alike_features, note = groups_named(data, options["feature_groups"])
            console.print(f"Note: {note}.", highlight=False, markup=False)
            recipe = replace(recipe, feature_groups=alike_features)
        if can_find := reach(recipe, data.X.shape[1]):
            console.print(can_find, highlight=False, markup=False)
        seed, run_dir = options["seed"], options["run_dir"]
        with terminal_progress() as progress, workers_of(options["scheduler"]):
            found = run(
                data.X,
                survival_of(data, options),
                recipe,
                seed,
                **beside(data, options),
                progress=progress,
                run_dir=run_dir,
            )
        found = replace(found, source={"target column": data.target, **data.source})
        written = write_outputs(found, folder)
        if options["json"]:
            sys.stdout.write(found.to_json() + "\n")
            return
        said = Console()
        said.print(statement(found, name_leads=False), highlight=False, markup=False)
        table = _table(found) if found.selected.size else _leads(found)
        if table.row_count:
            said.print(table)
        said.print(say(found, "levels", counts=counts_by_level(found)), highlight=False)
        for line in next_steps(found, context, options, folder):
            said.print(line, highlight=False, markup=False, soft_wrap=True)
        said.print(f"Report: {written[-1]}", highlight=False, soft_wrap=True)


@app.command(cls=EachOptionOnce)
def explain(
    file: Annotated[Path, Argument(help="selection.json of an earlier run, or its folder.")],
    feature: Annotated[str, Argument(help="Name of a feature.")],
) -> None:
    """Say what became of a feature, and why.

    Example: smrmr explain smrmr-demo/selection.json x10
    """
    with clear_errors():
        typer.echo(_saved(file).explain(feature))


@app.command(cls=EachOptionOnce)
def report(
    file: Annotated[Path, Argument(help="selection.json of an earlier run, or its folder.")],
    out: Annotated[Path | None, Option(help="Where to write it.")] = None,
) -> None:
    """Draw the report of an earlier run again, without computing.

    Example: smrmr report smrmr-demo/selection.json --out report.html
    """
    with clear_errors():
        saved = _saved_in(file)
        path = write_report(_saved(saved), out or saved.with_name("report.html"))
        typer.echo(f"Report: {path}")


app.command(cls=EachOptionOnce)(rank)


@app.command(cls=EachOptionOnce)
def simulate(
    design: Annotated[str, Argument(help=f"One of {', '.join(DESIGNS)}.")],
    n: Annotated[int, Option("-n", help="Number of samples.")] = 200,
    p: Annotated[int, Option("-p", help="Number of features.")] = 500,
    seed: Annotated[int, Option(help="Seed of the draw.")] = 0,
    out: Annotated[Path | None, Option(help="CSV file to write.")] = None,
) -> None:
    """Write a data set of the paper as CSV: features x0, x1, ... and the target y.

    Example: smrmr simulate 1.d -n 200 -p 500 --out demo.csv
    """
    import pandas as pd

    with clear_errors():
        data = draw(design, n, p, random_state=seed)
        y = np.where(data.y > 0, "high", "low") if data.target == "classes" else data.y
        frame = pd.DataFrame(data.X).add_prefix("x").assign(y=y)
        path = out or Path(f"{design}.csv")
        with replacing(path) as unfinished:
            write_csv(frame, unfinished)
        true = ", ".join(f"x{k}" for k in data.support)
        typer.echo(f"{path}: {n} samples of {p} features; true ones: {true}")


@app.command(cls=EachOptionOnce)
def demo(
    design: Annotated[str, Option(help=f"One of {', '.join(DESIGNS)}.")] = "2.c",
    n: Annotated[int, Option(help="Number of samples.")] = 500,
    p: Annotated[int, Option(help="Number of features.")] = 2000,
    fdr: Annotated[float, Option(help="Largest expected share of false features.")] = 0.3,
    control: Annotated[str, Option(help="auto, tests, knockoffs or paper.")] = "auto",
    seed: Annotated[int, Option(help="Seed of the draw.")] = 0,
    out: Annotated[Path, Option(help="Folder to write.")] = Path("smrmr-demo"),
) -> None:
    """Select features of a simulated data set and count true, false and missed ones.

    Example: smrmr demo --design 3.b --p 500
    """
    with clear_errors():
        data = draw(design, n, p, random_state=seed)
        recipe = Recipe(fdr=fdr, control=control, target=data.target)
        check_folder(out)
        start = perf_counter()
        with terminal_progress() as progress:
            found = run(data.X, data.y, recipe, seed, progress=progress)
        seconds = perf_counter() - start
        written = write_outputs(found, out)
    said = Console()
    said.print(
        f"Design {design}: {n} samples of {p:,} features, {len(data.support)} of them true. "
        f"{statement(found)} ({seconds:.1f} s)"
    )
    if found.selected.size:
        said.print(_table(found, data.support))
    hits = sum(bool(np.isin(group, data.support).any()) for group in found.members)
    told = np.concatenate([np.empty(0, np.intp), *found.members])
    missed = np.count_nonzero(~np.isin(data.support, told))
    said.print(
        f"{len(data.support) - missed} true features found, {len(found.selected) - hits} false, "
        f"{missed} missed."
    )
    said.print(f"Report: {written[-1]}", highlight=False, soft_wrap=True)


@app.command(cls=EachOptionOnce)
def version() -> None:
    """Print the installed version.

    Example: smrmr version
    """
    typer.echo(installed_version("smrmr"))


def main() -> None:
    """Run the command line."""
    app()


def _saved_in(path: Path) -> Path:
    """The file of a saved selection, which may be named by its folder."""
    return path / "selection.json" if path.is_dir() else path


def _saved(file: Path) -> Selection:
    file = _saved_in(file)
    try:
        return Selection.from_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"there is no file {file}.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{file} is not a selection saved by smrmr.") from None


def _table(found: Selection, true: Indices | None = None) -> Table:
    last = "truth" if true is not None else "in one group with" if found.n_groups else "most alike"
    findings, shown = found.findings(), found.evidence.shown
    table = Table("feature", *(name.replace("_", "-") for name in shown), last)
    for i, k in enumerate(found.selected):
        others = found.look_alikes[i]
        if true is not None:
            note = "[green]true[/green]" if np.isin(found.members[i], true).any() else "false"
        elif found.n_groups:
            more = f" and {len(others) - 2} more" if len(others) > 2 else ""
            note = ", ".join(_cut(found.names[j]) for j in others[:2]) + more
        else:
            near = found.evidence.neighbours(int(k))[:2]
            note = ", ".join(f"{_cut(found.names[j])} ({value:.2f})" for j, value in near)
        cells = (findings[name][i] for name in shown)
        table.add_row(_cut(found.names[k]), *map(_written, cells), note)
    return table


def _leads(found: Selection) -> Table:
    leads = found.leads()
    shown = [name for name in leads if name != "status"]
    title = "Leads to be tested on new data, not findings"
    table = Table(*(name.replace("_", "-") for name in shown), title=title, title_justify="left")
    for row in leads[shown].itertuples(index=False):
        table.add_row(*map(_written, row))
    return table


def _written(cell: Any) -> str:
    return _cut(cell) if isinstance(cell, str) else f"{cell:.3g}"


def _cut(name: str) -> str:
    """Short and safe in a terminal: no markup, no control characters."""
    shown = "".join(c if c.isprintable() else "?" for c in name)
    shown = shown if len(shown) <= 30 else shown[:29] + "…"
    return shown.replace("[", r"\[")
