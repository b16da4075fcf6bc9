"""Reads the table that a command asks for: features, target, and what is known of its rows."""

from collections.abc import Iterable, Sequence
from inspect import signature
from pathlib import Path
from shlex import quote
from typing import Any

from ..data import read_data
from ..data.dataset import Dataset
from ..data.files.packed import STANDARD_INPUT
from ..data.messages import named
from ..data.sources import names_of
from ..types import pd
from .terminal import note

MOST_LABELS = 5  # columns of labels that may be no features; more are what the table is about


def name_of(file: Path) -> str:
    """What the results of a file are called by."""
    return "stdin" if str(file) == STANDARD_INPUT else file.name.split(".")[0]


def read_table(file: Path, options: dict[str, Any]) -> Dataset:
    """Read a file as the options of a command say, and tell what was decided on the way."""
    time, event, target = options["time"], options["event"], options["target"]
    if (time is None) != (event is None):
        raise ValueError("survival needs both --time COLUMN and --event COLUMN.")
    if time is not None and target is not None:
        raise ValueError("--time and --event are the target: leave out --target.")
    several = [*_names(options["covar_name"]), *_names(options["coordinates"])]
    beside = [name for name in (*several, options["groups"], event) if name]
    how = {name: options[name] for name in signature(read_data).parameters if name in options}
    how |= {name: how[name] or () for name in ("drop", "annotation", "na")}
    how |= {"target": time or target, "beside": beside}
    data = read_data(file, **how)
    for said in data.notes:
        note(f"Note: {said}.")
    if labels := _labels(data):
        adjusted = quote(",".join(labels))
        tested = "holds labels and is" if len(labels) == 1 else "hold labels and are"
        note(
            f"Note: {named(labels)} {tested} tested like all features. To adjust for batches, sex "
            f"and the like: --covar-name {adjusted}."
        )
    return data


def _labels(data: Dataset) -> list[str]:
    """Features that hold labels, if they are few, as where some of them describe samples."""
    if not isinstance(data.X, pd.DataFrame):
        return []
    labels = [str(name) for name, kind in data.X.dtypes.items() if str(kind) == "category"]
    return labels if len(labels) <= MOST_LABELS else []


def target_of(data: Dataset, options: dict[str, Any]) -> Any:
    """The target, with its events where it is survival."""
    if options["event"] is None:
        return data.y
    event = data.beside[options["event"]].to_numpy()
    return pd.DataFrame({"event": event, "time": data.y.to_numpy()})


def features_named(
    data: Dataset, texts: Sequence[str], covariates: Iterable[str] = ()
) -> list[str]:
    """Names of features, of which several may stand in one text, parted by commas.

    Names of `covariates` may stand beside them.
    """
    names = data.X.columns.astype(str) if hasattr(data.X, "columns") else names_of(data.X)
    known = {*names, *covariates}
    parts = ([text] if text in known else text.split(",") for text in texts)
    return [name.strip() for some in parts for name in some if name.strip()]


def word_or_features(
    data: Dataset, texts: Sequence[str], words: Sequence[str], covariates: Iterable[str] = ()
) -> str | list[str]:
    """One of the words alone, or names of features as in `features_named`."""
    if len(texts) == 1 and texts[0] in words:
        return texts[0]
    return features_named(data, texts, covariates)


def known_of_rows(data: Dataset, options: dict[str, Any]) -> dict[str, Any]:
    """Covariates, groups and coordinates of rows, as `select` takes them."""
    groups, coordinates = options["groups"], _names(options["coordinates"])
    apart = [name for name in (groups, options["event"], *coordinates) if name]
    covariates = data.beside.drop(columns=apart)
    return {
        "covariates": covariates if covariates.shape[1] else None,
        "groups": None if groups is None else data.beside[groups].to_numpy(),
        "aggregate": options["aggregate"],
        "coordinates": data.beside[coordinates] if coordinates else None,
    }


def _names(text: str | None) -> list[str]:
    """Names of columns that are separated by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]
