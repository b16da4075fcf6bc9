"""From p-values to a selection: literal loops are the oracles."""

from __future__ import annotations

import numpy as np
import pytest

import oracles
from smrmr.conditional.rules import RULES, as_rule, decide_by_rule


def holm(p):
    """Literal: the smallest level at which step-down rejection gets as far as each p-value."""
    q, so_far = np.empty(len(p)), 0.0
    for step, k in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        so_far = max(so_far, (len(p) - step) * p[k])
        q[k] = min(so_far, 1.0)
    return q


ORACLES = {
    "bh": lambda p: oracles.smallest_levels(p, "bh"),
    "by": lambda p: oracles.smallest_levels(p, "by"),
    "holm": holm,
}


def draw(rng, m):
    """p-values of all sizes, with ties and ones."""
    return np.clip(np.round(rng.random(m) ** rng.integers(1, 6), int(rng.integers(2, 9))), 1e-9, 1)


@pytest.mark.parametrize("rule", RULES)
def test_q_values_are_those_of_the_oracle(rule, rng):
    """Oracle: loops."""
    for m in (1, 2, 7, 50, 400):
        p = draw(rng, m)
        np.testing.assert_allclose(
            as_rule(rule).adjust(p, np.full(m, -1)), ORACLES[rule](p), rtol=1e-12
        )


@pytest.mark.parametrize("rule", RULES)
def test_decisions_are_those_of_the_q_values(rule, rng):
    """Law: selected are the q-values at or below the level, smallest p first."""
    for _ in range(50):
        p, relevance = draw(rng, 60), rng.random(60)
        found = decide_by_rule(as_rule(rule), p, np.full(60, -1), 0.2, "none", relevance)
        q = ORACLES[rule](p)
        assert set(found.selected.tolist()) == set(np.flatnonzero(q <= 0.2).tolist())
        assert (np.diff(p[found.selected]) >= 0).all()
        assert found.rule == rule
        assert found.threshold == (-np.log10(p[found.selected])).min(initial=np.inf)


@pytest.mark.parametrize("rule", RULES)
def test_a_single_small_p_value_is_selected_from_the_bound_on(rule):
    """Oracle: deciding just above and just below it."""
    bound = as_rule(rule).largest_alone(40, 0.1)
    for factor, n in ((0.999, 1), (1.001, 0)):
        p = np.ones(40)
        p[3] = factor * bound
        found = decide_by_rule(as_rule(rule), p, np.full(40, -1), 0.1, "none", np.zeros(40))
        assert found.selected.size == n


def test_relaxed_decisions_raise_the_level_and_end_with_the_best_feature():
    """Oracle: worked by hand. q-values of three p-values of 0.3 among three are 0.3."""
    relaxed = decide_by_rule(
        as_rule("bh"), np.array([0.3, 0.3, 0.3]), np.full(3, -1), 0.1, "relax", np.zeros(3)
    )
    assert (relaxed.rule, relaxed.level, len(relaxed.selected)) == ("relaxed", 0.3, 3)
    assert not relaxed.guaranteed
    hopeless = decide_by_rule(
        as_rule("by"), np.array([1.0, 0.9, 1.0]), np.full(3, -1), 0.1, "relax", np.zeros(3)
    )
    assert (hopeless.rule, hopeless.selected.tolist()) == ("best feature", [1])
