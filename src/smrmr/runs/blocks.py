"""Runs work in blocks: on joblib's workers, with one BLAS thread each, kept by checkpoints."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeVar

from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from .checkpoints import current_checkpoints

Item = TypeVar("Item")
Found = TypeVar("Found")


@contextmanager
def open_pool(n_jobs: int | None, prefer: str = "threads") -> Iterator[Any]:
    """Open joblib's workers: threads, or what the user set with ``joblib.parallel_config``.

    Whole fits, of which Python itself takes much of the time, prefer processes.
    """
    with one_blas_thread(), Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator") as pool:
        yield pool


def run_blocks(pool: Any, tasks: list[Any]) -> Iterator[list[NDArray[Any]]]:
    """Results of the tasks in order, each a list of arrays.

    In a run with checkpoints, finished blocks are read and new ones kept. An error or Ctrl-C in
    the use of the results cancels the rest.
    """
    checkpoints = current_checkpoints()
    stage = checkpoints.next_stage() if checkpoints else 0
    there = [checkpoints is not None and checkpoints.holds(stage, i) for i in range(len(tasks))]
    results = pool(task for task, known in zip(tasks, there, strict=True) if not known)
    try:
        for i, known in enumerate(there):
            found = checkpoints.load(stage, i) if checkpoints and known else None
            if found is None:
                function, arguments, options = tasks[i]
                found = function(*arguments, **options) if known else next(results)  # damaged: here
                if checkpoints:
                    checkpoints.save(stage, i, found)
            yield found
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib's remark that results were left unused
            results.close()


def map_on_threads(
    function: Callable[[Item], Found],
    items: Iterable[Item],
    n_jobs: int | None,
    at_once: int | None = None,
    told: Callable[[int], None] | None = None,
) -> list[Found]:
    """What a function makes of each item, in order: for steps of a few hundredths of a second.

    They share the memory of this process whatever workers the user set, and no checkpoint keeps
    them: to send or to write what they need would take longer. `at_once` is how many memory allows
    at the same time; `told` hears how many are done, on the thread of the caller.
    """
    items = list(items)
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    n_threads = n_threads if at_once is None else min(n_threads, at_once)
    if n_threads <= 1:
        return _listed(map(function, items), told)
    n_threads = min(n_threads, cpu_count())  # which takes long to ask for
    with one_blas_thread(), Parallel(n_threads, require="sharedmem", return_as="generator") as pool:
        return _listed(pool(delayed(function)(item) for item in items), told)


def _listed(results: Iterator[Found], told: Callable[[int], None] | None) -> list[Found]:
    found = []
    for one in results:
        found.append(one)
        if told is not None:
            told(len(found))
    return found


class _BlasLimit:
    """Keeps BLAS to one thread while anyone asks for it: its own threads change the last bits.

    The limit is the process's, so it is set by the first to come and lifted by the last to go.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                self._limit = _threadpools().limit(limits=1, user_api="blas")
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.restore_original_limits()


_blas_limit = _BlasLimit()


def one_blas_thread() -> _BlasLimit:
    """Return a context in which BLAS uses one thread."""
    return _blas_limit


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()
