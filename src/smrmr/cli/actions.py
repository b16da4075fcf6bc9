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
from .tables import features_named, known_of_rows, name_of, read_table, target_of, word_or_features
from .terminal import begin, console, keeping, note, terminal_progress

if TYPE_CHECKING:
    from ..data.dataset import Dataset
    from ..recipe import Recipe
    from ..selection import Selection


def select_features(context: typer.Context, options: dict[str, Any]) -> None:
    """Read a table, select from it, write the answer into a folder and show it.

    `options` are those of the command. One of them is described nowhere else:

    Parameters
    ----------
    resume
        Run folder of a run to finish.
    """
    file, folder = file_and_folder("select", options)
    if options["run_dir"] is not None and options["resume"] is None:
        keep_command(options)
    console.quiet = options["quiet"]
    begin(f"Reading {file}")
    with keeping(options["run_dir"]):
        found = _selected(file, options)
    from .display import next_steps, show_answer

    report = write_outputs(found, folder, options["overwrite"])
    if options["json"]:
        sys.stdout.write(found.to_json() + "\n")
        return
    if not options["quiet"]:
        show_answer(found, next_steps(found, context, options, folder))
    show_path("Report", report, options["quiet"])


def file_and_folder(command: str, options: dict[str, Any]) -> tuple[Path, Path]:
    """The table of a command, and where its answer goes, which may be written to."""
    if options["file"] is None:
        raise ValueError(f"name the file to read: smrmr {command} FILE --target COLUMN.")
    file = Path(options["file"])
    suffix = "" if command == "select" else f"-{command}"
    folder = Path(options["out"] or f"smrmr-{name_of(file)}{suffix}")
    check_folder(folder, options["overwrite"])
    return file, folder


def read_with_recipe(file: Path, options: dict[str, Any]) -> tuple[Dataset, Recipe]:
    """A table, and what to do with it; the settings are checked before it is read."""
    recipe = recipe_of(options)
    data = read_table(file, options)
    if options["only"]:
        recipe = replace(recipe, only=features_named(data, options["only"]))
    if options["partners"]:
        words, beside = ("all", "none"), data.beside.columns
        recipe = replace(
            recipe, partners=word_or_features(data, options["partners"], words, beside)
        )
    if options["feature_groups"] is not None:
        from ..data.feature_groups import groups_named

        alike_features, said = groups_named(data, options["feature_groups"])
        note(f"Note: {said}.")
        recipe = replace(recipe, feature_groups=alike_features)
    return data, recipe


def _selected(file: Path, options: dict[str, Any]) -> Selection:
    """What is selected from a file."""
    data, recipe = read_with_recipe(file, options)
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
    return with_source(found, data)


def with_source(found: Selection, data: Dataset) -> Selection:
    """The selection, with the file that it is of, and what that says of features."""
    from ..data.impute import CHANGED

    changed = {CHANGED: "; ".join(data.changes)} if data.changes else {}
    found = replace(found, source={"target column": data.target, **data.source, **changed})
    if data.about_features is None or not data.annotations:
        return found
    return found.with_annotations(data.about_features[[*data.annotations]])


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
        raise ImportError('--scheduler needs Dask. Install it: pip install "smrmr[dask]"') from None
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
    show_path("Report", saved_selection(file).report(path), quiet=False)


def show_path(what: str, path: Path, quiet: bool) -> None:
    """Say where something is; to be quiet, with nothing around it."""
    typer.echo(f"{path}" if quiet else f"{what}: {path}")


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
    report = write_outputs(found, folder, overwrite=True)
    if not quiet:
        show_demo(found, data.support, design, seconds)
    show_path("Report", report, quiet)
