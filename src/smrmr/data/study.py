"""Joins features and target of the same samples, checked once."""

from __future__ import annotations

from dataclasses import dataclass

from ..types import Data
from .columns import Columns, as_columns
from .target import Target, as_target, check_same_rows


@dataclass(frozen=True)
class Study:
    """What a selection starts from: checked features and a checked target of the same samples."""

    columns: Columns
    target: Target


def read_study(X: Data, y: Data, target: str = "auto") -> Study:
    """Check the features, the target, and that they have the same number of rows.

    Parameters
    ----------
    X, y
        Features and target, as `as_columns` and `as_target` take them.
    target
        ``"auto"``, ``"continuous"`` or ``"classes"``.

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
