"""Tests every hypothesis twice: against one fit for all, and against a fit that never saw it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from ..features.groups import MembersByNumber
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
N_SHOWN = 2  # neighbours of a feature that are reported
CHECK_ALPHA = 0.05  # p-value up to which residuals are checked for dependence


@dataclass(frozen=True, eq=False)
class Results:
    """What is known of every row of Z as a member of a hypothesis: one entry for each of them.

    Where there are several partitions, a row has an entry for every hypothesis that it belongs to.
    Arrays of two axes have a column for each column of the target.

    Attributes
    ----------
    rows, hypothesis_of
        The row of Z and the hypothesis of each entry.
    p
        p-value of each entry.
    p_by_target, effects
        The same for each column of the target, and partial correlations with it.
    neighbours
        What each entry is adjusted for.
    residual_variance
        Share of its variance that neighbours do not explain.
    similarity
        Correlation with the strongest neighbours, two at most, 0 where there is none.
    p_of_hypotheses
        p-value of each hypothesis.
    dependent
        Entries whose p-value was raised because their residual depends on another feature.
    """

    rows: Indices
    hypothesis_of: Indices
    p: Vector
    p_by_target: Matrix
    effects: Matrix
    neighbours: Neighbours
    residual_variance: Vector
    similarity: Matrix
    p_of_hypotheses: Vector
    dependent: Indices


@dataclass(frozen=True, eq=False)
class Shared:
    """What all tasks need, in one object, so that it is sent to every worker once."""

    inputs: Inputs
    distillation: Distillation
    results: Results | None = None

    def __sizeof__(self) -> int:
        """Bytes of the scores alone: Dask keeps what is large on its workers."""
        return int(self.inputs.Z.nbytes)


def first_pass(inputs: Inputs, distillation: Distillation, work: Work) -> Results:
    """Every column against the target as fitted to all features, its own part taken out.

    How much that is, is exact for some fits and known to first order for others.
    """
    width = MAX_BLOCK_VALUES // inputs.n_rows // len(inputs.target.names)
    width = max(MIN_BLOCK, min(MAX_BLOCK, width))
    shared, tasks = Shared(inputs, distillation), []
    for hypothesis_of, rows in zip(inputs.hypotheses, inputs.new_rows, strict=True):
        rows = rows[np.argsort(hypothesis_of[rows], kind="stable")]
        tasks += [
            delayed(_test_block)(shared, hypothesis_of, rows[i : i + width])
            for i in range(0, len(rows), width)
        ]
    blocks = []
    with open_pool(work.n_jobs) as pool:
        for done, found in enumerate(run_blocks(pool, tasks), 1):
            blocks.append(found)
            work.report("tests", done, len(tasks))
    columns = [np.concatenate(column) for column in zip(*blocks, strict=True)]
    rows, hypothesis_of, p, by_target, effects, linear, spline, variance, similarity = columns
    return Results(
        rows=rows,
        hypothesis_of=hypothesis_of,
        p=p,
        p_by_target=by_target,
        effects=effects,
        neighbours=Neighbours(linear, spline),
        residual_variance=variance,
        similarity=similarity,
        p_of_hypotheses=combine_groups(p, hypothesis_of),
        dependent=np.empty(0, np.intp),
    )


def _test_block(shared: Shared, hypothesis_of: Indices, rows: Indices) -> list[NDArray[Any]]:
    inputs, fit = shared.inputs, shared.distillation.full_fit
    near = find_neighbours(inputs.scores32, inputs.abs_scores32, hypothesis_of, rows)
    E = _residuals(fit, rows, hypothesis_of)
    found = inputs.compare(rows, near, E, fit.uses_absolute_values)
    strongest = near.linear[:, :N_SHOWN]
    similarity = np.einsum("kn,kjn->kj", inputs.Z[rows], inputs.Z[strongest]) / inputs.n_rows
    return [
        rows,
        hypothesis_of[rows],
        found.p,
        found.p_by_target,
        found.correlation,
        near.linear,
        near.spline,
        found.residual_variance,
        np.where(strongest < 0, 0.0, similarity),
    ]


def _residuals(fit: Distilled, rows: Indices, hypothesis_of: Indices) -> NDArray[np.float64]:
    """Residuals of the target for each row, without the columns of its hypothesis: (q, rows, n).

    They are (q, n) where they are the same for all.
    """
    numbers, places = np.unique(hypothesis_of[rows], return_inverse=True)
    used = np.isin(numbers, hypothesis_of[fit.used])
    if not used.any():
        return fit.residuals
    members = MembersByNumber(hypothesis_of)
    found = np.repeat(fit.residuals[:, None], len(numbers), axis=1)
    found[:, used] = fit.without([members.of(h) for h in numbers[used].tolist()])
    return found[:, places]


Task = list[Indices]  # the entries of each of a few hypotheses


def refits(inputs: Inputs, distillation: Distillation, results: Results) -> list[Task]:
    """What to test again, as entries of hypotheses: what is promising, or what a fit hangs on."""
    order = np.argsort(results.hypothesis_of, kind="stable")
    numbers, starts = np.unique(results.hypothesis_of[order], return_index=True)
    entries = dict(zip(numbers.tolist(), np.split(order, starts[1:]), strict=True))
    most = CHECK_ALPHA if distillation.full_fit.exact else PROMISING  # nothing else would change
    promising = results.hypothesis_of[results.p <= most]
    used = [numbers[distillation.to_refit] for numbers in inputs.hypotheses]
    again = [entries[h] for h in np.unique(np.concatenate([promising, *used])).tolist()]
    width = HYPOTHESES_PER_TASK
    return [again[i : i + width] for i in range(0, len(again), width)]


def second_pass(
    inputs: Inputs,
    distillation: Distillation,
    results: Results,
    todo: list[Task],
    check_residuals: bool,
    work: Work,
) -> Results:
    """The results, with every hypothesis of `todo` tested against a fit that never saw it."""
    p, by_target, effects = results.p.copy(), results.p_by_target.copy(), results.effects.copy()
    p_of_hypotheses = results.p_of_hypotheses.copy()
    dependent, shared = [results.dependent], Shared(inputs, distillation, results)
    tasks = [delayed(_test_without)(shared, task, check_residuals) for task in todo]
    with open_pool(work.n_jobs) as pool:
        for done, (task, found) in enumerate(zip(todo, run_blocks(pool, tasks), strict=True), 1):
            which = np.concatenate(task)
            p[which], by_target[which], effects[which], raised, whole = found
            p_of_hypotheses[[results.hypothesis_of[entries[0]] for entries in task]] = whole
            dependent.append(which[raised])
            work.report("fits without a feature", done, len(tasks))
    return replace(
        results,
        p=p,
        p_by_target=by_target,
        effects=effects,
        p_of_hypotheses=p_of_hypotheses,
        dependent=np.concatenate(dependent),
    )


def _test_without(shared: Shared, task: Task, check_residuals: bool) -> list[NDArray[Any]]:
    """What `Results` holds of the entries of hypotheses, each tested against a fit without it.

    Also which entries had a p-value raised, and the p-value of each hypothesis.
    """
    inputs, results = shared.inputs, shared.results
    assert results is not None
    found, raised, whole = [], list[Indices](), list[float]()
    n_before = 0
    for entries in task:
        own, near = results.rows[entries], results.neighbours.take(entries)
        fit = shared.distillation.without(own)
        up_to = CHECK_ALPHA if check_residuals else 0.0
        one = inputs.compare(own, near, fit.residuals, fit.uses_absolute_values, up_to)
        dependent = [
            i
            for i in np.flatnonzero(one.gcm > one.p)
            if residual_is_dependent(inputs, int(own[i]), own, one.residuals[i])
        ]
        one.p[dependent] = one.gcm[dependent]
        raised.append(np.array(dependent, dtype=np.intp) + n_before)
        n_before += len(own)
        whole.append(_p_of_hypothesis(one.p, one.residuals))
        found.append(one)
    return [
        np.concatenate([one.p for one in found]),
        np.concatenate([one.p_by_target for one in found]),
        np.concatenate([one.correlation for one in found]),
        np.concatenate([np.empty(0, np.intp), *raised]),
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
