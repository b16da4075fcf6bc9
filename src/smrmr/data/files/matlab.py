"""Reads MATLAB files up to version 7."""

import math
from pathlib import Path

from .format import Format, Table, reading
from .named_arrays import check_size, table_of


def read_mat(path: Path) -> Table:
    """Read a MATLAB file with X and Y."""
    from scipy.io import loadmat, whosmat

    with reading(path, "a MATLAB file"):
        try:
            about = whosmat(path)
        except NotImplementedError:
            raise ValueError("it is of version 7.3. Save it with '-v7', or as .npz.") from None
        check_size(sum(8 * math.prod(shape) for _, shape, kind in about if kind != "sparse"))
        found = loadmat(path)
    return table_of({k: v for k, v in found.items() if not k.startswith("__")}, path)


MAT = Format(("mat",), read_mat)
