"""Maps "pc", "hsic", "dcor" and "pearson" to their measures."""

from typing import Any

from ..settings import one_of, read_strategy
from .distance import DistanceCorrelation
from .hsic import HSIC
from .pearson import Pearson
from .projection import ProjectionCorrelation
from .protocol import Measure

__all__ = ["HSIC", "MEASURES", "DistanceCorrelation", "Pearson", "ProjectionCorrelation"]

MEASURES: dict[str, type[Any]] = {
    "pc": ProjectionCorrelation,
    "hsic": HSIC,
    "dcor": DistanceCorrelation,
    "pearson": Pearson,
}


def as_measure(measure: Any) -> Measure:
    """The measure that a name stands for; a measure stands for itself."""
    found: Measure = read_strategy("measure", measure, MEASURES)
    if hasattr(found, "prepare") and not isinstance(found, type):
        return found
    raise ValueError(
        f"measure={measure!r} is not known. Use {one_of(MEASURES)}, or an instance such as "
        "HSIC(kernel='laplacian')."
    )
