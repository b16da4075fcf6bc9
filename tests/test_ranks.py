"""Ranks: oracle scipy.stats.rankdata, to the bit and in the same layout in memory. Scales."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import rankdata

from smrmr.data.ranks import average_ranks
from smrmr.data.scaling import unit_scale

SHAPES = [((7,), -1), ((50, 8), 0), ((8, 50), 1), ((1, 5), 0), ((5, 0), 0), ((0,), -1)]


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("levels", [None, 1, 3])
def test_ranks_are_those_of_scipy(shape, axis, levels, rng):
    values = rng.normal(size=shape) if levels is None else rng.integers(levels, size=shape)
    ours, theirs = average_ranks(values, axis), rankdata(values, axis=axis)
    assert_array_equal(ours, theirs)
    assert ours.dtype == np.float64
    assert ours.flags.c_contiguous == theirs.flags.c_contiguous


@pytest.mark.parametrize("size", [1e-310, 1e-300, 1e-3, 1e5, 1e303])
def test_columns_are_scaled_by_a_power_of_two(size, rng):
    """Oracle: math.ldexp, to the bit."""
    values = size * rng.normal(size=(3, 8))
    values[0] *= 1e-8
    exponents = [math.frexp(max(map(abs, row)))[1] for row in values.tolist()]
    expected = [
        [math.ldexp(x, -exponent) for x in row]
        for row, exponent in zip(values.tolist(), exponents, strict=True)
    ]
    assert_array_equal(unit_scale(values), expected)
