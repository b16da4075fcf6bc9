"""Says what was found in a few sentences: the headline, and what it rests on."""

from ..power.words import doubts_of_check
from ..selection import Selection
from .checks import checked
from .figures import REPORT_PARTS
from .words import advice, near_miss_pairs, say


def headline(selection: Selection, lacking: str = "") -> str:
    """The answer layer by layer, and checks that put it in doubt; why nothing was selected."""
    signals = say(selection, "decided", lacking=lacking)
    return say(selection, "headline", signals=signals, doubts=doubts(selection))


def doubts(selection: Selection) -> list[str]:
    """What puts the level in doubt: first that it does not hold on this table, then checks."""
    table = selection.table_check
    measured = [] if table is None else doubts_of_check(table)
    every = checked(selection, REPORT_PARTS[selection.evidence.kind].CHECKS)
    return measured + [
        verdict.text
        for _, check, verdict in every
        if check.of_level and verdict.word == "look at this" and not verdict.level_holds
    ]


def statement(selection: Selection, *, name_near_misses: bool = True) -> str:
    """What was decided and what that rests on, in a few sentences.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.
    name_near_misses
        Name the best of what was not selected, where nothing was.

    Returns
    -------
    str
        The sentences.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> from smrmr.report import statement
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y)
    >>> statement(found).split(". ")[0]
    '2 of 12 features are associated with the target (each alone, FDR 0.1)'
    """
    empty = name_near_misses and not selection.selected.size
    rows = selection.near_misses().to_dict("records") if empty else []
    failed = selection.table_check is not None and selection.table_check.broken
    parts = [
        headline(selection, lacking=say(selection, "lacking")),
        "" if selection.selected.size else say(selection, "could_have_shown"),
        "" if failed else say(selection, "conditions"),
        say(selection, "near_misses", rows=rows),
        say(selection, "near_miss_pairs", rows=near_miss_pairs(selection) if empty else []),
    ]
    return " ".join(filter(None, parts))


def statement_with_advice(selection: Selection) -> str:
    """What `statement` says and, if nothing was selected, what to do next in Python.

    This is ``str()`` of a `smrmr.Selection`.

    Parameters
    ----------
    selection
        What `smrmr.select` returned.

    Returns
    -------
    str
        The sentences.

    Examples
    --------
    >>> from smrmr import select, simulate
    >>> from smrmr.report import statement, statement_with_advice
    >>> data = simulate("1.a", n=80, p=12, random_state=2)
    >>> found = select(data.X, data.y)
    >>> statement_with_advice(found) == statement(found)  # something was selected
    True
    """
    return f"{statement(selection)} {advice(selection)}".strip()
