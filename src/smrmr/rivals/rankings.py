"""Offers rivals of penalised mRMR under one API: SIS and MRMR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..association.associator import Associator
from ..data.study import Study
from ..data.target import Target
from ..estimator import Selector
from ..measures import as_measure
from ..measures.protocol import Measure
from ..problems import Problem, setting
from ..runs.work import Work
from ..settings import check_choice, check_count, check_jobs, check_number, parse_bytes
from ..types import Data, Indices, Vector
from .mutual_information import DiscreteInformation, Information, NeighbourInformation

QUOTIENT_FLOOR = 1e-3  # redundancies below it count as this much: a quotient by 0 says nothing


@dataclass(eq=False, repr=False)
class Ranking(Selector):
    """What the rivals share: a number of features to select, and a ranking of all of them."""

    n_features_to_select: int = 10
    _: KW_ONLY
    target: str = "auto"
    n_jobs: int | None = None
    max_memory: str | int = "1GB"

    def _read(self, X: Data, y: Data, target: str, **beside: Data) -> Study:
        check_jobs(self.n_jobs)
        study = super()._read(X, y, target, **beside)
        check_count("n_features_to_select", self.n_features_to_select)
        return study

    def _set_ranking(self, chosen: list[int], scores: Vector, relevance: Vector) -> None:
        """Rank the chosen in their order, the others after them by relevance."""
        self.scores_: Vector = scores
        self.relevance_: Vector = relevance
        self.support_ = np.zeros(len(relevance), dtype=bool)
        self.support_[chosen] = True
        by_relevance = np.argsort(-relevance, kind="stable")
        order = np.concatenate([chosen, by_relevance[~self.support_[by_relevance]]]).astype(np.intp)
        self.ranking_: Indices = np.empty(len(order), dtype=np.intp)
        self.ranking_[order] = np.arange(1, len(order) + 1)


@dataclass(eq=False, repr=False, kw_only=True)
class SIS(Ranking):
    r"""Sure independence screening: the features of largest relevance (Fan and Lv 2008).

    Keeps the `n_features_to_select` features with the largest :math:`D(X_k, Y)` or, given a
    `threshold` :math:`\lambda_n`, all with :math:`D(X_k, Y) \ge \lambda_n` (paper, eq. (2.1),
    label ``active_var_estim``). It ranks by marginal association: redundant features all come in.

    Parameters
    ----------
    n_features_to_select
        How many features to keep; all of them if there are fewer.
    target, n_jobs, max_memory
        As in `smrmr.associate`.
    measure
        Association, see `smrmr.associate`. With ``"pearson"`` this is the original SIS.
    threshold
        Keep by relevance instead of by number.

    Attributes
    ----------
    scores_, relevance_
        Relevance of every feature.
    ranking_
        1 for the most relevant feature, 2 for the next, and so on.
    support_
        Which features were kept.

    Examples
    --------
    Feature 1 is a copy of feature 0 but for some noise, and comes before feature 2, which is not
    redundant:

    >>> import numpy as np
    >>> from smrmr.rivals import SIS
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
    >>> y = 2 * X[:, 0] + X[:, 2]
    >>> SIS(2).fit(X, y).ranking_.tolist()
    [1, 2, 3]
    """

    measure: str | Measure = "pc"
    threshold: float | None = None

    def fit(self, X: Data, y: Data) -> SIS:
        """Measure the relevance of every feature and keep the best.

        Parameters
        ----------
        X
            Features, (n, p), as `smrmr.associate` takes them, or a source of columns.
        y
            Target: n numbers or labels, or an (n, q) array of several outputs.

        Returns
        -------
        SIS
            The selector itself.

        Raises
        ------
        ValueError
            If a setting is not possible, X or y has missing values or text, or rows do not match.
        """
        if self.threshold is not None:
            check_number("threshold", self.threshold)
        study = self._read(X, y, self.target)
        work = Work(self.n_jobs, parse_bytes(self.max_memory))
        engine = Associator(study.columns, as_measure(self.measure), work)
        relevance = engine.with_target(study.target)
        order = np.argsort(-relevance, kind="stable")
        if self.threshold is None:
            chosen = order[: self.n_features_to_select]
        else:
            chosen = order[relevance[order] >= self.threshold]
        self._set_ranking([int(k) for k in chosen], relevance, relevance)
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class MRMR(Ranking):
    r"""Classic greedy mRMR (Peng, Long and Ding 2005; Ding and Peng 2005).

    The first feature is the most relevant. Each next one maximises, with S the features chosen,

    - ``scheme="difference"``: :math:`D(X_k, Y) - \frac{1}{|S|} \sum_{j \in S} D(X_k, X_j)`,
    - ``scheme="quotient"``: :math:`D(X_k, Y) \,/\, \frac{1}{|S|} \sum_{j \in S} D(X_k, X_j)`.

    With mutual information these are MID and MIQ. A mean redundancy below 0.001 divides as 0.001.
    Redundancy is computed against chosen features only. Paper: eq. (2.2), label ``eq:mrmr``, of
    which this is the usual greedy approximation.

    Parameters
    ----------
    n_features_to_select
        How many features to choose; all of them if there are fewer.
    target, n_jobs, max_memory
        As in `smrmr.associate`.
    measure
        ``"mi"``: mutual information of columns cut into three states at mean -/+ one standard
        deviation; ``"mi-knn"``: scikit-learn's nearest-neighbour estimators; ``"f"``: relevance by
        the F statistic, redundancy by the correlation; or any measure of `smrmr.associate`.
    scheme
        ``"difference"`` or ``"quotient"``.
    random_state
        Seed of ``"mi-knn"``, which adds a little noise to its data.

    Attributes
    ----------
    scores_
        The criterion at the moment a feature was chosen; NaN for features that were not.
    relevance_
        Relevance of every feature.
    ranking_
        1 for the first feature chosen, 2 for the next; those not chosen follow by relevance.
    support_
        Which features were chosen.

    Notes
    -----
    With ``measure="f", scheme="quotient"`` this is what the package mrmr_selection computes for a
    regression: every single correlation below 0.001 in size counts as 0.001, and a copy of the
    chosen features scores 0. Unlike there, missing values are refused.

    Examples
    --------
    Feature 1 is a copy of feature 0 but for some noise, and adds nothing to it; feature 2 does:

    >>> import numpy as np
    >>> from smrmr.rivals import MRMR
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
    >>> y = 2 * X[:, 0] + X[:, 2]
    >>> MRMR(2, measure="pc").fit(X, y).ranking_.tolist()
    [1, 3, 2]
    """

    measure: str | Measure = "mi"
    scheme: str = "difference"
    random_state: Any = None

    def fit(self, X: Data, y: Data) -> MRMR:
        """Choose features one at a time.

        Parameters
        ----------
        X
            Features, (n, p), as `smrmr.associate` takes them, or a source of columns.
        y
            Target: n numbers or labels, or an (n, q) array of several outputs.

        Returns
        -------
        MRMR
            The selector itself.

        Raises
        ------
        ValueError
            If a setting is not possible, X or y has missing values or text, or rows do not match.
        """
        check_choice("scheme", self.scheme, ("difference", "quotient"))
        study = self._read(X, y, self.target)
        relevance, redundancy_with = self._associations(study)
        p = study.columns.n_columns
        scores, redundancy = np.full(p, np.nan), np.zeros(p)
        free = np.ones(p, dtype=bool)
        chosen: list[int] = []
        for count in range(min(self.n_features_to_select, p)):
            if count:
                redundancy += redundancy_with(chosen[-1])
            criterion = self._criterion(relevance, redundancy / count) if count else relevance
            best = int(np.where(free, criterion, -np.inf).argmax())
            scores[best] = criterion[best]
            free[best] = False
            chosen.append(best)
        self._set_ranking(chosen, scores, relevance)
        return self

    def _criterion(self, relevance: Vector, redundancy: Vector) -> Vector:
        if self.scheme == "difference":
            return relevance - redundancy
        copies = redundancy >= 1.0 if self.measure == "f" else np.zeros(len(redundancy), dtype=bool)
        return np.where(copies, 0.0, relevance / np.maximum(redundancy, QUOTIENT_FLOOR))

    def _associations(self, study: Study) -> tuple[Vector, Callable[[int], Vector]]:
        columns = study.columns
        engine: Information | Associator
        if self.measure == "mi":
            engine = DiscreteInformation(columns)
        elif self.measure == "mi-knn":
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            engine = NeighbourInformation(columns, seed, self.n_jobs)
        else:
            measure = as_measure("pearson" if self.measure == "f" else self.measure)
            work = Work(self.n_jobs, parse_bytes(self.max_memory))
            engine = Associator(columns, measure, work, keep=True)
        relevance = engine.with_target(study.target)
        if self.measure != "f":
            return relevance, engine.with_feature
        return _f_statistic(relevance, study.target), lambda k: np.maximum(
            np.sqrt(engine.with_feature(k)), QUOTIENT_FLOOR
        )


def _f_statistic(r2: Vector, target: Target) -> Vector:
    """F statistic of every feature from its squared correlation (for classes: ratio) with y."""
    if target.several:
        raise ValueError("the F statistic needs a target of one column. Use another measure.")
    if target.nominal:
        raise Problem(
            f"the F statistic is for a continuous target here. Use {setting('measure', 'mi')} or "
            "'pc' for classes."
        )
    return np.asarray(r2 / np.maximum(1.0 - r2, 1e-15) * (target.n_rows - 2))
