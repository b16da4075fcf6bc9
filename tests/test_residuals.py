"""Residuals of features: components, neighbours, and the square-root LASSO on them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.linear_model import Lasso, LinearRegression

import smrmr
from smrmr import Recipe, select
from smrmr.conditional.components import BEYOND_NOISE, ROWS_PER_COMPONENT, Components
from smrmr.conditional.residuals import Neighbours, find_neighbours, penalty, residuals_of
from smrmr.conditional.scores import draw_tie_breakers, standardised
from smrmr.conditional.statistics import gcm_p_values
from smrmr.designs import DESIGNS


def columns(rng, p=12, n=60):
    return standardised(rng.standard_normal((p, n)))


def orthonormal(rng, size, n):
    return np.linalg.qr(standardised(rng.standard_normal((size, n))).T)[0].T


def alone(p):
    """Every column a hypothesis of its own."""
    return np.arange(p)


def neighbours_of(Z, hypothesis_of, rows, common=None):
    common = Components.of(Z, Z.shape[1]).of_all if common is None else common
    no_products = np.empty((0, 2), int)
    absolute = standardised(np.abs(Z))
    return find_neighbours(Z, absolute, hypothesis_of, rows, [common] * len(rows), no_products)


def residuals(Z, near, E, basis):
    """Those of the first columns of Z, which fit into one block."""
    k = len(near.linear)
    ((_, found),) = residuals_of(Z, np.arange(k), near, E, [basis] * k)
    return found


# -- components


def sharing(rng, sizes, n=80, share=0.8):
    """Blocks of columns, each with a factor of its own."""
    factors = np.repeat(rng.standard_normal((len(sizes), n)), sizes, axis=0)
    own = rng.standard_normal((sum(sizes), n))
    return standardised(np.sqrt(share) * factors + np.sqrt(1 - share) * own), factors


def test_components_are_leading_eigenvectors_beyond_noise(rng):
    """Oracle: singular value decomposition of all columns, and the edge of Marchenko and Pastur."""
    Z, _ = sharing(rng, [30, 20, 5])
    found = Components.of(Z, 80)
    _, singular, vectors = np.linalg.svd(Z, full_matrices=False)
    values = singular**2 / 80
    beyond = values > BEYOND_NOISE * (1 + np.sqrt(55 / 80)) ** 2
    assert beyond.sum() == len(found.values) == 2
    assert_allclose(found.values, values[beyond])
    assert_allclose(np.abs(np.sum(found.vectors * vectors[:2], axis=1)), 1)
    assert_allclose(found.loadings, Z @ found.vectors.T)
    left = Z - (Z @ found.vectors.T) @ found.vectors
    assert_allclose(found.of_all.lengths, left.std(axis=1), atol=1e-12)


def test_noise_and_chains_have_no_component(rng):
    """Oracle: how the columns were drawn, independent or as a chain with correlation 0.5."""
    assert not len(Components.of(columns(rng, 300, 100), 100).values)
    chain = DESIGNS["1.c"].features(100, 300, rng)
    assert not len(Components.of(standardised(chain.T), 100).values)


def test_more_columns_than_rows_have_the_same_components(rng):
    """Oracle: inner products of columns in place of rows; both sides decompose the same matrix."""
    Z, _ = sharing(rng, [60, 60], n=40)
    wide = Components.of(Z, 40)
    _, _, vectors = np.linalg.svd(Z, full_matrices=False)
    assert len(wide.values) == 2
    assert_allclose(wide.vectors.T @ wide.vectors, vectors[:2].T @ vectors[:2], atol=1e-10)


def test_few_rows_bear_few_components(rng):
    Z, _ = sharing(rng, [40] * 12, n=30)
    assert len(Components.of(Z, 30).values) == 30 // ROWS_PER_COMPONENT


def test_many_rows_and_columns_have_components_of_a_sample(rng, monkeypatch):
    """Oracle: the factor that the columns share."""
    monkeypatch.setattr("smrmr.conditional.components.MAX_SAMPLE", 40)
    Z, factors = sharing(rng, [200], n=100)
    found = Components.of(Z, 100)
    assert len(found.sample) == 40
    assert abs(np.corrcoef(found.vectors[0], factors[0])[0, 1]) > 0.98
    assert found.loadings.shape == (200, 1)


def test_components_without_a_group_are_those_of_the_others(rng):
    """Oracle: the decomposition of the other columns: a block's own factor is gone with it."""
    Z, factors = sharing(rng, [20, 20])
    found = Components.of(Z, 80)
    assert len(found.values) == 2
    without = found.without(np.arange(20), Z[:20])
    assert len(without.vectors) == 1
    assert abs(np.corrcoef(without.vectors[0], factors[-1])[0, 1]) > 0.95
    assert_allclose(without.vectors @ without.vectors.T, np.eye(1), atol=1e-12)
    left = Z - (Z @ without.vectors.T) @ without.vectors
    assert_allclose(without.lengths, left.std(axis=1), atol=0.05)
    half = found.without(np.arange(10), Z[:10])  # the other half still has the factor
    assert len(half.vectors) == 2
    of_others = np.linalg.svd(Z[10:], full_matrices=False)[2][:2]
    assert_allclose(half.vectors.T @ half.vectors, of_others.T @ of_others, atol=0.02)


def test_small_blocks_are_adjusted_for_others_alone(rng):
    """Oracle: the correlation of two features, of which a component of both would leave nothing."""
    p_values, left = [], []
    for _ in range(20):
        w = rng.standard_normal(200)
        x = 0.9 * w + np.sqrt(0.19) * rng.standard_normal(200)
        found = smrmr.test(x, rng.standard_normal(200), given=w[:, None])
        p_values.append(found.p_value)
        left.append(found.residual_variance[0])
    assert max(p_values) < 1
    assert 0.1 < np.mean(np.array(p_values) < 0.5) < 0.9
    assert np.mean(left) > 0.15


def test_components_never_see_what_they_are_without(rng):
    """Oracle: other values in its place; the first components of all are a start, no more."""
    Z, _ = sharing(rng, [20, 20])
    for features in (np.array([3]), np.arange(8)):
        found = []
        for scale in (1, -1):
            other = Z.copy()
            other[features] = standardised(
                Z[features] + scale * 0.3 * columns(rng, len(features), 80)
            )
            found.append(Components.of(other, 80).without(features, other[features]).vectors)
        apart = found[0].T @ found[0] - found[1].T @ found[1]
        assert np.abs(apart).max() < 0.01


# -- neighbours


def test_neighbours_are_the_strongest_correlations(rng):
    """Oracle: a sort of all correlations; columns of the same hypothesis do not count."""
    Z = columns(rng, p=40, n=50)
    Z[20:] = standardised(Z[:20] + 0.5 * Z[20:])
    hypothesis_of = np.arange(40) // 2
    near = neighbours_of(Z, hypothesis_of, np.arange(5, 9))
    for k in range(5, 9):
        size = np.abs(Z @ Z[k]) / 50
        size[hypothesis_of == hypothesis_of[k]] = 0
        expected = [j for j in np.argsort(-size) if size[j] > penalty(40, 50) / 2]
        found = near.linear[k - 5]
        assert found[found >= 0].tolist() == expected


def test_neighbours_share_more_than_the_components(rng):
    """Oracle: correlations of what components leave of the columns."""
    Z, _ = sharing(rng, [40])
    Z[1] = standardised((Z[0] + 0.3 * rng.standard_normal(80))[None])[0]
    components = Components.of(Z, 80)
    near = neighbours_of(Z, alone(40), np.arange(40), components.of_all)
    left = Z - (Z @ components.vectors.T) @ components.vectors
    size = np.abs(np.corrcoef(left))
    np.fill_diagonal(size, 0.0)
    for k in range(40):
        found = near.linear[k][near.linear[k] >= 0]
        assert found.tolist() == [
            j for j in np.argsort(-size[k]) if size[k, j] > penalty(40, 80) / 2
        ]
    assert near.linear[0, 0] == 1


# -- residuals


def correlated(rng, n=70):
    """The first column is the sum of the next two and noise."""
    Z = columns(rng, p=8, n=n)
    Z[0] = standardised((Z[1] + Z[2] + rng.standard_normal(n))[None])[0]
    return Z


def unrelated(rng, Z, basis):
    """A target that correlates with no column, and has mean 0."""
    others = np.vstack([Z, basis]).T
    e = rng.standard_normal(Z.shape[1])
    return e - LinearRegression().fit(others, e).predict(others)


@pytest.mark.parametrize("many_rows", [0, 10**6])
def test_residuals_are_those_of_a_square_root_lasso(many_rows, rng, monkeypatch):
    """Oracle: scikit-learn's LASSO with the penalty times the norm of the residual.

    Of many rows all neighbours are multiplied at once.
    """
    monkeypatch.setattr("smrmr.conditional.residuals.MANY_ROWS", many_rows)
    Z = correlated(rng)
    basis = orthonormal(rng, 3, 70)
    near = Neighbours(np.array([[1, 2, 5, -1]]), np.array([[-1]]))
    found = residuals(Z, near, unrelated(rng, Z, basis)[None], basis)
    free = standardised(Z - (Z @ basis.T) @ basis)
    length = np.std(Z[0] - (Z[0] @ basis.T) @ basis)
    r = found.values[0] / length
    alpha = penalty(8, 70) * np.sqrt(np.mean(r**2))
    model = Lasso(alpha, tol=1e-12, max_iter=100_000).fit(free[[1, 2, 5]].T, free[0])
    assert 0 < np.count_nonzero(model.coef_) < 3
    assert_allclose(r, free[0] - model.predict(free[[1, 2, 5]].T), atol=1e-6)
    assert_allclose(found.variance, [np.mean((length * r) ** 2)])
    assert_allclose(found.fitted[0], Z[0] - found.values[0])
    assert (np.abs(free[[1, 2, 5]] @ r) / 70 <= alpha * (1 + 1e-6)).all()


def test_target_is_adjusted_for_the_basis_alone(rng):
    """Oracle: scikit-learn's regression, and the t-test of a correlation with 65 degrees."""
    Z, basis = correlated(rng), orthonormal(rng, 3, 70)
    e = unrelated(rng, Z, basis) + 3 * basis[0]
    near = Neighbours(np.array([[1, 2, -1]]), np.array([[-1]]))
    found = residuals(Z, near, e[None], basis)
    (pairs,) = found.pairs(draw_tie_breakers(70))
    free = e - LinearRegression().fit(basis.T, e).predict(basis.T)
    assert_allclose(pairs.target[0], free, atol=1e-12)
    assert pairs.rank[0] == 3
    assert pairs.freedom[0] == 65
    (r,) = found.values
    assert pairs.correlation[0] == pytest.approx(np.corrcoef(r, free)[0, 1])
    moments = pairs.moments
    scores = stats.norm.ppf((stats.rankdata(free) - 0.5) / 70)
    assert moments.correlation_abs_e[0] == pytest.approx(np.corrcoef(r, np.abs(free))[0, 1])
    assert moments.correlation_abs_r[0] == pytest.approx(np.corrcoef(np.abs(r), scores)[0, 1])
    assert gcm_p_values(pairs, np.array([False]))[0] == pytest.approx(
        2 * stats.t.sf(abs(stats.ttest_1samp(r * free, 0).statistic), 65)
    )


def test_neighbours_that_the_target_still_goes_with_count_in_full(rng):
    """Oracle: regressions of both on the neighbour; the one beside it is only shrunken."""
    Z, basis = correlated(rng), orthonormal(rng, 2, 70)
    near = Neighbours(np.array([[1, 2, -1]]), np.array([[-1]]))
    e = Z[1] + 0.3 * unrelated(rng, Z, basis)
    found = residuals(Z, near, e[None], basis)
    assert found.rank.tolist() == [3]
    others = np.vstack([basis, Z[1]]).T
    free = e - LinearRegression().fit(others, e).predict(others)
    assert_allclose(found.target[0, 0], free, atol=1e-10)
    assert abs(found.values[0] @ Z[1]) < 1e-9
    assert abs(found.values[0] @ Z[2]) > 1


def test_splines_count_in_full(rng):
    """Oracle: scikit-learn's regression on a column and its hinges."""
    Z, basis = columns(rng, p=3, n=90), orthonormal(rng, 2, 90)
    Z[0] = standardised((Z[1] ** 2 + 0.3 * rng.standard_normal(90))[None])[0]
    near = Neighbours(np.array([[-1]]), np.array([[1]]))
    e = rng.standard_normal(90)
    found = residuals(Z, near, (e - e.mean())[None], basis)
    hinges = [np.maximum(Z[1], knot) for knot in (-1, -0.5, 0, 0.5, 1)]
    others = np.vstack([basis, Z[1], *hinges]).T
    for values, before in ((found.values[0], Z[0]), (found.target[0, 0], e)):
        assert_allclose(
            values, before - LinearRegression().fit(others, before).predict(others), atol=1e-9
        )
    assert found.rank.tolist() == [2 + 6]


def test_what_has_no_neighbour_is_left_alone(rng):
    Z = columns(rng, p=4)
    found = residuals(Z, Neighbours.none(4), rng.standard_normal((2, 60)), np.empty((0, 60)))
    assert_allclose(found.values, Z)
    assert found.rank.tolist() == [0] * 4


@pytest.mark.parametrize("noise", [0.05, 2.0])
def test_features_beside_true_ones_keep_their_null(noise, rng):
    """Oracle: the uniform law of p-values of features that only correlate with true ones.

    With hardly any noise the residual of the target is mostly bias of its fit.
    """
    small = []
    for _ in range(25):
        X = rng.standard_normal((120, 20))
        X[:, 2:8] += X[:, :2] @ rng.standard_normal((2, 6))
        y = X[:, 0] - X[:, 1] + noise * rng.standard_normal(120)
        small.append(np.mean(select(X, y, Recipe(alike="none")).p_values[2:] <= 0.05))
    assert np.mean(small) < 0.05 + 3 * np.std(small) / 5
