"""What came out: the selection, and summaries of the data for its figures."""

from .plot_data import PlotData, Shape, summarise_for_plots
from .selection import Selection
from .trends import Trends, find_trends

__all__ = ["PlotData", "Selection", "Shape", "Trends", "find_trends", "summarise_for_plots"]
