"""Names the array aliases and the Block, Part and Measure shapes that the stages hand over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]

Data: TypeAlias = Any
"""What users pass as X or y: arrays, nested lists, pandas objects."""

Kernel: TypeAlias = Callable[[Matrix, Matrix], Matrix]
"""A user's kernel: points (a, d) and (b, d) in, their (a, b) kernel matrix out."""

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called as ``progress(stage, done, total)``; `stage` is "relevance" or "redundancy"."""


@dataclass(frozen=True)
class Block:
    """A few columns of the data, one row of `values` each, ready for a measure.

    Numbers are float64, or int8 where the data came that small. A nominal column holds class
    numbers in order of first appearance, so renaming classes cannot change anything downstream.
    """

    values: NDArray[Any]
    nominal: Mask
    columns: Indices

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.values.shape[1])

    def take(self, rows: Mask | Indices) -> Block:
        """Return the block of the chosen columns."""
        return Block(self.values[rows], self.nominal[rows], self.columns[rows])


@dataclass(frozen=True)
class Target:
    """The target y with its type settled.

    `values` is (n,) for ``"continuous"`` and (n, q) for ``"multi-output"``; for ``"classes"`` it
    holds class numbers in order of first appearance.
    """

    kind: str
    values: Vector

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.values.shape[0])


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
    `smrmr.association`, so a measure supplies inner products only.
    """

    def prepare(self, block: Block, partners: int) -> list[Part]:
        """Sort the columns of a block into parts; `partners` is how many columns each will meet."""

    def prepare_target(self, target: Target, partners: int) -> Part:
        """Embed the target."""

    def inner(self, a: Any, b: Any) -> Matrix:
        """Inner products of every embedding of part `a` with every embedding of part `b`.

        Of a part with itself only the upper triangle is read.
        """

    def bytes_per_column(self, n_rows: int) -> int:
        """Upper estimate of what a prepared column holds in memory."""

    def tile(self, target: Target | None) -> int:
        """How many columns a block should have; fixed, so that `n_jobs` cannot change a bit."""
