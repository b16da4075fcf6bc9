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
    """Check features and target, and that they have the same rows.

    Examples
    --------
    >>> import numpy as np
    >>> study = read_study(np.random.default_rng(0).normal(size=(30, 4)), ["ill", "well"] * 15)
    >>> study.columns.n_columns, study.target.labels
    (4, ('ill', 'well'))
    """
    study = Study(as_columns(X), as_target(y, target))
    check_same_rows(study.columns, study.target)
    return study
