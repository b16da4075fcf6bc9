"""Defines Study: features and target of the same samples, checked once."""

from __future__ import annotations

from dataclasses import dataclass

from ..types import Data, Indices
from .columns import Columns, as_columns
from .target import Target, as_target, check_same_rows, take_rows


@dataclass(frozen=True, eq=False)
class Study:
    """Features and target of the same samples."""

    columns: Columns
    target: Target

    def take(self, rows: Indices | None = None, columns: Indices | None = None) -> Study:
        """The chosen rows and columns."""
        target = self.target if rows is None else take_rows(self.target, rows)
        return Study(self.columns.take(rows, columns), target)


def read_study(X: Data, y: Data, target: str = "auto") -> Study:
    """Check features and target, and that they have the same rows."""
    columns, response = as_columns(X), as_target(y, target)
    check_same_rows(columns, response)
    return Study(columns, response)
