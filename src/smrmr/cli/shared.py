"""Options that several commands share, in bundles: each a function with them as parameters.

Those without a help text are described by docstrings: settings where they belong, others here.
"""

from collections.abc import Callable
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

from typer import Option

Column = Annotated[str | None, Option(metavar="COLUMN")]
File = Annotated[Path | None, Option(metavar="FILE")]
Quiet = Annotated[bool, Option("--quiet", help="Print errors and the path of the report alone.")]
Command = TypeVar("Command", bound=Callable[..., None])


def reading(
    target_type: str = "auto",
    time: Column = None,
    event: Column = None,
    drop: Annotated[list[str] | None, Option(metavar="COLUMN")] = None,
    annotation: Annotated[list[str] | None, Option(metavar="COLUMN")] = None,
    transpose: Annotated[bool, Option("--transpose")] = False,
    pheno: File = None,
    id: Column = None,
    na: Annotated[list[str] | None, Option(metavar="VALUE")] = None,
    limits: str = "refuse",
    missing: str = "refuse",
    missing_target: str = "refuse",
    layer: str | None = None,
    sheet: Annotated[str | None, Option(metavar="NAME")] = None,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    comment: str | None = None,
    header_row: Annotated[int | None, Option(metavar="N")] = None,
    skip: int = 0,
    format: str | None = None,
) -> None:
    """How a table is read.

    Parameters
    ----------
    time
        Survival: column of times, instead of target.
    event
        Survival: column of events, such as 1 and 0, or dead and alive.
    """


def computing(
    seed: int = 0,
    jobs: int | None = None,
    max_memory: str = "1GB",
    json: Annotated[bool, Option("--json")] = False,
) -> None:
    """How to compute, and what to print.

    Parameters
    ----------
    seed
        Seed; the same seed gives the same answer.
    json
        Print JSON alone.
    """


def controlling(
    control: str = "auto",
    measure: str | None = None,
    penalty: str | None = None,
    lam: str | None = None,
    screening: str | None = None,
    knockoffs: str | None = None,
    draws: int | None = None,
    rule: str | None = None,
    alike: str = "auto",
) -> None:
    """How the false discovery rate is controlled."""


def knowing(
    feature_groups: str | None = None,
    covar: File = None,
    covar_name: str | None = None,
    groups: Column = None,
    aggregate: str | None = None,
    coordinates: str | None = None,
    always_keep: list[str] | None = None,
    only: list[str] | None = None,
    partners: list[str] | None = None,
) -> None:
    """What is known of rows and features.

    Parameters
    ----------
    feature_groups
        Table of features and groups, or a column of .bim or .var.
    covar_name
        Columns to adjust for, such as age,batch; never selected.
    coordinates
        Columns that say where rows are, such as day or x,y; never selected.
    """


def answering(
    accuracy: Annotated[bool, Option("--accuracy/--no-accuracy")] = True,
    panel_size: int | None = None,
    keep_data: Annotated[bool, Option("--keep-data")] = False,
) -> None:
    """What an answer holds besides what is selected."""


def running(
    scheduler: str | None = None,
    run_dir: Path | None = None,
    overwrite: Annotated[bool, Option("--overwrite")] = False,
    config: Path | None = None,
    quiet: Quiet = False,
) -> None:
    """Where work is done, and what is written.

    Parameters
    ----------
    scheduler
        Address of a Dask scheduler whose workers do the work.
    overwrite
        Replace an earlier answer in that folder.
    config
        TOML file with any of these options.
    """


def planting(
    forms: str = "line",
    strengths: str | None = None,
    n_effects: int | None = None,
    plant_on: Annotated[list[str] | None, Option(metavar="all|clusters|FEATURE")] = None,
    fits: int = 60,
    minutes: float = 5,
    precision: float = 0.1,
) -> None:
    """Which effects are planted, and how many fits that takes."""


def taking(*bundles: Callable[..., None]) -> Callable[[Command], Command]:
    """Give a command the options of these bundles, after its own, as its keyword arguments."""

    def give(command: Command) -> Command:
        *own, keywords = signature(command).parameters.values()
        shared = [one for bundle in bundles for one in signature(bundle).parameters.values()]
        named = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in (*own, *shared)]
        changed: Any = command
        changed.__signature__ = signature(command).replace(parameters=named)
        hints = dict(command.__annotations__)
        for bundle in bundles:
            hints |= {
                name: hint for name, hint in bundle.__annotations__.items() if name != "return"
            }
        del hints[keywords.name]
        changed.__annotations__ = hints
        return command

    return give
