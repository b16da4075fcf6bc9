"""Ranks: oracle scipy.stats.rankdata, to the bit and in the same layout in memory. Scales."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata

from smrmr.data.ranks import average_ranks, begins_run, settled
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
    "one huge value": lambda rng: np.vstack([rng.normal(size=(59, 30)), np.full(30, 9.97e36)]),
    "one fill value": lambda rng: np.vstack([900 * rng.normal(size=(59, 30)), np.full(30, 1e20)]),
    "sparse, one fill value": lambda rng: np.vstack(
        [np.where(rng.random((98, 30)) < 0.95, 0, rng.random((98, 30))), np.full((1, 30), 1e20)]
    ),
    "zeros by rounding": lambda rng: np.where(
        rng.random((60, 30)) < 0.7, 1e-17 * rng.integers(-3, 4, (60, 30)), rng.normal(size=(60, 30))
    ),
    "a fifth far": lambda rng: (
        rng.normal(size=(60, 30)) * np.where(np.arange(60) < 12, 1e11, 1)[:, None]
    ),
    "far from zero": lambda rng: 2000 + rng.integers(30, size=(60, 30)) / 1e4,
    "nearly constant": lambda rng: 0.3 + 5e-17 * rng.integers(-1, 2, (60, 30)),
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


@pytest.mark.parametrize("columns", NEAR_TIES)
def test_settled_values_are_equal_where_they_tie(columns, rng):
    """Oracle: SciPy, which ranks settled values as they are; whoever ties has one of its values."""
    values = NEAR_TIES[columns](rng) * (1 - 1e-13 * rng.random((1, 30)))
    found = settled(values, axis=0)
    scale = 2.0**-1000 if columns == "huge" else 1.0  # the sums of SciPy 1.10 overflow
    assert_array_equal(rankdata(found * scale, axis=0), average_ranks(values, axis=0))
    assert all(np.isin(mine, given).all() for mine, given in zip(found.T, values.T, strict=True))
    assert_array_equal(settled(found, axis=0), found)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, np.float64])
def test_values_without_near_ties_are_settled_as_they_are(dtype, rng):
    values = rng.integers(-9, 9, size=(40, 5)).astype(dtype)
    assert settled(values, axis=0) is values
    large = np.array([[2**62, 2**62 + 1, 2**62 + 1]])
    assert begins_run(large).tolist() == [[True, True, False]]


def literal_ties(row):
    """Numbers of sets of tied values, by the definition, from all pairs of them."""
    n, ordered = len(row), np.sort(row)
    half, most = (ordered[n - 1 - cut] - ordered[cut] for cut in (n // 4, n // 20))
    spread = most if half == 0 or 1e-18 * most <= half <= 1e-13 * most else half
    if spread == 0:
        others = [row[row > ordered[n // 2]], row[row < ordered[n // 2]]]
        apart = (np.sort(np.abs(some - ordered[n // 2])) for some in others if len(some))
        spread = max((some[(len(some) - 1) // 2] for some in apart), default=0.0)
    size = np.maximum.outer(np.abs(row), np.abs(row))
    near = np.abs(np.subtract.outer(row, row)) <= np.maximum(1e-10 * spread, 1e-12 * size)
    return connected_components(near, directed=False)[1]


@pytest.mark.parametrize("n", [4, 7, 40, 41])
def test_ties_are_linked_by_small_steps(n, rng):
    """Oracle: connected components of all pairs within the tolerance, values of many sizes."""
    sizes = 10.0 ** rng.integers(-12, 4, size=(200, 1))
    values = rng.normal(size=(200, n)) * np.where(rng.random((200, n)) < 0.3, sizes, 1)
    values[:50] *= rng.random((50, n)) < 0.1
    near = rng.choice(values.shape[1], size=(200, n))  # copies, moved by steps of all sizes
    copies = np.take_along_axis(values, near, axis=1)
    copies = copies * (1 + rng.choice([1e-15, 1e-13, 3e-12, 1e-9], (200, n)) * rng.random((200, n)))
    values = np.where(rng.random((200, n)) < 0.5, copies, values)
    for row, ranks in zip(values, average_ranks(values), strict=True):
        component = literal_ties(row)
        assert_array_equal(ranks, rankdata([row[component == c].min() for c in component]))
