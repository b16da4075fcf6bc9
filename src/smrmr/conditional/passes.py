"""Tests every hypothesis twice: against one fit for all, and against a fit that never saw it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from ..runs.blocks import open_pool, run_blocks
from ..runs.work import Work
from ..types import Indices, Matrix, Vector
from .calibration import calibrate
from .combine import combine, combine_groups
from .distillers import Distillation, Distilled
from .inputs import Inputs
from .residual_checks import residual_is_dependent
from .residuals import Neighbours, find_neighbours

MAX_BLOCK_VALUES = 2**22  # bounds the memory of one block of columns,
MIN_BLOCK, MAX_BLOCK = 8, 256  # which has no fewer and no more columns than these
HYPOTHESES_PER_TASK = 4  # without whose columns the target is fitted in one task
PROMISING = 0.1  # p-value above which a hypothesis cannot be selected at any sensible level
CHECK_ALPHA = 0.05  # p-value up to which residuals are checked for dependence
MAX_RESOLVED = 100  # largest group, in columns, whose members are tested as its carriers


@dataclass(frozen=True, eq=False)
class Results:
    """What is known of every row of Z as a member of a hypothesis: one entry for each of them.

    Where there are several partitions, a row has an entry for every hypothesis that it belongs to.
    Arrays of two axes have a column for each column of the target.

    Attributes
    ----------
    rows, hypothesis_of
        The row of Z and the hypothesis of each entry.
    p, effects
        p-value of each entry, and partial correlation with the target.
    neighbours
        What each entry is adjusted for.
    residual_variance
        Share of its variance that neighbours do not explain.
    similarity
        Correlation with the strongest neighbour.
    p_of_rest
        p-value of all other members of its hypothesis, adjusted for the entry.
    p_of_hypotheses
        p-value of each hypothesis.
    dependent
        Entries whose p-value was raised because their residual depends on another feature.
    """

    rows: Indices
    hypothesis_of: Indices
    p: Matrix
    effects: Matrix
    neighbours: Neighbours
    residual_variance: Vector
    similarity: Vector
    p_of_rest: Matrix
    p_of_hypotheses: Matrix
    dependent: Indices


@dataclass(frozen=True, eq=False)
class Shared:
    """What all tasks need, in one object, so that it is sent to every worker once."""

    inputs: Inputs
    distillations: Sequence[Distillation] = ()
    results: Results | None = None

    def __sizeof__(self) -> int:
        """Bytes of the scores alone: Dask keeps what is large on its workers."""
        return int(self.inputs.Z.nbytes)


def first_pass(inputs: Inputs, full_fits: Sequence[Distilled], work: Work) -> Results:
    """Every column against the target as fitted to all features."""
    E = np.stack([fit.residual for fit in full_fits])
    with_abs = [fit.uses_absolute_values for fit in full_fits]
    width = max(MIN_BLOCK, min(MAX_BLOCK, MAX_BLOCK_VALUES // inputs.n_rows))
    shared, tasks = Shared(inputs), []
    for hypothesis_of, rows in zip(inputs.hypotheses, inputs.new_rows, strict=True):
        tasks += [
            delayed(_test_block)(shared, hypothesis_of, rows[i : i + width], E, with_abs)
            for i in range(0, len(rows), width)
        ]
    blocks = []
    with open_pool(work.n_jobs) as pool:
        for done, found in enumerate(run_blocks(pool, tasks), 1):
            blocks.append(found)
            work.report("tests", done, len(tasks))
    columns = [np.concatenate(column) for column in zip(*blocks, strict=True)]
    rows, hypothesis_of, p, effects, linear, spline, variance, similarity = columns
    return Results(
        rows=rows,
        hypothesis_of=hypothesis_of,
        p=p,
        effects=effects,
        neighbours=Neighbours(linear, spline),
        residual_variance=variance,
        similarity=similarity,
        p_of_rest=np.ones_like(p),
        p_of_hypotheses=combine_groups(p, hypothesis_of),
        dependent=np.empty(0, np.intp),
    )


def _test_block(
    shared: Shared, hypothesis_of: Indices, rows: Indices, E: Matrix, with_abs: list[bool]
) -> list[NDArray[Any]]:
    inputs = shared.inputs
    near = find_neighbours(inputs.scores32, inputs.abs_scores32, hypothesis_of, rows)
    found = inputs.compare(rows, near, E, with_abs)
    strongest = near.linear[:, 0]
    pairs = zip(rows, strongest, strict=True)
    similarity = np.array([inputs.Z[k] @ inputs.Z[other] for k, other in pairs]) / inputs.n_rows
    return [
        rows,
        hypothesis_of[rows],
        found.p,
        found.correlation,
        near.linear,
        near.spline,
        found.residual_variance,
        np.where(strongest < 0, 0.0, similarity),
    ]


@dataclass(frozen=True, eq=False)
class Refit:
    """Hypotheses, as the entries of each, to be tested against fits of column q without them."""

    q: int
    hypotheses: list[Indices]


def refits(
    inputs: Inputs, distillations: Sequence[Distillation], results: Results
) -> list[list[Refit]]:
    """For each column of the target what to test again: what its fit used, what is promising."""
    order = np.argsort(results.hypothesis_of, kind="stable")
    numbers, starts = np.unique(results.hypothesis_of[order], return_index=True)
    entries = dict(zip(numbers.tolist(), np.split(order, starts[1:]), strict=True))
    found = []
    for q, distillation in enumerate(distillations):
        promising = results.hypothesis_of[results.p[:, q] <= PROMISING]
        used = [numbers[distillation.used] for numbers in inputs.hypotheses]
        again = [entries[h] for h in np.unique(np.concatenate([promising, *used])).tolist()]
        found.append(
            [
                Refit(q, again[i : i + HYPOTHESES_PER_TASK])
                for i in range(0, len(again), HYPOTHESES_PER_TASK)
            ]
        )
    return found


def second_pass(
    inputs: Inputs,
    distillations: Sequence[Distillation],
    results: Results,
    todo: list[list[Refit]],
    check_residuals: bool,
    work: Work,
) -> Results:
    """The results, with every hypothesis of `todo` tested against a fit that never saw it."""
    p, effects, p_of_rest = results.p.copy(), results.effects.copy(), results.p_of_rest.copy()
    p_of_hypotheses, dependent = results.p_of_hypotheses.copy(), [results.dependent]
    shared = Shared(inputs, distillations, results)
    flat = [refit for same in todo for refit in same]
    tasks = [delayed(_test_without)(shared, refit, check_residuals) for refit in flat]
    with open_pool(work.n_jobs) as pool:
        for done, (refit, found) in enumerate(zip(flat, run_blocks(pool, tasks), strict=True), 1):
            q, which = refit.q, np.concatenate(refit.hypotheses)
            p[which, q], effects[which, q], p_of_rest[which, q], raised, whole = found
            numbers = [results.hypothesis_of[entries[0]] for entries in refit.hypotheses]
            p_of_hypotheses[numbers, q] = whole
            dependent.append(which[raised])
            work.report("fits without a feature", done, len(tasks))
    return replace(
        results,
        p=p,
        effects=effects,
        p_of_rest=p_of_rest,
        p_of_hypotheses=p_of_hypotheses,
        dependent=np.concatenate(dependent),
    )


def _test_without(shared: Shared, refit: Refit, check_residuals: bool) -> list[NDArray[Any]]:
    """p-values, effects and p-values of the rest for the entries of hypotheses.

    Each is tested against a fit that never saw its hypothesis. Also which entries had a p-value
    raised, and the p-value of each hypothesis.
    """
    inputs, results = shared.inputs, shared.results
    assert results is not None
    p: list[float] = []
    effects: list[float] = []
    p_of_rest: list[float] = []
    raised: list[int] = []
    whole: list[float] = []
    for entries in refit.hypotheses:
        own, near = results.rows[entries], results.neighbours.take(entries)
        fit = shared.distillations[refit.q].without(own)
        found = inputs.compare(own, near, fit.residual[None], [fit.uses_absolute_values])
        mine, needed = found.p[:, 0], found.gcm[:, 0]
        if check_residuals:
            for i in np.flatnonzero((mine <= CHECK_ALPHA) & (needed > mine)):
                if residual_is_dependent(inputs, int(own[i]), own, found.residuals[i]):
                    raised.append(len(p) + int(i))
                    mine[i] = needed[i]
        p.extend(mine)
        effects.extend(found.correlation[:, 0])
        whole.append(_p_of_hypothesis(mine, found.residuals))
        resolved = 1 < len(own) <= MAX_RESOLVED and whole[-1] <= PROMISING
        p_of_rest.extend(_p_of_rest(inputs, own, near, fit) if resolved else np.ones(len(own)))
    return [
        np.array(p),
        np.array(effects),
        np.array(p_of_rest),
        np.array(raised, dtype=np.intp),
        np.array(whole),
    ]


def _p_of_hypothesis(p: Vector, residuals: Matrix) -> float:
    """p-value of a hypothesis from those of its members."""
    tested = np.flatnonzero(p < 1)
    if len(tested) == 0:
        return 1.0
    together = float(combine(p[tested]))
    if len(tested) == 1 or together > PROMISING:
        return together
    return float(calibrate(together, residuals[tested]))


def _p_of_rest(inputs: Inputs, own: Indices, near: Neighbours, fit: Distilled) -> Vector:
    """For each member of a hypothesis the p-value of all others, adjusted for it.

    The member is then a neighbour of all others, the first linear and the first spline one.
    """
    found = np.empty(len(own))
    for i, row in enumerate(own):
        others = np.arange(len(own)) != i
        first = np.full((len(own) - 1, 1), row)
        known = Neighbours(
            np.hstack([first, near.linear[others]])[:, : near.linear.shape[1]],
            np.hstack([first, near.spline[others]])[:, : near.spline.shape[1]],
        )
        rest = inputs.compare(own[others], known, fit.residual[None], [fit.uses_absolute_values])
        found[i] = combine_groups(rest.p, np.zeros(len(rest.p), np.intp))[0, 0]
    return found
