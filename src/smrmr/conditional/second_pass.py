"""Tests what is promising again, each hypothesis against a fit that never saw it."""

from __future__ import annotations

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
from .components import CommonPart
from .distillers import Distillation, Distilled
from .inputs import Comparison, Inputs
from .products import product_columns, products_with_partners
from .residual_checks import ResidualChecks
from .results import MAX_TASK_VALUES, DirectedPairs, Results, Shared, block_width
from .statistics import Interactions, PartnerProducts

HYPOTHESES_PER_TASK = 8  # without whose columns the target is fitted in one task, and which are
# compared together, unless they have many columns,
MAX_REFITTED_ROWS = 4000  # or more rows than these: then a task takes long by itself
CLEAR = 0.01  # p-value up to which it is asked whether residuals depend on products of features,
N_CLEAR = 30  # or that so many would have by chance, if it is less:
MAX_USED = 20  # of those that the fit uses with any others,
MAX_PAIRED_VALUES = 2**27  # or of any two, if these have no more values in all
PROMISING = 0.1  # p-value above which a hypothesis cannot be selected at any sensible level
MAX_AGAIN = 200  # partners of a hypothesis that are looked at again, or one for each member
KEPT_PAIR = 0.01  # p-value up to which a pair of features is remembered
TESTED_AGAIN = (
    "p",
    "p_by_target",
    "effects",
    "freedom",
    "residual_variance",
    "excess",
    "p_of_interaction",
)
CHECK_ALPHA = 0.05  # p-value up to which residuals are checked for dependence

Task = list[Indices]  # the entries of each of a few hypotheses


def refits(inputs: Inputs, distillation: Distillation, results: Results) -> list[Task]:
    """What to test again, as entries of hypotheses: what is promising, or what a fit hangs on."""
    order = np.argsort(results.hypothesis_of, kind="stable")
    numbers, starts = np.unique(results.hypothesis_of[order], return_index=True)
    entries = dict(zip(numbers.tolist(), np.split(order, starts[1:]), strict=True))
    most = CHECK_ALPHA if distillation.full_fit.exact else PROMISING  # nothing else would change
    promising = results.hypothesis_of[results.p <= most]
    in_products = distillation.full_fit.used < len(inputs.products)  # which hide their interaction
    to_refit = np.union1d(distillation.to_refit, distillation.full_fit.used[in_products])
    to_refit = inputs.behind(to_refit)
    used = [numbers[to_refit] for numbers in inputs.hypotheses]
    tested = np.unique(np.concatenate([promising, *used]))
    held = inputs.components.vectors.size
    size = min(HYPOTHESES_PER_TASK, MAX_TASK_VALUES // max(1, held))
    together = _compared_together(inputs)
    if inputs.room.folder is None or together > 1:  # from files each task reads what it shares
        size = min(size, together)
    tasks: list[Task] = []
    room = 0  # for columns in the last task
    for h in tested[tested >= 0].tolist():
        room -= len(entries[h])
        if not tasks or room < 0 or len(tasks[-1]) >= size:
            tasks.append([])
            room = block_width(inputs) - len(entries[h])
        tasks[-1].append(entries[h])
    return tasks


def _compared_together(inputs: Inputs) -> int:
    """How many hypotheses of a task: as many in memory and from files, to the last bit."""
    return max(1, MAX_REFITTED_ROWS // inputs.n_rows)


def second_pass(
    inputs: Inputs,
    distillation: Distillation,
    results: Results,
    todo: list[Task],
    check_residuals: bool,
    work: Work,
) -> Results:
    """The results, with every hypothesis of `todo` tested against a fit that never saw it."""
    new = {name: getattr(results, name).copy() for name in TESTED_AGAIN}
    p_of_hypotheses = results.p_of_hypotheses.copy()
    dependent, shared = [results.dependent], Shared(inputs, distillation, results)
    pairs = list[DirectedPairs]()
    tasks = [delayed(_test_without)(shared, task, check_residuals) for task in todo]
    with open_pool(work.n_jobs) as pool:
        for done, (task, found) in enumerate(zip(todo, run_blocks(pool, tasks), strict=True), 1):
            which = np.concatenate(task)
            raised, whole, *columns = found
            pairs.append(DirectedPairs(*columns[len(TESTED_AGAIN) :]))
            for name, column in zip(TESTED_AGAIN, columns, strict=False):
                new[name][which] = column
            p_of_hypotheses[[results.hypothesis_of[entries[0]] for entries in task]] = whole
            dependent.append(which[raised])
            work.report("fits without a feature", done, len(tasks))
    _drop_interactions(results, todo, new, p_of_hypotheses)
    return replace(
        results,
        **new,
        pairs=DirectedPairs.joined(pairs),
        p_of_hypotheses=p_of_hypotheses,
        dependent=np.concatenate(dependent),
    )


def _drop_interactions(
    results: Results, todo: list[Task], new: dict[str, NDArray[Any]], p_of_hypotheses: Vector
) -> None:
    """Leave interactions out of p-values of unequal spread that were not tested again.

    Only the second test of an entry allows for the spread of its row.
    """
    left = results.of_unequal_spread.copy()
    left[
        np.concatenate([np.empty(0, np.intp), *(entries for task in todo for entries in task)])
    ] = False
    new["p"][left], new["p_of_interaction"][left] = results.p_of_others[left], 1.0
    numbers = np.unique(results.hypothesis_of[left])
    p_of_hypotheses[numbers] = combine_groups(new["p"], results.hypothesis_of)[numbers]


def _test_without(shared: Shared, task: Task, check_residuals: bool) -> list[NDArray[Any]]:
    """Which entries of hypotheses had a p-value raised, and the p-value of each hypothesis.

    Each is tested against a fit without it. Then what `Results` holds of them: `TESTED_AGAIN`; at
    last what `DirectedPairs` holds of them and their partners.
    """
    inputs, results = shared.inputs, shared.results
    assert results is not None
    raised, whole = list[Indices](), list[float]()
    excess, pairs = list[float](), list[DirectedPairs]()
    interactions = list[Interactions | None]()
    n_before = 0
    checks = ResidualChecks(inputs, results.rows[np.concatenate(task)], shared.orders)
    up_to = CHECK_ALPHA if check_residuals else 0.0
    again = [_Again.of(shared, entries) for entries in task]
    found = _compare_again(shared, again, up_to)
    freed = [_freed_of_products(inputs, *each) for each in zip(again, found, strict=True)]
    changed = [i for i, one in enumerate(freed) if one is not again[i]]
    tests = _compare_again(shared, [freed[i] for i in changed], up_to)
    for i, one in zip(changed, tests, strict=True):
        found[i] = one
    for hypothesis, one in zip(again, found, strict=True):
        entries, own = hypothesis.entries, hypothesis.rows
        dependent = [
            i
            for i in np.flatnonzero(one.gcm > one.p)
            if results.of_unequal_spread[entries[i]]
            or checks.dependent(int(own[i]), hypothesis.out, one.residuals[i])
        ]
        one.p[dependent] = one.gcm[dependent]
        together = _interactions_of(one, dependent)
        raised.append(np.array(dependent, dtype=np.intp) + n_before)
        n_before += len(own)
        interactions.append(together)
        if hypothesis.partition == 0:
            pairs.append(_pairs_of(own, together))
        excess += [
            _excess(inputs, hypothesis.fit.residuals, *each)
            for each in zip(one.p, one.residuals, strict=True)
        ]
        whole.append(_p_of_hypothesis(one.p, one.residuals))
    return [
        np.concatenate([np.empty(0, np.intp), *raised]),
        np.array(whole),
        np.concatenate([one.p for one in found]),
        np.concatenate([one.p_by_target for one in found]),
        np.concatenate([one.correlation for one in found]),
        np.concatenate([one.freedom for one in found]),
        np.concatenate([one.residual_variance for one in found]),
        np.array(excess),
        np.concatenate(
            [
                np.ones(len(one.p)) if some is None else some.p
                for some, one in zip(interactions, found, strict=True)
            ]
        ),
        *vars(DirectedPairs.joined(pairs)).values(),
    ]


@dataclass(frozen=True, eq=False)
class _Again:
    """A hypothesis that is tested again.

    `entries` are its own, `rows` those of Z, and `out` these and their products; `fit` never saw
    them. `common` is what other features share, and `residuals` are what it leaves of the target.
    """

    entries: Indices
    rows: Indices
    out: Indices
    partition: int
    fit: Distilled
    common: CommonPart
    residuals: Matrix

    @classmethod
    def of(cls, shared: Shared, entries: Indices) -> _Again:
        inputs, results = shared.inputs, shared.results
        assert results is not None
        rows = results.rows[entries]
        out = inputs.with_products(rows)
        fit = shared.distillation.without(out)
        common = inputs.components.without(out, inputs.Z[out])
        partition = int(inputs.partition_of[results.hypothesis_of[entries[0]]])
        return cls(entries, rows, out, partition, fit, common, fit.residuals)


def _compare_again(shared: Shared, again: list[_Again], up_to: float) -> list[Comparison]:
    """Tests of hypotheses, each against its own fit; see `Inputs.compare`."""
    if not again:
        return []
    if len(again) > 1 and _compared_together(shared.inputs) == 1:
        return [_compare_again(shared, [one], up_to)[0] for one in again]
    inputs, results = shared.inputs, shared.results
    assert results is not None
    sizes = [len(one.rows) for one in again]
    stops = np.cumsum(sizes).tolist()
    slices = [slice(stop - size, stop) for stop, size in zip(stops, sizes, strict=True)]
    E: Any = again[0].residuals
    if any(one.residuals is not E for one in again):
        E = np.repeat(np.stack([one.residuals for one in again], axis=1), sizes, axis=1)

    def interact(values: Matrix) -> tuple[Interactions, Interactions | None]:
        parts = []
        for one, some in zip(again, slices, strict=True):
            products = _products_again(shared, one.entries, one.residuals)
            wide = results.of_unequal_spread[one.entries]
            parts.append(inputs.interactions(values[some], one.rows, products, one.partition, wide))
        together, robust = (Interactions.joined(each) for each in zip(*parts, strict=True))
        return together, robust

    found = inputs.compare(
        np.concatenate([one.rows for one in again]),
        results.neighbours.take(np.concatenate([one.entries for one in again])),
        [one.common for one in again for _ in one.rows],
        E,
        [one.fit.shape for one in again for _ in one.rows],
        up_to,
        interact if inputs.interacting else None,
    )
    return [found.take(some) for some in slices]


def _freed_of_products(inputs: Inputs, again: _Again, found: Comparison) -> _Again:
    """The same hypothesis, without products of features that its residuals still depend on.

    That is asked of those that are found clearly, and only where it is asked how features act
    together.
    """
    clear = min(CLEAR, N_CLEAR / len(inputs.Z))
    if not inputs.interacting or found.p.min(initial=1.0) > clear:
        return again
    basis = _basis_of_products(inputs, again.fit, again.out, again.common, found.residuals)
    if not len(basis):
        return again
    E = again.fit.residuals
    vectors = np.concatenate([again.common.vectors, basis])
    common = replace(again.common, vectors=vectors)
    return replace(again, common=common, residuals=E - (E @ basis.T) @ basis)


def _basis_of_products(
    inputs: Inputs, fit: Distilled, out: Indices, common: CommonPart, R: Matrix
) -> Matrix:
    """Orthonormal rows that span products of features which the residuals R still depend on.

    They are free of covariates and of `common`. Of very many values none is looked for.
    """
    if not inputs.keeps_partner_scores:
        return np.empty((0, inputs.n_rows))
    partners = inputs.partners[: inputs.n_feature_partners]
    scores, some = inputs.partner_scores32[: len(partners)], partners
    if len(partners) ** 2 * inputs.n_rows > MAX_PAIRED_VALUES:
        some = inputs.behind(fit.used)
        some = some[inputs.place_among_partners[some] >= 0][:MAX_USED]
    places = inputs.place_among_partners[some]
    pairs = products_with_partners(inputs.Z, places, partners, scores, out, R)
    if not len(pairs):
        return np.empty((0, inputs.n_rows))
    columns = product_columns(inputs.Z, pairs)
    for basis in (inputs.covariate_basis, common.vectors):
        columns = columns - (columns @ basis.T) @ basis
    _, widths, rows = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(rows[widths > 1e-6 * max(float(widths.max(initial=0.0)), 1e-6)])


def _products_again(shared: Shared, entries: Indices, E: Matrix) -> PartnerProducts:
    """Products of residuals with the partners that entries of a hypothesis may have.

    Those that they act together with most, going by the fit to all features, those that act most
    together with them, and those that they have a product with in fits: of all others the p-value
    counts as 1.
    """
    inputs, results = shared.inputs, shared.results
    assert results is not None
    own = results.rows[entries]
    rows, by_partner = shared.partners_back
    back = [rows[by_partner.of(row)[:MAX_AGAIN]] for row in own.tolist()]
    in_fit = inputs.products[np.isin(inputs.products, own).any(axis=1)].ravel()
    best = results.best_partners[entries, : max(1, MAX_AGAIN // len(entries))]
    every = [best.ravel(), np.concatenate(back)[:MAX_AGAIN], in_fit]
    some = np.unique(np.concatenate(every))
    some = some[(some >= 0) & ~np.isin(some, own)]
    return inputs.products_with(E, some[inputs.place_among_partners[some] >= 0])


def _interactions_of(one: Comparison, dependent: list[Any]) -> Interactions | None:
    """How columns act together with partners, allowing for residuals that depend on others."""
    if one.interactions is None or one.robust is None:
        return one.interactions
    p = one.interactions.p_of_partners.copy()
    p[dependent] = one.robust.p_of_partners[dependent]
    return replace(one.interactions, p_of_partners=p)


def _pairs_of(rows: Indices, found: Interactions | None) -> DirectedPairs:
    """Pairs of rows with partners that are worth remembering."""
    if found is None:
        return DirectedPairs.joined([])
    k, place = np.nonzero((found.partners >= 0) & (found.p_of_partners <= KEPT_PAIR))
    return DirectedPairs(
        rows[k], found.partners[k, place], found.p_of_partners[k, place], found.effects[k, place]
    )


def _excess(inputs: Inputs, E: Matrix, p: float, residual: Vector) -> float:
    """How far residuals of a promising entry go together across rows of the same covariates."""
    if inputs.row_neighbours is None or p > CHECK_ALPHA:
        return 0.0
    return inputs.row_neighbours.excess(E, residual)


def _p_of_hypothesis(p: Vector, residuals: Matrix) -> float:
    """p-value of a hypothesis from those of its members."""
    tested = np.flatnonzero(p < 1)
    if len(tested) == 0:
        return 1.0
    together = float(combine(p[tested]))
    if len(tested) == 1 or together > PROMISING:
        return together
    return float(calibrate(together, residuals[tested]))
