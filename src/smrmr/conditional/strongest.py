"""Finds the largest values of every row of a matrix, in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runs.compiled import compiled
from ..types import Indices

Array = NDArray[Any]


def strongest(values: Array, mine: Array, hypothesis_of: Array, bound: float, most: int) -> Indices:
    """Positions of the largest absolute values beyond the bound in every row, largest first.

    Columns of the same hypothesis as the row do not count; -1 where there are fewer.
    """
    found = np.full((len(values), most), -1, np.intp)
    _find_strongest(values, mine, hypothesis_of, bound, np.empty(most), found)
    return found


@compiled
def _find_strongest(
    values: Array, mine: Array, hypothesis_of: Array, bound: float, size: Array, found: Array
) -> None:
    most = len(size)
    for k in range(len(values)):
        for place in range(most):
            size[place] = 0.0
        for j in range(values.shape[1]):
            value = abs(values[k, j])
            if value <= bound or value <= size[most - 1] or hypothesis_of[j] == mine[k]:
                continue
            place = most - 1
            while place > 0 and size[place - 1] < value:
                size[place], found[k, place] = size[place - 1], found[k, place - 1]
                place -= 1
            size[place], found[k, place] = value, j
