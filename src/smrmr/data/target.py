"""Turns what users pass as y, or as a variable, into a checked target of some kind."""

import logging
from collections.abc import Sequence

import numpy as np

from ..problems import Problem
from ..settings import check_choice
from ..types import Data, Indices, Matrix, Vector
from .columns import MIN_ROWS, codes_by_appearance
from .frames import in_pandas
from .ranks import settled
from .targets.arrays import read_array
from .targets.numbers import Numbers
from .targets.protocol import Target as Target
from .targets.protocol import TargetColumns, TargetKind
from .targets.registry import KINDS

logger = logging.getLogger(__name__)


def as_target(y: Data, target: str = "auto") -> Target:
    """Check the target, and read it as one of the `KINDS`.

    With ``"auto"``, an array of fields is survival; strings, booleans and categories are classes;
    whole numbers with at most 10 levels of at least 5 rows each are classes too, with a warning;
    other numbers are continuous, and an (n, q) array is multi-output. Text that holds numbers with
    commas is refused, for it would become classes; ``"classes"`` says that it is meant so.
    """
    check_choice("target", target, ("auto", *KINDS))
    y = in_pandas(y)
    if target == "auto":
        accepting = (alias for alias, kind in reversed(KINDS.items()) if kind.accepts(y))
        target = next(accepting, Numbers.alias)
    found = KINDS[target].read(y)
    logger.info("target taken as %s", found.kind)
    return found


def kind_of(target: Target) -> TargetKind:
    """The kind of a target."""
    return KINDS[target.kind]


def take_rows(target: Target, rows: Indices) -> Target:
    """The target in fewer rows."""
    return kind_of(target).take(target, rows)


def columns_of(target: Target) -> TargetColumns:
    """Columns of numbers that say all about the target, not standardised."""
    return kind_of(target).columns(target)


def as_outputs(columns: Sequence[Vector] | Matrix) -> Target:
    """A target of these columns of numbers."""
    if len(columns) == 1:
        return Target("continuous", columns[0])
    return Target("multi-output", np.stack([*columns], axis=1))


def as_variable(x: Data, name: str) -> Target:
    """Check one variable of a plain function: numbers are numbers, labels are classes."""
    values, labelled = read_array(in_pandas(x), name)
    if len(values) < MIN_ROWS:
        raise Problem(
            f"{name} has shape {values.shape}.", f"At least {MIN_ROWS} samples are needed."
        )
    if not labelled:
        return as_outputs([*np.atleast_2d(settled(values.T).astype(np.float64))])
    if values.ndim == 2:
        raise Problem(
            f"{name} has shape {values.shape}: several columns of labels.",
            "Join them into one label per row.",
        )
    codes, n_classes = codes_by_appearance(values)
    return Target("classes", codes, tuple(map(str, range(n_classes))))
