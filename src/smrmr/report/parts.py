"""States what the report shows of one kind of evidence, and names the folders that hold it."""

from typing import Protocol

from . import conditional, knockoffs
from .checks import Checks
from .features import Figures


class ReportParts(Protocol):
    """Checks and figures by name; words.txt and captions.html of the same folder say the rest."""

    CHECKS: Checks
    FIGURES: Figures


REPORT_PARTS: dict[str, ReportParts] = {"tests": conditional, "knockoffs": knockoffs}
