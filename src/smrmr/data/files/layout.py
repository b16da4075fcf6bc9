"""Finds the header of a table among its first rows: below titles, or in two rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from ..messages import quoted
from ..number_texts import is_text

MOST_TITLES = 20  # rows above a header
MIN_GAPS = 2  # in a row of merged cells


@dataclass(frozen=True)
class Layout:
    """Where the names of columns are.

    Attributes
    ----------
    header
        A name for every column.
    last
        The row of the header, the lower one of two; those after it hold values.
    notes
        What was found out.
    """

    header: list[str]
    last: int
    notes: list[str]


def layout_of(rows: Sequence[Sequence[str]], said: bool = False) -> Layout:
    """Judge a table by its first rows, or take the first one for the header if that is `said`.

    Titles are rows of a single cell above a row of names. A header of two rows has gaps in the
    first, as merged cells leave them, and names in the second.
    """
    if said:
        return Layout(list(rows[0]), 0, [])
    first, notes = n_titles(rows), []
    if first:
        titles = [cell for row in rows[:first] for cell in row if cell.strip()]
        them = "1 row" if first == 1 else f"{first} rows"
        notes.append(f"{them} above the header left out: {quoted(titles)}")
    if len(rows) > first + 2 and _is_merged(*rows[first : first + 3]):
        notes.append("the header has two rows, merged cells above names")
        return Layout(_joined(rows[first], rows[first + 1]), first + 1, notes)
    return Layout(list(rows[first]), first, notes)


def n_titles(rows: Sequence[Sequence[str]]) -> int:
    """Rows of a single cell above a row of names, in a table of more columns; 0 if in doubt."""
    first = next((k for k, row in enumerate(rows) if _has_several(row)), 0)
    if not 0 < first <= MOST_TITLES:
        return 0
    below = [_has_several(row) for row in rows[first:]]
    return first if 2 * sum(below) > len(below) and _are_names(rows[first]) else 0


def _has_several(row: Sequence[str]) -> bool:
    """Whether more than one cell holds something; it stops at the second, for rows may be long."""
    return len(list(islice((cell for cell in row if cell.strip()), 2))) > 1


def _n_filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _are_names(row: Sequence[str]) -> bool:
    """Whether most cells that hold something hold text."""
    return 2 * sum(map(is_text, row)) > _n_filled(row)


def _is_merged(above: Sequence[str], names: Sequence[str], values: Sequence[str]) -> bool:
    """Whether names stand below a row with gaps, and numbers below these."""
    if len(above) != len(names) or _n_filled(above) > len(names) - MIN_GAPS:
        return False
    full = all(a.strip() or b.strip() for a, b in zip(above, names, strict=True))
    texts = all(map(is_text, filter(str.strip, (*above, *names))))
    return full and texts and 2 * _n_filled(names) > len(names) and not _are_names(values)


def _joined(above: Sequence[str], names: Sequence[str]) -> list[str]:
    """Names of columns; those that are not different begin with what stands above them."""
    group, found = "", []
    for over, name in zip(above, map(str.strip, names), strict=True):
        group = over.strip() or group
        repeated = sum(name == other.strip() for other in names) > 1
        found.append(f"{group} {name}".strip() if repeated else name or group)
    return found
