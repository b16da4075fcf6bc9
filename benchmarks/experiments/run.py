"""Runs tasks in parallel, and keeps their rows as soon as they are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
from joblib import Parallel

from smrmr.types import Progress

from ..stores import Store


def keep_rows(
    stage: str, store: Store, calls: Sequence[Any], jobs: int | None, progress: Progress | None
) -> None:
    """Append the rows that each call returns to a store, call by call as they finish.

    Parameters
    ----------
    stage
        What `progress` calls this work.
    store
        Where rows are kept.
    calls
        Calls made by joblib's `delayed`; each returns a list of rows.
    jobs
        Calls at a time, as joblib's `n_jobs`; the backend is joblib's.
    progress
        Called with the stage, the calls done and the calls to do.
    """
    results = Parallel(n_jobs=jobs, return_as="generator_unordered")(calls)
    if progress and calls:
        progress(stage, 0, len(calls))
    for count, rows in enumerate(results, start=1):
        store.append(rows)
        if progress:
            progress(stage, count, len(calls))


def seed_of(name: str, *numbers: int) -> np.random.SeedSequence:
    """The seed of a named piece of work, the same in every process and on every machine."""
    return np.random.SeedSequence([crc32(name.encode()), *numbers])


def as_integer(seed: np.random.SeedSequence) -> int:
    """A seed as methods take it."""
    return int(seed.generate_state(1)[0])


def failure(error: Exception) -> str:
    """A failure as the status of a row: one line, not too long."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
