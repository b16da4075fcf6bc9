"""Classes: labels, booleans, categories, and whole numbers of few levels."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from ...problems import Problem, setting, warn
from ...types import Data, Indices, Matrix, Vector
from ..columns import codes_by_appearance
from ..row_groups import vary_within
from .arrays import read_array, refuse_columns_of_labels, refuse_text_of_numbers
from .dealing import deal_classes
from .protocol import GUMBEL_SPREAD, LEAST_NOISE, Planting, Target, TargetColumns

MAX_CLASSES = 10  # of an integer target that is taken for classes
WITHOUT_DOUBT = ([0, 1], [-1, 1])  # levels that are classes by custom
LEAST_SHARE = 0.05  # of the share of a class, below which covariates never put its probability
MIN_ROWS_PER_CLASS = 5  # on average of labels, at least of whole numbers taken for classes


@dataclass(frozen=True)
class Classes:
    """One of a few classes per row, whose names and order do not matter."""

    alias: ClassVar[str] = "classes"
    within_groups: ClassVar[bool] = True

    def accepts(self, y: Data) -> bool:
        """Whether y is one column of labels, or of whole numbers with few levels of many rows."""
        values, labelled = read_array(y)
        if labelled:
            refuse_text_of_numbers(values)
        if values.ndim == 2 or labelled:
            return values.ndim == 1
        if values.dtype.kind == "f" and (values != np.rint(values)).any():
            return False
        levels, counts = np.unique(values, return_counts=True)
        if len(levels) == 1 or len(levels) > MAX_CLASSES or counts.min() < MIN_ROWS_PER_CLASS:
            return False
        if levels.tolist() in WITHOUT_DOUBT:
            return True
        warn(
            f"y has {len(levels)} whole-numbered levels and is taken for classes. Use "
            f"{setting('target', 'continuous')} if they are quantities, "
            f"{setting('target', 'classes')} to confirm."
        )
        return True

    def read(self, y: Data) -> Target:
        """Numbers of classes in order of appearance, and their names."""
        values, _ = read_array(y)
        if values.ndim == 2:
            refuse_columns_of_labels(values)
        codes, n_classes = codes_by_appearance(values)
        if n_classes < 2:
            raise Problem("y has a single class.", "At least two are needed.")
        if n_classes == len(codes):
            raise Problem(
                f"y has {n_classes} classes for {n_classes} rows, so it looks like sample ids.",
                f"Pass a class per sample, or {setting('target', 'continuous')} for numbers.",
            )
        first = np.unique(codes, return_index=True)[1]
        written = np.asarray(y, dtype=object).ravel()[first]  # each class as the user wrote it
        known = getattr(getattr(y, "dtype", None), "categories", ())
        return Target(self.alias, codes, _names(written), categories=_names(known))

    def check(self, target: Target) -> None:
        """Refuse classes that have too few rows to select features by.

        With many classes of few rows relevance is nearly the same for all features, so that the
        level of a selection does not hold: benchmarks/studies/many_labels.py shows it on noise and
        says why. More than two classes need 5 rows each on average, and at most half of them may
        have a single row. Two classes are left alone: a small one costs power, not the level.
        """
        sizes = np.bincount(target.values.astype(np.intp))
        n, n_classes, n_single = target.n_rows, len(sizes), int((sizes == 1).sum())
        if n_classes > 2 and (n < MIN_ROWS_PER_CLASS * n_classes or n_single > n_classes / 2):
            raise Problem(
                f"y has {n_classes} classes for {n} rows, {n_single} of them with a single row.",
                f"At least {MIN_ROWS_PER_CLASS} rows per class are needed on average, and more "
                "than one in half of the classes.",
                "Merge rare classes or leave them out; for ids name another target; numbers need "
                f"{setting('target', 'continuous')}.",
            )

    def derive_values(self, target: Target, covariates: Matrix) -> Target:
        """The classes as they are."""
        return target

    def take(self, target: Target, rows: Indices) -> Target:
        """The chosen rows, whose classes are numbered anew, for some may be gone."""
        values = target.values[rows]
        codes, _ = codes_by_appearance(values)
        first = np.unique(codes, return_index=True)[1]
        labels = tuple(target.labels[int(values[i])] for i in first)
        return replace(target, values=codes, labels=labels)

    def mean(self, target: Target, codes: Indices) -> Target:
        """The class of every group, which must not vary within."""
        if vary_within(target.values, codes):
            raise Problem(
                "y has classes that change within groups, so that groups have no mean of it.",
                cure=f"Leave out {setting('aggregate')}: rows are then compared within groups. "
                "Features that never change within a group need a target per group.",
            )
        first = np.unique(codes, return_index=True)[1]
        return replace(target, values=target.values[first])

    def columns(self, target: Target) -> TargetColumns:
        """An indicator per class; of two classes only the second, which says all."""
        first = int(len(target.labels) == 2)
        inside = target.values == np.arange(first, len(target.labels))[:, None]
        return TargetColumns(target.labels[first:], inside.astype(np.float64), inside)

    def loadings(self, target: Target, rng: Generator) -> Vector:
        """Numbers of sum 0, one for each class; two of them differ by root 2 on average."""
        found = rng.standard_normal(len(target.labels))
        found -= found.mean()
        return np.asarray(found * np.sqrt((len(found) - 1) / np.sum(found**2)))

    def plant(self, target: Target, planting: Planting, rng: Generator) -> Target:
        """As many rows of every class in each stratum, by a multinomial logit.

        What covariates say of a class comes from least squares.
        """
        codes = target.values.astype(np.intp)
        inside = (codes == np.arange(len(target.labels))[:, None]).astype(np.float64)
        share = inside.mean(axis=1, keepdims=True)
        fitted = share + ((inside - share) @ planting.covariates.T) @ planting.covariates
        log_odds = np.log(np.clip(fitted, share * LEAST_SHARE, 1.0))
        log_odds += planting.signal * GUMBEL_SPREAD / max(planting.noise, LEAST_NOISE)
        dealt = deal_classes(codes, log_odds, planting.strata, rng)
        return replace(target, values=dealt.astype(target.values.dtype))


def _names(labels: Iterable[Any]) -> tuple[str, ...]:
    return tuple(f"{label:g}" if isinstance(label, float) else str(label) for label in labels)
