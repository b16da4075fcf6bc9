"""Reads docstrings: the one place where a setting is described, whoever offers it."""

import inspect
import re
from collections.abc import Callable
from textwrap import dedent, indent
from typing import TypeVar

Class = TypeVar("Class", bound=type)
SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL)


def parameters_of(doc: str | None) -> dict[str, str]:
    """What a docstring says of every parameter, by its name.

    >>> parameters_of(parameters_of.__doc__), parameters_of('''Parameters
    ... ----------
    ... low, high
    ...     Bounds.
    ... ''')
    ({}, {'low': 'Bounds.', 'high': 'Bounds.'})
    """
    section = SECTION.search(inspect.cleandoc(doc or ""))
    _, *parts = re.split(r"^(\S.*)\n", section[1] if section else "", flags=re.MULTILINE)
    return {
        name: dedent(text).strip()
        for names, text in zip(parts[::2], parts[1::2], strict=True)
        for name in names.split(", ")
    }


def taking_over(source: type) -> Callable[[Class], Class]:
    """Let the docstring of a class describe what its parameters share with those of another."""

    def complete(own: Class) -> Class:
        known = parameters_of(source.__doc__) | parameters_of(own.__doc__)
        texts = [
            f"{name}\n{indent(known[name], '    ')}\n"
            for name in inspect.signature(own).parameters
            if name in known
        ]
        section = "Parameters\n----------\n" + "".join(texts) + "\n"
        own.__doc__ = SECTION.sub(lambda _: section, inspect.cleandoc(own.__doc__ or ""))
        return own

    return complete
