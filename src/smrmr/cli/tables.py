"""Reads the table that a command asks for: features, target, covariates and groups of rows."""

from inspect import signature
from pathlib import Path
from typing import Any

from ..data import read_data
from ..data.dataset import Dataset
from ..data.files.packed import STANDARD_INPUT
from ..types import pd
from .terminal import note


def name_of(file: Path) -> str:
    """What the results of a file are called by."""
    return "stdin" if str(file) == STANDARD_INPUT else file.name.split(".")[0]


def read_table(file: Path, options: dict[str, Any]) -> Dataset:
    """Read a file as the options of `smrmr select` say, and tell what was decided on the way."""
    time, event, target = options["time"], options["event"], options["target"]
    if (time is None) != (event is None):
        raise ValueError("survival needs both --time COLUMN and --event COLUMN.")
    if time is not None and target is not None:
        raise ValueError("--time and --event are the target: leave out --target.")
    covariates = [name.strip() for name in (options["covar_name"] or "").split(",")]
    beside = [name for name in (*covariates, options["groups"], event) if name]
    how = {name: options[name] for name in signature(read_data).parameters if name in options}
    how |= {"target": time or target, "drop": options["drop"] or (), "beside": beside}
    data = read_data(file, **how)
    for said in data.notes:
        note(f"Note: {said}.")
    return data


def target_of(data: Dataset, options: dict[str, Any]) -> Any:
    """The target, with its events where it is survival."""
    if options["event"] is None:
        return data.y
    event = data.beside[options["event"]].to_numpy()
    return pd.DataFrame({"event": event, "time": data.y.to_numpy()})


def covariates_and_groups(data: Dataset, options: dict[str, Any]) -> dict[str, Any]:
    """Covariates and groups of rows, as `select` takes them."""
    groups = options["groups"]
    apart = [name for name in (groups, options["event"]) if name]
    covariates = data.beside.drop(columns=apart)
    return {
        "covariates": covariates if covariates.shape[1] else None,
        "groups": None if groups is None else data.beside[groups].to_numpy(),
        "aggregate": options["aggregate"],
    }
