"""Reads the files of the field: one reader each."""

from __future__ import annotations

from .dataset import Dataset, read_data
from .missing import settle_missing

__all__ = ["Dataset", "read_data", "settle_missing"]
