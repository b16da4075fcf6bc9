"""What every command of the terminal shares: progress, warnings, and errors in one line."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from signal import SIGTERM, default_int_handler, signal
from threading import current_thread, main_thread
from typing import Any

import typer
from rich.console import Console

from ..runs.progress import ProgressLine, progress_bars
from .wording import by_options

console = Console(stderr=True)  # quiet while a command was asked to be
line = ProgressLine()
_options: ContextVar[Mapping[str, str] | None] = ContextVar("options", default=None)


@contextmanager
def naming(options: Mapping[str, str]) -> Iterator[None]:
    """Let messages name these options, given by the names of their parameters."""
    token = _options.set(options)
    try:
        yield
    finally:
        _options.reset(token)


@contextmanager
def clear_errors(kept: str = "nothing was written") -> Iterator[None]:
    """Turn what users can mend into one message and exit code 2; Ctrl-C and kill into 130."""
    try:
        with _kill_as_interrupt(), warnings.catch_warnings():
            warnings.showwarning = _show_warning
            yield
    except (ValueError, ImportError, OSError, MemoryError, RuntimeError) as error:
        _fail(_worded(str(error) or type(error).__name__), 2)
    except KeyboardInterrupt:
        _fail(f"interrupted; {kept}.", 130)
    finally:
        line.end()
        console.quiet = False


def _fail(message: str, code: int) -> None:
    line.end()
    typer.echo(f"smrmr: {message}", err=True)
    raise typer.Exit(code) from None


@contextmanager
def _kill_as_interrupt() -> Iterator[None]:
    """Let SIGTERM unwind like Ctrl-C, which ends worker processes and removes unfinished files."""
    if current_thread() is not main_thread():  # where Python sets no handlers
        yield
        return
    before = signal(SIGTERM, default_int_handler)
    try:
        yield
    finally:
        signal(SIGTERM, before)


def begin(work: str) -> None:
    """Say at once what is done first, while what it takes is loaded."""
    if console.is_terminal:
        console.print(f"{work} ...", highlight=False, markup=False)
    elif not console.quiet:
        line.add(work)


def note(text: str) -> None:
    """Say something that is no part of the answer."""
    line.end()
    console.print(text, highlight=False, markup=False, soft_wrap=not console.is_terminal)


def terminal_progress() -> Any:
    """Bars on a terminal, one plain line elsewhere, nothing if asked to be quiet."""
    if console.quiet:
        return nullcontext()
    return progress_bars(console) if console.is_terminal else line.stages()


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    note(f"Warning: {_worded(str(message))}")


def _worded(message: str) -> str:
    return by_options(message, _options.get() or {})
