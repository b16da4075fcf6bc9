"""Defines RankTable: the ranks of every column, computed once and read by all that need them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.columns import Columns
from ..data.ranks import average_ranks
from ..runs.stored_rows import IN_MEMORY, Room, RowMatrix, span
from ..runs.work import Work
from ..types import Indices, Mask, Matrix

MAX_BLOCK_VALUES = 2**22  # bounds the memory of columns that are ranked together


@dataclass(frozen=True, eq=False)
class RankTable:
    """Doubled average ranks of columns: a column is ranked when first read, and kept.

    Ranks are doubled because those of ties end in a half. `kept` has a row per column, in memory or
    in a file, filled where `known`; without it ranks are computed whenever they are read. What
    others make of the ranks may be in `cache`. A table that goes to another process leaves its
    ranks behind, and with it all that is ranked there.
    """

    columns: Columns
    kept: RowMatrix | None
    known: Mask
    cache: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, columns: Columns, work: Work | None = None, keep: bool = True, room: Room = IN_MEMORY
    ) -> RankTable:
        """A table of these columns, which keeps ranks in `room`.

        In memory it keeps them up to half of `work.max_memory`.
        """
        shape = columns.n_columns, columns.n_rows
        most = (Work(n_jobs=1) if work is None else work).max_memory // 2
        fits = keep and (room.folder is not None or 4 * shape[0] * shape[1] <= most)
        return cls(columns, room.rows(shape, np.int32) if fits else None, np.zeros(shape[0], bool))

    def ranks(self, which: Indices, values: Matrix | None = None) -> NDArray[np.int32]:
        """Twice the average ranks of some columns, (k, n); `values` are theirs where at hand."""
        if self.kept is None:
            return self._ranked(which, values)
        new = ~self.known[which]
        if new.any():
            self.kept[which[new]] = self._ranked(
                which[new], values if values is None else values[new]
            )
            self.known[which[new]] = True
        return np.asarray(self.kept[which])

    def span(self, start: int, stop: int) -> RankTable:
        """Columns `start` to `stop`, whose ranks are kept in this table."""
        kept = None if self.kept is None else span(self.kept, start, stop)
        return RankTable(self.columns.span(start, stop), kept, self.known[start:stop])

    def _ranked(self, which: Indices, values: Matrix | None) -> NDArray[np.int32]:
        found = np.empty((len(which), self.columns.n_rows), np.int32)
        width = max(1, MAX_BLOCK_VALUES // self.columns.n_rows)
        for some in (slice(start, start + width) for start in range(0, len(which), width)):
            rows = self.columns.read(which[some]).T if values is None else values[some]
            # numbers as all measures see them: ties are decided in double precision
            found[some] = 2 * average_ranks(np.asarray(rows, dtype=np.float64))
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {"columns": self.columns, "kept": None, "known": self.known, "cache": {}}
