"""Says of every diagnostic in a line whether all is fine, and holds those of every controller."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ..selection import Selection
from .features import adjusting_plot, redundancy_plot
from .marks import Plot, short
from .words import say

ALIKE = 0.25  # association from which on two findings tell much the same: correlation of a half


@dataclass(frozen=True)
class Verdict:
    """What came out of a check, in a word and in a sentence."""

    word: Literal["fine", "look at this", "not tested"]
    told: str


@dataclass(frozen=True)
class Check:
    """What a check asks, how it is answered, and the figure that shows it, if there is one.

    `adjusted` ones are asked only where covariates were adjusted for.
    """

    asks: str
    verdict: Callable[[Selection], Verdict]
    figure: Callable[[Selection], Plot] | None = None
    adjusted: bool = False


Checks: TypeAlias = dict[str, Check]


def fine(told: str) -> Verdict:
    """Nothing to worry about."""
    return Verdict("fine", told)


def look(told: str) -> Verdict:
    """Something to think about before using the result."""
    return Verdict("look at this", told)


def not_tested(told: str) -> Verdict:
    """What nobody looked at, or could."""
    return Verdict("not tested", told)


def rows_verdict(selection: Selection) -> Verdict:
    """Whether rows are independent: what the user said of them, which no number can tell."""
    return not_tested(f"It is taken for granted. {say(selection, 'independence')}")


def redundancy_verdict(selection: Selection) -> Verdict:
    """Whether two findings tell much the same."""
    picture = selection.picture
    drawn = np.flatnonzero(np.isin(picture.features, selection.selected))
    if len(drawn) < 2:
        return fine("There are no two findings that could repeat each other.")
    between = np.triu(picture.redundancy[np.ix_(drawn, drawn)], 1)
    i, j = np.unravel_index(np.argmax(between), between.shape)
    one, other = (short(selection.names[picture.features[drawn[at]]]) for at in (i, j))
    most = f"{one} and {other} are the most alike, with an association of {between[i, j]:.2f}"
    if between[i, j] > ALIKE:
        return look(f"Some findings tell much the same: {most}.")
    return fine(f"Every finding tells something else: {most} out of 1.")


def adjusting_verdict(selection: Selection) -> Verdict:
    """What adjusting for covariates changed."""
    before, after = selection.unadjusted, selection.relevance
    top = np.argsort(-before, kind="stable")[:10]
    gone = top[after[top] < before[top] / 2]
    if gone.size:
        names = say(selection, "listed_names", features=gone)
        return look(
            "Of the 10 most relevant features these lose over half of their relevance once "
            f"covariates are adjusted for: {names}."
        )
    return fine("The 10 most relevant features keep over half of their relevance.")


def checked(selection: Selection, checks: Checks) -> list[tuple[str, Check, Verdict]]:
    """The checks of a selection by name, each with its verdict."""
    asked = {
        k: check for k, check in checks.items() if selection.unadjusted.size or not check.adjusted
    }
    return [(name, check, check.verdict(selection)) for name, check in asked.items()]


EVERY: Checks = {
    "redundancy": Check("Do findings repeat each other?", redundancy_verdict, redundancy_plot),
    "adjusting": Check("What did adjusting change?", adjusting_verdict, adjusting_plot, True),
    "rows": Check("Are the rows independent of each other?", rows_verdict),
}
