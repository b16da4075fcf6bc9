"""Says how work is done: on how many threads, in how much memory, and who hears of it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter

from ..settings import check_jobs
from ..types import Progress

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Work:
    """Threads, memory and progress of a piece of work; none of them changes its result.

    Attributes
    ----------
    n_jobs
        Threads, as in joblib.
    max_memory
        Bytes for the work besides the data and the result.
    progress
        Called as ``progress(stage, done, total)``.
    seconds
        How long each stage took, filled in as stages end.
    """

    n_jobs: int | None = None
    max_memory: int = 10**9
    progress: Progress | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_jobs(self.n_jobs)

    def quietly(self) -> Work:
        """The same without progress, for work that is a step of something else."""
        return replace(self, progress=None)

    def report(self, stage: str, done: int, total: int) -> None:
        """Tell whoever listens how far a stage has come."""
        if self.progress is not None:
            self.progress(stage, done, total)

    @contextmanager
    def stage(self, name: str, *, steps: bool = False) -> Iterator[None]:
        """Add up the seconds of a stage; it is one step unless it reports `steps` of its own."""
        start = perf_counter()
        if not steps:
            self.report(name, 0, 1)
        yield
        if not steps:
            self.report(name, 1, 1)
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start
        logger.info("%s: %.2f s", name, self.seconds[name])
