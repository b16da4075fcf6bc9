"""Fills the gaps of a source, block by block."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .protocol import ColumnSource, Which

FEW_LEVELS = 16


@dataclass(frozen=True)
class Filled:
    """A source whose missing values are replaced by the median, mean or mode of their column.

    Whole numbers mark a missing value by `gap`.
    """

    source: ColumnSource
    how: str
    gap: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.source.shape

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, if they have any."""
        return self.source.names

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns asked for, without gaps; a column without any value keeps them."""
        values = np.asarray(self.source.read(columns))
        there = values != self.gap if self.gap is not None else np.isfinite(values)
        if there.all():
            return values
        known = np.where(there, values.astype(np.float64), np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns that have no value at all
            fill = FILLS[self.how](known)
        return np.where(there, values, fill.astype(values.dtype))


def _modes(values: NDArray[Any]) -> NDArray[Any]:
    """The most frequent value of each column, the smallest of equals."""
    levels = np.unique(values[np.isfinite(values)])
    if 0 < levels.size <= FEW_LEVELS:  # genotypes and the like, all columns at once
        return np.asarray(levels[np.argmax([(values == x).sum(axis=0) for x in levels], axis=0)])
    modes = np.full(values.shape[1], np.nan)
    for k, column in enumerate(values.T):
        found, counts = np.unique(column[np.isfinite(column)], return_counts=True)
        if found.size:
            modes[k] = found[counts.argmax()]
    return modes


FILLS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "median": partial(np.nanmedian, axis=0),
    "mean": partial(np.nanmean, axis=0),
    "mode": _modes,
}
