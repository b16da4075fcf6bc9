"""Offers HSICLasso, a rival that follows the LASSO path of kernel matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..association.associator import Associator
from ..data.study import Study
from ..measures import HSIC
from ..runs.work import Work
from ..settings import check_choice, check_count, parse_bytes
from ..types import Data, Indices
from .lars import first_to_enter
from .rankings import Ranking


@dataclass(eq=False, repr=False, kw_only=True)
class HSICLasso(Ranking):
    r"""HSIC Lasso (Yamada et al. 2014) and its block form (Climente-Gonzalez et al. 2019).

    .. math:: \min_{\theta \ge 0} \; \tfrac12 \theta' D \theta - d'\theta + \lambda 1'\theta

    on normalised HSIC associations: a LASSO regression of the target's centred kernel matrix on
    those of the features. As lambda falls from :math:`\max_k d_k` features enter one by one; the
    first `n_features_to_select` are kept. Redundancy is computed for entering features only. A
    rival, of which the paper's problem with `L1` and `HSIC` is a close relative.

    Parameters
    ----------
    n_features_to_select
        How many features to choose; all of them if there are fewer.
    target, n_jobs, max_memory
        As in `smrmr.associate`.
    width
        ``"sd"``: kernels of width one standard deviation, as in the reference package;
        ``"median"``: the median distance, as elsewhere in this library.
    block_size
        None for all samples together. A number B averages the associations over blocks of B samples
        drawn at random, in O(n B) memory; samples that fill no block are left out.
    n_permutations
        How often the samples are dealt into blocks (M in the paper).
    random_state
        Seed of the blocks.

    Attributes
    ----------
    scores_
        Coefficient of every feature just before the next one would enter.
    relevance_
        Relevance of every feature.
    ranking_
        1 for the first feature to enter, 2 for the next; those not chosen follow by relevance.
    support_
        Which features were chosen.

    Notes
    -----
    Differs from the package pyHSICLasso in that arithmetic is in double precision, that classes
    use the plain delta kernel (there 1 / class size), and that blocks are drawn from `random_state`
    instead of fixed seeds.

    Examples
    --------
    >>> from smrmr import simulate
    >>> from smrmr.rivals import HSICLasso
    >>> data = simulate("1.a", n=60, p=12, random_state=0)
    >>> HSICLasso(2).fit(data.X, data.y).get_support(indices=True).tolist()
    [0, 5]
    """

    width: str = "sd"
    block_size: int | None = None
    n_permutations: int = 1
    random_state: Any = None

    def fit(self, X: Data, y: Data) -> HSICLasso:
        """Follow the path until enough features have entered.

        Parameters
        ----------
        X
            Features, (n, p), as `smrmr.associate` takes them, or a source of columns.
        y
            Target: n numbers or labels, or an (n, q) array of several outputs.

        Returns
        -------
        HSICLasso
            The selector itself.

        Raises
        ------
        ValueError
            If a setting is not possible, X or y has missing values or text, or rows do not match.
        """
        check_choice("width", self.width, ("sd", "median"))
        check_count("n_permutations", self.n_permutations)
        if self.block_size is not None:
            check_count("block_size", self.block_size, least=4)
        study, measure = self._scaled(self._read(X, y, self.target))
        dealt = self._blocks(study.columns.n_rows)
        work = Work(self.n_jobs, parse_bytes(self.max_memory) // len(dealt))
        parts = [study.take(rows) for rows in dealt]
        blocks = [Associator(part.columns, measure, work, keep=True) for part in parts]
        relevance = np.mean(
            [one.with_target(part.target) for one, part in zip(blocks, parts, strict=True)], axis=0
        )
        found = first_to_enter(
            relevance,
            lambda k: np.mean([one.with_feature(k) for one in blocks], axis=0),
            min(self.n_features_to_select, study.columns.n_columns),
        )
        self._set_ranking(found.order, found.theta, relevance)
        return self

    def _scaled(self, study: Study) -> tuple[Study, HSIC]:
        """Columns and target divided by their standard deviations, and the kernel for them."""
        columns, response = study.columns, study.target
        if self.width == "median":
            return study, HSIC()
        values = columns.values.astype(np.float64)
        deviation = np.where(columns.nominal, 1.0, values.std(axis=0))
        values /= np.where(deviation > 0, deviation, 1.0)
        if not response.nominal:
            apart = np.sqrt(response.values[0].size)  # as vectors of q outputs are
            scaled = response.values / response.values.std() / apart
            response = replace(response, values=scaled)
        return Study(replace(columns, data=values), response), HSIC(width=1.0)

    def _blocks(self, n: int) -> list[Indices]:
        if self.block_size is None:
            return [np.arange(n)]
        if self.block_size > n:
            raise ValueError(
                f"block_size={self.block_size!r} is more than the {n} samples there are. Use 4 to "
                f"{n} samples per block."
            )
        rng = check_random_state(self.random_state)
        deals = [rng.permutation(n) for _ in range(self.n_permutations)]
        starts = range(0, n - self.block_size + 1, self.block_size)
        return [np.sort(deal[s : s + self.block_size]) for deal in deals for s in starts]
