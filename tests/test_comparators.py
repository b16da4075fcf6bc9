"""The rivals: their definitions by brute force, other packages, and scikit-learn's contract."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.linear_model import LinearRegression, lars_path_gram
from sklearn.metrics import mutual_info_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

import smrmr
from smrmr.measures import HSIC, MEASURES
from smrmr.rivals import MRMR, SIS, HSICLasso
from smrmr.rivals.lars import first_to_enter

SELECTORS = [SIS, MRMR, HSICLasso]


@pytest.fixture
def data():
    return smrmr.simulate("1.c", n=80, p=40, random_state=3)


def chosen(selector):
    """Chosen features in their order."""
    order = np.argsort(selector.ranking_)
    return order[: selector.get_support().sum()].tolist()


# --- what each computes ---------------------------------------------------------------------


@pytest.mark.parametrize("measure", list(MEASURES))
def test_sis_keeps_the_most_relevant(measure, data):
    relevance = smrmr.relevance(data.X, data.y, measure=measure)
    by_number = SIS(5, measure=measure).fit(data.X, data.y)
    assert chosen(by_number) == np.argsort(-relevance)[:5].tolist()
    assert_array_equal(by_number.scores_, relevance)
    level = np.sort(relevance)[-7]
    by_threshold = SIS(measure=measure, threshold=level).fit(data.X, data.y)
    assert_array_equal(by_threshold.get_support(), relevance >= level)


@pytest.mark.parametrize("measure", ["pc", "pearson", HSIC("laplacian")], ids=str)
@pytest.mark.parametrize("scheme", ["difference", "quotient"])
def test_mrmr_is_greedy_in_its_criterion(measure, scheme, data):
    """Oracle: the definition, from the full matrices."""
    found = smrmr.associate(data.X, data.y, measure=measure)
    selected = [int(found.relevance.argmax())]
    scores = [found.relevance.max()]
    while len(selected) < 8:
        means = found.redundancy[:, selected].mean(axis=1)
        quotient = found.relevance / np.maximum(means, 1e-3)
        score = found.relevance - means if scheme == "difference" else quotient
        score[selected] = -np.inf
        selected.append(int(score.argmax()))
        scores.append(score.max())
    selector = MRMR(8, measure=measure, scheme=scheme).fit(data.X, data.y)
    assert chosen(selector) == selected
    assert_allclose(selector.scores_[selected], scores, rtol=1e-7)
    assert np.isnan(selector.scores_).sum() == 32


def test_second_feature_maximises_the_discrete_objective(data):
    """Oracle: eq. (mrmr) over all pairs that contain the first feature; MID is exact there."""
    found = smrmr.associate(data.X, data.y)
    r, D = found.relevance, found.redundancy
    first = int(r.argmax())

    def objective(features):
        s = len(features)
        return r[features].sum() / s - D[np.ix_(features, features)].sum() / s**2

    pairs = [[first, k] for k in range(40) if k != first]
    best = max(pairs, key=objective)
    assert chosen(MRMR(2, measure="pc").fit(data.X, data.y)) == best


def test_discretised_mutual_information(data):
    """Oracle: scikit-learn's score on columns cut at mean -/+ sd."""
    X, y = data.X[:, :6].copy(), data.y
    X[:, 5] = np.round(X[:, 5])

    def cut(x):
        if len(np.unique(x)) <= 10:
            return x.astype(int)
        return np.digitize(x, [x.mean() - x.std(), x.mean() + x.std()])

    selector = MRMR(3).fit(X, y)
    expected = [mutual_info_score(cut(x), cut(y)) for x in X.T]
    assert_allclose(selector.relevance_, expected, atol=1e-12)
    labels = np.where(y > 0, "up", "down")
    expected = [mutual_info_score(cut(x), labels) for x in X.T]
    assert_allclose(MRMR(3).fit(X, labels).relevance_, expected, atol=1e-12)


def test_neighbour_mutual_information(data):
    """Oracle: scikit-learn's estimators, same seed."""
    X, y = data.X[:, :5], data.y
    selector = MRMR(3, measure="mi-knn", random_state=0).fit(X, y)
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    assert_allclose(selector.relevance_, mutual_info_regression(X, y, random_state=seed))
    labels = np.where(y > 0, "up", "down")
    selector = MRMR(3, measure="mi-knn", random_state=0).fit(X, labels)
    assert_allclose(selector.relevance_, mutual_info_classif(X, labels, random_state=seed))
    again = MRMR(3, measure="mi-knn", random_state=0).fit(X, labels)
    assert_array_equal(selector.ranking_, again.ranking_)


def test_first_to_enter_follows_the_lars_path(data):
    """Oracle: scikit-learn's lars_path_gram with positive=True."""
    found = smrmr.associate(data.X, data.y, measure="hsic")
    _, active, coefs = lars_path_gram(
        found.relevance, found.redundancy, n_samples=1, method="lasso", positive=True, max_iter=12
    )
    ours = first_to_enter(found.relevance, lambda k: found.redundancy[k], 12)
    assert ours.order == list(active)
    assert_allclose(ours.theta, coefs[:, -1], atol=1e-9)


def test_features_may_leave_the_path():
    """Oracle: coordinate descent, on problems where coefficients return to 0 on the way."""
    left = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        Z = rng.normal(size=(16, 18)) + 0.8 * rng.normal(size=18)
        Z /= np.linalg.norm(Z, axis=1, keepdims=True)
        D = Z @ Z.T
        found = smrmr.association.Associations(D[0, 1:].copy(), D[1:, 1:].copy(), "continuous")
        for count in (5, 15):
            ours = first_to_enter(found.relevance, lambda k, D=D: D[1 + k, 1:], count)
            solution = smrmr.paper.solve(found, penalty="l1", lam=max(ours.lams[-1], 0.0))
            assert_allclose(ours.theta, solution.theta, atol=1e-8)
            left += len(ours.lams) > len(ours.order) + 1
    assert left > 10


@pytest.mark.parametrize("penalty_share", [0.9, 0.5, 0.2])
def test_path_agrees_with_the_solver(penalty_share, data):
    """Oracle: our coordinate descent at lambdas between the events of the exact path."""
    found = smrmr.associate(data.X, data.y, measure="hsic")
    path = first_to_enter(found.relevance, lambda k: found.redundancy[k], 15)
    lam = path.lams[-1]
    solution = smrmr.paper.solve(found, penalty="l1", lam=lam)
    assert_allclose(solution.theta, path.theta, atol=1e-8)
    shorter = first_to_enter(found.relevance, lambda k: found.redundancy[k], 6)
    middle = shorter.lams[0] * penalty_share + shorter.lams[-1] * (1 - penalty_share)
    support = np.flatnonzero(smrmr.paper.solve(found, penalty="l1", lam=middle).theta)
    assert set(support) <= set(path.order)


def test_hsic_lasso_uses_standard_deviations_as_widths(data):
    """Oracle: the definition from full matrices of standardised data."""
    X = data.X * np.linspace(0.1, 30, 40) + 5
    Z, z = X / X.std(axis=0), data.y / data.y.std()
    found = smrmr.associate(Z, z, measure=HSIC(width=1.0))
    expected = first_to_enter(found.relevance, lambda k: found.redundancy[k], 7)
    selector = HSICLasso(7).fit(X, data.y)
    assert chosen(selector) == expected.order
    assert_allclose(selector.scores_, expected.theta, atol=1e-7)
    median = HSICLasso(7, width="median").fit(X, data.y)
    assert_allclose(median.relevance_, smrmr.relevance(X, data.y, measure="hsic"), atol=1e-12)


def test_block_hsic_lasso_averages_over_blocks(data):
    """Oracle: associations of the blocks' rows, averaged."""
    X, y = data.X / data.X.std(axis=0), data.y / data.y.std()
    selector = HSICLasso(5, block_size=20, n_permutations=2, random_state=4).fit(data.X, data.y)
    rng = np.random.RandomState(4)
    deals = [rng.permutation(80) for _ in range(2)]
    blocks = [deal[s : s + 20] for deal in deals for s in (0, 20, 40, 60)]
    each = [smrmr.associate(X[b], y[b], measure=HSIC(width=1.0)) for b in blocks]
    assert_allclose(selector.relevance_, np.mean([e.relevance for e in each], axis=0), atol=1e-8)
    D = np.mean([e.redundancy for e in each], axis=0)
    expected = first_to_enter(selector.relevance_, lambda k: D[k], 5)
    assert chosen(selector) == expected.order
    again = HSICLasso(5, block_size=20, n_permutations=2, random_state=4).fit(data.X, data.y)
    assert_array_equal(again.ranking_, selector.ranking_)


def test_redundancy_is_lazy(data, monkeypatch):
    """Only features that were chosen are ever compared with the others."""
    from smrmr.association.associator import Associator

    asked = []
    original = Associator.with_feature
    monkeypatch.setattr(
        Associator, "with_feature", lambda self, k: asked.append(k) or original(self, k)
    )
    selector = MRMR(4, measure="pc").fit(data.X, data.y)
    assert asked == chosen(selector)[:3]
    asked.clear()
    selector = HSICLasso(4).fit(data.X, data.y)
    assert set(asked) <= set(chosen(selector)) | set(np.flatnonzero(selector.ranking_ <= 8))
    assert len(asked) <= 8


def test_columns_stay_prepared_as_far_as_memory_goes(rng, monkeypatch):
    """Counts of prepared columns: 300 once each where they fit, some again and again else."""
    X = rng.normal(size=(100, 300))
    y = X[:, 0] + rng.normal(size=100)
    prepared = []
    original = HSIC.prepare
    monkeypatch.setattr(
        HSIC,
        "prepare",
        lambda self, b, use: prepared.append(len(b.columns)) or original(self, b, use),
    )

    def counted(memory):
        prepared.clear()
        ranking = HSICLasso(5, max_memory=memory).fit(X, y).ranking_
        return ranking.tolist(), sum(prepared)

    ample, once = counted("100MB")
    fitting, as_often = counted("5MB")  # they take 4 MB; upper estimates add up to 25 MB
    scarce, more = counted("2MB")
    none, all_again = counted("100kB")
    assert ample == fitting == scarce == none
    assert once == as_often < 310  # and every chosen one by itself
    assert 600 < more < all_again


@pytest.mark.parametrize("selector", [SIS(3), MRMR(3), HSICLasso(3)], ids=str)
def test_classes_categories_and_frames(selector, rng):
    n = 60
    X = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("vwxyz"))
    X["site"] = pd.Categorical(rng.choice(["north", "south", "west"], size=n))
    y = np.where(X["w"] + 0.1 * rng.normal(size=n) > 0, "case", "control")
    y[X["site"] == "west"] = "other"
    selector.fit(X, y)
    names = selector.get_feature_names_out().tolist()
    assert {"w", "site"} <= set(names)
    assert selector.transform(X[["v", "w", "x", "y", "z", "site"]]).shape == (n, 3)


@pytest.mark.filterwarnings("ignore:columns .* of X say the same as y")
def test_multi_output_targets(rng):
    X = rng.normal(size=(60, 6))
    y = np.column_stack([X[:, 1] + 0.1 * X[:, 0], X[:, 4] ** 2])
    for selector in (SIS(2), MRMR(2, measure="pc"), HSICLasso(2)):
        assert set(chosen(selector.fit(X, y))) == {1, 4}
    for measure in ("mi", "mi-knn", "f"):
        with pytest.raises(ValueError, match="one column"):
            MRMR(2, measure=measure).fit(X, y)


def test_f_statistic(data):
    """Oracle: scikit-learn's f_regression."""
    from sklearn.feature_selection import f_regression

    selector = MRMR(4, measure="f", scheme="quotient").fit(data.X, data.y)
    assert_allclose(selector.relevance_, f_regression(data.X, data.y)[0], rtol=1e-8)


# --- scikit-learn's contract ----------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:y has . whole-numbered levels")
@pytest.mark.filterwarnings("ignore:columns .* have fewer than 5")
@pytest.mark.parametrize(
    ("estimator", "check"),
    [pair for selector in SELECTORS for pair in estimator_checks_generator(selector(2))],
    ids=lambda value: str(getattr(getattr(value, "func", value), "__name__", value)),
)
def test_scikit_learn_checks(estimator, check):
    """All of them, none expected to fail."""
    check(estimator)


@pytest.mark.parametrize("selector", SELECTORS)
def test_works_in_a_pipeline_and_a_grid_search(selector, data):
    pipeline = make_pipeline(selector(), LinearRegression())
    name = selector.__name__.lower()
    search = GridSearchCV(pipeline, {f"{name}__n_features_to_select": [2, 4]}, cv=3)
    search.fit(data.X, data.y)
    assert search.best_score_ > 0.6


@pytest.mark.parametrize("selector", SELECTORS)
def test_asking_for_more_features_than_there_are(selector, rng):
    X = rng.normal(size=(30, 3))
    selector = selector(10).fit(X, X.sum(axis=1))
    assert selector.get_support().all()


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (SIS(0), "whole number of 1 or more"),
        (MRMR(2.5), "whole number of 1 or more"),
        (MRMR(scheme="ratio"), "'difference' or 'quotient'"),
        (MRMR(measure="nope"), "'pearson'"),
        (HSICLasso(width="wide"), "'sd' or 'median'"),
        (HSICLasso(block_size=3), "block_size=3 must be a whole number of 4 or more"),
        (HSICLasso(block_size=500), "samples per block"),
    ],
)
def test_bad_options(selector, message, data):
    with pytest.raises(ValueError, match=message):
        selector.fit(data.X, data.y)


def test_bad_data(data):
    with pytest.raises(ValueError, match="80 rows and y has 79"):
        SIS().fit(data.X, data.y[:-1])
    with pytest.raises(ValueError, match="y is None"):
        MRMR().fit(data.X, None)
    with pytest.raises(ValueError, match="classes"):
        MRMR(measure="f").fit(data.X, np.where(data.y > 0, "a", "b"))
