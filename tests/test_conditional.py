"""The pieces of the conditional tests, and the laws that hold for all of them together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import smrmr.conditional.distillers.kernel_ridge as ridge_module
import smrmr.conditional.inputs as inputs_module
from smrmr import ConditionalTests, Recipe, SmRMR, select, simulate
from smrmr.association import distance_covariance_squared, hsic_v, projection_covariance_squared
from smrmr.conditional import Absolute, Blend, Kernel, ResidualPairs, Shape, residual_checks
from smrmr.conditional.combine import LARGEST, combine, combine_groups, p_values
from smrmr.conditional.components import Components
from smrmr.conditional.distillers.blend import logistic_residual
from smrmr.conditional.distillers.kernel_ridge import MIXES, RIDGES, KernelRidge
from smrmr.conditional.distillers.regressors import Regressors
from smrmr.conditional.inputs import Inputs
from smrmr.conditional.model_columns import rank_columns
from smrmr.conditional.residual_checks import ResidualChecks
from smrmr.conditional.residuals import Neighbours, residuals_of
from smrmr.conditional.scores import draw_tie_breakers, standardised
from smrmr.conditional.statistics import as_statistics
from smrmr.conditional.statistics.null import covariance_tail
from smrmr.conditional.statistics.rank_covariances import (
    GRID,
    MOST_COUNTED,
    covariance_of_ranks,
    projection_covariances,
    rank_table,
    ranks_of,
)
from smrmr.data.study import read_study
from smrmr.data.targets.protocol import TargetColumns
from smrmr.features.rank_table import RankTable
from smrmr.runs.work import Work
from thinned import thinned

TESTS = Recipe(control="tests")
STATISTICS = as_statistics("pc+linear+spread+absolute")


def p_of(X, y, recipe=TESTS):
    return select(X, y, recipe).p_values


def columns(rng, p=12, n=60):
    return standardised(rng.standard_normal((p, n)))


def nothing(n):
    """No covariates."""
    return np.empty((0, n))


def kernel_ridge(x, y):
    """A fit to all of these features."""
    regressors = Regressors(np.concatenate([x, x]), nothing(x.shape[1]))
    return KernelRidge(regressors, tuple(range(len(x))), np.atleast_2d(y))


def pairs_of(Z, near, E, covariate_basis):
    """Residuals of all rows of Z, which fit into one block, beside each row of E."""
    k = len(near.linear)
    ((_, found),) = residuals_of(Z, np.arange(k), near, E, [covariate_basis] * k)
    return found, list(found.pairs(draw_tie_breakers(Z.shape[1])))


# -- the pieces


def normal_scores_of(x):
    return stats.norm.ppf((stats.rankdata(x) - 0.5) / len(x))


@pytest.mark.parametrize("n", [5, 40, 333, 700])
@pytest.mark.parametrize(
    ("statistic", "oracle"),
    [
        ("pc", projection_covariance_squared),
        ("dcor", distance_covariance_squared),
        ("hsic", hsic_v),
    ],
)
def test_dependence_is_that_of_the_measures(statistic, oracle, n, rng):
    """Oracle: covariances of `smrmr.association`, of normal scores; up to one factor per n.

    That of HSIC takes the median of fewer distances above 1000 rows, which moves its width by 2e-3.
    """
    X, y = rng.standard_normal((4, n)), rng.standard_normal(n)
    found = covariance_of_ranks(
        ranks_of(np.argsort(y)[None])[0][np.argsort(X)], *rank_table(statistic, n)
    )
    expected = [oracle(normal_scores_of(x), normal_scores_of(y)) for x in X]
    tolerance = 1e-2 if statistic == "hsic" and n > 1000 else 1e-8
    np.testing.assert_allclose(
        np.divide(found, found[0]), np.divide(expected, expected[0]), rtol=tolerance
    )


@pytest.mark.parametrize("n", [9, 60, 250])
def test_the_null_law_is_that_of_permutations(n, rng):
    """Oracle: permutations, at n between those of the table; four standard errors."""
    p = p_of_permutations("pc", n, rng)
    for level in (0.5, 0.2, 0.05, 0.01, 0.002):
        share = np.mean(p <= level)
        assert abs(share - level) < 4 * np.sqrt(level / len(p)) + 0.02 * level, level


@pytest.mark.parametrize("n_draws", thinned([2000, 10_000], [2000]))
@pytest.mark.parametrize("statistic", ["hsic", "dcor"])
def test_the_limit_law_is_cautious(statistic, n_draws, rng):
    """Oracle: permutations. The limit law never rejects more, and hardly less with 300 rows."""
    for n in (20, 300):
        p = p_of_permutations(statistic, n, rng, n_draws)
        for level in (0.1, 0.05, 0.01):
            share, error = np.mean(p <= level), np.sqrt(level / len(p))
            assert share < level + 4 * error, (n, level)
            assert n == 20 or share > 0.85 * level - 4 * error, level


def p_of_permutations(statistic, n, rng, n_draws=10_000):
    """p-values of independent columns."""
    drawn = rng.permuted(np.tile(np.arange(n), (n_draws, 1)), axis=1)
    return covariance_tail(covariance_of_ranks(drawn, *rank_table(statistic, n)), n, statistic)


@pytest.mark.parametrize("n", [2, 31, 32, 33, 64, 65, 200])
def test_every_sample_counts_those_below_it(n, rng):
    """Oracle: all pairs of samples, one by one, before and after words of bits are full."""
    ranks = np.array([np.arange(n), np.arange(n)[::-1], rng.permutation(n)])
    signs = np.sign(np.subtract.outer(np.arange(n), np.arange(n)))
    expected = []
    for row in ranks:
        both = np.sign(np.subtract.outer(row, row))
        leans = signs.sum(axis=1), both.sum(axis=1)
        centred = (signs * both).sum(axis=1) - leans[0] * leans[1] / n
        expected.append(np.sum(centred**2 - sum(x**2 for x in leans) / n**2 + (1 - 1 / n) ** 2))
    np.testing.assert_allclose(projection_covariances(ranks), expected, rtol=1e-12, atol=1e-12)


def test_one_target_beside_all_features_is_ranked_once(rng):
    """Oracle: every row ranked by itself, for rows that are all one and rows that are not."""
    breaker, R = draw_tie_breakers(40)[1], columns(rng, 3, 40)
    e = rng.integers(0, 9, 40).astype(float)  # with ties
    for E in (np.stack([e, e, e]), np.stack([e, e, -e]), e[None, :].repeat(0, axis=0)):
        pairs = ResidualPairs(
            R[: len(E)], E[None], np.zeros(len(E), int), np.argsort(R[: len(E)]), breaker
        )
        expected = [np.argsort(np.argsort(row + breaker)) for row in E]
        np.testing.assert_array_equal(pairs.target_ranks, np.reshape(expected, E.shape))


def test_columns_of_the_model_are_kept_for_the_same_features(rng):
    """Laws: asked again they are the same object; other features have their own ranks."""
    table = RankTable.of(read_study(rng.random((30, 5)), rng.random(30)).columns)
    some, others = np.array([3, 0, 4]), np.array([3, 0, 1])
    first = rank_columns(table, some, Work())
    assert rank_columns(table, some.copy(), Work()) is first
    found = rank_columns(table, others, Work())
    np.testing.assert_array_equal(found.ranks, table.ranks(others))
    np.testing.assert_array_equal(rank_columns(table, some, Work()).ranks, first.ranks)


def test_kept_scores_of_partners_are_those_made_anew(rng, monkeypatch):
    """Law: answers do not hang on how many are kept."""
    X = rng.standard_normal((80, 12))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.standard_normal(80)
    kept = p_of(X, y)
    monkeypatch.setattr(inputs_module, "MAX_KEPT_AGAIN", 0)
    np.testing.assert_array_equal(p_of(X, y), kept)


def test_a_grid_takes_the_place_of_many_samples(rng):
    """Oracle: shares of samples below each point of the grid, compared one by one; and samples."""
    n = MOST_COUNTED + 57
    x = rng.random(n)
    ranks = ranks_of(np.argsort(0.1 * x + rng.random(n))[None])[0][np.argsort(x)]
    found = covariance_of_ranks(ranks[None], *rank_table("pc", n))[0]
    at = np.arange(1, GRID + 1) * n / (GRID + 1)
    below_x, below_y = (np.arange(n) < at[:, None]), (ranks < at[:, None])
    shares = below_x.mean(axis=1), below_y.mean(axis=1)
    apart = below_x.astype(float) @ below_y.T / n - np.outer(*shares)
    assert found == pytest.approx(16 * n**3 * np.mean(apart**2), rel=1e-10)
    counted = projection_covariances(ranks[None])
    p = [covariance_tail(value, size) for value, size in ((found, n), (counted[0], MOST_COUNTED))]
    assert p[0] == pytest.approx(p[1], rel=0.3)
    assert p[0] < 1e-6


def test_many_rows_answer_alike_in_any_order(rng):
    """Laws: rows in another order, and two threads, change no bit; what is true is found."""
    n = MOST_COUNTED + 50
    X = rng.standard_normal((n, 6))
    y = X[:, 0] + X[:, 1] ** 2 + rng.standard_normal(n)
    order = rng.permutation(n)
    first = SmRMR(alike=None, n_jobs=1).fit(X, y).pvalues_
    again = SmRMR(alike=None, n_jobs=2).fit(X[order], y[order]).pvalues_
    np.testing.assert_array_equal(first, again)
    assert first[:2].max() < 1e-20
    assert first[2:].min() > 1e-4


@pytest.mark.slow
def test_the_null_law_of_the_grid(rng):
    """Oracle: permutations of more rows than are counted around."""
    p = np.concatenate(
        [p_of_permutations("pc", MOST_COUNTED + 1, rng, n_draws=100) for _ in range(400)]
    )
    for level in (0.2, 0.05, 0.01, 0.001):
        error = np.sqrt(level / len(p))
        assert abs(np.mean(p <= level) - level) < 4 * error + 0.02 * level, level


def test_the_null_law_has_a_limit_and_a_tail():
    """Laws: p falls with the statistic, from 1; beyond the table like a chi-square's."""
    for n in (8, 100, 10**6):
        p = covariance_tail(np.linspace(0, 60, 4000) * n**2, n)
        assert p[0] == 1
        assert (np.diff(p) <= 0).all()
        assert (p[p > 0] < 1e-60).any()
    # the largest weight of the limit is 16 / pi^4
    far = covariance_tail(np.array([20.0, 21.0]) * 1e8, 10**4)
    weight = 16 / np.pi**4
    expected = stats.chi2.sf(21 / weight, 1) / stats.chi2.sf(20 / weight, 1)
    assert far[1] / far[0] == pytest.approx(expected, rel=0.2)


def test_kernel_ridge_leaves_rows_out(rng):
    """Oracle: a fit to all other rows for every row, kernel mix and ridge, literally.

    Ours centres the kernel once, over all rows, which differs in the order of 1/n.
    """
    n = 80
    x = columns(rng, p=2, n=n)
    y = standardised((np.abs(x[0]) + x[1] + 0.3 * rng.standard_normal(n))[None])[0]
    d = (x[:, :, None] - x[:, None, :]) ** 2
    kernels = x.T @ x, np.exp(-d / 2).sum(axis=0), 2 * np.exp(-d.sum(axis=0) / 4)
    errors = []
    for mix in MIXES:
        kernel = sum(w * k for w, k in zip(mix, kernels, strict=True))
        for ridge in RIDGES:
            left_out = np.empty(n)
            for i in range(n):
                kept = np.arange(n) != i
                inner = kernel[np.ix_(kept, kept)]
                means = inner.mean(axis=0)
                centred = inner - means - means[:, None] + inner.mean()
                new = kernel[i, kept] - kernel[i, kept].mean() - means + inner.mean()
                weights = np.linalg.solve(centred + ridge * np.eye(n - 1), y[kept] - y[kept].mean())
                left_out[i] = y[i] - y[kept].mean() - new @ weights
            errors.append(np.mean(left_out**2))
    assert np.mean(kernel_ridge(x, y).residuals[0] ** 2) == pytest.approx(min(errors), rel=0.05)
    none = kernel_ridge(x[:0], y).residuals[0]
    np.testing.assert_allclose(none, y - (y.sum() - y) / (n - 1))


def test_landmarks_change_little(rng, monkeypatch):
    """Oracle: the exact fit of the same data, by raising the number of landmarks."""
    x = columns(rng, p=3, n=300)
    y = standardised((np.abs(x[0]) + x[1] + 0.5 * rng.standard_normal(300))[None])[0]
    some = kernel_ridge(x, y).residuals[0]
    monkeypatch.setattr(ridge_module, "MOST_LANDMARKS", 300)
    assert np.corrcoef(some, kernel_ridge(x, y).residuals[0])[0, 1] > 0.999


def through_points(x, at, mix):
    """Kernel of all rows: the linear one, Gaussians through knots, one of all through landmarks."""
    n, size = x.shape[1], len(x)
    knots = ridge_module.KNOTS
    kernel = mix[0] * x.T @ x
    for column in x:
        bumps = np.exp(-((column[:, None] - knots) ** 2) / 2)
        kernel += mix[1] * through(bumps, np.exp(-((knots[:, None] - knots) ** 2) / 2))
    d = ((x[:, :, None] - x[:, None, at]) ** 2).sum(axis=0)
    bumps = size * np.exp(-d / 2 / size)
    kernel += mix[2] * through(bumps, bumps[at])
    centre = np.eye(n) - 1 / n
    return centre @ kernel @ centre


def through(to_points, among):
    among = among + ridge_module.JITTER * np.trace(among) * np.eye(len(among))
    return to_points @ np.linalg.solve(among, to_points.T)


def hats(x, y, n_points, mixes=MIXES, ridges=RIDGES):
    """Hat matrix and residuals of every mix and ridge; y is (n,) or (n, q)."""
    n = len(y)
    at = np.unique(np.linspace(0, n - 1, n_points).astype(int))
    kernels = [through_points(x, at, mix) for mix in mixes]
    found = [
        np.linalg.solve(kernel + ridge * np.eye(n), kernel).T
        for kernel in kernels
        for ridge in ridges
    ]
    return [(hat, y - hat @ y) for hat in found]


@pytest.mark.parametrize("noise", [[0.5], [0.1, 3, 3, 3]])
def test_landmarks_against_the_hat_matrix(noise, rng):
    """Oracle: hat matrices of all mixes and ridges, the best by generalised cross-validation.

    Columns of the target that need different ridges have one in common.
    """
    n = 260
    x = columns(rng, p=3, n=n)
    signal, noise = np.abs(x[0]) + x[1], np.array(noise)[:, None]
    y = standardised(signal + noise * rng.standard_normal((len(noise), n))).T
    judged = hats(x, y, 100)
    scores = [np.mean(e**2) / (1 - (1 + np.trace(hat)) / n) ** 2 for hat, e in judged]
    mix, ridge = divmod(int(np.argmin(scores)), len(RIDGES))
    ((hat, residual),) = hats(x, y, 200, [MIXES[mix]], [RIDGES[ridge]])
    expected = residual.T / (1 - np.diag(hat) - 1 / n)
    np.testing.assert_allclose(kernel_ridge(x, y.T).residuals, expected, atol=1e-5)


def test_many_rows_are_fitted_alike(rng, monkeypatch):
    """Oracle: hat matrices of all rows; one of them, the best of some rows, is the answer."""
    n = 420
    monkeypatch.setattr(ridge_module, "MOST_JUDGED", 250)
    monkeypatch.setattr(ridge_module, "ROWS_AT_ONCE", 64)
    x = columns(rng, p=3, n=n)
    y = standardised((np.abs(x[0]) + x[1] + 0.5 * rng.standard_normal(n))[None])[0]
    expected = np.array([e / (1 - (1 + np.trace(hat)) / n) for hat, e in hats(x, y, 200)])
    errors = np.mean(expected**2, axis=1)
    for held in (10, 1000):  # rows whose kernels are held or made again
        monkeypatch.setattr(ridge_module, "MOST_HELD", held)
        found = kernel_ridge(x, y)
        nearest = np.abs(expected - found.residuals[0]).max(axis=1)
        assert nearest.min() < 1e-5
        assert errors[nearest.argmin()] < 1.02 * errors.min()
        assert found.error == pytest.approx(errors.min(), rel=0.2)


def test_of_tied_columns_only_the_mean_is_tested(rng):
    """Oracle: Student's t where moments are those of a normal; no other statistic with ties."""
    n = 90
    Z = standardised(rng.integers(0, 2, (2, n)) * 1.0)
    E = standardised(rng.standard_normal((5, n)) + Z[0] * [[0], [0.2], [0.4], [0.6], [2]])
    found, pairs = pairs_of(Z, Neighbours.none(2), E, nothing(n))
    expected = np.array([[stats.pearsonr(z, e).pvalue for e in E] for z in Z])

    def p_by_column(tied):
        return p_values(pairs, STATISTICS, [Shape()], np.array(tied), found.variance)[1]

    p = p_by_column([True, True])
    shown = expected > 1e-4
    np.testing.assert_allclose(p[shown], expected[shown], rtol=0.15)
    assert (p[~shown] < 1e-3).all()
    assert (p_by_column([True, False])[1] != p[1]).all()
    np.testing.assert_array_equal(p_by_column([True, False])[0], p[0])


def test_checks_of_residuals_see_what_correlation_does_not(rng):
    """Oracle: how r was made: from another feature, from its own, from none."""
    Z = columns(rng, p=60, n=150)
    noise = rng.standard_normal((2, 150))
    checks = ResidualChecks(inputs_of(Z), np.array([3, 7]), {})
    for _ in range(2):  # the second time with orders that are known
        assert checks.dependent(3, np.array([3]), Z[7] ** 2 + 0.1 * noise[0])
        assert checks.dependent(3, np.array([3]), np.exp(Z[7]) * noise[0])
        assert not checks.dependent(7, np.array([7]), Z[7] ** 2 + 0.1 * noise[0])
        assert not checks.dependent(3, np.array([3]), noise[1])


def test_checks_of_residuals_together_are_those_one_by_one(rng, monkeypatch):
    """Oracle: checks of every row by itself that keep nothing."""
    inputs, columns_of = inputs_of(columns(rng, p=60, n=80)), np.arange(12)
    noise = rng.standard_normal((12, 80))
    residuals = [noise[k] + (k % 2) * 3 * inputs.Z[(k + 1) % 12] ** 2 for k in columns_of]
    together = ResidualChecks(inputs, columns_of, {})
    found = [together.dependent(k, np.array([k]), residuals[k]) for k in columns_of]
    monkeypatch.setattr(residual_checks, "MAX_TOGETHER", 0)
    monkeypatch.setattr(residual_checks, "MAX_KEPT_VALUES", 0)
    alone = ResidualChecks(inputs, columns_of, {})
    assert found == [alone.dependent(k, np.array([k]), residuals[k]) for k in columns_of]
    assert len(together.orders) > 50
    assert not alone.orders
    assert set(found) == {False, True}


def test_checks_of_residuals_are_not_misled_by_many_features(rng):
    """Oracle: their own level, 0.01, for features that depend on none of 2,000 others."""
    inputs = inputs_of(columns(rng, p=2000, n=100))
    checks = ResidualChecks(inputs, np.arange(100), {})
    alarms = [checks.dependent(k, np.array([k]), inputs.Z[k]) for k in range(100)]
    assert sum(alarms) <= 5


def inputs_of(Z):
    p, n = Z.shape
    return Inputs(
        Z=Z, covariate_basis=nothing(n), covariates=nothing(n),
        components=Components.of(Z, n), features=np.arange(p),
        feature_of=np.arange(p), hypotheses=(np.arange(p),), problems=(),
        target=TargetColumns((), nothing(n)),
        tied=np.zeros(p, bool),
        tie_breakers=draw_tie_breakers(n), statistics=STATISTICS,
        products=np.empty((0, 2), int), partners=np.arange(p),
        covariate_columns=nothing(n), covariate_of=np.empty(0, int),
    )  # fmt: skip


def test_checks_of_residuals_only_raise_p_values():
    """Oracle: the same tests without them, where every tenth feature is another one squared."""
    data = simulate("curved", n=100, p=95, random_state=0)
    checked = select(data.X, data.y, TESTS)
    unchecked = Recipe(control="tests(check_residuals=false)")
    p, without = checked.p_values, p_of(data.X, data.y, unchecked)
    raised = np.flatnonzero(p > without)
    assert raised.size
    assert raised.tolist() == checked.evidence.raised.tolist()
    assert (p >= without).all()


@pytest.mark.slow
def test_bows_are_not_misled_by_a_rare_class(rng):
    """Oracle: nominal 1e-4 on 100,000 columns of noise; |r| with a class of 5 rows is skewed."""
    n, p, level = 100, 100_000, 1e-4
    Z, small = columns(rng, p=p, n=n), 0
    E = standardised((np.arange(n) < 5)[None] * 1.0)
    for _, found in residuals_of(Z, np.arange(p), Neighbours.none(p), E, [nothing(n)] * p):
        (pairs,) = found.pairs(draw_tie_breakers(n))
        small += np.count_nonzero(Absolute().p_values(pairs) <= level)
    assert small < level * p + 4 * np.sqrt(level * p)


def test_p_values_are_combined_by_cauchy():
    """Oracle: the distribution of scipy."""
    p = np.array([0.3, 0.02, 0.6])
    weights = np.array([0.5, 0.25, 0.25])
    expected = stats.cauchy.sf(np.sum(weights * stats.cauchy.isf(p)))
    assert combine(p[:, None], weights[:, None])[0] == pytest.approx(expected)
    assert combine(np.array([1e-12, 1e-12])) == pytest.approx(1e-12)
    p = np.array([0.1, 0.2, 1, 0.5, 1])  # 1: was not tested
    grouped = combine_groups(p, np.array([0, 0, 0, 1, 2]))
    np.testing.assert_allclose(grouped, [combine(p[:2]), 0.5, 1])


def test_columns_of_the_target_share_what_joint_tests_leave(rng):
    """Oracle: Cauchy's rule by scipy, with 0.7 for the joint test and 0.1 for each of 3 columns."""
    n = 60
    E = standardised(rng.standard_normal((3, n)))
    found, pairs = pairs_of(columns(rng, p=4), Neighbours.none(4), E, nothing(n))
    statistics = as_statistics("linear+joint")
    p, by_column = p_values(pairs, statistics, [Shape()], np.zeros(4, bool), found.variance)
    alone = np.stack([statistics[0].p_values(one) for one in pairs])
    np.testing.assert_allclose(by_column, alone.T)
    together = np.vstack([alone, statistics[1].p_values(pairs[0])])
    cotangents = stats.cauchy.isf(np.minimum(together, LARGEST))
    weights = np.array([0.1, 0.1, 0.1, 0.7])
    np.testing.assert_allclose(p, stats.cauchy.sf(weights @ cotangents), rtol=1e-9)
    p, by_column = p_values(pairs[:1], statistics, [Shape()], np.zeros(4, bool), found.variance)
    np.testing.assert_array_equal(p, by_column[:, 0])  # a single column needs no joint test


def test_the_link_is_a_logistic_regression(rng):
    """Oracle: at the solution the residual is orthogonal to the intercept."""
    f = rng.standard_normal(200)
    covariate_basis = np.linalg.qr(standardised(rng.standard_normal((2, 200))).T)[0].T
    high = f + 8 * covariate_basis[0] + rng.logistic(size=200) > 0
    e = logistic_residual(high, f, covariate_basis)
    assert abs(e.sum()) < 1e-4
    assert np.abs(np.corrcoef(np.vstack([e, f, covariate_basis]))[0, 1:]).max() < 0.05
    assert np.mean(e**2) < 1
    assert np.mean(e**2) < np.mean(logistic_residual(high, f, nothing(200)) ** 2)


# -- laws


@pytest.fixture(scope="module")
def study():
    """40 features, of which four are true, and classes."""
    data = simulate("3.b", n=100, p=100, random_state=3)
    return replace(data, X=data.X[:, :40])


@pytest.mark.parametrize("design", ["3.b", "genotypes", "2.c"])
def test_order_does_not_matter(design, rng):
    """Law: rows or columns in another order permute the p-values.

    To the last bit for rows; columns are worked on in other blocks, which rounds otherwise.
    """
    data = simulate(design, n=80, p=95, random_state=1)
    X = data.X[:, :40]
    y = data.y.astype(int).astype(str) if data.target == "classes" else data.y
    p = p_of(X, y)
    rows, features = rng.permutation(80), rng.permutation(40)
    np.testing.assert_array_equal(p_of(X[rows], y[rows]), p)
    np.testing.assert_allclose(p_of(X[:, features], y), p[features], rtol=1e-12)


def test_neither_seed_nor_jobs_nor_names_matter(study):
    """Law: the same data give the same answer."""
    y = np.array(["ill", "well"])[study.y.astype(int)]
    p = p_of(study.X, y)
    np.testing.assert_array_equal(select(study.X, y, TESTS, rng=5).p_values, p)
    np.testing.assert_array_equal(p_of(study.X, y, Recipe(control="tests", n_jobs=2)), p)
    np.testing.assert_array_equal(p_of(study.X, np.where(y == "ill", "z", "a")), p)


@pytest.mark.parametrize("control", ["linear+pc", "linear+absolute+interaction"])
def test_it_does_not_matter_what_is_tested_together(control, rng, monkeypatch):
    """Oracle: hypotheses tested again one by one. Their fits differ, and so do their weights."""
    X = rng.standard_normal((90, 40))
    y = 2 * np.abs(X[:, 0]) + X[:, 1] - X[:, 2] + X[:, 3] * X[:, 4] + 0.3 * rng.standard_normal(90)
    together = select(X, y, control=ConditionalTests(statistics=control))
    monkeypatch.setattr("smrmr.conditional.second_pass.HYPOTHESES_PER_TASK", 1)
    one_by_one = select(X, y, control=ConditionalTests(statistics=control))
    names = "p_of_hypotheses", "freedom", "residual_variance", "p_of_interaction"
    for name in names:
        ours, expected = (getattr(one.evidence, name) for one in (together, one_by_one))
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-300)
    assert (together.evidence.p_of_hypotheses < 0.01).sum() >= 3


def test_units_do_not_matter(study, rng):
    """Law: neither scale nor origin of a feature or of the target counts, up to rounding."""
    X = study.X * 10.0 ** rng.integers(-3, 4, 40) + rng.standard_normal(40)
    y = study.X[:, :3].sum(axis=1) + rng.standard_normal(100)
    np.testing.assert_allclose(p_of(X, 7 - y / 3), p_of(study.X, y), rtol=1e-3)


@pytest.mark.parametrize("design", thinned(["heavy", "skewed"], ["skewed"]))
def test_linear_effects_of_skewed_features_are_found(design):
    """Oracle: the truth, of which fits to scores alone miss more than two in thirty."""
    found = 0
    for seed in range(3):
        data = simulate(design, n=100, p=100, random_state=seed)
        chosen = select(data.X, data.y, Recipe(fdr=0.1, control="tests")).selected
        found += np.isin(chosen, data.support).sum()
    assert found >= 28


def test_columns_without_much_of_their_own_are_not_tested(rng):
    """Oracle: the share of variance left, by how the data were made: 0.01 and 0.2 of it."""
    X = rng.standard_normal((200, 12))
    X[:, 1] = X[:, 0] + 0.1 * rng.standard_normal(200)
    X[:, 3] = X[:, 2] + 0.5 * rng.standard_normal(200)
    found = select(X, X[:, 0] + X[:, 2] + rng.standard_normal(200), TESTS)
    assert (found.p_values[[0, 1]] == 1).all()
    assert (found.p_values[2:] < 1).all()
    assert "so it cannot be tested on its own" in found.explain("x0")


@pytest.mark.parametrize("effect", ["linear", "even", "spread"])
def test_effects_of_every_kind_are_found(effect, rng):
    """Oracle: how the data were made."""
    X = rng.standard_normal((200, 40))
    noise = rng.standard_normal(200)
    y = {
        "linear": X[:, 3] + noise,
        "even": 2 * np.abs(X[:, 3]) + noise,
        "spread": np.exp(X[:, 3]) * noise,
    }[effect]
    assert 3 in select(X, y, Recipe(fdr=0.1, control="tests")).selected


def test_a_category_of_many_levels_is_one_feature(rng):
    """Oracle: how the data were made: level "c" is higher."""
    frame = pd.DataFrame(rng.standard_normal((150, 20)), columns=[f"g{k}" for k in range(20)])
    frame["site"] = pd.Categorical(rng.choice(list("abcd"), 150))
    y = 2.0 * (frame["site"] == "c") + rng.standard_normal(150)
    found = select(frame, y, Recipe(fdr=0.1, control="tests"))
    assert found.selected_names == ["site"]
    assert len(found.p_values) == 21


def test_a_proxy_is_explained_by_what_it_stands_for(rng):
    """Oracle: how the data were made: y knows feature 0, feature 1 is feature 0 and noise."""
    X = rng.standard_normal((300, 30))
    X[:, 1] = X[:, 0] + 0.5 * rng.standard_normal(300)
    y = 2 * X[:, 0] + rng.standard_normal(300)
    found = select(X, y, Recipe(fdr=0.1, control="tests"))
    assert 0 in found.selected
    assert found.outcome(1) == "explained by others"
    assert found.alone.p[1] < 1e-6


def test_settings_are_checked():
    """Oracle: what there is."""
    with pytest.raises(ValueError, match="rule='bonferroni'"):
        ConditionalTests(rule="bonferroni")
    with pytest.raises(ValueError, match="proposals='forest'"):
        Blend(proposals="lasso+forest")
    with pytest.raises(ValueError, match="statistics='mic'"):
        ConditionalTests(statistics="pc+mic")
    with pytest.raises(ValueError, match="statistics is empty"):
        ConditionalTests(statistics=[])
    with pytest.raises(ValueError, match="distillers='forest'"):
        ConditionalTests(distillers="forest")
    data = simulate("1.c", n=60, p=40, random_state=0)
    written = "tests(distillers=kernel(proposals=mcp), check_residuals=false)"
    assert Recipe(control=written).control == ConditionalTests(Kernel("mcp"), check_residuals=False)
    assert p_of(data.X, data.y, Recipe(control=written)).shape == (40,)


def test_statistics_nearly_agree():
    """Oracle: the same data tested with projection correlation."""
    data = simulate("1.c", n=100, p=40, random_state=0)
    usual = p_of(data.X, data.y)
    for statistic in ("hsic", "dcor"):
        p = p_of(
            data.X,
            data.y,
            Recipe(control=f"tests(statistics=[{statistic}, linear, spread, absolute])"),
        )
        assert (p != usual).any()
        assert np.corrcoef(np.log(p), np.log(usual))[0, 1] > 0.99


def null_shares(design, n, p, seeds, levels):
    """Share of false features with a p-value at or below each level, one row per data set."""
    shares = []
    for seed in seeds:
        data = simulate(design, n=n, p=p, random_state=seed)
        y = data.y.astype(int).astype(str) if data.target == "classes" else data.y
        found = np.delete(p_of(data.X, y), data.support)
        shares.append([np.mean(found <= level) for level in levels])
    return np.array(shares)


@pytest.mark.parametrize("design", thinned(["null", "1.c"], ["null"]))
def test_null_p_values_are_uniform(design):
    """Oracle: the uniform law, within three standard errors over data sets."""
    shares = null_shares(design, 60, 40, range(900, 920), levels=(0.05, 0.2))
    error = shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
    assert (np.abs(shares.mean(axis=0) - [0.05, 0.2]) < 3 * error + [0.005, 0.02]).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:columns .* fewer than 5 values")  # of genotypes in 50 rows
@pytest.mark.parametrize("n", [50, 100, 200])
def test_calibration_over_designs(n):
    """Oracle: nominal levels, pooled over designs, and three standard errors over data sets."""
    designs = ("1.a", "1.c", "2.a", "2.b", "3.b", "3.c", "null", "genotypes", "heavy")
    levels = np.array([0.05, 0.01, 0.001])
    shares = np.concatenate(
        [null_shares(design, n, 100, range(700, 720), levels) for design in designs]
    )
    ratio = shares.mean(axis=0) / levels
    error = shares.std(axis=0, ddof=1) / np.sqrt(len(shares)) / levels
    assert (ratio < [1.1, 1.1, 1.5] + 3 * error).all()
    assert (ratio > [0.8, 0.7, 0.4] - 3 * error).all()


ODD_TARGETS = {
    "ten classes": lambda rng: rng.permutation(np.repeat(list("abcdefghij"), 10)),
    "rare class": lambda rng: rng.permutation(np.array(["a"] * 92 + ["b"] * 8)),
    "outputs": lambda rng: rng.standard_normal((100, 3)).cumsum(axis=1),
    "long tails": lambda rng: np.exp(3 * rng.standard_normal(100)),
    "ties": lambda rng: np.round(rng.exponential(size=100)) + 0.5,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ODD_TARGETS)
def test_odd_targets_are_calibrated(kind):
    """Oracle: nominal levels on noise, within three standard errors over data sets."""
    shares = []
    for seed in range(30):
        X = simulate("null", n=100, p=100, random_state=seed).X
        p = p_of(X, ODD_TARGETS[kind](np.random.default_rng(seed)))
        shares.append([np.mean(p <= 0.05), np.mean(p <= 0.01)])
    ratio = np.mean(shares, axis=0) / [0.05, 0.01]
    error = np.std(shares, axis=0, ddof=1) / np.sqrt(30) / [0.05, 0.01]
    assert (ratio < 1.1 + 3 * error).all()
    assert (ratio > 0.7 - 3 * error).all()
