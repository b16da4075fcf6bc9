"""Turns what users pass as y, or as a variable, into checked numbers or classes."""

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problems import setting, warn
from ..settings import check_choice
from ..types import Data, Indices, Matrix, Vector
from .columns import MIN_ROWS, Block, Columns, codes_by_appearance, refuse_sparse_or_masked
from .frames import in_pandas
from .messages import refuse_commas
from .ranks import average_ranks
from .survival import deviance_residuals, looks_like_survival, read_survival, warn_if_survival

logger = logging.getLogger(__name__)

TARGETS = ("auto", "continuous", "classes", "ordinal", "survival")
MAX_CLASSES = 10  # of an integer target that is taken for classes
MIN_ROWS_PER_CLASS = 5  # on average of labels, at least of whole numbers taken for classes


@dataclass(frozen=True, eq=False)
class Target:
    """The target y: numbers, several columns of numbers, or classes.

    `values` is (n,) for ``"continuous"`` and (n, q) for ``"multi-output"``; for ``"classes"`` it
    holds class numbers in order of first appearance, and `labels` the names of the classes. Numbers
    may have been computed from what they stand for, `stands_for`: ranks from ``"ordinal"`` stages,
    residuals of a null model from ``"survival"``, whose times and events are rows of `survival`.
    `categories` are names of classes in the user's own order, where y is a category, and `name` is
    that of y, if it has one.
    """

    kind: str
    values: Vector
    labels: tuple[str, ...] = ()
    stands_for: str = ""
    survival: Matrix | None = None
    categories: tuple[str, ...] = ()
    name: str = ""

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.values.shape[0])

    @property
    def vectors(self) -> NDArray[np.float64]:
        """The samples as one set of points, (1, q, n)."""
        return np.ascontiguousarray(self.values.reshape(self.n_rows, -1).T)[None]

    @property
    def order(self) -> Indices:
        """Class numbers in the order to show them: that of categories, of numbers, or by name."""
        place = {name: i for i, name in enumerate(self.categories)}
        keys = [(place.get(label, len(place)), _sortable(label)) for label in self.labels]
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)

    def block(self) -> Block:
        """The target as a block of one column; it must not be multi-output."""
        return Block(self.values[None, :], np.zeros(1, np.intp), self.kind == "classes")


def as_target(y: Data, target: str = "auto", *, small_classes: bool = False) -> Target:
    """Check the target, and decide whether it holds numbers or classes.

    With ``"auto"``, strings, booleans and categories are classes; whole numbers with at most 10
    levels of at least 5 rows each are classes too, with a warning; other numbers are continuous,
    and an (n, q) array is multi-output. Text that holds numbers with commas is refused, for it
    would become classes; ``"classes"`` says that it is meant so. Classes of few rows are refused
    unless `small_classes`: a measure may be asked for them, but nothing can be selected by them.
    """
    check_choice("target", target, TARGETS)
    y = in_pandas(y)
    if target == "survival" or (target == "auto" and looks_like_survival(y)):
        found = recomputed(Target("continuous", np.empty(0), (), "survival", read_survival(y)))
        if np.ptp(found.values) < 1e-9:
            raise ValueError("the survival times are the same for all rows. They must vary.")
        return found
    if target == "ordinal":
        return Target("continuous", _stages(y), (), "ordinal")
    if target == "auto":
        warn_if_survival(y)
    values, labelled = _target_array(y, "y")
    if values.dtype.kind == "U" and target != "classes":
        refuse_commas(np.unique(values), "y", "; if they are labels, say target='classes'.")
    kind = "multi-output" if values.ndim == 2 else _target_kind(values, labelled, target)
    logger.info("target taken as %s", kind)
    if kind != "classes":
        return Target(kind, _numbers(values, labelled, target))
    codes, n_classes = codes_by_appearance(values)
    if n_classes < 2:
        raise ValueError("y has a single class. At least two are needed.")
    if n_classes == len(codes):
        ids = f"y has {n_classes} classes for {n_classes} rows, so it looks like sample ids"
        raise ValueError(f"{ids}. Pass a class per sample, or target='continuous' for numbers.")
    if not small_classes:
        refuse_small_classes(codes)
    first = np.unique(codes, return_index=True)[1]
    written = np.asarray(y, dtype=object).ravel()[first]  # each class as the user wrote it
    known = getattr(getattr(y, "dtype", None), "categories", ())
    return Target(kind, codes, _names(written), categories=_names(known))


def _names(labels: Iterable[Any]) -> tuple[str, ...]:
    return tuple(f"{label:g}" if isinstance(label, float) else str(label) for label in labels)


def _sortable(label: str) -> tuple[tuple[int, float, str], ...]:
    """What puts "stage 2" before "stage 10", and numbers before words."""
    if re.fullmatch(r"-?\d+(\.\d+)?", label):
        return ((0, float(label), ""),)
    parts = re.split(r"(\d+(?:\.\d+)?)", label)  # text, number, text, ...
    return tuple(
        (0, float(part), "") if i % 2 else (1, 0.0, part.casefold()) for i, part in enumerate(parts)
    )


def recomputed(target: Target, covariates: Matrix | None = None) -> Target:
    """A target whose numbers come from comparing rows, computed from its own rows; others as is.

    That is ranks of stages, and survival as residuals given covariates, orthonormal rows.
    """
    if target.stands_for == "ordinal":
        return replace(target, values=average_ranks(target.values))
    if target.survival is None:
        return target
    time, event = target.survival
    given = np.empty((0, len(time))) if covariates is None else covariates
    return replace(target, values=deviance_residuals(time, event == 1, given))


def _stages(y: Data) -> Vector:
    """Ranks of stages, averages where they tie: of numbers, or of an ordered category."""
    dtype: Any = getattr(y, "dtype", None)
    if str(dtype) == "category":
        if not dtype.ordered:
            raise ValueError(
                "y is a category without an order. Give numbers, or an ordered category: "
                "y.cat.set_categories([...], ordered=True)."
            )
        codes = np.asarray(y.cat.codes if hasattr(y, "cat") else y.codes)
        _refuse_missing(codes < 0, "y")
        if (codes == codes[0]).all():
            raise ValueError(f"y has the single value {dtype.categories[codes[0]]}. It must vary.")
        return average_ranks(codes)
    values, labelled = _target_array(y, "y")
    if labelled or values.ndim > 1:
        raise ValueError(
            "an ordinal y must be one column of numbers or an ordered category: labels alone do "
            "not say which comes first."
        )
    return average_ranks(_numbers(values, labelled, "continuous"))


def refuse_small_classes(codes: Vector) -> None:
    """Refuse classes that have too few rows to select features by.

    With many classes of few rows relevance is nearly the same for all features, so that the level
    of a selection does not hold: benchmarks/studies/many_labels.py shows it on noise and says why.
    More than two classes need 5 rows each on average, and at most half of them may have a single
    row. Two classes are left alone: a small one costs power, not the level.
    """
    sizes = np.unique(codes, return_counts=True)[1]
    n, n_classes, n_single = len(codes), len(sizes), int((sizes == 1).sum())
    if n_classes > 2 and (n < MIN_ROWS_PER_CLASS * n_classes or n_single > n_classes / 2):
        raise ValueError(
            f"y has {n_classes} classes for {n} rows, {n_single} of them with a single row. At "
            f"least {MIN_ROWS_PER_CLASS} rows per class are needed on average, and more than one "
            "in half of the classes. Merge rare classes or leave them out; for ids name another "
            "target; numbers need target='continuous' (--target-type continuous)."
        )


def take_rows(target: Target, rows: Indices) -> Target:
    """The target in fewer rows; classes are numbered anew, for some may be gone."""
    values = target.values[rows]
    if target.kind != "classes":
        survival = None if target.survival is None else target.survival[:, rows]
        return replace(target, values=values, survival=survival)
    codes, _ = codes_by_appearance(values)
    first = np.unique(codes, return_index=True)[1]
    labels = tuple(target.labels[int(values[i])] for i in first) if target.labels else ()
    return Target(target.kind, codes, labels, categories=target.categories)


def check_same_rows(columns: Columns, target: Target) -> None:
    """Refuse features and a target of different lengths."""
    if columns.n_rows != target.n_rows:
        rows = f"X has {columns.n_rows} rows and y has {target.n_rows}"
        raise ValueError(f"{rows}. They must describe the same samples in the same order.")


def as_variable(x: Data, name: str) -> Target:
    """Check one variable of a plain function: numbers are numbers, labels are classes."""
    values, labelled = _target_array(in_pandas(x), name)
    shape = f"{name} has shape {values.shape}"
    if len(values) < MIN_ROWS:
        raise ValueError(f"{shape}. At least {MIN_ROWS} samples are needed.")
    if labelled and values.ndim == 2:
        raise ValueError(f"{shape}: several columns of labels. Join them into one label per row.")
    if labelled:
        return Target("classes", codes_by_appearance(values)[0])
    kind = "continuous" if values.ndim == 1 else "multi-output"
    return Target(kind, np.ascontiguousarray(values, dtype=np.float64))


def _target_array(y: Data, name: str) -> tuple[NDArray[Any], bool]:
    """The array behind y, one column as a vector, and whether it holds labels, not numbers."""
    refuse_sparse_or_masked(y, name)
    if hasattr(y, "iloc") and y.ndim == 2 and y.shape[1] == 1:
        y = y.iloc[:, 0]
    if str(getattr(y, "dtype", "")) == "category":
        codes = np.asarray(y.cat.codes if hasattr(y, "cat") else y.codes)
        _refuse_missing(codes < 0, name)
        return codes, True
    try:
        values = np.asarray(y)
    except ValueError:
        raise ValueError(f"the rows of {name} differ in length. Give each one value.") from None
    if values.dtype.names:
        raise ValueError(
            f"{name} is a table of fields ({', '.join(values.dtype.names)}), as used for survival "
            "times, which is no number and no class. Say target='survival', or pass one field."
        )
    kind = values.dtype.kind
    if kind == "c":
        raise ValueError(f"Complex data not supported: {name} must be real numbers or classes.")
    if kind in "mM" or (kind == "O" and any(hasattr(v, "strftime") for v in values.flat)):
        raise ValueError(f"{name} holds dates. Convert them to numbers, such as days from a start.")
    if kind == "O":
        values = _from_objects(values, name)
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            values = values.astype(np.float64)
        _refuse_missing(~np.isfinite(values), name)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim not in (1, 2) or values.size == 0:
        shape = f"{name} has shape {values.shape}"
        raise ValueError(f"{shape}. One value per row is needed, or one row of values each.")
    return values, values.dtype.kind not in "iuf"


def _from_objects(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Numbers if all objects are, else labels; 1 and "1" are different labels."""
    import pandas as pd

    _refuse_missing(pd.isna(values), name)
    objects = values.ravel().tolist()
    if all(isinstance(v, (Real, Decimal)) and not isinstance(v, bool) for v in objects):
        try:
            return np.array([float(v) for v in objects]).reshape(values.shape)
        except OverflowError:
            raise ValueError(f"{name} holds numbers too large for float64. Scale them.") from None
    labels = [v if isinstance(v, str) else f"{type(v).__name__}\0{v}" for v in objects]
    return np.array(labels).reshape(values.shape)


def _refuse_missing(missing: NDArray[np.bool_], name: str) -> None:
    if missing.any():
        values = f"{missing.sum()} missing or infinite values in {missing.size}"
        raise ValueError(f"{name} has {values}. Drop these samples everywhere, or fill them.")


def _target_kind(values: NDArray[Any], labelled: bool, target: str) -> str:
    if target != "auto":
        return target
    if labelled:
        return "classes"
    if values.dtype.kind == "f" and (values != np.rint(values)).any():
        return "continuous"
    levels, counts = np.unique(values, return_counts=True)
    if len(levels) == 1 or len(levels) > MAX_CLASSES or counts.min() < MIN_ROWS_PER_CLASS:
        return "continuous"
    warn(
        f"y has {len(levels)} whole-numbered levels and is taken for classes. Use "
        f"{setting('target', 'continuous')} if they are quantities, "
        f"{setting('target', 'classes')} to confirm."
    )
    return "classes"


def _numbers(values: NDArray[Any], labelled: bool, target: str) -> Vector:
    if values.ndim == 2 and (labelled or target == "classes"):
        classes = f"y has {values.shape[1]} columns and is meant as classes"
        raise ValueError(f"{classes}. Encode them as numbers, or join them into one label per row.")
    if labelled and values.dtype.kind != "b":
        raise ValueError("y holds labels. Give numbers, or target='classes', not 'continuous'.")
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    if (numbers == numbers[0]).all():
        one = values.ndim == 1
        what = f"the single value {numbers[0]:g}" if one else "a single value in every column"
        raise ValueError(f"y has {what}. It must vary.")
    return numbers
