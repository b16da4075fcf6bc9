"""The panel: which features it takes, how well it predicts rows left out, how that is scored."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm, rankdata
from sklearn.metrics import r2_score

from oracles import smallest_levels
from smrmr import associate
from smrmr.association import Associations
from smrmr.conditional.marginal import marginal_tests
from smrmr.conditional.statistics import DEFAULT_STATISTICS, as_statistics
from smrmr.data.study import read_study
from smrmr.features.groups import find_groups
from smrmr.features.rank_table import RankTable
from smrmr.layers.panel import Panel, choose_panel
from smrmr.layers.panel_accuracy import choose_size
from smrmr.layers.panel_folds import PanelTask, choose_on, deal_folds, run_folds
from smrmr.layers.panel_ranking import LAM, LAM_SHARE, associated_alone, rank_panel
from smrmr.layers.prediction import RIDGES, Rows, normal_scores_of, predict_rows
from smrmr.layers.scoring import OfSurvival, RowScores, concordant_pairs, scoring_of
from smrmr.paper.solver import solve
from smrmr.runs.json_values import from_json_value, to_json_value
from smrmr.runs.work import Work

TESTS = as_statistics(DEFAULT_STATISTICS)


def prepared(X, y, target="auto", work=None, **beside):
    """What `choose_panel` takes of the data."""
    work = Work(n_jobs=1) if work is None else work
    study = read_study(X, y, target, **beside)
    ranks = RankTable.of(study.columns, work)
    copies = find_groups(ranks, True, work=work, left_out=study.always_kept).copies
    return study, ranks, copies, marginal_tests(study, ranks, copies, TESTS, work)


def panel_of(X, y, target="auto", fdr=0.1, n_jobs=1, progress=None, size=None, **beside):
    """A panel with its accuracy."""
    work = Work(n_jobs=n_jobs, progress=progress)
    data = prepared(X, y, target, work, **beside)
    return choose_panel(*data, fdr, work, size=size, accuracy=True)


def survival(risk, rng):
    """Times that are shorter where the risk is higher, a third of them censored."""
    time = rng.exponential(size=len(risk)) * np.exp(-risk)
    event = rng.random(len(risk)) > 0.3
    fields = list(zip(event, np.where(event, time, time * rng.random(len(risk))), strict=True))
    return np.array(fields, dtype=[("event", bool), ("time", float)])


def classes(score, n_classes=3):
    """Classes by size of a score, as many rows in each."""
    return np.array([f"c{k}" for k in (rankdata(score) - 1) * n_classes // len(score)])


KINDS = {
    "numbers": lambda score, rng: (score, {}),
    "ordinal": lambda score, rng: (np.digitize(score, [-1.0, 0.0, 1.0]), {"target": "ordinal"}),
    "outputs": lambda score, rng: (np.stack([score, -2 * score + rng.normal(size=90)], 1), {}),
    "classes": lambda score, rng: (classes(score), {}),
    "survival": lambda score, rng: (survival(score, rng), {}),
    "covariates": lambda score, rng: (score, {"covariates": {"age": rng.normal(size=90)}}),
    "classes and covariates": lambda score, rng: (
        classes(score),
        {"covariates": {"age": rng.normal(size=90)}},
    ),
    "survival and covariates": lambda score, rng: (
        survival(score, rng),
        {"covariates": {"batch": list("abc") * 30}},
    ),
    "groups": lambda score, rng: (
        score + np.repeat(rng.normal(size=30), 3) * 3,
        {"groups": np.repeat(np.arange(30), 3)},
    ),
    "classes in groups": lambda score, rng: (
        classes(score, 2),
        {"groups": np.repeat(np.arange(30), 3)},
    ),
}


def table(rng):
    """90 rows of 12 features, of which 0 and 3 make the score; 11 is a category."""
    X = rng.normal(size=(90, 12))
    score = X[:, 0] + X[:, 3] + 0.4 * rng.normal(size=90)
    frame = pd.DataFrame(X[:, :11]).add_prefix("x")
    frame["colour"] = pd.Categorical(rng.choice(list("rgb"), size=90))
    return frame, score


# ---- which features


def test_associated_alone_is_bh_over_distinct_features(rng):
    """Oracle: a loop over the p-values of features that vary, each copy left out."""
    X = rng.normal(size=(60, 30))
    X[:, 4], X[:, 7] = X[:, 1] ** 3, 1.0
    y = X[:, 1] + X[:, 2] + rng.normal(size=60)
    _, _, copies, alone = prepared(X, y)
    own = np.setdiff1d(np.arange(30), [4, 7])
    expected = own[smallest_levels(alone.p[own], "bh") <= 0.1]
    found = associated_alone(alone, copies, 0.1)
    assert {1, 2} <= set(found.tolist())
    assert_array_equal(np.sort(found), expected)
    assert (np.diff(alone.p[found]) >= 0).all()


def literal_forward_search(relevance, redundancy, lam):
    """Feature of the largest gain after feature, with (2.4) solved on all so far."""
    chosen, theta = [], np.empty(0)
    while True:
        gains = relevance - redundancy[:, chosen] @ theta
        k = max(set(range(len(gains))) - set(chosen), key=lambda k: gains[k])
        if gains[k] <= lam:
            return chosen, theta, gains
        chosen = [*chosen, k]
        part = Associations(relevance[chosen], redundancy[np.ix_(chosen, chosen)], "any")
        theta = solve(part, penalty="mcp", lam=lam).theta
        assert (theta > 0).all()


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_panel_is_a_forward_search_on_the_problem_of_the_paper(kind, rng):
    """Oracle: a literal search on all associations; law: in the end no gain exceeds lambda."""
    X = rng.normal(size=(80, 25)) + 0.3 * rng.normal(size=(80, 1))
    y = KINDS[kind](X[:, :4].sum(axis=1) + 0.5 * rng.normal(size=80), rng)[0]
    study, _, copies, alone = prepared(X, y)
    associated = associated_alone(alone, copies, 0.6)
    features, theta = rank_panel(study, associated, Work(n_jobs=1))
    found = associate(X[:, associated], y)
    lam = min(LAM, LAM_SHARE * found.relevance.max())
    chosen, expected, gains = literal_forward_search(found.relevance, found.redundancy, lam)
    assert 3 <= len(chosen) < len(associated)
    assert_array_equal(features, associated[chosen])
    assert_allclose(theta, expected, atol=1e-7)
    assert np.delete(gains, chosen).max() <= lam


def test_first_feature_is_the_most_relevant_and_near_copies_stay_out(rng):
    """Law: a near copy of what is in a panel adds nothing; a weaker feature of its own does."""
    X = rng.normal(size=(150, 6))
    X[:, 1] = X[:, 0] + 0.05 * rng.normal(size=150)
    y = 2 * X[:, 0] + 0.8 * X[:, 2] + 0.5 * rng.normal(size=150)
    study, _, copies, alone = prepared(X, y)
    associated = associated_alone(alone, copies, 0.1)
    assert set(associated[:2].tolist()) == {0, 1}  # by p-value alone it would come second
    features, _ = rank_panel(study, associated, Work(n_jobs=1), 2)
    assert features[0] == associate(X, y).relevance.argmax()
    assert features[1] == 2


def test_smaller_panels_begin_larger_ones(rng):
    """Law: features come in the order in which they enter, whatever the size requested."""
    X = rng.normal(size=(90, 40)) + 0.5 * rng.normal(size=(90, 1))
    data = prepared(X, X[:, :8].sum(axis=1) + rng.normal(size=90))
    work = Work(n_jobs=1)
    largest = choose_panel(*data, 0.1, work, size=12)
    by_default = choose_panel(*data, 0.1, work)
    assert len(largest.features) == 12
    assert largest.accuracy is None
    for size in (1, 3, 6):
        part = choose_panel(*data, 0.1, work, size=size)
        assert_array_equal(part.features, largest.features[:size])
    shared = min(12, len(by_default.features))
    assert_array_equal(by_default.features[:shared], largest.features[:shared])


def test_covariates_are_adjusted_for(rng):
    """Law: what is associated by way of a covariate only is in no panel that is given it."""
    age = rng.normal(size=120)
    X = rng.normal(size=(120, 8))
    X[:, 0] += 3 * age
    y = 2 * age + X[:, 1] + 0.5 * rng.normal(size=120)
    assert 0 in panel_of(X, y).features
    assert_array_equal(panel_of(X, y, covariates={"age": age}).features, [1])


def test_nothing_associated_is_no_panel(rng):
    """Law: without associated features there is nothing to choose or to predict from."""
    found = panel_of(rng.normal(size=(40, 5)), rng.normal(size=40), fdr=1e-6)
    assert len(found.features) == len(found.theta) == 0
    assert found.accuracy is None


# ---- prediction


def test_normal_scores_are_those_of_training_rows(rng):
    """Oracle: the normal quantile of the share of training values below, one value at a time."""
    x = np.round(rng.normal(size=40), 1)
    train = np.arange(0, 40, 3)
    n = len(train)
    share = [np.mean((x[train] < v) + 0.5 * (x[train] == v)) for v in x]
    expected = norm.ppf(np.clip(share, 0.5 / n, 1 - 0.5 / n))
    expected = (expected - expected[train].mean()) / expected[train].std()
    ranks = (2 * rankdata(x)).astype(np.int32)[None]
    assert_allclose(normal_scores_of(ranks, train)[0], expected, atol=1e-12)


def literal_prediction(X, Y, train, test):
    """Kernel ridge on normal scores, the ridge by fits without each training row in turn."""
    ranks = np.stack([2 * rankdata(x) for x in X.T]).astype(np.int32)
    Z = normal_scores_of(ranks, train).T
    k = Z.shape[1]
    squares = ((Z[:, None] - Z) ** 2).sum(axis=2)
    K = Z @ Z.T + k * np.exp(-squares / (2 * k))
    n = len(train)
    centring = np.eye(n) - 1 / n
    inner = centring @ K[np.ix_(train, train)] @ centring

    def fit(rows, ridge):
        """Intercept and weights of a fit to some training rows, in coordinates of them all."""
        among = inner[np.ix_(rows, rows)] + ridge * np.eye(len(rows))
        ones = np.ones((1, len(rows)))
        system = np.block([[among, ones.T], [ones, np.zeros((1, 1))]])
        right = np.vstack([Y[train][rows], np.zeros((1, Y.shape[1]))])
        return np.linalg.solve(system, right)

    ridges = RIDGES * np.mean(np.diag(K)[train])
    errors = []
    for ridge in ridges:
        left_out = []
        for i in range(n):
            rows = np.delete(np.arange(n), i)
            found = fit(rows, ridge)
            left_out.append(Y[train][i] - inner[i, rows] @ found[:-1] - found[-1])
        errors.append(np.mean(np.square(left_out)))
    found = fit(np.arange(n), ridges[int(np.argmin(errors))])
    across = K[np.ix_(test, train)] - K[np.ix_(train, train)].mean(axis=0)
    return across @ centring @ found[:-1] + found[-1]


def test_prediction_is_kernel_ridge_with_the_ridge_of_rows_left_out(rng):
    """Oracle: brute force, every training row left out by a fit without it."""
    X = rng.normal(size=(36, 3))
    Y = np.stack([np.sin(X[:, 0]) + X[:, 1], X[:, 2]], axis=1) + 0.3 * rng.normal(size=(36, 2))
    train, test = np.arange(24), np.arange(24, 36)
    study = read_study(X, Y)
    rows = Rows(train, test, np.empty((36, 0)))
    found = predict_rows(RankTable.of(study.columns), np.arange(3), Y.T, rows)
    assert_allclose(found.T, literal_prediction(X, Y, train, test), atol=1e-6)


def test_covariates_are_part_of_a_prediction(rng):
    """Closed form: a target that is a line in a covariate is predicted without any feature."""
    X, age = rng.normal(size=(30, 2)), rng.normal(size=(30, 1))
    y = (3 * age + 1).T
    rows = Rows(np.arange(20), np.arange(20, 30), age)
    ranks = RankTable.of(read_study(X, y[0]).columns)
    assert_allclose(predict_rows(ranks, np.empty(0, int), y, rows), y[:, 20:])
    assert_allclose(predict_rows(ranks, np.arange(2), y, rows), y[:, 20:])
    without = predict_rows(ranks, np.empty(0, int), y, rows, given=False)
    assert_allclose(without, np.full((1, 10), y[:, :20].mean()))


def test_what_covariates_differ_by_between_groups_does_not_count(rng):
    """Law: a constant for each group, added to a covariate, changes no prediction within groups."""
    X, age, groups = rng.normal(size=(30, 2)), rng.normal(size=(30, 1)), np.repeat(np.arange(10), 3)
    y = (3 * age + X[:, :1]).T
    ranks = RankTable.of(read_study(X, y[0]).columns)
    rows = [
        Rows.of(np.arange(21), np.arange(21, 30), design, groups)
        for design in (age, age + 5 * rng.normal(size=(10, 1))[groups])
    ]
    before, after = (predict_rows(ranks, np.arange(2), y, one) for one in rows)
    assert_allclose(after, before, atol=1e-9)


# ---- scores


def literal_concordance(time, event, risk):
    """Harrell's concordance, pair by pair."""
    right = pairs = 0.0
    for i in range(len(time)):
        for j in range(len(time)):
            first = time[i] < time[j] or (time[i] == time[j] and not event[j])
            if i != j and event[i] and first:
                pairs += 1
                right += 1.0 if risk[i] > risk[j] else 0.5 if risk[i] == risk[j] else 0.0
    return right / pairs


def test_concordance_goes_pair_by_pair(rng, monkeypatch):
    """Oracle: two loops over rows, with ties of times and of risks."""
    time, event = rng.integers(1, 12, size=40).astype(float), rng.integers(0, 2, size=40)
    risks = np.round(rng.normal(size=(2, 40)) - 0.2 * time, 1)
    risks[0, :10] = 0.0
    expected = [literal_concordance(time, event, risk) for risk in risks]
    for at_once in (2**22, 120):
        monkeypatch.setattr("smrmr.layers.scoring.MAX_BLOCK_VALUES", at_once)
        gains, weights = concordant_pairs(time, event.astype(float), risks)
        found = RowScores(gains, weights, np.arange(40), by_pairs=True)
        assert_allclose(found.scores, expected)


def test_errors_are_those_of_the_field(rng):
    """Closed form for a share; jackknife for the ratios of numbers and of pairs, within a tenth."""
    right = (rng.random((1, 300)) < 0.7).astype(float)
    share = RowScores(right, np.ones(300), np.arange(300))
    p = right.mean()
    assert_allclose(share.errors, np.sqrt(p * (1 - p) / 299))
    time, risk = rng.exponential(size=120), rng.normal(size=120)
    time *= np.exp(-risk)
    event = (rng.random(120) < 0.7).astype(float)

    def concordance(rows):
        gains, weights = concordant_pairs(time[rows], event[rows], risk[None, rows])
        return RowScores(gains, weights, np.arange(len(rows)), by_pairs=True)

    without = [concordance(np.delete(np.arange(120), i)).scores[0] for i in range(120)]
    jackknife = np.sqrt(119 * np.var(without))
    assert_allclose(concordance(np.arange(120)).errors[0], jackknife, rtol=0.1)


def test_errors_are_over_groups_of_rows(rng):
    """Law: rows that come three times, as a group each, have the error of rows that come once."""
    gains, weights = rng.normal(size=(2, 50)), rng.random(50) + 0.5
    once = RowScores(gains, weights, np.arange(50))
    thrice = RowScores(np.tile(gains, 3), np.tile(weights, 3), np.tile(np.arange(50), 3))
    assert_allclose(thrice.scores, once.scores)
    assert_allclose(thrice.errors, once.errors)
    assert_allclose(thrice.errors_against(1), once.errors_against(1))


def test_r2_of_two_outputs_is_that_of_scikit_learn(rng):
    """Oracle: r2_score weighted by variance, for standardised outputs whose means agree."""
    Y = rng.normal(size=(40, 2)) * [1.0, 30.0]
    Y = np.concatenate([Y, Y])  # the first half is for training, and has the mean of the second
    study = read_study(rng.normal(size=(80, 2)), Y)
    rows = Rows(np.arange(40), np.arange(40, 80), np.empty((80, 0)))
    scoring = scoring_of(study)
    truth = scoring.columns(study, rows.train)[:, 40:]
    predicted = truth + rng.normal(size=truth.shape)
    gains, weights = scoring.score(study, rows, predicted[None])
    expected = r2_score(truth.T, predicted.T, multioutput="variance_weighted")
    assert_allclose(gains.sum() / weights.sum(), expected)


def test_survival_to_learn_from_is_that_of_training_rows(rng):
    """Law: other times of rows left out change nothing that is learned."""
    y = survival(rng.normal(size=50), rng)
    X, train = rng.normal(size=(50, 2)), np.arange(35)
    before = OfSurvival().columns(read_study(X, y), train)
    y["time"][35:] *= 100
    assert_array_equal(OfSurvival().columns(read_study(X, y), train), before)


def test_size_is_the_smallest_that_is_as_good():
    """Hand-worked: three sizes with scores 0.5, 0.8 and 0.82, the last two nearly alike by row."""
    gains = np.zeros((3, 100))
    gains[0, :50], gains[1, :80], gains[2, :82] = 1, 1, 1
    by_size = RowScores(gains, np.ones(100), np.arange(100))
    # the difference 0.02 has a standard error of sqrt(0.02 * 0.98 / 99), about 0.014
    assert choose_size(by_size) == 2
    gains[1, 80:99], gains[1, 60:78] = 1, 0  # 0.81; now they differ in many rows
    assert choose_size(by_size) == 1


# ---- folds


def task_of(study, fdr=0.5, sizes=(1, 3)):
    return PanelTask(
        study, RankTable.of(study.columns), fdr, TESTS, sizes, False, scoring_of(study)
    )


def test_accuracy_is_that_of_a_literal_loop(rng):
    """Oracle: brute force over folds, each read from scratch, with a literal predictor."""
    X = rng.normal(size=(60, 5))
    score = X[:, 0] - X[:, 2]
    score = score + 0.5 * rng.normal(size=60)
    order = np.argsort(score)
    X, y = X[order], classes(score[order], 2)
    study = read_study(X, y)
    task, folds = task_of(study), deal_folds(study)
    found = run_folds(task, folds, Work(n_jobs=1))
    names = np.unique(y)
    right = np.zeros((2, 2, 60))
    for repeat, dealt in enumerate(folds):
        for fold in range(5):
            train, test = np.flatnonzero(dealt != fold), np.flatnonzero(dealt == fold)
            part, _, copies, alone = prepared(X[train], y[train])
            associated = associated_alone(alone, copies, 0.5)
            panel = rank_panel(part, associated, Work(n_jobs=1))[0]
            assert_array_equal(found.panels[repeat * 5 + fold][: len(panel[:3])], panel[:3])
            for i, size in enumerate((1, 3)):
                Y = (y[:, None] == names).astype(float)
                predicted = literal_prediction(X[:, panel[:size]], Y, train, test)
                right[repeat, i, test] = names[predicted.argmax(axis=1)] == y[test]
    assert_array_equal(found.gains[:, :2], right)
    assert 0.6 < right.mean() < 1


def test_rows_left_out_do_not_reach_the_choice(rng):
    """Law: with other features and classes in the rows left out a fold has the same panel."""
    X = rng.normal(size=(60, 20))
    y = classes(X[:, 0] + X[:, 1] + rng.normal(size=60))
    study = read_study(X, y)
    folds = deal_folds(study)
    before = run_folds(task_of(study), folds, Work(n_jobs=1))
    for i in (0, 7):
        test = folds[i // 5] == i % 5
        changed_X, changed_y = X.copy(), y.copy()
        changed_X[test] = 5 * rng.normal(size=(test.sum(), 20))
        changed_X[test, 9] = np.arange(test.sum())
        changed_y[test] = rng.permutation(y[test])
        other = run_folds(task_of(read_study(changed_X, changed_y)), folds, Work(n_jobs=1))
        assert_array_equal(other.panels[i], before.panels[i])
        assert other.n_associated[i] == before.n_associated[i]
        assert not np.array_equal(other.panels, before.panels)  # other folds learn from them


def test_folds_are_even_and_keep_groups_together(rng):
    """Law: fold sizes differ by one row at most, each class is shared out, groups are whole."""
    y = np.repeat(list("abc"), [40, 25, 18])
    folds = deal_folds(read_study(rng.normal(size=(83, 3)), y))
    assert folds.shape == (2, 83)
    assert not np.array_equal(folds[0], folds[1])
    for dealt in folds:
        assert np.ptp(np.bincount(dealt)) <= 1
        for label, size in zip("abc", (8, 5, 18 // 5), strict=True):
            assert np.abs(np.bincount(dealt[y == label], minlength=5) - size).max() <= 2
    groups = rng.permutation(np.repeat(np.arange(20), 3))
    study = read_study(rng.normal(size=(60, 3)), rng.normal(size=60), groups=groups)
    for dealt in deal_folds(study):
        assert all(len(np.unique(dealt[groups == group])) == 1 for group in range(20))
        assert_array_equal(np.bincount(dealt), [12] * 5)


@pytest.mark.parametrize("y", [["a", "b"] * 15, [0.1, 0.7] * 15, [[0.1, 3.0], [0.7, 5.0]] * 15])
def test_a_target_that_does_not_vary_in_training_chooses_nothing(y, rng):
    """Law: nothing is associated with a constant."""
    study = read_study(rng.normal(size=(30, 4)), y)
    constant = study.take(np.arange(0, 30, 2))
    associated, panel = choose_on(constant, task_of(study, fdr=1.0), Work(n_jobs=1))
    assert len(associated) == len(panel) == 0


def test_outputs_that_do_not_vary_in_training_are_left_out(rng):
    """Law: the same panel as of the other output alone."""
    X = rng.normal(size=(40, 4))
    varied, rare = X[:, 1] + rng.normal(size=40), np.where(np.arange(40) < 30, 0.0, 1.0)
    both, one = (read_study(X, y) for y in (np.stack([varied, rare], 1), varied))
    found = [
        choose_on(one.take(np.arange(30)), task_of(one), Work(n_jobs=1)) for one in (both, one)
    ]
    assert 1 in found[0][1]
    for with_constant, without in zip(*found, strict=True):
        assert_array_equal(with_constant, without)


# ---- accuracy


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_target_is_predicted(kind, rng):
    """Law: true features carry the panel and score beyond chance by more than three errors."""
    X, score = table(rng)
    y, beside = KINDS[kind](score, rng)
    found = panel_of(X, y, **beside)
    account = found.accuracy
    assert {0, 3} <= set(found.features.tolist())
    assert account.score > account.chance + 3 * account.error
    assert account.all_associated > account.chance + 3 * account.all_error
    assert 0 < account.error < 0.15
    assert account.score <= 1
    assert account.size == len(found.features) == len(found.theta) == len(account.stability)
    assert account.stability[:2].min() > 0.5
    assert account.mean_size <= account.sizes[-1]
    assert (account.n_folds, account.n_repeats) == (5, 2)


def test_score_is_near_the_best_possible(rng):
    """Closed form: the true signal explains 0.8 of the variance, and so nearly does the panel."""
    X = rng.normal(size=(250, 30))
    y = X[:, 2] + X[:, 5] - X[:, 7] - X[:, 11] + rng.normal(size=250)
    found = panel_of(X, y)
    assert set(found.features.tolist()) == {2, 5, 7, 11}
    assert abs(found.accuracy.score - 0.8) < 0.06
    assert_array_equal(found.accuracy.stability, np.ones(4))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "numbers", "survival"])
def test_shuffled_targets_score_by_chance(kind):
    """Law: where nothing is to be found no choice, that of the size included, makes a score.

    At a level of 0.99 panels are full of false features, and sizes are chosen among them. The mean
    of scores is at chance within two standard errors, the best of sizes is above it for classes.
    """
    found = []
    for seed in range(24):
        rng = np.random.default_rng([8, seed])
        y = KINDS[kind](rng.normal(size=90), rng)[0]
        account = panel_of(rng.normal(size=(90, 40)), y, fdr=0.99).accuracy
        if account is not None:
            beyond = account.score - account.chance
            found.append((beyond, account.error, account.scores.max() - account.chance))
    beyond, error, best = np.mean(found, axis=0)
    limit = 2 * error / np.sqrt(len(found))
    assert len(found) >= 16
    assert beyond < limit
    assert kind != "classes" or best > limit


def test_folds_are_not_dealt_by_features():
    """Law: one feature, dealt evenly within classes, would seem to predict shuffled classes."""
    scores = []
    for seed in range(15):
        rng = np.random.default_rng([9, seed])
        x, y = rng.normal(size=60), np.repeat(["a", "b"], 30)
        study = read_study(x[np.lexsort((x, y))][:, None], y)
        task = task_of(study, fdr=1.0, sizes=(1,))
        scores.append(run_folds(task, deal_folds(study), Work(n_jobs=1)).gains[:, 0].mean())
    assert np.mean(scores) < 0.5 + 2 * np.std(scores) / np.sqrt(15)


def test_chance_with_covariates_is_what_they_reach(rng):
    """Law: a covariate that makes most of the target is no merit of features."""
    age = rng.normal(size=120)
    X = rng.normal(size=(120, 6))
    y = 3 * age + X[:, 0] + 0.3 * rng.normal(size=120)
    account = panel_of(X, y, covariates={"age": age}).accuracy
    assert 0.75 < account.chance < 0.95 < account.score


def test_score_of_a_size_requested_is_that_of_this_size(rng):
    """Law: nothing is chosen, so the score is the plain one of the only size."""
    X, score = table(rng)
    found = panel_of(X, score, size=4, fdr=0.999)
    account = found.accuracy
    assert_array_equal(account.sizes, [4])
    assert len(found.features) == account.size == account.mean_size == 4
    assert account.score == account.scores[0]
    assert account.error == account.errors[0]


def test_the_panel_taken_begins_the_ranking_and_its_folds_are_counted(rng):
    """Oracle: the ranking without accuracy, (2.4) on its beginning, and the folds run again."""
    X = rng.normal(size=(50, 30))
    X[:, 2] = X[:, 0] + 0.3 * X[:, 2]  # which of the two it takes depends on the fold
    y = X[:, 0] + X[:, 1] + rng.normal(size=50)
    order = np.argsort(y)
    X, y = X[order], y[order]
    study, *others = prepared(X, y)
    whole, found = (
        choose_panel(study, *others, 0.9, Work(n_jobs=1), accuracy=accuracy)
        for accuracy in (False, True)
    )
    account = found.accuracy
    assert 2 <= account.size < len(whole.features)
    assert_array_equal(found.features, whole.features[: account.size])
    part = associate(X[:, found.features], y)
    lam = min(LAM, LAM_SHARE * part.relevance.max())
    assert_allclose(found.theta, solve(part, penalty="mcp", lam=lam).theta, atol=1e-7)
    task = task_of(study, 0.9, tuple(account.sizes.tolist()))
    panels = run_folds(task, deal_folds(study), Work(n_jobs=1)).panels[:, : account.size]
    expected = [sum(k in panel for panel in panels.tolist()) / 10 for k in found.features]
    assert_allclose(account.stability, expected)
    assert min(expected) < 1


def test_features_that_differ_between_groups_predict_within_them(rng):
    """Law: what differs between groups neither helps nor harms rows compared within them."""
    groups = np.repeat(np.arange(40), 3)
    X = rng.normal(size=(120, 6))
    y = X[:, 0] + 0.3 * rng.normal(size=120)
    X += 4 * rng.normal(size=(40, 6))[groups]
    found = panel_of(X, y + 10 * rng.normal(size=40)[groups], groups=groups)
    assert_array_equal(found.features, [0])
    assert found.accuracy.score > 0.6


def test_rows_and_columns_in_another_order_give_the_same(rng):
    """Law: folds are dealt by what rows hold; features are found at their new places."""
    X, score = table(rng)
    for y in (score, classes(score)):
        found = panel_of(X, y)
        rows, columns = rng.permutation(90), rng.permutation(12)
        other = panel_of(X.iloc[rows, columns], y[rows])
        assert_array_equal(columns[other.features], found.features)
        for name in ("score", "error", "all_associated", "scores", "stability", "mean_size"):
            before, after = getattr(found.accuracy, name), getattr(other.accuracy, name)
            assert_allclose(after, before, atol=1e-9)


def test_threads_change_nothing_and_progress_is_told(rng):
    """Law: the same bits whatever n_jobs; every fold is a step of the stage."""
    X, score = table(rng)
    told = []
    one = panel_of(X, score, progress=lambda *step: told.append(step))
    two = panel_of(X, score, n_jobs=2)
    assert json.dumps(one, default=to_json_value) == json.dumps(two, default=to_json_value)
    assert [step[1:] for step in told if step[0] == "panel"] == [(i, 10) for i in range(11)]


def test_a_panel_is_the_same_after_json(rng):
    """Law: what JSON holds is read back by type hints, with accuracy and without."""
    X, score = table(rng)
    found = panel_of(X, score)
    for panel in (found, replace(found, accuracy=None)):
        text = json.dumps(panel, default=to_json_value)
        read = from_json_value(Panel, json.loads(text))
        assert json.dumps(read, default=to_json_value) == text
        assert isinstance(read, Panel)
        assert read.features.dtype == np.intp


def test_a_size_must_be_a_count(rng):
    """Oracle: the message of every setting that counts."""
    data = prepared(rng.normal(size=(30, 3)), rng.normal(size=30))
    with pytest.raises(ValueError, match="size"):
        choose_panel(*data, 0.1, Work(n_jobs=1), size=0)
