"""Reads Parquet files."""

from pathlib import Path

from ...types import pd
from .format import Format, Table, import_needed, reading
from .grid import named_by_text


def read_parquet(path: Path, *, transpose: bool = False) -> Table:
    """Read a Parquet file; with `transpose` every row is a feature named by its index."""
    import_needed("pyarrow", "Parquet files")
    with reading(path, "Parquet"):
        frame = pd.read_parquet(path)
    if transpose:
        frame = named_by_text(frame)
    return Table(frame, frame.iloc[:, :0])


PARQUET = Format(("parquet", "pq"), read_parquet, options=("transpose",))
