"""Knockoffs: the second-moment law, fair signs, what is merged or refused, and what mutants do."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.linalg import block_diag, toeplitz

from smrmr import relevance, simulate
from smrmr.data.columns import Columns
from smrmr.features.copies import find_copies
from smrmr.paper import Gaussian, covariance, diagnose_knockoffs, draw_knockoffs, gaussian, ties
from smrmr.paper.decorrelation import decorrelation, equi, mvr
from thinned import thinned

AR = toeplitz(0.5 ** np.arange(6.0))
METHODS = {"equi": equi, "mvr": mvr}
MODELS = {"one block": AR, "two blocks": block_diag(AR[:3, :3], AR[:3, :3])}


def gaussian_rows(sigma, n, rng):
    return rng.standard_normal((n, len(sigma))) @ np.linalg.cholesky(sigma).T


def check_second_moments(sigma, s_method, rng, n=60_000, groups=None):
    """Law: cov [X, X~] is [[Sigma, Sigma - S], [Sigma - S, Sigma]], so no swap changes it."""
    X = gaussian_rows(sigma, n, rng)
    S = decorrelation(sigma, s_method, np.arange(len(sigma)) if groups is None else groups)
    X_knockoff = gaussian.draw_given(X, sigma, S, rng)
    joint = np.block([[sigma, sigma - S], [sigma - S, sigma]])
    np.testing.assert_allclose(np.cov(np.hstack([X, X_knockoff]).T), joint, atol=0.025)
    again = gaussian.draw_given(X, sigma, S, rng)
    fresh = np.cov((X_knockoff - again).T)  # two draws share the mean given X and nothing else
    np.testing.assert_allclose(fresh, 2 * (2 * S - S @ np.linalg.solve(sigma, S)), atol=0.05)
    return S


@pytest.mark.parametrize("s_method", METHODS)
@pytest.mark.parametrize("name", MODELS)
def test_second_moments_under_swaps(name, s_method, rng):
    check_second_moments(MODELS[name], s_method, rng)


@pytest.mark.parametrize("name", MODELS)
def test_groups_are_swapped_as_wholes(name, rng):
    """S is a multiple of Sigma within groups and 0 between them, and larger than without groups.

    Oracle: within a group of look-alikes s of single features must be small, gamma need not be.
    """
    sigma = MODELS[name]
    groups = np.arange(len(sigma)) // 2
    S = check_second_moments(sigma, "equi", rng, groups=groups)
    same = groups[:, None] == groups
    assert (S[~same] == 0).all()
    ratio = np.diag(S)
    assert np.abs(S - ratio * sigma)[same].max() < 1e-12
    assert np.ptp(ratio) < 1e-12
    assert ratio[0] >= equi(sigma)[0] - 1e-12


def transposed_factor(monkeypatch):
    right = gaussian._root
    monkeypatch.setattr(gaussian, "_root", lambda covariance: right(covariance).T)


def wrong_scale(monkeypatch):
    right = gaussian._root
    monkeypatch.setattr(gaussian, "_root", lambda covariance: 1.3 * right(covariance))


def reused_seed(monkeypatch):
    right = gaussian.draw_given
    monkeypatch.setattr(
        gaussian,
        "draw_given",
        lambda X, sigma, S, rng: right(X, sigma, S, np.random.default_rng(0)),
    )


@pytest.mark.parametrize("mutant", [transposed_factor, wrong_scale, reused_seed])
def test_mutants_break_the_second_moments(mutant, monkeypatch, rng):
    mutant(monkeypatch)
    with pytest.raises(AssertionError):
        check_second_moments(AR, "mvr", rng)


@pytest.mark.parametrize("method", METHODS.values())
@pytest.mark.parametrize("rho", [0.2, 0.5, 0.7, 0.9])
def test_equicorrelated_features_have_a_closed_form(method, rho):
    """Closed form: min(1, 2 (1 - rho)) is largest; mvr's p -> infinity limit is 1 - rho."""
    p = 40
    sigma = np.full((p, p), rho) + (1 - rho) * np.eye(p)
    expected = 1 - rho if method is mvr else min(1.0, 2 * (1 - rho))
    np.testing.assert_allclose(method(sigma), expected, rtol=0.03 if method is mvr else 1e-4)


def test_independent_features_are_left_independent():
    for method in METHODS.values():
        np.testing.assert_allclose(method(np.eye(8)), 1.0, rtol=1e-5)


@pytest.mark.parametrize("method", METHODS.values())
def test_s_keeps_the_joint_covariance_positive(method, rng):
    for n, p in [(200, 20), (45, 40), (1000, 60)]:
        sigma = np.corrcoef(gaussian_rows(toeplitz(0.7 ** np.arange(p)), n, rng).T)
        s = method(sigma)
        assert (s > 0).all()
        assert np.linalg.eigvalsh(2 * sigma - np.diag(s))[0] > -1e-9


def mvr_objective(sigma, s):
    return np.trace(np.linalg.inv(2 * sigma - np.diag(s))) + np.sum(1 / s)


def test_mvr_is_optimal(rng):
    """No feasible change of any coordinates improves the objective (the problem is convex)."""
    sigma = np.corrcoef(gaussian_rows(toeplitz(0.6 ** np.arange(12)), 60, rng).T)
    best = mvr(sigma)
    for _ in range(200):
        nudged = best * np.exp(0.01 * rng.standard_normal(12))
        if np.linalg.eigvalsh(2 * sigma - np.diag(nudged))[0] > 0:
            assert mvr_objective(sigma, nudged) >= mvr_objective(sigma, best) * (1 - 1e-6)


def test_mvr_follows_literal_coordinate_descent(rng):
    """Oracle: each s_j in turn, by a fresh inverse, as often as mvr does; 70 are two blocks."""
    loadings = rng.normal(size=(70, 3))
    sigma = loadings @ loadings.T + np.eye(70)
    sigma /= np.sqrt(np.outer(np.diag(sigma), np.diag(sigma)))
    s, before = 0.5 * equi(sigma), np.inf
    while before - mvr_objective(sigma, s) > 1e-7 * mvr_objective(sigma, s):
        before = mvr_objective(sigma, s)
        for j in range(70):
            row = np.linalg.inv(2 * sigma - np.diag(s))[j]
            length = np.linalg.norm(row)
            s[j] += (1 - length * s[j]) / (row[j] + length)
    np.testing.assert_allclose(mvr(sigma), s, rtol=1e-10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")  # knockpy's own
@pytest.mark.parametrize("design", ["ar", "sample", "equicorrelated"])
def test_objectives_are_not_worse_than_those_of_knockpy(design, rng):
    smatrix = pytest.importorskip("knockpy.smatrix", reason="knockpy comes with make test-slow")
    sigma = {
        "ar": toeplitz(0.8 ** np.arange(80)),
        "sample": np.corrcoef(rng.normal(size=(150, 70)).T),
        "equicorrelated": np.full((50, 50), 0.6) + 0.4 * np.eye(50),
    }[design]
    theirs = np.diag(smatrix.compute_smatrix(sigma, method="mvr", verbose=False))
    assert mvr_objective(sigma, mvr(sigma)) <= mvr_objective(sigma, theirs) * (1 + 1e-9)


LEVELS = {
    "continuous": lambda Z: Z,
    "0/1": lambda Z: (Z > 0.5).astype(float),
    "0/1/2": lambda Z: (Z > 0).astype(float) + (Z > 1),
}


def positive_shares(levels, knockoffs, seeds, n=300, p=20):
    """Share of null features that beat their knockoff, and of the fifth that differ most."""
    active = np.arange(0, p, 5)
    null = np.setdiff1d(np.arange(p), active)
    shares = []
    for seed in range(seeds):
        rng = np.random.default_rng([7, seed])
        X = LEVELS[levels](gaussian_rows(toeplitz(0.5 ** np.arange(p)), n, rng))
        y = X[:, active].sum(axis=1) + rng.standard_normal(n)
        both = relevance(np.hstack([X, knockoffs(X, rng)]), y, target="continuous")
        W = both[null] - both[p + null]
        top = np.argsort(-np.abs(W))[: len(W) // 5]
        shares.append([np.mean(W > 0), np.mean(W[top] > 0)])
    return np.mean(shares, axis=0), np.std(shares, axis=0) / np.sqrt(seeds)


def draw(X, rng):
    return draw_knockoffs(X, random_state=rng).X_knockoff


@pytest.mark.parametrize("levels", thinned(LEVELS, ["continuous", "0/1/2"]))
def test_null_features_beat_their_knockoffs_half_of_the_time(levels):
    """Law: signs of null differences are fair coins, overall and where they differ most."""
    mean, error = positive_shares(levels, draw, seeds=60)
    assert (np.abs(mean - 0.5) <= 3 * error).all(), (mean, error)


def plain_gaussian(X, rng):
    sigma = np.corrcoef(X.T)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    drawn = gaussian.draw_given(Z, sigma, np.diag(equi(sigma)), rng)
    return X.mean(axis=0) + X.std(axis=0) * drawn


def ties_broken_alone(X, rng):
    scores = ties.normal_scores(X, rng)
    sigma = np.corrcoef(scores.T)
    drawn = gaussian.draw_given(scores, sigma, np.diag(equi(sigma)), rng)
    return np.take_along_axis(np.sort(X, axis=0), drawn.argsort(axis=0).argsort(axis=0), axis=0)


@pytest.mark.parametrize("mutant", [plain_gaussian, ties_broken_alone])
def test_knockoffs_that_ignore_ties_are_unfair(mutant):
    """Why break_ties is there: both shortcuts let three in four top nulls win."""
    mean, error = positive_shares("0/1/2", mutant, seeds=20)
    assert mean[1] > 0.5 + 3 * error[1]
    assert mean[1] > 0.7


def test_same_seed_same_knockoffs(rng):
    X = LEVELS["0/1/2"](gaussian_rows(AR, 80, rng))
    one, two, other = (draw_knockoffs(X, random_state=seed).X_knockoff for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_copula_knockoffs_have_the_values_of_their_features(rng):
    X = np.exp(3 * gaussian_rows(AR, 100, rng))
    knockoffs = draw_knockoffs(X, random_state=0)
    np.testing.assert_array_equal(np.sort(knockoffs.X_knockoff, axis=0), np.sort(X, axis=0))
    genotypes = LEVELS["0/1/2"](gaussian_rows(AR, 100, rng)).astype(np.int8)
    drawn = draw_knockoffs(genotypes, random_state=0).X_knockoff
    assert drawn.dtype == np.int8
    np.testing.assert_array_equal(np.sort(drawn, axis=0), np.sort(genotypes, axis=0))


def test_monotone_transforms_change_nothing_in_copula_form(rng):
    """Law: normal scores see the order of values alone."""
    X = gaussian_rows(AR, 100, rng)
    plain = draw_knockoffs(X, random_state=0).X_knockoff
    np.testing.assert_allclose(draw_knockoffs(np.exp(X), random_state=0).X_knockoff, np.exp(plain))


def test_without_copula_only_columns_with_ties_use_it(rng):
    X = gaussian_rows(AR, 200, rng)
    X[:, 2] = X[:, 2] > 0
    plain = Gaussian(copula=False)
    knockoffs = draw_knockoffs(X, plain, random_state=0)
    assert set(np.unique(knockoffs.X_knockoff[:, 2])) == {0.0, 1.0}
    assert not np.isin(knockoffs.X_knockoff[:, 0], X[:, 0]).any()
    scaled = draw_knockoffs(1e200 * X + 1e200, plain, random_state=0).X_knockoff
    np.testing.assert_allclose(scaled, 1e200 * knockoffs.X_knockoff + 1e200, rtol=1e-4)


def test_a_given_covariance_is_used_as_it_is(rng):
    X = gaussian_rows(AR, 50, rng) * [1, 2, 3, 4, 5, 6]
    scale = np.arange(1.0, 7.0)
    given = Gaussian(covariance=AR * scale * scale[:, None])
    knockoffs = draw_knockoffs(X, given, random_state=0)
    np.testing.assert_allclose(knockoffs.correlations, AR, atol=1e-12)
    np.testing.assert_allclose(knockoffs.s, equi(AR))
    assert knockoffs.covariance == "given"
    assert not np.isin(knockoffs.X_knockoff, X).any()


def test_copies_and_constants_are_reported_and_stay_copies(rng):
    X = rng.normal(size=(90, 12))
    X[:, 4] = 3 - 2 * X[:, 1]
    X[:, 7] = np.exp(X[:, 1])  # a monotone transform: the same ranks
    X[:, 8] = 5.0
    X[:, 9] = X[:, 2] + 1e-6 * X[:, 3]
    X[:, 10] = X[:, 0] > 0
    X[:, 11] = 1 - X[:, 10]
    knockoffs = draw_knockoffs(X, random_state=0)
    copies = knockoffs.copies
    assert [group.tolist() for group in copies.groups] == [[1, 4, 7], [2, 9], [10, 11]]
    assert np.flatnonzero(copies.constant).tolist() == [8]
    assert copies.modelled.tolist() == [0, 1, 2, 3, 5, 6, 10]
    drawn = knockoffs.X_knockoff
    np.testing.assert_allclose(drawn[:, 4], 3 - 2 * drawn[:, 1])
    np.testing.assert_allclose(drawn[:, 7], np.exp(drawn[:, 1]))
    np.testing.assert_allclose(drawn[:, 8], 5.0)
    np.testing.assert_allclose(drawn[:, 11], 1 - drawn[:, 10])
    assert knockoffs.s[8] == 0
    assert knockoffs.s[4] == knockoffs.s[1] > 0.1  # one pair of copies would have made all s zero
    plain = draw_knockoffs(X, "gaussian(copula=false)", random_state=0).copies
    assert [group.tolist() for group in plain.groups] == [[1, 4], [2, 9], [10, 11]]


def test_copies_are_found_by_brute_force_too(rng):
    """Oracle: all pairs of correlations."""
    X = rng.normal(size=(30, 400))
    source = rng.integers(0, 400, size=150)
    target = rng.integers(0, 400, size=150)
    noise = 10.0 ** rng.uniform(-7, -3, size=150) * rng.choice([0, 1], size=150)
    for a, b, size in zip(source, target, noise, strict=True):
        X[:, b] = rng.choice([-3, 2]) * X[:, a] + size * rng.normal(size=30) + 1
    linked = np.abs(np.corrcoef(X.T)) > 1 - 1e-8
    leaders = np.arange(400)
    for _ in range(20):
        leaders = np.array([leaders[linked[k]].min() for k in range(400)])
    found = find_copies(Columns.bare(X), by_rank=False)
    np.testing.assert_array_equal(found.leaders, leaders)
    assert len(found.groups) > 20


STRUCTURES = {
    "ar": toeplitz(0.5 ** np.arange(30.0)),
    "equicorrelated": np.full((30, 30), 0.4) + 0.6 * np.eye(30),
    "blocks": block_diag(*[np.full((10, 10), 0.7) + 0.3 * np.eye(10)] * 3),
}


@pytest.mark.parametrize("name", covariance.ESTIMATES)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_estimates_approach_the_truth(name, structure, rng):
    """With many rows every estimate finds the correlations."""
    sigma = STRUCTURES[structure]
    X = gaussian_rows(sigma, 20_000, rng)
    X /= X.std(axis=0)
    error = np.abs(covariance.ESTIMATES[name](X) - sigma).max()
    assert error < 0.06


@pytest.mark.parametrize("s_method", METHODS)
@pytest.mark.parametrize("name", covariance.ESTIMATES)
@pytest.mark.filterwarnings("ignore:the sample covariance")
def test_estimates_work_with_more_features_than_rows(name, s_method, rng):
    X = gaussian_rows(STRUCTURES["ar"], 20, rng)
    knockoffs = draw_knockoffs(X, Gaussian(s_method, covariance=name), random_state=0)
    assert np.isfinite(knockoffs.X_knockoff).all()
    assert np.linalg.eigvalsh(2 * knockoffs.correlations - np.diag(knockoffs.s))[0] > -1e-9


def test_graphical_lasso_equals_that_of_scikit_learn(rng):
    from sklearn.covariance import graphical_lasso

    X = gaussian_rows(STRUCTURES["ar"], 100, rng)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    penalty = 0.2 * np.sqrt(np.log(30) / 100)
    theirs, _ = graphical_lasso(X.T @ X / 100, alpha=penalty, tol=1e-6, max_iter=500)
    ours = covariance.graphical_lasso(X)
    np.testing.assert_allclose(ours, theirs, atol=2e-3)


def test_auto_says_what_it_picked_and_never_shrinks_globally(rng):
    picked = {
        (n, p): draw_knockoffs(rng.normal(size=(n, p)), random_state=0).covariance
        for n, p in [(400, 20), (100, 20), (40, 100)]
    }
    assert list(picked.values()) == ["sample", "graphical-lasso", "graphical-lasso"]


def test_singular_sample_covariance_is_repaired_with_a_warning(rng):
    with pytest.warns(UserWarning, match="singular .* use covariance='auto'"):
        knockoffs = draw_knockoffs(rng.normal(size=(20, 30)), "gaussian(covariance=sample)")
    assert (knockoffs.s < 1e-4).all()
    with pytest.warns(UserWarning, match="the given covariance"):
        draw_knockoffs(rng.normal(size=(20, 3)), Gaussian(covariance=np.ones((3, 3))))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"s": "best"}, "s='best' is not known. Use 'equi' or 'mvr'"),
        ({"covariance": "ledoit-wolf"}, "covariance='ledoit-wolf' is not known"),
        ({"covariance": "oracle"}, "covariance='oracle' is not known"),
        ({"covariance": np.eye(3)}, r"shape \(3, 3\)"),
        ({"covariance": np.triu(np.ones((6, 6)))}, "not symmetric"),
        ({"covariance": -np.eye(6)}, "negative variance"),
        ({"covariance": np.full((6, 6), np.nan)}, "missing or infinite"),
        ({"copula": "yes"}, "copula='yes'"),
        ({"random_state": -1}, "random_state=-1"),
        ({"random_state": "seed"}, "random_state='seed'"),
    ],
)
def test_bad_settings_are_named(arguments, message, rng):
    arguments = dict(arguments)
    X, seed = rng.normal(size=(30, 6)), arguments.pop("random_state", 0)
    with pytest.raises(ValueError, match=message):
        draw_knockoffs(X, Gaussian(**arguments), random_state=seed)


def test_categories_need_two_levels(rng):
    frame = pd.DataFrame(
        {
            "height": rng.normal(size=60),
            "sex": pd.Categorical(rng.choice(["f", "m"], size=60)),
            "blood": pd.Categorical(rng.choice(["a", "b", "0"], size=60)),
        }
    )
    with pytest.raises(ValueError, match="columns blood are categories with more than two levels"):
        draw_knockoffs(frame)
    drawn = draw_knockoffs(frame.drop(columns="blood"), random_state=0).X_knockoff
    assert set(drawn[:, 1]) == {0.0, 1.0}


def test_constant_data_are_refused():
    with pytest.raises(ValueError, match="every column of X is constant"):
        draw_knockoffs(np.ones((10, 3)))


def test_diagnosis_passes_good_knockoffs_and_keeps_its_level(rng):
    """Good knockoffs with the true covariance fail all tests together at most once in 100."""
    failed = 0
    for _ in range(40):
        X = gaussian_rows(AR, 80, rng)
        X_knockoff = gaussian.draw_given(X, AR, np.diag(equi(AR)), rng)
        failed += not diagnose_knockoffs(X, X_knockoff).passed
    assert failed <= 3


def squared_neighbour(n, rng):
    X = rng.normal(size=(n, 8))
    X[:, 1] = X[:, 0] ** 2 + 0.1 * rng.normal(size=n)
    return X, draw_knockoffs(X, random_state=rng).X_knockoff


def permuted(n, rng):
    X = gaussian_rows(toeplitz(0.8 ** np.arange(8)), n, rng)
    return X, rng.permuted(X, axis=0)


def gaussian_for_zero_one(n, rng):
    X = LEVELS["0/1"](gaussian_rows(AR, n, rng))
    return X, plain_gaussian(X, rng)


@pytest.mark.parametrize("bad", [squared_neighbour, permuted, gaussian_for_zero_one])
def test_diagnosis_sees_bad_knockoffs(bad, rng):
    X, X_knockoff = bad(300, rng)
    diagnosis = diagnose_knockoffs(X, X_knockoff)
    assert not diagnosis.passed
    assert "cannot be relied on" in str(diagnosis)
    assert diagnose_knockoffs(X, X_knockoff) == diagnosis


def half_swaps_of_eight():
    """Order of the columns of [X, X~] for every way to swap four of eight features."""
    for four in combinations(range(8), 4):
        order = np.arange(16)
        order[list(four)] += 8
        order[8 + np.array(four)] -= 8
        yield order


def test_moment_error_is_the_literal_one(rng):
    """Oracle: second moments of [X, X~] less those of the swapped rows, entry by entry."""
    X, X_knockoff = permuted(40, rng)
    diagnosis = diagnose_knockoffs(X, X_knockoff, random_state=3)
    pooled = np.vstack([X, X_knockoff])
    pair = np.hstack([(half - pooled.mean(0)) / pooled.std(0) for half in (X, X_knockoff)])
    possible = []
    for order in half_swaps_of_eight():
        change = (pair.T @ pair - pair[:, order].T @ pair[:, order]) / 40
        possible.append(np.sqrt(np.sum(change**2) / (16**2 - 8**2)))
    assert np.abs(np.array(possible) - diagnosis.moment_error).min() < 1e-10


def test_curve_error_is_the_literal_one(rng):
    """Oracle: moments between features and bent features, and between bent ones, one by one."""
    X, X_knockoff = squared_neighbour(40, rng)
    diagnosis = diagnose_knockoffs(X, X_knockoff, random_state=3)
    pooled = np.vstack([X, X_knockoff])
    bent = (stats.rankdata(pooled, axis=0) - 40.5) ** 2

    def halves(values):
        scaled = (values - values.mean(0)) / values.std(0)
        return np.hstack([scaled[:40], scaled[40:]])

    pair, bends = halves(pooled), halves(bent)
    possible = []
    for order in half_swaps_of_eight():
        mixed = (pair.T @ bends - pair[:, order].T @ bends[:, order]) / 40
        among = (bends.T @ bends - bends[:, order].T @ bends[:, order]) / 40
        total = 2 * np.sum(mixed**2) + np.sum(among**2)
        possible.append(np.sqrt(total / (3 * (16**2 - 8**2))))
    assert np.abs(np.array(possible) - diagnosis.curve_error).min() < 1e-10


def test_a_few_bent_pairs_among_many_features_are_seen(rng):
    """Ten squares among 100 features, which a classifier of 30 of them mostly does not meet."""
    X = simulate("curved", 300, 100, random_state=rng).X
    diagnosis = diagnose_knockoffs(X, draw_knockoffs(X, random_state=rng).X_knockoff)
    assert diagnosis.curve_p == 0.001
    assert diagnosis.moment_p > 0.1


def test_knockoffs_of_the_user_are_checked(rng):
    X = rng.normal(size=(40, 5))
    made = rng.normal(size=(40, 5))
    np.testing.assert_array_equal(draw_knockoffs(X, made).X_knockoff, made)
    drawn, again = (
        draw_knockoffs(X, lambda X, rng: X + rng.normal(size=X.shape), random_state=1).X_knockoff
        for _ in range(2)
    )
    np.testing.assert_array_equal(drawn, again)
    with pytest.raises(ValueError, match=r"X has shape \(40, 5\) and X_knockoff \(40, 4\)"):
        draw_knockoffs(X, made[:, :4])
    with pytest.raises(ValueError, match="cannot be used: 1 of 5 columns of the knockoffs have"):
        draw_knockoffs(X, np.where(np.arange(5) == 2, np.nan, made))
    with pytest.raises(ValueError, match="equal X"):
        draw_knockoffs(X, X.copy())


def test_one_far_row_makes_no_copies(rng):
    """A sample coded -999999 everywhere correlates all columns; their ranks do not agree."""
    X = rng.normal(size=(60, 5))
    X[0] = -999999.0
    with pytest.warns(UserWarning, match="-999"):
        assert draw_knockoffs(X, random_state=0).copies.groups == ()


def test_diagnosis_of_few_and_equal_values_is_a_number():
    """Equal knockoffs give a kernel of zeros, which must not be singular."""
    X = np.array([1, 0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1.0])[:, None]
    for seed in range(20):
        drawn = draw_knockoffs(X, random_state=seed).X_knockoff
        assert 0 <= diagnose_knockoffs(X, drawn).accuracy_p <= 1


def test_categories_are_refused_where_codes_could_differ(rng):
    frame = pd.DataFrame({"g": pd.Categorical(rng.choice(["a", "b"], size=30))})
    for call in (diagnose_knockoffs, draw_knockoffs):
        with pytest.raises(ValueError, match=r"columns g .*are categories"):
            call(frame, frame)
