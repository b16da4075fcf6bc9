"""What every command of the terminal shares: progress, warnings, and errors in one line."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from signal import SIGTERM, default_int_handler, signal
from threading import current_thread, main_thread
from typing import Any

import typer
from rich.console import Console

from ..runs.progress import plain_lines, progress_bars

console = Console(stderr=True)


@contextmanager
def clear_errors(kept: str = "nothing was written") -> Iterator[None]:
    """Turn what users can mend into one message and exit code 2; Ctrl-C and kill into 130."""
    try:
        with _kill_as_interrupt(), warnings.catch_warnings():
            warnings.showwarning = _show_warning
            yield
    except (ValueError, ImportError, OSError, MemoryError, RuntimeError) as error:
        typer.echo(f"smrmr: {error or type(error).__name__}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo(f"smrmr: interrupted; {kept}.", err=True)
        raise typer.Exit(130) from None


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


def terminal_progress() -> Any:
    """Bars on a terminal, plain lines elsewhere."""
    return progress_bars() if console.is_terminal else nullcontext(plain_lines)


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    console.print(f"Warning: {message}", highlight=False, markup=False)
