"""Takes knockoffs that the user made."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ...data.columns import as_columns
from ...settings import as_generator
from ...types import Data
from .diagnose import check_pair, refuse_categories


def given_knockoffs(
    X: Data,
    knockoffs: Data | Callable[[NDArray[Any], Generator], Data],
    *,
    random_state: int | Generator | None = None,
) -> NDArray[Any]:
    """Check knockoffs made elsewhere, or make them by calling a function of yours.

    Parameters
    ----------
    X
        Features, (n, p).
    knockoffs
        An array of the shape of X, or a function ``knockoffs(X, rng)`` that returns one. It must
        use `rng` alone, so that the same seed gives the same answer.
    random_state
        Seed or Generator handed to the function.

    Examples
    --------
    >>> from smrmr import given_knockoffs, simulate
    >>> X = simulate("1.a", n=50, p=10, random_state=0).X
    >>> given_knockoffs(X, lambda X, rng: rng.permuted(X, axis=0), random_state=0).shape
    (50, 10)
    """
    columns = as_columns(X)
    refuse_categories(columns)
    if callable(knockoffs):
        knockoffs = knockoffs(columns.values, as_generator(random_state))
    return check_given(columns.values, knockoffs)


def check_given(values: NDArray[Any], knockoffs: Data) -> NDArray[Any]:
    """Check knockoffs against the features they belong to."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # X has been checked for rare values
            columns = as_columns(knockoffs)
        refuse_categories(columns)
    except ValueError as error:
        message = str(error).replace("of X ", "of the knockoffs ")
        raise ValueError(f"the knockoffs given cannot be used: {message}") from error
    made = columns.values
    check_pair(values, made)
    varies = (values != values[:1]).any(axis=0)
    if varies.any() and np.array_equal(values[:, varies], made[:, varies]):
        raise ValueError(
            "the knockoffs given equal X, so no feature can differ from its knockoff. Draw others, "
            "for example by gaussian_knockoffs."
        )
    return made
