"""Errors and warnings as values: what came in, for which argument, what is needed, the cure.

Messages name arguments by `setting`, which marks them. Python says ``n_jobs=0``, the command line
``--jobs 0``: each renders the marks in its own way, and nothing else of a message is ever changed.
"""

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EDQUOT, ENOSPC
from reprlib import Repr
from types import FrameType
from typing import Any

BEGIN, VALUE, END = "\ue000", "\ue001", "\ue002"  # of a setting; `repr` escapes them in other texts
CALLERS = ("smrmr", "sklearn", "joblib")  # between a user's line and ours
ANY = "..."  # instead of the repr of a value
MARKED = re.compile(f"{BEGIN}([\\w.]*){VALUE}([^{BEGIN}{VALUE}{END}]*){END}")

_shortened = Repr()
_shortened.maxstring = _shortened.maxother = 200


def setting(name: str, *value: Any) -> str:
    """An argument within a message, with its value if one is given.

    ``...`` stands for any value: Python names the argument alone, the command also what it takes.

    Two functions may give one name to different things; then the name of the function comes
    before it, such as ``"read_data.target"``, and Python leaves it out.

    >>> in_python(f"Use {setting('target', 'classes')}, or leave out {setting('n_jobs')}.")
    "Use target='classes', or leave out n_jobs."
    """
    text = "" if not value else ANY if value[0] is ... else _shortened.repr(*value)
    return f"{BEGIN}{name}{VALUE}{text}{END}"


def only_in_python(text: str) -> str:
    """A part of a message that the command line leaves out."""
    return f"{BEGIN}{VALUE}{text}{END}"


def render(message: str, say: Callable[[str, str], str]) -> str:
    """The message with every setting as `say` puts it, from its name and the repr of its value."""
    return MARKED.sub(lambda marked: say(marked[1], marked[2]), message)


def as_argument(name: str, value: str) -> str:
    """A setting as Python takes it."""
    return "=".join(filter(None, (name.rpartition(".")[2], "" if value == ANY else value)))


def in_python(message: str) -> str:
    """The message with settings as arguments of Python."""
    return render(message, as_argument)


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
    parts
        Several problems that this one lists.
    """

    def __init__(
        self,
        found: str,
        needed: str = "",
        cure: str = "",
        argument: str = "",
        parts: "tuple[Problem, ...]" = (),
    ) -> None:
        super().__init__(found, needed, cure, argument, parts)  # which pickles keep
        self.found, self.needed, self.cure, self.argument = found, needed, cure, argument
        self.parts = parts

    @property
    def message(self) -> str:
        """All sentences, with settings marked."""
        return " ".join(filter(None, (self.found, self.needed, self.cure)))

    def __str__(self) -> str:
        return in_python(self.message)

    def __repr__(self) -> str:
        return f"Problem({str(self)!r})"


class DataWarning(UserWarning):
    """What a user should know about the data or the settings; `message` has settings marked."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return in_python(self.message)


@contextmanager
def full_disk(path: Any, instead: str) -> Iterator[None]:
    """Say which disk is full, for the error of the system names none; and what to do instead."""
    try:
        yield
    except OSError as error:
        if error.errno not in (ENOSPC, EDQUOT):
            raise
        cure = f"Free some room, or {instead}."
        raise Problem(f"there is no room left on the disk for {path}.", cure=cure) from None


def message_of(error: BaseException) -> str:
    """What an error or a warning says, with settings marked if it is one of ours."""
    return error.message if isinstance(error, Problem | DataWarning) else str(error)


def _package_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).split(".")[0]


def warn(message: str) -> None:
    """Warn the user, pointing at their line: outside the package, and what may call it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _package_of(frame) in CALLERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(DataWarning(message), stacklevel=level)
