"""States what tables need of a kind of evidence, and names the modules that have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from ..types import Indices
from . import conditional, knockoffs

if TYPE_CHECKING:
    from .selection import Selection


class Presentation(Protocol):
    """How one kind of evidence is shown in tables.

    `MEASURED` is the column that features are ranked by, `SHOWN` those that fit a terminal.
    """

    MEASURED: str
    SHOWN: tuple[str, ...]

    def columns(
        self, selection: Selection, hypotheses: Indices | None = None
    ) -> dict[str, NDArray[Any]]:
        """Columns by name: of the representatives of these hypotheses, or of all features."""

    def outcomes(self, selection: Selection) -> NDArray[Any]:
        """What became of every feature that was not selected, in a word or two."""

    def neighbours(self, selection: Selection, k: int) -> list[tuple[int, float]]:
        """The features most associated with a feature, and how much."""

    def error_rate(self, selection: Selection) -> str:
        """What the level bounds."""


PRESENTATIONS: dict[str, Presentation] = {"tests": conditional, "knockoffs": knockoffs}
