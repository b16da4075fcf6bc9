"""Reads MATLAB files up to version 7."""

import math
from pathlib import Path

from .format import Format, Table
from .named_arrays import check_size, table_of


def read_mat(path: Path) -> Table:
    """Read a MATLAB file with X and Y."""
    from scipy.io import loadmat, whosmat

    try:
        size = sum(8 * math.prod(shape) for _, shape, kind in whosmat(path) if kind != "sparse")
        check_size(size)
        found = loadmat(path)
    except MemoryError:
        raise
    except NotImplementedError:
        raise ValueError(
            f"{path} is a MATLAB 7.3 file. Save it with the option '-v7', or as .npz."
        ) from None
    except Exception as error:  # scipy raises many kinds for one reason
        raise ValueError(f"{path} cannot be read as a MATLAB file: {error}") from None
    return table_of({k: v for k, v in found.items() if not k.startswith("__")}, path)


MAT = Format(("mat",), read_mat)
