"""Takes knockoffs that the user made."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..data.columns import Columns, as_columns
from ..features.copies import Copies
from ..problems import Problem, setting
from ..settings import ComparesBySettings
from ..types import Data, Indices
from .diagnose import check_pair, refuse_categories
from .gaussian import Knockoffs


@dataclass(frozen=True, eq=False)
class Given(ComparesBySettings):
    """Knockoffs made elsewhere.

    Parameters
    ----------
    knockoffs
        An array of the shape of X, or a function ``knockoffs(X, rng)`` that is given the features
        kept on the rows that select and returns one of their shape. It must use `rng` alone, so
        that the same seed gives the same answer.
    """

    knockoffs: Any
    alias: ClassVar[str] = "given"
    by_rank: ClassVar[bool] = True

    @property
    def repeatable(self) -> bool:
        """Whether knockoffs are an array: a function cannot be written down."""
        return not callable(self.knockoffs)

    def check(self, columns: Columns, n_draws: int) -> None:
        """Refuse knockoffs that do not fit the features."""
        refuse_categories(columns)
        if not self.repeatable:
            return
        if n_draws > 1:
            raise Problem(
                f"{setting('n_draws', n_draws)} needs fresh knockoffs each time, but one array was "
                f"given. Pass a function that draws them, or {setting('n_draws', 1)}."
            )
        _checked(columns.values, self.knockoffs)

    def draw(
        self,
        values: NDArray[Any],
        copies: Copies,
        features: Indices,
        rows: Indices,
        rng: Generator,
        groups: Indices | None = None,
    ) -> Knockoffs:
        """The knockoffs of `features` on `rows`, whose values are given too."""
        if self.repeatable:
            made = _read(self.knockoffs)[np.ix_(rows, features)]
        else:
            made = _checked(values, self.knockoffs(values, rng))
        return Knockoffs(made, np.empty(0), "", copies)


def _checked(values: NDArray[Any], knockoffs: Data) -> NDArray[Any]:
    """Check knockoffs against the features they belong to."""
    made = _read(knockoffs)
    check_pair(values, made)
    varies = (values != values[:1]).any(axis=0)
    if varies.any() and np.array_equal(values[:, varies], made[:, varies]):
        raise ValueError(
            "the knockoffs given equal X, so no feature can differ from its knockoff. Draw others, "
            "for example by draw_knockoffs."
        )
    return made


def _read(knockoffs: Data) -> NDArray[Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # X has been checked for rare values
            columns = as_columns(knockoffs)
        refuse_categories(columns)
    except ValueError as error:
        message = str(error).replace("of X ", "of the knockoffs ")
        raise ValueError(f"the knockoffs given cannot be used: {message}") from error
    return columns.values
