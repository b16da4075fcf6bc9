"""Embeds a column by itself: squared correlation, see `Pearson`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..types import Block, Matrix, Part, Target
from .embedding import Factor, Factors, centred, inner
from .hsic import delta_parts
from .scaling import unit_scale


@dataclass(frozen=True)
class Pearson:
    """Squared Pearson correlation, alias ``"pearson"``.

    This is normalised HSIC with the linear kernel. Classes are one-hot vectors, and so is a
    multi-output target a vector: then the value is the RV coefficient.
    """

    def prepare(self, block: Block, partners: int) -> list[Part]:
        """Centre the columns; classes become one row a class."""
        parts: list[Part] = []
        if block.nominal.any():
            parts += delta_parts(block.take(block.nominal), block.n_rows)
            block = block.take(~block.nominal)
        if len(block.values):
            columns = centred(unit_scale(block.values))
            constant = block.values.max(axis=1) == block.values.min(axis=1)
            columns[constant] = 0.0  # not what rounding left of them
            factors = [Factor.of(column[None, :]) for column in columns]
            parts.append(Factors.of(block.columns, None, factors))
        return parts

    def prepare_target(self, target: Target, partners: int) -> Part:
        """Embed the target."""
        if target.kind == "multi-output":
            rows = centred(unit_scale(np.ascontiguousarray(target.values.T)[None])[0])
            return Factors.of(np.zeros(1, np.intp), None, [Factor.of(rows)])
        nominal = np.array([target.kind == "classes"])
        return self.prepare(Block(target.values[None, :], nominal, np.zeros(1, np.intp)), 1)[0]

    def inner(self, a: Any, b: Any) -> Matrix:
        """Squared inner products of centred columns."""
        return inner(a, b)

    def bytes_per_column(self, n_rows: int) -> int:
        """The centred column, twice while it is packed."""
        return 16 * n_rows

    def tile(self, target: Target | None) -> int:
        """Wide enough for matrix products to run at full speed."""
        return 128
