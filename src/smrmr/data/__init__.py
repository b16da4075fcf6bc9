"""What comes in: features, targets, files."""

from .dataset import Dataset, open_columns, read_data
from .sources import ColumnSource

__all__ = ["ColumnSource", "Dataset", "open_columns", "read_data"]
