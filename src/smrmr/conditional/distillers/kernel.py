"""Offers Kernel: kernel ridge regression of the target on a few features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...settings import check_choice
from ...types import Indices, Matrix
from .kernel_ridge import KernelRidge
from .paths import Path
from .problem import NONE, Distilled, FitProblem, largest

MAX_IN_KERNEL = 12
PROPOSALS = ("lasso", "mcp")


@dataclass(frozen=True)
class Kernel:
    """Kernel ridge regression on at most twelve features, ``"kernel"`` for short.

    It fits curves and interactions, of all columns of the target by the same features. Of the sets
    of features that are proposed, the one of least error on rows left out is taken.

    Parameters
    ----------
    proposals
        What proposes the features: ``"lasso"``, the largest coefficients of the LASSO, ``"mcp"``,
        those of MCP on the same columns, which finds fewer and sharper, or both joined by ``+``.

    Raises
    ------
    ValueError
        If there is no such proposal.

    Examples
    --------
    >>> from smrmr.conditional import Kernel
    >>> Kernel(proposals="mcp").proposals
    'mcp'
    """

    proposals: str = "lasso+mcp"
    alias: ClassVar[str] = "kernel"

    def __post_init__(self) -> None:
        text = isinstance(self.proposals, str)
        for name in self.proposals.split("+") if text else [self.proposals]:
            check_choice("proposals", name, PROPOSALS)

    def fit(self, problem: FitProblem, out: Indices) -> Distilled:
        """The fit that never sees the columns `out`.

        Parameters
        ----------
        problem
            Features and target.
        out
            Columns to leave out.

        Returns
        -------
        Distilled
            Residuals of the target as seen from rows left out.
        """
        return self.fit_after(problem, out, problem.lasso(out))

    def fit_after(self, problem: FitProblem, out: Indices, lasso: Path) -> Distilled:
        """The same where the LASSO without these columns is known.

        Parameters
        ----------
        problem
            Features and target.
        out
            Columns to leave out.
        lasso
            What `FitProblem.lasso` returned for the same columns.

        Returns
        -------
        Distilled
            Residuals of the target as seen from rows left out.
        """
        proposed = {}
        for name in self.proposals.split("+"):
            path = lasso if name == "lasso" else problem.mcp(out, lasso)
            sizes = np.linalg.norm(path.chosen, axis=0).reshape(-1, problem.n_features).max(axis=0)
            proposed[name] = largest(sizes, MAX_IN_KERNEL)
        fits = {name: _kernel_ridge(problem, columns) for name, columns in proposed.items()}
        best = min(fits.values(), key=lambda fit: fit.error)
        used = {column for columns in proposed.values() for column in columns}
        return Distilled(
            residuals=best.residuals,
            used=np.array(sorted(used), dtype=np.intp),
            depends_on=self._depends_on(problem),
            shape=problem.shape(lasso),
        )

    def held_out(self, problem: FitProblem) -> Matrix:
        """Residuals of rows left out, as seen from fits to the others.

        That all rows had a say in which features take part is not taken into account.

        Parameters
        ----------
        problem
            Features and target.

        Returns
        -------
        ndarray
            Residuals of the rows `FitProblem.judged`, (q, rows).
        """
        return self.fit(problem, NONE).residuals[:, problem.judged]

    def _depends_on(self, problem: FitProblem) -> Indices:
        """Columns that enter a path that something is proposed or chosen from."""
        key = "depends on", self.proposals
        if key not in problem.cache:
            problem.cache[key] = self._entered(problem)
        found: Indices = problem.cache[key]
        return found

    def _entered(self, problem: FitProblem) -> Indices:
        paths = [*problem.lassos]
        if "mcp" in self.proposals.split("+"):
            paths.append(problem.mcp(NONE, problem.lasso(NONE)))
        return np.unique(np.concatenate([problem.entered(path) for path in paths]))


def _kernel_ridge(problem: FitProblem, columns: tuple[int, ...]) -> KernelRidge:
    key = "kernel ridge", columns
    if key not in problem.cache:
        bumps = problem.cache.setdefault("bumps", {})
        problem.cache[key] = KernelRidge(problem.regressors, columns, problem.target.values, bumps)
    found: KernelRidge = problem.cache[key]
    return found
