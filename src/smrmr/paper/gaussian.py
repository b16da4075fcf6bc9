"""Draws Gaussian knockoffs, on the data's own scale or on that of normal scores."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, lapack

from ..data.columns import Columns
from ..data.ranks import settled
from ..data.scaling import unit_columns
from ..features.copies import Copies, signs_against
from ..settings import ComparesBySettings, as_numbers, check_choice
from ..types import Indices, Mask, Matrix, Vector
from .covariance import ESTIMATES, check_covariance, estimate
from .decorrelation import DECORRELATIONS, decorrelation
from .ties import break_ties, have_ties, normal_scores


@dataclass(frozen=True, eq=False)
class Knockoffs:
    """Knockoffs of features, and what was assumed to draw them.

    Attributes
    ----------
    X_knockoff
        One knockoff for every feature, same shape. That of a constant is the constant itself;
        copies have knockoffs that are the same copies of each other.
    s
        How far each knockoff is decorrelated from its feature, 0 (a copy) to 1 or a bit more; empty
        for knockoffs that were given.
    covariance
        The estimate used: what ``"auto"`` picked, or ``"given"``; empty where none was needed.
    copies
        Which features copy one another on these rows, and which are constant.
    correlations
        Of the features that stand for themselves and their copies.

    Examples
    --------
    A knockoff is as related to other features as its original, and less to the original itself:

    >>> import numpy as np
    >>> from smrmr import simulate
    >>> from smrmr.paper import draw_knockoffs
    >>> X = simulate("1.c", n=400, p=31, random_state=0).X
    >>> made = draw_knockoffs(X, random_state=0)
    >>> r = np.corrcoef(X.T, made.X_knockoff.T)[0, [1, 31, 32]]  # next, own knockoff, next one's
    >>> bool(abs(r[0] - r[2]) < 0.1), bool(r[1] < 0.8)
    (True, True)
    """

    X_knockoff: NDArray[Any]
    s: Vector
    covariance: str
    copies: Copies
    correlations: Matrix | None = None


class KnockoffSampler(Protocol):
    """Makes knockoffs of features."""

    @property
    def by_rank(self) -> bool:
        """Whether only the order of values counts."""

    @property
    def repeatable(self) -> bool:
        """Whether its settings and a seed determine the knockoffs."""

    def check(self, columns: Columns, n_draws: int) -> None:
        """Refuse features, or numbers of draws, that it has no knockoffs for."""

    def draw(
        self,
        values: NDArray[Any],
        copies: Copies,
        features: Indices,
        rows: Indices,
        rng: Generator,
        groups: Indices | None = None,
    ) -> Knockoffs:
        """Knockoffs of checked columns."""


@dataclass(frozen=True, eq=False)
class Gaussian(ComparesBySettings):
    r"""Second-order model-X knockoffs, or their Gaussian-copula form; ``"gaussian"`` for short.

    .. math:: \tilde X \mid X \sim N\big(X - (X - \mu) \Sigma^{-1} S,\;
              2 S - S \Sigma^{-1} S\big), \quad S = \mathrm{diag}(s)

    Paper: section 4. Swapping any features with their knockoffs leaves the distribution of the
    pair unchanged if the features are Gaussian (copula form: after monotone transformations) and
    Sigma is right. FDR control assumes that; `diagnose_knockoffs` tests it.

    Parameters
    ----------
    s
        ``"equi"``: equal for all (the paper); ``"mvr"``: features hardest to reconstruct from the
        others and all knockoffs. Groups of features are always ``"equi"``.
    covariance
        ``"auto"``, ``"sample"``, ``"graphical-lasso"``, or the (p, p) covariance itself if it is
        known; of columns with ties it must be that of the normal variables behind them.
    copula
        True: every column is drawn as normal scores and mapped back to its own values, so that
        each knockoff has exactly the values of its feature in another order. False: only columns
        with ties (counts, genotypes, 0/1), which need it; their scores are latent normal variables
        drawn given the other columns. ``"auto"``: True unless `covariance` is given as a matrix.

    Raises
    ------
    ValueError
        If a setting is none of its choices. A covariance that does not fit the features is refused
        when knockoffs are drawn.

    Examples
    --------
    >>> from smrmr import simulate
    >>> from smrmr.paper import Gaussian, draw_knockoffs
    >>> X = simulate("1.a", n=200, p=20, random_state=0).X
    >>> knockoffs = draw_knockoffs(X, Gaussian(s="mvr"), random_state=0)
    >>> knockoffs.X_knockoff.shape, knockoffs.covariance
    ((200, 20), 'graphical-lasso')
    """

    s: str = "equi"
    covariance: Any = "auto"
    copula: bool | str = "auto"
    alias: ClassVar[str] = "gaussian"
    repeatable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choice("s", self.s, tuple(DECORRELATIONS))
        check_choice("copula", self.copula, ("auto", True, False))
        if isinstance(self.covariance, str):
            check_choice("covariance", self.covariance, ("auto", *ESTIMATES))
        else:
            needed = "Give a (p, p) matrix, or the name of an estimate such as 'auto'."
            matrix = as_numbers("covariance", self.covariance, needed)
            object.__setattr__(self, "covariance", matrix)

    @property
    def by_rank(self) -> bool:
        """Whether every column is drawn as normal scores, so that only its order counts."""
        return isinstance(self.covariance, str) if self.copula == "auto" else bool(self.copula)

    def check(self, columns: Columns, n_draws: int) -> None:
        """Refuse a covariance that does not fit the features.

        Parameters
        ----------
        columns
            The features.
        n_draws
            How often knockoffs will be drawn; any number is possible.

        Raises
        ------
        ValueError
            If the covariance given is not a symmetric matrix of all features, with variances above
            0.
        """
        if not isinstance(self.covariance, str):
            check_covariance(self.covariance, columns.n_columns)

    def draw(
        self,
        values: NDArray[Any],
        copies: Copies,
        features: Indices,
        rows: Indices,
        rng: Generator,
        groups: Indices | None = None,
    ) -> Knockoffs:
        """Draw knockoffs of checked columns.

        Parameters
        ----------
        values
            The chosen features on the chosen rows.
        copies
            Which of them copy one another, and which are constant.
        features, rows
            Their positions in the data.
        rng
            Breaks ties, and draws.
        groups
            Number of the group of each feature; groups are swapped as wholes. Each feature is a
            group by default.

        Returns
        -------
        Knockoffs
            One knockoff for every feature.

        Raises
        ------
        ValueError
            If every column is constant.
        """
        groups = np.arange(values.shape[1]) if groups is None else groups
        tie_rng, noise_rng = rng.spawn(2)
        plain = unit_columns(values)
        modelled, followers, leaders = copies.modelled, copies.followers, copies.leaders
        levels = settled(values, axis=0)
        tied = have_ties(levels)
        scored = np.full(values.shape[1], True) if self.by_rank else tied
        if modelled.size == 0:
            raise ValueError("every column of X is constant. Features that vary are needed.")

        scores = plain[:, modelled] * np.sqrt(len(plain))
        ranked = modelled[scored[modelled]]
        scores[:, scored[modelled]] = normal_scores(levels[:, ranked], tie_rng)
        break_ties(scores, levels[:, modelled], tied[modelled], tie_rng)
        sigma = self.covariance
        if not isinstance(sigma, str):
            sigma = sigma[np.ix_(features[modelled], features[modelled])]
        correlations, name = estimate(scores, sigma)
        S = decorrelation(correlations, self.s, groups[modelled])

        whole = np.zeros(values.shape)  # of constants: whatever the score, the value is the same
        whole[:, modelled] = draw_given(scores, correlations, S, noise_rng)
        signs = signs_against(plain, leaders)
        whole[:, followers] = whole[:, leaders[followers]] * signs[followers]
        s = np.zeros(values.shape[1])
        s[modelled] = np.diag(S)
        s[followers] = s[leaders[followers]]
        drawn = _from_scores(whole, values, scored | copies.constant)
        return Knockoffs(drawn, s, name, copies, correlations)


def draw_given(scores: Matrix, sigma: Matrix, S: Matrix, rng: Generator) -> Matrix:
    r"""Draw from :math:`N(x - x \Sigma^{-1} S,\; 2 S - S \Sigma^{-1} S)` for every row x."""
    pull = cho_solve(cho_factor(sigma), S)
    noise = rng.standard_normal(scores.shape) @ _root(2 * S - S @ pull)
    return np.asarray(scores - scores @ pull + noise)


def _root(covariance: Matrix) -> Matrix:
    """R with R'R = covariance, which may be singular: s is often as large as it can be."""
    factor, pivots, rank, _ = lapack.dpstrf(covariance, lower=0)
    root = np.zeros_like(covariance)
    root[:rank, pivots - 1] = np.triu(factor)[:rank]
    return root


def _from_scores(scores: Matrix, values: NDArray[Any], scored: Mask) -> NDArray[Any]:
    """Give each column its own values in the order of its scores, or its own mean and variance."""
    result = np.empty(values.shape, dtype=values.dtype if scored.all() else np.float64)
    ranked = np.sort(values[:, scored], axis=0)
    np.put_along_axis(ranked, scores[:, scored].argsort(axis=0), ranked.copy(), axis=0)
    result[:, scored] = ranked
    plain = values[:, ~scored].astype(np.float64)
    size = np.abs(plain).max(axis=0)  # squares of 1e200 would overflow
    mean, spread = size * (plain / size).mean(axis=0), size * (plain / size).std(axis=0)
    result[:, ~scored] = mean + spread * scores[:, ~scored]
    return result
