"""What the report shows of conditional tests: figures; words.txt and captions.html say the rest."""

from .checks import CHECKS
from .plots import FIGURES, kinds_of_fit

__all__ = ["CHECKS", "FIGURES", "kinds_of_fit"]
