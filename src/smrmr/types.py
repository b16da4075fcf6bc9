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
"""Called as ``progress(stage, done, total)``; `stage` names the work."""


@dataclass(frozen=True)
class Block:
    """A few columns of one kind, one row of `values` each, ready for a measure.

    Numbers are float64, or int8 where the data came that small. Nominal columns hold class numbers
    in order of first appearance, so renaming classes cannot change anything downstream.
    """

    values: NDArray[Any]
    columns: Indices
    nominal: bool

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.values.shape[1])

    def take(self, rows: Mask | Indices) -> Block:
        """Return the block of the chosen columns."""
        return Block(self.values[rows], self.columns[rows], self.nominal)


def class_size(n_classes: Any) -> Any:
    """Group numbers of classes by powers of 4: columns of like numbers are prepared together."""
    return np.log2(n_classes + 1) // 2


@dataclass(frozen=True)
class Target:
    """The target y with its type settled.

    `values` is (n,) for ``"continuous"`` and (n, q) for ``"multi-output"``; for ``"classes"`` it
    holds class numbers in order of first appearance, and `labels` the names of the classes.
    """

    kind: str
    values: Vector
    labels: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.values.shape[0])

    @property
    def vectors(self) -> NDArray[np.float64]:
        """The samples as one set of points, (1, q, n)."""
        return np.ascontiguousarray(self.values.reshape(self.n_rows, -1).T)[None]

    def block(self) -> Block:
        """The target as a block of one column; it must not be multi-output."""
        return Block(self.values[None, :], np.zeros(1, np.intp), self.kind == "classes")


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
    `smrmr.association`, so a measure supplies inner products only.
    """

    def prepare(self, block: Block, use: Use) -> list[Part]:
        """Sort the columns of a block into parts that are multiplied in one way each."""

    def prepare_target(self, target: Target) -> Part:
        """Embed the target."""

    def inner(self, a: Any, b: Any) -> Matrix:
        """Inner products of every embedding of part `a` with every embedding of part `b`.

        Of a part with itself only the upper triangle is read.
        """

    def bytes_per_column(self, n_rows: int, use: Use) -> int:
        """Upper estimate of what a prepared column of numbers holds in memory."""

    def tile(self, target: Target | None) -> int:
        """How many columns a block should have; fixed, so that `n_jobs` cannot change a bit."""
