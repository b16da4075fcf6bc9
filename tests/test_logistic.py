"""The sparse logistic regression that two classes are fitted by."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from smrmr import ConditionalTests, Recipe, select
from smrmr.conditional import FitProblem, Logistic
from smrmr.conditional.distillers import logistic as module
from smrmr.conditional.distillers.logistic import follow_path
from smrmr.conditional.distillers.logistic_loops import minimise
from smrmr.conditional.scores import standardised

NONE = np.empty(0, np.intp)


def classes(rng, n=80, p=30, n_true=4):
    X = rng.standard_normal((n, p))
    X[:, 1::2] += 0.6 * X[:, ::2]
    return X, rng.random(n) < expit(X[:, :n_true].sum(axis=1) + 0.5)


def whole_path(X, is_class, basis=None):
    Z = standardised(X.T)
    basis = np.empty((0, len(X))) if basis is None else basis
    return Z, follow_path(Z, is_class, basis, np.ones(len(Z), bool))


def lambdas(Z, is_class):
    return np.abs(Z @ (is_class - is_class.mean())).max() / len(is_class) * module.LAMBDAS


def test_every_column_meets_the_conditions_of_a_minimum(rng):
    """Oracle: the gradient at every lambda, of 600 columns that strong rules discard most of."""
    X, is_class = classes(rng, p=600)
    Z, path = whole_path(X, is_class)
    for step, lam in zip(path.steps, lambdas(Z, is_class), strict=False):
        b = step.coefficients
        chances = expit(b @ Z + step.unpenalised[0])
        gradient = Z @ (is_class - chances) / len(X)
        assert (np.abs(gradient) <= lam + 1e-5).all()
        assert_allclose(gradient[b != 0], lam * np.sign(b[b != 0]), atol=1e-5)
        assert abs(np.mean(is_class - chances)) < 1e-5


def test_deviance_is_that_of_rows_left_out(rng):
    """Oracle: fits without each row in turn; the estimate is of first order."""
    X, is_class = classes(rng, n=60, p=12)
    Z, path = whole_path(X, is_class)
    for step in (4, 9, 14):
        lam, left_out = lambdas(Z, is_class)[step], []
        for i in range(60):
            known = np.arange(60) != i
            b, y = np.zeros(13), is_class[known].astype(float)
            inputs = np.concatenate([np.ones((1, 59)), Z[:, known]])
            minimise(inputs, 1, y, lam * 60 / 59, b, np.zeros(59))
            score = b[1:] @ Z[:, i] + b[0]
            left_out.append(-np.log(expit(score if is_class[i] else -score)))
        assert path.steps[step].deviance == pytest.approx(np.mean(left_out), rel=0.08)


def test_a_known_path_changes_nothing_but_the_time(rng):
    """Oracle: the path from its start, without each column in turn."""
    X, is_class = classes(rng, p=200)
    Z, known = whole_path(X, is_class)
    nothing, n_shared = np.empty((0, 80)), []
    for column in (*known.columns, *np.flatnonzero(known.in_question == module.N_LAMBDAS)[:2]):
        allowed = np.arange(200) != column
        again = follow_path(Z, is_class, nothing, allowed, known)
        anew = follow_path(Z, is_class, nothing, allowed)
        assert len(again.steps) == len(anew.steps)
        for one, other in zip(again.steps, anew.steps, strict=True):
            assert one.coefficients[column] == 0
            for mine, theirs in zip(one, other, strict=True):
                assert_allclose(mine, theirs, atol=1e-6)
        pairs = zip(again.steps, known.steps, strict=False)
        n_shared.append(sum(mine is theirs for mine, theirs in pairs))
    assert min(n_shared) == 0
    assert n_shared[-2:] == [len(known.steps)] * 2
    assert 0 < np.median(n_shared) < len(known.steps)


def test_covariates_take_part_without_a_penalty(rng):
    """Oracle: the score equations: residuals are orthogonal to covariates and to a constant."""
    X, is_class = classes(rng)
    basis = np.linalg.qr(standardised(rng.standard_normal((2, 80)) + is_class).T)[0].T
    Z, path = whole_path(X, is_class, basis)
    scores = path.scores(Z, basis)
    for row in (np.ones(80), *basis):
        assert abs(row @ (is_class - expit(scores))) < 1e-4


def test_residuals_are_those_of_the_class(rng):
    """Oracle: the class less its fitted probability, in standard deviations."""
    X, is_class = classes(rng)
    problem = FitProblem.of(X, is_class)
    fit = Logistic().fit(problem, NONE)
    Z, path = whole_path(X, is_class)
    expected = (is_class - expit(path.scores(Z, np.empty((0, 80))))) / np.std(is_class)
    assert_allclose(fit.residuals[0], expected, atol=1e-8)
    assert set(range(4)) & set(fit.used.tolist())


def test_a_column_is_taken_out_to_first_order(rng):
    """Oracle: log odds without its contribution, all else being equal."""
    X, is_class = classes(rng)
    problem = FitProblem.of(X, is_class)
    fit = Logistic().fit(problem, NONE)
    unused = np.setdiff1d(np.arange(30), fit.used)[:2]
    found = fit.without([unused, fit.used, fit.used[:1]])
    assert_array_equal(found[0, 0], fit.residuals[0])
    assert np.ptp(found[0, 1][is_class]) < 1e-8  # nothing but a constant is left
    refit = Logistic().fit(problem, fit.used[:1]).residuals[0]
    assert np.corrcoef(found[0, 2], refit)[0, 1] > 0.95


def test_fits_of_rows_left_out_choose_anew(rng):
    """Oracle: classes drawn at random, which no fit predicts better than their share."""
    gains = []
    for _ in range(12):
        X, is_class = rng.standard_normal((60, 200)), rng.random(60) < 0.5
        problem = FitProblem.of(X, is_class)
        held_out = Logistic().held_out(problem)
        gains.append(1 - np.mean(held_out**2))
    assert np.mean(gains) < 2 * np.std(gains) / np.sqrt(12)


@pytest.mark.parametrize("y", [np.array(list("abc") * 20), np.arange(60.0)], ids=["abc", "123"])
def test_other_targets_are_fitted_by_others_or_refused(y, rng):
    X = rng.standard_normal((60, 8))
    found = select(X, y, Recipe())
    assert "logistic" not in {kind for fit in found.evidence.fits for kind in fit.explained}
    with pytest.raises(ValueError, match=r"logistic.* cannot fit this target"):
        select(X, y, Recipe(control=ConditionalTests(distillers="logistic")))


def test_two_classes_are_fitted_by_it(rng):
    X, is_class = classes(rng, n=120)
    (fit,) = select(X, is_class, Recipe(target="classes")).evidence.fits
    assert list(fit.explained) == ["logistic", "blend", "ridge"]
    assert fit.taken == "logistic"


def test_many_covariates_are_left_to_other_fits(rng):
    """Of 60 rows seven covariates may separate classes by chance."""
    X, is_class = classes(rng, n=60, p=8)
    covariates = rng.integers(0, 8, 60).astype(str)
    (fit,) = select(X, is_class, Recipe(target="classes"), covariates=covariates).evidence.fits
    assert "logistic" not in fit.explained
