"""What the report shows of a knockoff filter: figures; words.txt and captions.html say the rest."""

from .plots import FIGURES, most_false

__all__ = ["FIGURES", "most_false"]
