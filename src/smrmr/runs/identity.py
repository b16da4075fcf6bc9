"""Says what a run depends on: its settings as JSON can hold them, and its data by checksums."""

from __future__ import annotations

from dataclasses import fields
from hashlib import sha256
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.columns import Columns
from ..data.target import Target
from ..recipe import Recipe

SAMPLED = 64  # columns whose values tell one data set from another


def identity_of(columns: Columns, target: Target, recipe: Recipe, seed: Any) -> dict[str, Any]:
    """What finished blocks of work depend on."""
    if not isinstance(seed, int | np.integer):
        raise ValueError(
            f"random_state={seed!r} cannot be drawn again, which a run directory needs. Give a "
            "whole number."
        )
    if recipe.knockoff_function is not None:
        raise ValueError(
            "a function that makes knockoffs cannot be compared with that of an earlier run, "
            "which a run directory needs. Give the knockoffs as an array."
        )
    settings = settings_of(recipe)
    del settings["n_jobs"]  # changes nothing
    return {
        "rows": columns.n_rows,
        "features": columns.n_columns,
        "X": _of_features(columns),
        "y": f"{target.kind}, {_checksum(target.values)}",
        "seed": int(seed),
        "smrmr": version("smrmr"),
        **settings,
    }


def _of_features(columns: Columns) -> str:
    """Checksum of all values in memory; of a source, of a sample, with its file's size and date."""
    if isinstance(columns.data, np.ndarray):
        return _checksum(columns.data)
    some = np.unique(np.linspace(0, columns.n_columns - 1, SAMPLED).astype(np.intp))
    source: Any = columns.data
    while hasattr(source, "source"):
        source = source.source
    path = getattr(source, "path", None)
    about = path.stat() if path is not None else None
    file = f"{about.st_size} bytes of {about.st_mtime_ns}, " if about is not None else ""
    return f"{file}sample {_checksum(columns.read(some))}"


def settings_of(recipe: Recipe) -> dict[str, Any]:
    """Every choice of a recipe by its name."""
    return {f.name: described(getattr(recipe, f.name)) for f in fields(recipe)}


def described(value: Any) -> Any:
    """A setting as JSON can hold it."""
    if isinstance(value, np.ndarray) or hasattr(value, "iloc"):
        return f"array of shape {value.shape}, {_checksum(np.asarray(value))[:16]}"
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    return getattr(value, "__name__", None) or repr(value)


def _checksum(values: NDArray[Any]) -> str:
    return sha256(f"{values.dtype} {values.shape}".encode() + values.tobytes()).hexdigest()
