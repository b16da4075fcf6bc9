"""What every command of the terminal shares: progress, warnings, and errors in one line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import typer
from rich.console import Console

from .bars import plain_lines, progress_bars

console = Console(stderr=True)


@contextmanager
def clear_errors(kept: str = "nothing was written") -> Iterator[None]:
    """Turn what users can mend into one message and exit code 2; Ctrl-C into 130."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            yield
    except (ValueError, ImportError, OSError, MemoryError, RuntimeError) as error:
        typer.echo(f"smrmr: {error or type(error).__name__}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo(f"smrmr: interrupted; {kept}.", err=True)
        raise typer.Exit(130) from None


def terminal_progress() -> Any:
    """Bars on a terminal, plain lines elsewhere."""
    return progress_bars() if console.is_terminal else nullcontext(plain_lines)


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    console.print(f"Warning: {message}", highlight=False, markup=False)
