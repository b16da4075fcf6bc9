"""Writes a selection into a folder: tables, JSON and the report, all or nothing."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..selection import Selection

ANSWER = "selection.json"  # without which a folder holds no answer of ours
BEGINS = b'{"selected": '  # as Selection.to_json writes it
LAYERS = ("associated", "own", "pairs", "panel")  # each a table of that name
WRITTEN = (
    *(ANSWER, "selected.csv", "groups.csv", "features.csv", "report.html"),
    *(f"{layer}.csv" for layer in LAYERS),
)


def check_folder(folder: Path, overwrite: bool = False) -> None:
    """Refuse a file, what is not ours, and an earlier answer unless it may be overwritten."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--out {folder} is a file. Name a folder, which is made if need be.")
    if not folder.exists() or all(path.name.startswith(".smrmr-") for path in folder.iterdir()):
        return
    path = folder / ANSWER
    ours = path.is_file() and path.read_bytes().startswith(BEGINS)
    if not (ours and overwrite):
        found = "files that are no answer of smrmr, and is left alone. Name"
        if ours:
            found = "an earlier answer. Say --overwrite to replace it, or name"
        raise ValueError(f"the folder {folder} holds {found} another folder with --out.")


def write_outputs(selection: Selection, folder: Path) -> Path:
    """Write tables, JSON and the report, and say where the report is.

    They are made in a hidden folder beside their place and renamed at the end, so that an
    interrupted run leaves nothing half-written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".smrmr-", dir=folder))
    try:
        write_csv(selection.findings().drop(columns="selected"), made / "selected.csv")
        for layer in LAYERS:
            write_csv(selection.findings(layer), made / f"{layer}.csv")
        write_csv(selection.groups(), made / "groups.csv")
        write_csv(selection.to_frame(), made / "features.csv")
        (made / ANSWER).write_text(selection.to_json(), encoding="utf-8")
        selection.report(made / "report.html")
        for name in WRITTEN:  # first what tells that the folder is ours
            (made / name).replace(folder / name)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return folder / "report.html"


def write_csv(frame: Any, path: Path) -> None:
    """Write a DataFrame; texts that a spreadsheet would run as formulas get an apostrophe."""
    from ..report.table import DANGEROUS

    def defused(cell: Any) -> Any:
        return f"'{cell}" if isinstance(cell, str) and re.match(DANGEROUS, cell) else cell

    safe = frame.apply(lambda column: column.map(defused))
    safe.to_csv(path, index=False, na_rep="nan", lineterminator="\r\n")
