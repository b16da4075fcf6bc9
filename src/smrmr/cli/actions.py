"""Does what the commands ask for; what takes longest to load is loaded when it is needed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import typer

from ..runs.files import replacing
from ..types import pd
from .options import keep_command, recipe_of
from .outputs import ANSWER, check_folder, write_csv, write_outputs
from .tables import features_named, known_of_rows, name_of, partners_named, read_table, target_of
from .terminal import begin, console, note, terminal_progress

if TYPE_CHECKING:
    from ..selection import Selection


def select_features(context: typer.Context, options: dict[str, Any]) -> None:
    """Read a table, select from it, write the answer into a folder and show it.

    `options` are those of the command. Those that no setting describes are:

    Parameters
    ----------
    feature_groups
        Table of features and groups, or a column of .bim or .var.
    covar_name
        Columns to adjust for, such as age,batch; never selected.
    coordinates
        Columns that say where rows are, such as day or x,y; never selected.
    scheduler
        Address of a Dask scheduler whose workers do the work.
    resume
        Run folder of a run to finish.
    overwrite
        Replace an earlier answer in that folder.
    config
        TOML file with any of these options.
    """
    if options["file"] is None:
        raise ValueError("name the file to read: smrmr select FILE --target COLUMN.")
    file = Path(options["file"])
    folder = Path(options["out"] or f"smrmr-{name_of(file)}")
    check_folder(folder, options["overwrite"])
    if options["run_dir"] is not None and options["resume"] is None:
        keep_command(options)
    console.quiet = options["quiet"]
    begin(f"Reading {file}")
    found = _selected(file, options)
    from .display import next_steps, show_answer

    report = write_outputs(found, folder)
    if options["json"]:
        sys.stdout.write(found.to_json() + "\n")
        return
    if not options["quiet"]:
        show_answer(found, next_steps(found, context, options, folder))
    _show_report(report, options["quiet"])


def _selected(file: Path, options: dict[str, Any]) -> Selection:
    """What is selected from a file; the settings are checked before it is read."""
    recipe = recipe_of(options)
    data = read_table(file, options)
    if options["only"]:
        recipe = replace(recipe, only=features_named(data, options["only"]))
    if options["partners"]:
        recipe = replace(recipe, partners=partners_named(data, options["partners"]))
    if options["feature_groups"] is not None:
        from ..data.feature_groups import groups_named

        alike_features, said = groups_named(data, options["feature_groups"])
        note(f"Note: {said}.")
        recipe = replace(recipe, feature_groups=alike_features)
    from ..pipeline import select
    from ..report.words import detectable_effect

    if can_find := detectable_effect(recipe, data.X.shape[1]):
        note(can_find)
    with terminal_progress() as progress, workers_of(options["scheduler"]):
        found = select(
            data.X,
            target_of(data, options),
            recipe,
            options["seed"],
            **known_of_rows(data, options),
            progress=progress,
            run_dir=options["run_dir"],
        )
    return replace(found, source={"target column": data.target, **data.source})


@contextmanager
def workers_of(scheduler: str | None) -> Iterator[None]:
    """Let joblib send its tasks to a Dask scheduler, such as ``tcp://10.0.0.1:8786``."""
    if scheduler is None:
        yield
        return
    import joblib

    try:
        from dask.distributed import Client
    except ImportError:
        raise ImportError("--scheduler needs Dask. Install it: pip install smrmr[dask]") from None
    try:
        client: Any = Client(scheduler, timeout=10)  # type: ignore[no-untyped-call,unused-ignore]
    except (OSError, ValueError, TimeoutError) as error:
        raise ValueError(
            f"no Dask scheduler answers at {scheduler} ({error}). Start one: dask scheduler"
        ) from None
    with client, joblib.parallel_config(backend="dask", n_jobs=-1):
        yield


def saved_selection(file: Path) -> Selection:
    """A selection that was written earlier, named by its file or its folder."""
    from ..selection import Selection

    file = _saved_in(file)
    try:
        return Selection.from_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"there is no file {file}.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{file} is not a selection saved by smrmr.") from None


def draw_report(file: Path, out: Path | None) -> None:
    """Write the report of a saved selection."""
    path = out or _saved_in(file).with_name("report.html")
    _show_report(saved_selection(file).report(path), quiet=False)


def _show_report(path: Path, quiet: bool) -> None:
    """Say where the report is; to be quiet, with nothing around it."""
    typer.echo(f"{path}" if quiet else f"Report: {path}")


def _saved_in(path: Path) -> Path:
    """The file of a saved selection, which may be named by its folder."""
    return path / ANSWER if path.is_dir() else path


def simulate_table(design: str, n: int, p: int, seed: int, path: Path) -> None:
    """Draw a design and write it as a table."""
    import numpy as np

    from ..designs import simulate

    data = simulate(design, n, p, random_state=seed)
    y = np.where(data.y > 0, "high", "low") if data.target == "classes" else data.y
    frame = pd.DataFrame(data.X).add_prefix("x").assign(y=y)
    with replacing(path) as unfinished:
        write_csv(frame, unfinished)
    true = ", ".join(f"x{k}" for k in data.support)
    typer.echo(f"{path}: {n} samples of {p} features; true ones: {true}")


def demonstrate(
    design: str, n: int, p: int, fdr: float, control: str, seed: int, folder: Path, quiet: bool
) -> None:
    """Draw a design, select from it, and count what is true, false and missed."""
    from ..designs import simulate
    from ..pipeline import select
    from ..recipe import Recipe
    from .display import show_demo

    check_folder(folder, overwrite=True)  # of the demo before
    console.quiet = quiet
    data = simulate(design, n, p, random_state=seed)
    recipe = Recipe(fdr=fdr, control=control, target=data.target)
    start = perf_counter()
    with terminal_progress() as progress:
        found = select(data.X, data.y, recipe, seed, progress=progress)
    seconds = perf_counter() - start
    report = write_outputs(found, folder)
    if not quiet:
        show_demo(found, data.support, design, seconds)
    _show_report(report, quiet)
