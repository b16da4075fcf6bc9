"""Checks settings that several stages share: levels, choices, sizes, seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator


def as_generator(random_state: Any) -> Generator:
    """One Generator from a seed, a Generator, scikit-learn's RandomState, or None."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    try:
        rng = np.random.default_rng(random_state)
        if getattr(rng.bit_generator, "seed_seq", None) is None:  # made from an old RandomState
            rng = np.random.default_rng(rng.integers(2**31, size=4))
        return rng
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state={random_state!r} cannot seed a generator. Give a non-negative whole "
            "number, a numpy Generator, or None."
        ) from error
