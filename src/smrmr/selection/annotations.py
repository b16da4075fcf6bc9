"""Shows what tables say of features beside their names, such as symbols of genes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Indices, pd

if TYPE_CHECKING:
    from .selection import Selection

TAKEN = " (annotation)"  # after the name of one that is called like a column of a table


def annotations_of(names: tuple[str, ...], about: Any) -> dict[str, list[str]]:
    """Columns of a table about features as texts, in the order of these names; empty if unknown."""
    texts = about.astype(object).where(about.notna(), "").astype(str)
    texts = texts[~texts.index.duplicated()].reindex(list(names), fill_value="")
    return {str(name): texts.iloc[:, k].tolist() for k, name in enumerate(texts)}


def beside_names(frame: pd.DataFrame, selection: Selection, features: Indices) -> pd.DataFrame:
    """The frame, whose first column names these features, with their annotations after it."""
    for place, (name, texts) in enumerate(selection.annotations.items(), start=1):
        free = f"{name}{TAKEN}" if name in frame else name
        chosen = pd.Series([texts[k] for k in features], dtype=object)
        frame.insert(place, free, chosen.to_numpy())
    return frame


def first_annotation(selection: Selection) -> str | None:
    """The column of the first annotation in tables, None if there is none."""
    return next(iter(selection.annotations), None)


def called(selection: Selection, k: int) -> str:
    """Name of a feature, with its first annotation in brackets if that says something else."""
    name, first = selection.names[k], first_annotation(selection)
    text = "" if first is None else selection.annotations[first][k]
    return f"{name} ({text})" if text and text != name else name


def position_by_annotation(selection: Selection, text: str) -> int | None:
    """Position of the only feature that has this annotation; None if there is none, or several."""
    for texts in selection.annotations.values():
        found = np.flatnonzero([one == text for one in texts])
        if len(found) == 1:
            return int(found[0])
    return None
