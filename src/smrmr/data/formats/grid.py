"""Makes a table of a header and rows, as files of text and sheets hold them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..messages import named, twice
from .format import Table


def table_of_rows(
    rows: Any, header: Sequence[str], path: Path, *, transpose: bool = False
) -> Table:
    """A table of rows under a header; with `transpose` every row is a feature.

    Rows and unnamed columns without any value are left out with a note. A first column without a
    name that is different in every row holds the ids of the samples.
    """
    names = [str(name).strip() for name in header]
    filled = rows.notna()
    empty = {k for k, name in enumerate(names) if not name and k and not filled.iloc[:, k].any()}
    kept = [k for k in range(len(names)) if k not in empty]
    full = filled.any(axis=1).to_numpy()
    notes = []
    if empty:
        notes.append(f"{len(empty)} empty column{'s' * (len(empty) > 1)} left out")
        rows, names = rows.iloc[:, kept], [names[k] for k in kept]
    if not full.all():
        notes.append(f"{(~full).sum()} empty row{'s' * ((~full).sum() > 1)} left out")
        rows = rows[full]
    rows = rows.reset_index(drop=True)
    if rows.empty:
        raise ValueError(f"{path} has a header but no rows of data.")
    frame = rows.set_axis(names, axis=1)
    problems = _problems_of_names(names, path, "sample" if transpose else "column")
    if transpose:
        turned = transposed(frame.set_axis(frame.iloc[:, 0].astype(str)).iloc[:, 1:], path)
        return Table(turned, turned.iloc[:, :0], notes=notes, problems=problems)
    if not names[0] and frame.shape[1] > 1 and frame.iloc[:, 0].is_unique:
        ids = frame.iloc[:, 0].astype(str).to_numpy()
        frame = frame.iloc[:, 1:].set_axis(ids)
        notes.append("the first column has no name and is taken for sample ids")
    elif not names[0]:
        problems.insert(0, f"{path}: column 1 has no name in the header. Give it one.")
    return Table(frame, frame.iloc[:, :0], notes=notes, problems=problems)


def _problems_of_names(names: list[str], path: Path, what: str) -> list[str]:
    unnamed = [k + 1 for k, name in enumerate(names) if not name and k]
    problems = []
    if unnamed:
        many = f"{what}s {named(unnamed)} have" if len(unnamed) > 1 else f"{what} {unnamed[0]} has"
        title = " If a title stands above the header, delete it." if len(unnamed) > 1 else ""
        problems.append(f"{path}: {many} no name in the header. Give every {what} one.{title}")
    repeated = twice([name for k, name in enumerate(names) if name and (k or what == "column")])
    if repeated:
        problems.append(f"{path}: {what} names {repeated}")
    return problems


def transposed(frame: Any, path: Path) -> Any:
    """Turn features in rows into columns, each with its own type."""
    names = frame.index.astype(str)
    repeated = twice(names)
    if repeated:
        raise ValueError(f"{path}: with --transpose every row is a feature, and rows {repeated}")
    turned = frame.T.set_axis(names, axis=1)
    numeric = all(dtype.kind in "biuf" for dtype in frame.dtypes)
    return turned if numeric else turned.infer_objects()
