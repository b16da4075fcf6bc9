"""Summarises the data for figures, so that nobody is identified; keeps rows only on request."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..association.associator import Associator
from ..data.ranks import settled
from ..data.study import Study
from ..data.target import Target, columns_of
from ..measures.protocol import Measure
from ..runs.work import Work
from ..types import Indices, Mask, Matrix, Vector

MOST_FEATURES = 40
MOST_ROWS = 500  # of data that are kept
FEWEST_ROWS = 5  # of a level or class that is summarised
ROWS_PER_BIN = 10
MOST_BINS = 10
MOST_LEVELS = 6  # of a feature that is shown level by level rather than in bins
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
DIGITS = 4  # of a summary, so that no value of a person leaves as it was


@dataclass(frozen=True, eq=False)
class Shape:
    """A feature against the target, group of rows by group of rows.

    Attributes
    ----------
    kind
        ``"bins"`` of the feature, its ``"levels"``, or the ``"classes"`` of the target.
    at
        Where a group lies: the median of the feature in a bin, else 0, 1, ...
    names
        Names of levels or classes.
    counts
        Rows of each group; groups of fewer than 5 are left out.
    quantiles
        10%, 25%, 50%, 75% and 90% points in each group, of the target (of the feature for classes).
    output
        Which of several outputs was taken: the one that differs most between the groups.
    shares, means
        Of a feature that is mostly zero, at least in half of the classes: the share of rows above
        zero in each class, and the mean; empty otherwise.
    """

    kind: str
    at: Vector
    names: tuple[str, ...]
    counts: Indices
    quantiles: Matrix
    output: int = 0
    shares: Vector = field(default_factory=lambda: np.empty(0))
    means: Vector = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        size = len(self.counts), len(QUANTILES)  # which JSON does not tell if there are no groups
        object.__setattr__(self, "quantiles", self.quantiles.reshape(size))


@dataclass(frozen=True, eq=False)
class GridSide:
    """Groups of rows by one feature or covariate.

    Attributes
    ----------
    names
        Names of the groups in order: of bins, or of levels.
    edges
        Where bins of a number meet, in its own units; empty for levels, and for covariates, whose
        bins are named by shares of the rows.
    """

    names: tuple[str, ...]
    edges: Vector


@dataclass(frozen=True, eq=False)
class PairGrid:
    """Means of the target over the groups of two features: a summary of five rows or more.

    Attributes
    ----------
    features
        Positions in X of both; covariates follow after the last feature.
    sides
        Their groups of rows.
    target
        The class or output that is averaged: of two classes the second by name, of several classes
        or outputs the one that differs most over the grid.
    is_share
        Whether means are shares of a class.
    counts
        Rows of each cell, groups of the first by groups of the second; 0 for any fewer than 5.
    means, known
        Mean of each cell, and whether it is known; 0 if not. Of cells of fewer than 5 rows it is
        not; if these hold fewer than 5 rows together, neither is that of the smallest other cell,
        so that no difference gives it away.
    """

    features: Indices
    sides: tuple[GridSide, ...]
    target: str
    is_share: bool
    counts: Indices
    means: Matrix
    known: Mask


@dataclass(frozen=True, eq=False)
class PlotData:
    """What figures show of the data.

    Attributes
    ----------
    features
        The best features, at most 40.
    redundancy
        Association of each of them with each other.
    labels
        Names of the target's classes.
    shapes
        Each of them against the target.
    outputs
        Names of the outputs of the target, if there are several.
    values, y
        Their values and the target on at most 500 rows, if the data were to be kept; else None.
    pairs
        The target over both features of each of the best pairs, see `find_pair_grids`.
    """

    features: Indices
    redundancy: Matrix
    labels: tuple[str, ...]
    shapes: tuple[Shape, ...]
    outputs: tuple[str, ...] = ()
    values: Matrix | None = None
    y: Matrix | None = None
    pairs: tuple[PairGrid, ...] = ()

    def __post_init__(self) -> None:
        n = len(self.features)  # JSON does not tell the width if there are none
        object.__setattr__(self, "redundancy", self.redundancy.reshape(n, n))


class Shapes:
    """Features against the target, by their position in X: each is summarised once."""

    def __init__(self, target: Target) -> None:
        self.target, self._known = target, dict[int, Shape]()

    def of(self, feature: int, values: Vector) -> Shape:
        """The feature against the target, to the last digit."""
        if feature not in self._known:
            self._known[feature] = shape_of(values, self.target)
        return self._known[feature]


def summarise_for_plots(
    study: Study,
    features: Indices,
    measure: Measure,
    keep_data: bool,
    work: Work,
    shapes: Shapes | None = None,
) -> PlotData:
    """Summarise the first 40 of these features; with `keep_data`, keep their values too."""
    shapes = Shapes(study.target) if shapes is None else shapes
    features = features[:MOST_FEATURES]
    columns, target = study.columns.take(columns=features), study.target
    values = columns.values.astype(np.float64) if len(features) else np.empty((target.n_rows, 0))
    redundancy = np.empty((0, 0))
    if len(features):
        redundancy = Associator(columns, measure, work.quietly()).with_each_other()
    rows = np.unique(np.linspace(0, target.n_rows - 1, MOST_ROWS).astype(np.intp))
    return PlotData(
        features=features,
        redundancy=redundancy,
        labels=target.labels,
        shapes=tuple(
            _to_show(shapes.of(int(k), column))
            for k, column in zip(features, values.T, strict=True)
        ),
        outputs=columns_of(target).names if target.several else (),
        values=values[rows] if keep_data else None,
        y=target.values[rows] if keep_data else None,
    )


def shape_of(x: Vector, target: Target) -> Shape:
    """A feature against the target, to the last digit."""
    if target.nominal:
        names = np.array(target.labels, dtype=object)[target.order]
        group = np.argsort(target.order)[target.values.astype(np.intp)]
        shape = _summary("classes", group, x[:, None], names)
        return _above_zero(shape, x, group) if _needs_shares(shape, x) else shape
    outputs = target.values.reshape(target.n_rows, -1)
    x = settled(x)
    if 1 + np.count_nonzero(np.diff(np.sort(x))) <= MOST_LEVELS:
        levels, level = np.unique(x, return_inverse=True)
        return _summary("levels", level, outputs, np.array([f"{v:.{DIGITS}g}" for v in levels]))
    n_bins = min(MOST_BINS, len(x) // ROWS_PER_BIN)
    edges = np.unique(np.quantile(x, np.linspace(0, 1, n_bins + 1)[1:-1]))
    # tied values stay in one bin
    return _summary("bins", np.searchsorted(edges, x, side="right"), outputs, None, x)


def _summary(
    kind: str, group: Indices, outputs: Matrix, names: NDArray[Any] | None, x: Vector | None = None
) -> Shape:
    counts = np.bincount(group)
    large = np.flatnonzero(counts >= (FEWEST_ROWS if x is None else ROWS_PER_BIN))
    columns = [_quantiles(column, group, counts, large, QUANTILES) for column in outputs.T]
    quantiles = np.stack(columns, axis=-1)
    output = 0
    if len(large) > 1 and outputs.shape[1] > 1:
        apart = np.std(quantiles[:, 2], axis=0) / np.maximum(outputs.std(axis=0), 1e-300)
        output = int(np.argmax(apart))
    at = np.arange(len(large), dtype=np.float64)
    if x is not None:
        at = _quantiles(x, group, counts, large, (0.5,))[:, 0]
    return Shape(
        kind,
        at,
        () if names is None else tuple(str(names[g]) for g in large),
        counts[large],
        quantiles[:, :, output],
        output,
    )


def _quantiles(
    values: Vector, group: Indices, counts: Indices, large: Indices, shares: tuple[float, ...]
) -> Matrix:
    """Quantiles in each of the large groups, a row each; many times as fast as np.quantile."""
    order = np.argsort(values)  # by group, then by value, which np.lexsort would do slowly
    order = order[np.argsort(group[order].astype(np.min_scalar_type(len(counts))), kind="stable")]
    ordered = values[order]
    first = np.cumsum(counts) - counts
    places = first[large, None] + np.multiply.outer(counts[large] - 1, shares)
    below, above = np.floor(places).astype(np.intp), np.ceil(places).astype(np.intp)
    part = places - below
    return np.asarray(ordered[below] * (1 - part) + ordered[above] * part)


def _to_show(shape: Shape) -> Shape:
    return replace(shape, at=rounded(shape.at), quantiles=rounded(shape.quantiles))


def _needs_shares(shape: Shape, x: Vector) -> bool:
    """Whether quantiles say little: counts mostly 0, in all rows or half the classes, and 0/1."""
    n_zero, n_classes = np.sum(shape.quantiles[:, 2] == 0), max(1, len(shape.at))
    zeros = np.mean(x > 0) < 0.5 or 2 * n_zero >= n_classes
    return bool(np.isin(x, (0, 1)).all() or ((x >= 0).all() and zeros))


def _above_zero(shape: Shape, x: Vector, group: Indices) -> Shape:
    """A shape with the share of rows above zero, and the mean, of each class that it shows."""
    large = np.flatnonzero(np.bincount(group) >= FEWEST_ROWS)
    shares = np.array([np.mean(x[group == g] > 0) for g in large])
    means = np.array([np.mean(x[group == g]) for g in large])
    return replace(shape, shares=rounded(shares), means=rounded(means))


def rounded(values: Matrix) -> Matrix:
    """Values cut to four digits that count."""
    return np.array([float(f"{v:.{DIGITS}g}") for v in values.ravel()]).reshape(values.shape)
