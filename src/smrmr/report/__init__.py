"""Renders a selection as a web page, as figures and in words."""

from .card import brief, card
from .figures import plot
from .html import render, write_report
from .statement import statement, statement_with_advice
from .words import explain

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
