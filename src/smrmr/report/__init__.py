"""Renders a selection as a web page or as figures."""

from .card import brief, card
from .figures import (
    plot_alone,
    plot_diagnosis,
    plot_fdp,
    plot_fits,
    plot_histogram,
    plot_lambda,
    plot_p_values,
    plot_redundancy,
    plot_relevance,
    plot_shape,
    plot_w,
)
from .html import render, write_report
from .words import explain, statement, statement_with_advice

__all__ = [
    "brief",
    "card",
    "explain",
    "plot_alone",
    "plot_diagnosis",
    "plot_fdp",
    "plot_fits",
    "plot_histogram",
    "plot_lambda",
    "plot_p_values",
    "plot_redundancy",
    "plot_relevance",
    "plot_shape",
    "plot_w",
    "render",
    "statement",
    "statement_with_advice",
    "write_report",
]
