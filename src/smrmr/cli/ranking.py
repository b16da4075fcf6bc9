"""Offers `smrmr rank`: the best so many features by a method of choice, without guarantee."""

import json as writer
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer import Argument, Option

from ..report.marks import short
from ..runs.files import replacing
from ..settings import check_choice
from .outputs import write_csv
from .tables import read_asked, survival_of
from .terminal import clear_errors, console

METHODS = ("mrmr", "sis", "hsic-lasso", "smrmr")
NO_GUARANTEE = (
    "A ranking, without guarantee: it does not say how many of these features matter. For that: "
    "smrmr select."
)


def rank(
    file: Annotated[Path, Argument(help="A table, as for smrmr select.")],
    target: Annotated[str | None, Option(help="Column to predict.")] = None,
    method: Annotated[str, Option(help="mrmr, sis, hsic-lasso or smrmr.")] = "mrmr",
    k: Annotated[int, Option("-k", help="How many features.")] = 20,
    target_type: Annotated[str, Option(help="auto, continuous, classes or ordinal.")] = "auto",
    time: Annotated[
        str | None, Option(help="Survival: column of times, instead of target.")
    ] = None,
    event: Annotated[str | None, Option(help="Survival: column of events, 1 or 0.")] = None,
    drop: Annotated[list[str] | None, Option(help="Column that is no feature.")] = None,
    transpose: Annotated[bool, Option("--transpose", help="Features are in rows.")] = False,
    pheno: Annotated[Path | None, Option(help="Table that holds the target.")] = None,
    id: Annotated[str | None, Option(help="Column of sample ids.")] = None,
    missing: Annotated[
        str, Option(help="refuse, drop-columns, drop-rows, impute-median, -mean or -mode.")
    ] = "refuse",
    layer: Annotated[str | None, Option(help="AnnData: a layer, or raw.")] = None,
    format: Annotated[str | None, Option(help="Format, if the extension misleads.")] = None,
    seed: Annotated[int, Option(help="Seed of what is random in a method.")] = 0,
    jobs: Annotated[int | None, Option(help="Threads; -1 for all cores.")] = None,
    max_memory: Annotated[str, Option(help="Budget for work besides the data.")] = "1GB",
    out: Annotated[Path | None, Option(help="CSV file to write.")] = None,
    json: Annotated[bool, Option("--json", help="Print JSON alone.")] = False,
) -> None:
    """Rank features and keep the best, without guarantee.

    Prints rank, feature and score: of mrmr relevance less redundancy, of sis relevance, of
    hsic-lasso the coefficient, of smrmr the p-value given all other features.

    Example: smrmr rank demo.csv --target y --method mrmr -k 20
    """
    with clear_errors():
        check_choice("--method", method, METHODS)
        if k < 1:
            raise ValueError(f"-k {k} is no number of features. Give 1 or more.")
        if out is not None and out.is_dir():
            raise ValueError(f"--out {out} is a folder. Name a CSV file to write.")
        asked = dict.fromkeys(("covar", "covar_name", "groups")) | {
            "target": target, "time": time, "event": event, "drop": drop, "transpose": transpose,
            "pheno": pheno, "id": id, "missing": missing, "layer": layer, "format": format,
        }  # fmt: skip
        data = read_asked(file, asked)
        for note in data.notes:
            console.print(f"Note: {note}.", highlight=False, markup=False)
        how = {"n_jobs": jobs, "max_memory": max_memory}
        how["target"] = "survival" if event else target_type
        table = _ranked(method, k, data.X, survival_of(data, asked), seed, how)
        if out is not None:
            with replacing(out) as unfinished:
                write_csv(table, unfinished)
    if json:
        rows = table.to_dict("records")
        ranking = {"method": method, "guaranteed": False, "ranking": rows}
        sys.stdout.write(writer.dumps(ranking, allow_nan=False) + "\n")
        return
    said = Console()
    said.print(_drawn(table))
    said.print(NO_GUARANTEE, highlight=False)
    if out is not None:
        said.print(f"Table: {out}", highlight=False, soft_wrap=True)


def _ranked(method: str, k: int, X: Any, y: Any, seed: int, how: dict[str, Any]) -> Any:
    """Rank, feature and score of the k best, as a DataFrame; fewer if a method ends before."""
    import pandas as pd

    from ..estimators import MRMR, SIS, HSICLasso, SmRMR

    if method == "smrmr":
        found = SmRMR(n_features=k, random_state=seed, **how).fit(X, y).selection_.findings()
        names, scores, called = found["feature"], found["p_value"], "p_value"
    else:
        rivals: dict[str, Any] = {"mrmr": MRMR, "sis": SIS, "hsic-lasso": HSICLasso}
        seeded = {} if method == "sis" else {"random_state": seed}
        selector = rivals[method](k, **seeded, **how).fit(X, y)
        order = np.argsort(selector.ranking_)[: np.count_nonzero(selector.support_)]
        columns = getattr(X, "columns", None)
        columns = getattr(X, "names", None) if columns is None else columns
        names = [f"x{i}" if columns is None else str(columns[i]) for i in order]
        scores, called = selector.scores_[order], "score"
    places = np.arange(1, len(names) + 1)
    return pd.DataFrame({"rank": places, "feature": list(names), called: np.asarray(scores)})


def _drawn(table: Any) -> Table:
    drawn = Table(*(name.replace("_", "-") for name in table))
    for place, name, score in table.itertuples(index=False):
        drawn.add_row(str(place), escape(short(name)), f"{score:.3g}")
    return drawn
