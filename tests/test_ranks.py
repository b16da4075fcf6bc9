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


NEAR_TIES = {
    "means of groups": lambda rng: rng.poisson(3.0, (40, 8, 30)).mean(axis=1),
    "logs": lambda rng: np.log1p(rng.poisson(3.0, (40, 8, 30))).mean(axis=1),
    "sums of tenths": lambda rng: 0.1 * rng.integers(5, size=(60, 30)) + 0.2,
    "ratios": lambda rng: np.log(rng.integers(1, 4, (60, 30)) / rng.integers(1, 4, (60, 30))),
    "mostly zero": lambda rng: np.where(rng.random((60, 30)) < 0.97, 0, rng.random((60, 30))),
    "residuals": lambda rng: (b := rng.integers(3, size=(60, 30)) * 1.0) - b.mean(axis=0),
    "distinct": lambda rng: rng.standard_cauchy((200, 30)),
    "one far value": lambda rng: np.vstack([rng.normal(size=(59, 30)), np.full(30, 1e12)]),
    "huge": lambda rng: 1.7e308 * rng.choice([-1, 0, 1], (60, 30)),
}


@pytest.mark.parametrize("columns", NEAR_TIES)
def test_the_last_digits_decide_no_rank(columns, rng):
    """Law: noise of 1e-13 of each value changes no rank. Oracle: ranks of the values rounded."""
    values = NEAR_TIES[columns](rng)
    scale = 1e300 if columns == "huge" else 1.0
    exact = rankdata(np.round(values / scale, 9), axis=0)
    noisy = values * (1 - 1e-13 * rng.random(values.shape))
    assert_array_equal(average_ranks(values, axis=0), exact)
    assert_array_equal(average_ranks(noisy, axis=0), exact)
