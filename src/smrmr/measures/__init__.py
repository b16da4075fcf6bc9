"""Maps "pc", "hsic", "dcor" and "pearson" to their measures."""

from __future__ import annotations

from .distance import DistanceCorrelation
from .hsic import HSIC
from .pearson import Pearson
from .projection import ProjectionCorrelation
from .protocol import Measure

__all__ = ["HSIC", "MEASURES", "DistanceCorrelation", "Pearson", "ProjectionCorrelation"]

MEASURES: dict[str, Measure] = {
    "pc": ProjectionCorrelation(),
    "hsic": HSIC(),
    "dcor": DistanceCorrelation(),
    "pearson": Pearson(),
}


def as_measure(measure: str | Measure) -> Measure:
    """Return the measure an alias stands for; a measure stands for itself."""
    if isinstance(measure, str):
        if measure in MEASURES:
            return MEASURES[measure]
    elif hasattr(measure, "prepare") and not isinstance(measure, type):
        return measure
    raise ValueError(
        f"measure={measure!r} is not known. Use one of {', '.join(map(repr, MEASURES))}, or an "
        "instance such as HSIC(kernel='laplacian')."
    )
