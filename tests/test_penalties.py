"""Every penalty: the laws that LLA relies on."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from smrmr.paper import L1, MCP, SCAD
from smrmr.paper.solver import PENALTIES, NoPenalty, as_penalty

THETA = np.linspace(0, 3, 301)
ALL = [*map(as_penalty, PENALTIES), SCAD(2.5), MCP(0.7)]


@pytest.mark.parametrize("penalty", ALL, ids=str)
@pytest.mark.parametrize("lam", [0.05, 0.4])
def test_slope_is_the_derivative_of_value(penalty, lam):
    """Oracle: finite differences, away from the kinks."""
    step = 1e-6
    for kink in (lam, getattr(penalty, "a", 0) * lam, getattr(penalty, "b", 0) * lam):
        away = np.abs(THETA - kink) > 2 * step
        difference = penalty.value(lam, THETA + step) - penalty.value(lam, THETA)
        assert_allclose((difference / step)[away], penalty.slope(lam, THETA)[away], atol=1e-5)


@pytest.mark.parametrize("penalty", ALL[1:], ids=str)
def test_slope_at_zero_is_lambda(penalty):
    assert penalty.slope(0.3, np.zeros(1))[0] == 0.3
    assert penalty.value(0.3, np.zeros(1))[0] == 0


@pytest.mark.parametrize("penalty", ALL, ids=str)
def test_concave_increasing_from_zero(penalty):
    slope = penalty.slope(0.3, THETA)
    assert (slope >= 0).all()
    assert (np.diff(slope) <= 1e-15).all()


@pytest.mark.parametrize("penalty", [SCAD(), MCP()], ids=str)
def test_large_coefficients_are_not_shrunk(penalty):
    """Printed values of the flat tails: (a + 1) lambda^2 / 2 and b lambda^2 / 2."""
    far = np.array([5.0, 50.0])
    flat = {"SCAD": (3.7 + 1) * 0.2**2 / 2, "MCP": 3.5 * 0.2**2 / 2}[type(penalty).__name__]
    assert_array_equal(penalty.slope(0.2, far), 0.0)
    assert_allclose(penalty.value(0.2, far), flat)


@pytest.mark.parametrize("penalty", [SCAD(1e12), MCP(1e12)], ids=["SCAD", "MCP"])
def test_limits_are_the_lasso(penalty):
    assert_allclose(penalty.value(0.3, THETA), L1().value(0.3, THETA), atol=1e-10)
    assert_allclose(penalty.slope(0.3, THETA), L1().slope(0.3, THETA), atol=1e-10)


def test_aliases_and_refusals():
    assert as_penalty(None) == as_penalty("none") == NoPenalty()
    assert as_penalty("mcp") == MCP(3.5)
    assert as_penalty(SCAD(3.0)) == SCAD(3.0)
    for bad in ("ridge", 3):
        with pytest.raises(ValueError, match="'none', 'l1', 'scad' or 'mcp'"):
            as_penalty(bad)
    for bad in (2, 1.5, float("nan")):
        with pytest.raises(ValueError, match=r"a=.* must be a number above 2"):
            SCAD(bad)
    for bad in (0, -1, float("nan")):
        with pytest.raises(ValueError, match=r"b=.* must be a number above 0"):
            MCP(bad)
    with pytest.raises(ValueError, match="lla_steps=0 must be a whole number of 1 or more"):
        MCP(lla_steps=0)
