"""Decisions from W: hand-worked tables, brute force, and what they promise under the null."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smrmr.paper import decide, false_discovery_bounds
from smrmr.paper.threshold import knockoff_threshold, q_values

importances = st.lists(st.integers(-6, 6).map(float), min_size=1, max_size=30)
levels = st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.3, 1 / 3, 0.4, 0.5, 0.75, 0.99])


def literal_threshold(W, fdr, plus=1):
    """Eq. (4.2) term by term, in exact arithmetic up to the level's own rounding."""
    for t in sorted({abs(w) for w in W} - {0.0}):
        if plus + sum(w <= -t for w in W) <= (fdr + 1e-12) * max(sum(w >= t for w in W), 1):
            return t
    return np.inf


@pytest.mark.parametrize(
    ("W", "fdr", "expected"),
    [
        ([5, 4, 3, 2, 1], 0.2, 1.0),
        ([5, 4, 3, 2], 0.2, np.inf),
        ([5, 4, 3, -2, 1], 0.5, 1.0),  # (1 + 1) / 4
        ([5, 4, 3, -2, 1], 0.4, 3.0),  # 1 / 3; at 1 it would be 2 / 4
        ([3, 3, 3, -3], 0.5, np.inf),  # ties with a negative: 2 / 3
        ([0, 0, 0], 0.5, np.inf),
        ([-1, -2], 0.9, np.inf),
        ([], 0.5, np.inf),
        ([2, 2, 2, 2, -1, 0], 0.25, 2.0),
    ],
)
def test_threshold_by_hand(W, fdr, expected):
    assert knockoff_threshold(W, fdr) == expected


@given(importances, levels)
def test_threshold_is_the_literal_one(W, fdr):
    assert knockoff_threshold(W, fdr) == literal_threshold(W, fdr)


@given(importances, levels, levels)
def test_selection_grows_with_the_level(W, a, b):
    small, large = sorted((a, b))
    assert knockoff_threshold(W, large) <= knockoff_threshold(W, small)


@given(importances, levels)
def test_q_values_select_what_the_threshold_selects(W, fdr):
    """Law: q <= level and W >= T(level) are one set, below level 1."""
    q = q_values(W)
    chosen = np.array(W) >= literal_threshold(W, fdr)
    assert ((q <= fdr + 1e-12) == chosen).all()
    assert ((q <= 1) & (q >= 0)).all()
    assert (q[np.array(W) <= 0] == 1).all()


def test_levels_that_are_equal_up_to_rounding_select_alike():
    W = [5.0, 4.0, 3.0, 2.0, 1.0, -1.0]  # 2 / 5
    assert 0.3 + 0.05 + 0.05 != 0.4
    assert knockoff_threshold(W, 0.3 + 0.05 + 0.05) == knockoff_threshold(W, 0.4) == 1.0
    assert knockoff_threshold([3.0, 2.0, 1.0], 1 - 2 / 3) == 1.0  # 0.33333333333333337


@pytest.mark.parametrize(
    ("W", "fdr", "level", "rule", "selected"),
    [
        ([3, 2, 1], 0.4, 0.4, "knockoff+", [0, 1, 2]),
        ([3, 2, 1], 0.2, 0.35, "relaxed", [0, 1, 2]),
        ([1, 2, -1.5], 0.3, 1.0, "relaxed", [1, 0]),
        ([1, -2, -3], 0.3, 1.0, "best feature", [0]),
        ([2, 2, -3, -3], 0.3, 1.0, "best feature", [1]),  # ties by relevance
        ([0, 0, -1, -1], 0.97, 1.0, "best feature", [1]),
    ],
)
def test_relaxed_rule_by_hand(W, fdr, level, rule, selected):
    decision = decide(W, fdr, on_empty="relax", relevance=np.arange(len(W)) % 2)
    assert (decision.level, decision.rule) == (level, rule)
    assert decision.selected.tolist() == selected


@given(importances, levels)
def test_relaxed_rule_tries_each_level_and_never_ends_empty(W, fdr):
    decision = decide(W, fdr, on_empty="relax")
    strict = decide(W, fdr)
    tried = fdr
    while literal_threshold(W, tried) == np.inf and tried < 1:
        tried = min(round(fdr + 0.05 * round((tried - fdr) / 0.05 + 1), 10), 1.0)
    assert decision.level == pytest.approx(tried, abs=1e-9)
    assert decision.selected.size > 0
    if strict.selected.size:
        assert decision.rule == strict.rule


@given(importances, levels)
def test_an_empty_answer_says_what_would_not_be_empty(W, fdr):
    decision = decide(W, fdr)
    assert decision.rule == "knockoff+"
    assert decision.n_needed == min(m for m in range(1, 100) if 1 / m <= fdr + 1e-12)
    assert decision.selected.size in (0, *range(decision.n_needed, len(W) + 1))
    level = decision.smallest_level
    if level == np.inf:
        assert literal_threshold(W, 0.999) == np.inf
    else:
        assert decide(W, level).selected.size
        assert not decide(W, level * 0.999).selected.size


@given(importances, levels)
def test_equal_draws_at_their_own_level_are_knockoff_plus(W, fdr):
    """Law: with equal draws and inner level = level, e-BH selects what the threshold selects."""
    result = decide([W, W], fdr, inner_fdr=fdr)
    assert set(result.selected) == set(decide(W, fdr).selected)


def literal_e_values(draws, fdr, inner):
    p = len(draws[0])
    e = np.zeros(p)
    for W in draws:
        t = literal_threshold(W, inner)
        for k in range(p):
            e[k] += p * (W[k] >= t) / (1 + sum(w <= -t for w in W)) / len(draws)
    best = max(
        (m for m in range(1, p + 1) if sum(e >= p / (fdr * m) * (1 - 1e-12)) >= m), default=0
    )
    return e, {k for k in range(p) if best and e[k] >= p / (fdr * best) * (1 - 1e-12)}


@given(st.integers(0, 10**6), st.integers(2, 6), levels)
def test_e_values_are_the_literal_ones(seed, n_draws, fdr):
    rng = np.random.default_rng(seed)
    draws = np.round(rng.normal(1, 2, size=(n_draws, 12)))
    result = decide(draws, fdr)
    e, selected = literal_e_values(draws.tolist(), fdr, fdr / 2)
    np.testing.assert_allclose(result.scores, e, rtol=1e-12)
    assert set(result.selected) == selected
    assert set(np.flatnonzero(result.scores >= result.threshold)) == selected
    assert set(np.flatnonzero(result.q_values <= fdr + 1e-12)) == selected
    cuts = [literal_threshold(W, fdr / 2) for W in draws.tolist()]
    np.testing.assert_allclose(
        result.frequency, np.mean(draws >= np.array(cuts)[:, None], axis=0), rtol=1e-12
    )


def coin_flips(rng, p):
    return rng.random(p) * rng.choice([-1, 1], size=p)


@pytest.mark.parametrize("fdr", [0.1, 0.3])
def test_global_null_keeps_the_level(fdr):
    """Closed form: with fair signs and no signal the FDR is the chance of any selection."""
    rng = np.random.default_rng(1)
    single = np.array([decide(coin_flips(rng, 40), fdr).selected.size > 0 for _ in range(2000)])
    many = np.array(
        [
            decide([coin_flips(rng, 40) for _ in range(5)], fdr, inner_fdr=fdr).selected.size > 0
            for _ in range(400)
        ]
    )
    for empirical in (single, many):
        assert empirical.mean() <= fdr + 3 * np.sqrt(fdr * (1 - fdr) / len(empirical))


def test_plain_knockoff_does_not_keep_the_level():
    """The leading 1 matters: without it nearly every null data set yields a selection."""
    rng = np.random.default_rng(1)
    found = [literal_threshold(coin_flips(rng, 40), 0.1, plus=0) < np.inf for _ in range(300)]
    assert np.mean(found) > 0.3


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_bounds_hold_for_all_prefixes_together(confidence):
    """Null signs are coins: the true count of false features exceeds a bound rarely enough."""
    rng = np.random.default_rng(2)
    broken = []
    for _ in range(1500):
        W = np.concatenate([coin_flips(rng, 60), rng.random(10) + 0.3])
        null = np.arange(70) < 60
        order = np.argsort(-W)[: np.count_nonzero(W > 0)]
        bounds = false_discovery_bounds(W, confidence=confidence)
        broken.append((np.cumsum(null[order]) > bounds).any())
    miss = 1 - confidence
    assert np.mean(broken) <= miss + 3 * np.sqrt(miss * confidence / 1500)
    assert np.mean(broken) > miss / 20  # bounds that never fail say nothing


def test_bounds_by_hand():
    """The factor is log 20 / log 1.95 = 4.486; one more feature adds at most one false one."""
    W = np.array([9.0, 8, 7, 6, 5, 4, -3.5, 3, 2])
    assert false_discovery_bounds(W).tolist() == [1, 2, 3, 4, 4, 4, 5, 6]
    assert false_discovery_bounds(-W[:3]).tolist() == []


@pytest.mark.parametrize("fdr", [0, 1, -0.1, 1.5, np.nan, "0.3"])
def test_levels_outside_0_1_are_refused(fdr):
    for call in (knockoff_threshold, decide):
        with pytest.raises(ValueError, match="between 0 and 1"):
            call([1.0], fdr)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="missing or infinite"):
        knockoff_threshold([1.0, np.nan], 0.2)
    with pytest.raises(ValueError, match=r"shape \(1, 2\)"):
        q_values([[1.0, 2.0]])
    with pytest.raises(ValueError, match="'none' or 'relax'"):
        decide([1.0], 0.2, on_empty="best")
    with pytest.raises(ValueError, match=r"One importance per feature .* one row of them per draw"):
        decide(np.ones((2, 2, 2)), 0.2)
    with pytest.raises(ValueError, match="over several draws do not allow"):
        decide(np.ones((2, 3)), 0.2, on_empty="relax")
