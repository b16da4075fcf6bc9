"""Says what a run depends on: its settings as JSON can hold them, and its data by checksums."""

from importlib.metadata import version
from typing import Any

import numpy as np

from ..data.columns import Columns
from ..data.covariates import Covariates
from ..data.sources import SparseColumns
from ..data.study import Study
from ..problems import Problem, setting
from ..settings import checksum

SAMPLED = 64  # columns whose values tell one data set from another


def identity_of(
    study: Study, settings: dict[str, Any], repeatable: bool, seed: Any
) -> dict[str, Any]:
    """What finished blocks of work depend on."""
    if not isinstance(seed, int | np.integer):
        raise Problem(
            f"{setting('random_state', seed)} cannot be drawn again, which a run directory needs.",
            cure="Give a whole number.",
        )
    if not repeatable:
        raise ValueError(
            "a function that makes knockoffs cannot be compared with that of an earlier run, "
            "which a run directory needs. Give the knockoffs as an array."
        )
    return {
        "rows": study.columns.n_rows,
        "features": study.columns.n_columns,
        "X": _of_features(study.columns),
        "y": f"{study.target.kind}, {checksum(study.target.values)}",
        "covariates": _of_covariates(study.adjustment),
        "seed": int(seed),
        "smrmr": version("smrmr"),
        **{name: value for name, value in settings.items() if name != "n_jobs"},
    }


def _of_covariates(covariates: Covariates | None) -> str:
    """Names and checksum of what is adjusted for, groups of rows among it."""
    if covariates is None:
        return ""
    return f"{', '.join(covariates.names)}, {checksum(covariates.design)}"


def _of_features(columns: Columns) -> str:
    """Checksum of all values in memory; of a source, of a sample, with its file's size and date."""
    if isinstance(columns.data, np.ndarray):
        return checksum(columns.data)
    if isinstance(columns.data, SparseColumns):
        stored = columns.data.matrix
        return " ".join(map(checksum, (stored.data, stored.indices, stored.indptr)))
    some = np.unique(np.linspace(0, columns.n_columns - 1, SAMPLED).astype(np.intp))
    source: Any = columns.data
    while hasattr(source, "source"):
        source = source.source
    path = getattr(source, "path", None)
    about = path.stat() if path is not None else None
    file = f"{about.st_size} bytes of {about.st_mtime_ns}, " if about is not None else ""
    return f"{file}sample {checksum(columns.read(some))}"
