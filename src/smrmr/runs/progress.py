"""Shows progress: bars with the time left on a terminal, one line elsewhere, or in a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from .files import replacing

if TYPE_CHECKING:
    from ..types import Progress

DRAWS = "draws"  # the stage that counts draws, within which others come again and again
COUNTED = {DRAWS: "draw", "trials": "trial"}  # stages that the line counts, by what it says
MOST_COUNTED = 10  # of a stage that the line names
SECONDS_BETWEEN = 0.2  # writes of a file of progress


@contextmanager
def progress_bars(console: Any = None) -> Iterator[Progress]:
    """Yield a progress callback that draws a bar per stage on the error stream.

    On the console of a command they are gone at the end, which leaves the screen to the answer. In
    a notebook bars need ipywidgets; without them stages are named in one line.
    """
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    shown_on = Console(stderr=True) if console is None else console
    if shown_on.is_jupyter and find_spec("ipywidgets") is None:
        with ProgressLine().stages() as show_stages:
            yield show_stages
        return
    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    tasks: dict[str, Any] = {}
    with Bars(*columns, console=shown_on, transient=console is not None) as bars:

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            elif bars.tasks[tasks[stage]].finished:  # it comes again, in the next draw
                bars.reset(tasks[stage], total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield show


@contextmanager
def shown(progress: Progress | bool | None) -> Iterator[Progress | None]:
    """What to call as work is done: bars for True, nothing for None and False."""
    if progress is True:
        with progress_bars() as bars:
            yield bars
    else:
        yield progress or None


@contextmanager
def progress_file(path: Path) -> Iterator[Progress]:
    """Yield a progress callback that keeps a file of JSON up to date, for programs to read.

    It holds the stage, how much of it is done, of how much in total, and for how many seconds it
    has lasted.
    """
    began: dict[str, float] = {}
    written, last = -SECONDS_BETWEEN, ""

    def show(stage: str, done: int, total: int) -> None:
        nonlocal written, last
        now = perf_counter()
        if stage not in began or done == 0:
            began[stage] = now
        if stage == last and now - written < SECONDS_BETWEEN:
            return
        written, last = now, stage
        about = {"stage": stage, "done": done, "total": total, "seconds": now - began[stage]}
        with replacing(path) as unfinished:
            unfinished.write_text(json.dumps(about), encoding="utf-8")

    yield show


class ProgressLine:
    """One line on the error stream that grows as work is done; for what is no terminal."""

    def __init__(self) -> None:
        self._open = False  # whether the line holds something

    def add(self, text: str) -> None:
        """Write at the end of the line, at once."""
        text = f", {text}" if self._open else text
        self._open = True  # before it is: a kill may come in between
        print(text, end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """End the line, so that something else can be said."""
        if self._open:
            print(file=sys.stderr, flush=True)
        self._open = False

    @contextmanager
    def stages(self) -> Iterator[Progress]:
        """Yield a progress callback that names stages once, when they end, and counts some."""
        start = perf_counter()
        named: set[str] = set()

        def show(stage: str, done: int, total: int) -> None:
            due, said = done == total, stage
            if stage in COUNTED:
                due = done > 0 and (due or done % -(-total // MOST_COUNTED) == 0)
                said = f"{COUNTED[stage]} {done} of {total}"
            if due and said not in named:
                named.add(said)
                self.add(said)

        yield show
        self.add(f"done in {perf_counter() - start:.1f} s.")
        self.end()
