"""Offers Permutation: a statistic of the user's, compared with its values on permuted rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...problems import Problem, setting
from ...settings import ComparesBySettings, check_count
from ...types import Vector
from .pairs import ResidualPairs

TIED = 1e-10  # of a value, by which another may fall short of it and count as equal
ENOUGH = 20  # permutations that reach the value, after which no more are drawn


@dataclass(frozen=True, eq=False)
class Permutation(ComparesBySettings):
    """A function of residuals (r, e) whose null comes from permuted rows, ``"permutation"``.

    Rows are permuted until 20 permutations reach the value, and the p-value is 20 over their number
    (Besag and Clifford 1991); if fewer of all do, it is one more than these over one more than all.
    Permutations are the same in every fit.

    Parameters
    ----------
    function
        ``function(r, e)`` of two arrays of n numbers; large where they depend on each other.
    n_permutations
        Most permutations of a pair: no p-value is below 1 / (n_permutations + 1).
    weight, weight_with_abs
        Weight in the combination of p-values, and where absolute values of features helped the fit
        of the target.

    Raises
    ------
    ValueError
        If `function` is none, or a number is not possible.

    Examples
    --------
    >>> import numpy as np
    >>> from smrmr import ConditionalTests
    >>> from smrmr.conditional import Permutation
    >>> sign_agreement = Permutation(lambda r, e: abs(np.sum(np.sign(r) * np.sign(e))))
    >>> len(ConditionalTests(statistics=["linear", sign_agreement]).statistics)
    2
    """

    function: Callable[[Vector, Vector], float]
    n_permutations: int = 10_000
    weight: float = 0.5
    weight_with_abs: float = 0.5
    alias: ClassVar[str] = "permutation"
    only_mean: ClassVar[bool] = False
    all_columns: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise Problem(
                f"{setting('function', self.function)} is no function.",
                cure="Give one of two arrays, the residuals of a feature and of the target.",
                argument="function",
            )
        check_count("n_permutations", self.n_permutations)

    def p_values(self, pairs: ResidualPairs) -> Vector:
        """One p-value for each pair of residuals.

        Parameters
        ----------
        pairs
            Residuals of features and target.

        Returns
        -------
        ndarray
            p-values, (k,).
        """
        return np.array(
            [self._p_value(r, e) for r, e in zip(pairs.features, pairs.target, strict=True)]
        )

    def _p_value(self, r: Vector, e: Vector) -> float:
        rng, value, reached, drawn = np.random.default_rng(len(r)), self.function(r, e), 0, 0
        value -= TIED * abs(value)
        while drawn < self.n_permutations and reached < ENOUGH:
            reached += self.function(rng.permutation(r), e) >= value
            drawn += 1
        return reached / drawn if reached == ENOUGH else (1 + reached) / (1 + drawn)
