"""Studies of pieces, shuffled targets and explained variance, on tables small enough. Fast."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.data.datasets import Dataset
from benchmarks.studies import pieces
from benchmarks.studies.explained import lasso, logistic, nested, ridge
from benchmarks.studies.shuffled_targets import explained, shuffled
from smrmr import Recipe, select, simulate

pytest.importorskip("sklearn", "1.7", reason="the benchmarks need scikit-learn 1.7")


def table(rng, target, n=300, p=6):
    """Five columns of equal effect, R2 0.8 if numbers; the last column is noise."""
    X = rng.normal(size=(n, p))
    y = X[:, :5].sum(axis=1) * np.sqrt(4 / 5) + rng.normal(size=n)
    if target == "classes":
        y = np.digitize(y, [-1.0, 1.0])
    return Dataset(X, y, tuple(map(str, range(p))), target, np.arange(p))


@pytest.mark.parametrize("fit", [lasso, ridge])
def test_nested_shares_are_those_of_the_truth(rng, fit):
    """Oracle: the R2 that the table was made with, and 0 for a target that was shuffled."""
    data = table(rng, "continuous")
    assert_allclose(nested(data, fit, 0), 0.8, atol=0.05)
    by_chance = Dataset(data.X, rng.permutation(data.y), data.names, data.target, data.units)
    assert_allclose(nested(by_chance, fit, 0), 0, atol=0.05)


@pytest.mark.slow
def test_nested_shares_of_classes_are_a_mean_over_them(rng):
    """Oracle: three fits of different kinds agree; none explains a target that was shuffled."""
    data = table(rng, "classes")
    shares = [nested(data, fit, 0) for fit in (lasso, ridge, logistic)]
    assert_allclose(shares[0], shares[1], atol=0.02)
    assert shares[1] < shares[2] < 0.8  # the middle class is no linear function
    by_chance = Dataset(data.X, rng.permutation(data.y), data.names, data.target, data.units)
    assert_allclose(nested(by_chance, logistic, 0), 0, atol=0.05)


def test_explained_is_the_mean_over_columns():
    fits = [SimpleNamespace(share=share) for share in (0.5, 0.1)]
    assert_allclose(explained(SimpleNamespace(evidence=SimpleNamespace(fits=fits))), 0.3)


def test_a_shuffled_target_is_noise(rng):
    """Oracle: the real target of the same table is explained, and its features are found."""
    data = table(rng, "continuous", n=80)
    *_, any_finding, share = shuffled(data, np.random.SeedSequence(1))
    found = select(data.X, data.y, Recipe(alike=None))
    assert share < 0.2 < explained(found)
    assert not any_finding
    assert len(found.selected) >= 5


def test_rates_of_a_variant_are_those_of_the_library(monkeypatch):
    """Oracle: the library asked for the same control at each level; a wrong constant is refused."""
    variant = pieces.Variant("tests(distillers=ridge)")
    monkeypatch.setitem(pieces.VARIANTS, "mine", variant)
    draws = []
    monkeypatch.setattr(
        pieces, "simulate", lambda *a, **k: draws.append(simulate(*a, **k)) or draws[0]
    )
    told = pieces.rates("1.a", "mine", 60, 12, 0)
    found = select(draws[0].X, draws[0].y, Recipe(control=variant.control, alike=None))
    for level, tpr, fdr in zip(pieces.LEVELS, told[::2], told[1::2], strict=True):
        selected = found.at(level).selected
        true = set(selected.tolist()) & {0, 5}
        assert (tpr, fdr) == (len(true) / 2, 1 - len(true) / len(selected))
    wrong = pieces.Variant(constants={"smrmr.conditional.controller.NO_SUCH_CONSTANT": 1})
    monkeypatch.setitem(pieces.VARIANTS, "wrong", wrong)
    with pytest.raises(AttributeError, match="NO_SUCH_CONSTANT"):
        pieces.rates("1.a", "wrong", 60, 12, 0)
