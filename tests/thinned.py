"""Grids of which the fast suite runs a few cells; `make test-slow` runs the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def thinned(cells: Iterable[Any], fast: Iterable[Any]) -> list[Any]:
    """The cells as parameters of a test, those that are not in `fast` marked slow."""
    cells, fast = list(cells), list(fast)
    assert all(cell in cells for cell in fast), "a cell that there is not"
    return [
        pytest.param(
            *(cell if isinstance(cell, tuple) else (cell,)),
            marks=() if cell in fast else pytest.mark.slow,
        )
        for cell in cells
    ]
