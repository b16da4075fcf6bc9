"""Reads a table as the command would, and says what was read: columns, oddities, what is missing.

It runs in a process of its own, so that no file can harm the page: ``python -m
smrmr.app.preview FOLDER`` prints JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..data import read_data
from ..data.feature_labels import with_features_in_columns, without_label_rows
from ..data.files import Table, format_of, is_packed, load
from ..data.frames import numeric_columns
from ..data.joining import join, place_of
from ..data.number_texts import PLAIN, Marks
from ..data.sources import names_of
from ..data.study import read_study
from ..problems import DataWarning, Problem
from ..types import pd
from .folders import Entry
from .messages import Note, notes_of
from .settings import ROLES, Settings, known_of_rows, reading, target_kind

FIRST, LAST = 9, 3  # columns that are shown whatever they hold: targets stand at either end
MOST_TEXT = 20  # columns of text that are shown beside them
MOST_NAMES = 2000  # of columns that the page proposes
ROWS = 6
LONGEST = 40  # letters of a cell
SECONDS = 180  # that reading may take
EXPECTED = (ValueError, ImportError, OSError, MemoryError, RuntimeError, ArithmeticError)


def preview(table: Entry) -> dict[str, Any]:
    """What another process reads of a table, and what it has to say."""
    command = [sys.executable, "-m", __name__, str(table.path)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", timeout=SECONDS
        )
        found: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return _nothing(f"the file was not read within {SECONDS} seconds. Save a part of it.")
    except ValueError:
        return _nothing("the file ended the process that read it. Save it in another format.")
    return found


def _nothing(problem: str) -> dict[str, Any]:
    notes = [note.as_json for note in notes_of("problem", problem)]
    return {"columns": [], "names": [], "rows": 0, "features": 0, "notes": notes, "ready": False}


def read(table: Entry) -> dict[str, Any]:
    """What is in a table, by its settings."""
    about = table.about
    file, settings = table.path / "files" / about["file"], about["settings"]
    columns, notes = _columns(file, settings)
    checked, more = _checked(file, settings)
    kinds = [note.kind for note in (*notes, *more)]
    said = [replace(n, text=n.text.replace(str(file), file.name)) for n in (*notes, *more)]
    known = {note.text: note for note in said}  # reading twice says some things twice
    return {
        "rows": 0,
        "features": 0,
        "columns": [],
        "names": [],
        **columns,
        **checked,
        "sheets": _takes("sheet", file),
        "layers": _takes("layer", file),
        "text": _takes("sep", file),
        "notes": [note.as_json for note in known.values()],
        "ready": bool(checked) and "problem" not in kinds,
    }


def _takes(option: str, file: Path) -> bool:
    """Whether files of this format have an option."""
    try:
        return not is_packed(file) and option in format_of(file).options
    except ValueError:
        return False


def _columns(file: Path, settings: Settings) -> tuple[dict[str, Any], list[Note]]:
    """The first rows and columns of a file, before anything is taken out of them."""
    how = reading(settings)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = _loaded(file, how)
            frames = [table.about, table.features]
            if pheno := how.get("pheno"):
                table, frames = _with_second_file(table, file, pheno, how.get("id"))
    except EXPECTED as error:
        return {}, notes_of("problem", error)
    frames = [frame for frame in frames if hasattr(frame, "iloc")]  # others are read in blocks
    names = [str(name) for frame in frames for name in frame.columns]
    if not hasattr(table.features, "iloc"):
        names += names_of(table.features)[:MOST_NAMES]
    shown = _shown(
        frames, {settings.get(role) for role in ROLES} | {*settings.get("covariates", ())}
    )
    return {
        "rows": len(table.about) or len(table.features),
        "features": table.features.shape[1],
        "columns": shown,
        "row_names": [_cell(name) for name in table.about.index[:ROWS]],
        "names": names[:MOST_NAMES],
    }, [Note("note", said) for said in table.notes]


def _with_second_file(
    table: Table, file: Path, pheno: str, id: str | None
) -> tuple[Table, list[Any]]:
    """The table and its parts, joined with another file; beside it where that cannot be joined."""
    try:
        table = join(table, file, pheno, id, PLAIN)
    except Problem:  # which reading tells
        place, sheet = place_of(pheno, file)
        other = load(place, sheet=sheet)
        return table, [other.about, other.features, table.about, table.features]
    return table, [table.about, table.features]


def _loaded(file: Path, how: dict[str, Any]) -> Table:
    """The table of a file, features in columns."""
    marks = Marks(tuple(how.get("na", ())), how.get("limits", "refuse"))
    given = ("sheet", "sep", "decimal", "encoding", "comment", "header_row", "layer")
    options: dict[str, Any] = {name: how.get(name) for name in given}
    options["skip"] = how.get("skip", 0)
    turned = bool(how.get("transpose"))
    table = load(file, how.get("format"), marks=marks, transpose=turned, **options)
    if turned:
        return with_features_in_columns(table, file, how.get("annotation", ()), [], marks)
    return without_label_rows(table, marks)


def _shown(frames: list[Any], roles: set[Any]) -> list[dict[str, Any]]:
    """What some columns hold: the first and last ones, those with a role, those of text."""
    shown: dict[str, dict[str, Any]] = {}
    texts = 0
    for frame in frames:
        numeric = numeric_columns(frame) if frame.shape[1] else ()
        for place, (name, is_number) in enumerate(zip(frame.columns, numeric, strict=True)):
            text = not is_number and texts < MOST_TEXT
            texts += text
            at_an_end = place < FIRST or place >= frame.shape[1] - LAST
            if at_an_end or text or str(name) in roles:
                shown.setdefault(str(name), _described(str(name), frame.iloc[:, place]))
    return list(shown.values())


def _described(name: str, column: Any) -> dict[str, Any]:
    """What a column was read as, and its first values."""
    missing, n_levels = int(column.isna().sum()), int(column.nunique())
    if pd.api.types.is_numeric_dtype(column.dtype) and column.dtype != bool:
        kind = "number" if n_levels > 2 else "number with two values"
    else:
        kind = "text" if n_levels > 20 else f"text, {n_levels} levels"
    if n_levels == len(column) - missing and kind == "text":
        kind = "text, all different"
    if n_levels <= 1:
        kind = "constant"
    first = [_cell(value) for value in column.iloc[:ROWS]]
    return {"name": name, "kind": kind, "missing": missing, "first": first}


def _cell(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _checked(file: Path, settings: Settings) -> tuple[dict[str, Any], list[Note]]:
    """What a selection would begin with, and all that is odd or wrong about it."""
    notes: list[Note] = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            data = read_data(file, **reading(settings))
            notes += [Note("note", said) for said in data.notes]
            known = known_of_rows(data, settings)
            study = read_study(data.X, target=target_kind(settings), **known)
        except EXPECTED as error:
            return {}, [*notes, *_problems(error, settings), *_warnings(warned)]
    kind = study.target.kind
    labels = [str(label) for label in study.target.labels[:10]]
    about = {"target": data.target, "target_kind": kind, "labels": labels}
    return about | {"tested": study.columns.n_columns}, [*notes, *_warnings(warned)]


def _problems(error: BaseException, settings: Settings) -> list[Note]:
    """What is wrong, without that no target was chosen yet, which the page asks for anyway."""
    parts = getattr(error, "parts", ()) or (error,)
    chosen = settings.get("target") or settings.get("time")
    return [
        note
        for one in parts
        for note in notes_of("problem", one)
        if chosen or note.cures or getattr(one, "argument", "") != "target"
    ]


def _warnings(warned: list[warnings.WarningMessage]) -> list[Note]:
    """Warnings of ours; others are of no use to the reader."""
    ours = [one.message for one in warned if isinstance(one.message, DataWarning)]
    return [note for one in ours for note in notes_of("warning", one)]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(read(Entry(Path(sys.argv[1])))))
