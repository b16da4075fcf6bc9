"""Describes marginal associations of features with the target: their shape and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.ranks import average_ranks
from ..data.study import Study
from ..data.target import Target, columns_of
from ..features.rank_table import RankTable
from ..types import Indices, Mask, Matrix, Vector
from .plot_data import FEWEST_ROWS, Shape, Shapes, rounded

USUAL_FEATURES = 50
SELECTABLE = 0.5  # q-value up to which features are described in any case: a level may select them
MOST_VALUES = 2 * 10**7  # bounds the time spent on tables with very many rows
BLOCK = 50  # features that are read together
MOST_MEANS = 20  # classes whose means are reported
CLEAR = 2.0  # standard errors above which a trend or a difference of classes is reported
CLEAR_ARMS = 3.0  # the same for both arms of a U, whose place was searched for
ARM = 0.2  # share of the longer arm that the shorter one must have
FINE = 8  # fewest groups in which a threshold can be distinguished from a rise
FLAT = 0.2  # largest share of the variance within the two parts of a threshold
MEDIAN_ERROR = 1.2533 / 1.349  # standard error of a median, times sqrt(n), over the quartiles' gap
NOT_NUMBERS = "category"
UNCLEAR = "unclear"


@dataclass(frozen=True, eq=False)
class Trends:
    """Marginal associations of the best features with the target.

    Everything here is a summary of five rows or more.

    Attributes
    ----------
    features
        Those features, best first: 50, and more if a level up to 0.5 selects more.
    shapes
        For each ``"rises"``, ``"falls"``, ``"U"``, ``"arch"``, ``"threshold"`` or ``"unclear"``,
        see `classify_shape`; of several outputs with the output's name; with classes ``"up in"``
        the class of largest mean; ``"category"`` if its values are no numbers.
    correlation
        Spearman's, with the target; empty for classes.
    labels
        Classes of five rows or more, in the order of the alphabet; empty for numbers.
    means, deviation
        Mean of each feature in each of these classes, and its standard deviation within them.
    positive
        Whether no value of the feature is below 0.
    """

    features: Indices = field(default_factory=lambda: np.empty(0, np.intp))
    shapes: tuple[str, ...] = ()
    correlation: Vector = field(default_factory=lambda: np.empty(0))
    labels: tuple[str, ...] = ()
    means: Matrix = field(default_factory=lambda: np.empty((0, 0)))
    deviation: Vector = field(default_factory=lambda: np.empty(0))
    positive: Mask = field(default_factory=lambda: np.empty(0, np.bool_))

    def __post_init__(self) -> None:
        size = len(self.features), len(self.labels)  # which JSON does not tell if there are none
        object.__setattr__(self, "means", self.means.reshape(size))

    @property
    def numbers(self) -> Mask:
        """Which of the features hold numbers rather than categories."""
        return np.array([shape != NOT_NUMBERS for shape in self.shapes], dtype=np.bool_)

    def sizes(self) -> dict[str, Vector]:
        """Sizes of effects by name, NaN where there is none.

        The correlation with a target of numbers. With classes the mean in each and, if there are
        two, the second less the first in the order of the alphabet: in standard deviations, and as
        log2 of the ratio of means for features without negative values.
        """
        if len(self.correlation):
            return {"correlation": np.where(self.numbers, self.correlation, np.nan)}
        means = np.where(self.numbers[:, None], self.means, np.nan)
        columns = {f"mean_{label}": means[:, i] for i, label in enumerate(self.labels)}
        if len(self.labels) == 2:
            first, second = means.T
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.log2(second / first)
                apart = (second / 2 - first / 2) / self.deviation * 2  # halves do not overflow
            ratio[~self.positive | ~np.isfinite(ratio)] = np.nan
            columns["difference_in_sd"] = np.where(np.isfinite(apart), apart, np.nan)
            columns["log2_fold_change"] = ratio
        return columns


def find_trends(
    study: Study,
    ranked: RankTable,
    features: Indices,
    selected: Indices,
    q_values: Vector,
    nominal: Mask,
    known: Shapes | None = None,
) -> Trends:
    """Marginal associations of the first of these features, best first; `ranked` are the columns.

    That is all that are selected, or are by levels up to 0.5, and the first 50; fewer if there are
    very many rows, the selected before all others.
    """
    selectable = features[q_values[features] <= SELECTABLE]
    wanted = dict.fromkeys([*selected, *selectable, *features[:USUAL_FEATURES]])
    most = max(MOST_VALUES // study.columns.n_rows, BLOCK)
    features = features[np.isin(features, [*wanted][:most])]
    blocks = (features[start : start + BLOCK] for start in range(0, len(features), BLOCK))
    if study.target.nominal:
        rows = _rows_of_classes(study.target)
        columns = (x for some in blocks for x in study.columns.read(some).astype(np.float64).T)
        described = [_describe_by_class(x, rows) for x in columns]
        shapes, means, deviation, positive = zip(*described, strict=True) if described else [()] * 4
        numbers: dict[str, Any] = {
            "labels": tuple(rows),
            "means": rounded(np.array(means)),
            "deviation": rounded(np.array(deviation)),
            "positive": np.array(positive, dtype=np.bool_),
        }
    else:
        ranks = _centred(average_ranks(study.target.values.reshape(study.target.n_rows, -1).T))
        known = Shapes(study.target) if known is None else known
        outputs = columns_of(study.target).names
        pairs = list[tuple[str, float]]()
        for some in blocks:
            values = study.columns.read(some).astype(np.float64)
            own_ranks = _centred(ranked.ranks(some, values.T) / 2)
            each = zip(known.of(some, values), own_ranks, strict=True)
            pairs += [_describe_by_number(shape, own, ranks, outputs) for shape, own in each]
        shapes, correlation = zip(*pairs, strict=True) if pairs else [()] * 2
        numbers = {"correlation": rounded(np.array(correlation))}
    words = (NOT_NUMBERS if nominal[k] else str(s) for k, s in zip(features, shapes, strict=True))
    return Trends(features, tuple(words), **numbers)


def classify_shape(medians: Vector, counts: Indices, gaps: Vector) -> str:
    """Shape of the medians of groups of rows, the groups being in order of a feature.

    The ends are the first and the last quarter of the groups; the middle is that quarter between
    them that lies lowest or highest. Errors come from the gap between quartiles.

    - ``"U"``: both ends lie above the lowest middle, by more than 3 standard errors, and the lower
      end by at least a fifth of what the higher one does; ``"arch"`` is its mirror image.
    - ``"rises"`` or ``"falls"``: a line through the medians does so by more than 2 standard errors.
    - ``"threshold"``: it does, and two flat parts leave at most a fifth of the differences (as
      squares), and at most half of what the line leaves, of eight groups or more.
    - ``"unclear"``: none of these.

    Examples
    --------
    >>> counts, gaps = np.full(8, 20), np.full(8, 0.5)
    >>> classify_shape(np.array([3.0, 2, 1, 0, 0, 1, 2, 3]), counts, gaps)
    'U'
    >>> classify_shape(np.array([0.0, 0, 0, 0, 0, 3, 3, 3]), counts, gaps)
    'threshold'
    """
    if len(medians) < 2:
        return UNCLEAR
    rows = counts / counts.sum()
    error = MEDIAN_ERROR * float(rows @ gaps)  # times 1 / sqrt(rows)
    if _is_u_shaped(medians, counts, error):
        return "U"
    if _is_u_shaped(-medians, counts, error):
        return "arch"
    place = np.arange(len(medians)) - rows @ np.arange(len(medians))
    slope = float(rows @ (place * medians) / (rows @ place**2))
    if slope == 0 or abs(slope) * np.sqrt(counts @ place**2) <= CLEAR * error:
        return UNCLEAR
    if len(medians) >= FINE and _is_step(medians - rows @ medians, rows, slope * place):
        return "threshold"
    return "rises" if slope > 0 else "falls"


def _is_u_shaped(medians: Vector, counts: Indices, error: float) -> bool:
    """Whether both ends lie clearly above the lowest part between them."""
    width = max(1, len(medians) // 4)
    if len(medians) < 3 * width:
        return False
    total, rows = (np.cumsum([0.0, *values]) for values in (counts * medians, counts))
    n = rows[width:] - rows[:-width]
    level = (total[width:] - total[:-width]) / n
    lowest = width + int(np.argmin(level[width:-width]))
    arms = level[[0, -1]] - level[lowest]
    errors = error * np.sqrt(1 / n[[0, -1]] + 1 / n[lowest])
    return bool((arms > CLEAR_ARMS * errors).all() and arms.min() >= ARM * arms.max())


def _is_step(medians: Vector, rows: Vector, line: Vector) -> bool:
    """Whether a step function fits the centred medians well, and better than a line."""
    below, sums = np.cumsum(rows)[:-1], np.cumsum(rows * medians)[:-1]
    explained = np.max(sums**2 / (below * (1 - below)))
    total = rows @ medians**2
    within = total - explained
    return bool(within <= FLAT * total and within <= rows @ (medians - line) ** 2 / 2)


def _describe_by_number(
    shape: Shape, ranks: Vector, target_ranks: Matrix, outputs: Sequence[str]
) -> tuple[str, float]:
    """Shape of a feature against a target of numbers, and Spearman's correlation of the two.

    Ranks are about 0 and of length 1.
    """
    scale = float(np.abs(shape.quantiles).max(initial=0.0)) or 1.0  # so that nothing overflows
    _, low, middle, high, _ = (shape.quantiles / scale).T
    word = classify_shape(middle, shape.counts, high - low)
    if len(target_ranks) > 1 and word != UNCLEAR:
        word = f"{outputs[shape.output]} {word}"
    return word, float(ranks @ target_ranks[shape.output])


def _rows_of_classes(target: Target) -> dict[str, Indices]:
    """The rows of each class that has enough of them to be summarised, by name."""
    rows = {
        label: np.flatnonzero(target.values == code) for code, label in enumerate(target.labels)
    }
    largest = sorted(rows, key=lambda label: (-len(rows[label]), label))[:MOST_MEANS]
    return {name: rows[name] for name in sorted(largest) if len(rows[name]) >= FEWEST_ROWS}


def _describe_by_class(x: Vector, rows: dict[str, Indices]) -> tuple[str, Vector, float, bool]:
    """Class of largest mean, means, deviation within classes, and whether no value is negative."""
    scale = float(np.abs(x).max()) or 1.0  # sums do not overflow
    groups = [x[some] / scale for some in rows.values()]
    means = np.array([group.mean() for group in groups])
    n = np.array([len(group) for group in groups])
    within = sum(float(np.sum((g - mean) ** 2)) for g, mean in zip(groups, means, strict=True))
    deviation = float(np.sqrt(within / max(n.sum() - len(n), 1)))
    word = UNCLEAR
    if len(means) > 1:
        most, least = int(np.argmax(means)), int(np.argmin(means))
        error = deviation * np.sqrt(1 / n[most] + 1 / n[least])
        if means[most] - means[least] > CLEAR * error:
            word = f"up in {list(rows)[most]}"
    return word, means * scale, deviation * scale, bool(x.min() >= 0)


def _centred(ranks: Matrix) -> Matrix:
    """Ranks about 0 and of length 1, so that products of rows are Spearman's correlations."""
    ranks = ranks - (ranks.shape[1] + 1) / 2
    length = np.sqrt(np.sum(ranks**2, axis=1, keepdims=True))
    return np.asarray(ranks / np.where(length > 0, length, 1.0))
