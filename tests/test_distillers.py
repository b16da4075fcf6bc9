"""Fits of all columns of the target together: against other solvers, and fits made again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Lasso as OneLasso
from sklearn.linear_model import MultiTaskLasso

import smrmr.conditional.distillers.kernel_ridge as kernel_module
import smrmr.conditional.distillers.problem as problem_module
import smrmr.conditional.distillers.ridge as ridge_module
from smrmr import Recipe, select
from smrmr.conditional import Blend, FitProblem, Kernel, Lasso, Ridge
from smrmr.conditional.distillers import Distillation
from smrmr.conditional.distillers.kernel_ridge import MIXES, RIDGES, KernelRidge
from smrmr.conditional.distillers.lasso import SumOfColumns
from smrmr.conditional.distillers.path_loops import CONCAVITY, SquaredLoss
from smrmr.conditional.distillers.paths import fit_path
from smrmr.conditional.distillers.regressors import Regressors, absolute_values
from smrmr.conditional.distillers.ridge import LAMBDAS
from smrmr.conditional.distillers.tridiagonal import Tridiagonal
from smrmr.conditional.scores import standardised
from smrmr.data.targets.protocol import TargetColumns

NONE = np.empty(0, np.intp)


def drawn(rng, q, p=20, n=60):
    """Features and q columns of a target that depends on three of them, standardised."""
    Z = standardised(rng.standard_normal((p, n)) + 0.5 * rng.standard_normal(n))
    Y = rng.standard_normal((q, 3)) @ Z[[0, 3, 7]] + rng.standard_normal((q, n))
    return Z, standardised(Y)


def path_of(Z, Y, out=None, known=None, convex=None):
    n = Z.shape[1]
    out = np.zeros(len(Z), bool) if out is None else out
    loss = Regressors(Z, np.empty((0, n))).loss(Y, len(Z))
    return fit_path(loss, n, out, known, convex)


def whole(path, step):
    """Coefficients of all columns at one lambda, (q, columns)."""
    found = np.zeros((path.coefficients.shape[1], path.size))
    found[:, path.columns] = path.coefficients[step]
    return found


def assert_same_path(found, expected):
    """Equal at every lambda; the last ones may be missing where rounding breaks ties of MCP."""
    steps = np.isfinite(found.criterion) & np.isfinite(expected.criterion)
    assert steps.sum() > 8
    scale = np.abs(expected.criterion[steps]).max()  # it is a difference of numbers of that size
    assert_allclose(found.criterion[steps], expected.criterion[steps], rtol=1e-6, atol=1e-6 * scale)
    for step in np.flatnonzero(steps):
        assert_allclose(whole(found, step), whole(expected, step), atol=1e-6)
    assert_allclose(found.chosen, expected.chosen, atol=1e-6)


# -- paths


@pytest.mark.parametrize("q", [1, 3])
def test_lasso_is_that_of_scikit_learn(q, rng):
    """Oracle: scikit-learn's Lasso and MultiTaskLasso, whose losses are the same."""
    Z, Y = drawn(rng, q)
    out = np.arange(20) == 3
    path = path_of(Z, Y, out)
    for step in (0, 5, 10, 15):
        kind = OneLasso if q == 1 else MultiTaskLasso
        solver = kind(alpha=path.lams[step], fit_intercept=False, tol=1e-12, max_iter=100_000)
        solver.fit(Z[~out].T, Y[0] if q == 1 else Y.T)
        b = whole(path, step)
        assert_allclose(b[:, ~out], np.atleast_2d(solver.coef_), atol=1e-5)
        assert not b[:, out].any()


@pytest.mark.parametrize("q", [1, 3])
def test_lasso_is_judged_by_generalised_cross_validation(q, rng):
    """Oracle: the residual itself, and degrees of freedom of Yuan and Lin (2006), by a loop."""
    Z, Y = drawn(rng, q)
    path = path_of(Z, Y)
    steps = np.flatnonzero(np.isfinite(path.criterion))
    assert len(steps) > 10
    for step in steps:
        b, lam, freedom = whole(path, step), path.lams[step], 0.0
        for norm in np.linalg.norm(b, axis=0):
            if norm > 0:
                freedom += (1 + (q - 1) * norm / (norm + lam)) / q
        error = np.mean((Y - b @ Z) ** 2) / (1 - (freedom + 1) / 60) ** 2
        assert path.criterion[step] == pytest.approx(error, rel=1e-6)
        if step == path.criterion.argmin():
            assert path.freedom == pytest.approx(freedom)
            assert_array_equal(path.chosen, b)


@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("p", [20, 200])
@pytest.mark.parametrize("concave", [False, True])
def test_paths_meet_the_conditions_of_a_minimum(concave, p, q, rng):
    r"""Oracle: gradient of the loss against the slope of the penalty, lambda or that of MCP."""
    Z, Y = drawn(rng, q, p)
    path = path_of(Z, Y)
    if concave:
        path = path_of(Z, Y, convex=path)
    assert path.violation <= 1e-6
    for step in np.flatnonzero(np.isfinite(path.criterion)):
        b, lam = whole(path, step), path.lams[step]
        gradient = (Y - b @ Z) @ Z.T / 60
        size = np.linalg.norm(b, axis=0)
        active = size > 0
        slope = np.maximum(lam - size / CONCAVITY, 0.0) if concave else np.full(p, lam)
        expected = slope[active] * b[:, active] / size[active]
        assert_allclose(gradient[:, active], expected, atol=2e-6)
        assert (np.linalg.norm(gradient[:, ~active], axis=0) <= lam + 1e-6).all()


@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("concave", [False, True])
def test_a_known_path_saves_time_only(concave, q, rng):
    """Oracle: the path followed from its start."""
    Z, Y = drawn(rng, q, p=40)
    known = path_of(Z, Y)
    known_mcp = path_of(Z, Y, convex=known)
    n_reused = 0
    for k in range(40):
        out = np.arange(40) == k
        again, expected = path_of(Z, Y, out, known), path_of(Z, Y, out)
        if concave:
            again = path_of(Z, Y, out, known_mcp, again)
            expected = path_of(Z, Y, out, convex=expected)
        assert_same_path(again, expected)
        n_reused += again is known or again is known_mcp
    assert 10 < n_reused < 38


def test_what_a_path_ends_with_counts_as_known():
    """Oracle: the path from its start; a column that enters last may be why a path ends there."""
    Z, Y = drawn(np.random.default_rng(8), 3, p=80)
    known = path_of(Z, Y)
    last = np.isfinite(known.criterion).sum()
    assert 2 * np.count_nonzero(whole(known, last).any(axis=0)) > 60
    entered_last = np.flatnonzero(known.first_step == last)
    assert len(entered_last) > 2
    for k in entered_last:
        out = np.arange(80) == k
        assert_allclose(path_of(Z, Y, out, known).chosen, path_of(Z, Y, out).chosen, atol=1e-6)


def test_too_many_columns_at_once_are_no_fit():
    """Oracle: none of 15 columns that enter together, as they do alike, is better than another."""
    loss = SquaredLoss.by_gram(np.full((2, 15), 0.2), np.eye(15))
    path = fit_path(loss, 20, np.zeros(15, bool))
    assert not path.chosen.any()
    assert path.freedom == 0
    assert path.entered.tolist() == list(range(15))


@pytest.mark.parametrize("concave", [False, True])
def test_paths_turn_with_the_target(concave, rng):
    """Law: an orthogonal map of the columns of the target maps coefficients, and no more."""
    Z, Y = drawn(rng, 3, p=40)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    path, turned = path_of(Z, Y), path_of(Z, turn @ Y)
    if concave:
        path, turned = path_of(Z, Y, convex=path), path_of(Z, turn @ Y, convex=turned)
    back = np.einsum("dc,sdk->sck", turn, turned.coefficients)
    assert_same_path(replace(turned, coefficients=back), path)


# -- sums of columns


def test_what_columns_contribute_is_given_back(rng):
    """Oracle: coefficients times columns; columns beyond those fitted have none."""
    Z, Y = drawn(rng, 2)
    regressors = Regressors(np.concatenate([Z, absolute_values(Z)]), np.empty((0, 60)))
    for size in (20, 40):
        b = np.where(np.arange(size) % 3 == 0, rng.standard_normal((2, size)), 0.0)
        fit = SumOfColumns(
            residuals=Y - b @ regressors.columns[:size],
            used=np.arange(20),
            regressors=regressors,
            coefficients=b,
        )
        sets = [NONE, np.array([3]), np.array([1]), np.array([0, 6, 8, 19]), np.array([25, 3, 99])]
        found = fit.without(sets)
        for i, out in enumerate(sets):
            kept = b.copy()
            kept[:, [k for k in range(size) if k % 20 in out]] = 0.0
            assert_allclose(found[:, i], Y - kept @ regressors.columns[:size], atol=1e-12)
        assert_array_equal(found[:, 4], found[:, 1])


def test_absolute_values_that_copy_a_column_are_none():
    """Oracle: the correlation of a rare 0/1 column with its absolute value, which is 1."""
    rare, normal = np.repeat([0.0, 1.0], [57, 3]), np.linspace(-2, 2, 60)
    found = absolute_values(standardised(np.stack([rare, -rare, normal])))
    assert not found[:2].any()
    assert_allclose(found[2].std(), 1)


# -- kernel ridge regression


def kernel_fit(Z, Y):
    regressors = Regressors(np.concatenate([Z, Z]), np.empty((0, Z.shape[1])))
    return KernelRidge(regressors, tuple(range(len(Z))), Y)


@pytest.mark.parametrize("n", [80, 260])
def test_kernel_ridge_of_several_columns_is_that_of_each(n, rng, monkeypatch):
    """Oracle: fits of single columns at the same mix and ridge, of which the best is taken."""
    Z = standardised(rng.standard_normal((3, n)))
    Y = standardised(np.stack([np.abs(Z[0]), Z[1], Z[2] * Z[1]]) + rng.standard_normal((3, n)))
    together, fits = kernel_fit(Z, Y).residuals, []
    for mix in MIXES:
        for ridge in RIDGES:
            monkeypatch.setattr(kernel_module, "MIXES", (mix,))
            monkeypatch.setattr(kernel_module, "RIDGES", np.array([ridge]))
            fits.append(np.concatenate([kernel_fit(Z, y[None]).residuals for y in Y]))
    apart = [np.abs(fit - together).max() for fit in fits]
    errors = [np.mean(fit**2) for fit in fits]
    assert min(apart) < 1e-9
    # above 200 rows the choice is by generalised cross-validation
    assert errors[np.argmin(apart)] <= min(errors) * (1.02 if n > 200 else 1 + 1e-12)


def reducible(rng, size):
    half, Y = rng.standard_normal((size, size + 2)), rng.standard_normal((2, size))
    K, ridges = half @ half.T, np.array([0.1, 3.0])
    return K, Y, ridges, [np.linalg.inv(K + ridge * np.eye(size)) for ridge in ridges]


@pytest.mark.parametrize("size", [1, 2, 7, 40])
def test_what_ridges_explain_by_a_tridiagonal_matrix(size, rng):
    """Oracle: the inverse of the matrix with every ridge."""
    K, Y, ridges, inverses = reducible(rng, size)
    expected = [
        np.sum((Y @ one) * Y) + ridge * np.sum((Y @ one) ** 2)
        for one, ridge in zip(inverses, ridges, strict=True)
    ]
    freedom, explained = Tridiagonal.of(K).judged(Y, ridges)
    assert_allclose(freedom, [np.trace(K @ one) for one in inverses])
    assert_allclose(explained, expected)


@pytest.mark.parametrize("size", [2, 7, 40])
def test_inverses_by_a_tridiagonal_matrix(size, rng):
    """Oracle: the inverse of the matrix with every ridge."""
    K, Y, ridges, inverses = reducible(rng, size)
    diagonals, solved = Tridiagonal.of(K).inverted(Y, ridges)
    assert_allclose(diagonals, [np.diag(one) for one in inverses])
    assert_allclose(solved, [Y @ one for one in inverses])


# -- ridge regression


def ridge_problem(rng, n, p, n_covariates, q=2):
    """Features and target, free of covariates."""
    basis = np.linalg.qr(standardised(rng.standard_normal((n_covariates, n))).T)[0].T
    X = rng.standard_normal((p, n)) + rng.standard_normal(n)
    Y = rng.standard_normal((q, p)) @ X / np.sqrt(p) + rng.standard_normal((q, n))
    X, Y = (v - v.mean(axis=1, keepdims=True) for v in (X, Y))
    Z, Y = (standardised(v - v @ basis.T @ basis) for v in (X, Y))
    regressors = Regressors(np.concatenate([Z, absolute_values(Z)]), basis)
    return FitProblem(regressors, TargetColumns(("a", "b"), Y), Z)


def ridge_again(problem, out):
    """Residuals of a ridge regression without some columns, and its lambda by a loop."""
    Z, Y = np.delete(problem.scores, out, axis=0), problem.target.values
    p, n = problem.scores.shape
    best = np.inf, None, None
    for lam in LAMBDAS * p / min(p, n):
        to_slopes = np.linalg.solve(Z @ Z.T + n * lam * np.eye(len(Z)), Z)
        left = n - len(problem.regressors.covariate_basis)
        residuals, freedom = Y - Y @ to_slopes.T @ Z, np.sum(to_slopes * Z)
        error = np.sum(residuals**2) / (1 - (freedom + 1) / left) ** 2
        if error < best[0] and freedom + 1 <= left / 2:
            best = error, residuals, lam
    return best[1], best[2]


SIZES = [(40, 15), (30, 60)]


@pytest.mark.parametrize("n_covariates", [0, 3])
@pytest.mark.parametrize(("n", "p"), SIZES)
def test_ridge_without_columns_is_a_refit_without_them(n, p, n_covariates, rng):
    """Oracle: ridge regressions on the other columns, lambda by generalised cross-validation."""
    problem = ridge_problem(rng, n, p, n_covariates)
    sets = [NONE, *np.arange(p)[:, None], np.array([2, 9, 4]), rng.permutation(p)[: p * 4 // 5]]
    expected = np.stack([ridge_again(problem, out)[0] for out in sets], axis=1)
    fit = Ridge().fit(problem, NONE)
    assert_allclose(fit.without(sets), expected, atol=1e-8)
    assert_allclose(fit.residuals, expected[:, 0], atol=1e-8)
    assert len({ridge_again(problem, out)[1] for out in sets}) > 1
    for i in (3, -1):
        assert_allclose(Ridge().fit(problem, sets[i]).residuals, expected[:, i], atol=1e-8)
    without = Ridge().fit(problem, np.array([9])).without([np.array([4, 2])])
    assert_allclose(without[:, 0], expected[:, -2], atol=1e-8)


def refitted(Z, Y, known, new, unpenalised, penalty):
    """Residuals of new rows under least squares of known ones with a penalty on slopes of Z."""
    X = np.concatenate([unpenalised, Z])
    ridge = np.diag(np.r_[np.zeros(len(unpenalised)), np.full(len(Z), penalty)])
    inside = X[:, known]
    slopes = np.linalg.pinv(inside @ inside.T + ridge, 1e-12, hermitian=True) @ inside
    return Y[:, new] - Y[:, known] @ slopes.T @ X[:, new]


@pytest.mark.parametrize("n_covariates", [0, 3])
@pytest.mark.parametrize(("n", "p"), SIZES)
def test_ridge_is_judged_by_refits_to_other_folds(n, p, n_covariates, rng):
    """Oracle: regressions on the rows of other folds, with an unpenalised constant."""
    problem = ridge_problem(rng, n, p, n_covariates)
    lam = ridge_again(problem, NONE)[1]
    free = np.ones((1, n))
    found = Ridge().held_out(problem)
    for fold in problem.folds:
        known = np.delete(np.arange(n), fold)
        again = refitted(problem.scores, problem.target.values, known, fold, free, n * lam)
        assert_allclose(found[:, fold], again, atol=1e-7)


def test_of_many_rows_some_judge(rng, monkeypatch):
    """Oracle: refits without each of these rows, from which a mean leverage is not far."""
    monkeypatch.setattr(problem_module, "MOST_JUDGED", 50)
    n, q = 300, 2
    problem = ridge_problem(rng, n, 40, 2)
    lam, rows = ridge_again(problem, NONE)[1], problem.judged
    assert len(rows) == 50
    free = np.ones((1, n))
    Z, Y = problem.scores, problem.target.values
    again = np.empty((q, 50))
    for i, row in enumerate(rows):
        known = np.delete(np.arange(n), row)
        again[:, [i]] = refitted(Z, Y, known, [row], free, n * lam)
    found = Ridge().held_out(problem)
    assert_allclose(found, again, atol=0.25)
    assert np.mean(found**2) == pytest.approx(np.mean(again**2), rel=0.03)
    assert np.mean(Ridge().fit(problem, NONE).residuals[:, rows] ** 2) < 0.9 * np.mean(again**2)
    assert Lasso().held_out(problem).shape == (q, 50)


# -- which fit is taken


@pytest.mark.parametrize("distiller", [Blend(), Lasso(), Ridge()], ids=repr)
def test_errors_of_rows_left_out_are_honest(distiller, rng):
    """Oracle: a shuffled target cannot be predicted; a strong effect can."""
    X = rng.standard_normal((60, 300))
    Y = X[:, :2] @ [[1.0, 1.0], [1.0, -1.0]] + 0.3 * rng.standard_normal((60, 2))
    if distiller.alias == "ridge":
        X += 3 * rng.standard_normal((60, 1))
        Y = np.stack([X.sum(axis=1), -X.sum(axis=1)], axis=1) / 300 + 0.3 * Y
    assert np.mean(distiller.held_out(FitProblem.of(X, Y)) ** 2) < 0.5
    errors = [
        np.mean(distiller.held_out(FitProblem.of(X, rng.permutation(Y))) ** 2) for _ in range(10)
    ]
    assert np.mean(errors) >= 1 - 2 * np.std(errors, ddof=1) / np.sqrt(10)


def test_features_of_a_fold_are_chosen_without_it(rng):
    """Oracle: a shuffled target cannot be predicted by few of 1,000 features either."""
    X, Y = rng.standard_normal((60, 1000)), rng.standard_normal((60, 2))
    problem, errors = FitProblem.of(X, Y), []
    for _ in range(10):
        values = problem.target.values[:, rng.permutation(60)]
        shuffled = replace(problem, target=replace(problem.target, values=values), cache={})
        errors.append(np.mean(Lasso().held_out(shuffled) ** 2))
    assert np.mean(errors) >= 1 - 2 * np.std(errors, ddof=1) / np.sqrt(10)


def test_dense_targets_are_fitted_by_ridge_and_sparse_ones_by_the_blend(rng):
    """Oracle: how the data were made: from 100 features of one factor, and from three."""
    X = rng.standard_normal((100, 100)) + 0.5 * rng.standard_normal((100, 1))
    dense = X.sum(axis=1) + 5 * rng.standard_normal(100)
    sparse = X[:, :3].sum(axis=1) + 0.5 * rng.standard_normal(100)
    for y, expected in ((dense, 1), (sparse, 0)):
        found = Distillation((FitProblem.of(X, y),), (Blend(), Ridge()))
        assert found.chosen == (expected, 0)
        assert found.explains
        own = found.distillers[expected].fit(found.problems[0], NONE)
        assert_array_equal(found.full_fit.residuals, own.residuals)
        assert found.explained.keys() == {"blend", "ridge"}


def test_the_target_itself_is_tested_where_no_fit_explains_it(rng):
    """Oracle: the target."""
    problem = FitProblem.of(rng.standard_normal((60, 200)), rng.standard_normal((60, 3)))
    found = Distillation((problem,), (Blend(), Ridge()))
    assert not found.explains
    assert found.chosen == (0, 0)
    for fit in (found.full_fit, found.without(np.array([4, 7]))):
        assert_array_equal(fit.residuals, problem.target.values)
        assert not len(fit.used)


def test_of_forms_that_of_least_error_is_taken(rng):
    """Oracle: how the data were made: the second form has the features that y comes from."""
    X, y = rng.standard_normal((80, 30)), rng.standard_normal(80)
    good = X.copy()
    good[:, 4] = y + 0.3 * rng.standard_normal(80)
    problems = FitProblem.of(X, y), FitProblem.of(good, y)
    assert Distillation(problems, (Lasso(),)).chosen == (0, 1)
    assert Distillation(problems, (Kernel(), Lasso())).chosen == (0, 1)


# -- laws


@pytest.fixture(scope="module")
def five_classes():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((120, 40))
    X[:, 20:] = np.round(X[:, 20:] + X[:, :20])
    y = (X[:, :5] + X[:, 5:10] + 0.5 * rng.standard_normal((120, 5))).argmax(axis=1)
    return X, np.array(list("abcde"))[y]


def test_nothing_that_does_not_matter_changes_a_bit_of_five_classes(five_classes, rng):
    """Law: neither order of rows, nor names of classes, nor jobs count."""
    X, y = five_classes
    rows, names = rng.permutation(len(y)), dict(zip("abcde", "zxawk", strict=True))
    renamed = np.array([names[c] for c in y])
    found = select(X, y, Recipe(control="tests", alike=None))
    assert (found.p_values < 1e-3).any()
    for X_too, y_too, jobs in (
        (X[rows], y[rows], 1),
        (X, renamed, 1),
        (X, y, 2),
        (X[rows], renamed[rows], 2),
    ):
        other = select(X_too, y_too, Recipe(control="tests", alike=None, n_jobs=jobs))
        assert_array_equal(other.p_values, found.p_values)
        assert_array_equal(other.alone.p, found.alone.p)
        by_name = {fit.target: i for i, fit in enumerate(other.evidence.fits)}
        for i, fit in enumerate(found.evidence.fits):
            same = by_name[names[fit.target] if "z" in by_name else fit.target]
            for mine, theirs in (
                (found.evidence.effects, other.evidence.effects),
                (found.evidence.p_by_target, other.evidence.p_by_target),
            ):
                assert_array_equal(mine[0][i], theirs[0][same])


def test_ridge_reads_features_once_for_all_that_leave_none_of_them_out(rng, monkeypatch):
    X = rng.normal(size=(60, 8))
    problem = FitProblem.of(X, X[:, 1] + rng.normal(size=60))
    fit = Ridge().fit(problem, np.array([], dtype=int))
    expanded, seen = ridge_module.Spectrum.expanded, []
    monkeypatch.setattr(
        ridge_module.Spectrum,
        "expanded",
        lambda self, inside: seen.append(1) or expanded(self, inside),
    )
    found = fit.without([np.array([8]), np.array([9, 10]), np.array([], dtype=int)])
    assert_array_equal(found, np.repeat(fit.residuals[:, None], 3, axis=1))
    assert not seen
