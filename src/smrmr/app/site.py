"""What the pages share: the folder, its tables and runs, and the line of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .folders import Entries, Entry
from .queue import Queue

LEVELS = (0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)  # that the page offers


class Site:
    """The tables and runs of a folder."""

    def __init__(self, folder: Path, max_upload: int) -> None:
        self.folder, self.max_upload = folder, max_upload
        self.tables, self.runs = Entries(folder / "tables"), Entries(folder / "runs")
        self.queue = Queue(self.runs)

    def new_run(self, kind: str, about: dict[str, Any], table: Entry, **more: Any) -> Entry:
        """A run of a table, which waits for its turn."""
        file = (table.path / "files" / about["file"]).absolute()
        known = {"kind": kind, "file": str(file), "name": about["file"], "table": table.id}
        run = self.runs.new(**known, settings=about["settings"], state="cancelled", **more)
        self.queue.add(run)
        return run
