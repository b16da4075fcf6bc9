"""Summarises the target over two features that act together: means and counts of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..conditional.evidence import ConditionalEvidence
from ..controllers import Evidence
from ..data.covariates import Covariates, is_number
from ..data.ranks import settled
from ..data.study import Study
from ..data.target import Target, columns_of
from ..types import Indices, Mask, Matrix, Vector
from .plot_data import DIGITS, FEWEST_ROWS, MOST_LEVELS, GridSide, PairGrid, rounded
from .trends import SELECTABLE

USUAL_PAIRS = 6  # that are drawn, near misses among them
MOST_PAIRS = 40
ROWS_PER_CELL = 10  # on average, of which the number of bins follows
FEWEST_BINS = 2
MOST_BINS = 5
OTHERS = "others"  # name of all rare levels together


def find_pair_grids(study: Study, evidence: Evidence, fdr: float) -> tuple[PairGrid, ...]:
    """The target over both features of each of the best pairs, smallest p-value first.

    That is all that the level selects, 40 at most. If these are fewer than six, near misses of
    q-values up to 0.5 join them.
    """
    if not isinstance(evidence, ConditionalEvidence):
        return ()
    q_values = evidence.pairs.q_values(evidence.rule)
    n_selected, n_selectable = (int(np.sum(q_values <= level)) for level in (fdr, SELECTABLE))
    n_drawn = max(min(n_selected, MOST_PAIRS), min(n_selectable, USUAL_PAIRS))
    return tuple(grid_of_pair(study, pair) for pair in evidence.pairs.features[:n_drawn])


def grid_of_pair(study: Study, pair: Indices) -> PairGrid:
    """Means and counts of the target over the groups of two features, or covariates."""
    (first, i), (second, j) = (_side(study, int(k)) for k in pair)
    shape = len(first.names), len(second.names)
    cell = i * shape[1] + j
    counts = np.bincount(cell, minlength=shape[0] * shape[1])
    known = _may_be_known(counts)
    names, columns = _averaged(study.target)
    scale = np.maximum(np.abs(columns).max(axis=1, keepdims=True), 1e-300)
    values = columns / scale  # sums do not overflow
    sums = np.array([np.bincount(cell, row, minlength=len(counts)) for row in values])
    means = sums / np.maximum(counts, 1)
    which = _differs_most(values, means[:, known], counts[known])
    return PairGrid(
        features=pair,
        sides=(first, second),
        target=names[which],
        is_share=study.target.nominal,
        counts=np.where(counts >= FEWEST_ROWS, counts, 0).reshape(shape),
        means=rounded(np.where(known, means[which] * scale[which], 0.0)).reshape(shape),
        known=known.reshape(shape),
    )


def _averaged(target: Target) -> tuple[tuple[str, ...], Matrix]:
    """Names and values of outputs, or indicators of classes; of two the second by name."""
    if len(target.labels) == 2:
        name = max(target.labels)
        return (name,), np.equal(target.values, target.labels.index(name))[None].astype(np.float64)
    columns = columns_of(target)
    return columns.names, columns.values


def _side(study: Study, k: int) -> tuple[GridSide, Indices]:
    """Groups of rows by a feature, or by a covariate, and the group of each row."""
    n_features, n_rows = study.columns.n_columns, study.columns.n_rows
    n_bins = int(np.clip(np.sqrt(n_rows / ROWS_PER_CELL), FEWEST_BINS, MOST_BINS))
    if k >= n_features:
        assert study.covariates is not None
        return _side_of_covariate(study.covariates, k - n_features, n_bins)
    x = study.columns.read(np.array([k]))[:, 0]
    x = settled(x).astype(np.float64)
    levels, level = np.unique(x, return_inverse=True)
    if study.columns.nominal[k]:
        return _levels(level, [f"level {value:g}" for value in levels])
    if len(levels) <= MOST_LEVELS:
        return _levels(level, [f"{value:.{DIGITS}g}" for value in levels])
    edges = cut_points(x, n_bins)
    ends = [f"{edge:.{DIGITS}g}" for edge in edges]
    between = (f"{low} to {high}" for low, high in pairwise(ends))
    names = (f"below {ends[0]}", *between, f"from {ends[-1]}")
    return GridSide(names, rounded(edges)), _bins(x, edges)


def _side_of_covariate(given: Covariates, k: int, n_bins: int) -> tuple[GridSide, Indices]:
    """Levels of a covariate, or bins named by shares of the rows: its own units are not kept."""
    own = np.flatnonzero(given.owners == k)
    design = given.design[:, own]
    if not is_number(design):
        return _levels(np.argmax(design, axis=1), [given.levels[c] for c in own])
    x = design[:, 0]
    edges = cut_points(x, n_bins)
    ends = [round(100 * float(np.mean(x < edge))) for edge in edges]
    between = (f"{low} to {high}%" for low, high in pairwise(ends))
    names = (f"lowest {ends[0]}%", *between, f"highest {100 - ends[-1]}%")
    return GridSide(names, np.empty(0)), _bins(x, edges)


def cut_points(x: Vector, n_bins: int) -> Vector:
    """Quantiles that cut a number into at most so many bins, none of them empty.

    Equal values stay together; where most are the smallest one, the others are the second bin.

    Examples
    --------
    >>> cut_points(np.arange(8.0), 4).tolist()
    [1.75, 3.5, 5.25]
    >>> cut_points(np.array([0.0] * 10 + [1.0, 2.0]), 4).tolist()
    [1.0]
    """
    edges = np.unique(np.quantile(x, np.linspace(0, 1, n_bins + 1)[1:-1]))
    edges = edges[edges > x.min()]
    return edges if len(edges) else np.array([x[x > x.min()].min()])


def _bins(x: Vector, edges: Vector) -> Indices:
    return np.searchsorted(edges, x, side="right")


def _levels(level: Indices, names: Sequence[str]) -> tuple[GridSide, Indices]:
    """The most frequent levels of five rows or more, in their order, and all others together."""
    counts = np.bincount(level, minlength=len(names))
    own = np.sort(np.argsort(-counts, kind="stable")[:MOST_LEVELS])
    own = own[counts[own] >= FEWEST_ROWS]
    group = np.full(len(names), len(own))
    group[own] = np.arange(len(own))
    others = (OTHERS,) if len(own) < len(names) else ()
    return GridSide((*(names[c] for c in own), *others), np.empty(0)), group[level]


def _may_be_known(counts: Indices) -> Mask:
    """Cells whose mean may be known: all but the small, and but one that would give them away."""
    known = counts >= FEWEST_ROWS
    if 0 < counts[~known].sum() < FEWEST_ROWS and known.any():
        known[np.argmin(np.where(known, counts, counts.max() + 1))] = False
    return known


def _differs_most(values: Matrix, means: Matrix, counts: Indices) -> int:
    """The class or output whose means explain the largest share of its variance."""
    if len(values) == 1 or not counts.sum():
        return 0
    deviation = np.maximum(values.std(axis=1, keepdims=True), 1e-300)
    standardised = (means - values.mean(axis=1, keepdims=True)) / deviation
    return int(np.argmax(standardised**2 @ counts))
