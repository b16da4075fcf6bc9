"""Offers SmRMR, the method as one scikit-learn selector."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import fields
from typing import Any

import numpy as np

from ..measures.protocol import Measure
from ..pipeline import select_checked
from ..recipe import Recipe
from ..runs.progress import progress_bars
from ..selection import Selection
from ..types import Data, Indices, Vector
from .selector import Selector


class SmRMR(Selector):
    r"""Sparse minimum redundancy maximum relevance, with a controlled false discovery rate.

    Features are screened on some rows; on the others every kept feature gets a knockoff, a false
    twin; features and twins compete in one penalised mRMR problem, and those that beat their twin
    by enough are selected. The expected share of false features among them is at most `fdr`, given
    that the screen kept every true feature and that the twins are exchangeable with the features.

    Parameters
    ----------
    fdr
        Largest expected share of false features among those selected, in (0, 1). At least
        1 / `fdr` features must stand out together, or none is selected.
    measure
        Association: ``"pc"``, ``"hsic"``, ``"dcor"``, ``"pearson"`` or an instance.
    penalty
        ``"mcp"``, ``"scad"``, ``"l1"``, ``"none"`` or an instance; a list with ``lam="bayes"``.
    lam
        How lambda is chosen: ``"cv"``, the paper's cross-validated loss; ``"cv-debiased"``, the
        same with held-out associations freed of their bias; ``"bayes"``, a Bayesian search of the
        paper's loss (needs ``smrmr[bayes]``); or a number.
    cv
        Folds.
    lla_steps
        Convex problems solved for SCAD and MCP.
    target
        ``"continuous"``, ``"classes"`` or ``"auto"``.
    screening
        ``"split"``: screen on some rows, select on the others; ``"none"``: keep every feature and
        use all rows; ``"auto"``: none if 2 p < n, else split.
    screen_share
        Share of the rows that screen.
    screen_lam
        Lambda of the mRMR screen.
    screen_steps
        ``"both"``: by relevance, then by mRMR; ``"relevance"``: by relevance alone.
    n_keep
        Features kept by the screen; by default ``(n_1 - 1) // 2`` with n_1 the selecting rows.
    recycle
        Use the screening rows again when solving, each as its own knockoff.
    cross_terms
        Count redundancy between features and knockoffs. Without it, problem (4.1) as the paper
        prints it; swapping a feature with its knockoff then changes more than a sign.
    knockoffs
        ``"gaussian"``, an array like X that holds them, or a function ``knockoffs(X, rng)`` that is
        given the kept features on the selecting rows.
    covariance, s, copula
        How Gaussian knockoffs are drawn, see `gaussian_knockoffs`.
    n_draws
        Splits and draws of knockoffs to combine by e-values: slower, but the answer no longer
        hangs on one draw.
    on_empty
        ``"none"``: an empty selection is an answer; ``"relax"``: raise the level until something
        is selected (SmRMR2 in the paper), without guarantee.
    memory
        Budget for the work besides the data, such as ``"500MB"``.
    random_state
        Seed; the same seed gives the same answer, whatever `n_jobs`.
    n_jobs
        Threads, as in joblib.
    verbose
        1 shows a progress bar for each stage.

    Attributes
    ----------
    selection_
        The whole `Selection`: fates of all features, ``at(fdr=...)``, ``explain(...)``.
    support_, selected_
        Mask and positions (best first) of the selected features.
    W_, q_values_
        Importance of every feature, and the smallest level that selects it.

    Examples
    --------
    >>> from smrmr import SmRMR, simulate
    >>> data = simulate("1.d", n=400, p=150, random_state=1)
    >>> selector = SmRMR(fdr=0.2, random_state=0).fit(data.X, data.y)
    >>> selector.transform(data.X).shape
    (400, 10)
    """

    def __init__(
        self,
        fdr: float = 0.3,
        *,
        measure: str | Measure = "pc",
        penalty: Any = "mcp",
        lam: str | float = "cv",
        cv: int = 5,
        lla_steps: int = 2,
        target: str = "auto",
        screening: str = "auto",
        screen_share: float = 0.4,
        screen_lam: float = 0.01,
        screen_steps: str = "both",
        n_keep: int | None = None,
        recycle: bool = True,
        cross_terms: bool = True,
        knockoffs: Any = "gaussian",
        covariance: Any = "auto",
        s: str = "equi",
        copula: bool | str = "auto",
        n_draws: int = 1,
        on_empty: str = "none",
        memory: str | int = "1GB",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.fdr = fdr
        self.measure = measure
        self.penalty = penalty
        self.lam = lam
        self.cv = cv
        self.lla_steps = lla_steps
        self.target = target
        self.screening = screening
        self.screen_share = screen_share
        self.screen_lam = screen_lam
        self.screen_steps = screen_steps
        self.n_keep = n_keep
        self.recycle = recycle
        self.cross_terms = cross_terms
        self.knockoffs = knockoffs
        self.covariance = covariance
        self.s = s
        self.copula = copula
        self.n_draws = n_draws
        self.on_empty = on_empty
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def paper(cls, fdr: float = 0.3, **settings: Any) -> SmRMR:
        """The paper's pipeline, whatever the defaults become; `settings` change single choices.

        Projection correlation, MCP, lambda by cross-validation, rows split 0.4 to 0.6, both
        screening steps, recycled rows, Gaussian knockoffs from the sample covariance of the
        selecting rows, equicorrelated. Cross terms are kept, see `cross_terms`.
        """
        choices: dict[str, Any] = {
            "measure": "pc",
            "penalty": "mcp",
            "lam": "cv",
            "cv": 5,
            "lla_steps": 2,
            "screening": "auto",
            "screen_share": 0.4,
            "screen_lam": 0.01,
            "screen_steps": "both",
            "n_keep": None,
            "recycle": True,
            "cross_terms": True,
            "knockoffs": "gaussian",
            "covariance": "sample",
            "s": "equi",
            "copula": False,
            "n_draws": 1,
            "on_empty": "none",
        }
        return cls(fdr, **(choices | settings))

    def fit(self, X: Data, y: Data) -> SmRMR:
        """Select features of X that tell about y."""
        recipe = Recipe(**{f.name: getattr(self, f.name) for f in fields(Recipe)})
        columns, target = self._read(X, y, self.target)
        with progress_bars() if self.verbose else nullcontext() as progress:
            self.selection_: Selection = select_checked(
                columns, target, recipe, self.random_state, progress=progress
            )
        self.selected_: Indices = self.selection_.selected
        self.support_ = np.isin(np.arange(self.selection_.n_features), self.selected_)
        self.W_: Vector = self.selection_.W
        self.q_values_: Vector = self.selection_.q_values
        return self
