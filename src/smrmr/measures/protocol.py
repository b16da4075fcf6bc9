"""Says what a measure must offer: embeddings of columns, and their inner products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from ..data.columns import Block
from ..data.target import Target
from ..types import Indices, Matrix, Vector


@dataclass(frozen=True)
class Use:
    """What a prepared column is for: how many partners it will meet, and how many at a time."""

    partners: int
    at_once: int


ONCE = Use(partners=1, at_once=1)


class Part(Protocol):
    """Columns of one kind, prepared so that inner products of their embeddings are cheap."""

    @property
    def columns(self) -> Indices:
        """Positions of the columns in the data."""

    @property
    def energies(self) -> Vector:
        """Squared norm of every embedding; 0 marks a constant column."""


class Measure(Protocol):
    """A dependence measure: embeds columns and multiplies embeddings.

    The association of two columns is the cosine of their embeddings; the normalisation lives in
    `smrmr.association`, so a measure supplies inner products only. `by_rank` says whether only the
    order of values counts, so that monotone transforms are copies. `pair_tile` and `target_tile`
    are how many columns a block should have that is measured against others, and against the
    target; they are fixed, so that ``n_jobs`` cannot change a bit.
    """

    by_rank: ClassVar[bool] = False
    pair_tile: ClassVar[int] = 128  # wide enough for matrix products to run at full speed
    target_tile: ClassVar[int] = 128

    def prepare(self, block: Block, use: Use) -> list[Part]:
        """Sort the columns of a block into parts that are multiplied in one way each.

        Parameters
        ----------
        block
            Neighbouring columns of the data, all numbers or all classes, as rows of an array.
        use
            How many partners a column will meet, and how many at a time.

        Returns
        -------
        list of Part
            Embeddings, with the positions of their columns in the data.
        """

    def prepare_target(self, target: Target) -> Part:
        """Embed the target.

        Parameters
        ----------
        target
            The target as it was read: numbers, classes, or several outputs.

        Returns
        -------
        Part
            A single embedding.
        """

    def inner(self, a: Any, b: Any) -> Matrix:
        """Inner products of every embedding of one part with every embedding of another.

        Of a part with itself only the upper triangle is read.

        Parameters
        ----------
        a, b
            Two parts that `prepare` or `prepare_target` returned.

        Returns
        -------
        ndarray
            One row for each embedding of `a`, one column for each of `b`.
        """

    def bytes_per_column(self, n_rows: int, use: Use) -> int:
        """Upper estimate of what a prepared column of numbers holds in memory.

        Parameters
        ----------
        n_rows
            Number of samples.
        use
            What the column is prepared for.

        Returns
        -------
        int
            Bytes.
        """

    def in_fixed_units(self, values: Matrix, target: Target) -> tuple[Measure, Matrix, Target]:
        """Measure, columns and target such that subsets of the rows are measured in one unit.

        Most measures have no units and need not define this.

        Parameters
        ----------
        values
            All columns.
        target
            The target.

        Returns
        -------
        tuple
            The measure to use, and columns and target in its units.
        """
        return self, values, target
