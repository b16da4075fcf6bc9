"""Reads coordinates: where rows are, in time or in space."""

import numpy as np

from ..problems import Problem, setting
from ..types import Data, Matrix
from .frames import in_pandas
from .messages import refuse_missing, refuse_other_rows

LARGEST = 1e100  # whose square is a number


def read_coordinates(given: Data, n_rows: int) -> Matrix:
    """Coordinates of rows as numbers, (n, d), all of one unit; dates count as days.

    >>> read_coordinates([3, 1, 2], 3).tolist()
    [[3.0], [1.0], [2.0]]
    """
    values = np.asarray(in_pandas(given))
    if isinstance(given, str) or values.ndim not in (1, 2):
        raise Problem(
            f"{setting('coordinates')} is {given!r}, or has no rows and columns.",
            "Give the columns themselves, such as coordinates=table[['x', 'y']], and leave them "
            "out of X.",
        )
    refuse_other_rows(n_rows, setting("coordinates"), len(values))
    try:
        if np.issubdtype(values.dtype, np.datetime64):
            values = (values - values.min()) / np.timedelta64(1, "D")
        numbers = values.astype(np.float64).reshape(n_rows, -1)
    except (TypeError, ValueError):
        raise Problem(
            f"{setting('coordinates')} holds values that are no numbers.",
            "Distances of rows are computed from numbers, such as a day, or x and y.",
        ) from None
    refuse_missing(~np.isfinite(numbers), setting("coordinates"))
    if np.abs(numbers).max(initial=0.0) > LARGEST:
        raise Problem(f"{setting('coordinates')} are larger than {LARGEST:g}.", "Scale them.")
    if not np.ptp(numbers, axis=0).any():
        raise Problem(
            f"{setting('coordinates')} are the same for all rows.", cure="Leave them out."
        )
    return numbers
