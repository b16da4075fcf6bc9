"""Shows progress on the terminal: one bar per stage, with the time left."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..types import Progress


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Yield a progress callback that draws bars on the error stream."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description:<12}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    tasks: dict[str, Any] = {}
    with Bars(*columns, console=Console(stderr=True)) as bars:

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks or bars.tasks[tasks[stage]].finished:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield show


def plain_lines(stage: str, done: int, total: int) -> None:
    """Say on the error stream that a stage is over; for output that is not a terminal."""
    if done == total:
        print(f"{stage}: done", file=sys.stderr)
