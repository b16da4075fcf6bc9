"""Says what a run depends on: settings as JSON can hold them, and data by a sample of columns."""

from __future__ import annotations

from dataclasses import fields
from hashlib import sha256
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .inputs import Columns
from .recipe import Recipe
from .types import Target

SAMPLED = 64  # columns whose values tell one data set from another


def identity_of(columns: Columns, target: Target, recipe: Recipe, seed: Any) -> dict[str, Any]:
    """What finished blocks of work depend on."""
    if not isinstance(seed, int | np.integer):
        raise ValueError(
            f"random_state={seed!r} cannot be drawn again, which a run directory needs. Give a "
            "whole number."
        )
    some = np.unique(np.linspace(0, columns.n_columns - 1, SAMPLED).astype(np.intp))
    settings = settings_of(recipe)
    del settings["n_jobs"]  # changes nothing
    return {
        "rows": columns.n_rows,
        "features": columns.n_columns,
        "checksum of a sample of X": _checksum(columns.read(some)),
        "checksum of y": _checksum(target.values),
        "seed": int(seed),
        "smrmr": version("smrmr"),
        **settings,
    }


def settings_of(recipe: Recipe) -> dict[str, Any]:
    """Every choice of a recipe by its name."""
    return {f.name: described(getattr(recipe, f.name)) for f in fields(recipe)}


def described(value: Any) -> Any:
    """A setting as JSON can hold it."""
    if isinstance(value, np.ndarray) or hasattr(value, "iloc"):
        return f"array of shape {value.shape}"
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    return getattr(value, "__name__", None) or repr(value)


def _checksum(values: NDArray[Any]) -> str:
    return sha256(np.ascontiguousarray(values).tobytes()).hexdigest()
