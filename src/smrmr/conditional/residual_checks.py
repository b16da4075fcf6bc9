"""Checks whether the residual of a feature is independent of its neighbours, rows and covariates.

The tests take r for independent of all other features. Where it visibly is not, only its mean can
be trusted, and a test that needs no more than that must agree: `gcm_p_values`. The same goes where
r is the wider the wider the row: samples that differ in scale make any two residuals dependent.
Where both residuals depend on covariates, no test is right; `covariance_by_covariates` sees it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import stdtr

from ..runs.stored_rows import inner_products
from ..types import Indices, Matrix, Vector
from .inputs import Inputs
from .residuals import MAX_BLOCK_VALUES
from .scores import LEAST_SPREAD
from .statistics.null import covariance_tail
from .statistics.rank_covariances import covariance_of_ranks, rank_table, ranks_of

MAX_CHECKED = 50  # features most associated with the one in question
MAX_TOGETHER = 16  # rows that are compared with all others together
MAX_KEPT_VALUES = 2**23  # of orders of samples, which are kept
ALPHA = 0.01  # of all of them together, by Bonferroni's rule

SPREAD_ALPHA = 0.01  # of a residual whose size goes with the spread of its row
MANY_WIDE = 0.1  # share of such residuals from which on samples differ in scale


def row_spread_p_values(
    inputs: Inputs, hypothesis_of: Indices, rows: Indices, residuals: Matrix
) -> Vector:
    """p-values of residuals that are the larger the wider the row is in all other hypotheses.

    By the correlation of |r| with the sum of absolute scores of the row, one-sided; both relative
    to what covariates leave of the row.
    """
    numbers, places = np.unique(hypothesis_of[rows], return_inverse=True)
    members = np.flatnonzero(np.isin(hypothesis_of, numbers))
    if len(members) == len(inputs.Z) and len(numbers) == 1:
        return np.ones(len(rows))
    members = members[np.argsort(hypothesis_of[members], kind="stable")]
    starts = np.searchsorted(hypothesis_of[members], numbers)
    own = np.add.reduceat(np.abs(inputs.Z[members]), starts, axis=0, dtype=np.float64)
    spread = _centred((inputs.row_sizes - own) / inputs.row_scale)[places]
    size = _centred(np.abs(residuals) / inputs.row_scale)
    both, *squares = (
        np.mean(one * other, axis=1)
        for one, other in ((size, spread), (size, size), (spread, spread))
    )
    varies = np.minimum(*squares) > LEAST_SPREAD**2
    correlation = np.where(varies, both / np.sqrt(np.where(varies, squares[0] * squares[1], 1)), 0)
    freedom = inputs.n_rows - 2.0
    t = correlation * np.sqrt(freedom / np.maximum(1 - correlation**2, 1e-15))
    return np.asarray(stdtr(freedom, -t))


def _centred(rows: Matrix) -> Matrix:
    return np.asarray(rows - rows.mean(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class ResidualChecks:
    """Checks of residuals of some rows of Z, which are compared with all others together.

    Attributes
    ----------
    inputs
        Features and target.
    rows
        Rows of Z whose residuals may be checked.
    orders
        The order of samples by each column that was checked against so far, by its row of Z; more
        are kept while there is room.
    """

    inputs: Inputs
    rows: Indices
    orders: dict[int, Indices]

    def dependent(self, column: int, inside: Indices, r: Vector) -> bool:
        """Whether r, of one of the rows, depends on a covariate, or on one of 50 columns.

        These are the columns most associated with its own but for `inside`.
        """
        inputs = self.inputs
        near = self._association(column)
        near[inside] = -1.0
        most = min(MAX_CHECKED, len(near))
        checked = np.argpartition(-near, most - 1)[:most]
        checked = checked[near[checked] >= 0]
        ranks = ranks_of(np.argsort(r + inputs.tie_breakers[1])[None])[0]
        pc, width = rank_table("pc", inputs.n_rows), max(1, MAX_BLOCK_VALUES // inputs.n_rows)
        found = [np.empty(0)]
        for i in range(0, len(checked), width):
            found.append(covariance_of_ranks(ranks[self._orders(checked[i : i + width])], *pc))
        for i in range(0, len(inputs.covariates), width):
            order = np.argsort(inputs.covariates[i : i + width] + inputs.tie_breakers[0])
            found.append(covariance_of_ranks(ranks[order], *pc))
        p = covariance_tail(np.concatenate(found), inputs.n_rows)
        n_candidates = len(near) + len(inputs.covariates)  # the 50 were chosen from so many
        return bool(n_candidates * p.min(initial=1.0) < ALPHA)

    def _association(self, column: int) -> Vector:
        """The larger of the correlations of a row with every other one and its absolute values."""
        if len(self.rows) > MAX_TOGETHER:
            return np.asarray(_associations(self.inputs, np.array([column]))[0])
        return np.array(self._of_rows[self.rows == column])[0]  # type: ignore[no-any-return]

    @cached_property
    def _of_rows(self) -> Matrix:
        return _associations(self.inputs, self.rows)

    def _orders(self, columns: Indices) -> Indices:
        """The order of samples by some columns of Z."""
        new = np.array([k for k in columns.tolist() if k not in self.orders], dtype=np.intp)
        sorted_now = np.argsort(self.inputs.Z[new] + self.inputs.tie_breakers[0])
        own = dict(zip(new.tolist(), sorted_now, strict=True))
        found = [own[k] if k in own else self.orders[k] for k in columns.tolist()]
        if (len(self.orders) + len(own)) * self.inputs.n_rows <= MAX_KEPT_VALUES:
            self.orders.update(own)
        return np.stack(found)


def _associations(inputs: Inputs, rows: Indices) -> Matrix:
    z = inputs.scores32[rows]
    return np.maximum(
        *(np.abs(inner_products(z, of)) for of in (inputs.scores32, inputs.abs_scores32))
    )
