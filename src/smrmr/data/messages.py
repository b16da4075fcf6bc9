"""Wording that the messages of this folder share."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problems import Problem, setting

EXPONENT = r"(?:[eE][+-]?\d+)?"
WITHOUT_COMMA = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)" + EXPONENT)
WITH_COMMA = re.compile(  # 1,234.5 and 1.234,5 and 3,5
    r"[+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d+|\d+,\d+)" + EXPONENT
)


def named(names: Iterable[Any], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    names = [str(name) for name in names]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def quoted(names: Iterable[Any]) -> str:
    """The first five names in quotation marks, and how many more there are."""
    return named(map(repr, map(str, names)))


def worst(counts: NDArray[Any], name: Callable[[int], Any]) -> str:
    """The five columns with the largest counts, each with its own."""
    n_bad = int(np.count_nonzero(counts))
    order = np.argsort(-counts, kind="stable")[: min(5, n_bad)]
    return ", ".join([f"{name(int(k))}: {counts[k]}" for k in order] + ["..."] * (n_bad > 5))


def did_you_mean(name: str, known: Iterable[Any]) -> str:
    """Suggest names like the one that was not found."""
    known = [str(k) for k in known]
    lowered = {k.lower(): k for k in known}
    close = get_close_matches(name, known, n=3) or [
        lowered[k] for k in get_close_matches(name.lower(), list(lowered), n=3)
    ]
    if close:
        return f" Did you mean {' or '.join(map(repr, close))}?"
    return f" There are {quoted(known)}." if known else ""


def position_of(name: Any, known: Sequence[str], argument: str = "", what: str = "feature") -> int:
    """Place of a feature by its name, or the place itself; `argument` is whose it is."""
    whose = f"{setting(argument)}: " if argument else ""
    if isinstance(name, list):
        raise Problem(f"{whose}{name!r} are several. One {what} is needed.")
    if isinstance(name, Integral):
        if str(name) in known and list(known).index(str(name)) != int(name):
            raise Problem(
                f"{whose}{what} {name} may be the one of that position, or the one of that name.",
                cure=f"Give a text for the name: '{name}'.",
            )
        if 0 <= int(name) < len(known):
            return int(name)
        raise Problem(f"{whose}{what} {name} is not between 0 and {len(known) - 1}.")
    if str(name) not in known:
        raise Problem(f"{whose}there is no {what} {name!r}.{did_you_mean(str(name), known)}")
    return list(known).index(str(name))


def repeated(names: Iterable[Any]) -> list[Any]:
    """The names that are there more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def say_repeated(names: Iterable[Any]) -> str:
    """Say which names are not different; nothing if all are."""
    found = repeated(names)
    return f"{quoted(found)} appear more than once. Each must be different." if found else ""


def refuse_repeated(names: Iterable[Any], what: str) -> None:
    """Refuse names that are not all different; `what` says whose they are."""
    if said := say_repeated(names):
        raise Problem(f"{what} {said}")


def refuse_all(problems: Sequence[Problem]) -> None:
    """Refuse an input for all that is wrong with it, in one message."""
    if len(problems) == 1:
        raise problems[0]
    if problems:
        numbered = (f"\n  {k}. {problem.message}" for k, problem in enumerate(problems, start=1))
        whole = f"{len(problems)} things must be mended:{''.join(numbered)}"
        raise Problem(whole, parts=tuple(problems))


def refuse_missing(missing: NDArray[np.bool_], what: str) -> None:
    """Refuse values of which some are missing."""
    if missing.any():
        raise Problem(
            f"{what} has {missing.sum()} missing or infinite values in {missing.size}.",
            cure="Drop these samples everywhere, or fill them.",
        )


def refuse_other_rows(n_rows: int, what: str, n_other: int) -> None:
    """Refuse what has not as many rows as X."""
    if n_rows != n_other:
        raise Problem(
            f"X has {n_rows} rows and {what} has {n_other}.",
            "They must describe the same samples in the same order.",
        )


def number_with_comma(texts: Iterable[str]) -> str | None:
    """The first number with a comma, as spreadsheets write them, if all these texts are numbers."""
    found = None
    for text in texts:
        if WITH_COMMA.fullmatch(text):
            found = found or text
        elif not WITHOUT_COMMA.fullmatch(text):
            return None
    return found
