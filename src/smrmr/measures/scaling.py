"""Brings columns of any magnitude to a common range without rounding them."""

import numpy as np

from ..types import Matrix


def unit_scale(values: Matrix) -> Matrix:
    """Scale each column (last axis: samples) into [-1, 1], all its coordinates alike.

    Scaling is by a power of two, hence exact: measures that do not depend on the scale keep every
    digit, and squares of 1e300 or 1e-300 neither overflow nor vanish.
    """
    values = np.asarray(values, dtype=np.float64)
    axes = tuple(range(1, values.ndim))
    _, exponent = np.frexp(np.abs(values).max(axis=axes, keepdims=True, initial=0.0))
    return np.asarray(np.ldexp(values, -exponent))
