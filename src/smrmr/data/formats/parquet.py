"""Reads Parquet files."""

from pathlib import Path

from .delimited import transposed
from .format import Format, Table, needed


def read_parquet(path: Path, *, transpose: bool = False) -> Table:
    """Read a Parquet file."""
    import pandas as pd

    needed("pyarrow", "Parquet files")
    try:
        frame = pd.read_parquet(path)
    except Exception as error:  # pyarrow raises many kinds for one reason
        raise ValueError(f"{path} cannot be read as Parquet: {error}") from None
    if transpose:
        frame = transposed(frame, path)
    return Table(frame, frame.iloc[:, :0])


PARQUET = Format(("parquet", "pq"), read_parquet, options=("transpose",))
