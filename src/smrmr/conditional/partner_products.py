"""Multiplies residuals of the target with partners: all in memory, in a file, or when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runs.stored_rows import MAX_BLOCK_VALUES, Room, RowMatrix, row_blocks
from ..types import Indices, Matrix
from .statistics import PartnerProducts
from .statistics.interaction import widest_directions

MOST_AT_ONCE = 4 * MAX_BLOCK_VALUES  # values of some partners; of more they are made by need


def all_products(E: Matrix, scores: RowMatrix, partners: Indices, room: Room) -> PartnerProducts:
    """Products of the rows of E, (q, n), with all partners, which have these scores."""
    if room.folder is None:
        return PartnerProducts.of(E, scores, partners)
    n_directions, d = np.zeros(len(partners), np.intp), len(widest_directions(E))

    def blocks() -> Iterator[NDArray[Any]]:
        for some in row_blocks(scores.shape):
            found = PartnerProducts.of(E, scores[some], partners[some])
            n_directions[some] = found.n_directions
            yield np.moveaxis(found.values, 0, 1).reshape(len(found.partners), -1)
        yield np.empty((0, d * E.shape[1]), np.float32)

    values = _Stored(room.gather(blocks()), d)
    return PartnerProducts(values, n_directions, partners, E)


def some_products(
    E: Matrix, scores_of: Callable[[Indices], Matrix], partners: Indices
) -> PartnerProducts:
    """The same with some partners, whose scores are given by number, in double precision."""
    if len(partners) * E.shape[1] <= MOST_AT_ONCE:
        return PartnerProducts.of(E, scores_of(partners), partners)
    n_directions, d = np.zeros(len(partners), np.intp), len(widest_directions(E))
    return PartnerProducts(
        _ByNeed(E, scores_of, partners, n_directions, d), n_directions, partners, E
    )


@dataclass(frozen=True, eq=False)
class _Stored:
    """Products in a file, a row per partner with those of all d directions."""

    rows: RowMatrix
    d: int

    def __len__(self) -> int:
        return self.d

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32)

    def __getitem__(self, which: tuple[slice, Any]) -> NDArray[Any]:
        found = self.rows[which[1]]
        return np.moveaxis(found.reshape(len(found), self.d, -1), 1, 0)


@dataclass(frozen=True, eq=False)
class _ByNeed:
    """Products that are made whenever they are read."""

    E: Matrix
    scores_of: Callable[[Indices], Matrix]
    partners: Indices
    n_directions: Indices  # filled in as products are made
    d: int

    def __len__(self) -> int:
        return self.d

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64)

    def __getitem__(self, which: tuple[slice, Any]) -> NDArray[Any]:
        some = self.partners[which[1]]
        found = PartnerProducts.of(self.E, self.scores_of(some), some)
        self.n_directions[which[1]] = found.n_directions
        return np.asarray(found.values)
