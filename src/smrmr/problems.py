"""Errors and warnings as values: what came in, for which argument, what is needed, the cure.

Messages name arguments by `setting`, which marks them. Python says ``n_jobs=0``, the command line
``--jobs 0``: each renders the marks in its own way, and nothing else of a message is ever changed.
"""

import sys
import warnings
from collections.abc import Callable
from typing import Any

BEGIN, VALUE, END = "\ue000", "\ue001", "\ue002"  # of a setting; characters that no text holds


def setting(name: str, *value: Any) -> str:
    """An argument within a message, with its value if one is given.

    >>> in_python(f"Say {setting('target', 'classes')}, or leave out {setting('n_jobs')}.")
    "Say target='classes', or leave out n_jobs."
    """
    return f"{BEGIN}{name}{VALUE}{repr(*value) if value else ''}{END}"


def render(message: str, say: Callable[[str, str], str]) -> str:
    """The message with every setting as `say` puts it, from its name and the repr of its value."""
    text, *rest = message.split(BEGIN)
    for part in rest:
        marked, _, after = part.partition(END)
        name, _, value = marked.partition(VALUE)
        text += say(name, value) + after
    return text


def in_python(message: str) -> str:
    """The message with settings as arguments of Python."""
    return render(message, lambda name, value: f"{name}={value}" if value else name)


class Problem(ValueError):  # noqa: N818 it is caught as a ValueError
    """What is wrong with what came in.

    Parameters
    ----------
    found
        What came in, in a sentence.
    needed
        What is needed instead.
    cure
        What to change.
    argument
        Which argument it is about.
    """

    def __init__(self, found: str, needed: str = "", cure: str = "", argument: str = "") -> None:
        super().__init__(found, needed, cure, argument)  # which pickles keep
        self.found, self.needed, self.cure, self.argument = found, needed, cure, argument

    @property
    def message(self) -> str:
        """All sentences, with settings marked."""
        return " ".join(filter(None, (self.found, self.needed, self.cure)))

    def __str__(self) -> str:
        return in_python(self.message)


class DataWarning(UserWarning):
    """What a user should know about the data or the settings; `message` has settings marked."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return in_python(self.message)


def warn(message: str) -> None:
    """Warn the user, pointing at the line outside the package that called it."""
    warnings.warn(DataWarning(message), stacklevel=_user_stacklevel())


def _user_stacklevel() -> int:
    """Stack level of the first caller outside the package, so that warnings point at user code."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("smrmr"):
        frame, level = frame.f_back, level + 1
    return level
