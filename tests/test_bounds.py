"""Bounds after looking. Oracle: closed testing by enumeration, in fractions, and its laws."""

from __future__ import annotations

from fractions import Fraction
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from smrmr.layers.bounds import MARGIN, Bounds

ALPHAS = (0.01, 0.05, 0.1, 0.3, 0.5, 0.9)


@st.composite
def families(draw, most=8):
    """p-values with ties, zeros, ones, tiny ones and critical values of Simes' tests; a level."""
    alpha = draw(st.sampled_from(ALPHAS))
    size = st.integers(1, most)
    critical = st.builds(lambda j, i: min(j * alpha / i, 1.0), size, size)
    grid = st.sampled_from([0.0, 1e-300, 1e-12, 0.001, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0])
    small = st.floats(0, 1).map(lambda v: v * alpha)
    p = draw(st.lists(critical | grid | small | st.floats(0, 1), min_size=1, max_size=most))
    return np.array(p), alpha


def sets_of(m):
    """All sets of m hypotheses, in the order of the numbers that their bits stand for."""
    return [np.flatnonzero([one >> k & 1 for k in range(m)]) for one in range(2**m)]


def enumerated(p, alpha):
    return oracles.closed_testing(p, Fraction(alpha) * (1 - Fraction(MARGIN)))


def mixed(rng, m, share=0.3):
    """Independent p-values of which a share is small, and which they are."""
    true = rng.random(m) < share
    return np.where(true, rng.random(m) ** 6, rng.random(m)), true


def assert_enumerated(p, alpha):
    found, expected = Bounds.of(p, alpha), enumerated(p, alpha)
    assert [found.at_least(some) for some in sets_of(len(p))] == expected
    assert len(p) - found.h == expected[-1]


@given(families())
@settings(deadline=None, max_examples=150)
def test_bounds_are_those_of_closed_testing(family):
    """Oracle: every set of hypotheses tested by Simes' test, in fractions."""
    assert_enumerated(*family)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_bounds_of_twelve_are_those_of_closed_testing(alpha, rng):
    """Oracle: the same, for families as large as enumeration allows, near critical values."""
    for _ in range(3):
        ladder = np.arange(1, 13) / 12 * rng.uniform(0.6, 1.6, 12)
        assert_enumerated(rng.permutation(np.minimum(alpha * ladder, 1)), alpha)


@given(families(40), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_bounds_along_an_order_are_those_of_its_beginnings(family, random):
    """Oracle: one set after the other; orders are by p-value, reversed, drawn and with repeats."""
    p, alpha = family
    found, by_p = Bounds.of(p, alpha), np.argsort(p)
    drawn = np.array(random.choices(range(len(p)), k=2 * len(p)))
    for order in (by_p, by_p[::-1], np.array(random.sample(range(len(p)), len(p))), drawn):
        expected = [found.at_least(order[: k + 1]) for k in range(len(order))]
        assert found.along(order).tolist() == expected


def test_bounds_along_long_orders_are_those_of_their_beginnings(rng):
    """Oracle: one set after the other, at sizes where places have long been taken."""
    p, _ = mixed(rng, 3000)
    found = Bounds.of(p, 0.2)
    for order in (np.argsort(p), np.argsort(-p), rng.permutation(3000)):
        along = found.along(order)
        for k in rng.integers(1, 3001, 100):
            assert along[k - 1] == found.at_least(order[:k])
    assert along[-1] == 3000 - found.h > 100


def test_bounds_by_hand():
    """Oracle: worked by hand.

    h is 7: 7 p is above 0.05 j for the j-th of the last seven p-values, while for eight and nine
    the three or four smallest are rejected: 8 * 0.015 <= 0.15 and 9 * 0.014 <= 0.15. Of the first
    three 7 p <= 2 * 0.05, so at least 3 + 1 - 2 are true.
    """
    p = np.array([0.012, 0.013, 0.014, 0.015, 0.2, 0.3, 0.5, 0.6, 0.8])
    found = Bounds.of(p, 0.05)
    assert found.h == 7
    assert found.at_least(np.arange(3)) == 2
    assert found.at_least(np.array([4, 5])) == 0


@given(families(30), st.data())
@settings(deadline=None)
def test_larger_sets_and_levels_have_no_smaller_bounds(family, data):
    """Laws: d(S) <= d(S + k) <= d(S) + 1, and no bound falls with alpha or rises with a p-value."""
    p, alpha = family
    some = np.array(sorted(data.draw(st.sets(st.integers(0, len(p) - 1)))), np.intp)
    k = data.draw(st.integers(0, len(p) - 1))
    found = Bounds.of(p, alpha)
    bound, more = found.at_least(some), found.at_least(np.append(some, k))
    assert 0 <= bound <= more <= bound + (k not in some)
    levels = [Bounds.of(p, level).at_least(some) for level in ALPHAS]
    assert levels == sorted(levels)
    raised = p.copy()
    raised[k] = data.draw(st.floats(p[k], 1))
    assert Bounds.of(raised, alpha).at_least(some) <= bound


def test_bounds_do_not_depend_on_the_order_of_hypotheses(rng):
    """Law: renumbered hypotheses have the same bounds."""
    p, _ = mixed(rng, 200)
    p[:50] = np.round(p[:50], 2)
    found, shuffle = Bounds.of(p, 0.1), rng.permutation(200)
    other = Bounds.of(p[shuffle], 0.1)
    assert other.h == found.h
    for size in (1, 5, 30, 200):
        some = rng.choice(200, size, replace=False)
        assert other.at_least(some) == found.at_least(shuffle[some])
    assert found.at_least(np.repeat(some, 3)) == found.at_least(some)


def test_extremes():
    """Oracle: the definition. All of p = 0 are true, none of p = 1, one of p < alpha / m is."""
    everyone = np.arange(20)
    zeros, ones = Bounds.of(np.zeros(20), 0.05), Bounds.of(np.ones(20), 0.05)
    assert (zeros.h, zeros.at_least(everyone[3:9]), ones.h) == (0, 6, 20)
    assert zeros.along(everyone).tolist() == [*range(1, 21)]
    assert not ones.along(everyone).any()
    one = np.ones(20)
    for factor, bound in ((0.999, 1), (1.001, 0)):
        one[7] = factor * 0.05 / 20
        found = Bounds.of(one, 0.05)
        assert found.at_least(np.array([7])) == found.at_least(everyone) == bound
        assert found.at_least(np.delete(everyone, 7)) == 0
    nothing = np.array([], np.intp)
    for found in (zeros, ones, Bounds.of(np.array([]), 0.05)):
        assert found.at_least(nothing) == 0
        assert found.along(nothing).tolist() == []


def test_last_bits_decide_nothing():
    """Law: a p-value at a critical value counts as above it, whatever its last bits are."""
    for alpha in ALPHAS:
        for m in (3, 7, 49, 1000):
            p = np.ones(m)
            for bits in (-4, -1, 0, 1, 4):
                p[0] = alpha / m * (1 + bits * np.finfo(float).eps)
                assert Bounds.of(p, alpha).h == m
            p[0] = alpha / m * (1 - 2 * MARGIN)
            assert Bounds.of(p, alpha).h == m - 1
            if m > 3:  # with h = m - 1 the second one stands at its own critical value
                for shift, bound in ((-4 * np.finfo(float).eps, 1), (-2 * MARGIN, 2)):
                    p[:2] = 0, alpha / (m - 1) * (1 + shift)
                    assert Bounds.of(p, alpha).at_least(np.arange(2)) == bound


@pytest.mark.parametrize("alpha", [0, 1, -0.1, np.nan, "0.1"])
def test_levels_outside_0_1_are_refused(alpha):
    with pytest.raises(ValueError, match=r"alpha.*between 0 and 1"):
        Bounds.of(np.ones(3), alpha)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize("n_true", [0, 10, 30])
def test_bounds_hold_for_all_sets_together(alpha, n_true):
    """Oracle: how the data were made; a bound above the true number in any set is a violation.

    Sets are the first k by p-value, for all k, drawn ones, and all nulls: if the bound of any set
    is too large then that of the nulls is above 0.
    """
    rng = np.random.default_rng(n_true)
    true, runs = np.arange(60) < n_true, 4000
    broken = np.zeros((3, runs), np.bool_)
    for run in range(runs):
        p = np.where(true, rng.random(60) ** 10, rng.random(60))
        found, order = Bounds.of(p, alpha), np.argsort(p)
        broken[0, run] = (found.along(order) > np.cumsum(true[order])).any()
        drawn = [rng.choice(60, size, replace=False) for size in (1, 3, 10, 30)]
        broken[1, run] = any(found.at_least(some) > true[some].sum() for some in drawn)
        broken[2, run] = found.at_least(np.flatnonzero(~true)) > 0
    assert (broken[:2] <= broken[2]).all()
    assert broken.any(axis=0).mean() <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / runs)
    assert broken[2].mean() > alpha / 3  # bounds that never fail say nothing


def test_a_million_hypotheses_take_a_few_sorts(rng):
    """Law: time, in sorts of the same p-values by numpy, with room for a busy machine."""
    p, _ = mixed(rng, 10**6)
    sets = rng.integers(0, 10**6, (1000, 1000))

    def bound_all():
        found = Bounds.of(p, 0.1)
        for some in sets:
            found.at_least(some)

    def seconds(work):
        begin = perf_counter()
        work()
        return perf_counter() - begin

    one_sort = min(seconds(lambda: np.sort(p, kind="stable")) for _ in range(3))
    assert min(seconds(bound_all) for _ in range(3)) < 15 * one_sort
