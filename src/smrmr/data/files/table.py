"""Defines Table: samples in rows, features in columns, and what else is known of the samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Table:
    """What a reader returns.

    Attributes
    ----------
    features
        One column a feature, one row a sample; the index holds the sample ids.
    about
        What else the file knows of the samples (obs, phenotypes, y), in the same rows.
    target
        Name of the column of `about` that is the target unless the user names another.
    notes
        What the reader decided that the user should know.
    """

    features: pd.DataFrame
    about: pd.DataFrame
    target: str | None = None
    notes: list[str] = field(default_factory=list)


def did_you_mean(name: str, known: Any) -> str:
    """Suggest names like the one that was not found."""
    known = [str(k) for k in known]
    lowered = {k.lower(): k for k in known}
    close = get_close_matches(name, known, n=3) or [
        lowered[k] for k in get_close_matches(name.lower(), list(lowered), n=3)
    ]
    if close:
        return f" Did you mean {' or '.join(map(repr, close))}?"
    shown = ", ".join(map(repr, known[:5])) + (
        f" and {len(known) - 5} more" if len(known) > 5 else ""
    )
    return f" There are {shown}." if known else ""
