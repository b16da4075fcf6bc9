"""Shows progress on the terminal or in a notebook: one bar per stage, with the time left."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from time import monotonic
from typing import Any

from ..types import Progress

PAUSE = 0.2  # seconds between two states of a line that is written again and again


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Yield a progress callback that draws bars on the error stream.

    In a notebook bars need ipywidgets; without them a single line is written again and again.
    """
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    if console.is_jupyter and find_spec("ipywidgets") is None:
        yield _one_line()
        print(file=sys.stderr)
        return
    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    tasks: dict[str, Any] = {}
    with Bars(*columns, console=console) as bars:

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks or bars.tasks[tasks[stage]].finished:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield show


def _one_line() -> Progress:
    """A callback that writes how far a stage is over what it wrote before."""
    last = -PAUSE

    def show(stage: str, done: int, total: int) -> None:
        nonlocal last
        if done == total or monotonic() - last >= PAUSE:
            last = monotonic()
            print(f"\r{f'{stage}: {done}/{total}':<60}", end="", file=sys.stderr, flush=True)

    return show


def plain_lines(stage: str, done: int, total: int) -> None:
    """Say on the error stream that a stage is over; for output that is not a terminal."""
    if done == total:
        print(f"{stage}: done", file=sys.stderr)
