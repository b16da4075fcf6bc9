"""Rates over trials and their intervals, crossings of curves, and when the level is in doubt."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import beta
from sklearn.isotonic import IsotonicRegression

from smrmr.power.account import LAYERS, UNKNOWN, Cell, SamplePlan, TableCheck, ratio_of, share_of
from smrmr.power.rates import crossing_of, rate_of, rising
from smrmr.problems import Problem

NOTHING = Cell("", 0.0, 0, 100)


def check_of(outcomes, cells, cell_of, level=0.1):
    """A check with these counts in the layer of signals; nothing in the others."""
    counts = np.zeros((len(cell_of), len(LAYERS), 4), np.intp)
    counts[:, LAYERS.index("signals")] = outcomes
    where = np.array(cell_of, np.intp)
    return TableCheck(level, "continuous", 50, tuple(cells), where, counts, "fits", 1.0)


@pytest.mark.parametrize(("hits", "n"), [(0, 12), (3, 12), (12, 12), (1, 60)])
def test_intervals_of_yes_and_no_are_those_of_jeffreys(hits, n):
    """Oracle: quantiles of the beta distribution in SciPy; no interval ends short of 0 of n."""
    found = rate_of(np.repeat([1.0, 0.0], [hits, n - hits]))
    law = beta(hits + 0.5, n - hits + 0.5)
    ends = (0.0 if hits == 0 else law.ppf(0.025), 1.0 if hits == n else law.ppf(0.975))
    assert (found.mean, found.n) == (hits / n, n)
    assert_allclose((found.low, found.high), ends, rtol=1e-9)
    assert found.half_width == pytest.approx((ends[1] - ends[0]) / 2)


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("size", [1, 5])
def test_intervals_of_shares_hold_the_mean_as_often_as_they_say(chance, size):
    """Oracle: 1,000 simulated checks of 20 fits, shares of five features that are alike in part."""
    rng = np.random.default_rng(size)
    held = 0
    for _ in range(1000):
        common = rng.beta(4 * chance, 4 * (1 - chance), 20)
        found = rate_of(rng.binomial(size, common) / size, size)
        held += found.low <= chance <= found.high
    assert 0.92 <= held / 1000 <= 0.995


def test_a_rate_without_trials_is_unknown():
    """Law: it may be anything."""
    nothing = rate_of(np.empty(0))
    assert (nothing.low, nothing.high, nothing.n) == (0.0, 1.0, 0)


def test_curves_that_do_not_fall_are_those_of_isotonic_regression():
    """Oracle: scikit-learn's, on random curves and weights."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        means, weights = rng.random(6), rng.integers(1, 9, 6).astype(float)
        other = IsotonicRegression().fit_transform(np.arange(6), means, sample_weight=weights)
        assert_allclose(rising(means, weights), other, atol=1e-12)


def test_power_reaches_a_chance_where_the_curve_does():
    """Oracle: interpolation by hand on a log scale; what is not reached is infinite."""
    places, at = np.array([0.05, 0.2, 0.8]), [0.2, 0.6, 1.0]
    shares = [np.full(40, mean) for mean in at]
    found = crossing_of(places, shares, 0.8, [1] * 3)
    assert found.at == pytest.approx(0.4)  # half way between 0.2 and 0.8
    assert 0.2 < found.low < 0.4 < found.high < 0.8
    assert crossing_of(places, shares, 0.1, [1] * 3).first
    never = crossing_of(places[:2], shares[:2], 0.8, [1, 1])
    assert (never.at, never.high, never.first) == (np.inf, np.inf, False)


def test_intervals_of_crossings_hold_the_true_one():
    """Oracle: 200 simulated checks of a known curve; 95% intervals, five effects a fit."""
    rng, places = np.random.default_rng(1), np.array([0.05, 0.1, 0.2, 0.4])
    power = np.array([0.1, 0.45, 0.9, 1.0])
    true = float(np.exp(np.interp(0.8, power, np.log(places))))
    held = 0
    for _ in range(200):
        shares = [rng.binomial(5, chance, 12) / 5 for chance in power]
        found = crossing_of(places, shares, 0.8, [5] * 4)
        held += found.low <= true <= found.high
    assert held >= 184


def test_rates_of_a_check_are_counts_of_its_trials():
    """Oracle: sums by hand. Shuffled targets count for any_false, planted effects for the FDR."""
    cells = (NOTHING, Cell("line", 0.1, 2, 100), Cell("pair", 0.2, 1, 100))
    outcomes = [(0, 0, 0, 0), (0, 0, 3, 3), (2, 1, 2, 1), (2, 2, 2, 0), (2, 0, 0, 0), (2, 2, 4, 2)]
    check = check_of(outcomes, cells, [0, 0, 1, 1, 1, 2])
    assert check.any_false().mean == 1 / 2
    assert check.power(1).mean == pytest.approx((0.5 + 1 + 0) / 3)
    assert check.attained_fdr().mean == pytest.approx((0.5 + 0 + 0 + 0.5) / 4)
    assert (check.attained_fdr().n, check.any_false().n, check.power(1).n) == (4, 2, 3)
    assert check.rate(0) == check.any_false()
    assert check.rate(2) == check.power(2, "pairs")
    unknown = np.array(check.outcomes)
    unknown[:, 1, 3] = UNKNOWN
    assert replace(check, outcomes=unknown).attained_fdr().n == 0
    frame = check.to_frame()
    assert frame["form"].tolist() == ["line"] * 3 + ["pair"] * 4
    assert frame.query("layer == 'signals'")["power"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("planted", [True, False])
def test_alarms_about_the_level_are_seldom_false(planted):
    """Oracle: 400 checks whose false findings come at the level; at most 5% raise an alarm."""
    rng, alarms = np.random.default_rng(2), 0
    cells = (NOTHING, Cell("line", 0.1, 1, 100))
    for _ in range(400):
        false = rng.random(40) < 0.1
        counts = np.column_stack([np.full(40, planted), np.zeros(40), false, false]).astype(int)
        alarms += bool(check_of(counts, cells, np.full(40, int(planted))).broken)
    assert alarms <= 20


def test_a_level_that_does_not_hold_raises_the_alarm():
    """Oracle: 30 shuffled targets of which 12 have findings, at level 0.1; 4 of them do not."""
    counts = [(0, 0, int(k < 12), int(k < 12)) for k in range(30)]
    assert check_of(counts, (NOTHING,), np.zeros(30, int)).broken == ("signals",)
    counts = [(0, 0, int(k < 4), int(k < 4)) for k in range(30)]
    assert check_of(counts, (NOTHING,), np.zeros(30, int)).broken == ()


@pytest.mark.parametrize(("target", "ratio"), [("classes", 1.8), ("survival", 2.5)])
def test_ratios_and_shares_are_inverse_and_known(target, ratio):
    """Oracle: for one effect log ratio squared over itself and the variance of the noise."""
    share = share_of(target, ratio, 1)
    noise = np.pi**2 / (3 if target == "classes" else 6)
    assert share == pytest.approx(np.log(ratio) ** 2 / (np.log(ratio) ** 2 + noise))
    assert ratio_of(target, share_of(target, ratio, 4), 4) == pytest.approx(ratio)


@pytest.mark.parametrize("kind", [TableCheck, SamplePlan])
def test_trials_come_back_from_json(kind):
    """Law: what is read is what was written; other texts are refused in a sentence."""
    cells = (NOTHING, Cell("bend", 0.3, 1, 100))
    given = check_of([(0, 0, 1, 1), (1, 1, 1, 0)], cells, [0, 1])
    known = {name: getattr(given, name) for name in TableCheck.__dataclass_fields__}
    known.pop("planted_on")
    written = kind(**known)
    read = kind.from_json(written.to_json())
    assert_array_equal(read.outcomes, written.outcomes)
    assert_array_equal(read.cell_of, written.cell_of)
    assert (read.cells, read.level, read.stopped) == (cells, 0.1, "fits")
    assert json.loads(read.to_json()) == json.loads(written.to_json())
    with pytest.raises(ValueError, match=f"this is no {kind.__name__}"):
        kind.from_json('{"level": 0.1}')


def test_what_was_not_planted_is_not_told():
    """Oracle: messages by hand."""
    check = check_of([(0, 0, 0, 0)], (NOTHING, Cell("line", 0.1, 1, 100)), [0])
    with pytest.raises(Problem, match=r"no effect of form 'pair' was planted\. Use one of line"):
        check.smallest("pair")
    with pytest.raises(Problem, match="layer"):
        check.power(1, "groups")
    assert np.isinf(check.smallest("line").at)  # planted in no fit so far
