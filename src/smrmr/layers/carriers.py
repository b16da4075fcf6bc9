"""Finds which members of the selected groups may carry the association of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..conditional.marginal import Rows
from ..conditional.model_columns import rank_columns
from ..conditional.scores import standardised
from ..controllers import Evidence
from ..data.study import Study
from ..features.rank_table import RankTable
from ..runs.blocks import one_blas_thread
from ..runs.work import Work
from ..types import Indices, Matrix, Vector
from .credible_sets import credible_sets, inclusion_probabilities, orthonormal

ROWS_PER_SIGNAL = 4  # at least, of signals that a group is adjusted for


@dataclass(frozen=True, eq=False)
class Carriers:
    """Members of a group that may carry its association, if one or a few of them do.

    Attributes
    ----------
    hypothesis
        Number of the hypothesis that is about the group.
    members
        Positions in X of its members, the most probable first; of copies the first.
    probabilities
        Of each member, that it carries an effect.
    sets
        For each effect that the data support the members one of which carries it with probability
        95%, the most probable first.
    """

    hypothesis: int
    members: Indices
    probabilities: Vector
    sets: tuple[Indices, ...]


def find_carriers(
    study: Study,
    ranks: RankTable,
    evidence: Evidence,
    groups: Iterable[int],
    signals: Indices,
    leaders: Indices,
    work: Work,
) -> tuple[Carriers, ...]:
    """Carriers of these groups of two or more; each is adjusted for all `signals` outside it."""
    members = {h: _distinct(evidence.members_of(h), leaders) for h in groups}
    members = {h: own for h, own in members.items() if len(own) > 1}
    if not members:
        return ()
    representatives = evidence.representatives[signals]
    features = np.unique(np.concatenate([*members.values(), representatives]))
    with one_blas_thread():
        ranked = rank_columns(ranks, features, work.quietly())
        rows = Rows.of(study, ranked.sums_of_squares())
        Z = ranked.scores(rows.order, rows.covariate_basis).astype(np.float64)
        one_each = _strongest_rows(Z, rows.columns.values, ranked.feature_of)
        place = dict(zip(features.tolist(), one_each.tolist(), strict=True))
        found = []
        for h, own in members.items():
            inside = evidence.members_of(h)
            others = representatives[~np.isin(representatives, inside)]
            most = study.columns.n_rows // ROWS_PER_SIGNAL
            basis = orthonormal(Z[[place[k] for k in others[:most].tolist()]])
            mine, E = (
                standardised(values - (values @ basis.T) @ basis)
                for values in (Z[[place[k] for k in own.tolist()]], rows.columns.values)
            )
            found.append(_carriers(h, own, mine, E))
    return tuple(found)


def _carriers(hypothesis: int, members: Indices, Z: Matrix, E: Matrix) -> Carriers:
    sets = credible_sets(Z, E)
    probabilities = inclusion_probabilities(sets)
    order = np.argsort(-np.round(probabilities, 9), kind="stable")
    return Carriers(
        hypothesis, members[order], probabilities[order], tuple(members[s.members] for s in sets)
    )


def _distinct(members: Indices, leaders: Indices) -> Indices:
    """Members without copies of others, in their order."""
    return np.asarray(members[leaders[members] == members])


def _strongest_rows(Z: Matrix, E: Matrix, feature_of: Indices) -> Indices:
    """For each feature its row of Z; of a category that of the level most correlated with E."""
    size = np.round(np.max(np.abs(Z @ E.T), axis=1), 9)
    order = np.lexsort((-size, feature_of))
    first = np.searchsorted(feature_of[order], np.arange(int(feature_of[-1]) + 1))
    return np.asarray(order[first])
