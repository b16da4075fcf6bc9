"""Reads Parquet files."""

from pathlib import Path

from ...types import pd
from .format import Format, Table, import_needed, reading
from .grid import transposed


def read_parquet(path: Path, *, transpose: bool = False) -> Table:
    """Read a Parquet file."""
    import_needed("pyarrow", "Parquet files")
    with reading(path, "Parquet"):
        frame = pd.read_parquet(path)
    if transpose:
        frame = transposed(frame, path)
    return Table(frame, frame.iloc[:, :0])


PARQUET = Format(("parquet", "pq"), read_parquet, options=("transpose",))
