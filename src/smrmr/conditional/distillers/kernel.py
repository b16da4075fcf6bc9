"""Offers Kernel: kernel ridge regression of the target on a few features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...settings import check_choice
from ...types import Indices, Vector
from .kernel_ridge import KernelRidge
from .problem import NONE, Distilled, FitProblem, largest

MAX_IN_KERNEL = 12
PROPOSALS = {"lasso": "LASSO", "mcp": "MCP"}


@dataclass(frozen=True)
class Kernel:
    """Kernel ridge regression on at most twelve features, ``"kernel"`` for short.

    It fits curves and interactions. Of the sets of features that are proposed, the one of least
    error on rows left out is taken.

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
            check_choice("proposals", name, tuple(PROPOSALS))

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
            Residual of the target as seen from rows left out.
        """
        return self.fit_after(problem, out, *problem.lasso(out))

    def fit_after(
        self, problem: FitProblem, out: Indices, with_abs: bool, lasso: Vector
    ) -> Distilled:
        """The same where the LASSO without these columns is known, see `FitProblem.lasso`."""
        proposed = {}
        for name in self.proposals.split("+"):
            found = lasso if name == "lasso" else problem.path(out, with_abs, concave=True).chosen
            sizes = np.abs(found).reshape(-1, problem.n_features).max(axis=0)
            proposed[name] = largest(sizes, MAX_IN_KERNEL)
        fits = {name: _kernel_ridge(problem, columns) for name, columns in proposed.items()}
        best = min(fits.values(), key=lambda fit: fit.error).residual
        return Distilled(
            residual=best,
            held_out=best,
            used=np.unique(np.concatenate([NONE, *map(_as_indices, proposed.values())])),
            depends_on=self._depends_on(problem),
            uses_absolute_values=with_abs,
            explained={
                f"kernel ridge after {PROPOSALS[name]}": 1 - fit.error for name, fit in fits.items()
            },
        )

    def _depends_on(self, problem: FitProblem) -> Indices:
        """Columns that enter a path that something is proposed or chosen from."""
        paths = [(False, False), (True, False)]
        if "mcp" in self.proposals.split("+"):
            paths.append((problem.lasso(NONE)[0], True))
        return np.unique(np.concatenate([problem.entered(*path) for path in paths]))


def _as_indices(columns: tuple[int, ...]) -> Indices:
    return np.array(columns, dtype=np.intp)


def _kernel_ridge(problem: FitProblem, columns: tuple[int, ...]) -> KernelRidge:
    key = "kernel ridge", columns
    if key not in problem.cache:
        problem.cache[key] = KernelRidge(problem.regressors, columns, problem.target.values)
    found: KernelRidge = problem.cache[key]
    return found
