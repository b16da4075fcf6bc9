"""Writes a selection into a folder: tables, JSON and the report, all or nothing."""

import csv
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from ..report import write_report
from ..report.table import DANGEROUS
from ..selection import Selection
from .folders import ANSWER


def write_outputs(selection: Selection, folder: Path) -> list[Path]:
    """Write selected.csv, groups.csv, features.csv, selection.json and report.html.

    They are made in a hidden folder beside their place and renamed at the end, so that an
    interrupted run leaves nothing half-written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".smrmr-", dir=folder))
    try:
        frame = selection.to_frame()
        write_csv(selection.findings().drop(columns="selected"), made / "selected.csv")
        write_csv(selection.groups(), made / "groups.csv")
        write_csv(frame, made / "features.csv")
        (made / ANSWER).write_text(selection.to_json(), encoding="utf-8")
        write_report(selection, made / "report.html")
        names = (ANSWER, "selected.csv", "groups.csv", "features.csv", "report.html")
        for name in names:  # first what tells that the folder is ours
            (made / name).replace(folder / name)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return [folder / name for name in names]


def write_csv(frame: Any, path: Path) -> None:
    """Write a DataFrame; texts that a spreadsheet would run as formulas get an apostrophe."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(frame.columns)
        for row in frame.itertuples(index=False):
            writer.writerow([_defused(cell) for cell in row])


def _defused(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and re.match(DANGEROUS, cell) else cell
