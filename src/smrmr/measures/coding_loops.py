"""Codes columns of few small whole numbers, such as genotypes, without sorting."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled

Array = NDArray[Any]

SPAN = 64  # small whole numbers lie within such a range
NARROW_SPAN = 8  # and bytes that are compared with one level after the other within this one


@compiled
def _code_bytes(row: Array, low: Any, high: Any, codes: Array, counts: Array) -> bool:
    """Code bytes of few neighbouring levels, by vector instructions; False for others."""
    n_levels = np.int64(high) - low + 1
    if n_levels > min(NARROW_SPAN, len(counts)):
        return False
    for level in range(n_levels):
        found = 0
        for i in range(len(row)):
            found += row[i] == low + level
        if found == 0:
            counts[:level] = 0
            return False
        counts[level] = found
    for i in range(len(row)):
        codes[i] = row[i] - low
    return True


@compiled
def code_small_integers(values: Array, max_levels: int) -> tuple[Array, Array, Array]:
    """Code the rows that hold few small whole numbers without sorting.

    Returns the level of every sample, the samples of every level (one column per level), and the
    number of levels of every row, which is 0 for rows that are left uncoded. Genotypes and 0/1
    columns come through here.
    """
    codes = np.empty(values.shape, np.uint8)
    counts = np.zeros((len(values), max_levels), np.int64)
    levels = np.zeros(len(values), np.int64)
    c: Any
    seen = np.empty(SPAN, np.int64)
    for k in range(len(values)):
        row = values[k]
        low, high = row[0], row[0]
        for i in range(len(row)):
            low = min(low, row[i])
            high = max(high, row[i])
        if not np.float64(high) - np.float64(low) < SPAN:
            continue
        if values.itemsize == 1 and _code_bytes(row, low, high, codes[k], counts[k]):
            levels[k] = np.int64(high) - low + 1
            continue
        seen[:] = 0
        whole = True
        for i in range(len(row)):
            c = np.int64(row[i] - low)
            whole = whole and c + low == row[i]
            seen[c] += 1
        distinct = np.count_nonzero(seen)
        if not whole or distinct > max_levels:
            continue
        for c in range(SPAN):
            if seen[c] > 0:
                counts[k, levels[k]] = seen[c]
                seen[c] = levels[k]
                levels[k] += 1
        for i in range(len(row)):
            codes[k, i] = seen[np.int64(row[i] - low)]
    return codes, counts, levels
