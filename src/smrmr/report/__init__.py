"""Renders a selection as a web page, as figures and in words."""

from .card import brief, card
from .figures import plot
from .html import render, write_report
from .words import explain, statement, statement_with_advice

__all__ = [
    "brief",
    "card",
    "explain",
    "plot",
    "render",
    "statement",
    "statement_with_advice",
    "write_report",
]
