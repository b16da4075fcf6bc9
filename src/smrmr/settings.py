"""Reads, writes, changes and checks settings.

Every stage of the method has strategies: frozen dataclasses with a short name, such as ``"split"``
for `Split`. A setting may be given as a strategy, as its name, or as text with some of its fields,
such as ``"split(share=0.3)"``, which is what the command line and settings files use.
"""

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from hashlib import sha256
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from .problems import Problem, only_in_python, setting

LONG = 20  # items of a list that are written out
WORDS = {"true": True, "false": False, "none": None, "True": True, "False": False, "None": None}


class ComparesBySettings:
    """Compares strategies that may hold arrays by the text they are written as."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and write_setting(other) == write_setting(self)

    def __hash__(self) -> int:
        return hash(write_setting(self))


def read_strategy(
    name: str, value: Any, known: Mapping[str, Callable[..., Any]], method: str
) -> Any:
    """The strategy that `value` stands for; an object with the method stands for itself.

    >>> from smrmr.paper.solver import PENALTIES
    >>> read_strategy("penalty", "mcp(b=3)", PENALTIES, "slope")
    MCP(b=3, lla_steps=2)
    """
    if value is None and "none" in known:
        value = "none"
    if not isinstance(value, str) and hasattr(value, method) and not isinstance(value, type):
        return value
    alias, changes = _parsed(value) if isinstance(value, str) else (None, {})
    if alias is None or alias not in known:
        own = only_in_python(f", or an object that has {method!r}")
        needed = f"Use {one_of(known)}, with settings in brackets if there are any{own}."
        raise Problem(f"{setting(name, value)} is not known.", needed, argument=name)
    made: Any = known[alias]
    possible = [f.name for f in fields(getattr(made, "__self__", made))]
    wrong = [key for key in changes if key not in possible]
    if wrong:
        has = f"it has {', '.join(possible)}" if possible else "it has none"
        found = f"{setting(name, value)}: {alias} has no setting {', '.join(wrong)}; {has}."
        raise Problem(found, argument=name)
    return made(**changes)


def read_strategies(
    name: str, value: Any, known: Mapping[str, Callable[..., Any]], method: str
) -> tuple[Any, ...]:
    """The strategies that `value` stands for: one, a list of them, or names joined by ``+``.

    >>> from smrmr.conditional.statistics import STATISTICS
    >>> [one.alias for one in read_strategies("statistics", "pc+linear", STATISTICS, "p_values")]
    ['pc', 'linear']
    """
    if isinstance(value, str) and "(" not in value:
        value = value.split("+")
    several = value if isinstance(value, list | tuple) else [value]
    if not several:
        raise ValueError(f"{name} is empty. Give one or more of {one_of(known)}.")
    return tuple(read_strategy(name, one, known, method) for one in several)


def write_setting(value: Any) -> Any:
    """A setting as JSON can hold it; a strategy as the text that `read_strategy` understands.

    >>> from smrmr.paper import MCP
    >>> write_setting(MCP(b=3.0)), write_setting(MCP())
    ('mcp(b=3.0)', 'mcp')
    """
    if hasattr(value, "alias"):
        changed = [
            f"{f.name}={_written(getattr(value, f.name))}"
            for f in fields(value)
            if not _is_default(f, getattr(value, f.name))
        ]
        return value.alias + (f"({', '.join(changed)})" if changed else "")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) or hasattr(value, "iloc"):
        array = np.asarray(value)
        return f"array of shape {array.shape}, {checksum(array)[:16]}"
    if isinstance(value, Mapping):
        items = np.array([f"{name}={item}" for name, item in sorted(value.items())])
        return f"{len(value)} names, {checksum(items)[:16]}"
    if isinstance(value, list | tuple) and len(value) > LONG:
        return write_setting(np.array(value, dtype=str))
    if isinstance(value, list | tuple):
        return [write_setting(item) for item in value]
    return getattr(value, "__name__", None) or repr(value)


def change_strategy(strategy: Any, changes: Mapping[str, Any]) -> Any:
    """The strategy with some of its fields changed; ``penalty__b`` is field b of its penalty."""
    own: dict[str, Any] = {}
    inner: dict[str, dict[str, Any]] = {}
    for key, value in changes.items():
        first, _, rest = key.partition("__")
        if not is_dataclass(strategy) or first not in {f.name for f in fields(strategy)}:
            raise Problem(f"{write_setting(strategy)!r} has no setting {setting(first)}.")
        if rest:
            inner.setdefault(first, {})[rest] = value
        else:
            own[first] = value
    strategy = replace(strategy, **own)
    deeper = {key: change_strategy(getattr(strategy, key), some) for key, some in inner.items()}
    return replace(strategy, **deeper)


def nested_settings(strategy: Any) -> dict[str, Any]:
    """Every field of a strategy and of the strategies in it, by the names `change_strategy` takes.

    >>> from smrmr.paper import MCP
    >>> nested_settings(MCP())
    {'b': 3.5, 'lla_steps': 2}
    """
    found: dict[str, Any] = {}
    for f in fields(strategy):
        value = getattr(strategy, f.name)
        found[f.name] = value
        if hasattr(value, "alias"):
            found |= {f"{f.name}__{key}": one for key, one in nested_settings(value).items()}
    return found


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse a value that is none of the choices."""
    plain = value.item() if isinstance(value, np.generic) else value
    if not any(type(plain) is type(choice) and plain == choice for choice in choices):
        needed = f"Use {one_of(choices)}."
        raise Problem(f"{setting(name, value)} is not known.", needed, argument=name)


def one_of(choices: Iterable[Any]) -> str:
    """Choices in words.

    >>> one_of(("a", "b", 3))
    "'a', 'b' or 3"
    """
    *most, last = map(repr, choices)
    return f"{', '.join(most)} or {last}" if most else last


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Refuse what is not a whole number of at least `least`."""
    possible = _is(Integral, value) and value >= least
    _refuse_unless(possible, name, value, f"must be a whole number of {least} or more.")


def check_number(name: str, value: Any, above: float = -np.inf) -> None:
    """Refuse what is not a finite number larger than `above`."""
    bound = f" above {above:g}" if above > -np.inf else ""
    possible = _is(Real, value) and above < float(value) < np.inf
    _refuse_unless(possible, name, value, f"must be a number{bound}.")


def check_jobs(n_jobs: Any) -> None:
    """Refuse what cannot be a number of threads; None leaves it to joblib."""
    possible = n_jobs is None or (_is(Integral, n_jobs) and n_jobs != 0)
    cure = "Give 1 or more, or -1 for all cores."
    _refuse_unless(possible, "n_jobs", n_jobs, "is not a number of threads.", cure)


def as_numbers(name: str, values: Any, needed: str) -> NDArray[np.float64]:
    """An array of numbers; text, and rows that differ in length, are refused."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = "holds more than numbers, or rows that differ in length."
        raise Problem(f"{setting(name, values)} {found}", needed, argument=name) from None


def check_level(level: Any, name: str = "fdr") -> float:
    """Refuse a level outside (0, 1)."""
    possible = isinstance(level, Real) and 0 < float(level) < 1
    needed = "is not a level between 0 and 1, both excluded; 0.1 is common."
    _refuse_unless(possible, name, level, needed)
    return float(level)


def check_lambda(name: str, lam: Any) -> None:
    """Refuse what cannot be the weight of a penalty."""
    possible = _is(Real, lam) and 0 <= float(lam) < np.inf
    _refuse_unless(possible, name, lam, "is not a lambda: a number of at least 0 is needed.")


def _is(kind: type, value: Any) -> bool:
    """Whether a value is a number of a kind; booleans are not meant as such."""
    return isinstance(value, kind) and not isinstance(value, bool)


def _refuse_unless(possible: bool, name: str, value: Any, needed: str, cure: str = "") -> None:
    if not possible:
        raise Problem(f"{setting(name, value)} {needed}", cure=cure, argument=name)


def parse_bytes(max_memory: str | int) -> int:
    """Read a memory budget such as ``"1GB"``, ``"500 MB"`` or a number of bytes.

    >>> parse_bytes("1.5GB"), parse_bytes(4096)
    (1500000000, 4096)
    """
    units = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", str(max_memory).lower())
    size = int(float(match[1]) * units[match[2]]) if match else 0
    if size <= 0:
        cure = "Give bytes, or text like '500MB'."
        raise Problem(f"{setting('max_memory', max_memory)} is not a size.", cure=cure)
    return size


def as_generator(random_state: Any) -> Generator:
    """One Generator from a seed, a Generator, scikit-learn's RandomState, or None."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    try:
        rng = np.random.default_rng(random_state)
        if getattr(rng.bit_generator, "seed_seq", None) is None:  # made from an old RandomState
            rng = np.random.default_rng(rng.integers(2**31, size=4))
        return rng
    except (TypeError, ValueError) as error:
        others = only_in_python(", a numpy Generator, or None")
        found = f"{setting('random_state', random_state)} cannot seed a generator."
        raise Problem(found, f"Give a non-negative whole number{others}.") from error


def checksum(values: np.ndarray[Any, Any]) -> str:
    """SHA-256 of an array with its type and shape."""
    return sha256(f"{values.dtype} {values.shape}".encode() + values.tobytes()).hexdigest()


def _parsed(text: str) -> tuple[str | None, dict[str, Any]]:
    """Name and fields in a text such as ``split(share=0.3)``; None if it is no such text."""
    if re.fullmatch(r"[\w.-]+", text):
        return text, {}
    with suppress(SyntaxError, ValueError):
        node = ast.parse(text.strip(), mode="eval").body
        if isinstance(node, ast.Call) and not node.args:
            return _value(node.func), {str(k.arg): _value(k.value) for k in node.keywords}
    return None, {}


def _value(node: ast.AST) -> Any:
    """A number, a word (which may have a hyphen), a list, or the text of a nested strategy."""
    if isinstance(node, ast.Name):
        return WORDS.get(node.id, node.id)
    if isinstance(node, ast.Call):
        return ast.unparse(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return f"{_value(node.left)}-{_value(node.right)}"
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(item) for item in node.elts]
    return ast.literal_eval(node)


def _written(value: Any) -> str:
    plain = write_setting(value)
    if plain is None or isinstance(plain, bool):
        return str(plain).lower()
    return f"[{', '.join(map(_written, value))}]" if isinstance(plain, list) else str(plain)


def _is_default(f: Field[Any], value: Any) -> bool:
    if isinstance(value, np.ndarray) or hasattr(value, "iloc"):
        return False
    default = f.default if f.default_factory is MISSING else f.default_factory()
    written = write_setting(value)
    if isinstance(written, list) and isinstance(default, str):
        written = "+".join(map(str, written))
    return bool(value == default or written == default)
