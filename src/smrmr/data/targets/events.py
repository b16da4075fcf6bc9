"""Reads events of survival: who died, and who was lost to follow-up before, in whatever words."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...types import Mask, pd

HAPPENED = {
    *("1", "true", "t", "yes", "y", "event", "dead", "died", "deceased", "death"),
    *("relapse", "relapsed", "recurred", "recurrence", "progressed", "progression"),
    *("failed", "failure", "uncensored"),
}
DID_NOT = {
    *("0", "false", "f", "no", "n", "none", "alive", "living", "lived", "survived", "survivor"),
    *("censored", "censor", "lost"),
}
BY_R = (1, 2)  # censored and event in R's Surv
CODED = re.compile(r"([01])\s*[:=]\s*\D.*")  # 1:DECEASED, as cBioPortal writes it


def events_of(values: NDArray[Any]) -> Mask | None:
    """Where the event happened, as booleans, numbers or words say; None if they do not.

    1 and 2 are read as R's Surv does: 2 is the event.

    >>> events_of(np.array(["Dead", "alive"])).tolist(), events_of(np.array([1, 2])).tolist()
    ([True, False], [False, True])
    """
    if values.dtype.kind == "b":
        return values
    if values.dtype.kind in "iuf":
        return _from_numbers(values)
    if values.dtype.kind not in "OUT" or pd.isna(values).any():
        return None
    texts = np.array([_word(value) for value in values], dtype=object)
    levels = set(texts)
    if levels <= HAPPENED | DID_NOT:
        return np.isin(texts, list(HAPPENED))
    if levels == {str(number) for number in BY_R}:
        return _from_numbers(texts.astype(np.float64))
    return None


def counted_by_r(values: NDArray[Any]) -> bool:
    """Whether events are 1 and 2."""
    return {_word(value) for value in np.unique(values.astype(str))} == {"1", "2"}


def _from_numbers(values: NDArray[Any]) -> Mask | None:
    if np.isin(values, (0, 1)).all():
        return np.asarray(values == 1)
    return np.asarray(values == BY_R[1]) if set(np.unique(values)) == set(BY_R) else None


def _word(value: Any) -> str:
    """A value as a word of the lists above, as far as it is one."""
    text = str(value).strip().lower()
    coded = CODED.fullmatch(text)
    return coded[1] if coded else text.removesuffix(".0")
