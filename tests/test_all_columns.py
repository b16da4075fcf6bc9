"""Paths of the LASSO and MCP over all columns, without their Gram matrix."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Lasso as OneLasso
from sklearn.linear_model import MultiTaskLasso

import smrmr.conditional.distillers.problem as problem_module
from smrmr import Recipe, select
from smrmr.conditional import Blend, FitProblem, Lasso
from smrmr.conditional.distillers import Distillation
from smrmr.conditional.distillers.path_loops import CONCAVITY, SquaredLoss
from smrmr.conditional.distillers.paths import fit_path
from smrmr.conditional.distillers.regressors import Regressors
from smrmr.conditional.scores import standardised
from smrmr.data import open_columns
from smrmr.report.html import render

NONE = np.empty(0, np.intp)
N_ROWS = 120


def drawn(rng, q=1, p=1200, n=N_ROWS):
    """Columns that share factors, and q columns of a target that depends on four of them."""
    factors = rng.standard_normal((p, 3)) @ rng.standard_normal((3, n))
    Z = standardised(rng.standard_normal((p, n)) + factors)
    Y = rng.standard_normal((q, 4)) @ Z[[0, 3, 7, p - 1]] + rng.standard_normal((q, n))
    return Z, standardised(Y)


def without_gram(Z, Y):
    return SquaredLoss.by_columns(Y @ Z.T / Z.shape[1], Z, Y)


def with_gram(Z, Y):
    n = Z.shape[1]
    return SquaredLoss.by_gram(Y @ Z.T / n, Z @ Z.T / n)


def left_out(p, *columns):
    return np.isin(np.arange(p), columns)


def whole(path, step):
    """Coefficients of all columns at one lambda, (q, columns)."""
    found = np.zeros((path.coefficients.shape[1], path.size))
    found[:, path.columns] = path.coefficients[step]
    return found


def assert_at_minimum(path, Z, Y, concave=False):
    """Gradients of the loss against the slope of the penalty, in all columns at every lambda."""
    assert path.violation <= 1e-6
    steps = np.flatnonzero(np.isfinite(path.criterion))
    assert len(steps) > 10
    for step in steps:
        b, lam = whole(path, step), path.lams[step]
        gradient = (Y - b @ Z) @ Z.T / Z.shape[1]
        size = np.linalg.norm(b, axis=0)
        active = size > 0
        slope = np.maximum(lam - size / CONCAVITY, 0.0) if concave else np.full(len(Z), lam)
        expected = slope[active] * b[:, active] / size[active]
        assert_allclose(gradient[:, active], expected, atol=2e-6)
        others = ~active & ~path.out
        assert (np.linalg.norm(gradient[:, others], axis=0) <= lam + 1e-6).all()
        bounds = path.reference.bounds[step]
        assert (np.linalg.norm(gradient, axis=0) <= bounds + 1e-6).all()


@pytest.mark.parametrize(("n", "p", "has_gram"), [(60, 200, True), (60, 300, False)])
def test_wide_problems_have_no_gram_matrix(n, p, has_gram, rng):
    """Oracle: sizes; inner products of all columns are held if there are at most four per row."""
    loss = Regressors(rng.standard_normal((p, n)), np.empty((0, n))).loss(np.ones((1, n)), p)
    assert loss.gram.shape == ((p, p) if has_gram else (0, 0))
    assert loss.columns.shape == ((0, 0) if has_gram else (p, n))


@pytest.mark.parametrize("q", [1, 3])
def test_lasso_of_many_columns_is_that_of_scikit_learn(q, rng):
    """Oracle: scikit-learn's Lasso and MultiTaskLasso on 2,400 columns of 120 rows."""
    Z, Y = drawn(rng, q, p=2400)
    out = left_out(2400, 3)
    path = fit_path(Regressors(Z, np.empty((0, N_ROWS))).loss(Y, 2400), N_ROWS, out)
    for step in (0, 5, 10, 14):
        kind = OneLasso if q == 1 else MultiTaskLasso
        solver = kind(alpha=path.lams[step], fit_intercept=False, tol=1e-10, max_iter=100_000)
        solver.fit(Z[~out].T, Y[0] if q == 1 else Y.T)
        b = whole(path, step)
        assert_allclose(b[:, ~out], np.atleast_2d(solver.coef_), atol=1e-5)
        assert not b[:, out].any()


@pytest.mark.parametrize("q", [1, 3])
def test_conditions_of_a_minimum_hold_in_all_columns(q, rng):
    """Oracle: the gradient itself; of paths from the start, and of those that know another one."""
    Z, Y = drawn(rng, q)
    loss, nothing = without_gram(Z, Y), left_out(len(Z))
    lasso = fit_path(loss, N_ROWS, nothing)
    mcp = fit_path(loss, N_ROWS, nothing, convex=lasso)
    assert_at_minimum(lasso, Z, Y)
    assert_at_minimum(mcp, Z, Y, concave=True)
    for k in lasso.entered[:: len(lasso.entered) // 6]:
        out = left_out(len(Z), k)
        again = fit_path(loss, N_ROWS, out, lasso)
        assert_at_minimum(again, Z, Y)
        assert_at_minimum(fit_path(loss, N_ROWS, out, mcp, again), Z, Y, concave=True)


@pytest.mark.parametrize("q", [1, 3])
def test_paths_keep_inner_products_of_columns_that_came_close(q, rng, monkeypatch):
    """Oracle: a product of matrices; the gradient says which columns came close."""
    Z, Y = drawn(rng, q)
    monkeypatch.setattr("smrmr.conditional.distillers.paths.MOST_CLOSE", 20)
    path = fit_path(without_gram(Z, Y), N_ROWS, left_out(len(Z)))
    loss = path.with_gram(without_gram(Z, Y))
    held = np.flatnonzero(loss.place_in_gram >= 0)
    expected = Z[held] @ Z[held].T / N_ROWS
    place = loss.place_in_gram[held]
    assert_allclose(loss.gram[np.ix_(place, place)], expected, atol=1e-12)
    shares = [np.zeros(len(Z))]
    for step in np.flatnonzero(path.reference.bounds.any(axis=1)):
        gradient = (Y - whole(path, step) @ Z) @ Z.T / N_ROWS
        shares.append(np.linalg.norm(gradient, axis=0) / path.lams[step])
    others = np.setdiff1d(np.arange(len(Z)), path.columns)
    closest = others[np.argsort(-np.max(shares, axis=0)[others])][:20]
    assert set(held) == {*path.columns, *closest}


@pytest.mark.parametrize("q", [1, 3])
def test_a_path_is_the_same_with_and_without_the_gram_matrix(q, rng):
    """Oracle: the path by all inner products; what is minimised is known better than where."""
    Z, Y = drawn(rng, q, p=500)
    known = {}
    for k in (None, 0, 3, 7, 499, 100):
        out, found = left_out(500, k), []
        for make in (without_gram, with_gram):
            found.append(fit_path(make(Z, Y), N_ROWS, out, known.get(make)))
            known.setdefault(make, found[-1])
        one, other = found
        assert_array_equal(np.isfinite(one.criterion), np.isfinite(other.criterion))
        for step in np.flatnonzero(np.isfinite(one.criterion)):
            values = []
            for path in found:
                b = whole(path, step)
                penalty = path.lams[step] * np.linalg.norm(b, axis=0).sum()
                values.append(0.5 * np.mean((Y - b @ Z) ** 2) * q + penalty)
            assert values[0] == pytest.approx(values[1], abs=1e-9)
            assert_allclose(whole(one, step), whole(other, step), atol=1e-4)


def of_correlations(correlations, n, rng):
    """Rows of mean square 1 with these inner products over n."""
    basis = np.linalg.qr(rng.standard_normal((n, len(correlations))))[0].T * np.sqrt(n)
    return np.linalg.cholesky(correlations) @ basis


def test_columns_that_the_strong_rule_discards_wrongly_are_found(rng):
    """Oracle: the path by all inner products, on which the gradient of a column outruns lambda.

    While x and z, of correlation -0.4, take part, the gradient of a column that correlates with
    both by 0.54 moves 1.8 times as fast as lambda.
    """
    G = np.array([[1, -0.4, 0.54], [-0.4, 1, 0.54], [0.54, 0.54, 1]])
    n_wrong = 0
    for pull in np.linspace(20, 50, 30):
        Z = of_correlations(G, 40, rng)
        y = Z[0] + Z[1] - pull * (Z[2] - 0.9 * (Z[0] + Z[1]))
        y = y[None] / y.std()
        found = fit_path(without_gram(Z, y), 40, left_out(3))
        expected = fit_path(with_gram(Z, y), 40, left_out(3))
        steps = np.flatnonzero(np.isfinite(expected.criterion))
        for step in steps:
            assert_allclose(whole(found, step), whole(expected, step), atol=1e-6)
        first = expected.first_step
        for k in np.flatnonzero((first > 0) & (first < len(expected.lams))):
            step = first[k]
            before = expected.reference.bounds[step - 1, k]
            n_wrong += before < 2 * expected.lams[step] - expected.lams[step - 1]
    assert n_wrong > 0


@pytest.mark.parametrize("distiller", [Lasso(), Blend()], ids=repr)
def test_a_fit_without_a_column_does_not_depend_on_it(distiller, rng):
    """Law: whatever the column holds, the target itself too, the fit without it is the same."""
    X = rng.standard_normal((60, 200)) + rng.standard_normal((60, 1))
    y = X[:, :4].sum(axis=1) + rng.standard_normal(60)
    found = Distillation((FitProblem.of(X, y),), (distiller,))
    n_kept = 0
    for k in range(0, 24):
        out, other = np.array([k]), X.copy()
        other[:, k] = y + 0.01 * rng.standard_normal(60)
        expected = distiller.fit(FitProblem.of(other, y), out).residuals
        assert_allclose(found.without(out).residuals, expected, atol=1e-5)
        n_kept += found.without(out) is found.full_fit
    assert 0 < n_kept < 24


def test_where_memory_bounds_a_fit_the_place_of_a_column_does_not_matter(rng, monkeypatch):
    """Law: the fit without a column is the same with that column behind all others.

    Of 60 columns 40 take part: leaving out one of them lets the next one in, which matters here.
    """
    monkeypatch.setattr(problem_module, "LEAST_IN_FIT", 40)
    monkeypatch.setattr(problem_module, "MOST_VALUES", 0)
    X = rng.standard_normal((50, 60))
    y = X[:, [0, 5, 11, 40]].sum(axis=1) + rng.standard_normal(50)
    found = Distillation((FitProblem.of(X, y),), (Lasso(),))
    assert not np.isin(found.full_fit.used, np.arange(40, 60)).any()
    for k in (0, 1, 5, 20, 39, 40, 41, 55):
        order = [*np.delete(np.arange(60), k), k]
        moved = Lasso().fit(FitProblem.of(X[:, order], y), NONE)
        without = found.without(np.array([k]))
        assert_allclose(without.residuals, moved.residuals, atol=1e-5)
        assert (40 in without.used) == (k < 40)


def test_memory_of_a_path_is_that_of_its_columns(rng):
    """Oracle: bytes, as Python counts them; all inner products would be 50 times the columns."""
    Z, Y = drawn(rng, p=6000)
    loss = without_gram(Z, Y)
    fit_path(without_gram(Z[:10], Y), N_ROWS, left_out(10))  # compiles
    tracemalloc.start()
    lasso = fit_path(loss, N_ROWS, left_out(6000))
    for k in lasso.entered[:5]:
        fit_path(loss, N_ROWS, left_out(6000, k), lasso)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * Z.nbytes


def hidden_truth(rng, p):
    """A target of two columns, of which the second is not associated with it alone."""
    X = rng.standard_normal((100, p))
    parts = rng.standard_normal((100, 3))
    one, two, noise = np.linalg.qr(parts - parts.mean(axis=0))[0].T  # uncorrelated to the last bit
    X[:, 0], X[:, 1] = one, two - one
    return X, one + two + 0.3 * noise


@pytest.mark.parametrize("on_disk", [False, True])
def test_features_that_are_not_associated_alone_take_part_in_fits(on_disk, rng, tmp_path):
    """Oracle: how the target was made; by association alone 1,000 others come before one of two."""
    X, y = hidden_truth(rng, 1800)
    if on_disk:
        np.save(tmp_path / "X.npy", X)
        X = open_columns(tmp_path / "X.npy")
    found = select(X, y, Recipe(alike=None))
    assert np.sum(found.alone.p < found.alone.p[1]) > 1000
    assert {0, 1} <= {*found.evidence.fits[0].used.tolist()}
    assert {0, 1} <= {*found.selected.tolist()}


def methods_of(found):
    """The page of a report, as one line."""
    return " ".join(render(found).split())


def test_a_bound_on_fits_is_said_aloud(rng, monkeypatch):
    """Oracle: the bound, set for this test: in a warning and in the text of methods."""
    X, y = hidden_truth(rng, 60)
    assert "LASSO chose from" not in methods_of(select(X, y))
    monkeypatch.setattr(problem_module, "LEAST_IN_FIT", 40)
    monkeypatch.setattr(problem_module, "MOST_VALUES", 0)
    with pytest.warns(UserWarning, match="Of 60 features sparse fits .* from the 40 most"):
        found = select(X, y)
    assert found.evidence.fits[0].n_offered == 40
    assert "LASSO chose from the 40 features most associated" in methods_of(found)
