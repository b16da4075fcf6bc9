"""Trials whose outcomes are written down instead of fitted, so that their rates are known."""

from __future__ import annotations

import numpy as np

from smrmr.power.account import Cell

ROWS = 80
CLEAN = [0, 0, 0, 0]  # planted, found, named, false: nothing was planted and nothing named
ALARM = [0, 0, 1, 1]
WEAK = [(5, 1, 1, 0), (5, 2, 4, 2), (5, 3, 3, 0), (5, 4, 4, 0)]  # power 1/2, false 1/8
STRONG = [(1, 1, 1, 0)] * 4


def made(kind, planted, nulls=(), **about):
    """Trials by hand: form, share, number, rows and outcomes of signals for each cell.

    Own contributions are as signals; of features alone it is unknown which are false.
    """
    cells, cell_of, outcomes = [Cell("", 0.0, 0, ROWS)] if nulls else [], [], []
    for counts in nulls:
        cell_of.append(0)
        outcomes.append([counts, counts, counts, CLEAN])
    for form, share, n_effects, n_rows, fits in planted:
        for counts in fits:
            cell_of.append(len(cells))
            alone, pairs = (*counts[:3], -1), counts if form == "pair" else CLEAN
            outcomes.append([alone, counts, counts, pairs])
        cells.append(Cell(form, share, n_effects, n_rows))
    known = {"level": 0.1, "target": "continuous", "n_features": 60, "stopped": "fits"}
    return kind(
        **(known | {"seconds": 12.3} | about),
        cells=tuple(cells),
        cell_of=np.array(cell_of, np.intp),
        outcomes=np.array(outcomes, np.intp).reshape(-1, 4, 4),
    )
