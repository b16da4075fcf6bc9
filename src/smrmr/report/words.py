"""Says what was asked, what was found, what that promises, and what became of a feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..selection import Selection
from . import knockoffs
from .marks import short
from .phrases import count, percent

ACCOUNTS: dict[str, Any] = {"knockoffs": knockoffs}
"""Words and figures of each kind of evidence: one folder per controller."""


def account_of(selection: Selection) -> Any:
    """The words and figures for the kind of evidence that a selection rests on."""
    return ACCOUNTS[selection.evidence.kind]


def statement(selection: Selection) -> str:
    """What was decided and what that rests on, in a few sentences."""
    return " ".join([str(selection.decision), *account_of(selection).conditions(selection)])


def explain(selection: Selection, feature: str | int) -> str:
    """What became of a feature, and why."""
    k = selection.position(feature)
    name, leader = selection.names[k], int(selection.leaders[k])
    if selection.outcome(k) == "constant":
        return f"{name} is constant, so it can tell nothing about the target."
    if leader != k:
        return f"{name} is a copy of {selection.names[leader]}. {explain(selection, leader)}"
    return str(account_of(selection).explain(selection, k))


def asked(selection: Selection) -> str:
    """The question, in one sentence."""
    classes = len(selection.picture.labels)
    column = selection.source.get("target column")
    target = {
        "classes": f"which of {classes} classes a row belongs to",
        "multi-output": "the target values",
    }.get(selection.target, "the target value")
    named = f" ({short(column)})" if column else ""
    return (
        f"Which of {selection.n_features:,} features help to tell {target}{named}, going by "
        f"{selection.n_rows:,} rows, if at most {percent(selection.fdr)} of the features named "
        "may be expected to be false?"
    )


def found(selection: Selection) -> str:
    """The answer, in one sentence."""
    decision, n = selection.decision, len(selection.selected)
    if decision.rule == "best feature":
        return (
            "No level selects anything; the single best feature is named below, and it may well "
            "be chance."
        )
    if decision.rule == "relaxed":
        return (
            f"Nothing stands out at the {percent(selection.fdr)} level; {count(n, 'feature')} "
            f"would at {percent(decision.level)}, a level chosen after looking at the data."
        )
    if n:
        stand = "stands" if n == 1 else "stand"
        return f"{count(n, 'feature')} of {selection.n_features:,} {stand} out."
    return f"No feature stands out enough to be named at the {percent(selection.fdr)} level."


def why_nothing(selection: Selection) -> str:
    """Why the selection is empty and at which level it would not be; else nothing."""
    if selection.selected.size:
        return ""
    needed = account_of(selection).needed(selection)
    level = selection.decision.smallest_level
    if level == np.inf:
        return f"{needed}, and no level would select anything."
    n = len(selection.at(min(level * (1 + 1e-9), 1 - 1e-9)).selected)
    return (
        f"{needed}. The smallest level that selects something is {level:.3g}, which would name "
        f"{count(n, 'feature')}; a level chosen after looking promises nothing, but it can guide "
        "the next study."
    )


def promise(selection: Selection) -> str:
    """What the level means, for someone who has not met it."""
    level = percent(selection.fdr)
    if not selection.decision.guaranteed:
        return (
            f"The promise of {level} does not hold for this list, because the level was raised "
            "until something was found. Treat the features as leads to be tested on new data."
        )
    return (
        f"The false discovery rate is at most {selection.fdr:g}: averaged over many studies like "
        f"this one, at most {level} of the features named are false, that is, tell nothing about "
        "the target that the other features do not. A single list may hold more or fewer."
    )


def warnings(selection: Selection) -> list[str]:
    """What a reader must know before using the result."""
    broken = [] if selection.decision.guaranteed else [promise(selection)]
    return [*map(str, selection.evidence.failed), *broken]


def data_shown(selection: Selection) -> str:
    """Whether the page holds data of single rows."""
    if selection.picture.values is None:
        return (
            "Lines and bands are medians, quartiles and 10% to 90% ranges of groups of rows. This "
            "page and selection.json hold no values of single rows."
        )
    return (
        f"Dots are single rows: this page and selection.json hold exact values of "
        f"{count(len(selection.picture.values), 'row')}, as was asked for. Think of that before "
        "you pass them on."
    )
