"""Reads columns where they lie, so that X need not fit in memory."""

from .opening import as_source, open_columns
from .protocol import ColumnSource, Which, subset

__all__ = ["ColumnSource", "Which", "as_source", "open_columns", "subset"]
