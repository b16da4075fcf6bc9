"""What came out: the selection, and summaries of the data for its figures."""

from .pair_grids import find_pair_grids
from .plot_data import PairGrid, PlotData, Shape, summarise_for_plots
from .selection import Selection
from .trends import Trends, find_trends

__all__ = [
    "PairGrid",
    "PlotData",
    "Selection",
    "Shape",
    "Trends",
    "find_pair_grids",
    "find_trends",
    "summarise_for_plots",
]
