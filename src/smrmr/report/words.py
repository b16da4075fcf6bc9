"""Says in words what was asked, what was found and what that promises."""

from __future__ import annotations

import numpy as np

from ..control.decision import Decision, false_discovery_bounds
from ..selection import Selection
from .marks import short


def asked(selection: Selection) -> str:
    """The question, in one sentence."""
    classes = len(selection.shown.labels)
    column = selection.source.get("target column")
    target = {
        "classes": f"which of {classes} classes a row belongs to",
        "multi-output": "the target values",
    }.get(selection.target, "the target value")
    named = f" ({short(column)})" if column else ""
    return (
        f"Which of {selection.n_features:,} features help to tell {target}{named}, going by "
        f"{selection.n_rows:,} rows, if at most {_percent(selection.fdr)} of the features named "
        "may be expected to be false?"
    )


def found(selection: Selection) -> str:
    """The answer, in one sentence."""
    rule, n = _rule(selection), len(selection.selected)
    if rule == "best feature":
        return (
            "No level selects anything; the single best feature is named below, and it may well "
            "be chance."
        )
    if rule == "relaxed":
        return (
            f"Nothing stands out at the {_percent(selection.fdr)} level; {count(n, 'feature')} "
            f"would at {_percent(selection.level)}, a level chosen after looking at the data."
        )
    if n:
        draws = len(selection.draws)
        over = f" over {draws} random splits and draws of knockoffs" if draws > 1 else ""
        stand = "stands" if n == 1 else "stand"
        return f"{count(n, 'feature')} of {selection.n_features:,} {stand} out{over}."
    return f"No feature stands out enough to be named at the {_percent(selection.fdr)} level."


def why_nothing(selection: Selection) -> str:
    """Why the selection is empty and at which level it would not be; else nothing."""
    if selection.selected.size:
        return ""
    decision = selection.decision
    if not isinstance(decision, Decision):
        return _why_nothing_over_draws(selection)
    needed = (
        f"At this level at least {decision.n_needed} features must beat their knockoffs together, "
        "each by more than knockoffs beat features elsewhere"
    )
    if decision.smallest_level == np.inf:
        return f"{needed}, and no level would select anything."
    level = decision.smallest_level
    n = len(selection.at(min(level, 1 - 1e-9)).selected)
    return (
        f"{needed}. The smallest level that selects something is {level:.3g}, which would name "
        f"{count(n, 'feature')}; a level chosen after looking promises nothing, but it can guide "
        "the next study."
    )


def _why_nothing_over_draws(selection: Selection) -> str:
    low = int(np.floor(selection.fdr * 20 + 1e-9)) + 1
    for level in (step / 20 for step in range(low, 20)):
        n = len(selection.at(level).selected)
        if n:
            return (
                f"Evidence was averaged over {len(selection.draws)} draws and did not suffice. The "
                f"smallest level, in steps of 0.05, that selects something is {level:.2g}, which "
                f"would name {count(n, 'feature')}; a level chosen after looking promises nothing."
            )
    return (
        f"Evidence was averaged over {len(selection.draws)} draws and did not suffice; no level "
        "up to 0.95 would select anything."
    )


def promise(selection: Selection) -> str:
    """What the level means, for someone who has not met it."""
    level = _percent(selection.fdr)
    if _rule(selection) in ("relaxed", "best feature"):
        return (
            f"The promise of {level} does not hold for this list, because the level was raised "
            "until something was found. Treat the features as leads to be tested on new data."
        )
    return (
        f"The false discovery rate is at most {selection.fdr:g}: averaged over many studies like "
        f"this one, at most {level} of the features named are false, that is, tell nothing about "
        "the target that the other features do not. A single list may hold more or fewer."
    )


def assumptions(selection: Selection) -> list[str]:
    """What the promise rests on."""
    draws = selection.draws
    held = []
    if any(draw.n_screen for draw in draws):
        kept, screened = len(draws[0].kept), draws[0].n_screen
        held.append(
            f"The screen kept every true feature: {screened} rows were used to reduce "
            f"{selection.n_features:,} features to {kept}."
        )
    bad = sum(not draw.diagnosis.passed for draw in draws)
    where = f" in {bad} of {len(draws)} draws" if len(draws) > 1 else ""
    verdict = (
        f"this was put in doubt by a test{where}" if bad else "three tests found no sign against"
    )
    held.append(
        "Knockoffs, the made-up twins that features compete with, are exchangeable with them: "
        f"{verdict}."
    )
    return held


def warnings(selection: Selection) -> list[str]:
    """What a reader must know before using the result."""
    said = []
    bad = [draw.diagnosis for draw in selection.draws if not draw.diagnosis.passed]
    if len(bad) > 0.1 * len(selection.draws):
        said.append(str(bad[0]))
    if _rule(selection) in ("relaxed", "best feature"):
        said.append(promise(selection))
    return said


def bound(selection: Selection) -> str:
    """The 95% bound on false features among the selected; nothing where it tells nothing."""
    n = len(selection.decision.selected)
    bounds = false_discovery_bounds(selection.W)
    if len(selection.draws) > 1 or not 0 < n <= len(bounds) or bounds[n - 1] >= n:
        return ""
    return (
        f"With 95% confidence at most {bounds[n - 1]} of the {n} are false; such bounds hold for "
        "every k at once."
    )


def count(n: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "feature"), count(1200, "feature")
    ('1 feature', '1,200 features')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


def _rule(selection: Selection) -> str:
    return getattr(selection.decision, "rule", "e-values")


def _percent(level: float) -> str:
    return f"{100 * level:.3g}%"
