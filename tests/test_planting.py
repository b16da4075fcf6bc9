"""Planted effects: as strong as asked, and nothing else about the target is changed."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logsumexp, ndtri
from scipy.stats import chisquare, norm, rankdata

from smrmr import Recipe
from smrmr.data.study import read_study
from smrmr.data.target import columns_of
from smrmr.data.targets.dealing import deal_classes
from smrmr.data.targets.protocol import GUMBEL_SPREAD, Planting, Target
from smrmr.data.targets.registry import KINDS
from smrmr.data.targets.survival import Survival
from smrmr.pipeline import groups_from
from smrmr.power.account import Cell, ratio_of, share_of
from smrmr.problems import Problem
from smrmr.trials.planting import candidates_of, plant, strata_of
from thinned import thinned

P = 12
NOTHING = Cell("", 0.0, 0, 0)


def studied(y, n, rng, target="auto", **of_rows):
    """Independent features and this target."""
    return read_study(rng.standard_normal((n, P)), y, target, **of_rows)


def planted(study, share, n_effects, rng, form="line"):
    """The target with effects, and their features."""
    made, features = plant(study, Cell(form, share, n_effects, 0), np.arange(P), rng)
    return made.target, features


def scores(values):
    """Normal scores, by scipy."""
    return ndtri((rankdata(values) - 0.5) / len(values))


def residuals(values, given):
    """Least squares, by numpy."""
    given = np.column_stack([np.ones(len(values)), given])
    return values - given @ np.linalg.lstsq(given, values, rcond=None)[0]


def effect(study, features, form="line", given=None):
    """The effect of features by its definition, of variance 1."""
    n = study.target.n_rows
    given = np.empty((n, 0)) if given is None else given
    z = np.stack([residuals(scores(x), given) for x in study.columns.values[:, features].T])
    z /= z.std(axis=1, keepdims=True)
    acting = {"line": z[0], "bend": np.abs(z[0]), "pair": z[0] * z[-1]}[form]
    left = residuals(acting, given)
    return left / left.std()


def shares_explained(values, effects, given=None):
    """Share of the variance that each effect explains, by one least squares of all."""
    given = np.empty((len(values), 0)) if given is None else given
    left = residuals(scores(values), given)
    slopes = np.linalg.lstsq(np.stack(effects, axis=1), left, rcond=None)[0]
    return slopes**2 / left.var()


@pytest.mark.parametrize("form", ["line", "bend", "pair"])
@pytest.mark.parametrize(("share", "n_effects"), [(0.3, 1), (0.1, 3)])
def test_effects_explain_their_share_of_numbers(form, share, n_effects, rng):
    """Oracle: squared slopes on effects by their definition; errors of R² are 0.01 at most."""
    study = studied(np.exp(rng.standard_normal(20_000)), 20_000, rng)
    target, features = planted(study, share, n_effects, rng, form)
    assert features.shape == (n_effects, 2 if form == "pair" else 1)
    assert len(np.unique(features)) == features.size
    effects = [effect(study, some, form) for some in features]
    assert_allclose(shares_explained(target.values, effects), share, atol=0.03)


def test_effects_explain_their_share_of_outputs_on_average(rng):
    """Oracle: R² / (1 - R²) of outputs, whose mean is that of one with the share."""
    n, share = 20_000, 0.2
    y = rng.standard_normal((n, 3)) @ np.array([[1, 0.8, 0], [0, 0.6, 0], [0, 0, 1]])
    study = studied(y, n, rng)
    target, features = planted(study, share, 1, rng)
    mine = effect(study, features[0])
    explained = np.array([shares_explained(out, [mine])[0] for out in target.values.T])
    assert_allclose(np.mean(explained / (1 - explained)), share / (1 - share), rtol=0.1)
    left = np.stack([residuals(scores(out), mine[:, None]) for out in target.values.T])
    assert_allclose(np.corrcoef(left), np.corrcoef(y.T), atol=0.06)  # outputs go together as before


def test_all_variance_can_be_explained(rng):
    """Oracle: ranks of the target are those of the effect."""
    study = studied(rng.standard_normal(200), 200, rng)
    target, features = planted(study, 1.0, 1, rng)
    mine = effect(study, features[0])
    assert abs(np.corrcoef(rankdata(mine), rankdata(target.values))[0, 1]) == pytest.approx(1)


def test_effects_act_on_what_stages_stand_for(rng):
    """Oracle: of a normal score cut into stages ranks keep the share of variance that they have."""
    n, share = 20_000, 0.3
    stages = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    study = studied(stages, n, rng, "ordinal")
    target, features = planted(study, share, 1, rng)
    ranks = target.values
    cuts = norm.pdf(norm.ppf([0, *np.cumsum(np.bincount(stages) / n)[:-1], 1]))
    sizes, means = np.bincount(stages) / n, np.unique(ranks)
    kept = np.sum(means * (cuts[:-1] - cuts[1:])) ** 2 / np.sum(sizes * (means - ranks.mean()) ** 2)
    found = np.corrcoef(ranks, effect(study, features[0]))[0, 1] ** 2
    assert found == pytest.approx(share * kept, abs=0.02)


def logit_slopes(z, codes):
    """Slope of each class of a multinomial logit, sum 0, by its likelihood."""
    n_classes = codes.max() + 1

    def loss(b):
        a, slopes = np.append(b[: n_classes - 1], 0), np.append(b[n_classes - 1 :], 0)
        odds = a[:, None] + slopes[:, None] * z
        return np.mean(logsumexp(odds, axis=0) - odds[codes, np.arange(len(z))])

    found = np.append(minimize(loss, np.zeros(2 * n_classes - 2)).x[n_classes - 1 :], 0)
    return found - found.mean()


@pytest.mark.parametrize(
    "shares", thinned([((0.5, 0.5),), ((0.9, 0.1),), ((0.5, 0.3, 0.2),)], [((0.5, 0.3, 0.2),)])
)
def test_odds_ratios_of_classes(shares, rng):
    """Oracle: slopes of a logistic regression; with three classes those of pairs on average."""
    n, share = 10_000, 0.2
    y = rng.choice(list("abc"[: len(shares)]), n, p=shares)
    study = studied(y, n, rng)
    target, features = planted(study, share, 1, rng)
    slopes = logit_slopes(effect(study, features[0]), target.values.astype(int))
    apart = [one - other for one, other in combinations(slopes, 2)]
    expected = np.log(ratio_of("classes", share, 1))
    assert np.sqrt(np.mean(np.square(apart))) == pytest.approx(expected, rel=0.09)


def cox_slope(z, time, event):
    """Slope of Cox's model by its partial likelihood."""
    order = np.argsort(-time)
    z, event = z[order], event[order].astype(bool)

    def loss(b):
        at_risk = np.logaddexp.accumulate(b * z)
        return np.sum((at_risk - b * z)[event])

    return minimize_scalar(loss, bounds=(-5, 5), method="bounded").x


def test_hazard_ratios_of_survival(rng):
    """Oracle: Cox's partial likelihood, with two thirds censored."""
    n, share = 10_000, 0.1
    y = pd.DataFrame({"event": rng.random(n) < 1 / 3, "time": rng.exponential(size=n)})
    study = studied(y, n, rng, "survival")
    target, features = planted(study, share, 2, rng)
    time, event = target.derived_from
    for some in features:
        # that of the other effect is noise here, which makes a slope smaller
        slope = abs(cox_slope(effect(study, some), time, event))
        assert slope < np.log(ratio_of("survival", share, 2)) * 1.02
    target, features = planted(study, share, 1, rng)
    slope = abs(cox_slope(effect(study, features[0]), *target.derived_from))
    assert slope == pytest.approx(np.log(ratio_of("survival", share, 1)), rel=0.07)


@pytest.mark.parametrize("kind", ["classes", "survival"])
def test_ratios_and_shares_are_each_others_inverse(kind):
    """Oracle: variances of the logistic and the Gumbel distribution."""
    noise = {"classes": np.pi**2 / 3, "survival": np.pi**2 / 6}[kind]
    for share, n in ((0.05, 1), (0.1, 5), (0.5, 1), (0.19, 5)):
        slope = np.log(ratio_of(kind, share, n))
        assert slope**2 / (n * slope**2 + noise) == pytest.approx(share)
        assert share_of(kind, np.exp(slope), n) == pytest.approx(share)


def test_odds_ratios_of_matched_sets(rng):
    """Oracle: the conditional likelihood of sets of one case and three controls."""
    n_sets, share = 150, 0.2
    codes = np.repeat(np.arange(n_sets), 4)
    study = studied(np.tile(["case", "no", "no", "no"], n_sets), 4 * n_sets, rng, groups=codes)
    found = []
    for _ in range(8):
        target, features = planted(study, share, 1, rng)
        mine = effect(study, features[0], given=np.eye(n_sets)[codes]).reshape(n_sets, 4)
        cases = target.values.reshape(n_sets, 4) == target.labels.index("case")

        def loss(b, mine=mine, cases=cases):
            return np.sum(logsumexp(b * mine, axis=1) - b * mine[cases])

        found.append(abs(minimize_scalar(loss, bounds=(-5, 5), method="bounded").x))
    assert np.mean(found) == pytest.approx(np.log(ratio_of("classes", share, 1)), rel=0.12)


@pytest.mark.parametrize("form", ["line", "bend", "pair"])
def test_effects_explain_their_share_within_groups(form, rng):
    """Oracle: squared slopes on effects by their definition, given groups as indicators."""
    n_groups, share = 120, 0.2
    codes = np.repeat(np.arange(n_groups), 3)
    y = rng.standard_normal(3 * n_groups) + 2 * rng.standard_normal(n_groups)[codes]
    study, given = studied(y, len(codes), rng, groups=codes), np.eye(n_groups)[codes]
    found = []
    for _ in range(12):
        target, features = planted(study, share, 1, rng, form)
        mine = effect(study, features[0], form, given)
        found += shares_explained(target.values, [mine], given).tolist()
    assert np.mean(found) == pytest.approx(share, abs=0.04)


def test_bends_of_pairs_of_rows_cannot_be_planted(rng):
    """Oracle: z and -z have the same absolute value."""
    study = studied(rng.standard_normal(60), 60, rng, groups=np.repeat(np.arange(30), 2))
    with pytest.raises(Problem, match="effects of form 'bend' on: 12, which allow 0 that vary"):
        planted(study, 0.2, 1, rng, "bend")


def example(kind, n, rng):
    """A target of every kind, with ties."""
    numbers = rng.standard_normal(n).round(1)
    if kind == "multi-output":
        return np.column_stack([numbers, rng.poisson(2.0, n)])
    if kind == "classes":
        return rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2])
    if kind == "ordinal":
        return rng.choice(4, n)
    if kind == "survival":
        return pd.DataFrame({"event": rng.random(n) < 0.5, "time": np.exp(numbers)})
    return numbers


def as_rows(target):
    """All that a target says of each row, in order."""
    values = target.values if target.derived_from is None else target.derived_from.T
    return values.reshape(target.n_rows, -1)


def sorted_rows(rows):
    return rows[np.lexsort(rows.T)]


@pytest.mark.parametrize("effects", [NOTHING, Cell("line", 0.3, 1, 0), Cell("pair", 0.2, 2, 0)])
@pytest.mark.parametrize("kind", list(KINDS))
def test_values_stay_what_they_are_in_every_level_of_a_covariate(kind, effects, rng):
    """Oracle: sorted values; of several outputs each for itself, of survival time and event."""
    n = 90
    site, sex = rng.choice(list("uvw"), n), rng.choice([0, 1], n)
    study = studied(
        example(kind, n, rng), n, rng, kind, covariates={"site": site, "age": rng.random(n)}
    )
    finer = read_study(
        study.columns, example(kind, n, rng), kind, covariates={"site": site, "sex": sex}
    )
    for given, levels in ((study, [site]), (finer, [site, sex])):
        before = as_rows(given.target)
        after = as_rows(plant(given, effects, np.arange(P), rng)[0].target)
        assert (before != after).any()
        for level in set(zip(*levels, strict=True)):
            mine = (np.stack(levels, axis=1).astype(str) == [*map(str, level)]).all(axis=1)
            parts = [[0], [1]] if kind == "multi-output" else [slice(None)]
            for part in parts:
                assert_array_equal(
                    sorted_rows(before[mine][:, part]), sorted_rows(after[mine][:, part])
                )


@pytest.mark.parametrize("kind", ["continuous", "multi-output", "classes", "ordinal"])
def test_values_stay_in_their_group_of_rows(kind, rng):
    """Oracle: sorted values of every group."""
    codes = rng.permutation(np.repeat(np.arange(15), 6))
    study = studied(example(kind, 90, rng), 90, rng, kind, groups=codes)
    assert study.row_groups.comparison == "within"
    for effects in (NOTHING, Cell("line", 0.3, 1, 0)):
        after = plant(study, effects, np.arange(P), rng)[0].target
        for group in range(15):
            mine = codes == group
            rows = as_rows(study.target)[mine], as_rows(after)[mine]
            assert_array_equal(*(np.sort(some, axis=0) for some in rows))


def test_rows_averaged_over_groups_are_one_stratum(rng):
    """Oracle: one row per group, whose values may all change places."""
    codes = np.repeat(np.arange(40), 2)
    study = studied(rng.standard_normal(80), 80, rng, groups=codes, aggregate="mean")
    assert (study.target.n_rows, strata_of(study).tolist()) == (40, [0] * 40)
    after = plant(study, NOTHING, np.arange(P), rng)[0].target
    assert_array_equal(np.sort(after.values), np.sort(study.target.values))


@pytest.mark.parametrize("kind", ["numbers", "classes", "survival"])
@pytest.mark.parametrize("effects", [0, 2])
def test_repeated_rows_stay_repeated(kind, effects, rng):
    """Law: rows that were equal in features and target are so afterwards; sets change places."""
    rows = rng.permutation(np.repeat(np.arange(25), [2] * 15 + [4] * 10))
    y = {
        "numbers": rng.standard_normal(25),
        "classes": np.resize(list("abc"), 25),
        "survival": pd.DataFrame({"event": np.resize([1, 1, 0], 25), "time": rng.random(25)}),
    }[kind]
    y = y.iloc[rows].reset_index(drop=True) if kind == "survival" else y[rows]
    study = read_study(rng.standard_normal((25, P))[rows], y, "survival" if y.ndim > 1 else "auto")
    target, _ = planted(study, 0.2, effects, rng)
    values = columns_of(target).values
    first = np.unique(rows, return_index=True)[1]
    assert_array_equal(values, values[:, first][:, rows])
    assert (values != columns_of(study.target).values).any()


def test_levels_of_few_rows_are_no_strata(rng):
    """Oracle: five rows per level on average, by hand; the first covariate comes first."""
    n = 40
    four, five = np.arange(n) % 4, np.arange(n) % 5
    study = studied(rng.standard_normal(n), n, rng, covariates={"a": four, "b": five})
    assert len(np.unique(np.column_stack([strata_of(study), four]), axis=0)) == 4
    ten = studied(rng.standard_normal(n), n, rng, covariates={"c": (np.arange(n) % 10).astype(str)})
    assert not strata_of(ten).any()


def age_effects(kind, target, age):
    """How a target depends on a number: slopes by kind."""
    if kind == "classes":
        return logit_slopes(age, target.values.astype(int))
    if kind == "survival":
        return cox_slope(age, *target.derived_from)
    return [np.corrcoef(scores(values), scores(age))[0, 1] for values in columns_of(target).values]


@pytest.mark.parametrize("kind", list(KINDS))
def test_what_covariates_say_of_the_target_is_kept(kind, rng):
    """Oracle: slopes before and after, of two seeds; features that do not depend on age do not."""
    n = 3000
    age = rng.standard_normal(n)
    y = {
        "continuous": 1.5 * age + rng.standard_normal(n),
        "multi-output": np.outer(age, [1, -2]) + rng.standard_normal((n, 2)),
        "classes": (np.outer(age, [1, -1, 0]) + rng.gumbel(size=(n, 3))).argmax(axis=1).astype(str),
        "ordinal": np.digitize(age + rng.standard_normal(n), [-1, 0, 1]),
        "survival": pd.DataFrame(
            {"event": rng.random(n) < 0.7, "time": rng.exponential(np.exp(-0.8 * age))}
        ),
    }[kind]
    study = studied(y, n, rng, kind, covariates={"age": age})
    before = age_effects(kind, study.target, age)
    assert np.abs(before).max() > 0.5
    for cell in (NOTHING, Cell("line", 0.3, 1, 0)):
        target = plant(study, cell, np.arange(P), rng)[0].target
        # strong effects make other slopes of hazards and odds smaller: these are of one variable
        near = 0.1 if not cell.form or kind in ("continuous", "multi-output", "ordinal") else 0.4
        assert_allclose(age_effects(kind, target, age), before, atol=near)


def orders(study, n_draws, rng, of=lambda target: target.values):
    """How often each order of the target comes up without effects."""
    drawn = [tuple(of(plant(study, NOTHING, np.arange(P), rng)[0].target)) for _ in range(n_draws)]
    return pd.Series(drawn).value_counts()


@pytest.mark.parametrize(
    ("y", "groups", "n_orders"),
    [
        ([1.0, 2.0, 3.0, 4.0], None, 24),
        (list("aabb"), None, 6),
        ([1.0, 2.0, 3.0, 6.0], [0, 0, 1, 1], 4),
        ([1.0, 3.0, 2.0, 4.0, 6.0], [0, 0, 1, 1, 1], 12),
    ],
)
def test_without_effects_all_orders_are_as_likely(y, groups, n_orders, rng):
    """Oracle: the uniform distribution of orders, by a chi-squared test at 1 in 10,000."""
    study = studied(np.array(y), len(y), rng, groups=groups)
    counts = orders(study, 40 * n_orders, rng)
    assert len(counts) == n_orders
    assert chisquare(counts).pvalue > 1e-4


def test_without_effects_any_row_may_have_any_time(rng):
    """Oracle: the uniform distribution of the row that has the first time, and the last one."""
    y = pd.DataFrame({"event": [1, 0, 1, 1, 0, 1, 1], "time": range(1, 8)})
    study = studied(y, 7, rng, "survival")
    for place in (np.argmin, np.argmax):
        counts = orders(study, 420, rng, lambda t, place=place: [place(t.derived_from[0])])
        assert len(counts) == 7
        assert chisquare(counts).pvalue > 1e-4


def test_classes_are_dealt_by_a_conditional_logit():
    """Oracle: probabilities of all orders within strata, counted one by one; of many at once."""
    rng, n_draws = np.random.default_rng(4), 2000
    codes, odds = np.array([0, 1, 2, 1, 0, 1]), rng.normal(size=(3, 6))
    strata = np.arange(2 * n_draws).repeat([4, 2] * n_draws)
    possible = {(*a, *b) for a in permutations(codes[:4]) for b in permutations(codes[4:])}
    weights = {order: np.exp(odds[order, np.arange(6)].sum()) for order in possible}
    drawn = deal_classes(np.tile(codes, n_draws), np.tile(odds, n_draws), strata, rng)
    found = pd.Series(map(tuple, drawn.reshape(n_draws, 6).tolist())).value_counts()
    expected = pd.Series(weights) / sum(weights.values()) * n_draws
    assert set(found.index) <= set(expected.index)
    found = found.reindex(expected.index, fill_value=0)
    assert chisquare(found, expected).pvalue > 1e-4


def test_times_are_dealt_by_the_permutational_algorithm():
    """Oracle: probabilities of all orders by hazards of rows at risk, one time after another."""
    rng, n_draws = np.random.default_rng(6), 2000
    time, event, signal = np.arange(1.0, 5.0), np.array([1.0, 0, 1, 1]), rng.normal(size=(1, 4))
    hazard = np.exp(signal[0] * GUMBEL_SPREAD / 0.8)
    expected = {}
    for order in permutations(range(4)):  # the row of each time
        chance = [
            (hazard[order[i]] / hazard[list(order[i:])].sum()) if event[i] else 1 / (4 - i)
            for i in range(4)
        ]
        expected[tuple(np.argsort(order) + 1.0)] = np.prod(chance) * n_draws
    target = Target("survival", time, derived_from=np.stack([time, event]))
    planting = Planting(signal, 0.8, np.empty((0, 4)), np.zeros(4, np.intp))
    drawn = [tuple(Survival().plant(target, planting, rng).derived_from[0]) for _ in range(n_draws)]
    found = pd.Series(drawn).value_counts().reindex(list(expected), fill_value=0)
    assert chisquare(found, list(expected.values())).pvalue > 1e-4


def test_effects_that_correlate_are_not_planted_together(rng):
    """Oracle: three clusters of copies with noise; there are only so many that are apart."""
    n = 60
    X = np.repeat(rng.standard_normal((n, 3)), 4, axis=1) + 0.1 * rng.standard_normal((n, P))
    study = read_study(X, rng.standard_normal(n))
    for _ in range(10):
        three = plant(study, Cell("line", 0.1, 3, 0), np.arange(P), rng)[1]
        assert sorted(three[:, 0] // 4) == [0, 1, 2]
    five = plant(study, Cell("line", 0.1, 5, 0), np.arange(P), rng)[1]
    assert len(np.unique(five)) == 5
    assert set(five[:3, 0] // 4) == {0, 1, 2}


def test_a_level_of_a_category_has_no_place(rng):
    """Oracle: effects of three levels, of which by chance any is the middle one."""
    n = 60
    levels = pd.Series(rng.choice(list("uvw"), n), dtype="category")
    X = pd.DataFrame({"a": levels, "b": rng.standard_normal(n)})
    study, middle = read_study(X, rng.standard_normal(n)), set()
    for _ in range(40):
        target = plant(study, Cell("line", 1.0, 1, 0), np.array([0]), rng)[0].target
        means = pd.Series(target.values).groupby(levels, observed=True).mean()
        middle.add(means.index[means.argsort().iloc[1]])
    assert middle == {"u", "v", "w"}


def test_features_to_plant_on(rng):
    """Oracle: copies, constants and clusters by hand."""
    n = 50
    X = rng.standard_normal((n, 8))
    X[:, 1] = X[:, 0]
    X[:, 2] = 5.0
    X[:, 4] = X[:, 3] + 0.05 * rng.standard_normal(n)
    recipe = Recipe(always_keep=[7])
    study = read_study(X, rng.standard_normal(n), always_keep=[7])
    groups = groups_from(study, recipe)
    assert candidates_of(study, groups, "all").tolist() == [0, 3, 4, 5, 6]
    assert candidates_of(study, groups, "clusters").tolist() == [3, 4]
    assert candidates_of(study, groups, ["x1", 5]).tolist() == [0, 5]
    for named, message in (
        ([2], "names x2, which cannot be tested: constant, always kept, or not of interest"),
        (["x7"], "names x7, which cannot be tested"),
        ([], r"plant_on=\[\] names no feature. Name one, or use plant_on='all'"),
        (["x9"], "there is no feature 'x9'"),
    ):
        with pytest.raises(Problem, match=message):
            candidates_of(study, groups, named)
    single = groups_from(study, Recipe(always_keep=[7], alike=1))
    with pytest.raises(Problem, match="plant_on='clusters': no feature has look-alikes"):
        candidates_of(study, single, "clusters")
    some = read_study(X, rng.standard_normal(n), only=["x5", "x6"])
    chosen = candidates_of(some, groups_from(some, Recipe(only=["x5", "x6"])), "all")
    assert chosen.tolist() == [5, 6]


def test_pairs_are_planted_on_partners(rng):
    """Oracle: the partners that are asked about; nothing is planted on covariates."""
    n = 60
    y, age = rng.standard_normal((2, n))
    for partners, mine in (([3, 5], {3, 5}), (["age", "x2"], {2})):
        study = studied(y, n, rng, covariates={"age": age}, partners=partners)
        for _ in range(10):
            pairs = plant(study, Cell("pair", 0.1, 2, 0), np.arange(P), rng)[1]
            assert all(mine & set(pair) for pair in pairs.tolist())
            assert all(len(set(pair)) == 2 for pair in pairs.tolist())
    nobody = studied(y, n, rng, covariates={"age": age}, partners=["age"])
    with pytest.raises(Problem, match="effects of form 'pair' on: 12, which allow 0"):
        plant(nobody, Cell("pair", 0.1, 1, 0), np.arange(P), rng)


def test_no_effect_on_what_does_not_vary(rng):
    """Oracle: a 0/1 feature has two values of one absolute score, so that bends are constant."""
    n = 40
    X = np.column_stack([np.arange(n) % 2, rng.standard_normal((n, 2))])
    study = read_study(X, rng.standard_normal(n))
    for _ in range(10):
        assert 0 not in plant(study, Cell("bend", 0.1, 2, 0), np.arange(3), rng)[1]
    with pytest.raises(Problem, match=r"on: 1, which allow 0 that vary, and n_effects=1\."):
        plant(study, Cell("bend", 0.1, 1, 0), np.array([0]), rng)
    # what covariates predict of a feature is no effect of it
    y, z = rng.standard_normal((2, n))
    told = read_study(np.column_stack([np.exp(z), X[:, 1]]), y, covariates={"z": z})
    with pytest.raises(Problem, match="allow 0 that vary"):
        plant(told, Cell("line", 0.1, 1, 0), np.array([0]), rng)
