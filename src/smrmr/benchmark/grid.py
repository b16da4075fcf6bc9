"""Reads which experiments to run from a TOML file, or by the name of one of our own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from ..simulate import DESIGNS
from ..toml import read_toml
from .methods import METHODS

OWN = ("quick", "full", "speed")


@dataclass(frozen=True)
class Cell:
    """One design at one size, to be drawn `seeds` times."""

    design: str
    n: int
    p: int
    seeds: int


@dataclass(frozen=True)
class Grid:
    """Cells and the methods to run on them."""

    cells: tuple[Cell, ...]
    methods: tuple[str, ...]

    def draws(self) -> Iterator[tuple[Cell, int]]:
        """Every cell with every seed once, seed by seed, so that all cells get on alike."""
        cells = {(c.design, c.n, c.p): c for c in sorted(self.cells, key=lambda c: c.seeds)}
        for seed in range(max((cell.seeds for cell in cells.values()), default=0)):
            yield from ((cell, seed) for cell in cells.values() if seed < cell.seeds)


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
    path = Path(__file__).with_name("grids") / f"{grid}.toml" if grid in OWN else Path(grid)
    if not path.is_file():
        raise ValueError(
            f"there is no grid {grid!r}. Name one of {', '.join(OWN)}, or a TOML file."
        )
    content = read_toml(path)
    if unknown := set(content) - {"methods", "cells"}:
        raise ValueError(
            f"grid {grid}: {', '.join(sorted(unknown))} is not known. A grid has methods and cells."
        )
    known = [name for method in METHODS for name in dict(method.results)]
    methods = _names(content.get("methods", known), known, grid, "methods")
    tables = content.get("cells")
    if not isinstance(tables, list) or not tables:
        raise ValueError(f"grid {grid} has no [[cells]]: tables of designs, n, p and seeds.")
    return Grid(tuple(cell for table in tables for cell in _cells(table, grid)), methods)


def _cells(table: Any, grid: str) -> Iterator[Cell]:
    wanted = ("designs", "n", "p", "seeds")
    if not isinstance(table, dict) or set(table) != set(wanted):
        raise ValueError(f"grid {grid}: a [[cells]] table needs {', '.join(wanted)}; got {table}.")
    designs = _names(table["designs"], list(DESIGNS), grid, "designs")
    for name in ("n", "p"):
        if not isinstance(table[name], list) or not all(map(_is_count, table[name])):
            raise ValueError(f"grid {grid}: {name} = {table[name]!r} must list positive integers.")
    if not _is_count(table["seeds"]):
        raise ValueError(f"grid {grid}: seeds = {table['seeds']!r} must be a positive integer.")
    for design, n, p in product(designs, table["n"], table["p"]):
        if p < (fewest := DESIGNS[design].fewest_features):
            raise ValueError(f"grid {grid}: p = {p} is too few, {design} needs {fewest} features.")
        yield Cell(design, n, p, table["seeds"])


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _names(names: Any, known: list[str], grid: str, where: str) -> tuple[str, ...]:
    if not isinstance(names, list) or not names:
        raise ValueError(f"grid {grid}: {where} = {names!r} must list one name or more.")
    for name in names:
        if name not in known:
            raise ValueError(f"grid {grid}, {where}: {name!r} is not one of {', '.join(known)}.")
    return tuple(names)
