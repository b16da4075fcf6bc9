"""What comes in: features, targets, files."""

from .files import Dataset, read_data
from .sources import ColumnSource, open_columns

__all__ = ["ColumnSource", "Dataset", "open_columns", "read_data"]
