"""Tests every hypothesis against one fit for all, its own part taken out of it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from ..features.groups import MembersByNumber
from ..runs.blocks import open_pool, run_blocks
from ..runs.work import Work
from ..types import Indices, Matrix, Vector
from .combine import combine_groups
from .components import AnyCommonPart
from .distillers import Distillation, Distilled
from .inputs import Inputs, Interact
from .residual_checks import SPREAD_ALPHA, row_spread_p_values
from .residuals import Neighbours, find_neighbours, penalty
from .results import MAX_BLOCK, MAX_TASK_VALUES, DirectedPairs, Results, Shared, block_width
from .statistics import Interactions

N_SHOWN = 2  # neighbours of a feature that are reported
MAX_KEPT_VECTORS = 2**25  # values of components without hypotheses, that are kept for a task


def first_pass(inputs: Inputs, distillation: Distillation, work: Work) -> Results:
    """Every column against the target as fitted to all features, its own part taken out.

    How much that is, is exact for some fits and known to first order for others.
    """
    shared, tasks = Shared(inputs, distillation), []
    width = max(block_width(inputs), min(MAX_BLOCK, MAX_TASK_VALUES // inputs.n_rows))
    inputs.prepare_for_workers()
    if inputs.room.folder is not None:
        _ = shared.products  # made once, in a file that all workers read
    for partition, rows in enumerate(inputs.new_rows):
        rows = rows[np.argsort(inputs.hypotheses[partition][rows], kind="stable")]
        tasks += [
            delayed(_test_rows)(shared, partition, rows[i : i + width])
            for i in range(0, len(rows), width)
        ]
    blocks = []
    with open_pool(work.n_jobs) as pool:
        for done, found in enumerate(run_blocks(pool, tasks), 1):
            blocks.append(found)
            work.report("tests", done, len(tasks))
    columns = [np.concatenate(column) for column in zip(*blocks, strict=True)]
    rows, hypothesis_of, p, by_target, effects, linear, spline, *rest = columns
    freedom, variance, most_similar, similarity, partners, p_of_interaction, p_of_others, wide = (
        rest
    )
    return Results(
        rows=rows,
        hypothesis_of=hypothesis_of,
        p=p,
        p_by_target=by_target,
        effects=effects,
        neighbours=Neighbours(linear, spline),
        freedom=freedom,
        residual_variance=variance,
        most_similar=most_similar,
        similarity=similarity,
        best_partners=partners,
        p_of_interaction=p_of_interaction,
        p_of_others=p_of_others,
        pairs=DirectedPairs.joined([]),
        p_of_hypotheses=combine_groups(p, hypothesis_of),
        goes_with_spread=wide,
        excess=np.zeros(len(rows)),
        dependent=np.empty(0, np.intp),
    )


def _test_rows(shared: Shared, partition: int, rows: Indices) -> list[NDArray[Any]]:
    """What `Results` holds of some rows as members of hypotheses of a partition."""
    inputs = shared.inputs
    hypothesis_of = inputs.hypotheses[partition]
    alone = np.bincount(hypothesis_of[hypothesis_of >= 0])[hypothesis_of[rows]] == 1
    rows = np.concatenate([rows[alone], rows[~alone]])  # those of a common part one after the other
    commons = _common_parts(inputs, hypothesis_of, rows)
    near = find_neighbours(
        inputs.scores32, inputs.abs_scores32, hypothesis_of, rows, commons, inputs.products
    )
    width = block_width(inputs)
    parts = [
        _test_block(shared, partition, rows[some], commons[some], near.take(some))
        for some in (slice(i, i + width) for i in range(0, len(rows), width))
    ]
    return [np.concatenate(column) for column in zip(*parts, strict=True)]


def _test_block(
    shared: Shared, partition: int, rows: Indices, commons: list[AnyCommonPart], near: Neighbours
) -> list[NDArray[Any]]:
    """The same of rows whose neighbours are known."""
    inputs, fit = shared.inputs, shared.distillation.full_fit
    hypothesis_of = inputs.hypotheses[partition]
    E = _residuals(inputs, fit, rows, hypothesis_of)
    interact: Interact | None = None
    if shared.products is not None:
        interact = partial(
            inputs.interactions, rows=rows, products=shared.products, partition=partition
        )
    found = inputs.compare(rows, near, commons, E, [fit.shape], interact=interact)
    strongest, similarity = _most_similar(inputs, rows, near.linear)
    return [
        rows,
        hypothesis_of[rows],
        found.p,
        found.p_by_target,
        found.correlation,
        near.linear,
        near.spline,
        found.freedom,
        found.residual_variance,
        strongest,
        similarity,
        *_of_interactions(found.interactions, len(rows)),
        found.p_of_others,
        row_spread_p_values(inputs, hypothesis_of, rows, found.residuals) < SPREAD_ALPHA,
    ]


def _of_interactions(found: Interactions | None, k: int) -> tuple[Indices, Vector]:
    """Best partners of k rows, and p-values of the rows with any of them."""
    if found is None:
        return np.empty((k, 0), np.intp), np.ones(k)
    return found.partners, found.p


def _common_parts(inputs: Inputs, hypothesis_of: Indices, rows: Indices) -> list[AnyCommonPart]:
    """What features outside the hypothesis of each row share.

    A single feature has next to nothing of that of all.
    """
    members, found = MembersByNumber(hypothesis_of), dict[int, AnyCommonPart]()
    by_need = len(rows) * inputs.components.vectors.size > MAX_KEPT_VECTORS
    for number in np.unique(hypothesis_of[rows]).tolist():
        own = inputs.with_products(members.of(number))
        found[number] = inputs.components.of_all
        if inputs.components.consist_of(own):
            found[number] = inputs.components.part_without(own, inputs.Z, by_need)
    return [found[number] for number in hypothesis_of[rows].tolist()]


def _most_similar(inputs: Inputs, rows: Indices, near: Indices) -> tuple[Indices, Matrix]:
    """Of the neighbours of each row the two that correlate most with it beyond chance, -1 for none.

    Also their correlations, 0 where there is none.
    """
    n_shown = min(N_SHOWN, near.shape[1])
    correlations = np.empty(near.shape)
    for k, row in enumerate(rows):
        correlations[k] = inputs.scores32[near[k]] @ inputs.scores32[row] / inputs.n_rows
    by_chance = penalty(len(inputs.Z), inputs.n_rows)
    correlations[(near < len(inputs.products)) | (np.abs(correlations) <= by_chance)] = 0.0
    order = np.argsort(-np.abs(correlations), axis=1, kind="stable")[:, :n_shown]
    similarity = np.take_along_axis(correlations, order, axis=1)
    return np.where(similarity == 0, -1, np.take_along_axis(near, order, axis=1)), similarity


def _residuals(
    inputs: Inputs, fit: Distilled, rows: Indices, hypothesis_of: Indices
) -> NDArray[np.float64]:
    """Residuals of the target for each row, without the columns of its hypothesis: (q, rows, n).

    They are (q, n) where they are the same for all.
    """
    numbers, places = np.unique(hypothesis_of[rows], return_inverse=True)
    used = np.isin(numbers, hypothesis_of[inputs.behind(fit.used)])
    if not used.any():
        return fit.residuals
    members = MembersByNumber(hypothesis_of)
    found = np.repeat(fit.residuals[:, None], len(numbers), axis=1)
    sets = [inputs.with_products(members.of(h)) for h in numbers[used].tolist()]
    found[:, used] = fit.without(sets)
    return found[:, places]
