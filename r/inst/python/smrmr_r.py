"""What R calls: errors and warnings as texts in R's words, and tables as R can read them.

Values go back as bytes and lists, which R reads whatever versions of NumPy and reticulate meet.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np

from smrmr import SmRMR
from smrmr.problems import message_of, render

OF_FIT = ("aggregate", "coordinates")
NOT_SETTINGS = ("fdr", "answer", "keep", "memory")  # an argument in R, or of `transform` alone
NAMES_IN_R = {"random_state": "seed"}
EXPECTED = (ValueError, TypeError, ImportError, OSError)  # of wrong input; others are faults


@dataclass
class Answer:
    """What a function returned, or its error, and what it warned of."""

    value: Any = None
    error: str | None = None
    warnings: list[str] = field(default_factory=list)


def attempt(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Answer:
    """Call a function; its errors and warnings become texts."""
    answer = Answer()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for for_developers in (DeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", for_developers)
        try:
            answer.value = function(**arguments)
        except EXPECTED as error:
            answer.error = in_r(message_of(error))
        except Exception as error:
            answer.error = f"smrmr failed ({error!r}). This is a fault of smrmr: please report it."
    said = (warning.message for warning in caught)
    texts = (message_of(one) if isinstance(one, Warning) else str(one) for one in said)
    answer.warnings = list(dict.fromkeys(map(in_r, texts)))
    return answer


def in_r(message: str) -> str:
    """The message with settings as arguments of R.

    >>> from smrmr.problems import setting
    >>> in_r(f"Use {setting('target', 'classes')}, or leave out {setting('random_state')}.")
    'Use target = "classes", or leave out seed.'
    """
    return render(message, _as_argument)


def _as_argument(name: str, value: str) -> str:
    name = name.rpartition(".")[2]
    return " = ".join(
        filter(None, (NAMES_IN_R.get(name, name), "" if value == "..." else _literal(value)))
    )


def _literal(text: str) -> str:
    """A value that Python writes as `text`, as R writes it."""
    try:
        return _in_r(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text


def _in_r(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list | tuple):
        return f"c({', '.join(map(_in_r, value))})"
    return repr(value)


def settings() -> list[str]:
    """Names of the settings that `select` takes besides what its signature in R names."""
    own = [name for name in signature(SmRMR).parameters if name not in NOT_SETTINGS]
    return [*own, *OF_FIT]


def select(X: Any, y: Any, covariates: Any, groups: Any, settings: Mapping[str, Any]) -> Any:
    """The `Selection` of a fit of `SmRMR`; `settings` are of the selector and of its `fit`."""
    of_fit = {name: settings[name] for name in OF_FIT if name in settings}
    selector = SmRMR(**{name: settings[name] for name in settings if name not in OF_FIT})
    return selector.fit(X, y, covariates=covariates, groups=groups, **of_fit).selection_


def table(frame: Any) -> dict[str, Any]:
    """Columns of a DataFrame by name: bytes of doubles or integers, or a list of texts.

    >>> import pandas as pd
    >>> table(pd.DataFrame({"p": [0.5], "n": [3], "b": [True], "t": ["x"]}))["t"]
    {'kind': 'text', 'values': ['x']}
    """
    return {str(name): _column(frame[name]) for name in frame}


def _column(column: Any) -> dict[str, Any]:
    kinds = {"f": ("double", "<f8"), "i": ("double", "<f8"), "u": ("double", "<f8")}
    kinds["b"] = ("logical", "<i4")
    kind, dtype = kinds.get(column.dtype.kind, ("text", ""))
    if kind == "text":
        given = column.astype(object)
        texts = given.where(given.notna(), None).tolist()
        return {"kind": kind, "values": [None if t is None else str(t) for t in texts]}
    if column.dtype.kind in "iu" and (column.abs() < 2**31).all():
        kind, dtype = "integer", "<i4"
    return {"kind": kind, "values": bytearray(np.asarray(column, dtype=dtype).tobytes())}


def statement(found: Any) -> str:
    """What was found and what that rests on, without advice, which names Python."""
    from smrmr.report import statement as said

    return said(found)


def summary(found: Any) -> dict[str, Any]:
    """Counts and names that `summary` prints."""
    from smrmr.decision import LEVELS
    from smrmr.selection.layers import LAYERS

    names = {name: [found.names[k] for k in found.layer(name).features] for name in LAYERS}
    by_level = {f"{level:g}": len(found.at(fdr=level).selected) for level in LEVELS}
    size = {"n_rows": found.n_rows, "n_features": found.n_features, "target": found.target}
    return {"size": size, "layers": names, "by_level": by_level}


def names(found: Any) -> list[str]:
    """Names of all features."""
    return list(found.names)


def from_json(text: str) -> Any:
    """The selection that was kept as text."""
    from smrmr import Selection

    return Selection.from_json(text)


def example(study: str) -> dict[str, Any]:
    """The example table, and the genes that are true."""
    from smrmr import load_example

    found = load_example(study)
    return {"table": table(found), "true": found.attrs["true"]}
