"""Brings features and target to rows without gaps, and gathers all that is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Indices
from .messages import quoted
from .missing import rows_with_target, without_missing
from .texts import COMMAS, disguise_of, names_like_dates, problems_of_texts

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Complete:
    """Features and target in the rows that are left, what was done, and what must be mended."""

    features: pd.DataFrame
    y: pd.Series[Any]
    rows: Indices
    notes: list[str]
    problems: list[str] = field(default_factory=list)


def complete(
    features: pd.DataFrame, y: pd.Series[Any] | None, missing: str, missing_target: str
) -> Complete:
    """Leave out rows without a target, which no rule can fill; then drop or fill features.

    Without a target the features are checked all the same.
    """
    import pandas as pd

    notes, problems = [], []
    known = np.arange(len(features))
    if y is None:
        y = pd.Series(np.zeros(len(features)), index=features.index)
    else:
        known, note, problem = rows_with_target(y, missing_target, missing)
        notes += [note] if note else []
        problems += [problem] if problem else []
        problems += _problems_of_target(y.reset_index(drop=True).dropna())
    there = features if len(known) == len(features) else features.iloc[known]
    left = there.reset_index(drop=True)
    try:
        left, more = without_missing(left, missing)
        notes += more
    except ValueError as error:
        problems.append(str(error))
    rows = known[left.index.to_numpy()]
    problems += problems_of_texts(left.set_axis(rows))
    notes += _constant(left) + names_like_dates(left.columns)
    return Complete(left.set_axis(features.index[rows]), y.iloc[rows], rows, notes, problems)


def _problems_of_target(known: pd.Series[Any]) -> list[str]:
    """What is wrong with a target of text that is neither labels nor numbers with commas.

    Those are told where the target is read, for they may be meant as labels.
    """
    text = getattr(known.dtype, "kind", "O") not in "biuf"
    fault = disguise_of(known) if text else None
    if fault is None or fault.holds == COMMAS:
        return []
    return [f"the target {known.name!r} holds {fault}."]


def _constant(features: pd.DataFrame) -> list[str]:
    """Say which columns are the same in all rows."""
    kinds = [getattr(dtype, "kind", "O") in "biuf" for dtype in features.dtypes]
    numbers, others = np.flatnonzero(kinds), np.flatnonzero(~np.array(kinds, dtype=bool))
    values = features.iloc[:, numbers].to_numpy()
    same = [int(k) for k in numbers[(values == values[:1]).all(axis=0)]]
    same += [int(k) for k in others if features.iloc[:, k].nunique(dropna=False) == 1]
    names = [features.columns[k] for k in sorted(same)]
    return [f"constant, so nothing can be told of them: {quoted(names)}"] if names else []
