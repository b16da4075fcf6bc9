"""Laws of the strategies of the tests, over their registries and for strategies of a user's own."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

from smrmr import ConditionalTests, Recipe, Selection, select, simulate
from smrmr.conditional import (
    BenjaminiHochberg,
    Blend,
    Distilled,
    FitProblem,
    FromEstimator,
    Kernel,
    Lasso,
    Linear,
    Logistic,
    Permutation,
)
from smrmr.conditional import Ridge as RidgeFit
from smrmr.conditional.distillers import DISTILLERS, Distillation
from smrmr.conditional.rules import RULES
from smrmr.conditional.statistics import STATISTICS
from smrmr.testing import check_distiller, check_rule, check_statistic

DISTILLED = [
    Blend(),
    Lasso(),
    Logistic(),
    Kernel("mcp"),
    RidgeFit(),
    FromEstimator(Ridge()),
    FromEstimator(ElasticNet(0.1)),
    FromEstimator(RandomForestRegressor(10)),
    FromEstimator(KNeighborsRegressor()),
]


def test_every_registered_distiller_is_checked():
    assert {one.alias for one in DISTILLED} == set(DISTILLERS)


@pytest.mark.parametrize("distiller", DISTILLED, ids=repr)
def test_distillers_keep_their_laws(distiller):
    fits = {"estimator": "numbers", "logistic": "two classes"}
    check_distiller(distiller, target=fits.get(distiller.alias, "both"))


def test_classifiers_distil_classes():
    check_distiller(FromEstimator(LogisticRegression()), target="classes")


@pytest.mark.parametrize("alias", STATISTICS)
def test_statistics_keep_their_laws(alias):
    if alias == "permutation":
        check_statistic(Permutation(lambda r, e: abs(r @ e), 300), n_draws=400)
    else:
        check_statistic(STATISTICS[alias]())


@pytest.mark.parametrize("alias", RULES)
def test_rules_keep_their_laws(alias):
    check_rule(RULES[alias]())


@dataclass(frozen=True)
class Leaky:
    """Fits all columns, whatever it is told to leave out."""

    alias: ClassVar[str] = "leaky"

    def fit(self, problem, out):
        Z, Y = problem.regressors.features, problem.target.values
        b = np.linalg.lstsq(Z.T, Y.T, rcond=None)[0]
        return Distilled(Y - b.T @ Z, np.arange(problem.n_features))

    def held_out(self, problem):
        return self.fit(problem, None).residuals[:, problem.judged]


@dataclass(frozen=True)
class Mean:
    """Fits nothing at all."""

    alias: ClassVar[str] = "mean"

    def fit(self, problem, out):
        return Distilled(problem.target.values, out[:0], depends_on=out[:0])

    def held_out(self, problem):
        return problem.target.values[:, problem.judged]


@dataclass(frozen=True)
class TooSmall(Linear):
    """Half of a p-value that is right."""

    alias: ClassVar[str] = "too small"

    def p_values(self, pairs):
        return super().p_values(pairs) / 2


@dataclass(frozen=True)
class Unadjusted(BenjaminiHochberg):
    """As if one test were made."""

    alias: ClassVar[str] = "unadjusted"

    def adjust(self, p, parents):
        return p


def test_broken_strategies_are_found_out():
    """Oracle: what is wrong with them, each in the message that names its law."""
    with pytest.raises(AssertionError, match="a column left out was seen"):
        check_distiller(Leaky())
    with pytest.raises(AssertionError, match="lower the error"):
        check_distiller(Mean())
    with pytest.raises(AssertionError, match="of independent residuals"):
        check_statistic(TooSmall())
    with pytest.raises(AssertionError, match=r"FDR 0.* at level 0\.1"):
        check_rule(Unadjusted())


@pytest.fixture(scope="module")
def data():
    drawn = simulate("1.a", n=100, p=30, random_state=3)
    return drawn.X, drawn.y, drawn.support.tolist()


def test_own_strategies_are_used(data):
    """Oracle: how the data were made; the linear p-value against one's own by permutations."""
    X, y, true = data
    ridge = FromEstimator(Ridge(), n_refits=5)
    linear = ConditionalTests(ridge, "linear")
    own = ConditionalTests(
        distillers=ridge,
        statistics=[Permutation(lambda r, e: abs(r @ e), 1000)],
        rule=BenjaminiHochberg(),
    )
    found, exact = (select(X, y, Recipe(fdr=0.1, control=c, alike=None)) for c in (own, linear))
    assert set(true) <= set(found.selected.tolist())
    assert np.corrcoef(found.p_values, exact.p_values)[0, 1] > 0.9
    assert found.evidence.fits[0].explained.keys() == {"Ridge"}


def test_own_rules_decide_and_are_not_written_to_json(data):
    """Oracle: the q-values of the rule itself, which are the p-values."""
    X, y, _ = data
    found = select(X, y, Recipe(fdr=0.05, control=ConditionalTests(rule=Unadjusted()), alike=None))
    np.testing.assert_allclose(found.q_values, found.p_values)
    assert found.decision.rule == "unadjusted"
    with pytest.raises(ValueError, match="rule='unadjusted' is not known"):
        Selection.from_json(found.to_json())


def test_an_estimator_is_refitted_only_where_a_feature_could_be_selected(data, caplog):
    """Oracle: a count of fits; features without weight and of large p-value need none."""
    X, y, true = data
    fits = []

    class Counted(Ridge):
        def fit(self, X, y):
            fits.append(X.shape[1])
            return super().fit(X, y)

    control = ConditionalTests(distillers=FromEstimator(Counted(), n_folds=3, n_refits=2))
    with caplog.at_level(logging.INFO):
        found = select(X, y, Recipe(fdr=0.1, control=control, alike=None))
    assert set(true) <= set(found.selected.tolist())
    without = sum(size < 30 for size in fits) / 3
    promising = np.count_nonzero(found.p_values <= 0.1)
    assert 2 <= without <= promising + 12
    assert "fits without a feature" in caplog.text


def test_of_several_distillers_the_one_of_least_error_wins(data):
    """Oracle: errors of the single fits on rows left out; the bootstrap for standard errors."""
    X, y, _ = data
    problem = FitProblem.of(X, y)
    both = Distillation((problem,), (Mean(), Lasso()))
    held_out = Lasso().held_out(problem)
    assert np.mean(held_out**2) < 0.1
    assert both.chosen == (1, 0)
    np.testing.assert_array_equal(
        both.full_fit.residuals, Lasso().fit(problem, np.empty(0, int)).residuals
    )
    assert both.explained.keys() == {"mean", "lasso"}
    share, error = both.explained["lasso"]
    np.testing.assert_allclose(share, [1 - np.mean(held_out**2)])
    rng, squares = np.random.default_rng(0), np.stack([held_out[0], problem.target.values[0]]) ** 2
    drawn = squares[:, rng.integers(0, len(y), (2000, len(y)))].mean(axis=2)
    np.testing.assert_allclose(error, np.std(drawn[0] / drawn[1]), rtol=0.1)
    np.testing.assert_allclose(both.explained["mean"], [[0], [0]], atol=1e-12)
    unused = np.setdiff1d(np.arange(30), both.full_fit.depends_on)[:1]
    assert both.without(unused) is both.full_fit


def test_bad_strategies_are_refused():
    with pytest.raises(ValueError, match="has no fit and predict"):
        FromEstimator("forest")
    with pytest.raises(ValueError, match="is no function"):
        Permutation(3)
    rng = np.random.default_rng(0)
    X, donor = rng.normal(size=(60, 8)), np.repeat(np.arange(20), 3)
    recipe = Recipe(control=ConditionalTests(statistics="pc"), alike=None)
    with pytest.raises(ValueError, match="no statistic keeps its null"):
        select(X, rng.normal(size=60), recipe, groups=donor)
