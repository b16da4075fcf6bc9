"""Maps "pc", "hsic", "dcor" and "pearson" to their measures."""

from ..settings import read_strategy
from .distance import DistanceCorrelation
from .hsic import HSIC
from .pearson import Pearson
from .projection import ProjectionCorrelation
from .protocol import Measure

__all__ = ["HSIC", "DistanceCorrelation", "Pearson", "ProjectionCorrelation"]

MEASURES: dict[str, type[Measure]] = {
    "pc": ProjectionCorrelation,
    "hsic": HSIC,
    "dcor": DistanceCorrelation,
    "pearson": Pearson,
}


def as_measure(measure: str | Measure) -> Measure:
    """The measure that a name stands for; a measure stands for itself."""
    found: Measure = read_strategy("measure", measure, MEASURES, "prepare")
    return found
