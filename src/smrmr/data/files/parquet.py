"""Reads Parquet files; by columns where they are large and their features are numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...types import pd
from ..messages import quoted
from ..row_names import named_rows
from ..sources import PickledByFields, Which
from .format import APART, Format, Table, import_needed, reading
from .grid import named_by_text
from .limits import fits_whole

BATCH_ROWS = 2**16  # read together, at most


@dataclass(frozen=True)
class ParquetColumns(PickledByFields):
    """Columns of numbers in a Parquet file; a missing value is NaN."""

    path: Path
    chosen: tuple[str, ...] | None = None

    @cached_property
    def _metadata(self) -> Any:
        module = import_needed("pyarrow.parquet", "Parquet files")
        with reading(self.path, "Parquet"):
            return module.read_metadata(self.path)

    @cached_property
    def _schema(self) -> Any:
        return self._metadata.schema.to_arrow_schema()

    def _opened(self) -> Any:
        """The file, opened anew: threads must not share it."""
        module = import_needed("pyarrow.parquet", "Parquet files")
        return module.ParquetFile(self.path, metadata=self._metadata)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._schema.names) if self.chosen is None else self.chosen

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return int(self._metadata.num_rows), len(self.names)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """What all columns are read as: the type that holds those of each, and their gaps."""
        return _common_type(self._metadata, self._schema, self.names)

    def read(self, columns: Which) -> NDArray[Any]:
        """The columns requested."""
        places = np.arange(len(self.names))[columns]
        distinct, back = np.unique(places, return_inverse=True)
        wanted = [self.names[k] for k in distinct]
        found = np.empty((self.shape[0], len(wanted)), self.dtype, order="F")
        start = 0
        with reading(self.path, "Parquet"), self._opened() as file:
            for batch in file.iter_batches(BATCH_ROWS, columns=wanted, use_threads=False):
                stop = start + batch.num_rows
                for k, name in enumerate(wanted):
                    column = batch.column(name)
                    found[start:stop, k] = column.to_numpy(zero_copy_only=False)
                start = stop
        return found if np.array_equal(back, np.arange(len(wanted))) else found[:, back]


def _common_type(metadata: Any, schema: Any, names: tuple[str, ...]) -> np.dtype[Any]:
    """The type of columns of numbers; whole numbers with gaps are read as floats."""
    kinds = {schema.field(name).type for name in names}
    types = [np.dtype(kind.to_pandas_dtype()) for kind in kinds]
    places = {name: k for k, name in enumerate(schema.names)}
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    known = (group.column(places[name]).statistics for group in groups for name in names)
    if any(one is None or one.null_count != 0 for one in known):
        types.append(np.dtype(np.float32 if all(t.itemsize <= 2 for t in types) else np.float64))
        if all(t.kind == "f" for t in types[:-1]):
            types.pop()
    return np.result_type(*types)


def open_parquet(path: Path, key: str | None = None) -> ParquetColumns:
    """Open all columns, which must be numbers."""
    source = ParquetColumns(path)
    others = [name for name in source.names if not _is_number(source, name)]
    if others:
        raise ValueError(
            f"{path} cannot be read by columns: {quoted(others[:3])} hold no numbers. Leave them "
            "out of the file, or read it whole with smrmr.data.read_data."
        )
    return source


def _is_number(source: ParquetColumns, name: str) -> bool:
    kind = source._schema.field(name).type
    types = import_needed("pyarrow.types", "Parquet files")
    return bool(types.is_integer(kind) or types.is_floating(kind))


def read_parquet(
    path: Path, *, transpose: bool = False, apart: Mapping[str, bool] | None = None
) -> Table:
    """Read a Parquet file; with `transpose` every row is a feature named by its index.

    Of a large one features are left for blocks if they are numbers, all but the columns `apart`,
    of which those that are needed are read; without these names nothing is left.
    """
    import_needed("pyarrow", "Parquet files")
    with reading(path, "Parquet"):
        if apart is not None and not transpose:
            table = _left_for_blocks(path, apart)
            if table is not None:
                return table
        frame = pd.read_parquet(path)
    if transpose:
        frame = named_by_text(frame)
    return Table(frame, frame.iloc[:, :0])


def _left_for_blocks(path: Path, apart: Mapping[str, bool]) -> Table | None:
    """Columns that are no features, and the source of those that are; None if it must be whole."""
    source = ParquetColumns(path.absolute())
    n, p = source.shape
    if fits_whole(n, p) or len(set(source.names)) < p:
        return None
    index = (source._schema.pandas_metadata or {}).get("index_columns", [])
    names = [name for name in source.names if name not in index]
    numbers = tuple(n for n in names if _is_number(source, n) and not apart.get(n))
    frame = pd.read_parquet(path, columns=[name for name in names if name not in set(numbers)])
    others = frame.drop(columns=[name for name in frame if name in apart])
    if not numbers or named_rows(others)[0].shape[1]:  # text that may be a feature
        return None
    return Table(frame, frame.iloc[:, :0], in_blocks=ParquetColumns(source.path, numbers))


PARQUET = Format(("parquet", "pq"), read_parquet, options=("transpose", APART), open=open_parquet)
