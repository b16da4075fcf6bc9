"""Ranks features: the best so many by a method of choice, without guarantee."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from ..runs.files import replacing
from ..settings import check_choice
from ..types import pd
from .display import drawn
from .outputs import write_csv
from .tables import read_table, target_of
from .terminal import begin

METHODS = ("mrmr", "sis", "hsic-lasso", "smrmr")
NO_GUARANTEE = (
    "A ranking, without guarantee: it does not say how many of these features matter. For that: "
    "smrmr select."
)


def rank_features(options: dict[str, Any]) -> None:
    """Read a table, rank its features, and print or write the best."""
    method, k = options["method"], options["k"]
    out = None if options["out"] is None else Path(options["out"])  # older typer gives text
    check_choice("method", method, METHODS)
    if k < 1:
        raise ValueError(f"-k {k} is no number of features. Give 1 or more.")
    if out is not None and out.is_dir():
        raise ValueError(f"--out {out} is a folder. Name a CSV file to write.")
    begin(f"Reading {options['file']}")
    options = dict.fromkeys(("covar", "covar_name", "groups", "coordinates")) | options
    data = read_table(options["file"], options)
    how = {"n_jobs": options["jobs"], "max_memory": options["max_memory"]}
    how["target"] = "survival" if options["event"] else options["target_type"]
    table = _ranked(method, k, data.X, target_of(data, options), options["seed"], how)
    if out is not None:
        with replacing(out) as unfinished:
            write_csv(table, unfinished)
    _show(table, options)


def _show(table: Any, options: dict[str, Any]) -> None:
    if options["json"]:
        rows = table.to_dict("records")
        ranking = {"method": options["method"], "guaranteed": False, "ranking": rows}
        sys.stdout.write(json.dumps(ranking, allow_nan=False) + "\n")
        return
    said = Console()
    said.print(drawn(table))
    said.print(NO_GUARANTEE, highlight=False)
    if options["out"] is not None:
        said.print(f"Table: {options['out']}", highlight=False, soft_wrap=True)


def _ranked(method: str, k: int, X: Any, y: Any, seed: int, how: dict[str, Any]) -> Any:
    """Rank, feature and score of the k best, as a DataFrame; fewer if a method ends before."""
    from ..rivals import MRMR, SIS, HSICLasso
    from ..selector import SmRMR

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
