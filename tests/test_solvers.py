"""The solver: certificates, closed forms, brute force and other solvers."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import smrmr
from smrmr.association import Associations
from smrmr.paper import MCP, SCAD, solution_path, solve
from smrmr.paper.solver import PENALTIES, as_penalty
from smrmr.paper.solver.descent import _working_set
from smrmr.paper.solver.lla import lambda_max, loss

ALL = list(PENALTIES)


def stepped(name, lla_steps):
    """A penalty whose convex problems are so many; those that are convex need one anyway."""
    penalty = as_penalty(name)
    return replace(penalty, lla_steps=lla_steps) if name in ("mcp", "scad") else penalty


def problem(rng, p=30, rank=40):
    """A Gram matrix of random unit vectors with positive entries, and a target among them."""
    Z = np.abs(rng.normal(size=(p + 1, rank)))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    D = Z @ Z.T
    np.fill_diagonal(D, 1.0)
    return Associations(D[0, 1:].copy(), D[1:, 1:].copy(), "continuous")


def real_problem(seed=0, n=80, p=120, measure="hsic", design="1.d"):
    data = smrmr.simulate(design, n, p, random_state=seed)
    return smrmr.associate(data.X, data.y, measure=measure, target=data.target)


def kkt_residual(D, gain, theta):
    """The optimality conditions of the weighted LASSO, written out again."""
    gradient = D @ theta - gain
    on, off = theta > 0, theta == 0
    return max(np.abs(gradient[on]).max(initial=0), (-gradient[off]).max(initial=0))


@pytest.mark.parametrize("n_support", [0, 3, 60])
@pytest.mark.parametrize("n_entering", [0, 15, 20, 21, 200])
def test_those_that_most_want_to_enter_are_worked_on(n_support, n_entering, rng):
    """Oracle: numpy's argsort of all that want to enter."""
    theta, gradient = np.zeros(400), rng.uniform(0, 1, 400)
    support, entering = np.split(rng.permutation(400)[: n_support + n_entering], [n_support])
    theta[support], gradient[entering] = 1.0, -rng.uniform(1, 2, n_entering)
    expected, most = np.sort(entering), max(20, n_support)
    if n_entering > most:
        expected = entering[np.argsort(gradient[entering])][:most]
    found = _working_set(theta, gradient)
    assert_array_equal(found, np.concatenate([np.sort(support), expected]))


@pytest.mark.parametrize("penalty", ALL)
@pytest.mark.parametrize("lam", [0.2, 0.02, 1e-4])
@pytest.mark.parametrize("measure", ["pc", "hsic", "pearson"])
def test_certificate(penalty, lam, measure):
    """The KKT residual, recomputed here for the LLA weights, is at most tol."""
    found = real_problem(measure=measure)
    steps = 1 if penalty in ("none", "l1") else 2
    first = solve(found, penalty=stepped(penalty, 1), lam=lam)
    solution = solve(found, penalty=penalty, lam=lam)
    weights = as_penalty(penalty).slope(lam if penalty != "none" else 0, first.theta * (steps - 1))
    residual = kkt_residual(found.redundancy, found.relevance - weights, solution.theta)
    assert residual <= 1e-8
    assert_allclose(solution.kkt, residual, atol=1e-12)
    assert solution.converged
    assert (solution.theta >= 0).all()


@pytest.mark.parametrize("penalty", ALL)
def test_independent_features_have_a_closed_form(penalty):
    """D = I: theta = max(0, r - weight), one LLA step after another."""
    relevance = np.array([0.9, 0.5, 0.31, 0.3, 0.29, 0.0])
    found = Associations(relevance, np.eye(6), "continuous")
    lam, rule = 0.3, as_penalty(penalty)
    theta = np.maximum(0, relevance - rule.slope(lam, np.zeros(6)))
    for steps in (1, 2, 3):
        solution = solve(found, penalty=stepped(penalty, steps), lam=lam)
        assert_allclose(solution.theta, theta, atol=1e-14)
        assert_array_equal(solution.theta == 0, theta == 0)
        theta = np.maximum(0, relevance - rule.slope(lam, theta))


@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.sampled_from([0.0, 0.05, 0.3]))
@settings(max_examples=40, deadline=None)
def test_brute_force_over_supports(seed, p, lam):
    """Oracle: for every support the unconstrained minimum; the best feasible one wins."""
    found = problem(np.random.default_rng(seed), p=p, rank=8)
    gain = found.relevance - lam
    best = 0.5
    for size in range(1, p + 1):
        for support in combinations(range(p), size):
            D = found.redundancy[np.ix_(support, support)]
            theta = np.linalg.lstsq(D, gain[list(support)], rcond=None)[0]
            if (theta >= 0).all():
                full = np.zeros(p)
                full[list(support)] = theta
                best = min(best, loss(found, full) + lam * full.sum())
    solution = solve(found, penalty="l1" if lam else "none", lam=lam)
    assert_allclose(solution.objective, best, atol=1e-10)


def test_equals_scikit_learn_on_an_embedding():
    """Oracle: Lasso(positive=True) where Z'Z = D and Z'y = r."""
    from sklearn.linear_model import Lasso

    found = real_problem()
    values, vectors = np.linalg.eigh(found.redundancy)
    keep = values > 1e-12
    Z = np.sqrt(values[keep])[:, None] * vectors[:, keep].T
    y = (vectors[:, keep].T @ found.relevance) / np.sqrt(values[keep])
    for lam in (0.1, 0.01):
        rival = Lasso(lam / len(Z), positive=True, fit_intercept=False, tol=1e-14, max_iter=10**6)
        theta = rival.fit(Z, y).coef_
        ours = solve(found, penalty="l1", lam=lam)
        assert_allclose(ours.theta, theta, atol=1e-7)
        assert ours.objective <= loss(found, theta) + lam * theta.sum() + 1e-12


def test_no_penalty_equals_non_negative_least_squares():
    """Oracle: scipy's nnls on an embedding."""
    from scipy.optimize import nnls

    found = real_problem(n=60, p=95)
    Z = np.linalg.cholesky(found.redundancy).T
    theta, _ = nnls(Z, np.linalg.solve(Z.T, found.relevance))
    assert_allclose(solve(found, penalty=None).theta, theta, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", ALL)
def test_equals_cvxpy_at_every_lla_step(penalty):
    """Oracle: CVXPY on the convex problem of each LLA step."""
    import cvxpy

    found = real_problem(p=100)
    rule = as_penalty(penalty)
    for lam in (0.1, 0.01):
        theta = np.zeros(100)
        for steps in (1, 2, 3):
            weights = rule.slope(lam, theta)
            x = cvxpy.Variable(100, nonneg=True)
            quadratic = 0.5 * cvxpy.quad_form(x, cvxpy.psd_wrap(found.redundancy))
            objective = cvxpy.Minimize(quadratic - (found.relevance - weights) @ x)
            cvxpy.Problem(objective).solve(solver=cvxpy.CLARABEL)
            ours = solve(found, penalty=stepped(penalty, steps), lam=lam)
            assert_allclose(ours.theta, x.value, atol=1e-4)
            value = loss(found, x.value) + weights @ x.value
            assert loss(found, ours.theta) + weights @ ours.theta <= value + 1e-12
            assert_allclose(loss(found, ours.theta) + weights @ ours.theta, value, atol=1e-8)
            theta = ours.theta


@pytest.mark.parametrize("penalty", [SCAD(1e9), MCP(1e9)], ids=["SCAD", "MCP"])
def test_flat_limits_equal_the_lasso(penalty):
    found = real_problem()
    for lam in (0.1, 0.01):
        lasso = solve(found, penalty="l1", lam=lam)
        assert_allclose(solve(found, penalty=penalty, lam=lam).theta, lasso.theta, atol=1e-8)


@pytest.mark.parametrize("penalty", ["scad", "mcp", SCAD(2.2), MCP(1.2)], ids=str)
@pytest.mark.parametrize("measure", ["pc", "hsic"])
def test_lla_never_increases_the_objective(penalty, measure):
    found = real_problem(measure=measure)
    for lam in (0.2, 0.05, 0.01):
        values = [
            solve(found, penalty=stepped(penalty, steps), lam=lam).objective
            for steps in range(1, 8)
        ]
        assert (np.diff(values) <= 1e-10).all()


@pytest.mark.parametrize("design", ["1.d", "2.a", "3.b"])
def test_selection_rules(design):
    """The inequalities of section 2.3: a positive coefficient needs relevance."""
    found = real_problem(design=design, measure="pc")
    for lam in (0.1, 0.03, 0.01):
        r = found.relevance
        theta = solve(found, penalty="l1", lam=lam).theta
        assert (r[theta > 0] >= lam - 1e-8).all()
        theta = solve(found, penalty=stepped("mcp", 200), lam=lam).theta
        on = theta > 0
        assert (r[on] >= lam - theta[on] / 3.5 - 1e-5).all()
        theta = solve(found, penalty=stepped("scad", 200), lam=lam).theta
        on = theta > lam
        assert (r[on] >= (3.7 * lam - theta[on]) / 2.7 - 1e-5).all()


# --- paths ----------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", ALL)
def test_path_equals_cold_solves(penalty):
    found = real_problem()
    path = solution_path(found, penalty=penalty, n_lams=12)
    assert path.lams[0] == lambda_max(found)
    assert_allclose(path.lams[-1], 1e-3 * path.lams[0])
    assert path.converged
    for lam, theta, objective in zip(path.lams, path.thetas, path.objectives, strict=True):
        cold = solve(found, penalty=penalty, lam=lam)
        assert_allclose(theta, cold.theta, atol=1e-6)
        assert_allclose(objective, cold.objective, atol=1e-9)


@pytest.mark.parametrize("penalty", ["l1", "scad", "mcp"])
def test_lambda_max_is_where_the_first_feature_enters(penalty):
    found = real_problem()
    top = lambda_max(found)
    assert_array_equal(solve(found, penalty=penalty, lam=top).theta, 0.0)
    assert solve(found, penalty=penalty, lam=top * (1 - 1e-6)).theta.any()


# --- edges ----------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", ALL)
def test_identical_features_share_evenly(penalty, rng):
    X = rng.normal(size=(60, 6))
    X[:, 4] = np.exp(X[:, 1])  # the same ranks
    X[:, 5] = X[:, 1]
    y = X[:, 1] + X[:, 0] + 0.5 * rng.normal(size=60)
    found = smrmr.associate(X, y)
    solution = solve(found, penalty=penalty, lam=0.01)
    assert solution.converged
    assert solution.theta[1] > 0
    assert_array_equal(solution.theta[[4, 5]], solution.theta[1])
    alone = smrmr.associate(X[:, :4], y)
    if penalty in ("none", "l1"):  # a group of copies counts like one feature
        once = solve(alone, penalty=penalty, lam=0.01)
        assert_allclose(solution.theta[[1, 4, 5]].sum(), once.theta[1], atol=1e-7)
        assert_allclose(solution.objective, once.objective, atol=1e-10)


@pytest.mark.parametrize("penalty", ["scad", "mcp"])
def test_weights_of_copies_are_those_of_their_shares(penalty, rng):
    """The certificate of the LLA step, on the whole problem with its copies."""
    X = rng.normal(size=(60, 5))
    X = np.column_stack([X, X[:, 1], X[:, 1]])
    found = smrmr.associate(X, X[:, 1] + X[:, 0])
    first = solve(found, penalty=stepped(penalty, 1), lam=0.02)
    weights = as_penalty(penalty).slope(0.02, first.theta)
    assert 0 < weights[1] < 0.02
    theta = solve(found, penalty=penalty, lam=0.02).theta
    assert kkt_residual(found.redundancy, found.relevance - weights, theta) <= 1e-8


def test_exact_step_stops_at_the_first_coordinate_that_reaches_zero():
    """Closed form in two dimensions: two sevenths of the way to a minimum outside."""
    from smrmr.paper.solver.descent import _exact_step

    gram = np.array([[1.0, 0.9], [0.9, 1.0]])
    x, minimum = np.array([0.2, 0.2]), np.array([1.0, -0.5])
    _exact_step(gram, x, gram @ (x - minimum))
    assert_allclose(x, [0.2 + 0.8 * 2 / 7, 0.0], atol=1e-14)
    assert x[1] == 0
    x, minimum = np.array([0.2, 0.2]), np.array([1.0, 0.5])
    _exact_step(gram, x, gram @ (x - minimum))
    assert_allclose(x, minimum, atol=1e-14)


def test_every_round_decreases_the_objective():
    """Law of both kinds of steps, on problems where exact steps leave the feasible set."""
    from smrmr.paper.solver.descent import minimise

    for seed in range(30):
        found = problem(np.random.default_rng(seed), p=80, rank=60)
        values = []
        for rounds in range(8):
            theta, gradient = np.zeros(80), np.empty(80)
            minimise(found.redundancy, found.relevance, theta, gradient, 1e-12, rounds)
            values.append(loss(found, theta))
        assert (np.diff(values) <= 1e-15).all()


@pytest.mark.parametrize("penalty", ALL)
def test_degenerate_problems(penalty, rng):
    constant = smrmr.associate(
        np.column_stack([np.ones(30), rng.normal(size=30)]), rng.normal(size=30)
    )
    solution = solve(constant, penalty=penalty)
    assert solution.theta[0] == 0
    assert solution.converged
    nothing = Associations(np.zeros(3), np.eye(3), "continuous")
    assert_array_equal(solve(nothing, penalty=penalty).theta, 0.0)
    assert_array_equal(solution_path(nothing, penalty=penalty, n_lams=3).thetas, 0.0)
    single = Associations(np.array([0.4]), np.eye(1), "continuous")
    expected = 0.4 if penalty == "none" else None
    theta = solve(single, penalty=penalty, lam=0.01).theta
    assert theta.shape == (1,)
    assert 0.38 < theta[0] <= 0.4 if expected is None else theta[0] == expected


def test_singular_redundancy_still_converges(rng):
    """More features than the embedding has dimensions, without copies."""
    found = problem(rng, p=60, rank=12)
    for penalty, lam in (("none", 0), ("l1", 1e-6), ("mcp", 0.05)):
        solution = solve(found, penalty=penalty, lam=lam)
        assert solution.converged
        assert solution.kkt <= 1e-8


def test_failure_is_a_warning_and_a_field(rng, monkeypatch):
    monkeypatch.setattr("smrmr.paper.solver.lla.MAX_ROUNDS", 1)
    found = real_problem()
    with pytest.warns(ConvergenceWarning, match="Raise tol"):
        solution = solve(found, penalty="l1", lam=1e-4, tol=1e-300)
    assert not solution.converged
    with pytest.warns(ConvergenceWarning):
        assert not solution_path(found, penalty="l1", tol=1e-300, n_lams=4).converged


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lam": -1}, "at least 0"),
        ({"lam": float("nan")}, "at least 0"),
        ({"tol": 0}, "a number above 0"),
        ({"penalty": "ridge"}, "'mcp'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        solve(Associations(np.ones(1), np.eye(1), "continuous"), **options)


def test_bad_problems():
    with pytest.raises(ValueError, match="shape"):
        solve(Associations(np.ones(2), np.eye(3), "continuous"))
    with pytest.raises(ValueError, match="infinite"):
        solve(Associations(np.array([np.nan, 0]), np.eye(2), "continuous"))
    with pytest.raises(ValueError, match="redundancy has missing or infinite"):
        solve(Associations(np.ones(2), np.array([[1, np.nan], [np.nan, 1]]), "continuous"))
    single = Associations(np.ones(1), np.eye(1), "continuous")
    with pytest.raises(ValueError, match="decreasing"):
        solution_path(single, lams=[0.1, 0.2])
    with pytest.raises(ValueError, match="floor"):
        solution_path(single, floor=0)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", ["mcp", "scad"])
def test_sparsistency(penalty):
    """Paper, theorem 2: the share of inactive features at exactly 0 grows with n."""
    shares = []
    for n in (50, 100, 200, 400):
        zeros = []
        for seed in range(12):
            data = smrmr.simulate("1.b", n, 100, random_state=seed)
            found = smrmr.associate(data.X, data.y)
            inactive = np.setdiff1d(np.arange(100), data.support)
            lam = 0.08 * np.sqrt(np.log(100) / n)
            theta = solve(found, penalty=stepped(penalty, 20), lam=lam).theta
            zeros.append((theta[inactive] == 0).mean())
        shares.append(np.mean(zeros))
    print(penalty, "share of exact zeros by n:", np.round(shares, 3))
    assert (np.diff(shares) > -0.01).all()
    assert shares[-1] > 0.9
