"""What the page asks of an answer: at a level, about a feature, about a set of features."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..data.messages import position_of
from ..report.words import say
from ..selection import Selection
from .folders import Entry, NotThere

SHOWN = ("q_value", "direction", "shape")  # columns beside the name of a feature
MOST = 200  # findings that are listed


def selection_of(run: Entry) -> Selection:
    """The answer of a run."""
    path = run.path / "answer" / "selection.json"
    if not path.exists():
        raise NotThere("selection.json")
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _read(path: Path, _: int) -> Selection:
    return Selection.from_json(path.read_text(encoding="utf-8"))


def at_level(run: Entry, level: float | None) -> Selection:
    """The answer at a level, which needs no new fit."""
    found = selection_of(run)
    return found if level is None or level == found.fdr else found.at(level)


def listed(found: Selection) -> dict[str, Any]:
    """What an answer says in a few lines, and its findings."""
    table = found.findings()
    shown = ["feature", *(name for name in SHOWN if name in table)]
    rows = [[_written(cell) for cell in row] for row in table[shown][:MOST].itertuples(index=False)]
    return {
        "level": found.fdr,
        "count": say(found, "counted"),
        "heads": [name.replace("_", "-" if name == "q_value" else " ") for name in shown],
        "rows": rows,
        "more": max(0, len(table) - MOST),
    }


def _written(cell: Any) -> str:
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)


def methods(found: Selection) -> str:
    """The paragraph for a methods section."""
    return say(found, "methods")


def bound(found: Selection, text: str, layer: str) -> str:
    """At least how many features of a set are true, in a sentence; names stand on lines."""
    names = [name.strip() for name in re.split(r"[\n\t;]|,(?= |$)", text) if name.strip()]
    if len(names) == 1 and names[0] not in found.names:
        names = [name.strip() for name in names[0].split(",") if name.strip()]
    if not names:
        raise ValueError("name one feature or more, each on its own line.")
    for name in names:
        position_of(name, found.names)
    features = list(dict.fromkeys(names))
    least = found.at_least(features, layer=layer)
    true = "associated with the target" if layer == "associated" else "true on their own"
    return f"At least {least:,} of these {len(features):,} are {true}, with confidence 0.9."
