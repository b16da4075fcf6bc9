"""Writes a selection or a plan into a folder: tables, JSON, the report; all or nothing."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..problems import full_disk, warn

if TYPE_CHECKING:
    from ..power.account import SamplePlan, Trials
    from ..selection import Selection

ANSWER = "selection.json"  # without which a folder holds no answer of ours
PLAN = "plan.json"
BEGINS = {ANSWER: b'{"selected": ', PLAN: b'{"statement": '}  # as we write them
LAYERS = ("associated", "own", "pairs", "panel")  # each a table of that name
WRITTEN = (
    *(ANSWER, "selected.csv", "groups.csv", "features.csv", "report.html"),
    *(f"{layer}.csv" for layer in LAYERS),
    *("check.csv", "levels.csv"),  # if the table was checked
)


def check_folder(folder: Path, overwrite: bool = False, answer: str = ANSWER) -> None:
    """Refuse a file, what is not ours, and an earlier answer unless it may be overwritten."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--out {folder} is a file. Name a folder, which is made if need be.")
    if not folder.exists() or all(path.name.startswith(".smrmr-") for path in folder.iterdir()):
        return
    path, called = folder / answer, "plan" if answer == PLAN else "answer"
    ours = path.is_file() and path.read_bytes().startswith(BEGINS[answer])
    if not (ours and overwrite):
        found = f"files that are no {called} of smrmr, and is left alone. Name"
        if ours:
            found = f"an earlier {called}. Say --overwrite to replace it, or name"
        raise ValueError(f"the folder {folder} holds {found} another folder with --out.")


def write_outputs(selection: Selection, folder: Path, overwrite: bool = False) -> Path:
    """Write tables, JSON and the report, and say where the report is."""
    folder = _claimed(folder, ANSWER, overwrite)
    with _made_whole(folder, WRITTEN) as made:
        write_csv(selection.findings().drop(columns="selected"), made / "selected.csv")
        for layer in LAYERS:
            write_csv(selection.findings(layer), made / f"{layer}.csv")
        write_csv(selection.groups(), made / "groups.csv")
        write_csv(selection.to_frame(), made / "features.csv")
        (made / ANSWER).write_text(selection.to_json(), encoding="utf-8")
        selection.report(made / "report.html")
        if selection.table_check is not None:
            write_csv(selection.table_check.to_frame(), made / "check.csv")
            write_csv(selection.table_check.levels(), made / "levels.csv")
    return folder / "report.html"


def write_plan(plan: SamplePlan, folder: Path, overwrite: bool = False) -> Path:
    """Write a plan as a table, as JSON and as a picture, and say where the picture is."""
    from matplotlib.figure import Figure  # takes half a second to load, so not before

    folder = _claimed(folder, PLAN, overwrite)
    with _made_whole(folder, (PLAN, "plan.csv", "plan.png")) as made:
        write_csv(plan.to_frame(), made / "plan.csv")
        (made / PLAN).write_text(json_of(plan, {"power": plan.to_frame()}), encoding="utf-8")
        figure = Figure(layout="constrained")  # of no window, as pyplot's may be
        plan.plot(figure.subplots())
        figure.savefig(made / "plan.png", dpi=200)
    return folder / "plan.png"


def json_of(trials: Trials, tables: dict[str, Any]) -> str:
    """Trials as JSON that `from_json` reads, after what they say, and tables as lists of rows."""
    rows = {
        name: [
            {key: None if cell != cell else cell for key, cell in row.items()}  # NaN
            for row in table.to_dict("records")
        ]
        for name, table in tables.items()
    }
    about = {"statement": str(trials), **rows}
    return json.dumps(about | json.loads(trials.to_json()), allow_nan=False)


def _claimed(folder: Path, answer: str, overwrite: bool) -> Path:
    """The folder, in which no other run writes from now on; another one if a run was faster.

    An answer that came there since this run began is kept, unless it may be overwritten.
    """
    if overwrite:
        return folder
    for number in count(1):
        free = folder if number == 1 else folder.with_name(f"{folder.name}-{number}")
        with full_disk(free, "name another folder with --out"):
            free.mkdir(parents=True, exist_ok=True)
        try:
            (free / answer).open("x").close()  # of several runs only one can
        except FileExistsError:
            continue
        if number > 1:
            warn(f"another run has written to {folder} in the meantime. This one goes to {free}.")
        return free
    raise AssertionError


@contextmanager
def _made_whole(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """Yield a hidden folder to write files of these names to, which then take their places.

    So an interrupted run leaves nothing half-written. Files of these names that were not written
    are of an earlier answer, and go.
    """
    with full_disk(folder, "name another folder with --out"):
        folder.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".smrmr-", dir=folder))
        try:
            yield made
            for name in names:  # first what tells that the folder is ours
                if (made / name).exists():
                    (made / name).replace(folder / name)
                else:
                    (folder / name).unlink(missing_ok=True)
        finally:
            shutil.rmtree(made, ignore_errors=True)
            claim = folder / names[0]
            if claim.exists() and not claim.stat().st_size:  # of a run that was interrupted
                claim.unlink()


def write_csv(frame: Any, path: Path) -> None:
    """Write a DataFrame; texts that a spreadsheet would run as formulas get an apostrophe."""
    from ..report.table import DANGEROUS

    def defused(cell: Any) -> Any:
        return f"'{cell}" if isinstance(cell, str) and re.match(DANGEROUS, cell) else cell

    safe = frame.apply(lambda column: column.map(defused))
    safe.to_csv(path, index=False, na_rep="nan", lineterminator="\r\n")
