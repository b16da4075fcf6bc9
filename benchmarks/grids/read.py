"""Reads a grid, which says what to run, from a TOML file or by the name of one in this folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from smrmr.cli.toml import read_toml
from smrmr.designs import DESIGNS

from ..data.datasets import HIV_SETS, MADELON, PAPER_SETS
from ..methods import METHODS

OWN = ("quick", "full", "speed")
OWN_REAL = ("quick", "full")


@dataclass(frozen=True)
class Cell:
    """One design at one size, to be drawn `seeds` times."""

    design: str
    n: int
    p: int
    seeds: int

    @property
    def key(self) -> dict[str, Any]:
        """What rows of this cell share."""
        return {"design": self.design, "n": self.n, "p": self.p}


@dataclass(frozen=True)
class Grid:
    """Cells and the methods to run on them."""

    cells: tuple[Cell, ...]
    methods: tuple[str, ...]

    def draws(self) -> Iterator[tuple[Cell, int]]:
        """Every cell with every seed once, seed by seed, so that all cells get on alike."""
        by_seeds = sorted(self.cells, key=lambda cell: cell.seeds)
        cells = {tuple(cell.key.values()): cell for cell in by_seeds}.values()
        for seed in range(max((cell.seeds for cell in cells), default=0)):
            yield from ((cell, seed) for cell in cells if seed < cell.seeds)


@dataclass(frozen=True)
class RealGrid:
    """Data sets to predict and how often, data sets with known truth and how many seeds."""

    datasets: tuple[str, ...]
    repeats: int
    truth: tuple[str, ...]
    seeds: int


def read_grid(grid: str) -> Grid:
    """Read a grid: ``"quick"``, ``"full"``, ``"speed"`` or the path of a TOML file.

    The file lists tables ``[[cells]]`` with ``designs``, ``n``, ``p`` and ``seeds``: every design
    at every n and every p. ``methods`` names those to run; all of them if left out.

    Examples
    --------
    >>> grid = read_grid("full")
    >>> len({cell.design for cell in grid.cells})
    18
    """
    content = _content(grid, "", OWN, ("methods", "cells"))
    methods = _names(content.get("methods", list(METHODS)), list(METHODS), grid, "methods")
    tables = content.get("cells")
    if not isinstance(tables, list) or not tables:
        raise ValueError(f"grid {grid} has no [[cells]]: tables of designs, n, p and seeds.")
    return Grid(tuple(cell for table in tables for cell in _cells(table, grid)), methods)


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


def _cells(table: Any, grid: str) -> Iterator[Cell]:
    wanted = ("designs", "n", "p", "seeds")
    if not isinstance(table, dict) or set(table) != set(wanted):
        raise ValueError(f"grid {grid}: a [[cells]] table needs {', '.join(wanted)}; got {table}.")
    designs = _names(table["designs"], list(DESIGNS), grid, "designs")
    for name in ("n", "p"):
        if not isinstance(table[name], list) or not all(map(_is_count, table[name])):
            raise ValueError(f"grid {grid}: {name} = {table[name]!r} must list positive integers.")
    seeds = _count(table["seeds"], grid, "seeds")
    for design, n, p in product(designs, table["n"], table["p"]):
        if p < (fewest := DESIGNS[design].fewest_features):
            raise ValueError(f"grid {grid}: p = {p} is too few, {design} needs {fewest} features.")
        yield Cell(design, n, p, seeds)


def _count(value: Any, grid: str, where: str) -> int:
    if not _is_count(value):
        raise ValueError(f"grid {grid}: {where} = {value!r} must be a positive integer.")
    return int(value)


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _names(names: Any, known: list[str], grid: str, where: str) -> tuple[str, ...]:
    if not isinstance(names, list) or not names:
        raise ValueError(f"grid {grid}: {where} = {names!r} must list one name or more.")
    for name in names:
        if name not in known:
            raise ValueError(f"grid {grid}, {where}: {name!r} is not one of {', '.join(known)}.")
    return tuple(names)
