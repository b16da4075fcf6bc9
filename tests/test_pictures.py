"""What a result holds of the data: summaries by brute force, and nothing of single rows unasked."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from recipes import recipe
from smrmr import Selection, SmRMR, redundancy, select, simulate
from smrmr.data.study import read_study
from smrmr.measures import ProjectionCorrelation
from smrmr.report import render
from smrmr.runs.work import Work
from smrmr.selection import summarise_for_plots

QUANTILES = [0.1, 0.25, 0.5, 0.75, 0.9]


def picture(X, y, keep_data=False):
    study = read_study(X, y)
    features = np.arange(study.columns.n_columns)
    return summarise_for_plots(study, features, ProjectionCorrelation(), keep_data, Work())


@pytest.mark.parametrize("n", [60, 2001])
def test_features_are_compared_on_at_most_2000_rows(rng, n):
    """Oracle: `smrmr.redundancy` of rows that are spread evenly."""
    X, y = rng.standard_normal((n, 3)), rng.standard_normal(n)
    X[:, 1] += X[:, 0]
    rows = np.unique(np.linspace(0, n - 1, min(n, 2000)).astype(int))
    np.testing.assert_array_equal(picture(X, y).redundancy, redundancy(X[rows]))


def test_classes_are_summarised_by_the_quantiles_of_the_feature(rng):
    """Oracle: numpy's quantiles class by class, to four digits."""
    X, y = rng.normal(size=(60, 3)) * 1000, np.repeat(["a", "b", "c"], [40, 16, 4])
    shape = picture(X, y).shapes[1]
    assert shape.kind == "classes"
    assert shape.names == ("a", "b")  # "c" has too few rows to be summarised
    assert shape.counts.tolist() == [40, 16]
    for name, row in zip(shape.names, shape.quantiles, strict=True):
        np.testing.assert_allclose(row, np.quantile(X[y == name, 1], QUANTILES), rtol=1e-3)


def test_mostly_zero_features_are_summarised_by_share_and_mean(rng):
    """Oracle: numpy class by class, in the order of the labels; small classes are left out."""
    y = np.repeat(["b", "a", "c"], [40, 56, 4])
    counts = rng.poisson(np.where(y == "a", 1.0, 0.2)).astype(float)
    common = np.where(np.arange(100) % 3 > 0, counts + 1.0, 0.0)
    X = np.column_stack([counts, rng.normal(size=100), rng.random(100) < 0.8, common])
    counted, numbers, flags, common = picture(X, y).shapes
    assert counted.names == flags.names == ("a", "b")
    for shape, column in ((counted, X[:, 0]), (flags, X[:, 2])):
        groups = [column[y == name] for name in ("a", "b")]
        np.testing.assert_allclose(shape.shares, [np.mean(g > 0) for g in groups], rtol=1e-3)
        np.testing.assert_allclose(shape.means, [np.mean(g) for g in groups], rtol=1e-3)
    assert not numbers.shares.size
    assert not common.shares.size  # zero in a third of the rows: medians tell


def test_levels_and_bins_are_summarised_by_the_quantiles_of_the_target(rng):
    X = np.column_stack([rng.integers(0, 3, size=120), rng.normal(size=120)]).astype(float)
    y = X[:, 1] ** 2 + rng.normal(size=120)
    levels, bins = picture(X, y).shapes
    assert (levels.kind, levels.names) == ("levels", ("0", "1", "2"))
    for level in range(3):
        expected = np.quantile(y[X[:, 0] == level], QUANTILES)
        np.testing.assert_allclose(levels.quantiles[level], expected, rtol=1e-3)
    assert bins.kind == "bins"
    assert bins.counts.tolist() == [12] * 10
    order = np.argsort(X[:, 1])
    for group, (at, row) in enumerate(zip(bins.at, bins.quantiles, strict=True)):
        rows = order[12 * group : 12 * group + 12]
        np.testing.assert_allclose(at, np.median(X[rows, 1]), rtol=1e-3)
        np.testing.assert_allclose(row, np.quantile(y[rows], QUANTILES), rtol=1e-3)


def test_of_several_outputs_the_one_that_differs_most_is_taken(rng):
    X = rng.normal(size=(200, 2))
    y = np.column_stack([rng.normal(size=200), X[:, 0] + 0.1 * rng.normal(size=200)])
    assert picture(X, y).shapes[0].output == 1


def test_small_groups_are_never_summarised(rng):
    """Law: no group of fewer than 5 rows, no bin of fewer than 10, whatever the ties."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 90))
        X = np.round(rng.normal(size=(n, 4)), int(rng.integers(0, 3)))
        for shape in picture(X, rng.normal(size=n)).shapes:
            assert (shape.counts >= (10 if shape.kind == "bins" else 5)).all()


def written_values(text):
    """Every number in a text, to the last digit."""
    found = set()

    def walk(value):
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            for one in value:
                walk(one)
        elif isinstance(value, float):
            found.add(value)

    walk(json.loads(text))
    return found


@pytest.mark.filterwarnings("ignore:Knockoffs. NOT exchangeable")
def test_no_value_of_a_row_leaves_unless_asked_for():
    """Law: no entry of X or y is in the JSON, the page or the pickle, unless data are kept."""
    data = simulate("1.d", 100, 95, random_state=2)
    secret = {*data.X.ravel().tolist(), *data.y.tolist()}
    for keep_data in (False, True):
        selector = SmRMR(fdr=0.3, keep_data=keep_data, random_state=2).fit(data.X, data.y)
        found = selector.selection_
        assert bool(secret & written_values(found.to_json())) == keep_data
        pickled = pickle.dumps(selector)
        assert any(np.float64(v).tobytes() in pickled for v in data.y) == keep_data
        page = render(found)
        assert ('class="cloud"' in page) == keep_data
        assert any(repr(float(v)) in page for v in data.y) is False
        again = Selection.from_json(found.to_json())
        assert (again.plot_data.values is None) == (not keep_data)
    kept = select(data.X, data.y, recipe(keep_data=True), rng=2).plot_data
    np.testing.assert_array_equal(kept.values, data.X[:, kept.features])
    np.testing.assert_array_equal(kept.y, data.y)
