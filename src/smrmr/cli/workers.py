"""Hands work to the workers of a Dask scheduler."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import joblib


@contextmanager
def workers_of(scheduler: str | None) -> Iterator[None]:
    """Let joblib send its tasks to a Dask scheduler, such as ``tcp://10.0.0.1:8786``."""
    if scheduler is None:
        yield
        return
    try:
        from dask.distributed import Client
    except ImportError:
        raise ImportError("--scheduler needs Dask. Install it: pip install smrmr[dask]") from None
    try:
        client: Any = Client(scheduler, timeout=10)  # type: ignore[no-untyped-call,unused-ignore]
    except (OSError, ValueError, TimeoutError) as error:
        raise ValueError(
            f"no Dask scheduler answers at {scheduler} ({error}). Start one: dask scheduler"
        ) from None
    with client, joblib.parallel_config(backend="dask", n_jobs=-1):
        yield
