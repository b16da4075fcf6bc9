"""What the report shows of a knockoff filter: figures; words.txt and captions.html say the rest."""

from .checks import CHECKS
from .plots import FIGURES, most_false

__all__ = ["CHECKS", "FIGURES", "most_false"]
