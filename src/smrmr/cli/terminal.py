"""What every command of the terminal shares: progress, warnings, and errors in one line."""

import ast
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from shlex import quote
from signal import SIGTERM, default_int_handler, signal
from threading import current_thread, main_thread
from typing import Any, TypeAlias

import typer
from rich.console import Console

from ..problems import ANY, as_argument, message_of, render
from ..runs.progress import ProgressLine, progress_bars, progress_file

PROGRESS = "SMRMR_PROGRESS"  # of the environment: a file that progress is written to
console = Console(stderr=True)  # quiet while a command was asked to be
line = ProgressLine()
Flags: TypeAlias = Mapping[str, tuple[str, str]]
"""Options by the names of their parameters, each with what stands for its value in help."""

RENAMED = {  # arguments of Python whose option has another name
    "target": "target_type",
    "n_jobs": "jobs",
    "n_draws": "draws",
    "n_fits": "fits",
    "random_state": "seed",
    "rng": "seed",
}
_flags: ContextVar[Flags | None] = ContextVar("flags", default=None)


@contextmanager
def naming(flags: Flags) -> Iterator[None]:
    """Let messages name these options."""
    token = _flags.set(flags)
    try:
        yield
    finally:
        _flags.reset(token)


@contextmanager
def clear_errors(kept: str = "nothing was written") -> Iterator[None]:
    """Turn what users can mend into one message and exit code 2; Ctrl-C and kill into 130.

    An interrupt may say what was kept, see `keeping`.
    """
    try:
        with _kill_as_interrupt(), warnings.catch_warnings():
            warnings.showwarning = _show_warning
            yield
    except (ValueError, ImportError, OSError, MemoryError, RuntimeError) as error:
        _fail(by_options(message_of(error)) or type(error).__name__, 2)
    except KeyboardInterrupt as interrupt:
        _fail(f"interrupted; {str(interrupt) or kept}.", 130)
    finally:
        line.end()
        console.quiet = False


@contextmanager
def keeping(run_dir: Any) -> Iterator[None]:
    """Let an interrupt say how to go on, where finished work is kept in a folder."""
    try:
        yield
    except KeyboardInterrupt:
        if run_dir is None or not Path(run_dir).exists():
            raise
        kept = f"finished work is in {run_dir}, and the same command goes on from there"
        raise KeyboardInterrupt(kept) from None


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
    """Bars on a terminal, one plain line elsewhere, nothing if asked to be quiet.

    Programs that show progress themselves name a file for it in the environment.
    """
    if file := os.environ.get(PROGRESS):
        return progress_file(Path(file))
    if console.quiet:
        return nullcontext()
    return progress_bars(console) if console.is_terminal else line.stages()


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    note(f"Warning: {by_options(message_of(message))}")


def by_options(message: str) -> str:
    """The message with settings as options of this command, or as Python has them without one.

    >>> from smrmr.problems import setting
    >>> with naming({"jobs": ("--jobs", ""), "drop": ("--drop", "COLUMN")}):
    ...     by_options(f"{setting('n_jobs', 0)} or {setting('drop', ['a b', 'n_jobs=1'])}")
    "--jobs 0 or --drop 'a b' --drop n_jobs=1"
    """
    return render(message, _as_option)


def _as_option(name: str, value: str) -> str:
    """A setting as it is typed; what only Python offers, which has no name, is left out."""
    scope, _, plain = name.rpartition(".")
    flag, anything = (_flags.get() or {}).get(plain if scope else RENAMED.get(name, name), ("", ""))
    if not (name and flag):
        return as_argument(name, value) if name else ""
    if value in ("", "True") or (value == ANY and not anything):
        return flag
    try:
        given = anything if value == ANY else ast.literal_eval(value)
    except (SyntaxError, ValueError):  # the repr of an object
        given = value
    several = given if isinstance(given, list | tuple) else [given]
    return " ".join(f"{flag} {_typed(one)}".rstrip() for one in several)


def _typed(value: Any) -> str:
    return "none" if value is None else quote(value) if isinstance(value, str) else str(value)
