"""Statistics of all columns of the target together, and of features of few values."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import smrmr.conditional.statistics.tied as tied_module
from smrmr.conditional import Joint, JointAbsolute, Linear, ResidualPairs
from smrmr.conditional.residuals import Neighbours, residuals_of
from smrmr.conditional.scores import draw_tie_breakers, standardised
from smrmr.conditional.statistics import joint_gcm_p_values
from smrmr.conditional.statistics.tied import tied_p_values


def pairs_of(Z, near, E, covariate_basis=None):
    """Residuals of the first rows of Z, which fit into one block, beside those of E."""
    n = Z.shape[1]
    basis = np.empty((0, n)) if covariate_basis is None else covariate_basis
    rows = np.arange(len(near.linear))
    blocks = [found for _, found in residuals_of(Z, rows, near, E, [basis] * len(rows))]
    assert len(blocks) == 1
    return next(blocks[0].pairs(draw_tie_breakers(n)))


def pairs_alone(r, E):
    """Centred residuals of k features beside q columns, (q, n) or (q, k, n); none is adjusted."""
    r, E = (values - values.mean(axis=-1, keepdims=True) for values in (r, E))
    E = np.repeat(E[:, None], len(r), axis=1) if E.ndim == 2 else E
    rank, order = np.zeros(len(r), np.intp), np.argsort(r, axis=1)
    _, breaker = draw_tie_breakers(r.shape[1])
    return ResidualPairs(r, E, rank, order, breaker, 0, np.zeros_like(r))


def adjusted(rng, n=70, q=3):
    """A feature adjusted for two others and three covariates; columns that depend on it."""
    Z = standardised(rng.standard_normal((8, n)))
    Z[0] = standardised((Z[1] + Z[2] + rng.standard_normal(n))[None])[0]
    E = rng.standard_normal((q, n)) + 0.3 * Z[0]
    E -= E.mean(axis=1, keepdims=True)
    basis = np.linalg.qr(standardised(np.concatenate([rng.standard_normal((3, n)), Z[1:3]])).T)[0].T
    return Z, E, basis, pairs_of(Z, Neighbours.none(1), E, basis)


def residual_squares(design, y):
    return np.sum((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2)


def test_joint_is_the_f_test_of_a_regression(rng):
    """Oracle: regressions of a feature on all it is adjusted for, with and without the target."""
    Z, E, basis, pairs = adjusted(rng)
    smaller = np.vstack([np.ones(70), basis]).T
    without, left = residual_squares(smaller, Z[0]), 70 - 6 - 3
    with_target = residual_squares(np.c_[smaller, E.T], Z[0])
    f = (without - with_target) / 3 / (with_target / left)
    assert Joint().p_values(pairs)[0] == pytest.approx(stats.f.sf(f, 3, left), rel=1e-9)


def test_columns_that_are_alike_count_once(rng):
    """Oracle: Student's t of the one column that there is."""
    Z, E, basis, _ = adjusted(rng, q=1)
    near = Neighbours.none(1)
    alone = Linear().p_values(pairs_of(Z, near, E, basis))
    for other in (E, -3 * E):
        p = Joint().p_values(pairs_of(Z, near, np.concatenate([E, other]), basis))
        assert_allclose(p, alone, rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_classes_are_compared_by_an_analysis_of_variance(n_classes, rng):
    """Oracle: scipy's analysis of variance, in which K classes have K - 1 degrees of freedom."""
    labels = np.r_[np.arange(n_classes), rng.integers(0, n_classes, 80 - n_classes)]
    r = rng.standard_normal((4, 80)) + np.outer([0, 0, 0.5, 1], labels)
    pairs = pairs_alone(r, (labels == np.arange(n_classes)[:, None]) * 1.0)
    sizes = np.abs(r - r.mean(axis=1, keepdims=True))
    scores = stats.norm.ppf((stats.rankdata(sizes, axis=1) - 0.5) / 80)
    for statistic, values in ((Joint(), r), (JointAbsolute(), scores)):
        expected = [
            stats.f_oneway(*(row[labels == c] for c in range(n_classes))).pvalue for row in values
        ]
        assert_allclose(statistic.p_values(pairs), expected, rtol=1e-6)


def test_joint_gcm_is_hotellings_test(rng):
    """Oracle: Hotelling's T squared of products of residuals, written out.

    Of 70 rows five dimensions and the constant are gone.
    """
    _, _, _, pairs = adjusted(rng)
    products = pairs.targets[:, 0] * pairs.features[0]
    mean, cov = products.mean(axis=1), np.cov(products)
    t_squared = 70 * mean @ np.linalg.solve(cov, mean)
    left = 70 - 1 - 5
    expected = stats.f.sf(t_squared * (left - 3) / (3 * left), 3, left - 3)
    assert joint_gcm_p_values(pairs)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("test", [Joint().p_values, JointAbsolute().p_values, joint_gcm_p_values])
def test_joint_tests_are_uniform_where_rows_are_permuted(test, rng):
    """Oracle: the uniform law, of columns that depend on each other; four standard errors."""
    r = rng.standard_normal((4000, 100))
    E = rng.standard_normal((3, 100)).cumsum(axis=0)
    p = test(pairs_alone(r, np.concatenate([E, E[:1] + E[1:2]])))
    for level in (0.5, 0.1, 0.02):
        error = np.sqrt(level * (1 - level) / len(p))
        assert abs(np.mean(p <= level) - level) < 4 * error + 0.05 * level, level


# -- features of few values


def seen(monkeypatch, pairs):
    """What tests of few values make of S: its value over its standard deviation, and skewness."""
    found = []
    normal, straight = tied_module._normal, tied_module._without_skewness

    def keep_normal(z, freedom, n):
        found.append([z])
        return normal(z, freedom, n)

    def keep_straight(z, skewness):
        found[-1].append(skewness)
        return straight(z, skewness)

    with monkeypatch.context() as patch:
        patch.setattr(tied_module, "_normal", keep_normal)
        patch.setattr(tied_module, "_without_skewness", keep_straight)
        tied_p_values(pairs)
    return found


@pytest.mark.parametrize("n", [8, 9])
def test_moments_of_few_values_are_those_of_all_permutations(n, rng, monkeypatch):
    """Oracle: all permutations of rows, and all of those within two strata of fitted values."""
    monkeypatch.setattr(tied_module, "ROWS_PER_STRATUM", 4)
    r, E, fitted = np.array([[0, 1] * 4 + [0, 1]])[:, :n], rng.exponential(size=(2, n)), None
    fitted = rng.permutation(n)[None] * 1.0
    pairs = pairs_alone(r * 1.0, E)
    pairs = ResidualPairs(
        pairs.features, pairs.targets, np.array([1]), pairs.feature_order, pairs.tie_breaker, 0,
        fitted,
    )  # fmt: skip
    order = np.argsort(fitted[0])
    r, E = pairs.features[0][order], pairs.targets[:, 0][:, order]
    strata = [list(range(n // 2)), list(range(n // 2, n))]
    whole, within = seen(monkeypatch, pairs)
    for (z, skewness), parts in ((whole, [list(range(n))]), (within, strata)):
        ways = [np.array(list(permutations(part))) for part in parts]
        parts_of_sums = [E[:, part] @ r[way].T for part, way in zip(parts, ways, strict=True)]
        for q in range(2):
            sums = np.array([sum(each) for each in product(*(part[q] for part in parts_of_sums))])
            assert z[0, q] == pytest.approx((E[q] @ r - sums.mean()) / sums.std())
            assert skewness[0, q] == pytest.approx(stats.skew(sums))


def test_p_values_of_few_values_are_those_of_permutations(rng):
    """Oracle: 20,000 permutations of a 0/1 feature against skewed and plain columns."""
    n = 120
    for share, effect in ((0.5, 0.2), (0.1, 0.5)):
        x = (np.arange(n) < share * n) * 1.0
        E = np.stack([rng.standard_normal(n), rng.exponential(size=n)]) + effect * x
        by_column, _ = tied_p_values(pairs_alone(x[None], E))
        drawn = rng.permuted(np.tile(x - x.mean(), (20_000, 1)), axis=1)
        for p, e in zip(by_column[0], E, strict=True):
            s = abs((x - x.mean()) @ e)
            expected = np.mean(np.abs(drawn @ (e - e.mean())) >= s)
            assert expected > 0.001
            assert p == pytest.approx(expected, rel=0.15, abs=3 * np.sqrt(expected / 20_000))


@pytest.mark.parametrize(
    ("n", "n_ones", "n_inside"), [(60, 5, 6), (100, 8, 10), (300, 6, 9), (100, 20, 20)]
)
def test_a_rare_value_in_a_rare_class_is_as_rare_as_draws_say(n, n_ones, n_inside):
    """Oracle: draws without replacement; values are a lattice, of which half of each one counts.

    Student's t is far below where both are rare.
    """
    law, overlap = stats.hypergeom(n, n_ones, n_inside), np.arange(min(n_ones, n_inside) + 1)
    x = np.zeros((len(overlap), n))
    for row, k in zip(x, overlap, strict=True):
        row[:k] = row[n_inside : n_inside + n_ones - k] = 1.0
    pairs = pairs_alone(x, (np.arange(n)[None] < n_inside) * 1.0)
    p, ratios = tied_p_values(pairs)[0][:, 0], []
    away, chance = np.abs(overlap - law.mean()), law.pmf(overlap)
    for k in overlap:
        further, same = away > away[k] + 1e-9, np.abs(away - away[k]) < 1e-9
        exact = chance[further].sum() + chance[same].sum() / 2
        if 1e-4 < exact < 0.2:
            assert 0.5 < p[k] / exact < 2.5, k
            ratios.append(Linear().p_values(pairs)[k] / exact)
    assert n_ones == 20 or min(ratios) < 0.05


def test_rare_values_and_classes_keep_the_level(rng):
    """Oracle: nominal levels, over shares of ones and sizes of classes; four standard errors."""
    n, by_column, joint = 100, [], []
    for _ in range(40):
        labels = rng.choice(5, n, p=[0.05, 0.08, 0.12, 0.25, 0.5])
        x = rng.random((150, n)) < rng.uniform(0.03, 0.5, (150, 1))
        x[:, :3] = [False, True, False]
        pairs = pairs_alone(x * 1.0, (labels == np.arange(5)[:, None]) * 1.0)
        of_columns, of_all = tied_p_values(pairs)
        by_column.append(of_columns)
        joint.append(of_all)
    for p in (np.concatenate(by_column), np.concatenate(joint)):
        for level in (0.1, 0.05, 0.01, 0.001):
            shares = np.mean(p <= level)
            assert shares < 1.1 * level + 4 * np.sqrt(level / 6000), level
        assert np.mean(p <= 0.05) > 0.03


def test_strata_of_equal_fitted_values_do_not_hang_on_the_last_bit(rng):
    """Oracle: fitted values of few levels, moved by what rounding may do, have the same strata.

    Nor do rows of one level follow the order in which they stand, which is that of the target.
    """
    n, fitted = 140, rng.integers(3, size=(6, 140)) * 0.37
    x, E = (rng.random((6, n)) < 0.3) * 1.0, np.sort(rng.standard_normal((1, n)))
    alone, breaker = pairs_alone(x, E), 1e-9 * rng.standard_normal(n)

    def p(fitted):
        rank = np.ones(6, int)
        return tied_p_values(
            ResidualPairs(
                alone.features, alone.targets, rank, alone.feature_order, breaker, 0, fitted
            )
        )[0]

    moved = fitted + 1e-16 * rng.integers(-3, 4, size=fitted.shape)
    assert (np.argsort(moved, kind="stable") != np.argsort(fitted, kind="stable")).any()
    assert_allclose(p(moved), p(fitted), rtol=1e-9)
    # without differences of level, the spread of the target within strata is that of all rows
    assert_allclose(p(np.zeros((6, n))), p(None), atol=0.15)


def test_a_column_that_does_not_vary_says_nothing(rng):
    """Oracle: p-values of the other column, and 1."""
    x = (rng.random((5, 80)) < 0.3) * 1.0
    E = rng.standard_normal((2, 80)) * [[1], [0]]
    by_column, joint = tied_p_values(pairs_alone(x, E))
    alone, _ = tied_p_values(pairs_alone(x, E[:1]))
    assert_allclose(by_column, np.c_[alone, np.ones(5)])
    assert np.isfinite(joint).all()


def test_variance_that_follows_the_mean_is_no_effect(rng):
    """Oracle: how the data were made: w moves the share of ones and the spread of the target."""
    n, n_draws, p, t = 300, 400, [], []
    near = Neighbours(np.array([[1]]), np.array([[1]]))
    for _ in range(n_draws):
        w = rng.standard_normal(n)
        x = rng.random(n) < stats.norm.cdf(1.2 * w - 1.5)
        e = np.exp(w) * rng.standard_normal((2, n))
        pairs = pairs_of(standardised(np.stack([x * 1.0, w])), near, e)
        by_column, joint = tied_p_values(pairs)
        p.append([*by_column[0], *joint])
        t.append(Linear().p_values(pairs)[0])
    shares, error = np.mean(np.array(p) <= 0.05, axis=0), np.sqrt(0.05 / n_draws)
    assert (shares < 0.05 + 3 * error).all()
    assert np.mean(np.array(t) <= 0.05) > 0.12
