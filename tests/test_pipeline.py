"""The whole method: the laws that FDR control rests on, and what may not change an answer."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy.linalg import toeplitz

import smrmr
from recipes import recipe
from smrmr import Recipe, Selection, select, simulate
from smrmr.data.columns import Columns
from smrmr.data.study import Study, adjusted, read_study
from smrmr.data.target import as_target
from smrmr.features.copies import find_copies
from smrmr.measures import MEASURES
from smrmr.paper import Gaussian, KnockoffFilter
from smrmr.paper.pairs import Pairs, associate_pairs, pair_with_knockoffs
from smrmr.paper.screening import split_rows
from smrmr.paper.solver import PENALTIES, solve
from smrmr.paper.tuning import TuningProblem, deal_folds
from smrmr.runs.work import Work
from smrmr.settings import write_setting
from thinned import thinned

good_knockoffs_fail_sometimes = pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")
EVERY = [(measure, penalty) for measure in MEASURES for penalty in PENALTIES]
SOME = [cell for k, cell in enumerate(EVERY) if k % (len(PENALTIES) + 1) == 0]  # each of both once
HALF = [cell for k, cell in enumerate(EVERY) if (k // len(PENALTIES) + k) % 2 == 0]


def paired_columns(control, n=60, p=40, design="1.c", seed=0, covariates=None):
    """Features and knockoffs beside each other, rows recycled, as the pipeline makes them."""
    data = simulate(design, n, p, random_state=seed)
    study = read_study(data.X, data.y, data.target, covariates=covariates)
    parts = control.screening.split(study, np.random.default_rng(1))
    study = adjusted(study, parts)
    found = control.screening.screen(study, parts, control.measure, control.penalty, Work())
    values = study.columns.read(found.kept)
    rows = found.rows_select
    copies = find_copies(Columns.bare(values[rows]), control.knockoffs.by_rank)
    drawn = control.knockoffs.draw(values[rows], copies, found.kept, rows, np.random.default_rng(2))
    return pair_with_knockoffs(values, drawn.X_knockoff, study, found)


def posed(pairs, control):
    """The problem of choosing lambda for these pairs."""
    associations = associate_pairs(pairs, control.measure, control.cross_terms, Work())
    return TuningProblem(pairs, control.measure, control.cross_terms, associations, control.penalty)


def solved(pairs, control):
    """Coefficients, the lambda chosen, and its place on the path."""
    problem = posed(pairs, control)
    tuning = control.lam.choose(problem, np.random.default_rng(3), Work())
    theta = solve(problem.associations, penalty=problem.penalty, lam=tuning.lam).theta
    return theta, tuning


def reordered(pairs, order):
    columns = Columns.bare(pairs.study.columns.values[:, order])
    return Pairs(Study(columns, pairs.study.target), pairs.part)


def swapped(pairs, features):
    order = np.arange(2 * pairs.n_features)
    order[features], order[features + pairs.n_features] = (
        features + pairs.n_features,
        features.copy(),
    )
    return reordered(pairs, order), order


def check_swap_law(control, **data):
    pairs = paired_columns(control, **data)
    features = np.arange(0, pairs.n_features, 3)
    theta, tuning = solved(pairs, control)
    exchanged, order = swapped(pairs, features)
    theta_swapped, tuning_swapped = solved(exchanged, control)
    assert theta.max() > 0
    np.testing.assert_array_equal(
        np.argsort(tuning.losses)[:1], np.argsort(tuning_swapped.losses)[:1]
    )
    np.testing.assert_allclose(tuning_swapped.losses, tuning.losses, atol=1e-7)
    np.testing.assert_allclose(theta_swapped, theta[order], atol=1e-7)


@pytest.mark.parametrize(("measure", "penalty"), thinned(EVERY, HALF))
def test_swap_law(measure, penalty):
    """Law: exchanging features with their knockoffs exchanges coefficients, and nothing else."""
    check_swap_law(KnockoffFilter(measure=measure, penalty=penalty))


@pytest.mark.parametrize("design", ["1.c", "3.a"])
@pytest.mark.parametrize(
    "control",
    [
        KnockoffFilter(lam="cv(debiased=true)"),
        KnockoffFilter(lam="cv(debiased=true)", measure="hsic", penalty="l1"),
        KnockoffFilter(lam=0.02),
        KnockoffFilter(screening="split(recycle=false)"),
        KnockoffFilter(knockoffs="gaussian(s=mvr, covariance=sample, copula=false)"),
        KnockoffFilter(screening="none"),
        KnockoffFilter(measure="pc(anchors=15)"),
    ],
    ids=write_setting,
)
def test_swap_law_of_other_settings(control, design):
    check_swap_law(control, design=design)


@pytest.mark.parametrize("design", ["1.c", "3.a"])
def test_swap_law_given_covariates(design, rng):
    covariates = {"age": rng.normal(size=60), "batch": rng.choice(list("abc"), 60)}
    check_swap_law(KnockoffFilter(), design=design, covariates=covariates)


def test_swap_law_fails_without_cross_terms():
    """Eq. (4.1) as printed tells features from knockoffs; this is why it is not the default."""
    with pytest.raises(AssertionError):
        check_swap_law(KnockoffFilter(cross_terms=False))


@pytest.mark.parametrize(("measure", "penalty"), thinned(EVERY, SOME))
def test_row_leak_law(measure, penalty, rng):
    """Law: whatever the selecting rows hold, the same features are kept."""
    settings = recipe(measure=measure, penalty=penalty, target="continuous")
    data = simulate("2.a", 60, 80, random_state=0)
    honest = select(data.X, data.y, settings, rng=5)
    target = as_target(data.y, "continuous")
    (child,) = np.random.default_rng(5).spawn(1)
    _, rows = split_rows(target, 0.4, child.spawn(4)[0])
    X, y = data.X.copy(), data.y.copy()
    X[rows] = rng.standard_cauchy(size=(len(rows), 80))
    y[rows] = rng.normal(size=len(rows)) * 100
    assert len(rows) == honest.evidence.draws[0].n_select
    garbled = select(X, y, settings, rng=5)
    np.testing.assert_array_equal(garbled.evidence.kept, honest.evidence.kept)
    np.testing.assert_array_equal(garbled.relevance, honest.relevance)
    assert not np.array_equal(garbled.W, honest.W)


@pytest.mark.parametrize("kind", ["continuous", "ordinal", "survival"])
def test_row_leak_law_given_covariates(kind, rng):
    """Law: the same where covariates are adjusted for, and where targets compare rows."""
    settings = recipe(measure="hsic", target=kind)
    data = simulate("2.a", 60, 80, random_state=0)
    time = np.abs(data.y) + 0.1
    y = {
        "continuous": data.y,
        "ordinal": np.digitize(data.y, np.quantile(data.y, [0.25, 0.5, 0.75])),
        "survival": np.rec.fromarrays([rng.random(60) < 0.7, time], names="event,time"),
    }[kind]
    covariates = {"age": rng.normal(size=60), "batch": rng.choice(list("ab"), 60)}
    honest = select(data.X, y, settings, rng=5, covariates=covariates)
    (child,) = np.random.default_rng(5).spawn(1)
    _, rows = split_rows(as_target(data.y, "continuous"), 0.4, child.spawn(4)[0])
    X, other = data.X.copy(), y.copy()
    X[rows] = rng.standard_cauchy(size=(len(rows), 80))
    other[rows] = y[rng.choice(rows, len(rows))]
    garbled = select(X, other, settings, rng=5, covariates=covariates)
    np.testing.assert_array_equal(garbled.evidence.kept, honest.evidence.kept)
    np.testing.assert_allclose(garbled.relevance, honest.relevance, atol=1e-12)
    assert not np.array_equal(garbled.W, honest.W)


def check_fair_signs(seeds, **settings):
    """Signs of W of null features are coins, overall and in the top fifth."""
    overall, top = [], []
    for seed in range(seeds):
        data = simulate("1.d", 150, 120, random_state=[3, seed])
        draw = select(data.X, data.y, recipe(**settings), seed).evidence.draws[0]
        W = draw.W[~np.isin(draw.kept, data.support) & (draw.W != 0)]
        if W.size:
            overall.append(np.mean(W > 0))
            top.append(np.mean(W[np.argsort(-np.abs(W))[: max(1, len(W) // 5)]] > 0))
    for shares in (overall, top):
        assert abs(np.mean(shares) - 0.5) <= 3 * np.std(shares) / np.sqrt(len(shares)), shares


@good_knockoffs_fail_sometimes
def test_fair_signs():
    check_fair_signs(seeds=15)


@pytest.mark.slow
@good_knockoffs_fail_sometimes
@pytest.mark.parametrize(("measure", "penalty"), EVERY)
def test_fair_signs_of_every_recipe(measure, penalty):
    """With the true covariance: what is left is the pipeline's own doing.

    An estimated one tilts the many tiny W of an unpenalised fit a little, their top fifth not
    noticeably; benchmarks/studies/signs.py shows how much.
    """
    covariance = toeplitz(0.5 ** np.arange(120))
    check_fair_signs(
        seeds=60, measure=measure, penalty=penalty, knockoffs=Gaussian(covariance=covariance)
    )


def comparable(selection):
    content = json.loads(selection.to_json())
    return {k: v for k, v in content.items() if k not in ("seconds", "settings")}


@good_knockoffs_fail_sometimes
@pytest.mark.parametrize("measure", MEASURES)
def test_same_seed_same_selection_whatever_the_jobs(measure):
    data = simulate("3.b", 100, 150, random_state=0)
    recipes = [
        recipe(measure=measure, target="classes", n_jobs=jobs, max_memory=m)
        for jobs, m in ((1, "1GB"), (2, "9MB"))
    ]
    one, two = (select(data.X, data.y, one, rng=4) for one in recipes)
    assert measure != "pc" or comparable(one) == comparable(two)
    np.testing.assert_allclose(one.W, two.W, atol=1e-10)
    np.testing.assert_array_equal(one.selected, two.selected)
    assert not np.array_equal(one.W, select(data.X, data.y, recipes[0], rng=5).W)


def test_permuting_pairs_permutes_importances(rng):
    pairs = paired_columns(KnockoffFilter())
    theta, _ = solved(pairs, KnockoffFilter())
    shuffled = rng.permutation(pairs.n_features)
    order = np.concatenate([shuffled, shuffled + pairs.n_features])
    other, _ = solved(reordered(pairs, order), KnockoffFilter())
    np.testing.assert_allclose(other, theta[order], atol=1e-7)


@pytest.mark.parametrize("control", ["tests", "knockoffs"])
def test_renaming_classes_changes_nothing(control):
    data = simulate("3.b", 90, 100, random_state=0)
    names = np.array(["well", "ill"])[data.y.astype(int)]
    other = 1 - data.y.astype(int) > 0
    one, two = (select(data.X, y, Recipe(control=control), rng=0) for y in (names, other))
    assert set(one.plot_data.labels) == {"well", "ill"}
    content, renamed = comparable(one), comparable(two)
    for told in (content, renamed):
        part = told["plot_data"]
        del part["labels"], told["alone"]["targets"]
        for fit in told["evidence"].get("fits", ()):
            del fit["target"]  # the name of a class
        for shape in part["shapes"]:
            del shape["names"]
        for class_name, text in (("ill", "False"), ("well", "True")):
            told["trends"] = json.loads(json.dumps(told["trends"]).replace(class_name, text))
            told["near_misses"] = json.loads(
                json.dumps(told["near_misses"]).replace(class_name, text)
            )
    assert content == renamed


@pytest.mark.slow
@good_knockoffs_fail_sometimes
def test_fdr_is_controlled_where_power_is_high():
    """Mean false discovery proportion over 25 draws of an easy design is below the level."""
    proportions, found = [], []
    for seed in range(25):
        data = simulate("1.d", 200, 95, random_state=[1, seed])
        chosen = select(data.X, data.y, recipe(fdr=0.3, lam=0.01), seed).selected
        hits = np.isin(chosen, data.support).sum()
        proportions.append((len(chosen) - hits) / max(len(chosen), 1))
        found.append(hits / 10)
    assert np.mean(proportions) <= 0.3 + 3 * np.std(proportions) / np.sqrt(25)
    assert np.mean(found) > 0.5


def test_split_takes_each_class_in_its_share():
    y = np.repeat(["a", "b", "c"], [50, 30, 11])
    target = as_target(y)
    screening, selecting = split_rows(target, 0.4, np.random.default_rng(0))
    assert len(screening) == 36
    counts = [np.sum(y[screening] == name) for name in "abc"]
    assert counts[0] == 20
    assert counts[1] == 12
    assert counts[2] in (4, 5)
    assert sorted([*screening, *selecting]) == list(range(91))


def test_folds_deal_out_classes_and_parts_evenly(rng):
    target = as_target(np.repeat(["a", "b"], [60, 41]))
    part = rng.integers(0, 2, size=101)
    pairs = Pairs(Study(Columns.bare(np.zeros((101, 2))), target), part)
    fold = deal_folds(pairs, 5, rng)
    assert np.ptp(np.bincount(fold)) <= 1
    for label in (0, 1):
        for side in (0, 1):
            cell = fold[(target.values == label) & (part == side)]
            assert np.ptp(np.bincount(cell, minlength=5)) <= 1


def test_sizes_follow_the_paper():
    """n_0 = floor(0.4 n), s_0 = floor((n_1 - 1) / 2), 4 s_0 shortlisted; all rows when 2 p < n."""
    data = simulate("1.a", 101, 400, random_state=0)
    draw = select(data.X, data.y, recipe(), rng=0).evidence.draws[0]
    assert (draw.n_screen, draw.n_select, len(draw.kept), len(draw.shortlisted)) == (
        40,
        61,
        30,
        120,
    )
    few = select(data.X[:, :50], data.y, recipe(), rng=0).evidence.draws[0]
    assert (few.n_screen, few.n_select, len(few.kept)) == (0, 101, 50)


def test_held_out_loss_is_the_literal_one():
    """Oracle: associations and paths of each fold, computed apart through the public functions."""
    control = KnockoffFilter(measure="pc", penalty="l1", lam="cv(folds=3)")
    pairs = paired_columns(control)
    _, tuning = solved(pairs, control)
    fold = deal_folds(pairs, 3, np.random.default_rng(3))
    X, y = pairs.study.columns.values, pairs.study.target.values
    total = np.zeros(50)
    for k in range(3):
        train = smrmr.associate(X[fold != k], y[fold != k], target="continuous")
        test = smrmr.associate(X[fold == k], y[fold == k], target="continuous")
        path = smrmr.paper.solution_path(train, penalty="l1", lams=tuning.lams)
        for i, theta in enumerate(path.thetas):
            value = 0.5 - test.relevance @ theta + 0.5 * theta @ test.redundancy @ theta
            total[i] += value * np.sum(fold == k)
    np.testing.assert_allclose(tuning.losses, total / len(fold), atol=1e-10)
    assert tuning.lam == tuning.lams[np.argmin(total)]
    assert tuning.lams[-1] == pytest.approx(
        1e-3 * posed(pairs, control).associations.relevance.max()
    )


def test_both_screening_steps_are_the_literal_ones():
    """Oracle: relevance, then coefficients at the screen's lambda, through the public functions."""
    data = simulate("2.a", 90, 300, random_state=1)
    draw = select(data.X, data.y, recipe(target="continuous"), rng=6).evidence.draws[0]
    (child,) = np.random.default_rng(6).spawn(1)
    rows, _ = split_rows(as_target(data.y, "continuous"), 0.4, child.spawn(4)[0])
    relevance = smrmr.relevance(data.X[rows], data.y[rows], target="continuous")
    shortlist = np.sort(np.argsort(-relevance)[: 4 * len(draw.kept)])
    np.testing.assert_array_equal(draw.shortlisted, shortlist)
    found = smrmr.associate(data.X[np.ix_(rows, shortlist)], data.y[rows], target="continuous")
    theta = smrmr.paper.solve(found, penalty="mcp", lam=0.01).theta
    best = sorted(range(len(theta)), key=lambda k: (-theta[k], -found.relevance[k]))
    np.testing.assert_array_equal(draw.kept, np.sort(shortlist[best[: len(draw.kept)]]))
    assert 0 < np.count_nonzero(theta) < len(theta)


def gaussian_associations(X, y, widths):
    """Cosines of centred gaussian kernel matrices, written out."""
    embedded = []
    for column, width in zip([*X.T, y], widths, strict=True):
        kernel = np.exp(-((column[:, None] - column) ** 2) / (2 * width**2))
        centred = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
        embedded.append(centred.ravel() / np.linalg.norm(centred))
    gram = np.array(embedded) @ np.array(embedded).T
    return smrmr.association.Associations(gram[-1, :-1], gram[:-1, :-1], "continuous")


def test_folds_use_the_kernel_widths_of_all_rows():
    """Oracle: kernel matrices of each fold with the median distances of the whole."""
    control = KnockoffFilter(measure="hsic", penalty="l1", lam="cv(folds=2)")
    pairs = paired_columns(control)
    _, tuning = solved(pairs, control)
    fold = deal_folds(pairs, 2, np.random.default_rng(3))
    X, y = pairs.study.columns.values, pairs.study.target.values
    above = np.triu_indices(len(y), 1)
    widths = [np.median(np.abs(column[:, None] - column)[above]) for column in [*X.T, y]]
    total = np.zeros(50)
    for k in range(2):
        train = gaussian_associations(X[fold != k], y[fold != k], widths)
        test = gaussian_associations(X[fold == k], y[fold == k], widths)
        for i, theta in enumerate(
            smrmr.paper.solution_path(train, penalty="l1", lams=tuning.lams).thetas
        ):
            value = 0.5 - test.relevance @ theta + 0.5 * theta @ test.redundancy @ theta
            total[i] += value * np.sum(fold == k) / len(fold)
    np.testing.assert_allclose(tuning.losses, total, atol=1e-6)


@pytest.mark.parametrize("penalty", ["mcp", "none"])
def test_the_smallest_lambda_is_a_share_of_the_largest_relevance(penalty):
    """Oracle: relevance of features and knockoffs by the public function; none without penalty."""
    control = KnockoffFilter(lam="smallest", penalty=penalty)
    pairs = paired_columns(control)
    _, tuning = solved(pairs, control)
    columns, y = pairs.study.columns.values, pairs.study.target.values
    largest = smrmr.relevance(columns, y, target="continuous").max()
    assert tuning.lam == (0.001 * largest if penalty == "mcp" else 0.0)
    assert not tuning.at_floor
    assert tuning.losses.size == 0


@pytest.mark.parametrize(("measure", "way"), [("pc", "smallest"), ("hsic", "cv"), ("dcor", "cv")])
def test_rows_are_held_out_by_default_unless_the_measure_is_pc(measure, way):
    """Oracle: the way by its name."""
    by_default, named = KnockoffFilter(measure=measure), KnockoffFilter(measure=measure, lam=way)
    pairs = paired_columns(named)
    (_, found), (_, expected) = (solved(pairs, control) for control in (by_default, named))
    assert found.lam == expected.lam
    np.testing.assert_array_equal(found.losses, expected.losses)


def test_the_smallest_lambda_selects_what_cross_validation_selects():
    """Oracle: cross-validation, which ends elsewhere on the path of these two data sets."""
    for design, seed in (("2.c", 0), ("3.b", 1)):
        data = simulate(design, 100, 100, random_state=seed)
        quick, slow = (
            select(data.X, data.y, recipe(lam=lam, target=data.target, fdr=0.4), rng=seed)
            for lam in ("smallest", "cv")
        )
        assert quick.evidence.draws[0].lam < slow.evidence.draws[0].lam
        assert len(quick.selected) == 10
        np.testing.assert_array_equal(quick.selected, slow.selected)


def test_debiased_loss_prefers_no_feature_when_there_is_no_signal():
    """Method notes: the plain criterion runs to the smallest lambda, the debiased one does not."""
    chosen = {}
    for lam in ("cv", "cv(debiased=true)"):
        shares = []
        for seed in range(7):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(100, 30)), rng.normal(size=100)
            draw = select(X, y, recipe(lam=lam, screening="none"), seed).evidence.draws[0]
            shares.append(draw.lam / draw.lams[0])
        chosen[lam] = np.median(shares)
    assert chosen["cv"] < 0.01
    assert chosen["cv(debiased=true)"] > 0.5


@pytest.mark.parametrize(("control", "p"), [("tests", 40), ("knockoffs", 100)])
def test_copies_are_selected_together(control, p):
    data = simulate("1.d", 300, 100, random_state=0)
    bare = data.X[:, :p]
    X = np.column_stack([bare, 3 - 2 * bare[:, 10], np.full(300, 7.0), bare[:, 11]])
    found = select(X, data.y, Recipe(control=control), rng=0)
    assert [same.tolist() for same in found.copies] == [[10, p], [11, p + 2]]
    assert found.constants.tolist() == [p + 1]
    assert 10 in found.selected
    assert not {p, p + 2} & set(found.selected.tolist())
    assert [10, p] in [group.tolist() for group in found.members]
    assert found.q_values[p] == found.q_values[10]
    assert "copy of x10. x10 is selected" in found.explain(p)
    assert "constant" in found.explain(p + 1)
    alone = select(bare, data.y, Recipe(control=control), rng=0)
    np.testing.assert_array_equal(found.evidence.scores[:p], alone.evidence.scores)
    np.testing.assert_array_equal(found.q_values[:p], alone.q_values)


def test_knockoffs_of_the_user_are_used(rng):
    data = simulate("1.d", 120, 95, random_state=0)
    made = smrmr.paper.draw_knockoffs(data.X, random_state=1).X_knockoff
    given = select(data.X, data.y, recipe(knockoffs=made, screening="none"), rng=0)
    called = select(data.X, data.y, recipe(knockoffs=lambda X, rng: made, screening="none"), rng=0)
    np.testing.assert_array_equal(given.W, called.W)
    both = smrmr.associate(np.hstack([data.X, made]), data.y, target="continuous")
    theta = smrmr.paper.solve(both, penalty="mcp", lam=given.evidence.draws[0].lam).theta
    np.testing.assert_allclose(given.W, theta[:95] - theta[95:], atol=1e-9)
    same = made.copy()
    same[:, 3] = data.X[:, 3]
    for cross_terms in (True, False):  # without them the solver does not see that they are equal
        settings = recipe(knockoffs=same, screening="none", cross_terms=cross_terms, lam=0.001)
        assert select(data.X, data.y, settings, rng=0).W[3] == 0
    with pytest.raises(ValueError, match="needs fresh knockoffs"):
        select(data.X, data.y, recipe(knockoffs=made, n_draws=2), rng=0)
    with pytest.raises(ValueError, match=r"X_knockoff \(120, 94\)"):
        select(data.X, data.y, recipe(knockoffs=made[:, 1:]), rng=0)


def test_bad_knockoffs_give_a_warning(rng):
    data = simulate("1.d", 200, 95, random_state=0)
    noise = rng.normal(size=data.X.shape)
    with pytest.warns(UserWarning, match="NOT exchangeable"):
        found = select(data.X, data.y, recipe(knockoffs=noise, screening="none"), rng=0)
    assert not found.evidence.draws[0].diagnosis.passed
    assert "failed their diagnosis, so the level cannot be relied on" in str(found)


def test_several_draws_are_combined_by_e_values():
    data = simulate("1.d", 250, 200, random_state=0)
    found = select(data.X, data.y, recipe(n_draws=4, fdr=0.4), rng=0)
    assert len(found.evidence.draws) == 4
    draws = np.zeros((4, 200))
    for row, draw in zip(draws, found.evidence.draws, strict=True):
        row[draw.kept] = draw.W
    expected = smrmr.paper.decide(draws, 0.4)
    np.testing.assert_array_equal(found.selected, expected.selected)
    np.testing.assert_allclose(found.W, draws.mean(axis=0))
    assert ((found.q_values <= 0.4 + 1e-12) == np.isin(np.arange(200), found.selected)).all()
    assert "of 4 draws" in found.explain(0)
    assert (
        len({tuple(draw.kept) for draw in found.evidence.draws}) > 1
    )  # rows are split anew each time
    assert "4 draws" in str(found)
    assert comparable(Selection.from_json(found.to_json())) == comparable(found)


@pytest.fixture(scope="module")
def found():
    data = simulate("1.d", 200, 400, random_state=2)
    return data, select(data.X, data.y, recipe(fdr=0.3), rng=2)


def test_deciding_again_equals_fitting_again(found):
    data, selection = found
    for fdr in (0.1, 0.5):
        again = select(data.X, data.y, recipe(fdr=fdr), rng=2)
        np.testing.assert_array_equal(selection.at(fdr).selected, again.selected)
    relaxed = select(data.X, data.y, recipe(fdr=0.05, on_empty="relax"), rng=2)
    assert relaxed.decision.level > 0.05
    assert relaxed.selected.size


def test_selection_survives_json(found):
    _, selection = found
    back = Selection.from_json(selection.to_json())
    assert back.to_json() == selection.to_json()
    np.testing.assert_array_equal(back.selected, selection.selected)
    np.testing.assert_array_equal(back.W, selection.W)
    assert back.explain("x0") == selection.explain("x0")
    content = json.loads(selection.to_json())
    bad = [
        "",
        "[]",
        '{"names": []}',
        "nonsense",
        json.dumps(content | {"names": None}),
        json.dumps(content | {"names": content["names"][:-1]}),
        json.dumps(content | {"evidence": {"kind": "guess"}}),
    ]
    for text in bad:
        with pytest.raises(ValueError, match="not a selection"):
            Selection.from_json(text)


def test_every_feature_has_an_outcome_and_an_explanation(found):
    _, selection = found
    frame = selection.to_frame()
    assert set(frame["feature"]) == set(selection.names)
    assert frame["selected"].sum() == len(selection.selected)
    assert frame["feature"][: len(selection.selected)].tolist() == selection.selected_names
    phrases = {
        "selected": "is selected",
        "screened out by relevance": "screened out by relevance",
        "screened out by mRMR": "screened out by mRMR",
        "no weight": "got no weight",
        "below the threshold": "below",
        "beaten by its knockoff": "beaten by its knockoff",
    }
    seen = set()
    for k in range(selection.n_features):
        outcome = selection.outcome(k)
        assert phrases[outcome] in selection.explain(k)
        seen.add(outcome)
    assert len(seen) >= 5
    with pytest.raises(ValueError, match=r"no feature 'x39x'. Did you mean 'x39'"):
        selection.explain("x39x")
    with pytest.raises(ValueError, match="between 0 and 399"):
        selection.explain(400)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fdr": 0}, "fdr=0 is not a level"),
        ({"fdr": 1.2}, "fdr=1.2"),
        ({"measure": "mi"}, "mi"),
        ({"penalty": "ridge"}, "ridge"),
        ({"lam": "best"}, "lam='best'"),
        ({"lam": -1}, "lam=-1"),
        ({"lam": "cv(folds=1)"}, "folds=1"),
        ({"lam": "cv(fold=3)"}, "cv has no setting fold; it has folds, debiased"),
        ({"lam": "cv(debiased=maybe)"}, "debiased='maybe'"),
        ({"screening": "half"}, "screening='half'"),
        ({"screening": "split(share=1.0)"}, "share=1.0"),
        ({"screening": "split(lam=-0.1)"}, "lam=-0.1"),
        ({"screening": "split(0.3)"}, "Use 'split' or 'none', with settings in brackets"),
        ({"screening": "split(recycle=yes)"}, "recycle='yes'"),
        ({"n_draws": 0}, "n_draws=0"),
        ({"n_draws": 3, "on_empty": "relax"}, "n_draws=1"),
        ({"knockoffs": "gaussian(covariance=magic)"}, "covariance='magic'"),
        ({"knockoffs": "deep"}, "knockoffs='deep'"),
        ({"knockoffs": "gaussian(s=max)"}, "s='max'"),
        ({"cross_terms": "yes"}, "cross_terms='yes'"),
        ({"max_memory": "much"}, "max_memory='much'"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"keep_data": "some"}, "keep_data='some'"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        recipe(**settings)


def test_bad_data_are_named(rng):
    X, y = rng.normal(size=(40, 100)), rng.normal(size=40)
    assert len(select(X, y, recipe(), rng=0).evidence.kept) == 11
    with pytest.raises(ValueError, match=r"too few to split.* At least 10 rows are needed"):
        select(X[:9], y[:9], recipe(), rng=0)
    assert select(X[:10], y[:10], recipe(), rng=0).evidence.draws[0].n_screen == 4
    with pytest.raises(ValueError, match="every column of X is constant"):
        select(np.ones((40, 3)), y, rng=0)
    survival = np.array([(True, 3.0)] * 40, dtype=[("event", bool), ("time", float)])
    with pytest.raises(ValueError, match=r"survival times are the same"):
        select(X, survival, rng=0)
    with pytest.raises(ValueError, match=r"covariance has shape \(3, 3\)"):
        select(X, y, recipe(knockoffs=Gaussian(covariance=np.eye(3))), rng=0)


def test_features_that_coincide_on_the_selecting_rows_cannot_be_selected():
    """A false copy of a true feature there would win whenever the true one does."""
    data = simulate("1.d", 200, 120, random_state=0)
    (child,) = np.random.default_rng(0).spawn(1)
    _, rows = split_rows(as_target(data.y), 0.4, child.spawn(4)[0])
    X = data.X.copy()
    X[np.ix_(rows, [5])] = X[np.ix_(rows, [10])]
    found = select(X, data.y, recipe(), rng=0)
    assert found.copies == ()
    assert {5, 10} <= set(found.evidence.kept.tolist())  # so that what follows can fail
    assert found.W[5] == found.W[10] == 0
    assert "they cannot be separated" in found.explain(10)


@pytest.mark.filterwarnings("ignore:columns x1 of X say the same as y")
@pytest.mark.filterwarnings("ignore:columns x1 of X say the same as y")
def test_other_measures_do_not_take_monotone_transforms_for_copies(rng):
    x = rng.normal(size=200)
    X = np.column_stack([x, np.exp(2 * x), rng.normal(size=(200, 20))])
    for measure, n_copied in (("pc", 1), ("pearson", 0)):
        found = select(X, np.exp(2 * x), recipe(measure=measure, lam=0.01), rng=0)
        assert len(found.copies) == n_copied
        assert found.relevance[1] == pytest.approx(1.0)


def test_levels_of_several_draws_agree(rng):
    """Law: a feature is selected at every level from its q-value on, the inner level fixed."""
    data = simulate("1.d", 250, 100, random_state=0)
    found = select(data.X, data.y, recipe(n_draws=3, fdr=0.5, lam=0.01), rng=0)
    assert found.evidence.inner_fdr == 0.25
    for fdr in (0.2, 0.35, 0.5, 0.8):
        again = found.at(fdr)
        assert set(again.selected) == set(np.flatnonzero(found.q_values <= fdr + 1e-12))
    with pytest.raises(ValueError, match="fdr=2"):
        found.at(2)


def test_a_target_that_cannot_screen_is_refused(rng):
    X, y = rng.normal(size=(40, 60)), np.array(["a"] * 39 + ["b"])
    rare = next(  # a seed that puts the only "b" among the selecting rows
        seed
        for seed in range(20)
        if 39
        not in split_rows(as_target(y), 0.4, np.random.default_rng(seed).spawn(1)[0].spawn(4)[0])[0]
    )
    with pytest.raises(ValueError, match="single value on the 16 rows drawn to screen"):
        select(X, y, recipe(), rng=rare)
