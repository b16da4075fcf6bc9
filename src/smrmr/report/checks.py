"""Says of every diagnostic in a line whether all is fine; these are the checks of every report."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from ..power.words import agrees, level_attained
from ..problems import in_python
from ..selection import Selection
from .marks import short
from .words import say

REDUNDANT = 0.25  # association above which two findings are redundant: a correlation of a half


@dataclass(frozen=True)
class Verdict:
    """What came out of a check, in a word and in a sentence.

    `level_holds` says that what is to be looked at costs power alone.
    """

    word: Literal["fine", "look at this", "not tested"]
    text: str
    level_holds: bool = False


@dataclass(frozen=True)
class Check:
    """A question about a selection and its answer; a figure of the same name may show it.

    `adjusted` ones are for selections with covariates; the headline names those `of_level` that
    fail.
    """

    question: str
    verdict: Callable[[Selection], Verdict]
    adjusted: bool = False
    of_level: bool = False


Checks: TypeAlias = dict[str, Check]


fine = partial(Verdict, "fine")  # nothing to worry about
doubtful = partial(Verdict, "look at this")  # something to think about before using the result
not_tested = partial(Verdict, "not tested")  # what was not checked, or cannot be


def rows_verdict(selection: Selection) -> Verdict:
    """Whether rows are independent, as far as repeated rows and neighbours show."""
    if found := in_python(selection.row_checks.found):
        return doubtful(found[0].upper() + found[1:])
    if not selection.row_checks.dependence:
        return not_tested(f"This is assumed. {say(selection, 'independence')}")
    return fine(say(selection, "rows_look_independent"))


def redundancy_verdict(selection: Selection) -> Verdict:
    """Whether two findings are strongly associated with each other."""
    data = selection.plot_data
    drawn = np.flatnonzero(np.isin(data.features, selection.selected))
    if len(drawn) < 2:
        return fine("There are no two findings that could be redundant.")
    between = np.triu(data.redundancy[np.ix_(drawn, drawn)], 1)
    i, j = np.unravel_index(np.argmax(between), between.shape)
    one, other = (short(selection.names[data.features[drawn[at]]]) for at in (i, j))
    most = f"{one} and {other} are the most similar, with an association of {between[i, j]:.2f}"
    if between[i, j] > REDUNDANT:
        return doubtful(f"Some findings carry much the same information: {most}.")
    return fine(f"No two findings carry the same information: {most} out of 1.")


def adjusting_verdict(selection: Selection) -> Verdict:
    """What adjusting for covariates changed."""
    before, after = selection.unadjusted, selection.relevance
    top = np.argsort(-before, kind="stable")[:10]
    gone = top[after[top] < before[top] / 2]
    if gone.size:
        names = say(selection, "listed_names", features=gone)
        return doubtful(
            "Of the 10 most relevant features these lose over half of their relevance when "
            f"adjusted for the covariates: {names}."
        )
    return fine("The 10 most relevant features keep over half of their relevance.")


def attained_verdict(selection: Selection) -> Verdict:
    """Whether the level holds on this table, as far as planted effects and shuffled targets show.

    Where it does not, the headline says so.
    """
    found = selection.table_check
    if found is None:
        return not_tested("selection.check(X, y) in Python, or smrmr check, measures it.")
    if found.broken:
        return doubtful(
            f"The rates of false findings exceed it ({', '.join(found.broken)}): see What this "
            "table can tell."
        )
    said = f"{level_attained(found)} {say(selection, 'unseen')}".strip()
    return fine(said) if agrees(found) and not selection.row_checks.found else doubtful(said)


def checked(selection: Selection, checks: Checks) -> list[tuple[str, Check, Verdict]]:
    """The checks of a selection by name, each with its verdict."""
    return [
        (name, check, check.verdict(selection))
        for name, check in checks.items()
        if selection.unadjusted.size or not check.adjusted
    ]


EVERY: Checks = {
    "redundancy": Check("Are findings redundant?", redundancy_verdict),
    "adjusting": Check("What did adjusting change?", adjusting_verdict, adjusted=True),
    "attained": Check("Does the level hold on this table?", attained_verdict),
    "rows": Check("Are the rows independent of each other?", rows_verdict, of_level=True),
}
