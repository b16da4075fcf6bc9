"""Rates over trials, their intervals, and where power reaches a chance."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import beta, binom
from sklearn.isotonic import IsotonicRegression

from smrmr.power.account import FALSE, LAYERS, UNKNOWN, Cell, TableCheck
from smrmr.power.rates import Crossing, Rate, crossing_of, rate_of, rising
from smrmr.problems import Problem


@pytest.mark.parametrize("n", [1, 7, 60])
def test_answers_of_yes_or_no_have_the_interval_of_jeffreys(n):
    """Oracle: quantiles of scipy's beta; where all agree the interval ends at 0 or 1."""
    for yes in range(n + 1):
        found = rate_of(np.repeat([1.0, 0.0], [yes, n - yes]))
        low, high = beta.ppf([0.025, 0.975], yes + 0.5, n - yes + 0.5)
        assert (found.mean, found.n) == (yes / n, n)
        assert_allclose(found.low, low if yes else 0.0, rtol=1e-9)
        assert_allclose(found.high, high if yes < n else 1.0, rtol=1e-9)


def test_nothing_tried_tells_nothing():
    """Oracle: the whole unit interval."""
    assert rate_of(np.empty(0)) == Rate(0.5, 0.0, 1.0, 0)
    assert rate_of(np.empty(0)).half_width == 0.5


def test_shares_tell_more_than_answers_and_less_than_all_their_features():
    """Oracle: Jeffreys' intervals of as many answers as trials, and as features in them."""
    shares = np.random.default_rng(0).binomial(5, 0.4, 40) / 5
    mean, half = shares.mean(), rate_of(shares, 5).half_width
    ends = [beta.ppf([0.025, 0.975], mean * m + 0.5, (1 - mean) * m + 0.5) for m in (200, 40)]
    features, trials = [(high - low) / 2 for low, high in ends]
    assert features < half < trials
    assert rate_of(shares, 1).half_width == pytest.approx(trials)
    assert rate_of(shares, 3).half_width == pytest.approx(half, rel=0.3)


def drawn(n, size, mean, together, rng):
    """Shares found among `size` features of each trial, which correlate by `together`."""
    if together == 1:
        return (rng.random(n) < mean).astype(float)
    ends = (1 - together) / together if together else None
    chance = mean if ends is None else rng.beta(mean * ends, (1 - mean) * ends, n)
    return rng.binomial(size, chance, n) / size


@pytest.mark.parametrize("together", [0, 0.3, 1])
@pytest.mark.parametrize("mean", [0.05, 0.1, 0.5, 0.9])
def test_intervals_hold_the_mean(mean, together):
    """Oracle: the mean that shares were drawn with, also where a trial finds all or nothing.

    Coverage of Jeffreys' interval of 30 answers swings between 0.90 and 0.99 by their mean (binom).
    """
    rng, n, size = np.random.default_rng(8), 30, 5
    rates = [rate_of(drawn(n, size, mean, together, rng), size) for _ in range(600)]
    held = np.mean([rate.low <= mean <= rate.high for rate in rates])
    assert held > 0.9
    if together == 0:  # as they need not: several features are several answers
        one = np.mean([rate_of(drawn(n, 1, mean, 1, rng)).half_width for _ in range(200)])
        assert np.mean([rate.half_width for rate in rates]) < 0.8 * one


def test_the_rising_curve_is_that_of_isotonic_regression(rng):
    """Oracle: scikit-learn, with weights."""
    for size in (1, 2, 5, 12):
        means, weights = rng.random(size), rng.integers(1, 9, size).astype(float)
        expected = IsotonicRegression().fit(np.arange(size), means, weights).predict(range(size))
        assert_allclose(rising(means, weights), expected, atol=1e-12)
        several = np.stack([means, means[::-1]])
        assert_allclose(rising(several, weights)[0], expected, atol=1e-12)


def test_crossings_by_hand():
    """Oracle: straight lines on a log scale between means that were made to rise."""
    places = np.array([0.1, 0.2, 0.4])

    def at(*means, chance=0.8):
        return crossing_of(places, [np.full(4, mean) for mean in means], chance, [1] * 3)

    assert at(0.2, 0.5, 0.9).at == pytest.approx(0.2 * 2**0.75)
    assert at(0.2, 0.9, 0.5, chance=0.45).at == pytest.approx(0.1 * 2**0.5)  # 0.7 and 0.7
    assert at(0.0, 0.0, 0.79).at == np.inf
    first = at(0.8, 0.9, 1.0)
    assert (first.at, first.first, first.low) == (0.1, True, 0.1)
    assert not at(0.7, 0.9, 1.0).first
    last = at(0.1, 0.2, 0.8)
    assert (last.at, last.high) == (pytest.approx(0.4), np.inf)


def test_the_interval_of_a_crossing_holds_it():
    """Oracle: the place that a known curve of power crosses, 80% at 0.2."""
    rng, places, power = np.random.default_rng(3), np.array([0.1, 0.2, 0.4]), (0.5, 0.8, 0.95)
    found = [
        crossing_of(places, [rng.binomial(2, chance, 20) / 2 for chance in power], 0.8, [2] * 3)
        for _ in range(150)
    ]
    assert np.mean([one.low <= 0.2 <= one.high for one in found]) > 0.9
    assert all(one.low <= one.at <= one.high for one in found)
    assert np.median([one.high / one.low for one in found if np.isfinite(one.high)]) < 4


def table(nulls, planted, level=0.1, layer="signals"):
    """A check of which one layer had so many findings and false ones, others none."""
    outcomes = np.zeros((len(nulls) + len(planted), len(LAYERS), 4), np.intp)
    counts = [(0, 0, n, n) for n in nulls] + [(2, n - false, n, false) for n, false in planted]
    outcomes[:, LAYERS.index(layer)] = counts
    outcomes[len(nulls) :, LAYERS.index("associated"), FALSE] = UNKNOWN
    cell_of = np.repeat([0, 1], [len(nulls), len(planted)])
    cells = (Cell("", 0.0, 0, 50), Cell("line", 0.1, 2, 50))
    return TableCheck(level, "continuous", 9, cells, cell_of, outcomes, "fits", 1.0)


def test_rates_of_false_findings_by_hand():
    """Oracle: shares by hand; trials without findings have no false ones."""
    found = table([0, 0, 3, 1], [(2, 1), (0, 0), (4, 0), (1, 1)])
    assert (found.any_false().mean, found.any_false().n) == (0.5, 4)
    assert (found.attained_fdr().mean, found.attained_fdr().n) == (1.5 / 4, 4)
    assert found.power(1).mean == (1 + 0 + 4 + 0) / 8
    assert found.attained_fdr("associated").n == 0
    levels = found.levels().set_index("layer")
    assert np.isnan(levels["attained_fdr"]["associated"])
    assert_array_equal(levels["any_false"], [0.0, 0.5, 0.0, 0.0])
    assert levels["attained_fdr"]["signals"] == 1.5 / 4
    with pytest.raises(Problem, match="layer='all' is not known"):
        found.power(1, "all")
    with pytest.raises(Problem, match=r"no effect of form 'bend' was planted\. Use one of line"):
        found.smallest("bend")


@pytest.mark.parametrize("layer", LAYERS)
def test_a_level_that_fails_is_said_of_its_layer(layer):
    """Oracle: tails of the binomial: at 0.00625 a one-sided test of 20 trials needs 7 hits."""
    most = int(binom.isf(0.05 / 8, 20, 0.1))
    held, failed = ([1] * n + [0] * (20 - n) for n in (most, most + 1))
    assert (table(held, [], layer=layer).broken, most) == ((), 6)
    assert table(failed, [], layer=layer).broken == (layer,)
    if layer != "associated":  # of which nothing is false for certain where effects are planted
        all_false, none = [(1, 1)] * (most + 1), [(1, 0)] * (19 - most)
        assert table([], all_false + none, layer=layer).broken == (layer,)
        assert table([], all_false[1:] + none, layer=layer).broken == ()


def test_false_alarms_are_rare():
    """Oracle: 5% of checks whose trials are wrong as often as the level lets them, in all layers.

    A finding of a trial is right or wrong as a whole, which varies most.
    """
    rng, n_alarms, n_checks, n = np.random.default_rng(5), 0, 600, 20
    cells = (Cell("", 0.0, 0, 50), Cell("line", 0.1, 1, 50))
    cell_of = np.repeat([0, 1], n)
    for _ in range(n_checks):
        wrong = rng.random((2 * n, len(LAYERS))) < 0.1
        named = np.where(cell_of[:, None] == 0, wrong, 1)
        planted = np.broadcast_to(cell_of[:, None], wrong.shape)
        outcomes = np.stack([planted, planted & ~wrong, named, wrong], axis=2).astype(np.intp)
        found = TableCheck(0.1, "continuous", 9, cells, cell_of, outcomes, "fits", 1.0)
        n_alarms += bool(found.broken)
    assert n_alarms <= binom.isf(1e-4, n_checks, 0.05)


def test_a_place_without_trials_is_left_out():
    """Oracle: the crossing of the other places."""
    cells = tuple(Cell("line", share, 1, 50) for share in (0.1, 0.2, 0.4))
    outcomes = np.zeros((6, len(LAYERS), 4), np.intp)
    outcomes[:, 1, 0] = 1
    outcomes[3:, 1, 1] = 1
    cell_of = np.array([0, 0, 0, 2, 2, 2])
    found = TableCheck(0.1, "continuous", 9, cells, cell_of, outcomes, "time", 1.0)
    assert found.smallest().at == pytest.approx(0.1 * 4**0.8)
    assert found.tried("line") == [cells[0], cells[2]]
    assert found.tried("bend") == []
    none = TableCheck(0.1, "continuous", 9, cells, cell_of[:0], outcomes[:0], "time", 1.0)
    assert none.smallest() == Crossing(np.inf, np.inf, np.inf, False)
