"""Rows that are not independent: what is measured of them, what is said, and false alarms."""

from __future__ import annotations

import warnings
from itertools import permutations

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr
from typer.testing import CliRunner

import smrmr
from smrmr import Recipe, Selection, SmRMR, select, simulate
from smrmr.cli.commands import app
from smrmr.data.study import read_study
from smrmr.report import statement
from smrmr.rows.checks import check_rows
from smrmr.rows.dependence import below_05, row_dependence
from smrmr.rows.repeats import repeated_rows
from smrmr.rows.similarity import (
    ByDistance,
    ByLag,
    RowSimilarity,
    Sums,
    chance_of_product,
    distance_bins,
    lag_bins,
    permutation_moments,
    smoothed,
)
from smrmr.rows.structure import population_structure
from smrmr.runs.work import Work


def symmetric(rng, n):
    """A symmetric matrix with a diagonal of 0."""
    half = np.triu(rng.standard_normal((n, n)), 1)
    return half + half.T


def autoregressive(rng, n, p, rho):
    Z = rng.standard_normal((n, p))
    for i in range(1, n):
        Z[i] = rho * Z[i - 1] + np.sqrt(1 - rho**2) * Z[i]
    return Z


def along_order(X, y, **beside):
    return row_dependence(read_study(X, y, **beside))[0]


def five_populations(rng, n, p, apart=0.1):
    population, odds = rng.integers(0, 5, n), (1 - apart) / apart
    common = rng.uniform(0.2, 0.8, p)
    shares = rng.beta(common * odds, (1 - common) * odds, (5, p)).clip(0.05, 0.95)
    means = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    X = rng.binomial(2, shares[population]).astype(float)
    return X, means[population] + rng.standard_normal(n), population


# similarity of rows


def test_moments_are_those_of_all_permutations(rng):
    """Oracle: all 720 permutations of six rows."""
    A, B = symmetric(rng, 6), symmetric(rng, 6)
    sums = [np.sum(A * B[np.ix_(order, order)]) for order in map(list, permutations(range(6)))]
    mean, sd = permutation_moments(Sums.of(A), Sums.of(B))
    np.testing.assert_allclose([mean, sd], [np.mean(sums), np.std(sums)], rtol=1e-10)


def test_rows_in_order_have_a_bin_per_lag():
    """Closed form: the lag of two rows, for lags that are frequent enough to be told apart."""
    bins = distance_bins(np.arange(8.0)[:, None])
    lags = np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
    assert (bins.diagonal() == -1).all()
    for lag in range(1, 8):
        assert set(bins[lags == lag]) == {lag_bins(8)[lag - 1]}
    assert (bins[lags == 1] == 0).all()
    assert (bins[lags == 2] == 1).all()
    assert bins.max() <= 4  # 28 pairs, some 8 in each


@pytest.mark.parametrize("n", [2, 3, 20, 37])
def test_rows_in_order_are_binned_as_rows_in_space(n):
    """Oracle: the same places with a second coordinate that is 0, whose distances are ranked."""
    order = np.arange(n, dtype=np.float64)[:, None] + 3
    bins = distance_bins(np.hstack([order, 0 * order]))
    np.testing.assert_array_equal(lag_bins(n), bins[0, 1:])


def test_lags_say_of_rows_in_order_what_the_matrices_do(rng):
    """Oracle: the same similarity and its means as matrices, whose sums and powers are literal."""
    n, basis = 37, np.linalg.qr(rng.standard_normal((37, 3)))[0].T
    similar = RowSimilarity.of(rng.standard_normal((5, n)).cumsum(axis=1), basis)
    other = RowSimilarity.of(rng.standard_normal((4, n)), basis)
    by_lag = ByLag.of(similar)
    by_distance = ByDistance.of(similar, np.arange(n, dtype=np.float64)[:, None])
    np.testing.assert_allclose(similar.sums, Sums.of(similar.matrix), rtol=1e-9)
    for ask in (
        lambda smooth: smooth.sums,
        lambda smooth: smooth.nearest,
        lambda smooth: smooth.cubes,
        lambda smooth: smooth.times(other),
        lambda smooth: chance_of_product(smooth, other),
    ):
        np.testing.assert_allclose(ask(by_lag), ask(by_distance), rtol=1e-9)


def test_smoothing_takes_means_of_bins(rng):
    """Oracle: a loop over bins."""
    A, bins = symmetric(rng, 7), distance_bins(rng.standard_normal((7, 2)))
    found = smoothed(A, bins)
    for number in range(bins.max() + 1):
        np.testing.assert_allclose(found[bins == number], A[bins == number].mean())
    assert (found.diagonal() == 0).all()


def test_residuals_of_independent_rows_are_not_alike(rng):
    """Law: adjusting for covariates makes residuals alike, which does not count as dependence."""
    n, basis = 12, rng.standard_normal((12, 4))
    design = np.column_stack([np.ones(n), basis])
    Q = np.linalg.qr(design)[0]
    residuals = rng.standard_normal((40_000, n))
    residuals -= residuals @ Q @ Q.T
    residuals /= np.sqrt((n - Q.shape[1]) / n)
    found = RowSimilarity.of(residuals, Q[:, 1:].T).matrix
    assert np.abs(found).max() < 0.05
    assert np.abs(residuals.T @ residuals / len(residuals) - np.eye(n)).max() > 0.2


def test_chances_are_those_of_permutations(rng):
    """Oracle: how often random orders of rows have as large a sum, for 30 rows of one column."""
    e = rng.standard_normal(30)
    e = (e - e.mean()) / e.std()
    alike = RowSimilarity(e[None], np.ones(1))
    means = 0.6 ** np.arange(30.0)
    means[0] = 0.0
    A = means[np.abs(np.subtract.outer(np.arange(30), np.arange(30)))]
    orders = [rng.permutation(30) for _ in range(4000)]
    sums = np.array([np.sum(A * alike.matrix[np.ix_(order, order)]) for order in orders])
    for share in (0.1, 0.03, 0.01):
        order = orders[np.argsort(-sums)[int(share * 4000)]]
        in_this_order = RowSimilarity(e[None, order], np.ones(1))
        assert chance_of_product(ByLag(means), in_this_order) == pytest.approx(share, rel=0.4)


# rows in order and in space


def test_inflation_is_that_of_the_variance_of_a_correlation(rng):
    """Closed form (Bartlett 1935): 1 + 2 sum rho^(2 lag), 1.67 for rho = 0.5."""
    found = [
        along_order(Z[:, 1:], Z[:, 0])
        for Z in (autoregressive(rng, 400, 61, 0.5) for _ in range(8))
    ]
    assert np.mean([one.inflation for one in found]) == pytest.approx(1 + 2 / 3, abs=0.15)
    assert np.mean([one.features for one in found]) == pytest.approx(0.5, abs=0.05)
    assert np.mean([one.target for one in found]) == pytest.approx(0.5, abs=0.1)
    assert all(one.found for one in found)


def test_share_of_small_p_values():
    """Closed form: correlations of variance 4/n exceed their limit as a normal 1.96 / 2 does."""
    assert below_05(1.0) == pytest.approx(0.05)
    assert below_05(4.0) == pytest.approx(2 * ndtr(-1.959964 / 2), rel=1e-5)


@pytest.mark.parametrize(
    "made",
    [
        lambda rng, n: (rng.standard_normal((n, 30)), rng.standard_normal(n)),
        lambda rng, n: (rng.standard_normal((n, 30)), autoregressive(rng, n, 1, 0.9)[:, 0]),
        lambda rng, n: (autoregressive(rng, n, 30, 0.9), rng.standard_normal(n)),
        lambda rng, n: ((rng.random((n, 8)) < 0.1) * 1.0, np.repeat(["ill", "well"] * 3, n // 6)),
        lambda rng, n: (autoregressive(rng, n, 30, 0.9), np.tile(["ill", "well"], n // 2)),
    ],
    ids=["independent", "only target", "only features", "rare 0/1", "in turn"],
)
@pytest.mark.filterwarnings("ignore:columns x.* have fewer than 5 values")
def test_dependence_of_one_alone_is_no_alarm(rng, made):
    """Law: correlations vary as they should where rows of features or of target are independent."""
    found = [along_order(*made(rng, 60)).found for _ in range(100)]
    assert sum(found) <= 4  # 1 in 100 is expected, and 5 or more in 1 of 270 runs


@pytest.mark.parametrize("design", ["1.d", "3.c", "equicorrelated", "genotypes"])
def test_rows_sorted_by_the_target_are_no_alarm(design):
    """Law: the order of rows says nothing that the target does not say, nearly sorted or sorted."""
    for seed in range(15):
        data = simulate(design, n=80, p=100, random_state=seed)
        order = np.argsort(data.y, kind="stable")
        assert row_dependence(read_study(data.X[order], data.y[order], data.target)) == ()
        order[[3, 77]] = order[[77, 3]]
        assert not along_order(data.X[order], data.y[order], target=data.target).found


def test_rows_sorted_by_a_feature_are_no_alarm(rng):
    """Law: features and target that follow age are alike in rows sorted by age, and that is all."""
    for _ in range(15):
        age = np.sort(rng.standard_normal(80))
        X = age[:, None] + rng.standard_normal((80, 20))
        y = age + rng.standard_normal(80)
        assert not along_order(np.column_stack([age, X]), y).found
    assert along_order(X, y).found  # where nobody says so it is a confounder


def test_neighbours_in_space_are_found_by_coordinates(rng):
    """Oracle: rows of a random walk on a circle of places, in random order."""
    Z = autoregressive(rng, 100, 21, 0.8)
    order = rng.permutation(100)
    places = np.arange(100.0)[order]
    X, y = Z[order][:, 1:], Z[order][:, 0]
    by_order, by_place = row_dependence(read_study(X, y, coordinates=places))
    assert (by_order.along, by_place.along) == ("order", "coordinates")
    assert not by_order.found
    assert by_place.found
    in_order = along_order(Z[:, 1:], Z[:, 0])
    assert by_place.inflation == pytest.approx(in_order.inflation, rel=1e-6)


def test_means_of_blocks_are_no_longer_alike(rng):
    """Law: the cure that the warning names, blocks much longer than the dependence."""
    Z = autoregressive(rng, 600, 21, 0.5)
    X, y = Z[:, 1:], Z[:, 0]
    assert along_order(X, y).found
    blocks = np.arange(600) // 15
    cured = read_study(X, y, groups=blocks, aggregate="mean", coordinates=np.arange(600.0))
    assert not any(one.found for one in row_dependence(cured))
    assert cured.coordinates.shape == (40, 1)
    assert row_dependence(read_study(X, y, groups=blocks)) == ()  # within groups: not asked


# repeated rows


@pytest.mark.parametrize("p", [2, 5, 30])
def test_rows_given_twice_are_found_at_any_number_of_columns(rng, p):
    """Closed form: with each row twice a correlation has twice its variance."""
    rows = rng.permutation(np.repeat(np.arange(40), 2))
    X, y = rng.standard_normal((40, p)), rng.standard_normal(40)
    found = repeated_rows(read_study(X[rows], y[rows]))
    assert (found.n_rows, found.n_equal, found.inflation) == (80, 80, 2.0)
    assert found.found
    assert not repeated_rows(read_study(X[rows], y[rows], groups=rows)).found
    assert not repeated_rows(read_study(X, y)).found


@pytest.mark.filterwarnings("ignore:columns x.* have fewer than 5 values")
def test_rows_of_rare_columns_repeat_by_chance(rng):
    """Law: independent 0/1 columns, and few genotypes, raise no alarm; the target tells more."""
    y = rng.standard_normal(100)
    for _ in range(50):
        binary = (rng.random((100, 5)) < 0.1).astype(float)
        genotypes = rng.binomial(2, 0.3, (100, 6)).astype(float)
        linked = genotypes[:, [0, 0, 0, 1, 1, 2]]
        for X in (binary, genotypes, linked):
            assert not repeated_rows(read_study(X, y)).found
    rows = np.repeat(np.arange(50), 2)
    assert repeated_rows(read_study(binary[rows], y[rows])).n_equal == 100


def test_one_rounded_column_has_no_repeated_rows(rng):
    """Equal values of one column are no equal rows, whatever its copies; with y they are."""
    x, y = rng.normal(size=100).round(1), rng.normal(size=100)
    one, twice = x[:, None], np.arange(100) // 2
    for X in (one, np.hstack([one, 2 - 3 * one, one, np.ones((100, 1))])):
        assert not repeated_rows(read_study(X, y)).found
        assert repeated_rows(read_study(X[twice], y[twice])).n_equal == 100


def test_few_repeated_rows_are_counted_but_harmless(rng):
    X, y = rng.standard_normal((100, 20)), rng.standard_normal(100)
    X[1:4:2], y[1:4:2] = X[0:3:2], y[0:3:2]
    found = repeated_rows(read_study(X, y))
    assert (found.n_equal, found.inflation, found.found) == (4, 1.04, False)


# populations


def test_populations_are_found_until_components_are_covariates():
    """Oracle: five populations of different means; four components tell them apart."""
    found = cured = 0
    for seed in range(8):
        X, y, population = five_populations(np.random.default_rng(seed), 200, 300)
        made = population_structure(read_study(X, y))
        assert made.n_components == 4
        between = np.var([y[population == k].mean() for k in range(5)]) / y.var()
        assert made.of_target == pytest.approx(between, abs=0.15)
        found += made.found
        given = read_study(X, y, covariates={"population": population.astype(str)})
        left = population_structure(given)
        cured += left is None or not left.found
    assert found >= 7
    assert cured == 8


def test_components_of_designs_are_hardly_ever_an_alarm():
    """Law: true features that few others know of are no population."""
    found = []
    for design in ("1.c", "1.d", "3.c", "equicorrelated", "blocks", "heavy"):
        for seed in range(8):
            data = simulate(design, n=100, p=100, random_state=seed)
            made = population_structure(read_study(data.X, data.y, data.target))
            found.append(made is not None and made.found)
    assert sum(found) <= 3


def test_a_factor_that_neighbours_tell_of_is_no_alarm(rng):
    """Law: features that share most of their variance are adjusted for it by one another."""
    factor = rng.standard_normal((100, 1))
    X = np.sqrt(0.6) * factor + np.sqrt(0.4) * rng.standard_normal((100, 80))
    made = population_structure(read_study(X, X[:, :3].sum(axis=1) + 2 * rng.standard_normal(100)))
    assert made.n_components == 1
    assert made.of_features == pytest.approx(0.6, abs=0.1)
    assert made.inflation > 10 * made.adjusted_inflation
    assert not made.found


def test_noise_has_no_components(rng):
    assert population_structure(read_study(rng.standard_normal((80, 60)), np.arange(80.0))) is None


# what is said


def test_the_answer_warns_and_names_the_cure(rng):
    """Law: the warning, the headline and the JSON say the same."""
    Z = autoregressive(rng, 90, 9, 0.8)
    with pytest.warns(UserWarning, match="rows that follow one another are alike") as caught:
        found = select(Z[:, 1:], Z[:, 0], Recipe(accuracy=False))
    (said,) = [str(one.message) for one in caught]
    assert "groups with aggregate='mean'" in said
    assert f"Look at this first: R{said[1:]}" in statement(found)
    again = Selection.from_json(found.to_json())
    assert again.row_checks.found == found.row_checks.found
    assert again.row_checks.dependence[0].inflation == found.row_checks.dependence[0].inflation


def test_coordinates_reach_the_check(rng):
    table = pd.DataFrame(rng.standard_normal((40, 5))).add_prefix("g")
    places = pd.DataFrame({"x": rng.random(40), "y": rng.random(40)})
    fitted = SmRMR().fit(table, rng.standard_normal(40), coordinates=places).selection_
    assert [one.along for one in fitted.row_checks.dependence] == ["order", "coordinates"]
    days = pd.Series(pd.date_range("2024-01-01", periods=40))
    study = read_study(table, rng.standard_normal(40), coordinates=days)
    np.testing.assert_allclose(study.coordinates[:, 0], np.arange(40.0))


@pytest.mark.filterwarnings("default::smrmr.problems.DataWarning")
def test_the_command_takes_coordinates_and_warns_in_its_own_words(rng, tmp_path):
    """Oracle: the same rows by `select`; a column that is not there is named without traceback."""
    Z = autoregressive(rng, 80, 7, 0.9)
    day = rng.permutation(80)
    table = pd.DataFrame(Z[day]).add_prefix("g").assign(day=day)
    table.to_csv(tmp_path / "t.csv", index=False)
    asked = ["select", f"{tmp_path}/t.csv", "--target", "g0", "--no-accuracy", "--coordinates"]
    ran = CliRunner().invoke(app, [*asked, "day", "--out", str(tmp_path / "out")])
    said = " ".join(ran.output.split())
    assert "rows that are close by their coordinates are alike" in said
    assert "--groups COLUMN with --aggregate mean" in said
    found = Selection.from_json((tmp_path / "out" / "selection.json").read_text())
    assert found.names == tuple(f"g{k}" for k in range(1, 7))
    expected = row_dependence(read_study(table.iloc[:, 1:7], table["g0"], coordinates=day))
    assert found.row_checks.dependence[1].inflation == pytest.approx(expected[1].inflation)
    wrong = CliRunner().invoke(app, [*asked, "dayy", "--out", str(tmp_path / "other")])
    assert wrong.exit_code == 2
    assert "no column 'dayy'" in wrong.output


def test_rows_of_anndata_have_coordinates(rng):
    """Oracle: the same by `select`."""
    Z = autoregressive(rng, 60, 6, 0.9)
    obs = pd.DataFrame({"size": Z[:, 0], "day": np.arange(60.0)}).rename(index=str)
    adata = anndata.AnnData(Z[:, 1:], obs)
    with pytest.warns(UserWarning, match="are alike, in the target"):
        found = smrmr.anndata.select(adata, "size", coordinates="day")
    by_order, by_day = found.row_checks.dependence
    assert by_day.inflation == by_order.inflation > 1.1


@pytest.mark.parametrize(
    ("coordinates", "message"),
    [
        ("day", r"coordinates=table\[\['x', 'y'\]\]"),
        ([1.0, 2.0], "X has 30 rows and coordinates has 2"),
        (["a"] * 30, "coordinates holds values that are no numbers"),
        ([np.nan] * 30, "coordinates has 30 missing"),
        (np.ones((30, 2)), "coordinates are the same for all rows"),
    ],
)
def test_coordinates_that_make_no_sense_are_refused(rng, coordinates, message):
    with pytest.raises(ValueError, match=message):
        select(rng.standard_normal((30, 4)), rng.standard_normal(30), coordinates=coordinates)


def test_independent_rows_raise_no_alarm(rng):
    """Law: of 60 data sets of noise none is warned of, whatever their shape."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n, p in [(30, 3), (60, 40), (120, 80)] * 20:
            study = read_study(rng.standard_normal((n, p)), rng.standard_normal(n))
            assert not check_rows(study, Work(n_jobs=1)).found
