"""Ranks. Oracle: scipy.stats.rankdata, to the bit and in the same layout in memory."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import rankdata

from smrmr.data.ranks import average_ranks

SHAPES = [((7,), -1), ((50, 8), 0), ((8, 50), 1), ((1, 5), 0), ((5, 0), 0), ((0,), -1)]


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("levels", [None, 1, 3])
def test_ranks_are_those_of_scipy(shape, axis, levels, rng):
    values = rng.normal(size=shape) if levels is None else rng.integers(levels, size=shape)
    ours, theirs = average_ranks(values, axis), rankdata(values, axis=axis)
    assert_array_equal(ours, theirs)
    assert ours.dtype == np.float64
    assert ours.flags.c_contiguous == theirs.flags.c_contiguous
