"""Codes columns of few small whole numbers, such as genotypes, without sorting."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runs.compiled import compiled, compiled_inside

Array = NDArray[Any]

SPAN = 64  # small whole numbers lie within such a range
LOOKED_AT = 16  # values of a row that tell whether it may hold whole numbers


def code_small_integers(values: Array, max_levels: int) -> tuple[Array, Array, Array]:
    """Code the rows that hold few small whole numbers without sorting.

    Returns the level of every sample, the samples of every level (one column per level), and the
    number of levels of every row, which is 0 for rows that are left uncoded. Genotypes and 0/1
    columns come through here.
    """
    codes = np.empty(values.shape, np.uint8)
    counts = np.zeros((len(values), max_levels), np.int64)
    levels = np.zeros(len(values), np.int64)
    if _may_be_whole(values).any():  # which saves compiling what follows
        _code(values, np.empty(SPAN, np.int64), codes, counts, levels)
    return codes, counts, levels


def _may_be_whole(values: Array) -> NDArray[np.bool_]:
    """Rows whose first values differ by whole numbers, as those of all that are coded do."""
    first = values[:, :LOOKED_AT].astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # of the largest numbers
        steps = first - first[:, :1]
        return np.asarray((np.abs(steps - np.rint(steps)) < 1e-3).all(axis=1))


@compiled
def _code(values: Array, seen: Array, codes: Array, counts: Array, levels: Array) -> None:
    c: Any
    for k in range(len(values)):
        row = values[k]
        low, high = row[0], row[0]
        for i in range(len(row)):
            low = row[i] if row[i] < low else low
            high = row[i] if row[i] > high else high
        span = np.float64(high) - np.float64(low)
        if not span < SPAN:
            continue
        if span < counts.shape[1]:
            levels[k] = _code_narrow(row, low, np.int64(span) + 1, seen, codes[k], counts[k])
            continue
        for c in range(SPAN):
            seen[c] = 0
        distinct, whole = 0, True
        for i in range(len(row)):
            c = np.int64(row[i] - low)
            whole = whole and c + low == row[i]
            distinct += seen[c] == 0
            seen[c] += 1
        if not whole or distinct > counts.shape[1]:
            continue
        for c in range(SPAN):
            if seen[c] > 0:
                counts[k, levels[k]] = seen[c]
                seen[c] = levels[k]
                levels[k] += 1
        for i in range(len(row)):
            codes[k, i] = seen[np.int64(row[i] - low)]


@compiled_inside
def _code_narrow(row: Array, low: Any, span: Any, seen: Array, codes: Array, counts: Array) -> Any:
    """The same of a row in so narrow a range that every whole number in it may be a level.

    Its loops are what a processor does for many samples at once. Levels are returned, 0 for none.
    """
    c: Any
    level: Any
    for i in range(len(row)):
        codes[i] = np.uint8(np.int64(row[i] - low))
    if row.itemsize > 1:  # else these are whole numbers anyway
        n_broken = 0
        for i in range(len(row)):
            n_broken += np.float64(row[i]) != np.float64(low) + np.float64(codes[i])
        if n_broken > 0:
            return 0
    level, left = 0, np.int32(len(codes))
    for c in range(span):
        found, place = np.int32(0), np.uint8(c)
        if c < span - 1:
            for i in range(len(codes)):
                found += np.int32(codes[i] == place)
            left -= found
        else:
            found = left
        if found > 0:
            counts[level] = found
            seen[c] = level
            level += 1
    if level < span:  # numbers between are no levels
        for i in range(len(codes)):
            codes[i] = seen[codes[i]]
    return level
