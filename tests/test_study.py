"""What users pass as X and y: what is refused, what is warned about, and with which words."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import train_test_split

from smrmr import Recipe, SmRMR, relevance, select, simulate
from smrmr.association import projection_correlation_squared
from smrmr.data.covariates import read_covariates
from smrmr.data.impute import Imputer
from smrmr.data.study import read_study

nothing_found = pytest.mark.filterwarnings(
    "ignore:No features were selected", "ignore:Knockoffs. NOT exchangeable"
)


def labels(n_classes, n=150):
    return np.array([f"c{k % n_classes}" for k in range(n)])


@pytest.mark.parametrize("n_classes", [149, 120, 40, 31])
def test_many_small_classes_are_refused(n_classes, rng):
    """Oracle: the rule, 5 rows per class on average; noise selected features at 149, 120, 40."""
    X = rng.normal(size=(150, 30))
    with pytest.raises(ValueError, match=rf"{n_classes} classes for 150 rows.*Merge rare classes"):
        select(X, labels(n_classes), Recipe(), rng=0)


def test_mostly_single_classes_are_refused():
    """Oracle: the rule; 4 of 7 classes have one row, though the average is 21 rows per class."""
    y = np.repeat(list("abcdefg"), [100, 40, 6, 1, 1, 1, 1])
    with pytest.raises(ValueError, match=r"7 classes for 150 rows, 4 of them with a single row"):
        read_study(np.random.default_rng(0).normal(size=(150, 3)), y)


def test_small_classes_can_be_measured(rng):
    """Oracle: the same classes as numbers of a category, measured as a plain variable."""
    x, y = rng.normal(size=20), labels(7, 20)
    expected = projection_correlation_squared(x, y)
    assert relevance(x[:, None], y)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "y", [labels(2, 8), labels(30), np.repeat(["a", "b"], [149, 1]), np.repeat(list("abc"), 5)]
)
def test_few_classes_are_taken(y, rng):
    """Oracle: the rule; two classes of any size, or 5 rows per class on average."""
    study = read_study(rng.normal(size=(len(y), 3)), y)
    assert study.target.kind == "classes"
    assert set(study.target.labels) == set(y)


@pytest.mark.parametrize(
    "written",
    [
        [f"{k},{k % 10}" for k in range(60)],
        [f"{k},{k:03d}" if k else "17" for k in range(60)],
        [f"1.{k:03d},5" for k in range(60)],
        [f"-{k},5e-3" for k in range(60)],
    ],
    ids=["3,5", "1,234", "1.234,5", "-3,5e-3"],
)
@pytest.mark.parametrize("target", ["auto", "continuous"])
def test_numbers_with_commas_are_no_classes(written, target, rng):
    """Oracle: numbers as spreadsheets of other countries write them."""
    y = np.array(written)[rng.integers(0, 6, size=60)]
    with pytest.raises(ValueError, match=r"y holds text such as .*decimal point.*'classes'"):
        read_study(rng.normal(size=(60, 3)), y, target)
    assert read_study(rng.normal(size=(60, 3)), y, "classes").target.kind == "classes"


@pytest.mark.parametrize("y", [["1,2,3", "2,3,4"], ["a,5", "b,5"], ["1", "2"], ["3,", ",5"]])
def test_labels_with_commas_stay_labels(y, rng):
    """Oracle: none of these is a number in any country, but for plain ones."""
    assert read_study(rng.normal(size=(40, 3)), y * 20).target.kind == "classes"


# --- sample ids -----------------------------------------------------------------------------------


def ids(kind, n, rng):
    return {
        "sorted": np.arange(1000, 1000 + n),
        "by tens": np.arange(0, 10 * n, 10)[::-1],
        "shuffled": rng.permutation(n) + 7,
    }[kind]


@pytest.mark.parametrize("kind", ["sorted", "by tens", "shuffled"])
@pytest.mark.parametrize("dtype", [np.uint32, np.int64, np.float64])
def test_columns_that_look_like_ids_are_named(kind, dtype, rng):
    """Oracle: the one column that holds ids, in frames and in arrays."""
    frame = pd.DataFrame(rng.poisson(300, size=(150, 8))).add_prefix("gene")
    frame.insert(3, "patient", ids(kind, 150, rng).astype(dtype))
    y = rng.normal(size=150)
    with pytest.warns(UserWarning, match=r"columns patient look like sample ids.*drop the columns"):
        read_study(frame, y)
    with pytest.warns(UserWarning, match=r"columns x3 look like sample ids"):
        read_study(frame.to_numpy(dtype=dtype), y)


@pytest.mark.parametrize("kind", ["counts", "ranks", "numbers", "few rows", "huge"])
def test_columns_that_are_no_ids_are_not_named(kind, rng):
    """Oracle: data of the field, in which every warning would be a false alarm."""
    X = {
        "counts": lambda: rng.poisson(40, size=(60, 5000)),
        "ranks": lambda: rng.permuted(np.tile(np.arange(60), (5000, 1)), axis=1).T,
        "numbers": lambda: rng.normal(size=(60, 5000)),
        "few rows": lambda: rng.permuted(np.tile(np.arange(12), (3, 1)), axis=1).T,
        "huge": lambda: 1e308 * rng.uniform(-1, 1, size=(60, 50)),
    }[kind]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_study(X, rng.normal(size=len(X)))


# --- numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_values_of_an_array_are_named_by_the_estimator(bad, rng):
    """Oracle: our own words, which name the column; scikit-learn's do not."""
    X = rng.normal(size=(40, 5))
    X[3, 2] = bad
    with pytest.raises(ValueError, match=r"1 of 5 columns .* infinite values \(x2: 1\)\. Impute"):
        SmRMR().fit(X, rng.normal(size=40))


@nothing_found
def test_the_largest_numbers_are_fitted_without_a_warning():
    """Oracle: the same data scaled by a power of two, which changes nothing."""
    data = simulate("1.d", n=100, p=100, random_state=0)
    X = data.X / np.abs(data.X).max() * 1.7e308
    small = np.ldexp(X, -1000)
    y = np.ldexp(data.y, 990)
    fitted = SmRMR(random_state=0, fdr=0.5).fit(X, y)
    expected = SmRMR(random_state=0, fdr=0.5).fit(small, data.y)
    assert_array_equal(fitted.support_, expected.support_)
    assert_array_equal(fitted.transform(X), X[:, fitted.support_])


@pytest.mark.parametrize("how", ["median", "mean", "mode"])
@pytest.mark.parametrize("scale", [1.0, 1.7e308, 1e-310])
def test_the_largest_numbers_are_imputed_without_a_warning(how, scale, rng):
    """Oracle: the same numbers scaled by a power of two, where sums are in range."""
    X = rng.uniform(0.5, 1.0, size=(40, 3)) * scale
    X[5:8, 1] = X[4, 1]
    X[3, 1], X[7:9, 2] = np.nan, np.inf
    shift = 100 if scale < 1 else -100
    small = np.ldexp(np.where(np.isinf(X), np.nan, X), shift)
    expected = {
        "median": np.nanmedian(small, axis=0),
        "mean": np.nanmean(small, axis=0),
        "mode": [pd.Series(column).mode()[0] for column in small.T],
    }[how]
    found = Imputer.learned(X, f"impute-{how}").values
    assert_allclose(np.array(found, dtype=float), np.ldexp(expected, -shift), rtol=1e-11)


@pytest.mark.parametrize("scale", [1.7e308, 1e-310, 1e160])
def test_the_largest_covariates_are_read_without_a_warning(scale, rng):
    """Law: scaling by a power of two changes nothing; other factors change rounding."""
    age = rng.uniform(0.5, 1.0, size=60)
    plain, large = (read_covariates({"age": age * by}, 60) for by in (1.0, scale))
    assert_allclose(large.design, plain.design, rtol=1e-2 if scale < 1 else 1e-9)
    X = rng.normal(size=(60, 3))
    assert read_study(X, age[::-1] * scale, covariates={"age": age}).target.n_rows == 60


def test_covariates_and_coordinates_that_are_no_plain_numbers(rng):
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    with pytest.raises(ValueError, match="covariate c holds complex numbers"):
        read_study(X, y, covariates={"c": y + 1j})
    with pytest.raises(ValueError, match=r"coordinates are larger than 1e\+100\. Scale them"):
        read_study(X, y, coordinates=y * 1e200)


def test_features_and_target_of_different_lengths(rng):
    with pytest.raises(ValueError, match="X has 40 rows and y has 39"):
        read_study(rng.normal(size=(40, 2)), rng.normal(size=39))


def test_many_classes_are_warned_of(rng):
    """Oracle: benchmarks/studies/many_labels.py, where the level failed beyond 10 classes."""
    X = rng.normal(size=(150, 20))
    with pytest.warns(UserWarning, match="y has 15 classes"):
        select(X, labels(15), Recipe(control="knockoffs"), rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        select(X, labels(10), Recipe(control="knockoffs"), rng=0)


def test_rows_of_another_index_are_warned_of(rng):
    """Law: rows are matched by position, so labels that say otherwise are warned of."""
    X = pd.DataFrame(rng.normal(size=(40, 3)), index=[f"S{i}" for i in range(40)])
    y = pd.Series(rng.normal(size=40), index=X.index)
    group = pd.Series(np.repeat(np.arange(20), 2), index=X.index)
    for wrong, why in (
        (y[::-1], "same labels in another order.*y.loc"),
        (y.rename(lambda label: label + "x"), "'S0' in X and 'S0x' in y.*reset_index"),
        (pd.concat([y[1:], y[:1].rename({"S0": "S99"})]), "'S0' in X and 'S1' in y"),
    ):
        for read in (read_study, SmRMR().fit):
            with pytest.warns(UserWarning, match=why):
                read(X, wrong)
    with pytest.warns(UserWarning, match="groups"):
        read_study(X, y, groups=group[::-1])
    for covariates in (pd.DataFrame({"age": y[::-1]}), {"age": y[::-1]}):
        with pytest.warns(UserWarning, match="covariates"):
            read_study(X, y, covariates=covariates)


def test_rows_of_one_index_or_none_are_not_warned_of(rng):
    """Law: labels that agree, and numbers that pandas gave rows by itself, are no news."""
    X = pd.DataFrame(rng.normal(size=(40, 3)), index=[f"S{i}" for i in range(40)])
    y = pd.Series(rng.normal(size=40), index=X.index)
    numbered = X.reset_index(drop=True)
    train, _, train_y, _ = train_test_split(numbered, y.reset_index(drop=True), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for features, target in (
            (X, y),
            (X, y.to_numpy()),
            (X.to_numpy(), y[::-1]),
            (X, y.reset_index(drop=True)),
            (numbered, y),
            (train, train_y),
            (train, train_y.reset_index(drop=True)),
            (train, pd.Series(train_y.to_numpy(), index=[*range(30)])),
            (X.set_axis([*range(1, 41)]), y.set_axis([str(i) for i in range(1, 41)])),
            (X, pl.Series(y.to_numpy())),
        ):
            read_study(features, target, covariates={"age": np.arange(len(target)) % 7})


def test_a_target_among_the_features_is_named(rng):
    """It is told from its values, whatever its name, scale, labels or codes."""
    X = pd.DataFrame(rng.normal(size=(40, 30))).add_prefix("gene")
    y, label = pd.Series(rng.normal(size=40)), pd.Series(rng.choice(["I", "II", "III"], 40))
    survival = pd.DataFrame({"died": rng.random(40) < 0.6, "months": rng.exponential(9, 40)})
    codes = label.map({"I": 7.0, "II": -1.0, "III": 3.0})
    cases = [
        (y, y, "auto"),
        (3 - 2.54 * y, y, "auto"),
        (y.astype("float32"), pd.DataFrame({"one": y[::-1].to_numpy(), "two": y}), "auto"),
        (label.astype("category"), label, "auto"),
        (codes, label, "auto"),
        (y > 0, np.where(y > 0, "high", "low"), "auto"),
        (survival["months"], survival, "survival"),
    ]
    for same, given, kind in cases:
        with pytest.warns(
            UserWarning, match=r"columns kept of X say the same as y\..*leave it out"
        ):
            read_study(X.assign(kept=same), given, kind)
        read_study(X.assign(kept=y.cumsum()), given, kind)  # pytest makes warnings errors


def test_columns_that_tell_classes_apart_by_chance_are_not_named(rng):
    X, y = rng.integers(0, 2, size=(6, 2000)), ["ill", "well"] * 3
    constant = X.min(axis=0) == X.max(axis=0)
    assert ((X[::2] == X[0]) & (X[1::2] != X[0])).all(axis=0).sum() > 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "columns x.* have fewer than 5 values")
        read_study(X[:, ~constant], y)


def test_outputs_that_groups_share_are_refused_beside_others(rng):
    """They have no residual within groups: once a division of 0 by 0, and a warning of numpy."""
    X, donor = rng.normal(size=(60, 4)), np.repeat(range(15), 4)
    y = pd.DataFrame({"dose": rng.normal(size=60), "age": rng.normal(size=15)[donor]})
    with pytest.raises(ValueError, match=r"'age' of y are the same.*aggregate='mean'"):
        read_study(X, y, groups=donor)
    assert read_study(X, y, groups=donor, aggregate="mean").columns.n_rows == 15
    assert read_study(X, y[["dose"]], groups=donor).row_groups.comparison == "within"


def test_columns_of_one_name_are_warned_of(rng):
    """1 and "1" are one name in an answer too."""
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    for names in (["a", "b", "a"], [1, "b", "1"]):
        with pytest.warns(UserWarning, match=rf"names '{names[0]}' of columns of X appear more"):
            read_study(pd.DataFrame(X, columns=names), y)
    read_study(pd.DataFrame(X, columns=["a", "b", "c"]), y)
