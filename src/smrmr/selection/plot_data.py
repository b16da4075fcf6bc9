"""Summarises the data for figures, so that nobody is identified; keeps rows only on request."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
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
MOST_COMPARED = 2000  # rows on which features are compared with each other
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
        Association of each of them with each other, on at most 2,000 rows.
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

    def of(self, features: Indices, values: Matrix) -> list[Shape]:
        """The features against the target, to the last digit; `values` has a column for each."""
        new = [i for i, k in enumerate(features.tolist()) if k not in self._known]
        found = shapes_of(values[:, new], self._target)
        self._known |= dict(zip(features[new].tolist(), found, strict=True))
        return [self._known[k] for k in features.tolist()]

    @cached_property
    def _target(self) -> _SortedTarget:
        return _SortedTarget.of(self.target)


@dataclass(frozen=True, eq=False)
class _SortedTarget:
    """A target and, of each of its columns, the order of rows."""

    target: Target
    columns: Matrix
    orders: Indices

    @classmethod
    def of(cls, target: Target) -> _SortedTarget:
        columns = target.values.reshape(target.n_rows, -1).T
        return cls(target, columns, np.argsort(columns, axis=1))


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
        of_some = columns.take(_spread(target.n_rows, MOST_COMPARED))
        redundancy = Associator(of_some, measure, work.quietly()).with_each_other()
    rows = _spread(target.n_rows, MOST_ROWS)
    return PlotData(
        features=features,
        redundancy=redundancy,
        labels=target.labels,
        shapes=tuple(map(_to_show, shapes.of(features, values))),
        outputs=columns_of(target).names if target.several else (),
        values=values[rows] if keep_data else None,
        y=target.values[rows] if keep_data else None,
    )


def _spread(n_rows: int, most: int) -> Indices:
    """Rows, at most so many, spread evenly."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.intp))


def shape_of(x: Vector, target: Target) -> Shape:
    """A feature against the target, to the last digit."""
    return shapes_of(x[:, None], _SortedTarget.of(target))[0]


def shapes_of(values: Matrix, target: _SortedTarget) -> list[Shape]:
    """Features against the target, to the last digit."""
    if target.target.nominal:
        return [_by_class(x, target.target) for x in values.T]
    rows = settled(np.ascontiguousarray(values.T))
    ordered = np.sort(rows, axis=1)
    n_levels = 1 + np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1)
    n_bins = min(MOST_BINS, rows.shape[1] // ROWS_PER_BIN)
    edges = np.quantile(ordered, np.linspace(0, 1, n_bins + 1)[1:-1], axis=1).T
    return [
        _by_level(x, target) if few else _by_bin(x, in_order, np.unique(between), target)
        for x, in_order, between, few in zip(
            rows, ordered, edges, n_levels <= MOST_LEVELS, strict=True
        )
    ]


def _by_class(x: Vector, target: Target) -> Shape:
    names = np.array(target.labels, dtype=object)[target.order]
    group = np.argsort(target.order)[target.values.astype(np.intp)]
    counts = np.bincount(group)
    large = np.flatnonzero(counts >= FEWEST_ROWS)
    quantiles = _quantiles(x, np.argsort(x), group, counts, large)
    at = np.arange(len(large), dtype=np.float64)
    shape = Shape("classes", at, _named(names, large), counts[large], quantiles)
    return _above_zero(shape, x, group) if _needs_shares(shape, x) else shape


def _by_level(x: Vector, target: _SortedTarget) -> Shape:
    levels, level = np.unique(x, return_inverse=True)
    counts = np.bincount(level)
    large = np.flatnonzero(counts >= FEWEST_ROWS)
    names = _named(np.array([f"{v:.{DIGITS}g}" for v in levels]), large)
    output, quantiles = _most_apart(level, counts, large, target)
    at = np.arange(len(large), dtype=np.float64)
    return Shape("levels", at, names, counts[large], quantiles, output)


def _by_bin(x: Vector, ordered: Vector, edges: Vector, target: _SortedTarget) -> Shape:
    """By bins between the edges; tied values stay in one bin."""
    group = np.zeros(len(x), np.uint8)
    for edge in edges:  # which are few: faster than a search
        group += x >= edge
    counts = np.bincount(group)
    large = np.flatnonzero(counts >= ROWS_PER_BIN)
    output, quantiles = _most_apart(group, counts, large, target)
    at = _quantiles_in_order(ordered, counts, large, (0.5,))[:, 0]
    return Shape("bins", at, (), counts[large], quantiles, output)


def _named(names: NDArray[Any], large: Indices) -> tuple[str, ...]:
    return tuple(str(names[g]) for g in large)


def _most_apart(
    group: NDArray[Any], counts: Indices, large: Indices, target: _SortedTarget
) -> tuple[int, Matrix]:
    """The output that differs most between large groups, and its quantiles in each of them."""
    columns = [
        _quantiles(column, order, group, counts, large)
        for column, order in zip(target.columns, target.orders, strict=True)
    ]
    output = 0
    if len(large) > 1 and len(columns) > 1:
        medians = np.stack([quantiles[:, 2] for quantiles in columns], axis=1)
        apart = np.std(medians, axis=0) / np.maximum(target.columns.std(axis=1), 1e-300)
        output = int(np.argmax(apart))
    return output, columns[output]


def _quantiles(
    values: Vector, order: Indices, group: NDArray[Any], counts: Indices, large: Indices
) -> Matrix:
    """Quantiles in each of the large groups, a row each; `order` is that of the values."""
    by_group = np.argsort(group[order].astype(np.min_scalar_type(len(counts))), kind="stable")
    return _quantiles_in_order(values[order[by_group]], counts, large, QUANTILES)


def _quantiles_in_order(
    ordered: Vector, counts: Indices, large: Indices, shares: tuple[float, ...]
) -> Matrix:
    """The same of values in the order of groups, and within them from small to large."""
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
    """Values cut to four digits that count, the decimal number nearest to each."""
    flat = np.ravel(values).astype(np.float64)
    usual = (np.abs(flat) > 1e-15) & (np.abs(flat) < 1e15)
    numbers = np.where(usual, flat, 1.0)
    power = DIGITS - 1 - np.floor(np.log10(np.abs(numbers)))
    up, down = (10.0 ** np.maximum(sign * power, 0) for sign in (1, -1))  # exact; one of them is 1
    scaled = numbers * up / down
    cut = np.rint(scaled)
    found = cut * down / up
    # halfway, or where a logarithm may have been rounded, the digits themselves decide
    sure = usual & (np.abs(np.abs(scaled - cut) - 0.5) > 1e-6) & (np.abs(cut) > 10**DIGITS / 10)
    for k in np.flatnonzero(~sure | (np.abs(cut) >= 10**DIGITS)):
        found[k] = float(f"{flat[k]:.{DIGITS}g}")
    return np.asarray(found.reshape(np.shape(values)))
