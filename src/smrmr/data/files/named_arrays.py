"""Takes features, target and names out of arrays that have names: NPZ, MATLAB, HDF5 and zarr."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...types import pd
from ..messages import did_you_mean
from ..sources import ColumnSource, rows_and_columns
from .format import Table
from .limits import most_bytes

FEATURES = ("X", "x", "data", "features")
TARGETS = ("y", "Y", "target", "labels", "label")
NAMES = ("feature_names", "names", "features", "columns")


def check_size(n_bytes: int) -> None:
    """Refuse what is too large to read whole, before anything of it is read."""
    most = most_bytes()
    if n_bytes > most:
        raise MemoryError(f"it takes {n_bytes / 1e9:,.1f} GB, and {most / 1e9:g} GB at most")


def table_of(
    found: Mapping[str, Any],
    path: Path,
    source: Callable[[str, tuple[str, ...] | None], ColumnSource] | None = None,
) -> Table:
    """Take X, the target and the names out of named arrays.

    Where the arrays are on disk, X is left there: ``source(name, names)`` opens it.
    """
    name = next((k for k in FEATURES if k in found), None)
    if name is None:
        raise ValueError(f"{path} has no array 'X'.{did_you_mean('X', found)}")
    n, p = rows_and_columns(np.shape(found[name]), f"{path}: {name}")
    others = {k: v for k, v in found.items() if k != name and not hasattr(v, "toarray")}
    labels = next((k for k in NAMES if k in others and np.size(others[k]) == p), None)
    names = None if labels is None else tuple(map(str, _flat(others[labels])))
    known = {k: _flat(v) for k, v in others.items() if np.size(v) == n}
    about = pd.DataFrame(known, index=range(n))
    wrong = next((k for k in TARGETS if k in others and k not in about and k not in NAMES), None)
    if wrong is not None and np.ndim(found[wrong]) <= 2 and np.shape(found[wrong])[:1] != (n,):
        values = f"{name} has {n} rows and {wrong} has {np.size(found[wrong])} values"
        raise ValueError(f"{path}: {values}. One value per row is needed.")
    target = next((k for k in TARGETS if k in about), None)
    if source is not None:
        return Table(source(name, names), about, target)
    X = found[name]
    if hasattr(X, "toarray"):
        check_size(n * p * X.dtype.itemsize)
        X = X.toarray()
    return Table(pd.DataFrame(X, columns=names or [f"x{k}" for k in range(p)]), about, target)


def _flat(values: Any) -> NDArray[Any]:
    """One value after the other; texts in HDF5 are bytes until they are requested as texts."""
    if hasattr(values, "asstr") and values.dtype.kind == "O":
        values = values.asstr()
    return np.ravel(values[...])
