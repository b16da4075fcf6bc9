"""What the report shows of conditional tests: figures; words.txt and captions.html say the rest."""

from .plots import FIGURES, kinds_of_fit

__all__ = ["FIGURES", "kinds_of_fit"]
