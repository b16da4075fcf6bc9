"""Runs one after another, each in a process of its own; what was cut off goes on later."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from .child import SECONDS_TO_END, start_command
from .folders import Entries, Entry, NotThere
from .settings import arguments

ANSWER, WORK, PROGRESS, SAID = "answer", "work", "progress.json", "said.txt"
WAITING = ("queued", "running")
SECONDS = 0.1  # between looks at a process


class Queue:
    """The runs that wait, and a thread that starts the oldest of them."""

    def __init__(self, runs: Entries) -> None:
        self.runs = runs
        self._wake, self._stop = Event(), Event()
        self._cancelled: set[str] = set()
        self._lock = Lock()  # of states, which the page and the thread change
        self._thread = Thread(target=self._work, daemon=True, name="smrmr runs")

    def start(self) -> None:
        """Begin, with what an earlier server left."""
        for run in self.runs:
            if run.about.get("state") == "running":
                run.update(state="queued")
        self._thread.start()

    def stop(self) -> None:
        """End the process at work, whose run goes on when a server starts again."""
        self._stop.set()
        self._wake.set()
        self._thread.join(2 * SECONDS_TO_END)

    def add(self, run: Entry) -> None:
        """Let a run wait for its turn; of one that was cut off, finished work is kept."""
        with self._lock:
            self._cancelled.discard(run.id)
            run.update(state="queued", message="")
        self._wake.set()

    def cancel(self, run: Entry) -> None:
        """End a run, or its waiting."""
        with self._lock:
            state = run.about["state"]
            if state == "queued":
                run.update(state="cancelled")
            if state == "running":
                self._cancelled.add(run.id)
        while state == "running" and run.about["state"] == "running" and self._thread.is_alive():
            self._stop.wait(SECONDS)

    def waiting_before(self, run: Entry) -> int:
        """How many runs come first."""
        return sum(o.about["state"] in WAITING for o in self.runs if o.id < run.id)

    def _work(self) -> None:
        while not self._stop.is_set():
            run = self._next()
            if run is None:
                self._wake.wait()
                self._wake.clear()
            else:
                self._try(run)

    def _try(self, run: Entry) -> None:
        """Work a run off, and go on with the next whatever happens to its folder."""
        try:
            self._run(run)
        except NotThere:  # it was removed
            pass
        except OSError as error:
            with suppress(OSError, NotThere):
                run.update(state="failed", message=f"{error}.", ended=_now())

    def _next(self) -> Entry | None:
        with self._lock:
            queued = [run for run in self.runs if run.about["state"] == "queued"]
            if queued:
                queued[-1].update(state="running", started=_now())
                return queued[-1]
        return None

    def _run(self, run: Entry) -> None:
        about = run.about
        for name in (PROGRESS, SAID):
            (run.path / name).unlink(missing_ok=True)
        folders = ["--out", str(run.path / ANSWER), "--run-dir", str(run.path / WORK)]
        typed = [about["kind"], about["file"], *arguments(about["settings"]), *folders]
        with (run.path / SAID).open("wb") as said:
            process = start_command([*typed, "--overwrite"], run.path / PROGRESS, said)
            while process.poll() is None and not self._ends(run):
                self._stop.wait(SECONDS)
            state = self._state(run, process)
        message = "" if state == "done" else _message(run)
        with self._lock:
            self._cancelled.discard(run.id)
            run.update(state=state, message=message, ended=_now())

    def _ends(self, run: Entry) -> bool:
        return self._stop.is_set() or run.id in self._cancelled

    def _state(self, run: Entry, process: subprocess.Popen[bytes]) -> str:
        """What became of a process, which ends if it was still at work."""
        at_work = process.poll() is None
        assert process.stdin is not None
        process.stdin.close()  # which asks it to end
        if at_work:
            try:
                process.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            return "cancelled" if run.id in self._cancelled else "queued"
        return "done" if process.returncode == 0 else "failed"


def progress_of(run: Entry) -> dict[str, Any]:
    """The stage of a run at work, how much of it is done, and the seconds that it still takes."""
    try:
        about: dict[str, Any] = json.loads((run.path / PROGRESS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {"stage": "reading the table", "done": 0, "total": 0, "left": None}
    done, total = about["done"], about["total"]
    left = about["seconds"] * (total - done) / done if done else None
    return {"stage": about["stage"], "done": done, "total": total, "left": left}


def warnings_of(run: Entry) -> list[str]:
    """What the command said beside its answer."""
    said = re.split(r"^(?=Warning: |Note: |smrmr: )", _said(run.path / SAID), flags=re.MULTILINE)
    return [" ".join(one.split()) for one in said if one.startswith(("Warning: ", "Note: "))]


def _message(run: Entry) -> str:
    """The error of a command; of one that has none, such as a kill, its last lines."""
    said = _said(run.path / SAID)
    _, found, message = said.rpartition("smrmr: ")
    return (message if found else said[-2000:]).strip() or "the run ended without a word."


def _said(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")
