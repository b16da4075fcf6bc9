"""Turns messages of the command into notes of the page: text, and a button for every cure."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ..problems import ANY, MARKED, Problem, as_argument, message_of, render
from .settings import LISTS, READING

MISSING = {  # what is done about gaps, by the values of an option
    "drop-columns": "leave out columns with gaps",
    "drop-rows": "leave out rows with gaps",
    "impute-median": "fill gaps with the median",
    "impute-mean": "fill gaps with the mean",
    "impute-mode": "fill gaps with the most frequent value",
}
LIMITS = {"limit": "read <0.5 as 0.5", "half": "read <0.5 as half of it"}
LABELS: dict[str, Callable[[Any], str]] = {  # what a button says, by setting
    "drop": lambda name: f"leave out {name}",
    "annotation": lambda name: f"{name} describes and is no value",
    "na": lambda mark: "these are values" if mark == "none" else f"read {mark} as missing",
    "id": lambda name: f"{name} holds the ids of samples",
    "transpose": lambda _: "features are in rows",
    "missing": lambda how: MISSING.get(how, how),
    "missing_target": lambda how: f"rows without a target: {how}",
    "limits": lambda how: LIMITS.get(how, how),
    "decimal": lambda mark: f"decimal mark {mark}",
    "sep": lambda mark: f"columns are parted by {mark}",
    "encoding": lambda name: f"encoding {name}",
    "format": lambda name: f"it is {name}",
    "target_type": lambda kind: f"the target is {kind}",
    "layer": lambda name: f"layer {name}",
    "sheet": lambda name: f"sheet {name}",
}
NAMED = {  # where a message gives no value to choose
    "target": "the role “target”",
    "pheno": "a second file",
    "groups": "the role “groups of rows”",
    "covariates": "the role “adjust for”",
    "drop": "the role “leave out”",
    "id": "the column of ids",
    "header_row": "the row of the header",
    "transpose": "“features are in rows”",
    "max_memory": "memory",
    "missing": "what to do about gaps:",
}
LISTED = {"missing": MISSING, "limits": LIMITS}  # whose values a message may name after them
RENAMED = {"target": "target_type"}  # an argument of `select`, which reading calls otherwise


@dataclass(frozen=True)
class Cure:
    """A change of one setting that a message proposes."""

    name: str
    value: Any
    label: str


@dataclass(frozen=True)
class Note:
    """Something to know of a table: a ``problem``, a ``warning`` or a ``note``, with its cures."""

    kind: str
    text: str
    cures: tuple[Cure, ...] = ()

    @property
    def as_json(self) -> dict[str, Any]:
        """The same as values that JSON can hold."""
        return asdict(self)


def notes_of(kind: str, found: BaseException | str) -> list[Note]:
    """A note for each thing that a message says."""
    parts: tuple[Any, ...] = found.parts if isinstance(found, Problem) and found.parts else (found,)
    messages = [one if isinstance(one, str) else message_of(one) for one in parts]
    return [Note(kind, render(text, _in_words), cures_in(text)) for text in messages]


def cures_in(message: str) -> tuple[Cure, ...]:
    """The changes that a message proposes, by the settings that are marked in it.

    >>> from smrmr.problems import setting
    >>> [cure.label for cure in cures_in(f"Use {setting('na', ['-9', '-99'])}.")]
    ['read -9, -99 as missing']
    """
    cures = []
    for name, text in MARKED.findall(message):
        called, value = _called(name), _value(text)
        if value is None:
            named = [one for one in LISTED.get(called, ()) if one in message]
            cures += [Cure(called, one, _label(called, one)) for one in named]
        elif called in LABELS:
            cures.append(Cure(called, value, _label(called, value)))
    return tuple(dict.fromkeys(cures))


def change(settings: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """The settings with a cure."""
    if name not in LABELS or not (name in READING or name in LISTS or name == "target_type"):
        return settings
    if name not in LISTS:
        return settings | {name: value}
    before = [] if value in ("none", ["none"]) else settings.get(name, [])
    more = value if isinstance(value, list) else [value]
    return settings | {name: [*before, *(one for one in more if one not in before)]}


def _called(name: str) -> str:
    scope, _, plain = name.rpartition(".")
    return plain if scope else RENAMED.get(name, name)


def _value(text: str) -> Any:
    """The value of a setting that a message gives, None if it gives none."""
    if text in ("", ANY):
        return None
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return None
    return tuple(map(str, value)) if isinstance(value, list | tuple) else value


def _label(name: str, value: Any) -> str:
    return LABELS[name](", ".join(value) if isinstance(value, tuple) else value)


def _in_words(name: str, text: str) -> str:
    """A setting within a message: as its button says it."""
    called, value = _called(name), _value(text)
    if called in LABELS and value is not None:
        return f"“{_label(called, value)}”"
    return NAMED.get(called, as_argument(name, text) if name else "")
