"""Turns frozen dataclasses that hold arrays into what JSON can hold, and back."""

from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from ..settings import write_setting


def to_json_value(value: Any) -> Any:
    """What `json.dumps` cannot write, as something that it can."""
    if hasattr(value, "alias"):
        return write_setting(value)
    if is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value)


def from_json_value(kind: Any, content: Any) -> Any:
    """What JSON held, as its type hint says; arrays without rows lose their other axes."""
    if hasattr(kind, "__dataclass_fields__") and not isinstance(content, kind):
        hints = get_type_hints(kind)
        return kind(
            **{f.name: from_json_value(hints[f.name], content[f.name]) for f in fields(kind)}
        )
    inside = get_args(kind)
    if get_origin(kind) is UnionType:
        return None if content is None else from_json_value(inside[0], content)
    if get_origin(kind) is tuple:
        return tuple(from_json_value(inside[0], item) for item in content)
    if get_origin(kind) is np.ndarray:
        return np.array(content, dtype=get_args(inside[1])[0])
    if get_origin(kind) is NDArray:  # which is a name of its own in newer NumPy
        return np.array(content, dtype=inside[0])
    return content
