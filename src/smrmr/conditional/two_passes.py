"""Tests every feature twice: against one fit for all, and against a fit that never saw it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from ..runs.blocks import open_pool, run_blocks
from ..runs.work import Work
from ..types import Indices, Matrix, Vector
from .calibration import calibrate
from .guard import still_depends
from .inputs import Inputs
from .p_values import combine, combine_groups, second_opinion
from .residuals import Neighbours, find_neighbours
from .target_fits import BestFitter, TargetFit

VALUES_AT_ONCE = 2**22  # of columns whose neighbours are looked for together,
FEWEST_AT_ONCE, MOST_AT_ONCE = 8, 256  # but no fewer and no more columns than these
HYPOTHESES_AT_ONCE = 4  # without whose columns the target is fitted in one task
LOOKED_AT_AGAIN = 0.1  # p-value from which on a feature cannot be selected at any sensible level
ASKED_TWICE = 0.05  # p-value up to which the guard looks
MOST_RESOLVED = 100  # columns of a group of which each is asked whether it carries the group


@dataclass(eq=False)
class Results:
    """What is known of every row of Z as a part of a hypothesis, `hypothesis_of`.

    That is p-values and effects by part, neighbours, what is left, and p-values of the rest of the
    hypothesis once the row is known. Where there are several partitions, a row has an entry for
    every hypothesis that it belongs to. `whole` are p-values of hypotheses, by part.
    """

    rows: Indices
    hypothesis_of: Indices
    p: Matrix
    effects: Matrix
    straight: Indices
    bent: Indices
    left: Vector
    similarity: Vector
    rests: Matrix
    whole: Matrix = field(init=False)

    def __post_init__(self) -> None:
        self.whole = combine_groups(self.p, self.hypothesis_of)


@dataclass(frozen=True, eq=False)
class Shared:
    """What all tasks need, in one object, so that it is sent to every worker once."""

    inputs: Inputs
    fitters: tuple[BestFitter, ...] = ()
    results: Results | None = None

    def __sizeof__(self) -> int:
        """Bytes of the scores alone: Dask keeps what is large on its workers."""
        return int(self.inputs.Z.nbytes)


def first_pass(inputs: Inputs, fitters: list[BestFitter], work: Work) -> Results:
    """Every column against the target as fitted to all features."""
    E = np.stack([fitter.whole.residual for fitter in fitters])
    bent = np.array([fitter.whole.bent for fitter in fitters])
    width = max(FEWEST_AT_ONCE, min(MOST_AT_ONCE, VALUES_AT_ONCE // inputs.n_rows))
    shared, tasks = Shared(inputs), []
    for hypothesis_of, rows in zip(inputs.hypotheses, inputs.new_rows, strict=True):
        tasks += [
            delayed(_test_block)(shared, hypothesis_of, rows[i : i + width], E, bent)
            for i in range(0, len(rows), width)
        ]
    blocks = []
    with open_pool(work.n_jobs) as pool:
        for done, found in enumerate(run_blocks(pool, tasks), 1):
            blocks.append(found)
            work.report("tests", done, len(tasks))
    return Results(*(np.concatenate(column) for column in zip(*blocks, strict=True)))


def _test_block(
    shared: Shared, hypothesis_of: Indices, rows: Indices, E: Matrix, bent: NDArray[Any]
) -> list[NDArray[Any]]:
    inputs = shared.inputs
    near = find_neighbours(inputs.scores32, inputs.abs_scores32, hypothesis_of, rows)
    found = inputs.compare(rows, near, E)
    strongest = near.straight[:, 0]
    pairs = zip(rows, strongest, strict=True)
    similarity = np.array([inputs.Z[k] @ inputs.Z[other] for k, other in pairs]) / inputs.n_rows
    return [
        rows,
        hypothesis_of[rows],
        inputs.p_values(found, bent, rows),
        found.correlation,
        near.straight,
        near.bent,
        found.left,
        np.where(strongest < 0, 0.0, similarity),
        np.ones((len(rows), len(E))),
    ]


def second_pass(
    inputs: Inputs, fitters: list[BestFitter], results: Results, guard: bool, work: Work
) -> Indices:
    """Test again, without it, every hypothesis that took part in a fit or could be rejected.

    Fills in p-values and effects; returns the entries whose p-value the guard raised.
    """
    order = np.argsort(results.hypothesis_of, kind="stable")
    numbers, starts = np.unique(results.hypothesis_of[order], return_index=True)
    entries = dict(zip(numbers.tolist(), np.split(order, starts[1:]), strict=True))
    todo = []
    for q, fitter in enumerate(fitters):
        promising = results.hypothesis_of[results.p[:, q] <= LOOKED_AT_AGAIN]
        used = [hypothesis_of[fitter.whole.used] for hypothesis_of in inputs.hypotheses]
        again = np.unique(np.concatenate([promising, *used])).tolist()
        todo += [
            (q, [entries[number] for number in again[i : i + HYPOTHESES_AT_ONCE]])
            for i in range(0, len(again), HYPOTHESES_AT_ONCE)
        ]
    shared = Shared(inputs, tuple(fitters), results)
    tasks = [delayed(_test_without)(shared, q, some, guard) for q, some in todo]
    guarded: list[Indices] = []
    with open_pool(work.n_jobs) as pool:
        for done, ((q, some), found) in enumerate(
            zip(todo, run_blocks(pool, tasks), strict=True), 1
        ):
            which = np.concatenate(some)
            p, effects, rests, raised, whole = found
            results.p[which, q], results.effects[which, q], results.rests[which, q] = (
                p,
                effects,
                rests,
            )
            results.whole[[results.hypothesis_of[entries[0]] for entries in some], q] = whole
            guarded.append(which[raised])
            work.report("fits without a feature", done, len(tasks))
    return np.concatenate([np.empty(0, np.intp), *guarded])


def _test_without(
    shared: Shared, q: int, hypotheses: list[Indices], guard: bool
) -> list[NDArray[Any]]:
    """p-values and effects of the entries of hypotheses, each against a fit that never saw it.

    The fit is that of part q of the target.

    Also p-values of the rest of a hypothesis given each entry, which ones the guard raised, and
    p-values of whole hypotheses.
    """
    inputs, fitter, results = shared.inputs, shared.fitters[q], shared.results
    assert results is not None
    p: list[float] = []
    effects: list[float] = []
    rests: list[float] = []
    raised: list[int] = []
    whole: list[float] = []
    for entries in hypotheses:
        own = results.rows[entries]
        fit = fitter.without(own)
        near = Neighbours(results.straight[entries], results.bent[entries])
        found = inputs.compare(own, near, fit.residual[None])
        mine = inputs.p_values(found, fit.bent, own)[:, 0]
        second = second_opinion(found, inputs.n_rows, fit.bent)[:, 0]
        for i in np.flatnonzero((mine <= ASKED_TWICE) & (second > mine)) if guard else ():
            r = inputs.residual_of(int(own[i]), near.straight[i], near.bent[i])
            if still_depends(inputs, int(own[i]), own, r):
                raised.append(len(p) + int(i))
                mine[i] = second[i]
        p.extend(mine)
        effects.extend(found.correlation[:, 0])
        whole.append(_p_of_hypothesis(inputs, own, near, mine))
        resolved = 1 < len(own) <= MOST_RESOLVED and whole[-1] <= LOOKED_AT_AGAIN
        rests.extend(_p_of_the_rest(inputs, own, near, fit) if resolved else np.ones(len(own)))
    return [
        np.array(p),
        np.array(effects),
        np.array(rests),
        np.array(raised, dtype=np.intp),
        np.array(whole),
    ]


def _p_of_hypothesis(inputs: Inputs, own: Indices, near: Neighbours, p: Vector) -> float:
    """p-value of a hypothesis from those of its rows."""
    tested = np.flatnonzero(p < 1)
    if len(tested) == 0:
        return 1.0
    together = float(combine(p[tested]))
    if len(tested) == 1 or together > LOOKED_AT_AGAIN:
        return together
    left = [inputs.residual_of(int(own[i]), near.straight[i], near.bent[i]) for i in tested]
    return float(calibrate(together, np.stack(left)))


def _p_of_the_rest(inputs: Inputs, own: Indices, near: Neighbours, fit: TargetFit) -> Vector:
    """p-value of all other rows of a hypothesis once each row is known.

    A row that is known is a neighbour of all others, first among the straight and the bent ones.
    """
    found = np.empty(len(own))
    for i, row in enumerate(own):
        others = np.arange(len(own)) != i
        first = np.full((len(own) - 1, 1), row)
        known = Neighbours(
            np.hstack([first, near.straight[others]])[:, : near.straight.shape[1]],
            np.hstack([first, near.bent[others]])[:, : near.bent.shape[1]],
        )
        rest = inputs.compare(own[others], known, fit.residual[None])
        p = inputs.p_values(rest, fit.bent, own[others])
        found[i] = combine_groups(p, np.zeros(len(p), np.intp))[0, 0]
    return found
