"""Reads a grid, which says what to run, from a TOML file or by the name of one in this folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from smrmr.cli.options import read_toml
from smrmr.designs import DESIGNS

from ..data.datasets import HIV_SETS, MADELON, PAPER_SETS
from ..methods import METHODS, ONLY_WHERE_NAMED

OWN = ("quick", "full", "speed", "yardstick", "boruta")
OWN_REAL = ("quick", "full")


@dataclass(frozen=True)
class Cell:
    """One design at one size, to be drawn `seeds` times for `methods`; none: for all of a grid."""

    design: str
    n: int
    p: int
    seeds: int
    methods: tuple[str, ...] = ()

    @property
    def key(self) -> dict[str, Any]:
        """What rows of this cell share."""
        return {"design": self.design, "n": self.n, "p": self.p}


@dataclass(frozen=True)
class Grid:
    """Cells, the methods to run on them, and the levels; none: those of `levels_of`."""

    cells: tuple[Cell, ...]
    methods: tuple[str, ...]
    levels: tuple[float, ...] = ()

    def draws(self) -> Iterator[tuple[Cell, int]]:
        """Every cell with every seed once, seed by seed, so that all cells get on alike.

        Cells of the same design and size are one, with the methods of those that have the seed.
        """
        places: dict[tuple[Any, ...], list[Cell]] = {}
        for cell in self.cells:
            places.setdefault(tuple(cell.key.values()), []).append(cell)
        for seed in range(max((cell.seeds for cell in self.cells), default=0)):
            for same in places.values():
                if drawn := [cell for cell in same if seed < cell.seeds]:
                    names = (name for cell in drawn for name in cell.methods or self.methods)
                    yield replace(drawn[0], methods=tuple(dict.fromkeys(names))), seed

    def only(self, names: Sequence[str]) -> Grid:
        """The part of the grid that is of some methods."""
        known = dict.fromkeys(name for cell in self.cells for name in cell.methods or self.methods)
        if unknown := set(names) - set(known):
            raise ValueError(
                f"this grid does not run {', '.join(sorted(unknown))}, but {', '.join(known)}."
            )
        parts = (
            replace(cell, methods=tuple(n for n in cell.methods or self.methods if n in names))
            for cell in self.cells
        )
        return replace(self, cells=tuple(cell for cell in parts if cell.methods))


@dataclass(frozen=True)
class RealGrid:
    """Data sets to predict and how often, data sets with known truth and how many seeds."""

    datasets: tuple[str, ...]
    repeats: int
    truth: tuple[str, ...]
    seeds: int


def read_grid(grid: str) -> Grid:
    """Read a grid by the name of one of ours, as ``"quick"``, or by the path of a TOML file.

    The file lists tables ``[[cells]]`` with ``designs``, ``n``, ``p`` and ``seeds``: every design
    at every n and every p. ``methods`` names those to run; if left out, all but those of the
    yardstick. ``levels`` are the levels of the FDR. A table may have its own ``methods``, and has
    the ``designs`` of the file where it names none.

    Examples
    --------
    >>> grid = read_grid("full")
    >>> len({cell.design for cell in grid.cells})
    18
    """
    content = _content(grid, "", OWN, ("methods", "levels", "designs", "cells"))
    usual = [name for name in METHODS if name not in ONLY_WHERE_NAMED]
    methods = _names(content.get("methods", usual), list(METHODS), grid, "methods")
    levels = content.get("levels", [])
    if not isinstance(levels, list) or not all(map(_is_level, levels)):
        raise ValueError(f"grid {grid}: levels = {levels!r} must list numbers between 0 and 1.")
    tables = content.get("cells")
    if not isinstance(tables, list) or not tables:
        raise ValueError(f"grid {grid} has no [[cells]]: tables of designs, n, p and seeds.")
    shared = {name: content[name] for name in ("designs",) if name in content}
    cells = (cell for table in tables for cell in _cells(table, shared, grid))
    return Grid(tuple(cells), methods, tuple(levels))


def read_real_grid(grid: str) -> RealGrid:
    """Read a grid of real data: ``"quick"``, ``"full"`` or the path of a TOML file.

    The file names ``datasets`` to predict with so many ``repeats``, or data sets of known
    ``truth`` with so many ``seeds``, or both.

    Examples
    --------
    >>> read_real_grid("quick").repeats
    2
    """
    content = _content(grid, "real-", OWN_REAL, ("datasets", "repeats", "truth", "seeds"))
    known = {
        "datasets": [source.name for source in (*PAPER_SETS, MADELON)],
        "truth": [source.name for source in (*HIV_SETS, MADELON)],
    }
    lists, counts = [], []
    for names, count in (("datasets", "repeats"), ("truth", "seeds")):
        if (names in content) != (count in content):
            raise ValueError(f"grid {grid}: {names} and {count} go together; one is missing.")
        lists.append(_names(content[names], known[names], grid, names) if names in content else ())
        counts.append(_count(content[count], grid, count) if count in content else 0)
    if not any(lists):
        raise ValueError(f"grid {grid} names no data: datasets and repeats, or truth and seeds.")
    return RealGrid(lists[0], counts[0], lists[1], counts[1])


def _content(grid: str, prefix: str, own: tuple[str, ...], keys: tuple[str, ...]) -> dict[str, Any]:
    path = Path(__file__).with_name(f"{prefix}{grid}.toml") if grid in own else Path(grid)
    if not path.is_file():
        raise ValueError(
            f"there is no grid {grid!r}. Name one of {', '.join(own)}, or a TOML file."
        )
    content = read_toml(path)
    if unknown := set(content) - set(keys):
        raise ValueError(
            f"grid {grid}: {', '.join(sorted(unknown))} is not known. A grid has {', '.join(keys)}."
        )
    return content


def _cells(table: Any, shared: dict[str, Any], grid: str) -> Iterator[Cell]:
    wanted = ("designs", "n", "p", "seeds")
    table = shared | table if isinstance(table, dict) else table
    if not isinstance(table, dict) or set(table) - {"methods"} != set(wanted):
        raise ValueError(f"grid {grid}: a [[cells]] table needs {', '.join(wanted)}; got {table}.")
    designs = _names(table["designs"], list(DESIGNS), grid, "designs")
    for name in ("n", "p"):
        if not isinstance(table[name], list) or not all(map(_is_count, table[name])):
            raise ValueError(f"grid {grid}: {name} = {table[name]!r} must list positive integers.")
    seeds = _count(table["seeds"], grid, "seeds")
    own = _names(table["methods"], list(METHODS), grid, "methods") if "methods" in table else ()
    for design, n, p in product(designs, table["n"], table["p"]):
        if p < (fewest := DESIGNS[design].fewest_features):
            raise ValueError(f"grid {grid}: p = {p} is too few, {design} needs {fewest} features.")
        yield Cell(design, n, p, seeds, own)


def _count(value: Any, grid: str, where: str) -> int:
    if not _is_count(value):
        raise ValueError(f"grid {grid}: {where} = {value!r} must be a positive integer.")
    return int(value)


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _is_level(value: Any) -> bool:
    return isinstance(value, float) and 0 < value < 1


def _names(names: Any, known: list[str], grid: str, where: str) -> tuple[str, ...]:
    if not isinstance(names, list) or not names:
        raise ValueError(f"grid {grid}: {where} = {names!r} must list one name or more.")
    for name in names:
        if name not in known:
            raise ValueError(f"grid {grid}, {where}: {name!r} is not one of {', '.join(known)}.")
    return tuple(names)
