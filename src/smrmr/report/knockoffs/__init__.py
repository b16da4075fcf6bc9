"""What the report shows of a knockoff filter: figures; words.txt and captions.html say the rest."""

from .plots import figures, most_false

__all__ = ["figures", "most_false"]
