"""Puts a selection into words; the sentences are in words.txt, and in a file per controller."""

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment, FunctionLoader, StrictUndefined

from ..decision import LEVELS
from ..paper.threshold import fewest_selectable
from ..power.words import forms_tried, level_attained, level_failed, ruled_out, smallest_effect
from ..recipe import Recipe
from ..selection import Selection
from ..selection.annotations import called
from ..selection.conditional import columns_by_direction
from ..selection.counts import count_features
from ..selection.pairs import best_pair, higher_class
from .marks import short

HIGHEST = 0.5  # level that is worth naming: beyond, more than half may be false
MOST_PAIRS = 3  # near misses among pairs that are named
FOLDERS = {"tests": "conditional", "knockoffs": "knockoffs"}  # by kind of evidence


def own_file(name: str) -> str:
    """The content of a file beside this one."""
    return files(__package__).joinpath(*name.split("/")).read_text(encoding="utf-8")


@cache
def environment(autoescape: bool) -> Environment:
    """Where templates are read from, and what they may use."""
    made = Environment(
        loader=FunctionLoader(own_file),
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["comma"] = "{:,}".format
    made.filters["count"] = lambda n, noun: f"{n:,} {noun}{'s' * (n != 1)}"
    made.filters["percent"] = lambda level: f"{100 * level:.3g}%"
    made.filters["short"] = short
    digits = {"whole": ".0f", "tenth": ".1f", "hundredth": ".2f", "two_digits": ".2g"}
    made.filters |= {name: f"{{:{digit}}}".format for name, digit in digits.items()}
    made.globals |= {"infinity": np.inf, "fewest_selectable": fewest_selectable}
    made.globals |= {"columns_by_direction": columns_by_direction, "zip": zip}
    made.globals |= {"level_attained": level_attained, "smallest_effect": smallest_effect}
    made.globals |= {
        "level_failed": level_failed,
        "ruled_out": ruled_out,
        "forms_tried": forms_tried,
    }
    made.globals |= {"count_features": count_features}
    made.globals |= {"pair_of": pair_of, "higher_class": higher_class}
    return made


def say(selection: Selection, what: str, **details: Any) -> str:
    """One of the passages, in whole sentences: the controller's own, or that of every report."""
    return _passage(selection.evidence.kind, what, selection, **details)


def detectable_effect(recipe: Recipe, n_features: int) -> str:
    """How small p-values, or how many large W, it takes for any feature to be selected."""
    if recipe.n_features is not None:
        return ""
    if recipe.only is not None:
        n_features = 1 if isinstance(recipe.only, str | int) else len(recipe.only)
    return _passage(recipe.controller.alias, "detectable_effect", recipe, n_features=n_features)


def _passage(kind: str, what: str, about: Any, **details: Any) -> str:
    texts = environment(autoescape=False)
    for name in (f"{FOLDERS[kind]}/words.txt", "words.txt"):
        passage = getattr(texts.get_template(name).module, what, None)
        if passage is not None:
            return " ".join(passage(about, **details).split())
    raise KeyError(what)


def say_items(selection: Selection, what: str) -> list[str]:
    """The items of a passage that is a list."""
    return [item.strip() for item in say(selection, what).split(" |")]


def about_columns(selection: Selection) -> dict[str, str]:
    """What columns of tables hold, by name: those whose heads say too little."""
    return dict(item.split(": ", 1) for item in say_items(selection, "columns"))


def advice(selection: Selection) -> str:
    """What to do next in Python if nothing was selected; else nothing."""
    if selection.selected.size:
        return ""
    level = level_that_selects(selection)
    n_then = 0 if level is None else len(selection.at(level, on_empty="none").selected)
    other = say(selection, "other_way")
    return say(selection, "advice", level=level, n_then=n_then, other=other)


def level_that_selects(selection: Selection) -> float | None:
    """The smallest level of three digits, 0.5 at most, that selects something; else None."""
    smallest = selection.decision.smallest_level
    if not smallest < 1:
        return None
    unit = 10.0 ** (np.floor(np.log10(smallest)) - 2)
    level = float(f"{np.ceil(smallest / unit - 1e-6) * unit:.3g}")
    return level if level <= HIGHEST else None


def explain(selection: Selection, feature: str | int) -> str:
    """What became of a feature, and why, in a few sentences.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    feature
        Its name, or its position in X.

    Returns
    -------
    str
        The sentences.

    Raises
    ------
    ValueError
        If there is no such feature; the message names those that are spelt alike.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> from smrmr.report import explain
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y)
    >>> explain(found, "x5").split(" (")[0]
    'x5 is selected at FDR 0.1'
    """
    k = selection.position(feature)
    name, leader, outcome = called(selection, k), int(selection.leaders[k]), selection.outcomes[k]
    if outcome in ("constant", "always kept", "only adjusted for"):
        return say(selection, outcome.replace(" ", "_"), name=name)
    if leader != k:
        copy = say(selection, "copy", name=name, leader=called(selection, leader))
        return f"{copy} {explain(selection, leader)}"
    shown_by = int(selection.found_with[k])
    if shown_by not in (-1, k):
        group = say(selection, "within", name=name, representative=shown_by)
        return f"{group} {explain(selection, shown_by)}"
    near = selection.presentation.neighbours(selection, k)
    return say(selection, "explain", k=k, name=name, neighbours=near)


def pair_of(selection: Selection, k: int) -> dict[str, Any] | None:
    """The best pair of a feature, or of the group that it represents, and itself as its feature.

    None if that is neither selected nor a near miss.
    """
    shown = selection.selected.tolist()
    found = best_pair(selection, selection.members[shown.index(k)] if k in shown else np.array([k]))
    if found is None:
        return None
    row: dict[str, Any] = selection.pairs.iloc[found[0]].to_dict()
    if found[1] == 1:
        row["feature"], row["partner"] = row["partner"], row["feature"]
    return row if row["selected"] or row["q_value"] <= HIGHEST else None


def near_miss_pairs(selection: Selection) -> list[dict[str, Any]]:
    """The best pairs that are not selected, as rows, if a level worth naming selects them."""
    table = selection.pairs
    near = ~table["selected"] & (table["q_value"] <= HIGHEST)
    found: list[dict[str, Any]] = table[near][:MOST_PAIRS].to_dict("records")
    return found


def counts_by_level(selection: Selection) -> list[tuple[float, int]]:
    """How many features usual levels would select."""
    return [(level, len(selection.at(level, on_empty="none").selected)) for level in LEVELS]


def why_nothing(selection: Selection) -> str:
    """Why the selection is empty and at which level it would not be; else nothing."""
    if selection.selected.size:
        return ""
    level = min(selection.decision.smallest_level * (1 + 1e-9), 1 - 1e-9)
    n_then = len(selection.at(level).selected)
    return say(selection, "why_nothing", needed=say(selection, "needed"), n_then=n_then)


def warnings(selection: Selection) -> list[str]:
    """What a reader must know before using the result."""
    broken = [] if selection.decision.guaranteed else [say(selection, "promise")]
    return [*filter(None, say_items(selection, "doubts")), *broken]
