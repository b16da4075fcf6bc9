"""Reads which experiments to run from a TOML file, or by the name of one of our own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
        """Every cell with every seed, seed by seed, so that all cells get on alike."""
        for seed in range(max((cell.seeds for cell in self.cells), default=0)):
            yield from ((cell, seed) for cell in self.cells if seed < cell.seeds)


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
    known = [name for method in METHODS for name in dict(method.results)]
    methods = tuple(content.get("methods", known))
    for name in methods:
        _check(name, known, grid, "methods")
    tables = content.get("cells")
    if not isinstance(tables, list) or not tables:
        raise ValueError(f"grid {grid} has no [[cells]]: tables of designs, n, p and seeds.")
    return Grid(tuple(cell for table in tables for cell in _cells(table, grid)), methods)


def _cells(table: Any, grid: str) -> Iterator[Cell]:
    wanted = ("designs", "n", "p", "seeds")
    if not isinstance(table, dict) or set(table) != set(wanted):
        raise ValueError(f"grid {grid}: a [[cells]] table needs {', '.join(wanted)}; got {table}.")
    for name in ("n", "p"):
        if not isinstance(table[name], list) or not all(map(_is_count, table[name])):
            raise ValueError(f"grid {grid}: {name} = {table[name]!r} must list whole numbers.")
    if not _is_count(table["seeds"]):
        raise ValueError(f"grid {grid}: seeds = {table['seeds']!r} must be a whole number.")
    for design in table["designs"]:
        _check(design, list(DESIGNS), grid, "designs")
        for n in table["n"]:
            for p in table["p"]:
                yield Cell(design, n, p, table["seeds"])


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _check(name: Any, known: list[str], grid: str, where: str) -> None:
    if name not in known:
        raise ValueError(f"grid {grid}, {where}: {name!r} is not one of {', '.join(known)}.")
