"""Defines Draw, what one pass of the method gave, and Shown, what figures need of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...types import Indices, Matrix, Vector
from .diagnose import Diagnosis


@dataclass(frozen=True, eq=False)  # arrays do not compare to one truth
class Draw:
    """One pass of the method: a split of the rows, a draw of knockoffs, a solution.

    Features are positions in X. `theta`, `theta_knockoff`, `W` and `s` have one entry for each kept
    feature (`s` none for given knockoffs); `neighbours` the kept features most associated with
    each, and `likeness` how much.
    """

    n_screen: int
    n_select: int
    shortlisted: Indices
    kept: Indices
    theta: Vector
    theta_knockoff: Vector
    W: Vector
    lam: float
    penalty: str
    lams: Vector
    losses: Vector
    at_floor: bool
    covariance: str
    s: Vector
    diagnosis: Diagnosis
    neighbours: Indices
    likeness: Matrix


@dataclass(frozen=True, eq=False)
class Shown:
    """What a report draws of the data: the features of largest W on at most 500 rows.

    `y` holds class numbers if there are `labels`, else numbers. `redundancy` is the association of
    each of the features with each other on all rows.
    """

    features: Indices
    values: Matrix
    y: Matrix
    labels: tuple[str, ...]
    redundancy: Matrix


def read_draw(content: dict[str, Any]) -> Draw:
    """Read a draw from JSON."""
    for name in ("shortlisted", "kept", "neighbours"):
        content[name] = np.array(content[name], dtype=np.intp)
    for name in ("theta", "theta_knockoff", "W", "lams", "losses", "s", "likeness"):
        content[name] = np.array(content[name], dtype=np.float64)
    content["diagnosis"] = Diagnosis(**content["diagnosis"])
    return Draw(**content)


def read_shown(content: dict[str, Any]) -> Shown:
    """Read the data of figures from JSON."""
    k = len(content["features"])
    y = np.array(content["y"], dtype=np.float64)
    return Shown(
        features=np.array(content["features"], dtype=np.intp),
        values=np.array(content["values"], dtype=np.float64).reshape(len(y), k),
        y=y,
        labels=tuple(content["labels"]),
        redundancy=np.array(content["redundancy"], dtype=np.float64).reshape(k, k),
    )
