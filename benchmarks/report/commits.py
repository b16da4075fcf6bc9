"""Writes the table of speed per commit: the ten cases, the newest lines that were kept."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..speed.ten import CASES
from .means import markdown

MOST_LINES = 5


def commits(stores: dict[str, Any]) -> str:
    """Ratios of every case, one column per commit, from old to new."""
    lines = stores["commits"].sort_values("date", kind="stable").tail(MOST_LINES)
    if lines.empty:
        return "No commit has been timed yet."
    table = {"time over that of the reference": list(CASES)}
    for _, line in lines.iterrows():
        ratios = [
            "-" if pd.isna(line[case]) else f"{float(f'{line[case]:.2g}'):g}" for case in CASES
        ]
        table[f"{line['date'][:10]}, {line['commit'][:7]}"] = ratios
    return markdown(pd.DataFrame(table))
