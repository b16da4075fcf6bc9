"""Features that matter only together: the statistic, products in fits, pairs and partners."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from smrmr import ConditionalTests, Recipe, select, simulate
from smrmr.conditional import FitProblem, Interaction, Lasso
from smrmr.conditional.distillers import Distillation
from smrmr.conditional.feature_pairs import FeaturePairs, pair_up
from smrmr.conditional.marginal import marginal_tests
from smrmr.conditional.preparing import prepare_inputs
from smrmr.conditional.products import find_products
from smrmr.conditional.rules import BenjaminiHochberg, BenjaminiYekutieli, Holm
from smrmr.conditional.statistics import (
    Interactions,
    PartnerProducts,
    as_statistics,
    partner_scores,
)
from smrmr.conditional.strongest import strongest
from smrmr.data.study import read_study
from smrmr.features.groups import find_groups
from smrmr.features.rank_table import RankTable
from smrmr.problems import Problem
from smrmr.runs.work import Work


def standard(values):
    values = values - values.mean(axis=-1, keepdims=True)
    return values / values.std(axis=-1, keepdims=True)


def inputs_of(X, y, cuts=(1.0,), **given):
    study, work = read_study(X, y, **given), Work(n_jobs=1)
    ranks = RankTable.of(study.columns, work, keep=True)
    groups = find_groups(ranks, True, cuts)
    statistics = as_statistics("linear+interaction")
    alone = marginal_tests(study, ranks, groups.copies, statistics, work)
    return prepare_inputs(study, ranks, groups, alone, statistics, work)


# -- the statistic


def test_scores_of_partners_are_between_values_and_signs():
    """Oracle: the formula, by scipy's normal distribution."""
    z = np.linspace(-4, 4, 41)
    expected = np.sign(z) * np.sqrt(2 * stats.norm.cdf(np.abs(z)) - 1)
    assert_allclose(partner_scores(z[None], np.float64)[0], expected, atol=1e-12)
    assert_allclose(partner_scores(z[None], np.float32)[0], expected, atol=1e-6)


@pytest.mark.parametrize("q", [1, 3])
def test_p_values_are_those_of_regressions_on_products(q, rng):
    """Oracle: an F test of r on products e g(z) by least squares, partner by partner."""
    n, m = 40, 6
    E, g, R = rng.normal(size=(q, n)), rng.normal(size=(m, n)), standard(rng.normal(size=(5, n)))
    partners, hypothesis_of = np.arange(10, 10 + m), np.array([0, 1, 2, 2, 3, -1])
    products = PartnerProducts.of(E, g, partners)
    mine = np.array([0, 2, 7, 8, 9])
    found = products.compare(R, mine, hypothesis_of, np.full(5, 4), m)
    for k in range(5):
        expected = {}
        for j in np.flatnonzero(hypothesis_of != mine[k]):
            design = np.column_stack([np.ones(n), ((E - E.mean(axis=1)[:, None]) * g[j]).T])
            left = R[k] - design @ np.linalg.lstsq(design, R[k], rcond=None)[0]
            share = 1 - left @ left / (R[k] @ R[k])
            F = share / q / ((1 - share) / (n - 1 - q))
            expected[10 + j] = stats.f.sf(F, q, n - 1 - q)
        by_size = sorted(expected, key=expected.get)
        listed = found.partners[k][found.partners[k] >= 0]
        assert listed.tolist() == by_size
        assert_allclose(found.p_of_partners[k, : len(listed)], [expected[j] for j in by_size])
        assert_allclose(found.p[k], 1 - (1 - min(expected.values())) ** 4)


def test_the_sign_says_how_both_act_together(rng):
    """Oracle: the sign of the product that y is made of."""
    a, b = standard(rng.normal(size=(2, 200)))
    for sign in (1.0, -1.0):
        products = PartnerProducts.of(sign * a[None] * b, b[None], np.zeros(1, int))
        found = products.compare(a[None], *np.array([[0], [1], [1]]), 1)
        assert np.sign(found.effects[0, 0]) == sign


def test_unequal_spread_is_allowed_for(rng):
    """Oracle: uniform p-values, of r that is wide just where e g(z) is."""
    n, draws = 200, 2000
    wide = np.exp(rng.normal(size=n))
    g = standard(np.sign(rng.normal(size=n)) * wide)
    products = PartnerProducts.of(1 + rng.normal(size=(1, n)), g[None], np.zeros(1, int))
    R = rng.normal(size=(draws, n)) * wide
    R -= R.mean(axis=1, keepdims=True)
    found = products.compare(R, np.ones(draws, int), np.zeros(1, int), np.ones(draws, int), 1)
    robust = products.robust(R, found)
    assert np.mean(found.p < 0.01) > 0.03
    assert np.mean(robust.p < 0.01) < 0.02


def test_no_partner_no_interaction():
    """By hand."""
    products = PartnerProducts.of(np.ones((1, 9)), np.empty((0, 9)), np.empty(0, int))
    found = products.compare(np.eye(9)[:2], np.arange(2), np.empty(0, int), np.ones(2, int), 5)
    assert_allclose(found.p, 1.0)
    assert (found.partners == -1).all()


def test_strongest_values_of_each_row(rng):
    """Oracle: sorting."""
    values = rng.normal(size=(7, 30))
    mine, hypothesis_of = np.arange(7), np.arange(30) % 9
    found = strongest(values, mine, hypothesis_of, 0.5, 4)
    for k in range(7):
        sizes = np.where(hypothesis_of == k, 0.0, np.abs(values[k]))
        order = np.argsort(-sizes)[:4]
        expected = [j if sizes[j] > 0.5 else -1 for j in order]
        assert found[k].tolist() == expected


def test_lots_of_different_width_are_joined():
    """Oracle: p-values of the lots; what is missing counts as no partner."""
    wide = Interactions(np.array([[4, 5]]), np.array([[0.2, 0.6]]), np.ones((1, 2)), np.array([9]))
    narrow = Interactions(np.array([[7]]), np.array([[0.1]]), -np.ones((1, 1)), np.array([3]))
    joined = Interactions.joined([narrow, wide])
    assert joined.partners.tolist() == [[7, -1], [4, 5]]
    assert_allclose(joined.p, [1 - 0.9**3, 1 - 0.8**9])
    assert_allclose(joined.effects, [[-1, 0], [1, 1]])


# -- products in fits of the target


def test_products_that_matter_are_found(rng):
    """Oracle: the products that y is made of."""
    Z = standard(rng.normal(size=(40, 150)))
    y = standard(Z[3] * Z[17] - Z[5] * Z[30] + 0.5 * rng.normal(size=150))
    found = find_products(Z, y[None])
    assert {tuple(pair) for pair in found.tolist()} == {(3, 17), (5, 30)}
    Y = np.stack([y > 0, y < -0.5]).astype(float)
    several = find_products(Z, standard(Y))
    assert {tuple(pair) for pair in several.tolist()} == {(3, 17), (5, 30)}


def test_no_product_is_found_in_noise(rng):
    """Oracle: the level of all products together; a square is no product of two."""
    n_found = 0
    for _ in range(40):
        Z, y = standard(rng.normal(size=(30, 80))), standard(rng.normal(size=(1, 80)))
        n_found += len(find_products(Z, y)) > 0
    assert n_found <= 6
    Z[1] = standard(Z[0] + 0.3 * Z[1])
    assert (0, 1) not in {tuple(pair) for pair in find_products(Z, standard(Z[:1] ** 2)).tolist()}


def test_products_without_a_feature_are_the_same_whatever_it_holds(rng):
    """Law: a product is found by its two features and the target alone."""
    Z = standard(rng.normal(size=(30, 120)))
    y = standard(Z[3] * Z[17] + Z[5] * Z[20] + 0.5 * rng.normal(size=120))[None]
    other = Z.copy()
    other[5] = standard(y[0] + 0.1 * rng.normal(size=120))
    found = [find_products(one, y) for one in (Z, other)]
    without = [{tuple(pair) for pair in one.tolist() if 5 not in pair} for one in found]
    assert without[0] == without[1] == {(3, 17)}
    assert (5, 20) in {tuple(pair) for pair in found[0].tolist()}


def test_products_leave_with_either_feature(rng):
    """Law: a fit without a feature is the same whatever that feature holds, in products too."""
    X = rng.normal(size=(150, 12))
    y = X[:, 2] * X[:, 7] + X[:, 4] * X[:, 9] + 0.3 * rng.normal(size=150)
    residuals = []
    for column in (X[:, 2], X[:, 2] + rng.normal(size=150)):
        changed = X.copy()
        changed[:, 2] = column
        inputs = inputs_of(changed, y)
        own = np.flatnonzero(inputs.features[inputs.feature_of] == 2)
        own = own[own >= len(inputs.products)]
        order = read_order(inputs, y)
        fit = Distillation.of(inputs.problems, (Lasso(),)).without(inputs.with_products(own))
        residuals.append(fit.residuals[0][order])
        used = inputs.features[inputs.feature_of[inputs.behind(fit.used)]]
        assert 2 not in used
        assert {4, 9} <= set(used.tolist())
    assert_allclose(residuals[0], residuals[1], atol=2e-5)


def read_order(inputs, y):
    """Rows of the data by rows of the inputs, which are ordered by y."""
    return np.argsort(np.argsort(y))


def test_behind_a_product_are_its_features(rng):
    """By hand."""
    X = rng.normal(size=(150, 8))
    inputs = inputs_of(X, X[:, 2] * X[:, 7] + 0.2 * rng.normal(size=150))
    assert len(inputs.products) == 2
    a, b = inputs.products[0]
    assert_array_equal(inputs.products[1], [a, b])
    assert {int(inputs.features[inputs.feature_of[row]]) for row in (a, b)} == {2, 7}
    assert inputs.behind(np.array([0, b])).tolist() == sorted([a, b])
    assert inputs.with_products(np.array([a])).tolist() == [0, 1, a]
    other = next(row for row in range(2, 10) if row not in (a, b))
    assert inputs.with_products(np.array([other])).tolist() == [other]
    expected = standard(inputs.Z[a] * inputs.Z[b])
    assert_allclose(inputs.Z[0], expected, atol=1e-10)
    scored = partner_scores(inputs.Z[[a, b]], np.float64).prod(axis=0)
    assert_allclose(inputs.Z[1], standard(scored), atol=1e-10)
    assert (inputs.hypotheses[0][:2] == -1).all()


def test_without_partners_there_are_no_products(rng):
    """Law: with no partners the answer is that of the other statistics."""
    data = simulate("products", 150, 40, random_state=2)
    assert len(inputs_of(data.X, data.y).products) > 0
    assert len(inputs_of(data.X, data.y, partners="none").products) == 0
    others = "pc+linear+spread+absolute+joint+joint_absolute"
    without = select(data.X, data.y, Recipe(partners="none"))
    expected = select(data.X, data.y, Recipe(control=ConditionalTests(statistics=others)))
    assert_array_equal(without.p_values, expected.p_values)


def test_a_column_that_copies_a_product_is_no_finding():
    """Oracle: y has the product of 0 and 1, of which 2 is a noisy copy."""
    false, true = 0, 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 30))
        X[:, 2] = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=200)
        y = X[:, 0] + X[:, 1] + X[:, 0] * X[:, 1] + rng.normal(size=200)
        found = select(X, y, Recipe(alike=None)).selected
        false += 2 in found
        true += {0, 1} <= set(found.tolist())
    assert false <= 1
    assert true == 5


# -- pairs


def test_a_pair_needs_both_sides():
    """By hand: p-values of either side as the partner of the other; covariate 5 has one side."""
    is_tested = np.array([True, True, True, True, True, False])
    features = np.array([0, 1, 0, 2, 3])
    partners = np.array([1, 0, 2, 5, 4])
    p = np.array([1e-6, 1e-4, 1e-3, 1e-5, 1e-9])
    found = pair_up(features, partners, p, np.arange(5.0), is_tested, np.ones(6, bool))
    assert found.features.tolist() == [[2, 5], [0, 1]]
    assert found.p_values.tolist() == [1e-5, 1e-4]
    assert found.effects.tolist() == [3.0, 0.0]
    assert found.n_tested == 5 * 4 // 2 + 5


@pytest.mark.parametrize("rule", [BenjaminiHochberg(), BenjaminiYekutieli(), Holm()])
def test_q_values_of_pairs_are_those_of_all_pairs(rule, rng):
    """Oracle: the rule on all p-values, of which those not listed are 1."""
    p = np.sort(rng.random(6) ** 6)
    pairs = FeaturePairs(np.zeros((6, 2), int), p, np.zeros(6), 40)
    expected = rule.adjust(np.concatenate([p, np.ones(34)]), np.full(40, -1))[:6]
    found = pairs.q_values(rule)
    if rule.error_rate == "FDR":
        assert_allclose(found, expected)
    else:
        assert (found >= expected - 1e-12).all()


@pytest.mark.parametrize("design", ["products", "xor", "xor classes", "lines and product"])
def test_features_that_matter_only_together_are_found(design):
    """Oracle: the design."""
    data = simulate(design, 200, 100, random_state=1)
    found = select(data.X, data.y, Recipe(target=data.target))
    assert set(data.support.tolist()) <= set(found.selected.tolist())
    pairs = found.evidence.pairs
    q = pairs.q_values(found.evidence.rule)
    named = {tuple(sorted(pair)) for pair in pairs.features[q <= 0.1].tolist()}
    expected = {"products": {(0, 10), (20, 30)}, "lines and product": {(20, 30)}}
    assert expected.get(design, {(0, 10)}) <= named
    without = select(data.X, data.y, Recipe(target=data.target, control="tests(statistics=linear)"))
    hidden = set(np.ravel([*expected.get(design, {(0, 10)})]).tolist())
    assert not hidden <= set(without.selected.tolist())


def test_features_act_together_with_covariates(rng):
    """Oracle: the effect of feature 3 has the sign of the treatment, which is a covariate."""
    X, treated = rng.normal(size=(200, 60)), rng.integers(0, 2, 200)
    y = X[:, 3] * (2 * treated - 1) + treated + rng.normal(size=200)
    covariates = {"age": rng.normal(size=200), "treated": treated}
    for partners, n_pairs in (("treated", 60), ("all", 60 * 59 // 2 + 120), (["treated", 5], 119)):
        found = select(X, y, Recipe(partners=partners, alike=None), covariates=covariates)
        assert 3 in found.selected
        assert found.evidence.pairs.features[0].tolist() == [3, 61]
        assert found.evidence.pairs.n_tested == n_pairs
    none = select(X, y, Recipe(partners="none", alike=None), covariates=covariates)
    assert 3 not in none.selected
    assert none.evidence.pairs.n_tested == 0
    assert (none.evidence.p_of_interaction == 1).all()


def test_unknown_partners_are_refused(rng):
    with pytest.raises(Problem, match="partners"):
        read_study(rng.normal(size=(30, 4)), rng.normal(size=30), partners=["sex"])


def test_look_alikes_count_once_as_partners(rng):
    """Oracle: the number of features and of their groups."""
    X = rng.normal(size=(100, 20))
    X[:, 10:] = X[:, :10] + 0.1 * X[:, 10:]
    y = rng.normal(size=100)
    assert len(inputs_of(X, y).partners) == 20
    assert len(inputs_of(X, y, cuts=(1.0, 0.9)).partners) == 10
    assert len(inputs_of(X, y, cuts=(1.0, 0.5)).partners) == 20


def test_features_without_partners_have_the_p_value_of_other_statistics(rng):
    """Oracle: the same tests without partners, where no feature is outside a hypothesis."""
    X, y = rng.normal(size=(80, 6)), rng.normal(size=80)
    one_group = {"feature_groups": ["a"] * 6}
    for columns, settings in ((X[:, :1], {}), (X, one_group), (X, {"partners": [3]})):
        found = select(columns, y, Recipe(**settings))
        expected = select(columns, y, Recipe(**settings | {"partners": "none"}))
        alone = [3] if "partners" in settings else slice(None)
        assert_allclose(found.p_values[alone], expected.p_values[alone], rtol=1e-9)
        assert (found.evidence.p_of_interaction[alone] == 1).all()


def test_interactions_alone_can_be_asked_for(rng):
    """Oracle: y has a line and a product; the statistic sees the product."""
    X = rng.normal(size=(200, 30))
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=200)
    control = ConditionalTests(statistics=[Interaction()])
    found = select(X, y, Recipe(control=control, alike=None))
    assert {0, 1} <= set(found.selected.tolist())
    assert 2 not in found.selected


def test_null_p_values_are_uniform():
    """Law: over data sets of noise, with numbers and with four classes."""
    for draw in (lambda rng: rng.normal(size=120), lambda rng: rng.permutation(np.arange(120) % 4)):
        small = []
        for seed in range(12):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(120, 60)), draw(rng)
            target = "continuous" if len(np.unique(y)) > 4 else "classes"
            found = select(X, y, Recipe(alike=None, target=target))
            small.append(np.mean(found.evidence.p_of_interaction <= 0.05))
        error = np.std(small) / np.sqrt(len(small))
        assert abs(np.mean(small) - 0.05) < 4 * error


def test_partners_do_not_depend_on_the_order_of_columns(rng):
    """Law: columns in another order, the same pairs."""
    data = simulate("products", 150, 40, random_state=3)
    order = rng.permutation(40)
    found = select(data.X, data.y).evidence.pairs
    moved = select(data.X[:, order], data.y).evidence.pairs
    assert_array_equal(order[moved.features], found.features)
    assert_allclose(moved.p_values, found.p_values, rtol=1e-6)


def test_fits_hold_products_only_where_they_are_asked_for(rng):
    """By hand: a problem from arrays has none."""
    X = rng.normal(size=(60, 5))
    assert FitProblem.of(X, X[:, 0] * X[:, 1]).n_products == 0
