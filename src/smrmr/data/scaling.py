"""Brings columns of any magnitude to a common scale."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Matrix

SAME = 1e-10  # less than 1, from which correlation on two columns are the same


def unit_scale(values: Matrix) -> Matrix:
    """Scale each column (last axis: samples) into [-1, 1], all its coordinates alike.

    Scaling is by a power of two, hence exact: measures that do not depend on the scale keep every
    digit, and squares of 1e300 or 1e-300 neither overflow nor vanish.
    """
    values = np.asarray(values, dtype=np.float64)
    axes = tuple(range(1, values.ndim))
    _, exponent = np.frexp(np.abs(values).max(axis=axes, keepdims=True, initial=0.0))
    if np.abs(exponent).max(initial=0) < 1000:
        return np.asarray(values * np.ldexp(1.0, -exponent))  # the same, and faster
    return np.asarray(np.ldexp(values, -exponent))


def unit_columns(columns: NDArray[Any]) -> Matrix:
    """Centre each column and divide it by its norm; constants become 0."""
    scaled = unit_scale(columns.T).T
    centred = scaled - scaled.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    noise = 1e-13 * np.sqrt(len(scaled)) * np.abs(scaled).max(axis=0, initial=0.0)
    flat = norms <= noise
    return np.asarray(np.where(flat, 0.0, centred / np.where(flat, 1.0, norms)))
