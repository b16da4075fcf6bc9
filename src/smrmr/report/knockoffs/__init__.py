"""What the report says of a knockoff filter: words, the methods paragraph, figures."""

from .methods import methods, references
from .plots import figures
from .words import assumptions, conditions, explain, facts, needed

__all__ = [
    "assumptions",
    "conditions",
    "explain",
    "facts",
    "figures",
    "methods",
    "needed",
    "references",
]
